/* SPDX-License-Identifier: MIT */
#pragma once

/* Which configuration file is read. */

#include "reference-plugin/configuration/config.h"

/*
 * The file of the command line (`named`, may be NULL), else the one of PREFIX_CONFIG_FILE, else the
 * default one. *path is "" when there is none; caller frees.
 *
 * The DirectX plugins demand an absolute path of an existing file in PREFIX_CONFIG_FILE, also when
 * it is set and empty, and look for their default, SHORT_NAME.EXTENSION, in the working directory
 * and then in /etc/directx-device-plugins (on Windows \etc\directx-device-plugins). Extensions are
 * tried in the order of the library that they use (viper v1.12.0): json, toml, yaml, yml,
 * properties, props, prop, hcl, tfvars, dotenv, env, ini, and none. Whatever the extension, the
 * file is YAML.
 *
 * ERROR_FORMAT: a relative or empty path in the variable; ERROR_NOT_FOUND: there is no such file;
 * ERROR_MEMORY.
 */
int config_file_find(const struct config_program *program, const char *named, char **path,
		     struct error *err);

/* The search for a default file, in the first of `directories` (NULL-ended) that has one; "" when
 * none has. NULL: out of memory. */
char *config_file_search(const char *const *directories, const char *short_name);
