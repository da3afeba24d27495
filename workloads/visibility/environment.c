/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/environment.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { VALUE_MAX = 4096 };

/* Of loaders and drivers. */
static const char *const prefixes[] = {
	"AMD_",	    "CL_",	"CUDA_",  "D3D12_",  "DRI_",   "DXCORE_", "DZN_",    "EGL_",
	"GALLIUM_", "GALLIVM_", "GPU_",	  "HIP_",    "HSA_",   "INTEL_",  "LIBGL_",  "LIBVA_",
	"LP_",	    "MESA_",	"NEO",	  "NVIDIA_", "OCL_",   "ONEAPI_", "OPENCL_", "POCL_",
	"RADV_",    "ROCR_",	"SYCL_",  "VK_",     "VKD3D_", "WGPU_",	  "ZE_",     "ZES_",
	"ZINK_",    "__EGL_",	"__GLX_", "__NV_",
};

/* Parts of names whose values are nobody's business. */
static const char *const secrets[] = {"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"};

/* Of the dynamic linker, and where loaders look for manifests. */
static const char *const places[] = {
	"LD_AUDIT",	   "LD_LIBRARY_PATH", "LD_PRELOAD",    "XDG_CONFIG_DIRS",
	"XDG_CONFIG_HOME", "XDG_DATA_DIRS",   "XDG_DATA_HOME",
};

/* Told, and needed by every program. */
static const char *const names[] = {"HOME", "PATH", "TMPDIR", "XDG_CACHE_HOME"};

static bool is_one_of(const char *variable, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_starts_with(variable, list[i]) && variable[strlen(list[i])] == '=')
			return true;
	return false;
}

static bool steers(const char *variable)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (text_starts_with(variable, prefixes[i]))
			return true;
	return is_one_of(variable, places, ARRAY_SIZE(places));
}

static bool is_wanted(const char *variable)
{
	return steers(variable) || is_one_of(variable, names, ARRAY_SIZE(names));
}

static bool is_secret(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		if (strstr(name, secrets[i]) != NULL)
			return true;
	return false;
}

/* The value of the first variable with that name, as getenv(3) finds it. */
static const char *find_value(const char *const *variables, const char *name)
{
	const size_t length = strlen(name);

	if (is_secret(name))
		return "(hidden)";
	for (size_t i = 0; variables[i] != NULL; i++)
		if (strncmp(variables[i], name, length) == 0 && variables[i][length] == '=')
			return variables[i] + length + 1;
	return "";
}

static int add_name(struct text_list *sorted, const char *variable, struct error *err)
{
	const size_t length = strcspn(variable, "=");

	if (variable[length] != '=' || !text_is_utf8(variable, length) || !is_wanted(variable))
		return 0;
	char *name CLEANUP_FREE = strndup(variable, length);

	if (name == NULL)
		return error_memory(err);
	return text_list_has(sorted, name) ? 0 : text_list_add(sorted, name, err);
}

int environment_list(const char *const *variables, cJSON **out, struct error *err)
{
	struct text_list sorted CLEANUP_TEXT_LIST = {0};
	cJSON *environment CLEANUP_JSON = cJSON_CreateObject();
	int code = environment != NULL ? 0 : error_memory(err);

	for (size_t i = 0; code == 0 && variables[i] != NULL; i++)
		code = add_name(&sorted, variables[i], err);
	text_list_sort(&sorted);
	for (size_t i = 0; code == 0 && i < sorted.count; i++) {
		const char *value = find_value(variables, sorted.items[i]);
		cJSON *json = json_new_string(value, strnlen(value, VALUE_MAX));

		if (json == NULL || !cJSON_AddItemToObject(environment, sorted.items[i], json)) {
			cJSON_Delete(json);
			code = error_memory(err);
		}
	}
	if (code == 0)
		*out = STEAL(environment);
	return code;
}

int environment_clean(bool *steered, struct error *err)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	int code = 0;

	for (size_t i = 0; code == 0 && environ[i] != NULL; i++) {
		char *name CLEANUP_FREE = strndup(environ[i], strcspn(environ[i], "="));

		if (name == NULL)
			code = error_memory(err);
		else if (steers(environ[i]) && strstr(name, "CACHE") == NULL)
			code = text_list_add(&found, name, err);
	}
	for (size_t i = 0; code == 0 && i < found.count; i++)
		if (uv_os_unsetenv(found.items[i]) != 0)
			code = error_memory(err);
	*steered = found.count != 0;
	return code;
}
