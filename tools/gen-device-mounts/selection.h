/* SPDX-License-Identifier: MIT */
#pragma once

/* Chooses devices of a node by a command line. */

#include "base/error.h"
#include "base/text.h"
#include "reference-plugin/answer/answer.h"

#include <gpucert/discovery.h>
#include <stdbool.h>

enum selection_resource { SELECTION_ANY, SELECTION_DISPLAY, SELECTION_COMPUTE };

/* The property by which a value names a device. */
enum selection_key {
	SELECTION_ID,
	SELECTION_INDEX,  /* as gpu-discovery counts: "0", or "0,2" */
	SELECTION_LUID,	  /* decimal or 0x..., or several with commas */
	SELECTION_PATH,	  /* location path, compared without case */
	SELECTION_VENDOR, /* name or PCI vendor id: one of many */
	SELECTION_KEYS
};

/* A device is chosen when `all` or any value names it and it belongs to the resource. */
struct selection {
	bool all;
	struct text_list values[SELECTION_KEYS];
	enum selection_resource resource;
};

struct selected {
	const struct discovery_device **devices; /* borrowed from the snapshot; sorted by id */
	size_t count;
	struct text_list notes; /* devices of --all or --vendor that are left out, and why */
};

bool selection_is_empty(const struct selection *selection);

/*
 * The chosen devices that `allocation` can give to a container. One that it cannot is an error if it was
 * named directly, and left out if it is one of many.
 *
 * ERROR_NOT_FOUND: a value that names no device, or no device is left; ERROR_FORMAT, ERROR_LIMIT: an
 * index or LUID that is not a number; ERROR_UNSUPPORTED: a device that cannot be given. `out` is zeroed;
 * free it with selected_free(), also after an error.
 */
int selection_apply(const struct selection *selection, const struct discovery_snapshot *snapshot,
		    enum answer_allocation allocation, struct selected *out, struct error *err);

void selected_free(struct selected *selected);
void selection_free(struct selection *selection);
