/* SPDX-License-Identifier: MIT */
#include "containers/launch/launch.h"

#include "base/path.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct spec_check {
	struct text_list *offences;
	size_t count;
	struct error *err; /* holds the first offence */
	bool out_of_memory;
};

static void spec_offence(struct spec_check *check, const char *format, ...) PRINTF_LIKE(2, 3);

static void spec_offence(struct spec_check *check, const char *format, ...)
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

static bool spec_has_parent_step(const char *path)
{
	for (const char *step = path; step != NULL; step = strchr(step, '/')) {
		step += *step == '/';
		if (strncmp(step, "..", 2) == 0 && (step[2] == '/' || step[2] == '\0'))
			return true;
	}
	return false;
}

/* The rules that paths on the host and in the container share. */
static bool spec_path(struct spec_check *check, const char *what, const char *path)
{
	if (path == NULL || path[0] == '\0')
		spec_offence(check, "%s: path is empty", what);
	else if (!path_is_absolute(path))
		spec_offence(check, "%s %s: path is not absolute", what, path);
	else if (spec_has_parent_step(path))
		spec_offence(check, "%s %s: path holds \"..\"", what, path);
	else
		return true;
	return false;
}

static void spec_container_path(struct spec_check *check, const char *what, const char *path)
{
	if (spec_path(check, what, path) && path[strspn(path, "/.")] == '\0')
		spec_offence(check, "%s %s: path is the root of the container", what, path);
}

static void spec_mount(struct spec_check *check, const struct launch_mount *mount)
{
	struct stat status = {0};

	if (spec_path(check, "mount source", mount->host_path) &&
	    stat(mount->host_path, &status) < 0)
		spec_offence(check, "mount source %s: %s", mount->host_path, strerror(errno));
	spec_container_path(check, "mount target", mount->container_path);
}

static void spec_device(struct spec_check *check, const struct launch_device *device)
{
	const char *letters = device->permissions != NULL ? device->permissions : "";
	struct stat status = {0};

	if (spec_path(check, "device node", device->host_path)) {
		if (stat(device->host_path, &status) < 0)
			spec_offence(check, "device node %s: %s", device->host_path,
				     strerror(errno));
		else if (!S_ISCHR(status.st_mode) && !S_ISBLK(status.st_mode))
			spec_offence(check, "device node %s: not a character or block device",
				     device->host_path);
	}
	if (letters[0] == '\0' || letters[strspn(letters, "rwm")] != '\0')
		spec_offence(check, "device node %s: permissions \"%s\" are not letters of \"rwm\"",
			     device->host_path != NULL ? device->host_path : "", letters);
	spec_container_path(check, "device target", device->container_path);
}

static const char *spec_target(const struct launch_spec *spec, size_t index)
{
	const char *path = index < spec->mount_count
				   ? spec->mounts[index].container_path
				   : spec->devices[index - spec->mount_count].container_path;

	return path != NULL ? path : "";
}

/* A few dozen mounts: comparing each with each is quick enough. */
static void spec_duplicates(struct spec_check *check, const struct launch_spec *spec)
{
	size_t count = spec->mount_count + spec->device_count;

	for (size_t i = 1; i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (!text_equal(spec_target(spec, i), spec_target(spec, j)))
				continue;
			spec_offence(check, "container path %s: used twice", spec_target(spec, i));
			break;
		}
	}
}

static void spec_variable(struct spec_check *check, const struct launch_variable *variable)
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

int launch_check_spec(const struct launch_spec *spec, struct text_list *offences, struct error *err)
{
	struct error first = {0};
	struct spec_check check = {.offences = offences, .err = &first};

	spec_name(&check, spec->name);
	if (spec->command == NULL || spec->command[0] == NULL || spec->command[0][0] == '\0')
		spec_offence(&check, "command is empty");
	for (size_t i = 0; i < spec->env_count; i++)
		spec_variable(&check, &spec->envs[i]);
	for (size_t i = 0; i < spec->mount_count; i++)
		spec_mount(&check, &spec->mounts[i]);
	for (size_t i = 0; i < spec->device_count; i++)
		spec_device(&check, &spec->devices[i]);
	spec_duplicates(&check, spec);
	if (check.out_of_memory)
		return error_memory(err);
	return check.count > 0 ? error_set(err, ERROR_ARGUMENT, "%s", first.text) : 0;
}
