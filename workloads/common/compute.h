/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The work on an API that allocates memory on a device, copies to and from it, launches a kernel and
 * is asked whether that is done: CUDA, HIP, Level Zero, OpenCL. Such an API offers these calls; buffers,
 * stages, the path of the data and the clean-up are common.
 */

#include "base/error.h"
#include "workloads/common/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An array of the work, on both sides. */
struct compute_buffer {
	void *host;
	void *device; /* an address or a handle */
	size_t size;  /* bytes */
};

enum {
	COMPUTE_BUFFERS_MAX = WORK_ARRAYS + 1,
	/* The parameters of the kernel, in this order: three buffers, elements, key, scale. */
	COMPUTE_ARGUMENTS = WORK_ARRAYS + 3,
};

/* The bytes of an argument of the kernel. */
size_t compute_argument_size(size_t index);

/* The calls of one API. `work` is its own state, which begins with a struct compute. Errors as for
 * the `work` of an api_driver. */
struct compute_calls {
	const char *allocators[2]; /* names of the calls: for the device, for the host */
	const char *extra;	   /* an array (reference.h) after those of the work; NULL: none */
	work_step *open;	   /* the device, and whatever queues its commands */
	work_step *build;
	/* Both sides of a buffer. */
	int (*allocate)(void *work, struct compute_buffer *buffer, struct error *err);
	/* Queues the copy of a whole buffer. */
	int (*copy)(void *work, const struct compute_buffer *buffer, bool to_device,
		    struct error *err);
	/* Queues the API's command that fills the elements, not the guard after them. The pattern
	 * lives until that is done. NULL: there is none. */
	int (*fill)(void *work, const struct compute_buffer *buffer, const uint32_t *pattern,
		    struct error *err);
	/* Queues the kernel; each argument points to its value. */
	int (*launch)(void *work, void *arguments[COMPUTE_ARGUMENTS], struct error *err);
	/* Starts the queued commands; NULL: they start when they are queued. */
	work_step *submit;
	/* 1: the device did all that was queued. 0: not yet. */
	work_step *is_complete;
	/* The clock of the device: queues a mark at the beginning or the end of copies, and returns
	 * the milliseconds between the two. NULL: there is none. */
	int (*mark)(void *work, bool end, struct error *err);
	int (*elapsed)(void *work, float *milliseconds, struct error *err);
	/* Verifies more than the arrays; NULL: nothing. */
	work_step *verify;
	/* Frees both sides, where they were allocated. */
	void (*free)(void *work, const struct compute_buffer *buffer);
	/* Frees the rest of the state. */
	void (*release)(void *work);
};

struct compute {
	const struct compute_calls *calls;
	const struct work_request *request;
	struct work_report *report;
	uint64_t largest; /* bytes of one allocation, set by `open` or before; 0: unknown */
	struct compute_buffer buffers[COMPUTE_BUFFERS_MAX];
	size_t buffer_count;
	struct work_data data; /* in the buffers */
	struct work_parameters parameters;
	double uploaded_per_s, downloaded_per_s; /* bytes, by the device's clock; 0: unknown */
};

/* Does the work and releases all, unless the device did not finish. Errors as for the `work` of an
 * api_driver; `calls` of the session hold the call that failed. */
int compute_work(struct compute *work, const struct compute_calls *calls, struct calls *session,
		 const struct work_request *request, struct work_report *report, struct error *err);
