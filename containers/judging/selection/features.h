/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A host's facts as features of a node, in the names of Node Feature Discovery (customization-guide, "Available
 * features"): what a host does not tell is neither there nor missing.
 */

#include "containers/judging/compat/host.h"

/* Whether something holds, so that AND is the lesser and OR the greater of two. */
enum feature_answer { FEATURE_NO, FEATURE_UNKNOWN, FEATURE_YES };

struct feature {
	const char *set;   /* "kernel.version", in lower case */
	size_t instance;   /* from 1 on, of sets of instances ("pci.device"); 0: another set */
	const char *name;  /* "major" */
	const char *value; /* "6"; NULL: a flag, which has none */
};

struct features {
	struct arena arena;
	struct feature *items;
	size_t count;
	bool matched_unknown;	       /* not all of FEATURE_MATCHED are known */
	const struct host_facts *host; /* borrowed */
};

/* What rules that matched say for those behind them: their labels and variables. */
#define FEATURE_MATCHED "rule.matched"

#define CLEANUP_FEATURES __attribute__((cleanup(features_free)))

void features_free(struct features *features);

/* `out` is overwritten. */
void features_of_host(const struct host_facts *host, struct features *out);

/* Strings are borrowed. Of several of a name the last counts. */
void features_add(struct features *out, const char *set, size_t instance, const char *name,
		  const char *value);

/* Is there one of the name? *value is its value then, NULL of a flag. */
enum feature_answer features_find(const struct features *features, const char *set, size_t instance,
				  const char *name, const char **value);

/* Are all names and instances of a set known? */
bool features_are_all(const struct features *features, const char *set);
