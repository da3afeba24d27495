/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ranks the images of a catalogue for a host, with the reason each other one lost. Pure functions:
 * the same catalogue and host give the same ranking, on every machine.
 *
 * Images are compared step by step, and the first step at which they differ decides:
 *
 * 	verdict		works, unknown, only with Hyper-V isolation, cannot work
 * 	gpu		names a vendor of the host's GPUs, before those that name none
 * 	cpu-level	the highest level of x86-64
 * 	cuda-driver	CUDA that the driver runs whole, before CUDA that needs minor-version
 * 			compatibility, before none
 * 	cuda		the newest CUDA
 * 	os-build	Windows: the host's own build, then the newest version
 * 	created		the newest
 * 	reference	in the order of bytes
 * 	place		the first of the catalogue
 */

#include "containers/judging/selection/catalogue.h"

enum { SELECTION_STEPS = 7 }; /* from "gpu" to "reference" */

/* What an image has at a step. */
struct selection_key {
	unsigned number; /* the greater wins; between equal ones the text decides */
	const char *text;
};

/* Texts belong to the selection; the catalogue outlives it. */
struct selection_item {
	const struct catalogue_entry *entry;
	enum compat_verdict verdict;
	/* The finding that decided the verdict; `rule` NULL: it works. */
	struct compat_finding finding;
	/* The step at which it lost against the first ("cuda"), and what both have; "" for the
	 * first. */
	const char *step, *reason;
	struct selection_key keys[SELECTION_STEPS];
};

struct selection {
	struct arena arena;
	struct selection_item *items; /* the best first */
	size_t count;
};

#define CLEANUP_SELECTION __attribute__((cleanup(selection_free)))

void selection_free(struct selection *selection);

/* `out` is overwritten. */
void selection_make(const struct catalogue *catalogue, const struct host_facts *host,
		    const struct compat_options *options, struct selection *out);

/* The first one's verdict; COMPAT_CANNOT_WORK for an empty catalogue. */
enum compat_verdict selection_verdict(const struct selection *selection);

/* Adds one paragraph for each image; text from the catalogue is escaped. */
void selection_print(const struct selection *selection, bool color, struct text *out);

/* Schema containers/judging/selection/schema/image-select.schema.json. NULL: out of memory. */
cJSON *selection_to_json(const struct selection *selection, const char *catalogue);
