/* SPDX-License-Identifier: MIT */
#pragma once

/* The GPU APIs that the project knows: the rows of base/gpu_apis.def. */

#include <stdbool.h>
#include <stddef.h>

enum { GPU_API_ON_LINUX = 1, GPU_API_ON_WINDOWS = 2 };

struct gpu_api {
	const char *name;    /* "vulkan" */
	const char *offered; /* as discovery tells it of a device: "vulkan", "directx" */
	unsigned listed;     /* systems where probe-visibility lists its devices */
	bool tested;	     /* there is a check api.NAME */
	bool enumerates;     /* its probe lists devices and does no work on them */
	bool encodes;	     /* its probe encodes video, which the checks decode (verify-video) */
	/* It manages devices, past what assigns them to compute APIs: Windows shows every device of
	 * the host to each container, Linux each whose node is in it. */
	bool past_assignment;
	const char *family; /* of images that hold its probe, gpu_api_families; NULL: by the rest */
	const char *loader; /* Linux: what the probe image brings, for drivers are behind it:
				"libvulkan.so.1"; NULL: the driver brings everything */
	/* Windows: the library that comes with a driver, which a bare container lacks, and the one
	 * that Windows itself brings, where the image has it; NULL for none. */
	const char *driver_dll;
	const char *windows_dll;
	unsigned windows_build; /* Windows: has it since this build; 0: all that are supported */
	/* Linux: kernel drivers whose device nodes are enough for it, where the image has the
	 * user-mode driver; NULL-ended. */
	const char *kernel_drivers[11];
	/* Linux: offered by devices that only compute as well: accelerators without a graphics engine
	 * (MI200, MI300, Data Center GPU Max) and partitions of NVIDIA's GPUs. */
	bool compute_only;
	/* DirectX: a device offers it that DXCore lists for one of these; NULL-ended. */
	const char *attributes[4];
};

/* Ended by a row without a name. */
extern const struct gpu_api gpu_apis[];

#define gpu_api_each(api) for (const struct gpu_api *(api) = gpu_apis; (api)->name != NULL; (api)++)

/* What images of probes are made of, NULL-ended: "compute", "graphics", "video", "directx". Each API is
 * in one of them: encoders in "video", what is not said to be elsewhere in "compute". */
extern const char *const gpu_api_families[];
const char *gpu_api_family(const struct gpu_api *api);

/* NULL: there is none of that name. */
const struct gpu_api *gpu_api_find(const char *name);

/* Has this build of Windows ("20348.1547") the API? One that is not told has it. */
bool gpu_api_in_build(const struct gpu_api *api, const char *build);
