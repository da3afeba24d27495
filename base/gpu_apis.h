/* SPDX-License-Identifier: MIT */
#pragma once

/* The GPU APIs that the project knows: the rows of base/gpu_apis.def. */

#include <stdbool.h>
#include <stddef.h>

enum { GPU_API_ON_LINUX = 1, GPU_API_ON_WINDOWS = 2 };

struct gpu_api {
	const char *name;    /* "vulkan" */
	const char *offered; /* as discovery reports it: "vulkan", "directx" */
	unsigned listed;     /* systems where probe-visibility lists its devices */
	bool tested;	     /* there is a check api.NAME */
	bool enumerates;     /* its probe lists devices and does not compute on them */
	bool encodes;	     /* its probe encodes video that the checks decode (verify-video) */
	/* It manages devices independently of their assignment to compute APIs: Windows shows every
	 * device of the host to each container, Linux those whose node is in the container. */
	bool past_assignment;
	const char *family; /* of the probe's images, one of gpu_api_families; NULL: derived */
	const char *loader; /* Linux: the library through which drivers are loaded, part of the
			     * probe image: "libvulkan.so.1"; NULL: the driver brings everything */
	/* Windows: the library that comes with a driver, which a bare container lacks, and the one
	 * that Windows itself brings, if the image has it; NULL: none. */
	const char *driver_dll;
	const char *windows_dll;
	unsigned windows_build; /* Windows: the first build that has it; 0: all */
	/* Linux: kernel drivers whose device nodes are enough for it if the image has the user-mode
	 * driver; NULL-ended. */
	const char *kernel_drivers[11];
	/* Linux: also offered by compute-only devices: accelerators without a graphics engine (MI200,
	 * MI300, Data Center GPU Max) and partitions of NVIDIA's GPUs. */
	bool compute_only;
	/* DirectX: a device offers it if DXCore lists it with one of these attributes; NULL-ended. */
	const char *attributes[4];
};

/* Ends with a row without a name. */
extern const struct gpu_api gpu_apis[];

#define gpu_api_each(api) for (const struct gpu_api *(api) = gpu_apis; (api)->name != NULL; (api)++)

/* The families of APIs that probe images are built for, NULL-ended: "compute", "graphics", "video", "directx".
 * Each API is in one of them: encoders in "video", others in "compute" unless the row says otherwise. */
extern const char *const gpu_api_families[];
const char *gpu_api_family(const struct gpu_api *api);

/* NULL: not found. */
const struct gpu_api *gpu_api_find(const char *name);

/* Has this build of Windows ("20348.1547") the API? An unknown build has it. */
bool gpu_api_in_build(const struct gpu_api *api, const char *build);
