/* SPDX-License-Identifier: MIT */
#pragma once

/* Running probes as programs and reading what they print. */

#include "base/process.h"

#include <CUnit/CUnit.h>
#include <cjson/cJSON.h>

struct probe {
	const char *program; /* "probe-vulkan" */
	const char *option, *value;
	const char *env[8];
};

/* All documents go to this file of the tests' folder, to be validated by the schema. 0, or the exit
 * code for main(). */
int probe_documents_open(const char *name);
int probe_documents_close(void);

/* Runs tests whose documents go there; what main() returns. */
int probe_tests(const char *suite, const char *name, CU_TestInfo *tests);

struct process_result probe_run(const struct probe *probe);

/* The document of a probe that could tell the truth: exit code 0 and exactly one line. */
cJSON *probe_document(const struct probe *probe);

/* `missing` is what the probe says is not there. */
void expect_unsupported(const struct probe *probe, const char *missing);
