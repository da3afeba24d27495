/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/config.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "reference-plugin/configuration/config_file.h"
#include "reference-plugin/configuration/config_yaml.h"
#include "reference-plugin/configuration/environment.h"
#include "reference-plugin/configuration/resource_name.h"
#include "reference-plugin/configuration/setting.h"

#include <string.h>

#ifdef _WIN32
static const bool config_is_windows = true;
#else
static const bool config_is_windows = false;
#endif

const char *config_resource_name(const struct config *config, bool display)
{
	if (config->resource_name[0] != '\0')
		return config->resource_name;
	return display ? config->program->display_name : config->program->compute_name;
}

static int set_defaults(struct config *config, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < CONFIG_SETTING_COUNT; i++)
		rc = setting_set(&settings[i], setting_initial(&settings[i], config->program),
				 config, err);
	if (config->program->resource != CONFIG_RESOURCE_BOTH)
		config->resource = (int)config->program->resource;
	return rc;
}

static int apply_environment(struct config *config, struct error *err)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		struct text variable CLEANUP_TEXT = {0};
		char *value CLEANUP_FREE = NULL;
		int rc = 0;

		if (!setting_is_for(&settings[i], config->program))
			continue;
		setting_add_variable(&settings[i], config->program->env_prefix, &variable);
		if (variable.failed)
			return error_memory(err);
		rc = environment_get(text_string(&variable), &value, err);
		if (rc < 0)
			return rc;
		if (value == NULL || value[0] == '\0')
			continue;
		rc = setting_set(&settings[i], value, config, err);
		if (rc < 0)
			return error_wrap(err, rc, "environment variable %s",
					  text_string(&variable));
		config->origins[i] = (struct config_origin){.layer = CONFIG_ENVIRONMENT};
	}
	return 0;
}

static int apply_options(const struct config_options *options, struct config *config,
			 struct error *err)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++) {
		const char *initial = setting_initial(&settings[i], config->program);
		int rc = 0;

		if (options->values[i] != NULL && options->values[i] != initial)
			rc = setting_set(&settings[i], options->values[i], config, err);
		else if (options->lists[i].count > 0)
			rc = setting_set_list(&settings[i], &options->lists[i], config, err);
		else
			continue;
		if (rc < 0)
			return error_wrap(err, rc, "option --%s", settings[i].option);
		config->origins[i] = (struct config_origin){.layer = CONFIG_OPTION};
	}
	return 0;
}

/* The default lies on the system drive of Windows, where the kubelet has it. */
static int add_drive(struct config *config, struct error *err)
{
	char *drive CLEANUP_FREE = NULL;
	char *whole = NULL;
	size_t setting = 0;
	int rc = 0;

	if (!config_is_windows)
		return 0;
	setting = (size_t)(setting_find(config->program, "pluginDir") - settings);
	if (config->origins[setting].layer != CONFIG_DEFAULT)
		return 0;
	rc = environment_get("SYSTEMDRIVE", &drive, err);
	if (rc < 0)
		return error_wrap(err, rc, "the system drive");
	whole = text_format("%s%s",
			    drive != NULL && drive[0] != '\0' ? drive : "C:", config->plugin_dir);
	if (whole == NULL)
		return error_memory(err);
	free(config->plugin_dir);
	config->plugin_dir = whole;
	return 0;
}

static int finish_paths(struct config *config, struct error *err)
{
	int rc = 0;

	if (config->plugin_dir[0] == '\0')
		return error_set(err, ERROR_ARGUMENT, "the plugin directory is empty");
	rc = add_drive(config, err);
	if (rc < 0)
		return error_wrap(err, rc, "the plugin directory");
	if (config->kubelet_socket[0] == '\0') {
		free(config->kubelet_socket);
		config->kubelet_socket = path_join(config->plugin_dir, "kubelet.sock");
	}
	return config->kubelet_socket != NULL ? 0 : error_memory(err);
}

static int finish(struct config *config, struct error *err)
{
	int rc = 0;

	if (config->multitenancy == 0)
		config->multitenancy = 1;
	if (config->resource_name[0] != '\0') {
		if (config->resource == CONFIG_RESOURCE_BOTH)
			return error_set(
				err, ERROR_ARGUMENT,
				"a resource name is for one resource: choose display or compute "
				"with --resource");
		rc = resource_name_check(config->resource_name, err);
		if (rc < 0)
			return rc;
	}
	return finish_paths(config, err);
}

int config_load(const struct config_program *program, const struct config_options *options,
		struct config *out, struct error *err)
{
	int rc = 0;

	out->program = program;
	rc = set_defaults(out, err);
	if (rc == 0)
		rc = config_file_find(program, options->file, &out->file, err);
	if (rc == 0 && out->file[0] != '\0') {
		rc = config_read_yaml(out->file, out, err);
		if (rc < 0)
			return error_wrap(err, rc, "configuration");
	}
	if (rc == 0)
		rc = apply_environment(out, err);
	if (rc == 0)
		rc = apply_options(options, out, err);
	return rc == 0 ? finish(out, err) : rc;
}

void config_free(struct config *config)
{
	free(config->resource_name);
	text_list_free(&config->vendors);
	free(config->plugin_dir);
	free(config->kubelet_socket);
	free(config->node);
	free(config->root);
	free(config->sysfs);
	free(config->proc);
	free(config->dev);
	text_list_free(&config->vulkan_icd_dirs);
	free(config->opencl_vendors);
	free(config->log_file);
	additional_mounts_free(&config->additional_mounts);
	free(config->file);
	*config = (struct config){0};
}

void config_options_free(struct config_options *options)
{
	for (size_t i = 0; i < CONFIG_SETTING_COUNT; i++)
		text_list_free(&options->lists[i]);
}
