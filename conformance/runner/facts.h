/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The input of predictions (containers/judging/compat/launch.h): the host, and the probe image with the content
 * of its layers. Collected once a run, before the first check; each check's process reads it from
 * facts.json in the run's directory.
 */

#include "conformance/runner/workplace.h"
#include "containers/judging/compat/launch.h"

#include <gpucert/discovery.h>

struct facts {
	const char *unknown; /* why nothing can be predicted; "": it can */
	const char *unread;  /* why the layers were not read; "": they were */
	struct host_facts host;
	struct image image;
	struct image_contents contents;
	enum compat_runtime runtime;
	struct arena arena; /* owns the strings */
};

#define CLEANUP_FACTS __attribute__((cleanup(facts_free)))
void facts_free(struct facts *facts);

/* Facts that cannot be determined are not an error: the file says why. ERROR_IO: it cannot be written. */
int facts_write(struct workplace *workplace, const struct discovery_snapshot *node,
		struct error *err);

int facts_read(const char *run_directory, struct facts *out, struct error *err);

/* The content of the layers; NULL: they were not read. */
const struct image_contents *facts_contents(const struct facts *facts);

/* The runtime whose rules apply, by the name and version that it reports. */
enum compat_runtime facts_runtime(const char *name, const char *version);
