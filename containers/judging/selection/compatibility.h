/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image compatibility artifacts of Node Feature Discovery, version v1alpha1 (its docs/usage/image-compatibility.md,
 * KEP-1845): the node features that an image requires, in a document that refers to the image in its registry. The
 * sets of a document are alternatives; all rules of one must match.
 */

#include "containers/judging/compat/answer.h"
#include "containers/judging/selection/features.h"

#define COMPATIBILITY_ARTIFACT "application/vnd.nfd.image-compatibility.v1alpha1"

enum {
	COMPATIBILITY_MAX = 64 * 1024,	 /* bytes of a document */
	COMPATIBILITY_KEYS_MAX = 1000,	 /* keys of a mapping */
	COMPATIBILITY_STEPS_MAX = 20000, /* comparisons of one document with a host */
};

/* Parses YAML, which includes JSON. Caller owns *out. Errors are those of yaml_to_json();
 * ERROR_UNSUPPORTED: another version. */
int compatibility_parse(const char *data, size_t size, cJSON **out, struct error *err);

struct compatibility_answer {
	enum compat_verdict verdict;
	const char *reason; /* names set, rule and feature */
};

/*
 * Works: a set matches; cannot work: none does; unknown: unknown features decide. Strings are in the arena.
 * `features` receives the outputs of matching rules, which later rules can use, borrowed from the document.
 * ERROR_FORMAT names the place of a malformed rule; ERROR_LIMIT; ERROR_MEMORY; those of regexp_search().
 */
int compatibility_judge(const cJSON *document, struct features *features, struct arena *arena,
			struct compatibility_answer *out, struct error *err);
