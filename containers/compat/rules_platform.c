/* SPDX-License-Identifier: MIT */
/* Operating system, architecture and C library: what an image needs of any host. */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/compat/case.h"

#include <string.h>

void rule_os(struct compat_case *it)
{
	const char *os = it->image->platform.os;
	if (os[0] == '\0' || it->host->os[0] == '\0')
		compat_find(it, COMPAT_UNKNOWN, "", NULL,
			    "the operating system of the %s is not known",
			    os[0] == '\0' ? "image" : "host");
	else if (!text_equal(os, it->host->os))
		compat_find(it, COMPAT_CANNOT_WORK,
			    "Take the image of the host's operating system.", NULL,
			    "the image is for %s, the host runs %s", os, it->host->os);
	else
		compat_find(it, COMPAT_WORKS, "", NULL, "image and host are %s", os);
}

void rule_architecture(struct compat_case *it)
{
	const char *wanted = it->image->platform.architecture;
	const char *has = it->host->architecture;
	if (wanted[0] == '\0' || has[0] == '\0')
		compat_find(it, COMPAT_UNKNOWN, "", NULL, "the architecture of the %s is not known",
			    wanted[0] == '\0' ? "image" : "host");
	else if (!text_equal(host_architecture(wanted), has))
		compat_find(it, COMPAT_CANNOT_WORK, "Take the image of the host's architecture.",
			    NULL,
			    "the image is for %s, the host is %s; emulation has no GPU driver",
			    wanted, has);
	else
		compat_find(it, COMPAT_WORKS, "", NULL, "image and host are %s", has);
}

unsigned platform_level(const struct image_platform *platform)
{
	const char *variant = platform->variant;
	bool level =
		variant[0] == 'v' && variant[1] >= '1' && variant[1] <= '4' && variant[2] == '\0';
	if (!text_equal(host_architecture(platform->architecture), "amd64") || !level)
		return 0;
	return (unsigned)(variant[1] - '0');
}

void rule_cpu_level(struct compat_case *it)
{
	static const char advice[] =
		"Take an image for a lower level (amd64 without a variant is v1), "
		"or another host.";
	unsigned named = platform_level(&it->image->platform);
	unsigned asked = it->contents != NULL ? it->contents->cpu_level : 0;
	unsigned needs = named > asked ? named : asked;
	const char *who = asked > named ? "programs of the image ask for" : "the image is for";
	if (needs <= 1 || !text_equal(it->host->architecture, "amd64"))
		return;
	if (it->host->cpu_level == 0)
		compat_find(it, COMPAT_UNKNOWN, "Record the host's facts on the host itself.", NULL,
			    "%s x86-64-v%u, and the level of the host's processor is not known",
			    who, needs);
	else if (it->host->cpu_level < needs)
		compat_find(it, COMPAT_CANNOT_WORK, advice, NULL,
			    "%s x86-64-v%u, the host's processor has v%u", who, needs,
			    it->host->cpu_level);
	else
		compat_find(it, COMPAT_WORKS, "", NULL,
			    "%s x86-64-v%u, the host's processor has v%u", who, needs,
			    it->host->cpu_level);
}

/* Only for whom an image is made that has a vendor's user-land. */
void rule_gpu_vendor(struct compat_case *it)
{
	const char *cuda = case_cuda_toolkit(it);
	bool rocm = case_library(it, "libamdhip64.so*") != NULL;
	if (cuda[0] != '\0' && !rocm && !case_has_gpu(it, "nvidia"))
		compat_find(it, COMPAT_CANNOT_WORK, "Start it on a node with an NVIDIA GPU.", NULL,
			    "the image has CUDA %s, and the host has no NVIDIA GPU", cuda);
	else if (cuda[0] == '\0' && rocm && !case_has_gpu(it, "amd"))
		compat_find(it, COMPAT_CANNOT_WORK, "Start it on a node with an AMD GPU.", NULL,
			    "the image has ROCm, and the host has no AMD GPU");
}

