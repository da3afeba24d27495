/* SPDX-License-Identifier: MIT */
/* Operating system, architecture and C library: what an image needs of any host. */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/compat/case.h"

#include <string.h>

static void judge_names(struct compat_case *it, const char *wanted, const char *has)
{
	bool known = wanted[0] != '\0' && has[0] != '\0';
	compat_find(it, case_verdict(known, text_equal(wanted, has)), "image: %s; host: %s",
		    case_told(wanted), case_told(has));
}

void rule_os(struct compat_case *it)
{
	judge_names(it, it->image->platform.os, it->host->os);
}

void rule_architecture(struct compat_case *it)
{
	judge_names(it, host_architecture(it->image->platform.architecture),
		    it->host->architecture);
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
	unsigned has = it->host->cpu_level;
	unsigned named = platform_level(&it->image->platform);
	unsigned asked = it->contents != NULL ? it->contents->cpu_level : 0;
	unsigned needs = named > asked ? named : asked;
	if (needs <= 1 || !text_equal(it->host->architecture, "amd64"))
		return;
	compat_find(it, case_verdict(has != 0, has >= needs),
		    "%s x86-64-v%u, the host's processor has %s",
		    asked > named ? "programs of the image ask for" : "the image is for", needs,
		    has == 0 ? "a level that is not known"
			     : arena_format(&it->answer->arena, "v%u", has));
}

/* Only for whom an image is made that has a vendor's user-land. */
void rule_gpu_vendor(struct compat_case *it)
{
	const char *cuda = case_cuda_toolkit(it);
	bool rocm = case_library(it, "libamdhip64.so*") != NULL;
	if (cuda[0] != '\0' && !rocm && !case_has_gpu(it, "nvidia"))
		compat_find(
			it, COMPAT_CANNOT_WORK,
			"the image has CUDA %s, and the host has no NVIDIA GPU with NVIDIA's driver",
			cuda);
	else if (cuda[0] == '\0' && rocm && !case_has_gpu(it, "amd"))
		compat_find(it, COMPAT_CANNOT_WORK,
			    "the image has ROCm, and the host has no AMD GPU with amdgpu");
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
	if (it->contents == NULL || needs[0] == '\0')
		return;
	bool musl = it->contents->glibc[0] == '\0' && has_musl(it->contents);
	compat_find(it, musl ? COMPAT_CANNOT_WORK : case_at_least(it->contents->glibc, needs),
		    "driver files of the host need glibc %s, that of the image is %s", needs,
		    musl ? "musl" : case_told(it->contents->glibc));
}

/* Is it the program that the image starts? */
static bool is_started(const struct image *image, const char *path)
{
	const char *program = image->entrypoint_count > 0 ? image->entrypoint[0]
			      : image->command_count > 0  ? image->command[0]
							  : "";
	path += strspn(path, "/");
	if (program[0] == '/')
		return text_equal(program + 1, path);
	return program[0] != '\0' && strchr(program, '/') == NULL &&
	       text_equal(program, path_base(path));
}

/* Neither the image gives it, nor the host, which gives its driver's user-land to the container. */
static bool is_lacking(const struct compat_case *it, const struct contents_need *need)
{
	const char *file = text_starts_with(need->name, "GLIBC_") ? "libc.so.6" : need->name;
	return need->missing[0] != '\0' && !text_starts_with(need->name, "x86-64-v") &&
	       (!case_is_nvidia_driver(need->name) || !case_has_gpu(it, "nvidia")) &&
	       (it->launch == NULL || !launch_mounts(it->launch, file));
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
			compat_find(it, COMPAT_CANNOT_WORK,
				    "%s, which the image starts, needs %s: %s", need->path,
				    need->name, need->missing);
			return;
		}
		first = first == NULL ? need : first;
		others++;
	}
	if (first != NULL)
		compat_find(it, COMPAT_WORKS,
			    "%zu needs of files that the image does not start are not met, the "
			    "first: %s needs %s: %s",
			    others, first->path, first->name, first->missing);
	else if (it->contents != NULL && it->launch != NULL)
		compat_find(it, COMPAT_WORKS, "what programs of the image need is in it");
}
