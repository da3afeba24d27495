/* SPDX-License-Identifier: MIT */
#pragma once

/* The work that every compute API does (reference.h), and the verification of its result. */

#include "base/error.h"
#include "base/members.h"
#include "workloads/common/reference.h"
#include "workloads/common/render.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WORK_ELEMENTS_DEFAULT = 1 << 20,
	WORK_ELEMENTS_MAX = 1 << 26,
};

/* How a broken program treats the device. */
enum work_fault {
	WORK_FAULT_NONE,
	WORK_FAULT_ENDLESS, /* its dispatch does not end within hours */
	WORK_FAULT_CRASH, /* its dispatch writes far beyond the end of the memory, and it aborts */
};

/* The work that a probe does on a device. */
struct work_request {
	size_t device;	     /* index into the enumeration */
	size_t elements;     /* 1 to WORK_ELEMENTS_MAX */
	uint32_t seed;	     /* of work_data */
	uint64_t timeout_ms; /* for each wait on the device */
	/* For checks of neighbours (neighbours.h). */
	uint32_t look_for;     /* seed of results to look for in new memory; 0: none */
	enum work_fault fault; /* of the dispatch */
	const char *pause;     /* wait for a line from this file before the dispatch; NULL: none */
	const char *pause_after; /* the same after the work, before anything is closed */
};

/* The parameters of the kernels (work.comp, work.cl, work.hlsl), in this order; a fault is made by
 * wrong ones. `stride` is the number of invocations of a dispatch, WORK_GROUP in each group: with more
 * elements, each does several. */
struct work_parameters {
	uint32_t elements;
	uint32_t key;
	float scale;
	uint32_t stride;
};

enum {
	WORK_GROUP = 64,
	WORK_GROUPS_MAX = 65535, /* every device offers so many */
};

struct work_parameters work_parameters(const struct work_request *request);

/* The second and third dimension of the dispatch, in groups: 1, or so many for an endless one that each
 * invocation, which does all of the work, exists two thousand million times. */
uint32_t work_groups_y(const struct work_request *request);
uint32_t work_groups_z(const struct work_request *request);

/* Three arrays of `elements` + WORK_GUARD each: uint32_t values, float x, float y. */
enum { WORK_VALUES, WORK_X, WORK_Y, WORK_ARRAYS };

struct work_data {
	void *arrays[WORK_ARRAYS]; /* the caller's own, or of work_data_new() */
	size_t elements;
	uint32_t seed;
};

/* The bytes of one array. */
size_t work_array_size(const struct work_request *request);

void work_fill(const struct work_data *data);

/* Between sending and reading back, so that only results of the device are read. */
void work_overwrite(const struct work_data *data);

/* Allocates the arrays and fills them. */
void work_data_new(struct work_data *data, const struct work_request *request);
void work_data_free(struct work_data *data);

enum work_status {
	WORK_OK,	  /* every element is right */
	WORK_ENCODED,	  /* streams were made, which the caller has to decode: `video` */
	WORK_WRONG,	  /* it ran, and the result is wrong */
	WORK_FAILED,	  /* a call failed: `call` */
	WORK_TIMED_OUT,	  /* the device did not finish in time */
	WORK_UNSUPPORTED, /* there is no device, or it cannot do the work: `reason` */
	WORK_STATUS_COUNT
};

/* How far the work came; the stage that failed, or WORK_STAGE_VERIFY. */
enum work_stage {
	WORK_STAGE_SELECT,
	WORK_STAGE_DEVICE,
	WORK_STAGE_BUILD,
	WORK_STAGE_MEMORY,
	WORK_STAGE_LOOK, /* reads new memory into work_data; only with request->look_for */
	WORK_STAGE_UPLOAD,
	WORK_STAGE_DISPATCH,
	WORK_STAGE_DOWNLOAD,
	WORK_STAGE_RENDER,
	WORK_STAGE_VERIFY,
	WORK_STAGE_COUNT,
};

/* The call of the API that failed. */
struct call_failure {
	const char *call; /* "vkCreateDevice"; NULL: none failed */
	int64_t code;	  /* -3 */
	/* "VK_ERROR_INITIALIZATION_FAILED"; NULL: a code that is not known. */
	const char *code_name;
};

/* The comparison of the arrays, or of the picture, with the reference. */
struct work_comparison {
	bool done;
	size_t mismatches;
	/* The first mismatch: "values", "y", or another one of work_array_find(). */
	const char *array;
	size_t index; /* of a picture: y * RENDER_SIZE + x */
	bool guard;   /* it lies beyond the end */
	char expected[32];
	char actual[32];
};

/* The digest of an array as it was read back from the device. */
struct work_digest {
	const char *array; /* as for work_expected_digest() */
	char digest[DIGEST_SIZE];
};

enum {
	WORK_DIGESTS_MAX = 5,
	WORK_BUILD_LOG_MAX = 64 * 1024, /* bytes; of more, an API gives nothing or the beginning */
};

/* Results of other work that were found in new memory. */
struct work_residue {
	bool looked;
	uint32_t seed;	/* of the other work */
	uint64_t bytes; /* looked at */
	uint64_t found; /* elements */
	size_t first;	/* of the other work */
};

/* Times are those of the monotonic clock, which containers of one machine share. */
struct work_rounds {
	uint64_t count;		   /* 0: none was asked for, or none was right */
	uint64_t sum_ns, worst_ns; /* upload, dispatch and download of a round */
	uint64_t first_end_ns, last_end_ns;
};

