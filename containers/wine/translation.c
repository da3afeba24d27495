/* SPDX-License-Identifier: MIT */
#include "containers/wine/translation.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/windows_device.h"
#include "containers/wine/device.h"
#include "containers/wine/image.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DRIVE_C "/drive_c"

void wine_translation_free(struct wine_translation *translation)
{
	grant_free(&translation->spec.grant);
	free(translation->command);
	*translation = (struct wine_translation){0};
}

/* The entry of a directory that a step means; NULL in *out when there is none. */
static int find_entry(const char *directory, const char *step, char **out, struct error *err)
{
	char *exact CLEANUP_FREE = path_join(directory, step);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (exact == NULL)
		return error_memory(err);
	if (file_exists(exact)) {
		*out = strdup(step);
		return *out != NULL ? 0 : error_memory(err);
	}
	if (!file_is_directory(directory))
		return 0;
	int rc = file_list(directory, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (strcasecmp(names.items[i], step) == 0) {
			*out = strdup(names.items[i]);
			return *out != NULL ? 0 : error_memory(err);
		}
	}
	return rc;
}

static void lower(char *step)
{
	for (; *step != '\0'; step++) {
		if (*step >= 'A' && *step <= 'Z')
			*step = (char)(*step - 'A' + 'a');
	}
}

/* What its symbolic links lead to, which must lie below `directory`. */
static int stay_below(char **place, const char *directory, struct error *err)
{
	char *resolved CLEANUP_FREE = NULL;
	char *root CLEANUP_FREE = NULL;
	int rc = file_resolve(NULL, directory, &root, err);
	if (rc == 0)
		rc = file_resolve(NULL, *place, &resolved, err);
	if (rc < 0)
		return rc;
	if (!path_is_within(resolved, root))
		return error_set(err, ERROR_ARGUMENT, "%s: leads out of %s", *place, directory);
	return 0;
}

int wine_place(const struct windows_path *path, const char *directory, char **out, bool *found,
	       struct error *err)
{
	char *place CLEANUP_FREE = strdup(directory);
	int rc = place != NULL ? 0 : error_memory(err);
	*found = rc == 0 && file_exists(place);
	for (size_t i = 0; rc == 0 && i < path->names.count; i++) {
		char *name CLEANUP_FREE = NULL;
		char *next = NULL;
		if (*found)
			rc = find_entry(place, path->names.items[i], &name, err);
		if (rc == 0 && name == NULL) {
			*found = false;
			name = strdup(path->names.items[i]);
			if (name != NULL)
				lower(name);
		}
		next = rc == 0 && name != NULL ? path_join(place, name) : NULL;
		if (next == NULL)
			return rc < 0 ? rc : error_memory(err);
		free(place);
		place = next;
		if (*found)
			rc = stay_below(&place, directory, err);
	}
	if (rc == 0)
		*out = STEAL(place);
	return rc;
}

/* C:\... of the container: a place in the image's prefix. */
static int translate_target(const struct wine_node *node, const char *text, char **out,
			    struct error *err)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	char *drive CLEANUP_FREE = text_format("%s" WINE_IMAGE_PREFIX DRIVE_C, node->root);
	char *place CLEANUP_FREE = NULL;
	bool found = false;
	int rc = drive != NULL ? windows_path_parse(text, "mount target", &path, err)
			       : error_memory(err);
	if (rc == 0 && path.drive != 'C')
		return error_set(err, ERROR_ARGUMENT,
				 "mount target '%s': containers have no drive but C:", text);
	if (rc == 0 && path.names.count == 0)
		return error_set(err, ERROR_ARGUMENT, "mount target '%s': is the root of the drive",
				 text);
	if (rc == 0)
		rc = wine_place(&path, drive, &place, &found, err);
	if (rc < 0)
		return rc;
	*out = place != NULL ? strdup(place + strlen(node->root)) : NULL;
	return *out != NULL ? 0 : error_memory(err);
}

/* Wine's programs on the node see the root's system folders and the host's other ones (wine-run).
 */
static bool is_of_root(const char *first_step)
{
	static const char *const folders[] = {"bin", "boot", "etc", "mnt", "sbin", "usr", "var"};
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (strcasecmp(folders[i], first_step) == 0)
			return true;
	}
	return strncasecmp(first_step, "lib", 3) == 0;
}

int wine_find_file(const struct wine_node *node, const char *text, char **out, struct error *err)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	char *planted CLEANUP_FREE = text_format("%s/files" DRIVE_C, node->directory);
	char *prefix CLEANUP_FREE = text_format("%s" WINE_IMAGE_PREFIX DRIVE_C, node->root);
	char *place CLEANUP_FREE = NULL;
	const char *directories[] = {planted, prefix};
	bool found = false;
	int rc = planted != NULL && prefix != NULL
			 ? windows_path_parse(text, "mount source", &path, err)
			 : error_memory(err);
	if (rc < 0)
		return rc;
	bool of_root = path.names.count > 0 && is_of_root(path.names.items[0]);
	if (path.drive == 'Z')
		directories[0] = directories[1] = of_root ? node->root : "/";
	bool known = path.drive == 'Z' || path.drive == 'C';
	for (size_t i = 0; rc == 0 && known && !found && i < ARRAY_SIZE(directories); i++) {
		free(place);
		place = NULL;
		rc = wine_place(&path, directories[i], &place, &found, err);
	}
	if (rc == 0 && !found)
		return error_set(err, ERROR_NOT_FOUND, "mount source '%s': not there", text);
	if (rc == 0)
		*out = STEAL(place);
	return rc;
}

