/* SPDX-License-Identifier: MIT */
#include "conformance/checks/granted.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/windows_device.h"
#include "conformance/checks/node_file.h"
#include "discovery/filter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WALK_MAX = 65536, KNOWN_MAX = 256 };

enum mark_kind { MARK_NODE, MARK_FILE, MARK_FOLDER };

/* By what a device is recognised: a node or a file of its own, or a folder above such a file. */
struct mark {
	const struct discovery_device *device;
	enum mark_kind kind;
	char *path;		  /* normalised */
	struct node_file file;	  /* filled when it is there */
	char digest[DIGEST_SIZE]; /* to recognise copies; "": not asked for yet */
};

/* What a file or a folder of an answer was found to hand out. */
struct known {
	struct node_file file;
	bool filled;
	struct granted found;
};

struct granted_reader {
	const struct discovery_snapshot *node;
	struct mark *marks;
	size_t count;
	struct known known[KNOWN_MAX]; /* by inode; a newcomer takes the place */
};

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

/* The DirectX plugins serve a class of devices each: display adapters or compute accelerators. */
static bool is_served_as(const struct discovery_snapshot *node,
			 const struct discovery_device *device,
			 const struct discovery_device *other)
{
	return text_equal(other->vendor, device->vendor) &&
	       text_equal(other->driver_name, device->driver_name) &&
	       (!text_equal(node->system.os, "windows") || other->display == device->display);
}

bool granted_requires(const struct discovery_snapshot *node, const struct granted *granted,
		      const struct discovery_device *device)
{
	bool required = false;
	for (size_t i = 0; device->allocatable && i < granted->count; i++)
		required = required || is_served_as(node, device, granted->devices[i]);
	node_each (other, node)
		required = required && (device->kind != DISCOVERY_SOFTWARE || !other->allocatable ||
					other->kind == DISCOVERY_SOFTWARE);
	return required;
}

bool granted_is_partition(const struct discovery_snapshot *node,
			  const struct discovery_device *device)
{
	node_each (other, node) {
		if (other != device && device->pci_address[0] != '\0' &&
		    text_equal(other->pci_address, device->pci_address))
			return true;
	}
	return false;
}

bool granted_may_be_elsewhere(const struct discovery_snapshot *node, const struct granted *granted,
			      const struct discovery_device *device)
{
	for (size_t i = 0; i < granted->count; i++) {
		const struct discovery_device *other = granted->devices[i];
		if (is_served_as(node, device, other) && other->pci_device == device->pci_device &&
		    other->display == device->display && !granted_is_partition(node, device) &&
		    !granted_is_partition(node, other))
			return false;
	}
	return true;
}

size_t granted_count(const struct granted *granted, const char *api)
{
	size_t count = 0;
	for (size_t i = 0; i < granted->count; i++)
		count += filter_offers(granted->devices[i], api) ? 1 : 0;
	return count;
}

static int add_mark(struct granted_reader *reader, const struct discovery_device *device,
		    enum mark_kind kind, const char *path, struct error *err)
{
	struct mark *marks = array_grow(reader->marks, reader->count, sizeof(*marks));
	struct mark mark = {.device = device, .kind = kind, .path = path_normalize(path)};
	if (marks != NULL)
		reader->marks = marks;
	if (marks == NULL || mark.path == NULL) {
		free(mark.path);
		return error_memory(err);
	}
	(void)node_file_identify(path, &mark.file);
	marks[reader->count++] = mark;
	return 0;
}

/* The folders that hold the file. */
static int mark_folders(struct granted_reader *reader, const struct discovery_device *device,
			const char *path, struct error *err)
{
	char *folder CLEANUP_FREE = NULL;
	int rc = file_resolve(NULL, path, &folder, NULL);
	while (rc == 0 && strcmp(folder, "/") != 0) {
		char *above = path_directory(folder);
		free(folder);
		folder = above;
		rc = folder != NULL ? add_mark(reader, device, MARK_FOLDER, folder, err)
				    : error_memory(err);
	}
	return rc == ERROR_MEMORY ? rc : 0;
}

/* A driver's manifest and its library are its own; what these need may be anybody's. Where nothing
 * is known of the files, each counts. */
static bool is_telling(const struct discovery_file *file)
{
	return file->origin[0] == '\0' || strcmp(file->origin, "manifest") == 0 ||
	       strcmp(file->origin, "driver-library") == 0;
}

/* Its nodes, or of a device without any the files that are its own. */
static int mark_device(struct granted_reader *reader, const struct discovery_device *device,
		       struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < device->node_count; i++)
		rc = add_mark(reader, device, MARK_NODE, device->nodes[i].path, err);
	for (size_t i = 0; rc == 0 && device->node_count == 0 && i < device->file_count; i++) {
		const char *path = device->files[i].source;
		if (!is_telling(&device->files[i]))
			continue;
		rc = add_mark(reader, device, MARK_FILE, path, err);
		if (rc == 0)
			rc = mark_folders(reader, device, path, err);
	}
	return rc;
}

