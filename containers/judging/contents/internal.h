/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of reading an image's contents. */

#include "base/byte_source.h"
#include "base/elf.h"
#include "base/text_index.h"
#include "containers/judging/contents/contents.h"

/* --- capture.c: keeps parts of a file while it passes --- */

enum { CAPTURE_PIECES_MAX = 8 };

struct capture_piece {
	uint64_t offset, size; /* the requested range */
	unsigned char *data;
	size_t filled, room;
};

struct capture {
	uint64_t size;	   /* of the file */
	uint64_t position; /* how far it has passed */
	uint64_t kept;	   /* bytes in all pieces */
	struct capture_piece pieces[CAPTURE_PIECES_MAX];
	size_t piece_count;
	uint64_t ready; /* position at which to try the reader again */
	struct byte_source source;
};

/* Begins with the first CONTENTS_KEPT_MAX bytes of a file. */
void capture_begin(struct capture *capture, uint64_t size);
/* The next bytes, at `offset`; a gap before them is zero (a sparse file). ERROR_FORMAT: they overlap
 * earlier ones, or exceed the size. */
int capture_feed(struct capture *capture, uint64_t offset, const void *data, size_t size,
		 struct error *err);
void capture_end(struct capture *capture); /* frees; ready for another file */

/* --- files.c: the file system that the layers form together --- */

struct content_file {
	const char *path;
	bool is_hidden; /* by a higher layer, or a later entry */
	bool is_link;	/* symbolic */
	unsigned layer;
	const struct component *component; /* NULL: not related to GPUs */
	const char *version;		   /* from its content; "" */
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
	unsigned layer; /* the one being read */
	struct text_index by_path;
	struct text_index hidden; /* paths that this layer hides */
};

/* The absolute, normalised path of an entry's name; names that lead out of the image stay below its root,
 * "/". Caller frees. */
char *files_path(const char *name);
/* Puts a file of this layer at `path`, which is copied, and replaces any other there. The path and layer of
 * `file` are not used. ERROR_LIMIT. */
int files_put(struct files *files, const char *path, const struct content_file *file,
	      struct error *err);
const struct content_file *files_get(const struct files *files, const char *path); /* NULL: none */
/* A file that does not matter has replaced it. */
void files_forget(struct files *files, const char *path);
/* A link has replaced a file or folder: also hides the lower layers' files below it. */
void files_replace(struct files *files, const char *path);
/* Entries named .wh.* hide files of lower layers, when the layer ends. */
bool files_is_whiteout(const char *path);
void files_whiteout(struct files *files, const char *path);
void files_end_layer(struct files *files); /* and begins the next */
void files_free(struct files *files);

/* --- components.c --- */

struct component {
	const char *glob; /* of the file's name, lower case on Windows */
	const char *name;
	enum contents_kind kind;
};

/* NULL: not a file that matters here. */
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

/* Does a command or a script do this? */
bool workaround_found(const char *text, size_t size);
/* Is it a script by its name? */
bool workaround_is_script(const char *path);
extern const struct contents_note workaround_note;

/* --- needs.c: compares the needs of all files with the image's content --- */

void contents_conclude(struct files *files, const struct image *image, struct image_contents *out);