static bool has_musl(const struct image_contents *contents)
{
	for (size_t i = 0; i < contents->library_count; i++) {
		if (contents->libraries[i].kind == CONTENTS_C_LIBRARY &&
		    text_equal(contents->libraries[i].component, "musl"))
			return true;
	}
	return false;
}

void rule_mounted_glibc(struct compat_case *it)
{
	const char *needs = it->host->driver_glibc;
	if (!case_on_linux(it) || it->contents == NULL || needs[0] == '\0')
		return;
	const char *has = it->contents->glibc;
	if (has[0] != '\0' && version_compare(has, needs) >= 0)
		compat_find(it, COMPAT_WORKS, "", NULL,
			    "driver files of the host need glibc %s, the image has %s", needs, has);
	else if (has[0] != '\0')
		compat_find(
			it, COMPAT_CANNOT_WORK,
			"Build the image on a newer distribution, or put the driver's user-land into "
			"it.",
			NULL, "driver files of the host need glibc %s, the image has %s", needs,
			has);
	else if (has_musl(it->contents))
		compat_find(it, COMPAT_CANNOT_WORK, "Build the image on a distribution with glibc.",
			    NULL, "driver files of the host need glibc %s, the image has musl",
			    needs);
	else
		compat_find(
			it, COMPAT_UNKNOWN, "", NULL,
			"driver files of the host need glibc %s, and the image has no C library",
			needs);
}

/* Libraries that a driver's user-land brings, which the host gives to the container. */
static const struct {
	const char *glob, *vendor;
} driver_libraries[] = {
	{"libcuda.so*", "nvidia"},     {"libnvidia-*.so*", "nvidia"},
	{"libnvcuvid.so*", "nvidia"},  {"libnvoptix.so*", "nvidia"},
	{"lib*_nvidia.so*", "nvidia"}, {"libcudadebugger.so*", "nvidia"},
};

static const char *vendor_of(const char *library)
{
	for (size_t i = 0; i < ARRAY_SIZE(driver_libraries); i++) {
		if (text_glob(driver_libraries[i].glob, library))
			return driver_libraries[i].vendor;
	}
	return NULL;
}

/* Is it the program that the image starts? */
static bool is_started(const struct image *image, const char *path)
{
	const char *program = image->entrypoint_count > 0 ? image->entrypoint[0]
			      : image->command_count > 0  ? image->command[0]
							  : "";
	while (path[0] == '/')
		path++;
	if (program[0] == '/')
		return text_equal(program + 1, path);
	return program[0] != '\0' && strchr(program, '/') == NULL &&
	       text_equal(program, path_base(path));
}

/* What of it the container lacks: neither the image nor the host's driver gives it. */
static bool is_lacking(const struct compat_case *it, const struct contents_need *need)
{
	const char *vendor = vendor_of(need->name);
	return need->missing[0] != '\0' && !text_starts_with(need->name, "x86-64-v") &&
	       (vendor == NULL || !case_has_gpu(it, vendor));
}

void rule_missing_libraries(struct compat_case *it)
{
	size_t others = 0;
	const struct contents_need *first = NULL;
	size_t count = it->contents != NULL ? it->contents->need_count : 0;
	for (size_t i = 0; i < count; i++) {
		const struct contents_need *need = &it->contents->needs[i];
		if (!is_lacking(it, need))
			continue;
		if (is_started(it->image, need->path)) {
			compat_find(it, COMPAT_CANNOT_WORK, "Put it into the image.", NULL,
				    "%s, which the image starts, needs %s: %s", need->path,
				    need->name, need->missing);
			return;
		}
		first = first == NULL ? need : first;
		others++;
	}
	if (first != NULL)
		compat_find(
			it, COMPAT_WORKS, "Put it into the image, if the container uses them.",
			NULL,
			"%zu needs of files that the image does not start are not met, the first: "
			"%s needs %s: %s",
			others, first->path, first->name, first->missing);
}
