/* SPDX-License-Identifier: MIT */
#include "containers/launch/check_grant.h"

#include "base/text_index.h"
#include "base/windows_path.h"

#include <string.h>

void check_offence(struct grant_check *check, const char *format, ...)
{
	struct text sentence CLEANUP_TEXT = {0};
	va_list args;
	va_start(args, format);
	text_vaddf(&sentence, format, args);
	va_end(args);
	if (text_list_take(check->offences, text_take(&sentence), NULL) < 0)
		check->out_of_memory = true;
}

bool check_stat(struct grant_check *check, const char *what, const char *path, uv_stat_t *status)
{
	uv_fs_t request;
	int rc = uv_fs_stat(NULL, &request, path, NULL);
	*status = request.statbuf;
	uv_fs_req_cleanup(&request);
	if (rc < 0)
		check_offence(check, "%s %s: %s", what, path, uv_strerror(rc));
	return rc == 0;
}

/* Container paths that stand twice among mounts and device nodes; Windows devices have none. */
static int check_places(struct grant_check *check, const struct grant *grant, bool windows)
{
	struct text_index seen CLEANUP_TEXT_INDEX = {0};
	struct text_list places CLEANUP_TEXT_LIST = {0};
	const struct grant_list *mounts = &grant->mounts;
	size_t count = mounts->count + (windows ? 0 : grant->devices.count);
	for (size_t i = 0; i < count; i++) {
		const char *path = i < mounts->count
					   ? mounts->items[i].container_path
					   : grant->devices.items[i - mounts->count].container_path;
		size_t first = i;
		if (text_list_take(&places, windows ? windows_path_place(path) : strdup(path),
				   NULL) < 0 ||
		    text_index_put(&seen, places.items[i], i, &first, NULL) < 0)
			return ERROR_MEMORY;
		if (first != i)
			check_offence(check, "container path %s: used twice", path);
	}
	return 0;
}

static void check_variable(struct grant_check *check, const struct grant_entry *variable)
{
	if (variable->name[0] == '\0')
		check_offence(check, "environment variable: name is empty");
	else if (strchr(variable->name, '=') != NULL)
		check_offence(check, "environment variable %s: name holds '='", variable->name);
}

int launch_check_grant(const struct grant *grant, enum launch_system system,
		       struct text_list *offences, struct error *err)
{
	struct grant_check check = {.offences = offences};
	bool windows = system == LAUNCH_WINDOWS;
	for (size_t i = 0; i < grant->envs.count; i++)
		check_variable(&check, &grant->envs.items[i]);
	for (size_t i = 0; i < grant->mounts.count; i++)
		(windows ? check_windows_mount : check_linux_mount)(&check,
								    &grant->mounts.items[i]);
	for (size_t i = 0; i < grant->devices.count; i++)
		(windows ? check_windows_device : check_linux_device)(&check,
								      &grant->devices.items[i]);
	if (check_places(&check, grant, windows) < 0 || check.out_of_memory)
		return error_memory(err);
	return 0;
}
