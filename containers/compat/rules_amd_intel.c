/* SPDX-License-Identifier: MIT */
/* AMD's and Intel's rules: which user-land in an image goes with which kernel module and device. */
#include "base/cleanup.h"
#include "base/version.h"
#include "containers/compat/case.h"

#include <string.h>

/*
 * Kernel drivers by the version that /sys/module/amdgpu/version tells, each from its row's on, and the
 * releases of ROCm whose user-land was tested with it: two before and two behind, and more where
 * AMD's table has more (30.30). Releases from 6.4 on are inferred from that rule and from the row of
 * 30.30.
 */
static const struct rocm_driver {
	const char *module, *release, *oldest, *newest;
} rocm_drivers[] = {
	{"5.18.13", "5.4", "5.2", "5.6"}, {"6.0.5", "5.5", "5.3", "5.7"},
	{"6.1.5", "5.6", "5.4", "6.0"},	  {"6.2.4", "5.7", "5.5", "6.1"},
	{"6.3.6", "6.0", "5.6", "6.2"},	  {"6.7.0", "6.1", "5.7", "6.3"},
	{"6.8.5", "6.2", "6.0", "6.4"},	  {"6.10.5", "6.3", "6.1", "7.0"},
	{"6.12.12", "6.4", "6.2", "7.1"}, {"6.14.14", "7.0", "6.3", "7.2"},
	{"6.16.6", "7.1", "6.3", "7.2"},  {"6.16.13", "7.2", "6.3", "7.2"},
};

static const struct rocm_driver *rocm_driver_find(const char *module)
{
	const struct rocm_driver *found = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rocm_drivers); i++) {
		if (version_compare(module, rocm_drivers[i].module) >= 0)
			found = &rocm_drivers[i];
	}
	return found;
}

/* Release of ROCm in the image: its variable, or what the HIP runtime is called: libamdhip64.so.6.2.60204
 * is of 6.2. "" when neither tells. */
static const char *rocm_of(const struct compat_case *it)
{
	const char *variable = case_variable(it, "ROCM_VERSION");
	const struct contents_library *library = case_library(it, "libamdhip64.so*");
	if (variable != NULL && version_is_valid(variable))
		return variable;
	if (library != NULL && version_is_valid(library->version) &&
	    strchr(library->version, '.') != NULL)
		return library->version;
	return "";
}

/* Of the kernel's own module, whose version is the kernel's release. */
static bool is_in_kernel(const struct compat_case *it, const struct host_gpu *gpu)
{
	return gpu->driver_version[0] == '\0' ||
	       text_equal(gpu->driver_version, it->host->kernel) ||
	       !version_is_valid(gpu->driver_version);
}

void rule_rocm_release(struct compat_case *it)
{
	size_t next = 0;
	const char *release = rocm_of(it);
	const struct host_gpu *gpu = case_gpu(it, "amd", &next);
	if (gpu == NULL || release[0] == '\0' || !case_on_linux(it))
		return;
	int shown = (int)version_length(release, 2);
	const struct rocm_driver *row =
		is_in_kernel(it, gpu) ? NULL : rocm_driver_find(gpu->driver_version);
	char minor[32] = "";
	(void)snprintf(minor, sizeof(minor), "%.*s", shown, release);
	if (row == NULL)
		compat_find(
			it, COMPAT_UNKNOWN,
			"Install AMD's own kernel driver (amdgpu-dkms), whose release is known.",
			NULL,
			"the image has ROCm %s, and the host's amdgpu (%s) is of no known release",
			minor, gpu->driver_version[0] != '\0' ? gpu->driver_version : "no version");
	else if (version_compare(minor, row->oldest) < 0 || version_compare(minor, row->newest) > 0)
		compat_find(
			it, COMPAT_CANNOT_WORK,
			"Take an image of a ROCm release near the driver's, or update the driver.",
			NULL,
			"the image has ROCm %s; the host's amdgpu %s is of ROCm %s, which goes with "
			"%s to %s",
			minor, gpu->driver_version, row->release, row->oldest, row->newest);
	else
		compat_find(
			it, COMPAT_WORKS, "", NULL,
			"the image has ROCm %s; the host's amdgpu %s is of ROCm %s, which goes with "
			"%s to %s",
			minor, gpu->driver_version, row->release, row->oldest, row->newest);
}

