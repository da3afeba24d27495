/* SPDX-License-Identifier: MIT */
/* Makes a device fail, or work again. */
#include "base/cleanup.h"
#include "conformance/subject/plugin_process.h"

enum { COMMAND_MS = 60000 };

int device_command_run(const char *line, const char *device, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	char *variable CLEANUP_FREE = text_format("DEVICE_ID=%s", device);
	char *out CLEANUP_FREE = NULL;
	const char *const env[] = {variable, NULL};
	int rc = command_line_split(COMMAND_LINE_HERE, line, &words, err);
	if (rc < 0)
		return rc;
	if (words.count == 0)
		return error_set(err, ERROR_ARGUMENT, "it is empty");
	const struct process_spec spec = {
		.argv = (const char *const *)words.items, .env = env, .timeout_ms = COMMAND_MS};
	return process_ask(&spec, &out, err);
}