static int translate_mount(const struct wine_node *node, const struct grant_entry *mount,
			   struct grant *out, struct error *err)
{
	struct grant_entry translated = *mount;
	char *source CLEANUP_FREE = NULL;
	char *target CLEANUP_FREE = NULL;
	int rc = wine_find_file(node, mount->host_path, &source, err);
	if (rc == 0)
		rc = translate_target(node, mount->container_path, &target, err);
	if (rc < 0)
		return rc;
	translated.host_path = source;
	translated.container_path = target;
	grant_add(out, GRANT_MOUNT, &translated);
	return 0;
}

static int translate_device(const struct wine_node *node, const char *host_path,
			    struct grant *drivers, struct error *err)
{
	struct windows_device string = {0};
	const struct wine_device *device = NULL;
	int rc = windows_device_parse(host_path, &string, err);
	if (rc < 0)
		return rc;
	if (string.type == WINDOWS_DEVICE_LOCATION_PATH) {
		device = wine_device_at(string.id);
		return device != NULL
			       ? wine_drivers_add(node, device, drivers, err)
			       : error_set(err, ERROR_NOT_FOUND,
					   "device '%s': the node has none there", host_path);
	}
	if (string.type == WINDOWS_DEVICE_OTHER)
		return error_set(err, ERROR_ARGUMENT,
				 "device '%s': not a type for process isolation", host_path);
	if (strcasecmp(string.id, WINDOWS_DISPLAY_CLASS) != 0)
		return error_set(err, ERROR_NOT_FOUND,
				 "device '%s': the node has no device of that class", host_path);
	for (size_t i = 0; rc == 0 && i < WINE_DEVICE_COUNT; i++)
		rc = wine_drivers_add(node, &wine_devices[i], drivers, err);
	return rc;
}

static void add_all(struct grant *out, enum grant_kind kind, const struct grant_list *list)
{
	grant_each (entry, list)
		grant_add(out, kind, entry);
}

/* The drivers' variables lie before the plugin's, which win. */
static int translate_grant(const struct wine_node *node, const struct grant *windows,
			   struct grant *out, struct error *err)
{
	struct grant drivers CLEANUP_GRANT = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < windows->devices.count; i++)
		rc = translate_device(node, windows->devices.items[i].host_path, &drivers, err);
	for (size_t i = 0; rc == 0 && i < windows->mounts.count; i++)
		rc = translate_mount(node, &windows->mounts.items[i], out, err);
	if (rc < 0)
		return rc;
	add_all(out, GRANT_MOUNT, &drivers.mounts);
	add_all(out, GRANT_ENV, &drivers.envs);
	for (enum grant_kind kind = 0; kind < GRANT_KINDS; kind++) {
		if (kind != GRANT_MOUNT && kind != GRANT_DEVICE)
			add_all(out, kind, &windows->lists[kind]);
	}
	return 0;
}

/* A bare word is a probe, as for launch_spec; anything else a Windows or Linux path of the
 * container. */
static int translate_command(const struct launch_spec *windows, struct wine_translation *out,
			     struct error *err)
{
	/* wine-run's own deadline is never met: the launcher has one. */
	static const char *const starter[] = {
		WINE_IMAGE_STARTER, "--inside-root", "/", "", "86400", "yes"};
	const char *word = windows->command[0];
	size_t count = 0;
	while (windows->command[count] != NULL)
		count++;
	if (word == NULL)
		return error_set(err, ERROR_ARGUMENT, "a container without a command");
	out->command = calloc(ARRAY_SIZE(starter) + count + 1, sizeof(*out->command));
	if (out->command == NULL)
		return error_memory(err);
	memcpy(out->command, starter, sizeof(starter));
	memcpy(out->command + ARRAY_SIZE(starter), windows->command, count * sizeof(char *));
	if (word[strcspn(word, "/\\")] == '\0') {
		char *program CLEANUP_FREE =
			text_format("Z:" IMAGES_PROGRAM_DIRECTORY "/%s.exe", word);
		if (program == NULL)
			return error_memory(err);
		out->command[ARRAY_SIZE(starter)] = program;
		grant_keep(&out->spec.grant, &out->command[ARRAY_SIZE(starter)]);
	}
	out->spec.command = out->command;
	return 0;
}

int wine_translate(const struct wine_node *node, const struct launch_spec *windows,
		   struct wine_translation *out, struct error *err)
{
	struct wine_translation translation CLEANUP_WINE_TRANSLATION = {0};
	translation.spec = *windows;
	translation.spec.grant = (struct grant){0};
	int rc = translate_grant(node, &windows->grant, &translation.spec.grant, err);
	if (rc == 0)
		rc = translate_command(windows, &translation, err);
	if (rc < 0)
		return rc;
	*out = translation;
	translation = (struct wine_translation){0};
	return 0;
}
