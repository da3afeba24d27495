/* SPDX-License-Identifier: MIT */
#pragma once

/* Which devices of a node a command line means. */

#include "base/error.h"
#include "base/text.h"
#include "reference-plugin/answer/answer.h"

#include <gpucert/discovery.h>
#include <stdbool.h>

enum selection_resource { SELECTION_ANY, SELECTION_DISPLAY, SELECTION_COMPUTE };

/* What a value names a device by. */
enum selection_key {
	SELECTION_ID,
	SELECTION_INDEX,  /* as gpu-discovery counts: "0", or "0,2" */
	SELECTION_LUID,	  /* decimal or 0x..., or several with commas */
	SELECTION_PATH,	  /* location path, compared without case */
	SELECTION_VENDOR, /* name or PCI vendor id: one of many */
	SELECTION_KEYS
};

/* A device is meant when `all` or any value means it, and has to be of the resource as well. */
struct selection {
	bool all;
	struct text_list values[SELECTION_KEYS];
	enum selection_resource resource;
};

struct selected {
	const struct discovery_device **devices; /* borrowed from the snapshot; sorted by id */
	size_t count;
	struct text_list notes; /* devices meant by --all or --vendor and left out, and why */
};

bool selection_is_empty(const struct selection *selection);

/*
 * The devices that are meant and that can be given to a container as `allocation` says. One that
 * cannot is an error where it was named by itself, and left out where it is one of many.
 *
 * ERROR_NOT_FOUND: a value that means no device, which is named, or nothing is left; ERROR_FORMAT,
 * ERROR_LIMIT: an index or LUID that is not a number; ERROR_UNSUPPORTED: a device that cannot be
 * given; ERROR_MEMORY. `out` is zeroed; free it with selected_free(), also after an error.
 */
int selection_apply(const struct selection *selection, const struct discovery_snapshot *snapshot,
		    enum answer_allocation allocation, struct selected *out, struct error *err);

void selected_free(struct selected *selected);
void selection_free(struct selection *selection);
