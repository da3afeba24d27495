/* SPDX-License-Identifier: MIT */
#pragma once

/* Makes images of layers, as a layout in a folder of the test. */

#include "containers/registry/tests/layout_maker.h"

enum entry_kind {
	ENTRY_END,
	ENTRY_TEXT,
	ENTRY_ELF,
	ENTRY_HOST_FILE,
	ENTRY_LINK,
	ENTRY_HARD_LINK,
	ENTRY_ZEROS
};

struct layer_entry {
	enum entry_kind kind;
	const char *path;
	const char *
		content; /* text, target, path on this machine, or the one library that an ELF file needs ("": none) */
	size_t size; /* ENTRY_ZEROS: bytes */
};

enum layer_filter { LAYER_PLAIN, LAYER_GZIP, LAYER_ZSTD };

struct layer {
	const struct layer_entry *entries; /* until ENTRY_END */
	enum layer_filter filter;
	const char *media_type; /* NULL: what fits the filter */
	bool absent;		/* not in the layout */
};

/* One image of layers (until one without entries), which the index names without a tag. `entrypoint` is
 * JSON; NULL: none. */
void layers_make(const struct layout_maker *maker, const struct layer *layers,
		 const char *entrypoint);
