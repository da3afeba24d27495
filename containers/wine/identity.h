/* SPDX-License-Identifier: MIT */
#pragma once

/* The software that computes on a Wine node, whose devices have no driver of their own: Wine, the
 * Direct3D 12 that comes with it, and the software drivers of the root. */

#include "base/digests.h"
#include "containers/wine/node.h"

struct discovery_snapshot;

struct wine_identity {
	char *wine;			    /* "10.0" */
	char *vkd3d;			    /* "1.14"; NULL: unknown */
	bool dxil;			    /* it was built with its experimental parser of DXIL */
	char digest[DIGEST_SIZE];	    /* over the root and additional DLLs */
	struct discovery_snapshot *drivers; /* the root's drivers: lavapipe, pocl */
};

#define CLEANUP_WINE_IDENTITY __attribute__((cleanup(wine_identity_free)))
void wine_identity_free(struct wine_identity *identity);

int wine_identity_read(const struct wine_node *node, struct wine_identity *out, struct error *err);

/* Adds the files that containers get for the device at a location path. An unknown path adds
 * nothing. */
int wine_identity_add_files(const struct wine_node *node, const char *location_path,
			    struct digest_set *set, struct digests *digests, struct error *err);

/* Does a library of vkd3d contain the DXIL mark that build-wined3d.sh sets? */
bool wine_vkd3d_has_dxil(const char *data, size_t size);

/* The digits and dots after "vkd3d " in a library's bytes; NULL: none. Caller frees. */
char *wine_vkd3d_version(const char *data, size_t size);
