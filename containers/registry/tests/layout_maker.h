/* SPDX-License-Identifier: MIT */
#pragma once

/* Makes image layouts and archives in a folder of the test, right ones and others. */

#include "base/cleanup.h"
#include "base/digester.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "containers/registry/image.h"

struct layout_maker {
	char *directory;
	char *string; /* "oci:DIRECTORY" */
};

void layout_maker_open(struct layout_maker *maker);
void layout_maker_close(struct layout_maker *maker);

/* A blob under its digest, which is written to `digest`. */
void layout_add(const struct layout_maker *maker, const char *content,
		char digest[DIGEST_TEXT_SIZE]);

/* The text of `content` as the blob of another digest. */
void layout_put(const struct layout_maker *maker, const char *digest, const char *content);

/* An image of one layer, whose configuration is `configuration`; its manifest's digest and size. */
void layout_add_image(const struct layout_maker *maker, const char *configuration,
		      const char *layer, char digest[DIGEST_TEXT_SIZE], size_t *size);

/* index.json, from a format. */
void layout_write_index(const struct layout_maker *maker, const char *format, ...)
	PRINTF_LIKE(2, 3);

/* A file of the folder. */
void layout_write(const struct layout_maker *maker, const char *name, const char *content);

struct tar_file {
	const char *name, *content;
	const char *link;     /* symbolic; NULL: a file */
	const char *hardlink; /* NULL: none */
};

/* A tar file with these in it, in the folder, which may be compressed with gzip. Caller frees. */
char *layout_pack(const struct layout_maker *maker, const char *name, const struct tar_file *files,
		  size_t count, bool compressed);

/* Has this build's libarchive gzip? 0 or 1. */
int layout_can_compress(void);
