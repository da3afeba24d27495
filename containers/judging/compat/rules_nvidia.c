/* SPDX-License-Identifier: MIT */
/* NVIDIA's rules: do user-land, toolkit and device match the kernel module? */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/judging/compat/case.h"
#include "containers/judging/compat/nvidia.h"

#include <string.h>

enum { DRIVER_MAJOR_MIN = 100 }; /* smaller versions are not those of a driver */

const char *case_nvidia_driver(const struct compat_case *it, const struct host_gpu *gpu,
			       char out[NVIDIA_DRIVER_SIZE])
{
	return case_on_windows(it) ? nvidia_driver_of_windows(gpu->driver_version, out)
				   : gpu->driver_version;
}

static bool is_forward(const struct contents_library *library)
{
	return strstr(library->path, "/compat/") != NULL;
}

bool case_is_nvidia_driver(const char *library)
{
	static const char *const globs[] = {"libcuda.so*",     "libnvidia-*.so*",
					    "libnvcuvid.so*",  "libnvoptix.so*",
					    "lib*_nvidia.so*", "libcudadebugger.so*"};
	for (size_t i = 0; i < ARRAY_SIZE(globs); i++) {
		if (text_glob(globs[i], path_base(library)))
			return true;
	}
	return false;
}

void rule_nvidia_lock_step(struct compat_case *it)
{
	const char *version = it->gpu->driver_version;
	size_t others = 0;
	const struct contents_library *first = NULL;
	for (size_t i = 0; it->contents != NULL && i < it->contents->library_count; i++) {
		const struct contents_library *library = &it->contents->libraries[i];
		if (version_major(library->version) < DRIVER_MAJOR_MIN || is_forward(library) ||
		    strstr(library->path, "/stubs/") != NULL ||
		    !case_is_nvidia_driver(library->path))
			continue;
		bool differs = version_compare(library->version, version) != 0;
		others += differs;
		if (first == NULL || (differs && others == 1))
			first = library;
	}
	if (first != NULL && others == 0)
		compat_find(
			it, COMPAT_WORKS,
			"the driver's libraries in the image are of the host's kernel module, %s",
			version);
	else if (first != NULL)
		compat_find(
			it, version[0] == '\0' ? COMPAT_UNKNOWN : COMPAT_CANNOT_WORK,
			"%s in the image is of driver %s, and the host's kernel module is %s (%zu "
			"such libraries): CUDA fails with 803, NVML with 18",
			first->path, first->version, case_known(version), others);
}

/* The driver library of a forward-compatibility package (cuda-compat-12-4). */
static const struct contents_library *forward_library(const struct compat_case *it)
{
	for (size_t i = 0; it->contents != NULL && i < it->contents->library_count; i++) {
		const struct contents_library *library = &it->contents->libraries[i];
		if (is_forward(library) && text_glob("libcuda.so*", path_base(library->path)) &&
		    version_major(library->version) >= DRIVER_MAJOR_MIN)
			return library;
	}
	return NULL;
}

/* A toolkit's requirements on the driver. */
struct demand {
	const char *toolkit;
	const char *driver; /* the host's */
	const char *full;   /* all of the toolkit; "": not in the table */
	const char *minor;  /* with minor-version compatibility; NULL: not offered */
	char text[NVIDIA_DRIVER_SIZE];
};

/* False: no toolkit in the image. */
static bool demand_make(const struct compat_case *it, struct demand *out)
{
	bool windows = case_on_windows(it);
	*out = (struct demand){.toolkit = case_cuda_toolkit(it), .full = ""};
	if (out->toolkit[0] == '\0')
		return false;
	const struct cuda_release *release = cuda_release_find(out->toolkit);
	if (release != NULL)
		out->full = windows ? release->windows_driver : release->linux_driver;
	out->minor = cuda_minor_compatibility(version_major(out->toolkit), windows);
	out->driver = case_nvidia_driver(it, it->gpu, out->text);
	return true;
}

