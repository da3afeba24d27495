/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image compatibility artifacts of Node Feature Discovery, version v1alpha1 (docs/usage/image-compatibility.md there,
 * KEP-1845): what features of a node an image wants, in a document that refers to the image in its
 * registry. The sets of a document are alternatives; all rules of one must match.
 */

#include "containers/judging/compat/answer.h"
#include "containers/judging/selection/features.h"

#define COMPATIBILITY_ARTIFACT "application/vnd.nfd.image-compatibility.v1alpha1"

enum {
	COMPATIBILITY_MAX = 64 * 1024,	 /* bytes of a document */
	COMPATIBILITY_KEYS_MAX = 1000,	 /* of a mapping */
	COMPATIBILITY_STEPS_MAX = 20000, /* comparisons of one with a host */
};

/* YAML, of which JSON is a part. Caller owns *out. Errors are those of yaml_to_json(); ERROR_UNSUPPORTED:
 * another version. */
int compatibility_parse(const char *data, size_t size, cJSON **out, struct error *err);

struct compatibility_answer {
	enum compat_verdict verdict;
	const char *reason; /* names set, rule and feature */
};

/*
 * A set matches, none does, or features decide that the host does not tell. Strings are the arena's. `features`
 * receives what rules that match say for those behind them, borrowed from the document.
 * ERROR_FORMAT names the place of what is not a rule; ERROR_LIMIT; ERROR_MEMORY; those of
 * regexp_search().
 */
int compatibility_judge(const cJSON *document, struct features *features, struct arena *arena,
			struct compatibility_answer *out, struct error *err);
