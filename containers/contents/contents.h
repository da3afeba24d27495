/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the layers of an image hold that matters on a node with GPUs. Layers are read as streams
 * and never unpacked: a file is looked at while it passes, and what a higher layer hides (whiteouts,
 * OCI image-spec v1.1 layer.md) is not told.
 */

#include "base/arena.h"
#include "containers/registry/image.h"

enum contents_kind {
	CONTENTS_DRIVER_LIBRARY, /* user-land of a GPU driver or of an API */
	CONTENTS_ICD_MANIFEST,	 /* of OpenCL, Vulkan, EGL */
	CONTENTS_C_LIBRARY,	 /* glibc or musl */
};

struct contents_library {
	enum contents_kind kind;
	const char *path;
	const char *component; /* "cuda", "nvml", "cudnn", "rocm", "mesa" ... */
	const char *version;   /* "535.183.01"; "": not told by name or content */
	unsigned layer;
};

/* What a program or library of the image needs. */
struct contents_need {
	const char *path;
	const char *name;    /* "GLIBC_2.38", "libcuda.so.1", "x86-64-v3" */
	const char *missing; /* why the image cannot give it; "": it can */
};

/* Everything belongs to `arena`. */
struct image_contents {
	struct arena arena;
	struct contents_library *libraries;
	size_t library_count;
	const char *glibc;	     /* "2.36" that the image has; "": none */
	const char *glibc_needed;    /* the newest that a program asks for; "": none */
	unsigned cpu_level;	     /* x86-64 level that its programs ask for; 0: not told */
	struct contents_need *needs; /* missing libraries, and what asks for the numbers above */
	size_t need_count;
};
