/* SPDX-License-Identifier: MIT */
#pragma once

/* What a piece of a check records, as the runner reads it. */

#include "base/process.h"
#include "base/tests/unit.h"
#include "conformance/runner/execution.h"

#include <unistd.h>

/* Runs the body as a check of `node`; free with result_free(). Ends the test when the harness fails. */
static inline struct result recorder_run_on(check_body *body, const char *directory,
					    const struct discovery_snapshot *node)
{
	const struct check check = {.id = "test.test", .title = "test", .run = body};
	struct context context = {.out_directory = directory, .timeout_percent = 100, .node = node};
	struct result result = {0};
	FILE *file = tmpfile();
	char line[PROCESS_LINE_MAX] = "";
	CU_ASSERT_FATAL(file != NULL);
	CU_ASSERT_EQUAL_FATAL(check_run_execute(&check, &context, directory, fileno(file), NULL),
			      0);
	rewind(file);
	while (fgets(line, sizeof(line), file) != NULL)
		CU_ASSERT_EQUAL_FATAL(result_add_line(&result, line, strcspn(line, "\n"), NULL), 0);
	(void)fclose(file);
	return result;
}

static inline struct result recorder_run_in(check_body *body, const char *directory)
{
	return recorder_run_on(body, directory, NULL);
}

static inline struct result recorder_run(check_body *body)
{
	return recorder_run_in(body, "/nonexistent");
}

static inline void recorder_expect(check_body *body, enum report_outcome wanted, const char *why)
{
	struct result result CLEANUP_RESULT = recorder_run(body);
	const char *reason = "";
	UNIT_INT(result_outcome(&result, &reason), wanted);
	if (strstr(reason, why) == NULL)
		UNIT_STRING(reason, why);
}
