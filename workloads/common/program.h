/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The program around one compute API: options, the document, the exit code.
 *
 * The document is printed when everything is done, the driver's own clean-up included: a probe that
 * is killed by its driver prints nothing, and its exit status tells the signal.
 */

#include "base/error.h"
#include "base/options.h"
#include "workloads/common/api.h"
#include "workloads/common/launch.h"
#include "workloads/common/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct work_request {
	size_t device;	     /* index into the enumeration; need not exist */
	size_t elements;     /* 1 to WORK_ELEMENTS_MAX */
	uint32_t seed;	     /* of work_data */
	uint64_t timeout_ms; /* for each wait on the device */
};

/* An API. Functions return an error only when the probe itself cannot go on (ERROR_MEMORY);
 * whatever the API does is told in the report. */
struct api_driver {
	const char *name;    /* "vulkan" */
	const char *library; /* that it opens: "libvulkan.so.1" */
	/* Loads, enumerates and fills the report. *session stays NULL when there is nothing to work
	 * with. */
	int (*open)(struct api_report *report, void **session, struct error *err);
	/* Works on one device; `report` comes with `device`, `elements` and `seed` set. NULL: there
	 * is nothing but the enumeration. */
	int (*work)(void *session, const struct work_request *request, struct work_report *report,
		    struct error *err);
	/* Frees the session. False when a driver object is still in use by the device (a wait timed
	 * out) and was left alone: the process must then end without running exit handlers. */
	bool (*close)(void *session);
};

struct probe_program {
	const char *name;	 /* "probe-vulkan" */
	const char *summary;	 /* one line */
	const char *description; /* paragraphs for --help */
	const struct api_driver *api;
};

/* The whole of main(). 0: the document was printed; 1: it could not be; 2: usage. */
int probe_main(const struct probe_program *program, int argc, char **argv);

/* Builds the document. *orderly, true before the call: exit handlers may run. Fails only when there
 * is no document. */
typedef int (*probe_build)(cJSON **out, bool *orderly, struct error *err);

/* What runs behind the options of every probe: claims stdout, builds, prints. The exit code. */
int probe_print(const struct text_list *arguments, probe_build build);

/* For the command_spec of a probe. */
extern const char *const probe_exit_codes[];

/* --nonce, --launch and --seed, rows for the options of a probe; their targets. */
struct probe_launch_options {
	const char *nonce;
	const char *file;
	int64_t seed;
};
#define PROBE_OPTION_NONCE(given)                                                                  \
	{                                                                                          \
		.name = "nonce", .type = OPTION_STRING, .target = &(given).nonce, .value = "TEXT", \
		.help = "What the document repeats as its nonce, to show which launch it belongs " \
			"to: 1 "                                                                   \
			"to 64 letters and digits."                                                \
	}
#define PROBE_OPTION_LAUNCH(given)                                                                 \
	{                                                                                          \
		.name = "launch", .type = OPTION_STRING, .target = &(given).file, .value = "FILE", \
		.help = "Before anything is loaded, wait for the line \"NONCE SEED\" from this "   \
			"file, "                                                                   \
			"usually a FIFO, and use them as --nonce and --seed."                      \
	}

/* Waits for them where that is asked for. ERROR_FORMAT, ERROR_IO, ERROR_NOT_FOUND. */
int probe_launch_take(const struct probe_launch_options *options, struct probe_launch *launch,
		      struct error *err);

/* The members that every document begins with. */
void probe_members(struct members *document, const char *probe, const struct probe_launch *launch);
