/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A plugin profile: how a known device plugin is tested (docs/testing-your-plugin.md). A YAML file of
 * these members; `source` is required, the others correspond to options of `gpucert run`.
 */

#include "base/text.h"

enum { PLUGIN_PROFILE_MAX = 64 * 1024 }; /* bytes */

/* Empty when zeroed. */
struct plugin_profile {
	char *source;			 /* the source of the profile's facts; one line */
	char *command;			 /* as --plugin; NULL: none, as for the others */
	char *attach;			 /* as --attach */
	char *resource;			 /* as --resource */
	char *fail_device;		 /* as --fail-device */
	char *restore_device;		 /* as --restore-device */
	struct text_list optional_calls; /* as --optional-call */
	bool private_mounts;		 /* as --private-mounts */
	struct text_list names;		 /* of environment variables of the plugin, and */
	struct text_list values;	 /* their values */
	struct text_list expect;	 /* as --expect */
};

#define CLEANUP_PLUGIN_PROFILE __attribute__((cleanup(plugin_profile_free)))

/* `file` names the text in messages ("FILE:3: ..."). Free with plugin_profile_free(), after an error, too.
 * ERROR_FORMAT names line and member: not YAML, an unknown member or one given twice, a value of another
 * kind, both command and attach, or neither; ERROR_MEMORY. */
int plugin_profile_parse(const char *file, const char *data, size_t size,
			 struct plugin_profile *out, struct error *err);

/* Reads a file, or without a folder in `name` an installed profile (share/gpucert/profiles). ERROR_NOT_FOUND:
 * there is none; ERROR_LIMIT: longer than PLUGIN_PROFILE_MAX; those of plugin_profile_parse(). */
int plugin_profile_read(const char *name, struct plugin_profile *out, struct error *err);

void plugin_profile_free(struct plugin_profile *profile);
