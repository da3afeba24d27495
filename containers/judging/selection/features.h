/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A host's facts as features of a node, in the names of Node Feature Discovery (customization-guide, "Available
 * features"): a fact that the host file does not state is neither present nor absent.
 */

#include "containers/judging/compat/host.h"

/* Ordered so that AND is the lesser and OR the greater of two answers. */
enum feature_answer { FEATURE_NO, FEATURE_UNKNOWN, FEATURE_YES };

struct feature {
	const char *set;   /* "kernel.version", in lower case */
	size_t instance;   /* from 1 on, in sets of instances ("pci.device"); otherwise 0 */
	const char *name;  /* "major" */
	const char *value; /* "6"; NULL: a flag, without a value */
};

struct features {
	struct arena arena;
	struct feature *items;
	size_t count;
	bool matched_unknown;	       /* not all of FEATURE_MATCHED are known */
	const struct host_facts *host; /* borrowed */
};

/* The set of labels and variables of matching rules, which later rules can use. */
#define FEATURE_MATCHED "rule.matched"

#define CLEANUP_FEATURES __attribute__((cleanup(features_free)))

void features_free(struct features *features);

/* `out` is overwritten. */
void features_of_host(const struct host_facts *host, struct features *out);

/* Strings are borrowed. The last feature of a name wins. */
void features_add(struct features *out, const char *set, size_t instance, const char *name,
		  const char *value);

/* Does the host have the feature? *value is then its value, NULL for a flag. */
enum feature_answer features_find(const struct features *features, const char *set, size_t instance,
				  const char *name, const char **value);

/* Are all names and instances of a set known? */
bool features_are_all(const struct features *features, const char *set);