struct work_report {
	const struct work_request *request; /* while it is worked on */
	bool paused;
	bool paused_after;
	size_t device;
	size_t elements;
	uint32_t seed;
	char feature_level[16]; /* of Direct3D, "12_1"; "" for other APIs */
	char shader_model[8];	/* of Direct3D 12, the highest one: "6.0"; "" for other APIs */
	enum work_status status;
	enum work_stage stage;
	char reason[ERROR_TEXT_SIZE]; /* "" with WORK_OK and WORK_ENCODED */
	struct call_failure failure;
	char *build_log; /* of the kernel's build when it failed; may be NULL */
	struct work_comparison results;
	struct work_comparison render;
	struct work_digest digests[WORK_DIGESTS_MAX];
	size_t digest_count;
	cJSON *video;	 /* of encoders (workloads/video/video.h); NULL for other APIs */
	cJSON *measured; /* further measurements of CUDA; NULL for other APIs */
	struct work_residue residue;
	struct work_rounds rounds;
	uint64_t memory_free; /* of the device, before the work, in bytes; 0: unknown */
	uint64_t stage_ns[WORK_STAGE_COUNT]; /* 0: not reached */
	uint64_t stage_began_ns;	     /* monotonic; 0: no stage runs */
};

#define CLEANUP_WORK_REPORT __attribute__((cleanup(work_report_free)))

void work_report_free(struct work_report *report);

/* Times the stages: beginning one ends the one that runs. */
void work_stage_begin(struct work_report *report, enum work_stage stage);
void work_stage_end(struct work_report *report);

/*
 * The work as one function for each stage. `work` is the probe's own state. Errors as for the `work`
 * of an api_driver.
 */
typedef int work_step(void *work, struct error *err);

/* Takes the steps in the order of their stages and times them; a stage without one is left out.
 * Then, without a step that verifies, verifies `data`. ERROR_UNSUPPORTED, too: request->look_for is set,
 * and there is no step for that. */
int work_run(work_step *const steps[WORK_STAGE_COUNT], void *work, const struct work_data *data,
	     struct work_report *report, struct error *err);

/* For an API without a wait that ends: asks `reached` every millisecond until it returns 1, not 0.
 * Its errors; ERROR_TIMEOUT: the device did not finish within request->timeout_ms. */
int work_wait(const struct work_request *request, work_step *reached, void *work,
	      struct error *err);

/* Keeps call and result, and sets the error "vkCreateDevice: VK_ERROR_DEVICE_LOST (-4)". `failure` may
 * be NULL; so is `name` for an unknown code. Returns ERROR_REMOTE. */
int call_failed(struct call_failure *failure, const char *call, int code, const char *name,
		struct error *err);

/* A code of an API, its name, and what to do about it; NULL where the name says all. */
struct code_advice {
	int code;
	const char *name;
	const char *advice;
};

/* NULL: a code that is not in the table. */
const char *code_name(const struct code_advice *codes, size_t count, int64_t code);

/* call_failed() followed by the advice: "cuInit: CUDA_ERROR_UNKNOWN (999): ...". */
int call_failed_advised(struct call_failure *failure, const char *call, int code,
			const struct code_advice *codes, size_t count, struct error *err);

/* The results of an API's calls, 0 or one of its codes: the member `calls` of a session. */
struct calls {
	const struct code_advice *codes;
	size_t code_count;
	const char *(*code_name)(int code); /* of the API, instead of a table; NULL */
	struct call_failure failure;	    /* the last call that failed */
};

/* 0 for the result 0; otherwise keeps call and result, sets the error with its advice, and returns
 * ERROR_REMOTE. */
int call_check(struct calls *calls, int result, const char *call, struct error *err);

/* The same as a work_step of work_wait() returns it: 1 for the result 0, and 0 for `not_ready`. */
int call_poll(struct calls *calls, int result, int not_ready, const char *call, struct error *err);

/* call_check() of a function of `session`. */
#define API_CALL(session, err, function, ...)                                                      \
	call_check(&(session)->calls, (int)(session)->function(__VA_ARGS__), #function, err)

/* Releases an object by a function of `session`; NULL: nothing. */
#define API_RELEASE(session, function, made)                                                       \
	do {                                                                                       \
		if ((made) != NULL)                                                                \
			(void)(session)->function(made);                                           \
	} while (0)

/* Compares an array (reference.h) that was read back, element by element, the guard included: keeps
 * its digest, counts mismatches and keeps the first. */
void work_compare(struct work_report *report, const char *name, const void *data);

/* The same for the picture (render.h); a row begins every `pitch` bytes. */
void work_compare_picture(struct work_report *report, const uint8_t *pixels, size_t pitch);

/* Sets status and reason by the comparisons. */
void work_judge(struct work_report *report);

/* All of that for the arrays of work_data. */
void work_verify(const struct work_data *data, struct work_report *report);

/* Turns the error of a piece of work into the report: ERROR_TIMEOUT, ERROR_UNSUPPORTED, anything
 * else is a failure. */
void work_report_failure(struct work_report *report, const struct error *reason);

/* "ok", "encoded", ... */
const char *work_status_name(enum work_status status);

/* The `work` member of a document. */
cJSON *work_report_json(const struct work_report *report);
