/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/config_file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reference-plugin/configuration/environment.h"

#include <string.h>

#ifdef _WIN32
#define SEARCH_DIRECTORY "\\etc\\directx-device-plugins"
#else
#define SEARCH_DIRECTORY "/etc/directx-device-plugins"
#endif

char *config_file_search(const char *const *directories, const char *short_name)
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
	return strdup("");
}

static int check_variable(const char *variable, const char *path, struct error *err)
{
	if (!path_is_absolute(path))
		return error_set(err, ERROR_FORMAT,
				 "environment variable %s: '%s' is not an absolute path", variable,
				 path);
	if (!file_exists(path))
		return error_set(err, ERROR_NOT_FOUND, "environment variable %s: there is no '%s'",
				 variable, path);
	return 0;
}

static char *default_file(const struct config_program *program)
{
	static const char *const directories[] = {".", SEARCH_DIRECTORY, NULL};

	if (program->default_file == NULL)
		return config_file_search(directories, program->short_name);
	return strdup(file_exists(program->default_file) ? program->default_file : "");
}

int config_file_find(const struct config_program *program, const char *named, char **path,
		     struct error *err)
{
	char *variable CLEANUP_FREE = text_format("%sCONFIG_FILE", program->env_prefix);
	char *value CLEANUP_FREE = NULL;
	int rc = 0;

	if (variable == NULL)
		return error_memory(err);
	rc = environment_get(variable, &value, err);
	if (rc == 0 && named == NULL && value != NULL && program->directx)
		rc = check_variable(variable, value, err);
	if (rc < 0)
		return rc;
	if (named == NULL)
		named = value;
	*path = named != NULL && named[0] != '\0' ? strdup(named) : default_file(program);
	return *path != NULL ? 0 : error_memory(err);
}
