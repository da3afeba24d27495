/* SPDX-License-Identifier: MIT */
#include "conformance/checks/granted.h"

#include "base/array.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/windows_device.h"
#include "conformance/checks/node_file.h"
#include "discovery/filter.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { WALK_MAX = 65536, KNOWN_MAX = 256 };

enum mark_kind { MARK_NODE, MARK_FILE, MARK_FOLDER };

/* Identifies a device: a node or a file of its own, or a folder above such a file. */
struct mark {
	const struct discovery_device *device;
	enum mark_kind kind;
	char *path;		  /* normalised */
	struct node_file file;	  /* filled when it exists */
	char digest[DIGEST_SIZE]; /* to recognise copies; "": not computed yet */
};

/* The devices that a file or a folder of an answer hands out. */
struct known {
	struct node_file file;
	bool filled;
	struct granted found;
};

struct granted_reader {
	const struct discovery_snapshot *node;
	struct mark *marks;
	size_t count;
	struct known known[KNOWN_MAX]; /* by inode; a later one replaces an earlier one */
};

bool node_is_windows(const struct discovery_snapshot *node)
{
	return text_equal(node->system.os, "windows");
}

bool granted_has(const struct granted *granted, const struct discovery_device *device)
{
	granted_each (other, granted) {
		if (other == device)
			return true;
	}
	return false;
}

void granted_add(struct granted *granted, const struct discovery_device *device)
{
	if (granted->count < GRANTED_DEVICES_MAX && !granted_has(granted, device))
		granted->devices[granted->count++] = device;
}

/* Each DirectX plugin serves one class of devices: display adapters or compute accelerators. */
static bool is_served_as(const struct discovery_snapshot *node,
			 const struct discovery_device *device,
			 const struct discovery_device *other)
{
	return text_equal(other->vendor, device->vendor) &&
	       text_equal(other->driver_name, device->driver_name) &&
	       (!node_is_windows(node) || other->display == device->display);
}

bool granted_requires(const struct discovery_snapshot *node, const struct granted *granted,
		      const struct discovery_device *device)
{
	if (!device->allocatable)
		return false;
	node_each (other, node) {
		if (device->kind == DISCOVERY_SOFTWARE && other->allocatable &&
		    other->kind != DISCOVERY_SOFTWARE)
			return false;
	}
	granted_each (other, granted) {
		if (is_served_as(node, device, other))
			return true;
	}
	return false;
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
	granted_each (other, granted) {
		if (is_served_as(node, device, other) && other->pci_device == device->pci_device &&
		    other->display == device->display && !granted_is_partition(node, device) &&
		    !granted_is_partition(node, other))
			return false;
	}
	return true;
}

void granted_add_ids(const struct granted *granted, struct text *out)
{
	granted_each (device, granted)
		text_addf(out, "%s%s", device_at != granted->devices ? ", " : "", device->id);
}

size_t granted_count(const struct granted *granted, const char *api)
{
	size_t count = 0;
	granted_each (device, granted)
		count += filter_offers(device, api);
	return count;
}

static void add_mark(struct granted_reader *reader, const struct discovery_device *device,
		     enum mark_kind kind, const char *path)
{
	struct mark mark = {.device = device, .kind = kind, .path = path_normalize(path)};
	(void)node_file_identify(path, &mark.file);
	reader->marks = array_grow(reader->marks, reader->count, sizeof(*reader->marks));
	reader->marks[reader->count++] = mark;
}

struct granted_reader *granted_reader_new(const struct discovery_snapshot *node)
{
	struct granted_reader *reader = memory_allocate(1, sizeof(*reader));
	reader->node = node;
	if (node_is_windows(node))
		return reader;
	node_each (device, node) {
		/* Adds its nodes, or for a device without nodes its own files. */
		items_each (own, device->nodes, device->node_count)
			add_mark(reader, device, MARK_NODE, own->path);
		items_each (file, device->files, device->file_count) {
			/* A driver's manifest and its library are its own; the libraries that these need
			 * may be shared. Where the origin of the files is unknown, each counts. */
			if (device->node_count != 0 ||
			    (file->origin[0] != '\0' && strcmp(file->origin, "manifest") != 0 &&
			     strcmp(file->origin, "driver-library") != 0))
				continue;
			add_mark(reader, device, MARK_FILE, file->source);

			char *folder CLEANUP_FREE = NULL;
			if (file_resolve(NULL, file->source, &folder, NULL) < 0)
				continue;
			while (strcmp(folder, "/") != 0) {
				char *above = path_directory(folder);
				free(folder);
				folder = above;
				add_mark(reader, device, MARK_FOLDER, folder);
			}
		}
	}
	return reader;
}

void granted_reader_free(struct granted_reader **reader)
{
	if (*reader == NULL)
		return;
	items_each (mark, (*reader)->marks, (*reader)->count)
		free(mark->path);
	free((*reader)->marks);
	free(*reader);
	*reader = NULL;
}

/* Adds the devices whose mark has the path. */
static void find_path(const struct granted_reader *reader, enum mark_kind kind, const char *path,
		      struct granted *found)
{
	char *clean CLEANUP_FREE = path_normalize(path);
	items_each (mark, reader->marks, reader->count) {
		if (mark->kind == kind && strcmp(mark->path, clean) == 0)
			granted_add(found, mark->device);
	}
}

