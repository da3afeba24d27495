/* SPDX-License-Identifier: MIT */
#include "conformance/checks/granted.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"
#include "base/windows_device.h"
#include "conformance/checks/node_file.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { KEY_SIZE = 64, WALK_MAX = 65536, KNOWN_MAX = 256 };

/* Something by which a device is recognised: a path, the number of a node, of a file, of a folder
 * above a file. */
struct granted_mark {
	char *key;
	size_t owner; /* index of the device */
};

/* A file that is a device's own, to be recognised in a copy. */
struct granted_content {
	const char *path;
	uint64_t size;
	size_t owner;
	char digest[DIGEST_SIZE]; /* "": not asked for yet */
};

/* What a file or a folder of an answer was found to hand out. */
struct granted_known {
	struct node_file file;
	bool filled;
	struct granted found;
};

struct granted_reader {
	const struct discovery_snapshot *node;
	struct granted_mark *marks; /* sorted by key, then by owner */
	size_t mark_count, mark_capacity;
	struct granted_content *contents;
	size_t content_count;
	struct granted_known known[KNOWN_MAX]; /* by inode; a newcomer takes the place */
};

bool granted_device_offers(const struct discovery_device *device, const char *api)
{
	for (const char *const *offered = device->apis; offered != NULL && *offered != NULL;
	     offered++) {
		if (strcmp(*offered, api) == 0)
			return true;
	}
	return false;
}

bool granted_has(const struct granted *granted, const struct discovery_device *device)
{
	for (size_t i = 0; i < granted->count; i++) {
		if (granted->devices[i] == device)
			return true;
	}
	return false;
}

void granted_add(struct granted *granted, const struct discovery_device *device)
{
	if (granted->count < GRANTED_DEVICES_MAX && !granted_has(granted, device))
		granted->devices[granted->count++] = device;
}

size_t granted_count(const struct granted *granted, const char *api)
{
	size_t count = 0;

	for (size_t i = 0; i < granted->count; i++)
		count += granted_device_offers(granted->devices[i], api) ? 1 : 0;
	return count;
}

static int granted_add_mark(struct granted_reader *reader, char *key, size_t owner,
			    struct error *err)
{
	if (key != NULL && reader->mark_count == reader->mark_capacity) {
		size_t capacity = reader->mark_capacity * 2 + 64;
		struct granted_mark *marks = realloc(reader->marks, capacity * sizeof(*marks));

		if (marks != NULL) {
			reader->marks = marks;
			reader->mark_capacity = capacity;
		}
	}
	if (key == NULL || reader->mark_count == reader->mark_capacity) {
		free(key);
		return error_memory(err);
	}
	reader->marks[reader->mark_count++] = (struct granted_mark){key, owner};
	return 0;
}

static char *granted_path_key(const char *kind, const char *path)
{
	char *clean CLEANUP_FREE = path_normalize(path);

	return clean != NULL ? text_format("%s %s", kind, clean) : NULL;
}

static void granted_file_key(const struct node_file *file, char out[KEY_SIZE])
{
	if (file->kind == NODE_FILE_CHARACTER || file->kind == NODE_FILE_BLOCK)
		(void)snprintf(out, KEY_SIZE, "%s %u:%u",
			       file->kind == NODE_FILE_CHARACTER ? "character" : "block",
			       file->major, file->minor);
	else
		(void)snprintf(out, KEY_SIZE, "%s %" PRIu64 ":%" PRIu64,
			       file->kind == NODE_FILE_FOLDER ? "folder" : "file", file->device,
			       file->inode);
}

static int granted_mark_file(struct granted_reader *reader, const struct node_file *file,
			     size_t owner, struct error *err)
{
	char key[KEY_SIZE] = "";

	granted_file_key(file, key);
	return granted_add_mark(reader, strdup(key), owner, err);
}

static int granted_mark_nodes(struct granted_reader *reader, size_t owner, struct error *err)
{
	const struct discovery_device *device = &reader->node->devices[owner];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < device->node_count; i++) {
		struct node_file file = {0};

		rc = granted_add_mark(reader, granted_path_key("node", device->nodes[i].path),
				      owner, err);
		if (rc == 0 && node_file_identify(device->nodes[i].path, &file))
			rc = granted_mark_file(reader, &file, owner, err);
	}
	return rc;
}

/* The folders that hold the file. */
static int granted_mark_folders(struct granted_reader *reader, const char *path, size_t owner,
				struct error *err)
{
	char *folder CLEANUP_FREE = NULL;
	int rc = file_resolve(NULL, path, &folder, NULL);

	while (rc == 0 && strcmp(folder, "/") != 0) {
		char *above = path_directory(folder);
		struct node_file file = {0};

		free(folder);
		folder = above;
		if (folder == NULL)
			return error_memory(err);
		if (node_file_identify(folder, &file))
			rc = granted_mark_file(reader, &file, owner, err);
	}
	return rc == ERROR_MEMORY ? rc : 0;
}

/* A driver's manifest and its library are its own; what these need may be anybody's. Where nothing
 * is known of the files, each counts. */
