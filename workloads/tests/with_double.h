/* SPDX-License-Identifier: MIT */
#pragma once

/* What every API's probe does with a driver double that does one thing wrong. `probe` is the program and
 * the environment in which it finds the double. */

#include "workloads/tests/run_probe.h"

#include <stdbool.h>
#include <stddef.h>

/* The document with the double's settings, GPUCERT_DOUBLE, and one option (NULL: none). */
cJSON *probe_with(const struct probe *probe, const char *settings, const char *option);

/* Of work with the seed UINT32_MAX and the default size: whoever chose the seed computes the digest
 * of each array again. `arrays` is NULL-ended. */
void expect_digests(const cJSON *document, const char *const *arrays);

/* One failing call each: where the work stops, and what is told of the call. */
struct failing_call {
	const char *call;
	int code;
	const char *name;  /* NULL: not known */
	const char *stage; /* NULL: the API fails */
	bool advised;	   /* behind the code it says what to do */
};

void expect_failing_calls(const struct probe *probe, const struct failing_call *calls,
			  size_t count);

/* What a device may do to the data of 5000 elements, and what is wrong first. */
struct wrong_result {
	const char *settings, *array;
	double first;
	bool guard;
};

void expect_wrong_results(const struct probe *probe, const struct wrong_result *cases,
			  size_t count);

/* The second of two devices is, and there is no third one. */
void expect_selection(const struct probe *probe);

/* A device that hangs is given up at this stage. */
void expect_timeout(const struct probe *probe, const char *stage);

/* A driver that crashes in a call takes the probe with it, which prints nothing. */
void expect_crash(const struct probe *probe, const char *call);
