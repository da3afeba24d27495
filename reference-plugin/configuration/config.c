/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/config.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/program.h"
#include "reference-plugin/configuration/settings.h"
#include "rpc/resource_name.h"

#include <string.h>

#ifdef _WIN32
#define SEARCH_DIRECTORY "\\etc\\directx-device-plugins"
#else
#define SEARCH_DIRECTORY "/etc/directx-device-plugins"
#endif

const char *config_resource_name(const struct config *config, bool display)
{
	if (config->resource_name[0] != '\0')
		return config->resource_name;
	return display ? config->program->display_name : config->program->compute_name;
}

char *config_search(const char *const *directories, const char *short_name)
{
	static const char *const extensions[] = {
		".json", ".toml",   ".yaml",   ".yml", ".properties", ".props", ".prop",
		".hcl",	 ".tfvars", ".dotenv", ".env", ".ini",	      "",
	};
	for (; *directories != NULL; directories++) {
		for (size_t i = 0; i < ARRAY_SIZE(extensions); i++) {
			char *name CLEANUP_FREE = text_format("%s%s", short_name, extensions[i]);
			char *path CLEANUP_FREE =
				name != NULL ? path_join(*directories, name) : NULL;
			if (path == NULL)
				return NULL;
			if (file_exists(path) && !file_is_directory(path))
				return STEAL(path);
		}
	}
	return memory_copy("");
}

/* Leaves config->file "" if no file exists. */
static int apply_file(const char *named, struct config *config, struct error *err)
{
	static const char *const directories[] = {".", SEARCH_DIRECTORY, NULL};
	const struct config_program *program = config->program;
	char *variable CLEANUP_FREE = text_format("%sCONFIG_FILE", program->env_prefix);
	if (variable == NULL)
		return error_memory(err);

	if (named == NULL) {
		named = program_variable(variable);
		if (named != NULL && program->directx && !path_is_absolute(named))
			return error_set(err, ERROR_FORMAT,
					 "environment variable %s: '%s' is not an absolute path",
					 variable, named);
		if (named != NULL && program->directx && !file_exists(named))
			return error_set(err, ERROR_NOT_FOUND,
					 "environment variable %s: there is no '%s'", variable,
					 named);
	}
	if (named != NULL && named[0] != '\0')
		config->file = memory_copy(named);
	else if (program->default_file == NULL)
		config->file = config_search(directories, program->short_name);
	else
		config->file = memory_copy(
			file_exists(program->default_file) ? program->default_file : "");
	if (config->file == NULL)
		return error_memory(err);

	if (config->file[0] == '\0')
		return 0;
	int rc = config_read_yaml(config->file, config, err);
	return rc < 0 ? error_wrap(err, rc, "configuration") : 0;
}

static int finish(struct config *config, struct error *err)
{
	const struct setting *plugin_dir = setting_find(config->program, "pluginDir");
	int rc = 0;
	if (config->multitenancy == 0)
		config->multitenancy = 1;
	if (config->resource_name[0] != '\0' && config->resource == CONFIG_RESOURCE_BOTH)
		return error_set(err, ERROR_ARGUMENT,
				 "a resource name is for one resource: choose display or compute "
				 "with --resource");
	if (config->resource_name[0] != '\0')
		rc = resource_name_check(config->resource_name, err);
	if (rc < 0)
		return error_wrap(err, rc, "resource name '%s'", config->resource_name);
	if (config->plugin_dir[0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "the plugin directory is empty");

	/* The default of Windows is on the system drive, where the kubelet has it. */
	if (config->origins[plugin_dir - settings].layer == CONFIG_DEFAULT &&
	    config->plugin_dir[0] == '\\') {
		const char *drive = program_variable("SYSTEMDRIVE");
		char *whole = text_format("%s%s", drive != NULL && drive[0] != '\0' ? drive : "C:",
					  config->plugin_dir);
		if (whole == NULL)
			return error_memory(err);
		free(config->plugin_dir);
		config->plugin_dir = whole;
	}

	if (config->kubelet_socket[0] != '\0')
		return 0;
	free(config->kubelet_socket);
	config->kubelet_socket = path_join(config->plugin_dir, "kubelet.sock");
	return config->kubelet_socket != NULL ? 0 : error_memory(err);
}

static int load(const struct config_program *program, struct config_options *options,
		struct config *out, struct error *err)
{
	int rc = 0;
	out->program = program;
	for (size_t i = 0; rc == 0 && i < CONFIG_SETTING_COUNT; i++)
		rc = setting_set(&settings[i], setting_initial(&settings[i], program), out, err);
	if (program->resource != CONFIG_RESOURCE_BOTH)
		out->resource = (int)program->resource;
	if (rc == 0)
		rc = apply_file(options->file, out, err);
	if (rc < 0)
		return rc;

	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		struct text variable CLEANUP_TEXT = {0};
		if (!setting_is_for(&settings[i], program))
			continue;
		setting_add_variable(&settings[i], program->env_prefix, &variable);
		const char *value = program_variable(text_string(&variable));
		if (value == NULL || value[0] == '\0')
			continue;
		rc = setting_set(&settings[i], value, out, err);
		if (rc < 0)
			return error_wrap(err, rc, "environment variable %s",
					  text_string(&variable));
		out->origins[i] = (struct config_origin){.layer = CONFIG_ENVIRONMENT};
	}

	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		const char *value = options->values[i];
		if (options->lists[i].count > 0)
			setting_take_list(&settings[i], &options->lists[i], out);
		else if (value != NULL && value != setting_initial(&settings[i], program))
			rc = setting_set(&settings[i], value, out, err);
		else
			continue;
		if (rc < 0)
			return error_wrap(err, rc, "option --%s", settings[i].option);
		out->origins[i] = (struct config_origin){.layer = CONFIG_OPTION};
	}
	return finish(out, err);
}

int config_load(const struct config_program *program, struct config_options *options,
		struct config *out, struct error *err)
{
	const unsigned failures = memory_failures();
	int rc = load(program, options, out, err);
	return memory_failures() == failures ? rc : error_memory(err);
}

void config_free(struct config *config)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		void *member = (char *)config + settings[i].offset;
		if (settings[i].type == SETTING_TEXT)
			free(*(char **)member);
		else if (settings[i].type == SETTING_LIST)
			text_list_free(member);
	}
	additional_mounts_free(&config->additional_mounts);
	free(config->file);
	*config = (struct config){0};
}

void config_options_free(struct config_options *options)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++)
		text_list_free(&options->lists[i]);
}
