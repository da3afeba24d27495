/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "containers/judging/contents/internal.h"

#include <ctype.h>
#include <string.h>

/* The first matching row wins. Names: soname.txt and file lists of the vendors' packages; on Windows the
 * drivers' and runtimes' own DLLs. */
static const struct component components[] = {
	{"libcuda.so*", "cuda", CONTENTS_DRIVER_LIBRARY},
	{"libcudadebugger.so*", "cuda", CONTENTS_DRIVER_LIBRARY},
	{"libnvidia-ml.so*", "nvml", CONTENTS_DRIVER_LIBRARY},
	{"libnvidia-encode.so*", "nvenc", CONTENTS_DRIVER_LIBRARY},
	{"libnvcuvid.so*", "nvdec", CONTENTS_DRIVER_LIBRARY},
	{"libnvidia-*.so*", "nvidia", CONTENTS_DRIVER_LIBRARY},
	{"lib*_nvidia.so*", "nvidia", CONTENTS_DRIVER_LIBRARY},
	{"libcudart.so*", "cuda-runtime", CONTENTS_DRIVER_LIBRARY},
	{"libcublas.so*", "cublas", CONTENTS_DRIVER_LIBRARY},
	{"libcudnn.so*", "cudnn", CONTENTS_DRIVER_LIBRARY},
	{"libnccl.so*", "nccl", CONTENTS_DRIVER_LIBRARY},
	{"libnvinfer.so*", "tensorrt", CONTENTS_DRIVER_LIBRARY},
	{"libamdhip64.so*", "hip", CONTENTS_DRIVER_LIBRARY},
	{"libhsa-runtime64.so*", "rocm", CONTENTS_DRIVER_LIBRARY},
	{"librocblas.so*", "rocm", CONTENTS_DRIVER_LIBRARY},
	{"librccl.so*", "rccl", CONTENTS_DRIVER_LIBRARY},
	{"libamfrt64.so*", "amf", CONTENTS_DRIVER_LIBRARY},
	{"libze_intel_*.so*", "level-zero-intel", CONTENTS_DRIVER_LIBRARY},
	{"libze_loader.so*", "level-zero", CONTENTS_DRIVER_LIBRARY},
	{"libigdrcl*.so*", "opencl-intel", CONTENTS_DRIVER_LIBRARY},
	{"libmfx*.so*", "onevpl", CONTENTS_DRIVER_LIBRARY},
	{"libvpl.so*", "onevpl", CONTENTS_DRIVER_LIBRARY},
	{"libva.so*", "va", CONTENTS_DRIVER_LIBRARY},
	{"*_drv_video.so", "va-driver", CONTENTS_DRIVER_LIBRARY},
	{"libgallium*.so*", "mesa", CONTENTS_DRIVER_LIBRARY},
	{"*_mesa.so*", "mesa", CONTENTS_DRIVER_LIBRARY},
	{"*_dri.so", "mesa", CONTENTS_DRIVER_LIBRARY},
	{"libvulkan_*.so*", "mesa", CONTENTS_DRIVER_LIBRARY},
	{"libpocl.so*", "pocl", CONTENTS_DRIVER_LIBRARY},
	{"libopencl.so*", "opencl", CONTENTS_DRIVER_LIBRARY},
	{"libvulkan.so*", "vulkan", CONTENTS_DRIVER_LIBRARY},
	{"libegl.so*", "egl", CONTENTS_DRIVER_LIBRARY},
	{"libc.so.6", "glibc", CONTENTS_C_LIBRARY},
	{"ld-musl-*.so.1", "musl", CONTENTS_C_LIBRARY},
	{"nvcuda*.dll", "cuda", CONTENTS_DRIVER_LIBRARY},
	{"nvml.dll", "nvml", CONTENTS_DRIVER_LIBRARY},
	{"nvencodeapi*.dll", "nvenc", CONTENTS_DRIVER_LIBRARY},
	{"cudart64*.dll", "cuda-runtime", CONTENTS_DRIVER_LIBRARY},
	{"cudnn*.dll", "cudnn", CONTENTS_DRIVER_LIBRARY},
	{"amdhip64*.dll", "hip", CONTENTS_DRIVER_LIBRARY},
	{"amfrt64.dll", "amf", CONTENTS_DRIVER_LIBRARY},
	{"ze_loader.dll", "level-zero", CONTENTS_DRIVER_LIBRARY},
	{"ze_intel_*.dll", "level-zero-intel", CONTENTS_DRIVER_LIBRARY},
	{"opencl.dll", "opencl", CONTENTS_DRIVER_LIBRARY},
	{"vulkan-1.dll", "vulkan", CONTENTS_DRIVER_LIBRARY},
	{"opengl32.dll", "opengl", CONTENTS_DRIVER_LIBRARY},
	{"dxgi.dll", "dxgi", CONTENTS_DRIVER_LIBRARY},
	{"dxcore.dll", "dxcore", CONTENTS_DRIVER_LIBRARY},
	{"d3d11.dll", "d3d11", CONTENTS_DRIVER_LIBRARY},
	{"d3d12*.dll", "d3d12", CONTENTS_DRIVER_LIBRARY},
	{"directml*.dll", "directml", CONTENTS_DRIVER_LIBRARY},
	{"mfplat.dll", "media-foundation", CONTENTS_DRIVER_LIBRARY},
};

/* Manifests are recognised by their folders, which the loaders search. */
static const struct component manifests[] = {
	{"*/opencl/vendors/*.icd", "opencl", CONTENTS_ICD_MANIFEST},
	{"*/vulkan/icd.d/*.json", "vulkan", CONTENTS_ICD_MANIFEST},
	{"*/glvnd/egl_vendor.d/*.json", "egl", CONTENTS_ICD_MANIFEST},
};

static const struct component *find(const struct component *rows, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (text_glob(rows[i].glob, name))
			return &rows[i];
	return NULL;
}

const struct component *component_find(const char *path)
{
	enum { NAME_MAX_SIZE = 512 };
	char lower[NAME_MAX_SIZE] = "";
	const size_t size = strlen(path);
	if (size >= sizeof(lower))
		return NULL;
	for (size_t i = 0; i < size; i++)
		lower[i] = (char)tolower((unsigned char)path[i]);
	const struct component *component =
		find(components, ARRAY_SIZE(components), path_base(lower));
	return component != NULL ? component : find(manifests, ARRAY_SIZE(manifests), lower);
}

const char *component_version(const char *path)
{
	const char *suffix = strstr(path_base(path), ".so.");
	const char *version = suffix != NULL ? suffix + strlen(".so.") : "";
	/* libfoo.so.1 names an interface. */
	const bool is_version =
		version[strspn(version, "0123456789.")] == '\0' && strchr(version, '.') != NULL;
	return is_version ? version : "";
}
