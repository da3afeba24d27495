/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A snapshot under construction. Sources (linux/, windows/, recorded.c) add devices;
 * builder_finish() sorts and filters them. Every function copies the strings that it receives. When
 * memory runs out something may be missing: discovery_take() asks memory_failures().
 */

#include "base/arena.h"
#include "base/error.h"
#include "discovery/include/gpucert/discovery.h"

struct builder {
	struct arena arena;
	struct discovery_snapshot snapshot; /* without its devices */
	const char *place_prefix; /* removed from the places of diagnostics; may be NULL */
	struct discovery_device **devices;
	size_t device_count;
};

enum { DEVICE_ID_MAX = 55 };

/* A new healthy device, with everything else unknown. NULL: out of memory. */
struct discovery_device *builder_add(struct builder *builder);

/* A part of `gpu` that containers can be granted by itself: described as the GPU, without its nodes,
 * files and APIs. */
struct discovery_device *builder_add_partition(struct builder *builder,
					       const struct discovery_device *gpu, const char *id);

const char *builder_string(struct builder *builder, const char *string);
/* path_join() in the arena: "" when memory ran out. */
const char *builder_path(struct builder *builder, const char *directory, const char *name);

void builder_add_file(struct builder *builder, struct discovery_device *device,
		      const struct discovery_file *file);
/* A device node with the same path in the container, readable and writable there. */
void builder_add_node(struct builder *builder, struct discovery_device *device, const char *path);
void builder_add_variable(struct builder *builder, struct discovery_device *device,
			  const char *name, const char *value);
/* The same for a variable that lists paths (':'): those of several calls, in their order. */
void builder_add_path(struct builder *builder, struct discovery_device *device, const char *name,
		      const char *path);
/* Adds to a list of the device, such as &device->apis, unless the list has the name already. */
void builder_add_name(struct builder *builder, const char *const **names, const char *name);

void builder_diagnose(struct builder *builder, const char *place, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* The displayed name of a PCI vendor, the same on every system: "NVIDIA"; "0x1a03" for an unknown one;
 * "" for DISCOVERY_UNKNOWN. */
const char *builder_vendor(struct builder *builder, int64_t id);

/* A valid device id from any text: other characters become '-', it is cut to DEVICE_ID_MAX, and "-2",
 * "-3", ... makes it unique. */
const char *builder_new_id(struct builder *builder, const char *text);

/* The device at this PCI address; NULL when there is none. */
struct discovery_device *builder_find_pci(const struct builder *builder, const char *address);

/* Is it one to DEVICE_ID_MAX bytes of [A-Za-z0-9._:-]? */
bool device_id_is_valid(const char *id);

/* Moves everything to a snapshot: the devices that `filter` admits, hardware before software, sorted by
 * id. The builder is empty afterwards. ERROR_MEMORY. */
int builder_finish(struct builder *builder, const struct discovery_filter *filter,
		   struct discovery_snapshot **out, struct error *err);

/* Allowed after builder_finish(), too. */
void builder_free(struct builder *builder);

#define CLEANUP_BUILDER __attribute__((cleanup(builder_free)))

/* Where snapshots come from. Each adds to a builder; a device that cannot be read becomes a
 * diagnostic. */

/* The machine that this program runs on, or the tree below `options->root`. `options` is not NULL.
 */
int node_discover(const struct discovery_options *options, struct builder *builder,
		  struct error *err);

/* A recorded node. Errors as json_read_file() and recorded_parse(), naming the path. */
int recorded_read(const char *path, struct builder *builder, struct error *err);

/* A recorded node in memory. ERROR_FORMAT names the place: "devices[2].luid: expected integer". */
int recorded_parse(const char *data, size_t size, struct builder *builder, struct error *err);
