/* SPDX-License-Identifier: MIT */
/* AMD's and Intel's rules: does the image's user-land match the kernel module and the device? */
#include "base/cleanup.h"
#include "base/version.h"
#include "containers/judging/compat/case.h"

#include <string.h>

/*
 * Kernel drivers from the version of each row on (/sys/module/amdgpu/version), and the releases of ROCm
 * whose user-land was tested with them: two before and two after, and more where AMD's table has more
 * (30.30). Releases from 6.4 on are inferred from that rule and from the row of 30.30.
 */
static const struct rocm_driver {
	const char *module, *release, *oldest, *newest;
} rocm_drivers[] = {
	{"5.18.13", "ROCm 5.4", "5.2", "5.6"},	     {"6.0.5", "ROCm 5.5", "5.3", "5.7"},
	{"6.1.5", "ROCm 5.6", "5.4", "6.0"},	     {"6.2.4", "ROCm 5.7", "5.5", "6.1"},
	{"6.3.6", "ROCm 6.0", "5.6", "6.2"},	     {"6.7.0", "ROCm 6.1", "5.7", "6.3"},
	{"6.8.5", "ROCm 6.2", "6.0", "6.4"},	     {"6.10.5", "ROCm 6.3", "6.1", "7.0"},
	{"6.12.12", "ROCm 6.4", "6.2", "7.1"},	     {"6.14.14", "ROCm 7.0", "6.3", "7.2"},
	{"6.16.6", "ROCm 7.1", "6.3", "7.2"},	     {"6.16.13", "ROCm 7.2", "6.3", "7.2"},
	{"", "a release that is not known", "", ""},
};

void rule_rocm_release(struct compat_case *it)
{
	/* The image's variable, or the version in the HIP runtime's name: libamdhip64.so.6.2.60204 belongs
	 * to 6.2. */
	const char *release = case_variable(it, "ROCM_VERSION");
	const struct contents_library *library = case_library(it, "libamdhip64.so*");
	if (release == NULL || !version_is_valid(release)) {
		if (library == NULL || !version_is_valid(library->version) ||
		    strchr(library->version, '.') == NULL)
			return;
		release = library->version;
	}

	/* The last row, of an unknown release, for the kernel's own module, whose version is the kernel's. */
	const char *version = it->gpu->driver_version;
	const struct rocm_driver *row = &rocm_drivers[ARRAY_SIZE(rocm_drivers) - 1];
	bool numbered = version_is_valid(version) && !text_equal(version, it->host->kernel);
	for (size_t i = 0; numbered && i + 1 < ARRAY_SIZE(rocm_drivers); i++) {
		if (version_compare(version, rocm_drivers[i].module) >= 0)
			row = &rocm_drivers[i];
	}

	char minor[32] = "";
	(void)snprintf(minor, sizeof(minor), "%.*s", (int)version_length(release, 2), release);
	bool known = row->module[0] != '\0';
	bool fits = version_compare(minor, row->oldest) >= 0 &&
		    version_compare(minor, row->newest) <= 0;
	compat_find(it, case_verdict(known, fits),
		    "the image has ROCm %s; the host's amdgpu (%s) is of %s%s%s%s%s", minor,
		    case_known(version), row->release, known ? ", which goes with " : "",
		    row->oldest, known ? " to " : "", row->newest);
}

bool case_code_is_of(const char *element, size_t size, const char *architecture)
{
	size_t name = strcspn(element, ":");
	return strlen(architecture) == (name < size ? name : size) &&
	       strncmp(element, architecture, strlen(architecture)) == 0;
}

void rule_amd_architecture(struct compat_case *it)
{
	static const char *const names[] = {"PYTORCH_ROCM_ARCH", "AMDGPU_TARGETS", "GPU_TARGETS"};
	const char *has = it->gpu->architecture;
	const char *list = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names) && list == NULL; i++)
		list = case_variable(it, names[i]);
	if (list != NULL)
		compat_find(it,
			    case_verdict(has[0] != '\0', case_list_has(list, case_code_is_of, has)),
			    "the image is built for '%.200s', the architecture of '%s' is %s", list,
			    it->gpu->name, case_known(has));
}

void rule_intel_platform(struct compat_case *it)
{
	static const char last_legacy[] = "30872"; /* 24.35.30872 */
	static const char *const legacy[] = {"gen8", "gen9", "gen11", NULL};
	const struct host_gpu *gpu = it->gpu;
	const struct contents_library *library = case_library(it, "libze_intel_gpu.so*");
	bool has_legacy = case_library(it, "libze_intel_gpu_legacy1.so*") != NULL;
	if (library == NULL)
		return;
	/* The last number of libze_intel_gpu.so.1.3.30872 is the build of compute-runtime. */
	const char *dot = strrchr(library->version, '.');
	const char *build = dot != NULL ? dot + 1 : library->version;
	bool old = legacy[text_position(legacy, gpu->architecture)] != NULL;
	if (old && !has_legacy && dot != NULL && version_compare(build, last_legacy) > 0)
		compat_find(it, COMPAT_CANNOT_WORK,
			    "'%s' is %s, which compute-runtime has left out since build %s; the "
			    "image has build %s",
			    gpu->name, gpu->architecture, last_legacy, build);
	else
		compat_find(it, COMPAT_WORKS,
			    "'%s': compute-runtime in the image (%s) goes with any kernel that has "
			    "the device",
			    gpu->name, case_known(library->version));
}