static bool runs(const char *driver, const struct demand *demand)
{
	return (demand->full[0] != '\0' && version_compare(driver, demand->full) >= 0) ||
	       (demand->minor != NULL && version_compare(driver, demand->minor) >= 0);
}

static bool needs_forward(const struct compat_case *it, const struct demand *demand)
{
	const struct contents_library *library = forward_library(it);
	return library != NULL && !case_on_windows(it) && !runs(demand->driver, demand) &&
	       version_compare(library->version, demand->driver) > 0;
}

/* "550.54.15", or where minor-version compatibility helps "525 (all of it: 550.54.15)". */
static const char *demand_text(struct arena *arena, const struct demand *demand)
{
	if (demand->minor == NULL || demand->full[0] == '\0')
		return demand->minor != NULL ? demand->minor : demand->full;
	return arena_format(arena, "%s (all of it: %s)", demand->minor, demand->full);
}

void rule_cuda_driver(struct compat_case *it)
{
	struct demand demand;
	const char *runs_cuda = "";
	const char *below = NULL;
	if (!demand_make(it, &demand) || needs_forward(it, &demand))
		return;
	const char *needs = demand_text(&it->answer->arena, &demand);
	cuda_of_driver(demand.driver, case_on_windows(it), &runs_cuda, &below);
	if (needs[0] == '\0')
		compat_find(it, COMPAT_UNKNOWN, "no table names CUDA %s, which the image has",
			    demand.toolkit);
	else if (demand.full[0] != '\0' && version_compare(demand.driver, demand.full) >= 0)
		compat_find(it, COMPAT_WORKS,
			    "CUDA %s of the image needs driver %s, the host has %s", demand.toolkit,
			    demand.full, demand.driver);
	else if (runs(demand.driver, &demand)) {
		it->advice = "Programs that bring only PTX need the toolkit's own driver.";
		compat_find(it, COMPAT_WORKS,
			    "CUDA %s of the image runs on driver %s of the host by minor-version "
			    "compatibility, which needs %s",
			    demand.toolkit, demand.driver, needs);
	} else
		compat_find(it, demand.driver[0] == '\0' ? COMPAT_UNKNOWN : COMPAT_CANNOT_WORK,
			    "CUDA %s of the image needs driver %s, the host's is %s%s%s",
			    demand.toolkit, needs, case_known(demand.driver),
			    runs_cuda[0] != '\0' ? ", which runs CUDA " : "", runs_cuda);
}

void rule_cuda_forward(struct compat_case *it)
{
	static const struct {
		enum compat_verdict verdict;
		const char *text;
	} answers[] = {
		[NVIDIA_FORWARD_NO] = {COMPAT_CANNOT_WORK,
				       "which fails with 804 on what is not a data-centre GPU:"},
		[NVIDIA_FORWARD_SELECTED] =
			{COMPAT_UNKNOWN, "which helps on data-centre GPUs and selected others; it "
					 "is not known of"},
		[NVIDIA_FORWARD_YES] = {COMPAT_WORKS, "which helps on"},
	};
	struct demand demand;
	if (!demand_make(it, &demand) || demand.driver[0] == '\0' || !needs_forward(it, &demand))
		return;
	const struct nvidia_model *model = nvidia_model_find(it->gpu->name);
	enum nvidia_forward forward = model != NULL ? model->forward : NVIDIA_FORWARD_SELECTED;
	const char *version = forward_library(it)->version;
	if (runs(version, &demand))
		compat_find(it, answers[forward].verdict,
			    "CUDA %s needs more than driver %s of the host; the image has "
			    "forward-compatibility libraries of %s, %s '%s'",
			    demand.toolkit, demand.driver, version, answers[forward].text,
			    it->gpu->name);
	else
		compat_find(
			it, COMPAT_CANNOT_WORK,
			"CUDA %s needs driver %s, and the forward-compatibility libraries in the "
			"image are of %s",
			demand.toolkit, demand_text(&it->answer->arena, &demand), version);
}
