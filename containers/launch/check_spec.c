/* SPDX-License-Identifier: MIT */
#include "containers/launch/launch.h"

#include "base/text_index.h"
#include "containers/launch/check_spec.h"
#include "containers/launch/launcher.h"

#include <string.h>

void spec_offence(struct spec_check *check, const char *format, ...)
{
	struct text sentence CLEANUP_TEXT = {0};
	struct error err = {0};
	va_list args;

	va_start(args, format);
	text_vaddf(&sentence, format, args);
	va_end(args);
	if (check->count++ == 0)
		error_set(check->err, ERROR_ARGUMENT, "%s", text_string(&sentence));
	if (sentence.failed || (check->offences != NULL &&
				text_list_add(check->offences, text_string(&sentence), &err) < 0))
		check->out_of_memory = true;
}

bool spec_stat(struct spec_check *check, const char *what, const char *path, uv_stat_t *status)
{
	uv_fs_t request;
	int rc = uv_fs_stat(NULL, &request, path, NULL);

	*status = request.statbuf;
	uv_fs_req_cleanup(&request);
	if (rc < 0)
		spec_offence(check, "%s %s: %s", what, path, uv_strerror(rc));
	return rc == 0;
}

static const char *spec_target(const struct launch_spec *spec, size_t index)
{
	const struct grant_list *mounts = &spec->grant.mounts;
	const char *path =
		index < mounts->count
			? mounts->items[index].container_path
			: spec->grant.devices.items[index - mounts->count].container_path;

	return path != NULL ? path : "";
}

/* Windows devices have no place. */
static int spec_find_duplicates(struct spec_check *check, const struct launch_spec *spec)
{
	struct text_index seen CLEANUP_TEXT_INDEX = {0};
	struct text_list places CLEANUP_TEXT_LIST = {0};
	bool windows = check->system == LAUNCH_WINDOWS;
	size_t count = spec->grant.mounts.count + (windows ? 0 : spec->grant.devices.count);

	for (size_t i = 0; i < count; i++) {
		const char *path = spec_target(spec, i);
		const char *place = path;
		size_t first = i;

		if (windows) {
			if (text_list_take(&places, spec_windows_place(path), NULL) < 0)
				return ERROR_MEMORY;
			place = places.items[i];
		}
		if (text_index_put(&seen, place, i, &first, NULL) < 0)
			return ERROR_MEMORY;
		if (first != i)
			spec_offence(check, "container path %s: used twice", path);
	}
	return 0;
}

static void spec_variable(struct spec_check *check, const struct grant_entry *variable)
{
	if (variable->name == NULL || variable->name[0] == '\0')
		spec_offence(check, "environment variable: name is empty");
	else if (strchr(variable->name, '=') != NULL)
		spec_offence(check, "environment variable %s: name holds '='", variable->name);
	else if (variable->value == NULL)
		spec_offence(check, "environment variable %s: no value", variable->name);
}

static void spec_name(struct spec_check *check, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";

	if (name == NULL || name[0] == '\0' || strlen(name) > 63 ||
	    name[strspn(name, letters)] != '\0')
		spec_offence(check, "container name \"%s\": not 1 to 63 of [a-z0-9-]",
			     name != NULL ? name : "");
}

int launch_check_spec(const struct launch_spec *spec, enum launch_system system,
		      struct text_list *offences, struct error *err)
{
	struct error first = {0};
	struct spec_check check = {
		.system = launch_system(system), .offences = offences, .err = &first};
	bool windows = check.system == LAUNCH_WINDOWS;

	spec_name(&check, spec->name);
	if (spec->command == NULL || spec->command[0] == NULL || spec->command[0][0] == '\0')
		spec_offence(&check, "command is empty");
	for (size_t i = 0; i < spec->grant.envs.count; i++)
		spec_variable(&check, &spec->grant.envs.items[i]);
	for (size_t i = 0; i < spec->grant.mounts.count; i++)
		(windows ? spec_windows_mount : spec_linux_mount)(&check,
								  &spec->grant.mounts.items[i]);
	for (size_t i = 0; i < spec->grant.devices.count; i++)
		(windows ? spec_windows_device : spec_linux_device)(&check,
								    &spec->grant.devices.items[i]);
	if (spec_find_duplicates(&check, spec) < 0 || check.out_of_memory)
		return error_memory(err);
	return check.count > 0 ? error_set(err, ERROR_ARGUMENT, "%s", first.text) : 0;
}
