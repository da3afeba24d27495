/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of reading an image's contents. */

#include "base/byte_source.h"
#include "base/elf.h"
#include "base/text_index.h"
#include "containers/contents/contents.h"

/* --- capture.c: what is kept of a file while it passes --- */

enum { CAPTURE_PIECES_MAX = 8 };

struct capture_piece {
	uint64_t offset, size; /* wanted */
	unsigned char *data;
	size_t filled, room;
};

struct capture {
	uint64_t size;	   /* of the file */
	uint64_t position; /* how far it has passed */
	uint64_t kept;	   /* bytes in all pieces */
	struct capture_piece pieces[CAPTURE_PIECES_MAX];
	size_t piece_count;
	uint64_t ready; /* position from which a reader is worth another try */
	struct byte_source source;
};

/* Begins with the first CONTENTS_KEPT_MAX bytes of a file. */
void capture_begin(struct capture *capture, uint64_t size);
/* The next bytes, at `offset`: what lies between is zero (a sparse file). ERROR_MEMORY. */
int capture_feed(struct capture *capture, uint64_t offset, const void *data, size_t size,
		 struct error *err);
void capture_end(struct capture *capture); /* frees; ready for another file */

/* --- files.c: the file system that the layers make together --- */

struct content_file {
	const char *path;
	bool is_hidden; /* by a higher layer, or a later entry */
	bool is_link;	/* symbolic */
	unsigned layer;
	const struct component *component; /* NULL: none of a GPU */
	const char *version;		   /* that content told; "" */
	bool is_elf;
	unsigned machine, bits;	 /* of an ELF file */
	const char *interpreter; /* its dynamic loader; "": a library, or a static program */
	unsigned cpu_level;
	const char *glibc; /* the newest version that it needs; "" */
	const char *const *needed;
	size_t needed_count;
	const struct contents_note *note;
};

struct files {
	struct arena arena;
	struct content_file *files;
	size_t count;
	size_t longest; /* path */
	unsigned layer; /* that is read */
	struct text_index by_path;
	struct text_index hidden; /* paths that this layer hides */
};

/* The absolute, clean path of an entry's name; what would lead out of the image stays at its root, "/".
 * Caller frees *out. ERROR_MEMORY. */
int files_path(const char *name, char **out, struct error *err);
/* The layer has this file: `file` but for its path and layer, in the place of any other there. The path is
 * copied. ERROR_LIMIT, ERROR_MEMORY. */
int files_put(struct files *files, const char *path, const struct content_file *file,
	      struct error *err);
const struct content_file *files_get(const struct files *files, const char *path); /* NULL: none */
/* Something that is not kept is in its place. */
void files_forget(struct files *files, const char *path);
/* What was a file or folder is a link: the lower layers' files below it are hidden, too. ERROR_MEMORY. */
int files_replace(struct files *files, const char *path, struct error *err);
/* An entry named .wh.*: what it hides is hidden when the layer ends. ERROR_MEMORY. */
bool files_is_whiteout(const char *path);
int files_whiteout(struct files *files, const char *path, struct error *err);
int files_end_layer(struct files *files, struct error *err); /* and begins the next */
void files_free(struct files *files);

/* --- components.c --- */

struct component {
	const char *glob; /* of the file's name, lower case on Windows */
	const char *name;
	enum contents_kind kind;
};

/* NULL: not one that matters here. */
const struct component *component_find(const char *path);
/* The version at the end of a library's name: "535.183.01" of libcuda.so.535.183.01; "". */
const char *component_version(const char *path);

/* --- pe_version.c --- */

/* The file version of a PE file's version resource (PE format, "The .rsrc Section"; VS_FIXEDFILEINFO):
 * "31.0.15.5222". `out` has room for PE_VERSION_SIZE. ERROR_NOT_FOUND: it has none; ERROR_FORMAT: not a PE
 * file, or broken; errors of the source. */
enum { PE_VERSION_SIZE = 24 };
int pe_version(const struct byte_source *source, char *out, struct error *err);

/* --- workaround.c: programs that copy driver files into System32 --- */

/* Does a command or a script do it? Then *note tells so. */
bool workaround_found(const char *text, size_t size);
/* Is it a script that could? */
bool workaround_is_script(const char *path);
extern const struct contents_note workaround_note;

/* --- needs.c: what is asked of all files together --- */

int contents_conclude(struct files *files, const struct image *image, struct image_contents *out,
		      struct error *err);
