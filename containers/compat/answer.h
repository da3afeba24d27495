/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Will it work? What each rule answers about an image on a host, and what they answer together.
 */

#include "base/arena.h"
#include "base/text.h"

#include <cjson/cJSON.h>

/* The worst of all rules is the answer. */
enum compat_verdict {
	COMPAT_WORKS,
	COMPAT_UNKNOWN, /* a fact that decides is not known */
	COMPAT_HYPERV,	/* with Hyper-V isolation alone, and so without a GPU */
	COMPAT_CANNOT_WORK,
};

/* One rule applied. */
struct compat_finding {
	enum compat_verdict verdict;
	const char *rule;   /* id that stays: "windows.build", "cuda.minimum-driver" */
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

/* Adds the answer and each finding, the worst first; `color`: with the styles of a terminal. What an
 * image or a host file says is escaped. */
void compat_answer_print(const struct compat_answer *answer, bool color, struct text *out);

/* {"verdict": "works", "findings": [{"rule", "verdict", "reason", "advice", "source"}]}. NULL: out of
 * memory. */
cJSON *compat_answer_to_json(const struct compat_answer *answer);
