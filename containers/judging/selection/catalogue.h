/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * selection/ picks one image of many for a host, and writes a host's facts as labels, so that a cluster can
 * pick nodes.
 *
 * A catalogue lists images that do the same work on different hardware: a file (JSON, schema
 * containers/judging/selection/schema/catalogue.schema.json) that states each image's requirements, or an
 * index of a registry, layout or archive, whose images state them by platform and variables, and in a
 * registry by compatibility artifacts that refer to them (compatibility.h).
 */

#include "containers/judging/compat/host.h"
#include "containers/judging/compat/rules.h"
#include "containers/registry/image_source.h"

enum {
	CATALOGUE_IMAGES_MAX = 10000,
	CATALOGUE_LOADED_MAX = 256, /* images of an index that are loaded */
	CATALOGUE_TEXT_MAX = 1024,  /* bytes of a string */
	CATALOGUE_LIST_MAX = 64,    /* elements of a list */
};

/* An image's requirements beyond its platform. An image for GPUs of several vendors needs one of them,
 * and its requirements on each vendor that the host has. Unstated ones are "" or empty. */
struct catalogue_requirements {
	const char *cuda; /* release of the CUDA toolkit in the image: "12.4.1" */
	/* Vendor ("nvidia", "amd", "intel") and its least driver, which for NVIDIA on Windows is
	 * NVIDIA's own number ("551.78"). */
	struct json_pair *drivers;
	size_t driver_count;
	/* The targets of its code: "9.0" runs on 9.0 and later 9.x, "9.0+PTX" on all newer ones. */
	const char *const *compute_capabilities;
	const char *const *architectures; /* AMD's: "gfx90a" */
	unsigned cpu_level; /* of x86-64, 1 to 4; 0: the one of the platform's variant */
};

struct catalogue_entry {
	const char *reference;
	const char *base;    /* Windows: "mcr.microsoft.com/windows/server:ltsc2022"; "" */
	const char *created; /* "2026-10-01" or "2026-10-01T12:00:00Z"; "": unknown */
	/* The known part: platform and CUDA_VERSION of an entry in a file; the whole configuration
	 * of an entry in an index, or only its platform if that is not the host's. */
	struct image image;
	struct json_pair
		stated[2]; /* the variable and the annotation that stand for `cuda` and `base` */
	bool loaded;	   /* the image's own variables are known */
	struct catalogue_requirements wants;
	cJSON *compatibility; /* document of its compatibility artifact; NULL: none */
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

/* Parses the text of a file. `out` is overwritten; free it after an error, too. ERROR_FORMAT names
 * the place: an unknown member, an invalid version, date or vendor, an x86-64 level of another
 * architecture. */
int catalogue_parse(const char *data, size_t size, struct catalogue *out, struct error *err);

/*
 * Reads a file or, if the string has one of image_source_open()'s prefixes ("oci:", "docker://" ...),
 * an index. Images for another system or architecture than the host's are not loaded, artifacts are
 * left out. A compatibility artifact that cannot be read is noted in its entry, and is not an error.
 * Errors name the string: those of json_read_file(), catalogue_parse(), image_source_open() and
 * image_source_load_entry(); ERROR_LIMIT: more than CATALOGUE_LOADED_MAX.
 */
int catalogue_read(const char *string, const struct host_facts *host,
		   const struct image_source_options *options, struct catalogue *out,
		   struct error *err);
