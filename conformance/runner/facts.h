/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the launches of a run are predicted from (containers/compat/launch.h): the host, and the image of
 * the probes with what its layers hold. Found out once a run, before the first check; each check's
 * process reads it from facts.json in the run's directory.
 */

#include "conformance/runner/workplace.h"
#include "containers/compat/launch.h"

#include <gpucert/discovery.h>

struct facts {
	const char *untold; /* why nothing can be predicted; "": something can */
	const char *unread; /* why the layers were not read; "": they were */
	struct host_facts host;
	struct image image;
	struct image_contents contents;
	enum compat_runtime runtime;
	cJSON *document; /* owns the strings */
};

#define CLEANUP_FACTS __attribute__((cleanup(facts_free)))
void facts_free(struct facts *facts);

/* What cannot be found out is told in the file and is no error. ERROR_MEMORY; ERROR_IO: it cannot be
 * written. */
int facts_write(struct workplace *workplace, const struct discovery_snapshot *node,
		struct error *err);

int facts_read(const char *run_directory, struct facts *out, struct error *err);

/* What the layers hold; NULL: they were not read. */
const struct image_contents *facts_contents(const struct facts *facts);

/* Whose rules apply, by what the runtime says of itself. */
enum compat_runtime facts_runtime(const char *name, const char *version);
