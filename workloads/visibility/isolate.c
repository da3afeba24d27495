/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { ANSWER_MAX = 8 * 1024 * 1024, PATH_BYTES = 32768 };

/* The element of `apis` for a report. */
static cJSON *element(struct api_report *report)
{
	struct members members CLEANUP_MEMBERS = members_new();
	api_report_members(report, &members);
	return members_take(&members);
}

cJSON *isolate_ask(const struct api_driver *api)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	void *session = NULL;
	api_open(api, &report, &session);
	return element(&report);
}

static int run(const struct api_driver *api, uint64_t timeout_ms, cJSON **out, struct error *err)
{
	char *self CLEANUP_FREE = memory_allocate(1, PATH_BYTES);
	size_t size = PATH_BYTES;
	struct process_result result CLEANUP(process_result_free) = {0};
	char ended[256] = "";

	if (uv_exepath(self, &size) != 0)
		return error_set(err, ERROR_IO, "the path of this program is not known");
	const char *const argv[] = {self, "--api", api->name, NULL};
	const struct process_spec spec = {
		.argv = argv, .capture_max = ANSWER_MAX, .timeout_ms = timeout_ms, .grace_ms = 1};
	int rc = process_run(&spec, &result, err);
	(void)fwrite(text_string(&result.err), 1, result.err.size, stderr);
	if (rc != 0)
		return rc;

	if (result.end == PROCESS_TIMED_OUT)
		return error_set(err, ERROR_TIMEOUT,
				 "the driver did not list its devices within %llu ms",
				 (unsigned long long)timeout_ms);
	process_describe(&result, ended, sizeof(ended));
	if (result.end != PROCESS_EXITED)
		return error_set(err, ERROR_REMOTE,
				 "the driver was %s when it was asked for its devices", ended);
	if (result.code != 0)
		return error_set(
			err, ERROR_REMOTE,
			"the process ended with exit code %d when the driver was asked for its devices",
			result.code);
	if (result.out_dropped != 0)
		return error_set(err, ERROR_LIMIT, "the answer is longer than %d bytes",
				 ANSWER_MAX);
	return json_parse(text_string(&result.out), result.out.size, out, err);
}

cJSON *isolate_enumerate(const struct api_driver *api, uint64_t timeout_ms)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct error reason = {0};
	cJSON *answer = NULL;

	if (run(api, timeout_ms, &answer, &reason) == 0)
		return answer;
	api_report_failed(api, &reason, &report);
	return element(&report);
}
