/* SPDX-License-Identifier: MIT */
#pragma once

/* What the tests of encoders' probes share: the probe as a program, with a double of its driver that
 * does one thing wrong each. Streams are H.264 of 64 by 64 and go to verify-video. */

#include "workloads/tests/expect.h"
#include "workloads/tests/judge_stream.h"
#include "workloads/tests/run_probe.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"

struct encoder_rig {
	struct probe probe; /* with room for one more word in its environment */
	const char
		*always; /* settings of the double in every run, with a comma behind them, or "" */
};

/* Each test program has one. */
extern const struct encoder_rig encoder_rig;

/* A run with these settings of the double. `option` stands in for the rig's, unless it is NULL. */
struct process_result rig_start(const char *settings, const char *option);
/* Its document. */
cJSON *rig_run(const char *settings, const char *option);

/* A run whose API works, and the work of which ends so. */
void rig_expect_work(const char *settings, const char *option, const char *status,
		     const char *reason);

/* A run that encodes, and what verify-video says of the stream. */
void rig_expect_judgement(const char *settings, const char *status, const char *reason);

/* The faults of every double that the probe does not see and verify-video does. */
void rig_expect_decoding_faults(void);

/* A call that fails, as the double knows it, with a code of the API: the work names both, the call
 * perhaps behind the interface that it is of ("::"), and its reason holds `reason`. */
struct rig_failure {
	const char *call;
	int code;
	const char *reason;
};

void rig_expect_failures(const struct rig_failure *rows, size_t count);

/* The driver crashes with these settings: nothing is printed. */
void rig_expect_crash(const char *settings);

/* main(): the documents go to a file of this name. */
int rig_main(const char *suite, const char *documents, CU_TestInfo *tests);