/* Adds the devices whose mark it is. Two device nodes of one number are the same, by any path. */
static void find_file(const struct granted_reader *reader, const struct node_file *file,
		      struct granted *found)
{
	const bool is_node = node_file_is_device(file);
	items_each (mark, reader->marks, reader->count) {
		const struct node_file *own = &mark->file;
		bool same = is_node ? own->major == file->major && own->minor == file->minor
				    : own->device == file->device && own->inode == file->inode;
		if (own->inode != 0 && own->kind == file->kind && same)
			granted_add(found, mark->device);
	}
}

/* Adds the devices whose own file this is a copy of. */
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

/* The devices that a mounted file or folder hands out; every file is read once. */
static const struct granted *look_into(struct granted_reader *reader, const char *path,
				       const struct node_file *file)
{
	struct known *known = &reader->known[file->inode % KNOWN_MAX];
	struct walk walk = {reader, &known->found};
	if (known->filled && known->file.device == file->device &&
	    known->file.inode == file->inode && known->file.size == file->size &&
	    known->file.modified_ns == file->modified_ns)
		return &known->found;
	*known = (struct known){.file = *file, .filled = true};
	find_file(reader, file, &known->found);
	if (known->found.count == 0 && file->kind == NODE_FILE_REGULAR)
		find_content(reader, path, file, &known->found);
	else if (known->found.count == 0 && file->kind == NODE_FILE_FOLDER)
		node_file_walk(path, WALK_MAX, visit, &walk);
	return &known->found;
}

/* Files of several devices (/dev/nvidiactl, a shared library) identify none of them. */
static void take_own(struct granted *granted, const struct granted *found)
{
	if (found->count == 1)
		granted_add(granted, found->devices[0]);
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
			granted_each (device, look_into(reader, path, &file))
				granted_add(&in_folders, device);
		}
	}
	/* Folders count only if nothing else does, and if they identify one device. */
	if (granted->count == 0)
		take_own(granted, &in_folders);
}

bool granted_by_string(const char *host_path, const struct discovery_device *device)
{
	struct windows_device string = {.id = ""};
	if (windows_device_parse(host_path, &string, NULL) < 0)
		return false;
	switch (string.type) {
	case WINDOWS_DEVICE_LOCATION_PATH:
		/* HCS accepts any location path of a device. */
		for (const char *const *path = device->location_paths;
		     path != NULL && *path != NULL; path++) {
			if (strcasecmp(*path, string.id) == 0)
				return true;
		}
		return device->location_path[0] != '\0' &&
		       strcasecmp(device->location_path, string.id) == 0;
	case WINDOWS_DEVICE_CLASS:
		return device->display && strcasecmp(string.id, WINDOWS_DISPLAY_CLASS) == 0;
	case WINDOWS_DEVICE_OTHER:
		break;
	}
	return false;
}

/* A container runtime ignores the variables of loaders (VK_DRIVER_FILES). */
static bool is_of_a_loader(const struct discovery_snapshot *node, const char *name)
{
	node_each (device, node) {
		items_each (variable, device->environment, device->variable_count) {
			if (strcmp(variable->name, name) == 0)
				return true;
		}
	}
	return false;
}

bool granted_needs_runtime(const struct discovery_snapshot *node, const struct grant *grant)
{
	if (grant->cdi_devices.count != 0 || grant->annotations.count != 0)
		return true;
	grant_each (entry, &grant->envs) {
		if (!is_of_a_loader(node, entry->name))
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
	       text_has_word(value, index);
}

bool granted_is_named(const char *id, const struct discovery_device *device)
{
	return text_has_word(id, device->uuid);
}

void granted_read_names(const struct discovery_snapshot *node, const char *id,
			const struct grant *grant, struct granted *named)
{
	node_each (device, node) {
		bool found = granted_is_named(id, device);
		grant_each (entry, &grant->envs)
			found = found || text_has_word(entry->value, device->uuid) ||
				(text_equal(entry->name, "NVIDIA_VISIBLE_DEVICES") &&
				 names_index(node, entry->value, device));
		grant_each (entry, &grant->annotations)
			found = found || text_has_word(entry->value, device->uuid);
		grant_each (entry, &grant->mounts)
			found = found || text_has_word(entry->container_path, device->uuid);
		/* A MIG device may be called by the UUID of its GPU. */
		if (found && device->allocatable)
			granted_add(named, device);
	}
}

struct granted granted_read(struct granted_reader *reader, const struct grant *grant)
{
	const bool windows = node_is_windows(reader->node);
	struct granted granted = {
		.source = GRANTED_READ,
		.needs_runtime = granted_needs_runtime(reader->node, grant),
	};
	if (windows) {
		node_each (device, reader->node) {
			grant_each (entry, &grant->devices) {
				if (granted_by_string(entry->host_path, device))
					granted_add(&granted, device);
			}
		}
	} else {
		grant_each (entry, &grant->devices) {
			struct node_file file = {0};
			struct granted found = {0};
			if (node_file_identify(entry->host_path, &file))
				find_file(reader, &file, &found);
			else
				find_path(reader, MARK_NODE, entry->host_path, &found);
			take_own(&granted, &found);
		}
		read_mounts(reader, grant, &granted);
	}

	if (granted.count == 0) {
		/* On Windows, files without a device are a driver without a device. */
		bool empty = grant->devices.count == 0 && (windows || grant->mounts.count == 0);
		granted.source =
			empty && !granted.needs_runtime ? GRANTED_NOTHING : GRANTED_UNKNOWN;
	}
	return granted;
}
