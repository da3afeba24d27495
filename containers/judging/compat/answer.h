/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Will it work? The findings of each rule about an image on a host, and their overall verdict.
 */

#include "base/arena.h"
#include "base/text.h"

#include <cjson/cJSON.h>

/* The worst verdict of all findings is the answer. */
enum compat_verdict {
	COMPAT_WORKS,
	COMPAT_UNKNOWN, /* a deciding fact is unknown */
	COMPAT_HYPERV,	/* works only with Hyper-V isolation, and so without a GPU */
	COMPAT_CANNOT_WORK,
};

/* One rule applied. */
struct compat_finding {
	enum compat_verdict verdict;
	const char *rule;   /* permanent id: "windows.build", "cuda.minimum-driver" */
	const char *reason; /* with the exact numbers of image and host */
	const char *advice; /* what to do; "": nothing */
	const char *source; /* of the rule */
};

/* Everything belongs to `arena`. */
struct compat_answer {
	struct arena arena;
	struct compat_finding *findings;
	size_t count;
};

#define CLEANUP_COMPAT_ANSWER __attribute__((cleanup(compat_answer_free)))

void compat_answer_free(struct compat_answer *answer);

/* COMPAT_UNKNOWN when no rule has found anything. */
enum compat_verdict compat_answer_verdict(const struct compat_answer *answer);

const char *compat_verdict_name(enum compat_verdict verdict); /* "hyper-v-only" */

/* For people: "works only with Hyper-V isolation (then no GPU)". */
const char *compat_verdict_words(enum compat_verdict verdict);

/* Adds the answer and each finding, the worst first; `color`: with terminal styles. Text from images and
 * host files is escaped. */
void compat_answer_print(const struct compat_answer *answer, bool color, struct text *out);

/* {"verdict": "works", "findings": [{"rule", "verdict", "reason", "advice", "source"}]} */
cJSON *compat_answer_to_json(const struct compat_answer *answer);
