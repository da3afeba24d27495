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

/* Three arrays of `elements` + WORK_GUARD each; owned by the caller. */
struct work_data {
	uint32_t *values;
	float *x;
	float *y;
	size_t elements;
	uint32_t seed;
};

void work_fill(const struct work_data *data);

enum work_status {
	WORK_OK,	  /* every element is right */
	WORK_WRONG,	  /* it ran, and the result is not right */
	WORK_FAILED,	  /* a call failed: `call` */
	WORK_TIMED_OUT,	  /* the device did not finish in time */
	WORK_UNSUPPORTED, /* there is nothing to work on, or the device cannot do it: `reason` */
};

/* How far the work came; the stage that failed, or WORK_STAGE_VERIFY. */
enum work_stage {
	WORK_STAGE_SELECT,
	WORK_STAGE_DEVICE,
	WORK_STAGE_BUILD,
	WORK_STAGE_MEMORY,
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
	const char
		*code_name; /* "VK_ERROR_INITIALIZATION_FAILED"; NULL: a code that is not known */
};

struct work_mismatch {
	const char *array; /* "values" or "y"; DirectML: "sum" or "product" */
	size_t index;
	bool guard; /* it stands behind the end */
	char expected[32];
	char actual[32];
};

/* Of an array as it was read back from the device. */
struct work_digest {
	const char *array; /* as for work_expected_digest() */
	char digest[DIGEST_SIZE];
};

enum { WORK_DIGESTS_MAX = 2 };

struct work_report {
	size_t device;
	size_t elements;
	uint32_t seed;
	char feature_level[16]; /* of Direct3D, "12_1"; "" for other APIs */
	enum work_status status;
	enum work_stage stage;
	char reason[ERROR_TEXT_SIZE]; /* "" with WORK_OK */
	struct call_failure failure;
	char *build_log; /* of the kernel's build when it failed; may be NULL */
	size_t mismatches;
	struct work_mismatch first;
	struct work_digest digests[WORK_DIGESTS_MAX];
	size_t digest_count;
	struct render_report render;
	uint64_t stage_ns[WORK_STAGE_COUNT]; /* 0: not reached */
	uint64_t stage_began_ns;	     /* monotonic; 0: no stage runs */
};

#define CLEANUP_WORK_REPORT __attribute__((cleanup(work_report_free)))

void work_report_free(struct work_report *report);

/* Times the stages: beginning one ends the one that runs. */
void work_stage_begin(struct work_report *report, enum work_stage stage);
void work_stage_end(struct work_report *report);

/* Keeps the digest of an array that was read back; `array` is a literal. */
void work_report_digest(struct work_report *report, const char *array, const void *data,
			size_t size);

/* Keeps the digests of both arrays, compares every element and the guards, and judges what was
 * rendered; sets status, mismatches, first and reason. */
void work_verify(const struct work_data *data, struct work_report *report);

/* There is no device with the wanted index among `count`. Returns 0. */
int work_report_absent(struct work_report *report, size_t count);

/* Turns the error of a piece of work into the report: ERROR_TIMEOUT, ERROR_UNSUPPORTED, anything
 * else is a failure. Returns 0, or ERROR_MEMORY when that was the error: then the probe cannot go
 * on. */
int work_report_failure(struct work_report *report, const struct error *reason,
			const struct call_failure *failure, struct error *err);

/* The `work` member of a document. NULL: out of memory. */
cJSON *work_report_json(const struct work_report *report);