static bool granted_is_telling(const struct discovery_file *file)
{
	static const char *const origins[] = {"", "manifest", "driver-library"};

	for (size_t i = 0; i < ARRAY_SIZE(origins); i++) {
		if (strcmp(file->origin, origins[i]) == 0)
			return true;
	}
	return false;
}

static int granted_mark_files(struct granted_reader *reader, size_t owner, struct error *err)
{
	const struct discovery_device *device = &reader->node->devices[owner];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < device->file_count; i++) {
		const char *path = device->files[i].source;
		struct node_file file = {0};

		if (!granted_is_telling(&device->files[i]))
			continue;
		rc = granted_add_mark(reader, granted_path_key("source", path), owner, err);
		if (rc != 0 || !node_file_identify(path, &file))
			continue;
		rc = granted_mark_file(reader, &file, owner, err);
		if (rc == 0)
			rc = granted_mark_folders(reader, path, owner, err);
		if (file.kind == NODE_FILE_REGULAR && file.size != 0)
			reader->contents[reader->content_count++] = (struct granted_content){
				.path = path, .size = file.size, .owner = owner};
	}
	return rc;
}

static int granted_compare_marks(const void *a, const void *b)
{
	const struct granted_mark *one = a;
	const struct granted_mark *other = b;
	int order = strcmp(one->key, other->key);

	return order != 0 ? order : (one->owner > other->owner) - (one->owner < other->owner);
}

static int granted_fill(struct granted_reader *reader, struct error *err)
{
	const struct discovery_snapshot *node = reader->node;
	size_t files = 0;
	int rc = 0;

	for (size_t i = 0; i < node->device_count; i++)
		files += node->devices[i].file_count;
	reader->contents = calloc(files + 1, sizeof(*reader->contents));
	if (reader->contents == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < node->device_count; i++)
		rc = node->devices[i].node_count != 0 ? granted_mark_nodes(reader, i, err)
						      : granted_mark_files(reader, i, err);
	if (reader->mark_count != 0)
		qsort(reader->marks, reader->mark_count, sizeof(*reader->marks),
		      granted_compare_marks);
	return rc;
}

int granted_reader_new(const struct discovery_snapshot *node, struct granted_reader **out,
		       struct error *err)
{
	struct granted_reader *reader CLEANUP_GRANTED_READER = calloc(1, sizeof(*reader));
	int rc = reader != NULL ? 0 : error_memory(err);

	if (rc == 0) {
		reader->node = node;
		rc = strcmp(node->system.os, "windows") != 0 ? granted_fill(reader, err) : 0;
	}
	if (rc == 0)
		*out = STEAL(reader);
	return rc;
}

void granted_reader_free(struct granted_reader **reader)
{
	if (*reader == NULL)
		return;
	for (size_t i = 0; i < (*reader)->mark_count; i++)
		free((*reader)->marks[i].key);
	free((*reader)->marks);
	free((*reader)->contents);
	free(*reader);
	*reader = NULL;
}

/* Adds the devices that have the mark. */
static void granted_find(const struct granted_reader *reader, const char *key,
			 struct granted *found)
{
	size_t low = 0;
	size_t high = reader->mark_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(reader->marks[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < reader->mark_count && strcmp(reader->marks[low].key, key) == 0; low++)
		granted_add(found, &reader->node->devices[reader->marks[low].owner]);
}

static void granted_find_path(const struct granted_reader *reader, const char *kind,
			      const char *path, struct granted *found)
{
	char *key CLEANUP_FREE = granted_path_key(kind, path);

	if (key != NULL)
		granted_find(reader, key, found);
}

static void granted_find_file(const struct granted_reader *reader, const struct node_file *file,
			      struct granted *found)
{
	char key[KEY_SIZE] = "";

