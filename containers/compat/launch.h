/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Can one launch work? Rules of images that tell something of a program that is known, and of what its
 * container is given. What they say is compared with what happens: they are under test as well.
 */

#include "containers/compat/rules.h"
#include "containers/grant/grant.h"

/* A program that a container of the image runs. */
struct compat_launch {
	const char *program;	   /* its path in the container */
	const char *api;	   /* of base/gpu_apis.def that it works with; NULL: none */
	const struct grant *grant; /* what the container is given; NULL: nothing */
	const char *node;	   /* a device node that it opens, as the container names it; NULL:
				      those of the API's driver */
	bool by_runtime;	   /* the grant holds what a runtime may act on: it may give more */
	enum compat_runtime runtime;
};

/*
 * As compat_check(), with the rules that tell something of the launch: what programs of the image do with
 * the user-land that it brings tells nothing of another program. What a driver needs is read off the
 * files that the grant mounts (Linux: this machine's), not off `host`.
 */
int compat_check_launch(const struct image *image, const struct image_contents *contents,
			const struct host_facts *host, const struct compat_launch *launch,
			struct compat_answer *answer, struct error *err);

/* Does what a launch said tell of what the rule is about, and of nothing else? Then a rule that said
 * "works" was wrong. `ran`: the program ran, and its API failed. */
bool compat_rule_shows(const char *rule, bool ran, const char *text);
