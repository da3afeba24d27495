/* SPDX-License-Identifier: MIT */
#pragma once

/* The table of settings: options, environment variables, YAML keys, defaults, help and what
 * --print-config shows all come from it. */

#include "base/options.h"
#include "reference-plugin/configuration/config.h"

enum setting_type {
	SETTING_BOOL,	  /* bool */
	SETTING_COUNT,	  /* uint32_t */
	SETTING_DURATION, /* uint64_t, milliseconds; written "500ms", "10s", "5m", "1h", or bare
			     seconds */
	SETTING_TEXT,	  /* char * */
	SETTING_LIST,	  /* struct text_list; separated by commas in an environment variable */
	SETTING_CHOICE,	  /* int, index into `choices` */
	SETTING_MOUNTS,	  /* those of a kind in additional_mounts; only from the file */
};

/* Programs that have the setting. */
enum setting_scope { SETTING_ANY, SETTING_LINUX, SETTING_DIRECTX };

struct setting {
	const char *option; /* "include-integrated" */
	const char *key;    /* "includeIntegrated" */
	enum setting_type type;
	size_t offset; /* of the member in struct config */
	char initial
		[40]; /* an array, so that its address distinguishes the default from a set value */
	const char *value; /* what --help shows for the value */
	const char *help;
	uint64_t min, max;	    /* SETTING_COUNT, SETTING_DURATION (milliseconds) */
	const char *const *choices; /* SETTING_CHOICE, NULL-ended */
	enum setting_scope scope;
	char directx_initial[8];	   /* default of the DirectX plugins, if theirs differs */
	enum additional_mount_kind mounts; /* SETTING_MOUNTS */
};

/* The first CONFIG_SETTING_COUNT have options and variables; the others are keys of the file. */
extern const struct setting settings[CONFIG_KEY_COUNT];

bool setting_is_for(const struct setting *setting, const struct config_program *program);
const char *setting_initial(const struct setting *setting, const struct config_program *program);

/* The rows of a program's option table, with `options` as their targets; the rest of `rows` stays
 * as it is. config_load() ignores options that were not set, although --help shows the default. */
void setting_options(const struct config_program *program, struct config_options *options,
		     struct option_spec rows[CONFIG_SETTING_COUNT]);

/* The setting of a YAML key, in any case; NULL when the program has none. */
const struct setting *setting_find(const struct config_program *program, const char *key);

/* Puts a value into the configuration. Errors describe the value; the caller adds its place. */
int setting_set(const struct setting *setting, const char *value, struct config *config,
		struct error *err);
void setting_take_list(const struct setting *setting, struct text_list *values,
		       struct config *config);

/* The value as text for people; appended. Nothing for SETTING_MOUNTS. */
void setting_format(const struct setting *setting, const struct config *config, struct text *out);

/* PREFIX and the option in capitals; appended. */
void setting_add_variable(const struct setting *setting, const char *prefix, struct text *out);
