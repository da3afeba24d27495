/* SPDX-License-Identifier: MIT */
#include "containers/wine/translation.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
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

/* The entry of a directory that a step names, whatever its case; NULL: none. Caller frees. */
static int find_entry(const char *directory, const char *step, char **out, struct error *err)
{
	char *exact CLEANUP_FREE = path_join(directory, step);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (file_exists(exact)) {
		*out = memory_copy(step);
		return 0;
	}
	if (!file_is_directory(directory))
		return 0;
	int rc = file_list(directory, &names, err);
	for (size_t i = 0; rc == 0 && *out == NULL && i < names.count; i++) {
		if (strcasecmp(names.items[i], step) == 0)
			*out = memory_copy(names.items[i]);
	}
	return rc;
}

int wine_place(const struct windows_path *path, const char *directory, char **out, bool *found,
	       struct error *err)
{
	char *place CLEANUP_FREE = memory_copy(directory);
	*found = file_exists(place);
	text_each (step, &path->names) {
		char *name CLEANUP_FREE = NULL;
		int rc = *found ? find_entry(place, step, &name, err) : 0;
		if (rc < 0)
			return rc;
		if (name == NULL) {
			*found = false;
			name = memory_copy(step);
			for (char *letter = name; *letter != '\0'; letter++) {
				if (*letter >= 'A' && *letter <= 'Z')
					*letter = (char)(*letter - 'A' + 'a');
			}
		}
		char *next = path_join(place, name);
		free(place);
		place = next;
		if (!*found)
			continue;

		/* Its symbolic links must lead to a place below `directory`. */
		char *resolved CLEANUP_FREE = NULL;
		char *root CLEANUP_FREE = NULL;
		rc = file_resolve(NULL, directory, &root, err);
		if (rc == 0)
			rc = file_resolve(NULL, place, &resolved, err);
		if (rc < 0)
			return rc;
		if (!path_is_within(resolved, root))
			return error_set(err, ERROR_ARGUMENT, "%s: leads out of %s", place,
					 directory);
	}
	*out = STEAL(place);
	return 0;
}

int wine_find_file(const struct wine_node *node, const char *text, char **out, struct error *err)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	char *planted CLEANUP_FREE = text_format("%s/files" DRIVE_C, node->directory);
	char *prefix CLEANUP_FREE = text_format("%s" WINE_IMAGE_PREFIX DRIVE_C, node->root);
	char *place CLEANUP_FREE = NULL;
	const char *directories[] = {planted, prefix};
	bool found = false;
	int rc = windows_path_parse(text, "mount source", &path, err);
	if (rc < 0)
		return rc;

	/* Wine's programs on the node see these folders of the root, and all others of the host (wine-run). */
	static const char *const folders[] = {"bin", "boot", "etc", "mnt", "sbin", "usr", "var"};
	const char *first = path.names.count > 0 ? path.names.items[0] : "";
	bool in_root = strncasecmp(first, "lib", 3) == 0;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		in_root = in_root || strcasecmp(folders[i], first) == 0;
	if (path.drive == 'Z')
		directories[0] = directories[1] = in_root ? node->root : "/";
	bool known = path.drive == 'Z' || path.drive == 'C';
	for (size_t i = 0; rc == 0 && known && !found && i < ARRAY_SIZE(directories); i++) {
		free(place);
		place = NULL;
		rc = wine_place(&path, directories[i], &place, &found, err);
	}
	if (rc == 0 && !found)
		return error_set(err, ERROR_NOT_FOUND, "mount source '%s' does not exist", text);
	if (rc == 0)
		*out = STEAL(place);
	return rc;
}

