/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reads the content of an image's layers that matters on a node with GPUs. Layers are read as streams
 * and never unpacked: a file is examined while it passes. Files that a higher layer hides (whiteouts,
 * OCI image-spec v1.1 layer.md) are not reported.
 */

#include "base/json.h"
#include "containers/registry/image_source.h"

enum {
	CONTENTS_FILES_MAX = 200000,  /* recorded for an image */
	CONTENTS_KEPT_MAX = 16 << 20, /* bytes of one file, while it passes */
	CONTENTS_RATIO_MAX = 1200,    /* gzip reaches 1032; beyond that it is a decompression
				       * bomb */
	CONTENTS_RATIO_FREE = 8192,   /* bytes added to the stored size for the ratio */
};

enum contents_kind {
	CONTENTS_DRIVER_LIBRARY, /* user-land of a GPU driver or of an API */
	CONTENTS_ICD_MANIFEST,	 /* of OpenCL, Vulkan, EGL */
	CONTENTS_C_LIBRARY,	 /* glibc or musl */
};

struct contents_library {
	enum contents_kind kind;
	const char *path;      /* "/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01" */
	const char *component; /* "cuda", "nvml", "cudnn", "rocm", "mesa" ... */
	const char *version;   /* "535.183.01"; "": unknown from name and content */
	unsigned layer;
};

/* A need of a program or library of the image. */
struct contents_need {
	const char *path;
	const char *name;    /* "GLIBC_2.38", "libfoo.so.1", "x86-64-v3" */
	const char *missing; /* why the image does not satisfy it; "": it does */
};

/* A problem, and what to do. */
struct contents_note {
	const char *path; /* of the file with the problem; "": the image's configuration */
	const char *text, *advice;
};

/* Everything belongs to `arena`. */
struct image_contents {
	struct arena arena;
	struct contents_library *libraries; /* by path */
	size_t library_count;
	const char *glibc;	     /* the image's, "2.36"; "": none */
	const char *glibc_needed;    /* the newest that a program needs; "": none */
	unsigned cpu_level;	     /* x86-64 level that its programs need; 0: unknown */
	struct contents_need *needs; /* missing libraries, and the files with the needs above */
	size_t need_count;
	struct contents_note *notes;
	size_t note_count;
	uint64_t files, bytes;	/* of the layers, unpacked */
	unsigned layers_absent; /* not stored with the image: those of Windows itself */
	unsigned
		files_unread; /* programs and libraries that are broken, or too large to be examined */
};

#define CLEANUP_IMAGE_CONTENTS __attribute__((cleanup(image_contents_free)))

/* Called before each layer. May be NULL. */
typedef void contents_progress(size_t layer, size_t layers);

/*
 * Reads all layers of an image of `source`. Layers that the manifest leaves to other servers
 * ("foreign", "nondistributable") and the source does not have are counted, not read.
 * ERROR_FORMAT: a layer is not a tar archive, or broken; ERROR_LIMIT: one of the numbers above;
 * ERROR_UNSUPPORTED: a layer is encrypted; and what reading a layer returns.
 */
int image_contents_read(struct image_source *source, const struct image *image,
			contents_progress *progress, struct image_contents *out, struct error *err);

void image_contents_free(struct image_contents *contents);

/* The object of image-contents.schema.json. */
cJSON *image_contents_json(const struct image_contents *contents);

/* Reads it. Free it after an error, too. ERROR_FORMAT names the place. */
int image_contents_parse(const struct json_at *object, struct image_contents *out,
			 struct error *err);
