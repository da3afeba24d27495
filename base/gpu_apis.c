/* SPDX-License-Identifier: MIT */
#include "base/gpu_apis.h"

#include <stdlib.h>
#include <string.h>

enum { ON_ANY = GPU_API_ON_LINUX | GPU_API_ON_WINDOWS, ON_LINUX = 1, ON_WINDOWS = 2 };
enum {
	VISIBILITY_LISTED = ON_ANY,
	VISIBILITY_LISTED_ON_LINUX = GPU_API_ON_LINUX,
	VISIBILITY_UNLISTED = 0
};

#define API_WITHOUT_CHECK(name_, system, listed_, offered_, ...)                                   \
	{.name = #name_,                                                                           \
	 .offered = offered_,                                                                      \
	 .listed = (unsigned)ON_##system & VISIBILITY_##listed_,                                   \
	 __VA_ARGS__},
#define API(name_, system, listed_, offered_, title, advice, ...)                                  \
	API_WITHOUT_CHECK(name_, system, listed_, offered_, .tested = true, __VA_ARGS__)

const struct gpu_api gpu_apis[] = {
#include "base/gpu_apis.def"
	{.name = NULL},
};

const char *const gpu_api_families[] = {"compute", "graphics", "video", "directx", NULL};

const char *gpu_api_family(const struct gpu_api *api)
{
	if (api->family != NULL)
		return api->family;
	if (api->encodes)
		return "video";
	return strcmp(api->offered, "directx") == 0 ? "directx" : "compute";
}

const struct gpu_api *gpu_api_find(const char *name)
{
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		if (strcmp(api->name, name) == 0)
			return api;
	}
	return NULL;
}

bool gpu_api_in_build(const struct gpu_api *api, const char *build)
{
	const unsigned long number = strtoul(build, NULL, 10);
	return number == 0 || number >= api->windows_build;
}
