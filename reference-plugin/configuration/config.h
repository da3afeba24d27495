/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * This folder (configuration/) holds the plugin's settings: this structure, the table of settings
 * that fills it, and the readers of its layers.
 *
 * This file: the plugin's configuration, merged from four layers: option > environment > file > default.
 *
 * Option "--include-integrated" is the environment variable PREFIX_INCLUDE_INTEGRATED and the key
 * includeIntegrated of the YAML file. An environment variable that is set and empty counts as not
 * set. The value in every layer must be valid, even if a higher layer overrides it. Keys are
 * compared without case, as the DirectX plugins do.
 */

#include "base/error.h"
#include "base/text.h"
#include "reference-plugin/configuration/additional_mounts.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_resource { CONFIG_RESOURCE_BOTH, CONFIG_RESOURCE_DISPLAY, CONFIG_RESOURCE_COMPUTE };
enum config_delivery { CONFIG_DELIVERY_DIRECT, CONFIG_DELIVERY_CDI };
enum config_several { CONFIG_SEVERAL_REFUSE, CONFIG_SEVERAL_ALLOW };
enum config_log_format { CONFIG_LOG_TEXT, CONFIG_LOG_JSON };

enum config_layer { CONFIG_DEFAULT, CONFIG_FILE, CONFIG_ENVIRONMENT, CONFIG_OPTION };

struct config_origin {
	enum config_layer layer;
	size_t line; /* of the file, counted from 1 */
};

enum {
	CONFIG_SETTING_COUNT = 30,
	CONFIG_KEY_COUNT = CONFIG_SETTING_COUNT + 3, /* with the additional mounts */
};

/* The differences between the programs built from this library. */
struct config_program {
	const char *name;	/* "device-plugin-wddm" */
	const char *short_name; /* "wddm": first word of the sockets' names */
	const char *env_prefix; /* "WDDM_DEVICE_PLUGIN_" */
	/* Serves the devices of Windows nodes, with the settings and the rules of the DirectX
	 * plugins. */
	bool directx;
	/* Read when it exists and no other file is named; NULL: searched as the DirectX plugins do
	 * (config_search()). */
	const char *default_file;
	enum config_resource resource; /* CONFIG_RESOURCE_BOTH: the setting chooses */
	const char *display_name;      /* of the resource: "directx.microsoft.com/display" */
	const char *compute_name;
	/* For --help. */
	const char *summary;
	const char *description;
	const char *const *examples;
};

struct config {
	int resource;	       /* enum config_resource */
	char *resource_name;   /* "": the default name of each resource */
	uint32_t multitenancy; /* ids per device, at least 1 */
	bool include_integrated;
	bool include_detachable;
	bool include_software;
	struct text_list vendors; /* empty: all */
	struct text_list apis;	  /* that each device offers; empty: any */
	int preferred_allocation; /* enum prefer_policy */
	int allocation;		  /* enum answer_allocation */
	int delivery;		  /* enum config_delivery */
	int several_devices;	  /* enum config_several */
	bool skip_runtime_mounts;
	uint64_t poll_interval_ms;
	uint64_t removal_grace_ms;
	uint64_t register_timeout_ms;
	char *plugin_dir;
	char *kubelet_socket;
	char *node; /* recorded node; "": the live one */
	char *root; /* "" here and below: the live system's place */
	char *sysfs;
	char *proc;
	char *dev;
	struct text_list vulkan_icd_dirs, egl_vendor_dirs;
	char *opencl_vendors;
	char *metrics_address;			    /* "": off */
	int log_level;				    /* enum log_level */
	int log_format;				    /* enum config_log_format */
	char *log_file;				    /* "": standard error */
	struct additional_mounts additional_mounts; /* only from the file */

	char *file; /* the file that was read; "": none */
	const struct config_program *program;
	struct config_origin origins[CONFIG_KEY_COUNT];
};

/* The command line: for each setting a string, NULL when the option was not set, or a list. */
struct config_options {
	const char *file;
	const char *values[CONFIG_SETTING_COUNT];
	struct text_list lists[CONFIG_SETTING_COUNT];
};

/*
 * Merges the layers; lists are taken out of `options`. The file is that of the command line, else
 * the one of PREFIX_CONFIG_FILE, else the default one. In that variable the DirectX plugins require
 * the absolute path of an existing file, even when it is set and empty.
 *
 * Errors name the option, the variable or file:line. ERROR_ARGUMENT, ERROR_FORMAT, ERROR_LIMIT: an
 * invalid value; ERROR_NOT_FOUND and the other errors of file_read(): a named file that cannot be
 * read. `out` is zeroed; free it with config_free(), also after an error.
 */
int config_load(const struct config_program *program, struct config_options *options,
		struct config *out, struct error *err);
void config_free(struct config *config);
void config_options_free(struct config_options *options);

/*
 * Reads a YAML file over the values in `config`:
 *
 *   multitenancy: 4
 *   vendors: [NVIDIA, AMD]
 *   additionalMounts:
 *     NVIDIA:
 *       - {source: /usr/bin/nvidia-smi}                  # destination: the same path
 *       - {source: /opt/a, destination: /opt/b}
 *
 * and for the DirectX plugins, whose files lie in the driver's directory:
 *
 *   additionalMounts:
 *     Advanced Micro Devices, Inc.:
 *       - {source: amf\amfrt64.dll}                      # destination: System32\amfrt64.dll
 *   additionalMountsWow64:
 *     "0x10de":
 *       - {source: nvml32.dll, destination: nvml.dll}     # SysWOW64\nvml.dll
 *
 * A key without a value counts as absent. Errors are "FILE:LINE: ...". ERROR_FORMAT: no YAML, an
 * unknown key, a key given twice (in any case), a value of another type; ERROR_LIMIT: more than 1
 * MiB; and those of setting_set(), additional_mounts_add() and file_read().
 */
int config_read_yaml(const char *path, struct config *config, struct error *err);

/* The same for a text in memory; errors begin with `name`. */
int config_parse_yaml(const char *name, const char *data, size_t size, struct config *config,
		      struct error *err);

/* The default file of the DirectX plugins, SHORT_NAME.EXTENSION, in the first of `directories`
 * (NULL-ended) that has one; "" when none has, NULL: out of memory. They look in the working
 * directory and in /etc/directx-device-plugins (on Windows \etc\directx-device-plugins). Extensions
 * are tried in the order of the library that they use (viper v1.12.0): json, toml, yaml, yml,
 * properties, props, prop, hcl, tfvars, dotenv, env, ini, and none. Whatever the extension, the
 * file is YAML. */
char *config_search(const char *const *directories, const char *short_name);

/* The merged values and where each came from: a table, or JSON (NULL: out of memory). */
void config_print(const struct config *config, struct text *out);
cJSON *config_to_json(const struct config *config);

/* The name that a resource is registered under: the configured one, or the program's. */
const char *config_resource_name(const struct config *config, bool display);