	granted_file_key(file, key);
	granted_find(reader, key, found);
}

/* The devices of which the file is a copy of an own file. */
static void granted_find_content(struct granted_reader *reader, const char *path,
				 const struct node_file *file, struct granted *found)
{
	char digest[DIGEST_SIZE] = "";

	for (size_t i = 0; i < reader->content_count; i++) {
		struct granted_content *content = &reader->contents[i];

		if (content->size != file->size)
			continue;
		if (digest[0] == '\0' && digest_file(path, digest, NULL, NULL) < 0)
			return;
		if (content->digest[0] == '\0' &&
		    digest_file(content->path, content->digest, NULL, NULL) < 0)
			content->size = 0;
		else if (strcmp(content->digest, digest) == 0)
			granted_add(found, &reader->node->devices[content->owner]);
	}
}

struct granted_walk {
	struct granted_reader *reader;
	struct granted *found;
};

static bool granted_visit(const char *path, const struct node_file *file, void *user)
{
	struct granted_walk *walk = user;

	if (file->kind == NODE_FILE_REGULAR)
		granted_find_content(walk->reader, path, file, walk->found);
	return true;
}

static bool granted_same_file(const struct node_file *one, const struct node_file *other)
{
	return one->device == other->device && one->inode == other->inode &&
	       one->size == other->size && one->modified_ns == other->modified_ns;
}

/* What a mounted file or folder hands out; every file is looked at once. */
static const struct granted *granted_of_file(struct granted_reader *reader, const char *path,
					     const struct node_file *file)
{
	struct granted_known *known = &reader->known[file->inode % KNOWN_MAX];
	struct granted_walk walk = {reader, &known->found};

	if (known->filled && granted_same_file(&known->file, file))
		return &known->found;
	*known = (struct granted_known){.file = *file, .filled = true};
	granted_find_file(reader, file, &known->found);
	if (known->found.count == 0 && file->kind == NODE_FILE_REGULAR)
		granted_find_content(reader, path, file, &known->found);
	else if (known->found.count == 0 && file->kind == NODE_FILE_FOLDER)
		node_file_walk(path, WALK_MAX, granted_visit, &walk);
	return &known->found;
}

/* What several devices have (/dev/nvidiactl, a shared library) tells none of them. */
static void granted_take_own(struct granted *granted, const struct granted *found)
{
	if (found->count == 1)
		granted_add(granted, found->devices[0]);
}

static void granted_read_nodes(struct granted_reader *reader, const struct grant *grant,
			       struct granted *granted)
{
	for (size_t i = 0; i < grant->devices.count; i++) {
		const char *path = grant->devices.items[i].host_path;
		struct node_file file = {0};
		struct granted found = {0};

		if (node_file_identify(path, &file))
			granted_find_file(reader, &file, &found);
		else
			granted_find_path(reader, "node", path, &found);
		granted_take_own(granted, &found);
	}
}

static void granted_read_mounts(struct granted_reader *reader, const struct grant *grant,
				struct granted *granted)
{
	struct granted in_folders = {0};

	for (size_t i = 0; i < grant->mounts.count; i++) {
		const char *path = grant->mounts.items[i].host_path;
		struct node_file file = {0};
		struct granted found = {0};

		if (!node_file_identify(path, &file)) {
			granted_find_path(reader, "source", path, &found);
			granted_take_own(granted, &found);
		} else if (file.kind == NODE_FILE_REGULAR) {
			granted_take_own(granted, granted_of_file(reader, path, &file));
		} else if (file.kind == NODE_FILE_FOLDER) {
			const struct granted *all = granted_of_file(reader, path, &file);

			for (size_t j = 0; j < all->count; j++)
				granted_add(&in_folders, all->devices[j]);
		}
	}
	/* A folder says something only where nothing else does, and where it is about one device.
	 */
	if (granted->count == 0)
		granted_take_own(granted, &in_folders);
}

bool granted_by_string(const char *host_path, const struct discovery_device *device)
{
	struct windows_device string = {.id = ""};

	if (windows_device_parse(host_path, &string, NULL) < 0)
		return false;
	switch (string.type) {
	case WINDOWS_DEVICE_LOCATION_PATH:
		return device->location_path[0] != '\0' &&
		       strcasecmp(device->location_path, string.id) == 0;
	case WINDOWS_DEVICE_CLASS:
		return device->display && strcasecmp(string.id, WINDOWS_DISPLAY_CLASS) == 0;
	case WINDOWS_DEVICE_OTHER:
		break;
	}
	return false;
}

static void granted_read_strings(const struct discovery_snapshot *node, const struct grant *grant,
				 struct granted *granted)
{
	for (size_t i = 0; i < node->device_count; i++) {
		for (size_t j = 0; j < grant->devices.count; j++) {
			if (granted_by_string(grant->devices.items[j].host_path, &node->devices[i]))
				granted_add(granted, &node->devices[i]);
		}
	}
}

/* A variable of a loader (VK_DRIVER_FILES) is nothing to a container runtime. */
static bool granted_is_loaders(const struct discovery_snapshot *node, const char *name)
{
	for (size_t i = 0; i < node->device_count; i++) {
		for (size_t j = 0; j < node->devices[i].variable_count; j++) {
			if (strcmp(node->devices[i].environment[j].name, name) == 0)
				return true;
		}
	}
	return false;
}

static bool granted_is_by_runtime(const struct discovery_snapshot *node, const struct grant *grant)
{
	if (grant->cdi_devices.count != 0 || grant->annotations.count != 0)
		return true;
	for (size_t i = 0; i < grant->envs.count; i++) {
		if (!granted_is_loaders(node, grant->envs.items[i].name))
			return true;
	}
	return false;
}

struct granted granted_read(struct granted_reader *reader, const struct grant *grant)
{
	bool windows = strcmp(reader->node->system.os, "windows") == 0;
	struct granted granted = {
		.source = GRANTED_READ,
		.by_runtime = granted_is_by_runtime(reader->node, grant),
	};

	if (windows) {
		granted_read_strings(reader->node, grant, &granted);
	} else {
		granted_read_nodes(reader, grant, &granted);
		granted_read_mounts(reader, grant, &granted);
	}
	/* On Windows files without a device are a driver with nothing to drive. */
	if (granted.count == 0)
		granted.source = grant->devices.count == 0 &&
						 (windows || grant->mounts.count == 0) &&
						 !granted.by_runtime
					 ? GRANTED_NOTHING
					 : GRANTED_UNTOLD;
	return granted;
}
