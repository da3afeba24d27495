/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { ANSWER_MAX = 8 * 1024 * 1024, PATH_BYTES = 32768 };

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
	return api_open(api, &report, &session, NULL) == 0 ? element(&report) : NULL;
}

static int judge(const struct process_result *result, uint64_t timeout_ms, struct error *err)
{
	char ended[256] = "";
	process_describe(result, ended, sizeof(ended));
	if (result->end == PROCESS_TIMED_OUT)
		return error_set(err, ERROR_TIMEOUT,
				 "the driver did not list its devices within %llu ms",
				 (unsigned long long)timeout_ms);
	if (result->end != PROCESS_EXITED)
		return error_set(err, ERROR_REMOTE,
				 "the driver was %s when it was asked for its devices", ended);
	if (result->code != 0)
		return error_set(
			err, ERROR_REMOTE,
			"the process ended with exit code %d when the driver was asked for its devices",
			result->code);
	if (result->out_dropped != 0)
		return error_set(err, ERROR_LIMIT, "the answer is longer than %d bytes",
				 ANSWER_MAX);
	return 0;
}

static int run(const struct api_driver *api, uint64_t timeout_ms, cJSON **out, struct error *err)
{
	char *self CLEANUP_FREE = malloc(PATH_BYTES);
	size_t size = PATH_BYTES;
	struct process_result result = {0};
	if (self == NULL)
		return error_memory(err);
	if (uv_exepath(self, &size) != 0)
		return error_set(err, ERROR_IO, "the path of this program is not known");
	const char *const argv[] = {self, "--api", api->name, NULL};
	const struct process_spec spec = {
		.argv = argv, .capture_max = ANSWER_MAX, .timeout_ms = timeout_ms, .grace_ms = 1};
	int rc = process_run(&spec, &result, err);
	if (rc == 0)
		rc = judge(&result, timeout_ms, err);
	if (rc == 0)
		rc = json_parse(text_string(&result.out), result.out.size, out, err);
	(void)fwrite(text_string(&result.err), 1, result.err.size, stderr);
	process_result_free(&result);
	return rc;
}

cJSON *isolate_enumerate(const struct api_driver *api, uint64_t timeout_ms)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct error reason = {0};
	cJSON *told = NULL;
	int rc = run(api, timeout_ms, &told, &reason);
	if (rc == 0 || rc == ERROR_MEMORY)
		return told;
	return api_report_failed(api, &reason, &report, NULL) == 0 ? element(&report) : NULL;
}
