/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the layers of an image hold that matters on a node with GPUs. Layers are read as streams
 * and never unpacked: a file is looked at while it passes, and what a higher layer hides (whiteouts,
 * OCI image-spec v1.1 layer.md) is not told.
 */

#include "base/json.h"
#include "containers/registry/image_source.h"

enum {
	CONTENTS_FILES_MAX = 200000,  /* that are remembered of an image */
	CONTENTS_KEPT_MAX = 16 << 20, /* bytes of one file, while it passes */
	CONTENTS_RATIO_MAX = 1200,    /* gzip ends at 1032; beyond that a layer is a bomb */
	CONTENTS_RATIO_FREE = 8192,   /* bytes that count beside those that are stored */
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
	const char *version;   /* "535.183.01"; "": not told by name or content */
	unsigned layer;
};

/* What a program or library of the image needs. */
struct contents_need {
	const char *path;
	const char *name;    /* "GLIBC_2.38", "libfoo.so.1", "x86-64-v3" */
	const char *missing; /* why the image cannot give it; "": it can */
};

/* Something that stands in the way, and what to do. */
struct contents_note {
	const char *path; /* of the file that shows it; "": the image's configuration */
	const char *text, *advice;
};

/* Everything belongs to `arena`. */
struct image_contents {
	struct arena arena;
	struct contents_library *libraries; /* by path */
	size_t library_count;
	const char *glibc;	     /* "2.36" that the image has; "": none */
	const char *glibc_needed;    /* the newest that a program asks for; "": none */
	unsigned cpu_level;	     /* x86-64 level that its programs ask for; 0: not told */
	struct contents_need *needs; /* missing libraries, and what asks for the numbers above */
	size_t need_count;
	struct contents_note *notes;
	size_t note_count;
	uint64_t files, bytes;	/* that the layers hold, unpacked */
	unsigned layers_absent; /* that are fetched from elsewhere: Windows' own */
	unsigned
		files_unread; /* programs and libraries that are broken, or too large to be looked at */
};

#define CLEANUP_IMAGE_CONTENTS __attribute__((cleanup(image_contents_free)))

/* Called before each layer; `user` is the caller's. NULL: nobody wants to know. */
typedef void contents_progress(void *user, size_t layer, size_t layers);

/*
 * Reads all layers of an image of `source`. Layers that the manifest leaves to other servers
 * ("foreign", "nondistributable") and the source does not have are counted, not read.
 * ERROR_FORMAT: a layer is not a tar archive, or broken; ERROR_LIMIT: one of the numbers above;
 * ERROR_UNSUPPORTED: a layer is encrypted; and what reading a layer returns.
 */
int image_contents_read(struct image_source *source, const struct image *image,
			contents_progress *progress, void *user, struct image_contents *out,
			struct error *err);

void image_contents_free(struct image_contents *contents);

/* image-contents.schema.json's object. NULL: out of memory. */
cJSON *image_contents_json(const struct image_contents *contents);

/* Reads it. Free it after an error, too. ERROR_FORMAT names the place. */
int image_contents_parse(const struct json_at *object, struct image_contents *out,
			 struct error *err);