static int translate_mount(const struct wine_node *node, const struct grant_entry *mount,
			   struct grant *out, struct error *err)
{
	const char *target = mount->container_path;
	struct grant_entry translated = *mount;
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	char *drive CLEANUP_FREE = text_format("%s" WINE_IMAGE_PREFIX DRIVE_C, node->root);
	char *source CLEANUP_FREE = NULL;
	char *place CLEANUP_FREE = NULL;
	bool found = false;
	int rc = wine_find_file(node, mount->host_path, &source, err);
	if (rc == 0)
		rc = windows_path_parse(target, "mount target", &path, err);
	if (rc < 0)
		return rc;

	/* C:\... of the container: a place in the image's prefix. */
	if (path.drive != 'C')
		return error_set(err, ERROR_ARGUMENT,
				 "mount target '%s': containers have no drive but C:", target);
	if (path.names.count == 0)
		return error_set(err, ERROR_ARGUMENT, "mount target '%s': is the root of the drive",
				 target);
	rc = wine_place(&path, drive, &place, &found, err);
	if (rc < 0)
		return rc;
	translated.host_path = source;
	translated.container_path = place + strlen(node->root);
	grant_add(out, GRANT_MOUNT, &translated);
	return 0;
}

static int translate_device(const struct wine_node *node, const char *host_path,
			    struct grant *drivers, struct error *err)
{
	struct windows_device string = {0};
	int rc = windows_device_parse(host_path, &string, err);
	if (rc < 0)
		return rc;
	if (string.type == WINDOWS_DEVICE_LOCATION_PATH) {
		const struct wine_device *device = wine_device_at(string.id);
		if (device == NULL)
			return error_set(err, ERROR_NOT_FOUND,
					 "device '%s': the node has none there", host_path);
		return wine_drivers_add(node, device, drivers, err);
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

int wine_translate(const struct wine_node *node, const struct launch_spec *windows,
		   struct wine_translation *out, struct error *err)
{
	/* wine-run's own deadline is never met: the launcher has one. */
	static const char *const starter[] = {
		WINE_IMAGE_STARTER, "--inside-root", "/", "", "86400", "yes"};
	enum { STARTER = ARRAY_SIZE(starter) };
	struct wine_translation translation CLEANUP_WINE_TRANSLATION = {.spec = *windows};
	struct grant *grant = &translation.spec.grant;
	struct grant drivers CLEANUP_GRANT = {0};
	int rc = 0;
	*grant = (struct grant){0};
	for (size_t i = 0; rc == 0 && i < windows->grant.devices.count; i++)
		rc = translate_device(node, windows->grant.devices.items[i].host_path, &drivers,
				      err);
	for (size_t i = 0; rc == 0 && i < windows->grant.mounts.count; i++)
		rc = translate_mount(node, &windows->grant.mounts.items[i], grant, err);
	if (rc < 0)
		return rc;

	/* The drivers' variables are added before the plugin's, which win. */
	add_all(grant, GRANT_MOUNT, &drivers.mounts);
	add_all(grant, GRANT_ENV, &drivers.envs);
	for (enum grant_kind kind = 0; kind < GRANT_KINDS; kind++) {
		if (kind != GRANT_MOUNT && kind != GRANT_DEVICE)
			add_all(grant, kind, &windows->grant.lists[kind]);
	}

	/* A bare word is a probe, as for launch_spec; anything else a Windows or Linux path of the container. */
	const char *word = windows->command[0];
	size_t count = 0;
	while (windows->command[count] != NULL)
		count++;
	if (word == NULL)
		return error_set(err, ERROR_ARGUMENT, "a container without a command");
	translation.command = memory_allocate(STARTER + count + 1, sizeof(char *));
	memcpy(translation.command, starter, sizeof(starter));
	memcpy(translation.command + STARTER, windows->command, count * sizeof(char *));
	if (word[strcspn(word, "/\\")] == '\0') {
		char *program CLEANUP_FREE =
			text_format("Z:" IMAGES_PROGRAM_DIRECTORY "/%s.exe", word);
		translation.command[STARTER] = program;
		grant_keep(grant, &translation.command[STARTER]);
	}
	translation.spec.command = translation.command;
	*out = STEAL(translation);
	return 0;
}
