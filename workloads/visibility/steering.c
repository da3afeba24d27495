/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>
#include <uv.h>

/* Of loaders and drivers. */
static const char *const prefixes[] = {
	"AMD_",	    "CL_",	"CUDA_",  "D3D12_",  "DRI_",   "DXCORE_", "DZN_",    "EGL_",
	"GALLIUM_", "GALLIVM_", "GPU_",	  "HIP_",    "HSA_",   "INTEL_",  "LIBGL_",  "LIBVA_",
	"LP_",	    "MESA_",	"NEO",	  "NVIDIA_", "OCL_",   "ONEAPI_", "OPENCL_", "POCL_",
	"RADV_",    "ROCR_",	"SYCL_",  "VK_",     "VKD3D_", "WGPU_",	  "ZE_",     "ZES_",
	"ZINK_",    "__EGL_",	"__GLX_", "__NV_",
};

/* Of the dynamic linker, and where loaders look for manifests. */
static const char *const places[] = {
	"LD_AUDIT",	   "LD_LIBRARY_PATH", "LD_PRELOAD",    "XDG_CONFIG_DIRS",
	"XDG_CONFIG_HOME", "XDG_DATA_DIRS",   "XDG_DATA_HOME",
};

static bool steers(const char *variable)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (text_starts_with(variable, prefixes[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (text_starts_with(variable, places[i]) && variable[strlen(places[i])] == '=')
			return true;
	}
	return false;
}

int steering_remove(bool *steered, struct error *err)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	int rc = 0;
	for (size_t i = 0; rc == 0 && environ[i] != NULL; i++) {
		char *name CLEANUP_FREE = strndup(environ[i], strcspn(environ[i], "="));
		if (name == NULL)
			rc = error_memory(err);
		else if (steers(environ[i]) && strstr(name, "CACHE") == NULL)
			rc = text_list_add(&found, name, err);
	}
	for (size_t i = 0; rc == 0 && i < found.count; i++)
		if (uv_os_unsetenv(found.items[i]) != 0)
			rc = error_memory(err);
	*steered = found.count != 0;
	return rc;
}