/* "gfx90a;gfx1100", each perhaps with features behind a colon ("gfx90a:xnack-"). */
static bool list_has(const char *list, const char *name)
{
	static const char separators[] = " ;,";
	size_t wanted = strlen(name);
	for (const char *at = list + strspn(list, separators); *at != '\0';
	     at += strcspn(at, separators), at += strspn(at, separators)) {
		if (strncmp(at, name, wanted) == 0 && strchr(" ;,:", at[wanted]) != NULL)
			return true;
	}
	return false;
}

void rule_amd_architecture(struct compat_case *it)
{
	static const char *const names[] = {"PYTORCH_ROCM_ARCH", "AMDGPU_TARGETS", "GPU_TARGETS"};
	const char *list = NULL;
	size_t next = 0;
	for (size_t i = 0; i < ARRAY_SIZE(names) && list == NULL; i++)
		list = case_variable(it, names[i]);
	for (const struct host_gpu *gpu = NULL;
	     list != NULL && (gpu = case_gpu(it, "amd", &next)) != NULL;) {
		if (gpu->architecture[0] == '\0')
			compat_find(it, COMPAT_UNKNOWN,
				    "Record the host's facts on the host itself.", NULL,
				    "the image is built for '%.200s', and the architecture of '%s' "
				    "is not known",
				    list, gpu->name);
		else if (list_has(list, gpu->architecture))
			compat_find(it, COMPAT_WORKS, "", NULL,
				    "'%s' is %s, for which the image is built", gpu->name,
				    gpu->architecture);
		else
			compat_find(it, COMPAT_CANNOT_WORK,
				    "Take an image that is built for the device.", NULL,
				    "'%s' is %s, and the image is built for '%.200s'", gpu->name,
				    gpu->architecture, list);
	}
}

/* The build of compute-runtime: the last number of libze_intel_gpu.so.1.3.30872. */
static const char *last_component(const char *version)
{
	const char *dot = strrchr(version, '.');
	return dot != NULL ? dot + 1 : version;
}

void rule_intel_platform(struct compat_case *it)
{
	static const char last_legacy[] = "30872"; /* 24.35.30872 */
	static const char *const legacy[] = {"gen8", "gen9", "gen11", NULL};
	size_t next = 0;
	const struct contents_library *library = case_library(it, "libze_intel_gpu.so*");
	bool has_legacy = case_library(it, "libze_intel_gpu_legacy1.so*") != NULL;
	for (const struct host_gpu *gpu = NULL; library != NULL && case_on_linux(it) &&
						(gpu = case_gpu(it, "intel", &next)) != NULL;) {
		const char *build = last_component(library->version);
		bool old = legacy[text_position(legacy, gpu->architecture)] != NULL;
		if (old && !has_legacy && strcmp(build, library->version) != 0 &&
		    version_compare(build, last_legacy) > 0)
			compat_find(
				it, COMPAT_CANNOT_WORK,
				"Add the legacy package (libze-intel-gpu-legacy1, "
				"intel-opencl-icd-legacy) to the image.",
				NULL,
				"'%s' is %s, which compute-runtime has left out since build %s; the "
				"image has build %s",
				gpu->name, gpu->architecture, last_legacy, build);
		else
			compat_find(
				it, COMPAT_WORKS, "", NULL,
				"'%s': compute-runtime in the image (%s) goes with any kernel that has "
				"the device",
				gpu->name,
				library->version[0] != '\0' ? library->version : "no version");
	}
}
