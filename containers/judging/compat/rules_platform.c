/* SPDX-License-Identifier: MIT */
/* Operating system, architecture and C library: an image's requirements on any host. */
#include "base/cleanup.h"
#include "containers/judging/compat/case.h"

static void judge_names(struct compat_case *it, const char *wanted, const char *has)
{
	bool known = wanted[0] != '\0' && has[0] != '\0';
	compat_find(it, case_verdict(known, text_equal(wanted, has)), "image: %s; host: %s",
		    case_known(wanted), case_known(has));
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

/* An image with one vendor's user-land is made for that vendor's GPUs. */
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

void rule_mounted_glibc(struct compat_case *it)
{
	const char *needs = it->host->driver_glibc;
	if (it->contents == NULL || needs[0] == '\0')
		return;
	bool musl = false;
	for (size_t i = 0; it->contents->glibc[0] == '\0' && i < it->contents->library_count; i++) {
		const struct contents_library *library = &it->contents->libraries[i];
		musl = musl || (library->kind == CONTENTS_C_LIBRARY &&
				text_equal(library->component, "musl"));
	}
	compat_find(it, musl ? COMPAT_CANNOT_WORK : case_at_least(it->contents->glibc, needs),
		    "driver files of the host need glibc %s, that of the image is %s", needs,
		    musl ? "musl" : case_known(it->contents->glibc));
}

/* Adds needs that nobody satisfies, of the program that the image starts, or of all others with their
 * paths. Returns their number. */
static size_t list_lacking(const struct compat_case *it, bool started, struct text *out)
{
	enum { SHOWN_MAX = 8 };
	size_t found = 0;
	for (size_t i = 0; i < it->contents->need_count; i++) {
		const struct contents_need *need = &it->contents->needs[i];
		if (need->missing[0] == '\0' || text_starts_with(need->name, "x86-64-v") ||
		    image_starts(it->image, need->path) != started)
			continue;

		/* The host may bring it: its driver's user-land, or a file that the grant mounts. */
		const char *file =
			text_starts_with(need->name, "GLIBC_") ? "libc.so.6" : need->name;
		if ((case_is_nvidia_driver(need->name) && case_has_gpu(it, "nvidia")) ||
		    (it->launch != NULL && launch_mounts(it->launch, file)))
			continue;
		if (found++ < SHOWN_MAX)
			text_addf(out, "%s%s%s%s: %s", found > 1 ? "; " : "",
				  started ? "" : need->path, started ? "" : " needs ", need->name,
				  need->missing);
	}
	if (found > SHOWN_MAX)
		text_addf(out, "; and %zu more", found - SHOWN_MAX);
	return found;
}

void rule_missing_libraries(struct compat_case *it)
{
	struct text list CLEANUP_TEXT = {0};
	if (it->contents == NULL)
		return;
	if (list_lacking(it, true, &list) > 0) {
		compat_find(it, COMPAT_CANNOT_WORK, "%s, which the image starts, needs %s",
			    image_program(it->image), text_string(&list));
		return;
	}
	const size_t others = list_lacking(it, false, &list);
	if (others > 0)
		compat_find(it, COMPAT_WORKS,
			    "%zu needs of files that the image does not start are not met: %s",
			    others, text_string(&list));
	else if (it->launch != NULL)
		compat_find(it, COMPAT_WORKS, "what programs of the image need is in it");
}