int granted_reader_new(const struct discovery_snapshot *node, struct granted_reader **out,
		       struct error *err)
{
	struct granted_reader *reader CLEANUP_GRANTED_READER = calloc(1, sizeof(*reader));
	bool windows = strcmp(node->system.os, "windows") == 0;
	int rc = reader != NULL ? 0 : error_memory(err);
	if (rc == 0)
		reader->node = node;
	for (size_t i = 0; rc == 0 && !windows && i < node->device_count; i++)
		rc = mark_device(reader, &node->devices[i], err);
	if (rc == 0)
		*out = STEAL(reader);
	return rc;
}

void granted_reader_free(struct granted_reader **reader)
{
	if (*reader == NULL)
		return;
	for (size_t i = 0; i < (*reader)->count; i++)
		free((*reader)->marks[i].path);
	free((*reader)->marks);
	free(*reader);
	*reader = NULL;
}

/* Adds the devices whose mark has the path. */
static void find_path(const struct granted_reader *reader, enum mark_kind kind, const char *path,
		      struct granted *found)
{
	char *clean CLEANUP_FREE = path_normalize(path);
	for (size_t i = 0; clean != NULL && i < reader->count; i++) {
		const struct mark *mark = &reader->marks[i];
		if (mark->kind == kind && strcmp(mark->path, clean) == 0)
			granted_add(found, mark->device);
	}
}

/* Two device nodes of one number are the same, wherever they lie. */
static bool is_same(const struct node_file *one, const struct node_file *other)
{
	if (one->kind != other->kind)
		return false;
	return one->kind == NODE_FILE_CHARACTER || one->kind == NODE_FILE_BLOCK
		       ? one->major == other->major && one->minor == other->minor
		       : one->device == other->device && one->inode == other->inode;
}

/* Adds the devices whose mark it is. */
static void find_file(const struct granted_reader *reader, const struct node_file *file,
		      struct granted *found)
{
	for (size_t i = 0; i < reader->count; i++) {
		const struct mark *mark = &reader->marks[i];
		if (mark->file.inode != 0 && is_same(&mark->file, file))
			granted_add(found, mark->device);
	}
}

/* Adds the devices of which the file is a copy of an own file. */
static void find_content(struct granted_reader *reader, const char *path,
			 const struct node_file *file, struct granted *found)
{
	char digest[DIGEST_SIZE] = "";
	for (size_t i = 0; file->size != 0 && i < reader->count; i++) {
		struct mark *mark = &reader->marks[i];
		if (mark->kind == MARK_FOLDER || mark->file.kind != NODE_FILE_REGULAR ||
		    mark->file.size != file->size)
			continue;
		if (digest[0] == '\0' && digest_file(path, digest, NULL, NULL) < 0)
			return;
		if (mark->digest[0] == '\0' &&
		    digest_file(mark->path, mark->digest, NULL, NULL) < 0)
			mark->file.size = 0;
		else if (strcmp(mark->digest, digest) == 0)
			granted_add(found, mark->device);
	}
}

struct walk {
	struct granted_reader *reader;
	struct granted *found;
};

static bool visit(const char *path, const struct node_file *file, void *user)
{
	struct walk *walk = user;
	if (file->kind == NODE_FILE_REGULAR)
		find_content(walk->reader, path, file, walk->found);
	return true;
}

static bool is_unchanged(const struct node_file *one, const struct node_file *other)
{
	return one->device == other->device && one->inode == other->inode &&
	       one->size == other->size && one->modified_ns == other->modified_ns;
}

/* What a mounted file or folder hands out; every file is looked at once. */
static const struct granted *look_into(struct granted_reader *reader, const char *path,
				       const struct node_file *file)
{
	struct known *known = &reader->known[file->inode % KNOWN_MAX];
	struct walk walk = {reader, &known->found};
	if (known->filled && is_unchanged(&known->file, file))
		return &known->found;
	*known = (struct known){.file = *file, .filled = true};
	find_file(reader, file, &known->found);
	if (known->found.count == 0 && file->kind == NODE_FILE_REGULAR)
		find_content(reader, path, file, &known->found);
	else if (known->found.count == 0 && file->kind == NODE_FILE_FOLDER)
		node_file_walk(path, WALK_MAX, visit, &walk);
	return &known->found;
}

/* What several devices have (/dev/nvidiactl, a shared library) tells none of them. */
static void take_own(struct granted *granted, const struct granted *found)
{
	if (found->count == 1)
		granted_add(granted, found->devices[0]);
}

static void read_nodes(struct granted_reader *reader, const struct grant *grant,
		       struct granted *granted)
{
	grant_each (entry, &grant->devices) {
		const char *path = entry->host_path;
		struct node_file file = {0};
		struct granted found = {0};
		if (node_file_identify(path, &file))
			find_file(reader, &file, &found);
		else
			find_path(reader, MARK_NODE, path, &found);
		take_own(granted, &found);
	}
}

