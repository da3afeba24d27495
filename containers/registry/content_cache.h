/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Blobs by their digest on disk: DIRECTORY/sha256/HEX, all of mode 0700 and 0600. A blob is written under
 * a name of its own and renamed when its digest was right, so that processes may share the folder; it is
 * verified again whenever it is read, so that nobody need trust it.
 */

#include "containers/registry/content_cache_size.h"
#include "containers/registry/internal.h"

/* Opens a blob, which was used now, and is taken out when it turns out wrong. ERROR_NOT_FOUND: it is not there, or not of this
 * size. */
int content_cache_open(const char *directory, const struct image_descriptor *what,
		       struct blob_reader **out, struct error *err);

/* A reader that keeps what is read through it once all of it was right; it takes the other over. Where
 * the folder cannot be written it is that reader itself. */
struct blob_reader *content_cache_keep(const char *directory, const char *digest,
				       struct blob_reader *reader);
