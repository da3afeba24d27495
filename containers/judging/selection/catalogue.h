/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * selection/ picks one image of many for a host, and writes a host's facts as labels by which a cluster
 * picks nodes.
 *
 * A catalogue lists images that do the same work on different hardware: a file (JSON, schema
 * containers/judging/selection/schema/catalogue.schema.json) which tells of each what it wants, or an index
 * of a registry, layout or archive, whose images tell it by platform and variables, and in a registry by
 * compatibility artifacts that refer to them (compatibility.h).
 */

#include "containers/judging/compat/host.h"
#include "containers/judging/compat/rules.h"
#include "containers/registry/image_source.h"

enum {
	CATALOGUE_IMAGES_MAX = 10000,
	CATALOGUE_LOADED_MAX = 256, /* images of an index that are asked for */
	CATALOGUE_TEXT_MAX = 1024,  /* bytes of a string */
	CATALOGUE_LIST_MAX = 64,    /* elements of a list */
};

/* What an image asks beyond its platform. An image for GPUs of several vendors needs one of them, and of
 * each that the host has, what it wants of it. What is not told is "" or empty. */
struct catalogue_requirements {
	const char *cuda; /* release of the CUDA toolkit in the image: "12.4.1" */
	/* Vendor ("nvidia", "amd", "intel") and its least driver, which for NVIDIA on Windows is
	 * NVIDIA's own number ("551.78"). */
	struct json_pair *drivers;
	size_t driver_count;
	/* What its code is made for: "9.0" runs on 9.x from there on, "9.0+PTX" on all newer ones. */
	const char *const *compute_capabilities;
	const char *const *architectures; /* AMD's: "gfx90a" */
	unsigned cpu_level; /* of x86-64, 1 to 4; 0: what the platform's variant says */
};

struct catalogue_entry {
	const char *reference;
	const char *base;    /* Windows: "mcr.microsoft.com/windows/server:ltsc2022"; "" */
	const char *created; /* "2026-10-01" or "2026-10-01T12:00:00Z"; "": not told */
	/* As far as it is known: of a file platform and CUDA_VERSION, of an index all that its
	 * configuration has, or the platform alone where that is not the host's. */
	struct image image;
	struct json_pair
		told[2]; /* the variable and the annotation that stand for `cuda` and `base` */
	bool loaded;	 /* the image's own variables are known */
	struct catalogue_requirements wants;
	cJSON *compatibility; /* document of its compatibility artifact; NULL: there is none */
	const char *artifact; /* the digest of that artifact; "" */
	const char *not_read; /* why it could not be read; "" */
};

struct catalogue {
	struct arena arena;
	struct catalogue_entry *entries;
	size_t count;
};

#define CLEANUP_CATALOGUE __attribute__((cleanup(catalogue_free)))

void catalogue_free(struct catalogue *catalogue);

/* Text of a file. `out` is overwritten; free it after an error, too. ERROR_FORMAT names the place: a
 * member that is not known, a version, a date or a vendor that is not one, an x86-64 level of another
 * architecture. */
int catalogue_parse(const char *data, size_t size, struct catalogue *out, struct error *err);

/*
 * What a string names: a file, or with one of image_source_open()'s prefixes ("oci:", "docker://" ...)
 * an index. Images for another system or architecture than the host's are not loaded, artifacts are
 * left out. A compatibility artifact that cannot be read is told of the image, and is no error. Errors
 * name the string: those of json_read_file(), catalogue_parse(),
 * image_source_open() and image_source_load_entry(); ERROR_LIMIT: more than CATALOGUE_LOADED_MAX.
 */
int catalogue_read(const char *string, const struct host_facts *host,
		   const struct image_source_options *options, struct catalogue *out,
		   struct error *err);
