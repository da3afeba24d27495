/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/isolate.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/process.h"

#include <uv.h>

enum { ANSWER_MAX = 8 * 1024 * 1024, PATH_BYTES = 32768 };

/* How the child ended. */
static int judge(const struct process_result *result, uint64_t timeout_ms, struct error *err)
{
	switch (result->end) {
	case PROCESS_EXITED:
		if (result->code == 0)
			return 0;
		return error_set(err, ERROR_REMOTE,
				 "the process ended with exit code %d when the driver was asked "
				 "for its devices",
				 result->code);
	case PROCESS_SIGNALLED:
		return error_set(err, ERROR_REMOTE,
				 "the driver raised exception 0x%08x when it was asked for its "
				 "devices",
				 (unsigned)result->code);
	case PROCESS_TIMED_OUT:
		return error_set(err, ERROR_TIMEOUT,
				 "the driver did not tell its devices within %llu ms",
				 (unsigned long long)timeout_ms);
	case PROCESS_STOPPED:
	default:
		return error_set(err, ERROR_REMOTE, "the process was ended");
	}
}

static int read_answer(const struct process_result *result, cJSON **out, struct error *err)
{
	if (result->out_dropped != 0)
		return error_set(err, ERROR_LIMIT, "the answer is longer than %d bytes",
				 ANSWER_MAX);
	return json_parse(text_string(&result->out), result->out.size, out, err);
}

int isolate_run(const struct api_driver *api, uint64_t timeout_ms, bool anew, cJSON **out,
		struct error *err)
{
	(void)anew;
	char *self CLEANUP_FREE = malloc(PATH_BYTES);
	size_t size = PATH_BYTES;
	struct process_result result = {0};
	int code = self != NULL ? 0 : error_memory(err);

	if (code == 0 && uv_exepath(self, &size) != 0)
		code = error_set(err, ERROR_IO, "the path of this program is not known");
	if (code != 0)
		return code;
	const char *const argv[] = {self, "--api", api->name, NULL};
	const struct process_spec spec = {
		.argv = argv, .capture_max = ANSWER_MAX, .timeout_ms = timeout_ms, .grace_ms = 1};

	code = process_run(&spec, &result, err);
	if (code == 0)
		code = judge(&result, timeout_ms, err);
	if (code == 0)
		code = read_answer(&result, out, err);
	process_result_free(&result);
	return code;
}