static void read_mounts(struct granted_reader *reader, const struct grant *grant,
			struct granted *granted)
{
	struct granted in_folders = {0};
	grant_each (entry, &grant->mounts) {
		const char *path = entry->host_path;
		struct node_file file = {0};
		struct granted found = {0};
		if (!node_file_identify(path, &file)) {
			find_path(reader, MARK_FILE, path, &found);
			take_own(granted, &found);
		} else if (file.kind == NODE_FILE_REGULAR) {
			take_own(granted, look_into(reader, path, &file));
		} else if (file.kind == NODE_FILE_FOLDER) {
			const struct granted *all = look_into(reader, path, &file);
			for (size_t j = 0; j < all->count; j++)
				granted_add(&in_folders, all->devices[j]);
		}
	}
	/* A folder says something only where nothing else does, and where it is about one device.
	 */
	if (granted->count == 0)
		take_own(granted, &in_folders);
}

/* HCS accepts any location path of a device. */
static bool has_location_path(const struct discovery_device *device, const char *path)
{
	const char *const *other = device->location_paths;
	while (other != NULL && *other != NULL && strcasecmp(*other, path) != 0)
		other++;
	return (other != NULL && *other != NULL) ||
	       (device->location_path[0] != '\0' && strcasecmp(device->location_path, path) == 0);
}

bool granted_by_string(const char *host_path, const struct discovery_device *device)
{
	struct windows_device string = {.id = ""};
	if (windows_device_parse(host_path, &string, NULL) < 0)
		return false;
	switch (string.type) {
	case WINDOWS_DEVICE_LOCATION_PATH:
		return has_location_path(device, string.id);
	case WINDOWS_DEVICE_CLASS:
		return device->display && strcasecmp(string.id, WINDOWS_DISPLAY_CLASS) == 0;
	case WINDOWS_DEVICE_OTHER:
		break;
	}
	return false;
}

static void read_strings(const struct discovery_snapshot *node, const struct grant *grant,
			 struct granted *granted)
{
	node_each (device, node) {
		grant_each (entry, &grant->devices) {
			if (granted_by_string(entry->host_path, device))
				granted_add(granted, device);
		}
	}
}

/* A variable of a loader (VK_DRIVER_FILES) is nothing to a container runtime. */
static bool is_loaders(const struct discovery_snapshot *node, const char *name)
{
	node_each (device, node) {
		for (size_t i = 0; i < device->variable_count; i++) {
			if (strcmp(device->environment[i].name, name) == 0)
				return true;
		}
	}
	return false;
}

bool granted_is_by_runtime(const struct discovery_snapshot *node, const struct grant *grant)
{
	if (grant->cdi_devices.count != 0 || grant->annotations.count != 0)
		return true;
	grant_each (entry, &grant->envs) {
		if (!is_loaders(node, entry->name))
			return true;
	}
	return false;
}

/* Does `text` hold `name` as a whole word? */
static bool names(const char *text, const char *name)
{
	size_t size = strlen(name);
	for (const char *at = text; size != 0 && (at = strstr(at, name)) != NULL; at++) {
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[size]))
			return true;
	}
	return false;
}

static bool is_nvidia_gpu(const struct discovery_snapshot *node,
			  const struct discovery_device *device)
{
	return text_equal(device->vendor, "NVIDIA") && text_equal(device->driver_name, "nvidia") &&
	       (device == node->devices ||
		!text_equal(device->pci_address, device[-1].pci_address));
}

/* Indices are those of the driver, which orders GPUs by PCI address, as a snapshot does. */
static bool names_index(const struct discovery_snapshot *node, const char *value,
			const struct discovery_device *device)
{
	char index[24] = "";
	size_t count = 0;
	node_each (other, node)
		count += other < device && is_nvidia_gpu(node, other);
	(void)snprintf(index, sizeof(index), "%zu", count);
	return is_nvidia_gpu(node, device) && value[strspn(value, "0123456789,")] == '\0' &&
	       names(value, index);
}

void granted_read_names(const struct discovery_snapshot *node, const char *id,
			const struct grant *grant, struct granted *named)
{
	node_each (device, node) {
		bool found = names(id, device->uuid);
		grant_each (entry, &grant->envs)
			found = found || names(entry->value, device->uuid) ||
				(text_equal(entry->name, "NVIDIA_VISIBLE_DEVICES") &&
				 names_index(node, entry->value, device));
		grant_each (entry, &grant->annotations)
			found = found || names(entry->value, device->uuid);
		grant_each (entry, &grant->mounts)
			found = found || names(entry->container_path, device->uuid);
		/* A MIG device may be called by the UUID of its GPU. */
		if (found && device->allocatable)
			granted_add(named, device);
	}
}

struct granted granted_read(struct granted_reader *reader, const struct grant *grant)
{
	bool windows = strcmp(reader->node->system.os, "windows") == 0;
	struct granted granted = {
		.source = GRANTED_READ,
		.by_runtime = granted_is_by_runtime(reader->node, grant),
	};
	if (windows) {
		read_strings(reader->node, grant, &granted);
	} else {
		read_nodes(reader, grant, &granted);
		read_mounts(reader, grant, &granted);
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
