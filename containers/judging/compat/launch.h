/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Can one launch work? Applies the rules that concern one known program and the devices and files its
 * container is granted. The predictions are compared with the launch: the rules are under test, too.
 */

#include "containers/grant/grant.h"
#include "containers/judging/compat/rules.h"

/* A program that a container of the image runs. */
struct compat_launch {
	const char *program;	   /* its path in the container */
	const char *api;	   /* of base/gpu_apis.def that it uses; NULL: none */
	const struct grant *grant; /* of the container; NULL: nothing */
	const char *node;	   /* the path of a device node that it opens, in the container;
				      NULL: those of the API's driver */
	bool needs_runtime;	   /* the runtime may add more to what the grant holds */
	enum compat_runtime runtime;
};

/*
 * Like compat_check(), with only the rules about launches: rules about the user-land in an image say
 * nothing about a program that does not use it. The needs of drivers are read from the files that the
 * grant mounts (Linux: this machine's), not from `host`.
 */
void compat_check_launch(const struct image *image, const struct image_contents *contents,
			 const struct host_facts *host, const struct compat_launch *launch,
			 struct compat_answer *answer);

/* Does the output of a failed launch show a symptom of this rule? Then a rule that predicted "works" was
 * wrong. `ran`: the program ran, and its API failed. */
bool compat_rule_shows(const char *rule, bool ran, const char *text);
