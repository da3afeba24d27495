/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A snapshot under construction. Sources (linux/, recorded/) add drafts; builder_finish() sorts,
 * filters and freezes them. Every function copies the strings that it is given. When memory runs
 * out the builder remembers it and builder_finish() says so.
 */

#include "base/error.h"
#include "discovery/arena.h"
#include "discovery/include/gpucert/discovery.h"

struct draft {
	struct discovery_device device; /* the arrays are filled in by builder_finish() */
	struct discovery_file *files;
	struct discovery_node *nodes;
	struct discovery_variable *variables;
	const char **apis, **location_paths, **attributes;
	size_t file_count, node_count, variable_count;
	size_t api_count, location_path_count, attribute_count;
};

struct builder {
	struct arena arena;
	struct discovery_system system;
	bool recorded;
	const char *recorded_at;
	const char *place_prefix; /* left out of the places of diagnostics; NULL: nothing */
	struct draft **drafts;
	size_t draft_count;
	struct discovery_diagnostic *diagnostics;
	size_t diagnostic_count;
};

enum { DEVICE_ID_MAX = 55 };

/* A new healthy device of which nothing is known yet. NULL: out of memory. */
struct draft *builder_add(struct builder *builder);

const char *builder_string(struct builder *builder, const char *string);
const char *builder_format(struct builder *builder, const char *format, ...) PRINTF_LIKE(2, 3);

void builder_add_file(struct builder *builder, struct draft *draft,
		      const struct discovery_file *file);
void builder_add_node(struct builder *builder, struct draft *draft,
		      const struct discovery_node *node);
void builder_add_variable(struct builder *builder, struct draft *draft, const char *name,
			  const char *value);
/* These do nothing when the device has it already. */
void builder_add_api(struct builder *builder, struct draft *draft, const char *api);
void builder_add_location_path(struct builder *builder, struct draft *draft, const char *path);
void builder_add_attribute(struct builder *builder, struct draft *draft, const char *attribute);

void builder_diagnose(struct builder *builder, const char *place, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* A valid device id from any text: other characters become '-', it is cut to DEVICE_ID_MAX, and
 * "-2",
 * "-3", ... tells it from drafts that have it already. */
const char *builder_new_id(struct builder *builder, const char *text);

/* The draft at this PCI address; NULL when there is none. */
struct draft *builder_find_pci(const struct builder *builder, const char *address);

/* Is it one to DEVICE_ID_MAX bytes of [A-Za-z0-9._:-]? */
bool device_id_is_valid(const char *id);

/* Hands everything over to a snapshot: devices that `filter` admits, hardware before software, by
 * id. The builder is empty afterwards. ERROR_MEMORY. */
int builder_finish(struct builder *builder, const struct discovery_filter *filter,
		   struct discovery_snapshot **out, struct error *err);

/* Gives up; allowed after builder_finish(). */
void builder_free(struct builder *builder);

#define CLEANUP_BUILDER __attribute__((cleanup(builder_free)))
