/* SPDX-License-Identifier: MIT */
/* What an image asks of the NVIDIA device and of NVIDIA's container toolkit, in its variables. */
#include "base/cleanup.h"
#include "base/version.h"
#include "containers/compat/case.h"
#include "containers/compat/nvidia.h"
#include "containers/compat/requirement.h"

#include <string.h>

static const char *capability_of(const struct host_gpu *gpu)
{
	const struct nvidia_model *model = nvidia_model_find(gpu->name);
	if (gpu->compute_capability[0] != '\0' || model == NULL)
		return gpu->compute_capability;
	return model->compute_capability;
}

static void judge_capability(struct compat_case *it, const struct host_gpu *gpu,
			     const char *toolkit)
{
	const char *oldest = "";
	const char *newest = "";
	const char *capability = capability_of(gpu);
	cuda_capabilities(toolkit, &oldest, &newest);
	if (capability[0] == '\0' || oldest[0] == '\0')
		return;
	if (version_compare(capability, oldest) < 0)
		compat_find(it, COMPAT_CANNOT_WORK,
			    "Take an image with an older CUDA, or a newer GPU.", NULL,
			    "'%s' has compute capability %s, and CUDA %s knows %s and later",
			    gpu->name, capability, toolkit, oldest);
	else if (newest[0] != '\0' && version_compare(capability, newest) > 0)
		compat_find(it, COMPAT_UNKNOWN, "Take an image with a newer CUDA.", NULL,
			    "'%s' has compute capability %s, and CUDA %s ends at %s: only programs "
			    "that bring PTX run",
			    gpu->name, capability, toolkit, newest);
	else
		compat_find(it, COMPAT_WORKS, "", NULL,
			    "'%s' has compute capability %s, which CUDA %s knows", gpu->name,
			    capability, toolkit);
}

/* "7.5 8.0;9.0+PTX": machine code runs on the same major capability from its minor one on, PTX on
 * everything newer. */
static bool list_fits(const char *list, const char *capability)
{
	static const char separators[] = " ;,";
	for (const char *at = list + strspn(list, separators); *at != '\0';) {
		size_t size = strcspn(at, separators);
		bool ptx = size > 4 && strncmp(at + size - 4, "+PTX", 4) == 0;
		bool older = version_compare(at, capability) <= 0;
		if (older && (ptx || version_major(at) == version_major(capability)))
			return true;
		at += size;
		at += strspn(at, separators);
	}
	return false;
}

void rule_cuda_capability(struct compat_case *it)
{
	const char *toolkit = case_cuda_toolkit(it);
	const char *list = case_variable(it, "TORCH_CUDA_ARCH_LIST");
	size_t next = 0;
	for (const struct host_gpu *gpu = NULL; (gpu = case_gpu(it, "nvidia", &next)) != NULL;) {
		const char *capability = capability_of(gpu);
		if (toolkit[0] != '\0')
			judge_capability(it, gpu, toolkit);
		if (list != NULL && capability[0] != '\0' && !list_fits(list, capability))
			compat_find(
				it, COMPAT_UNKNOWN,
				"Take an image whose list has the device's capability.",
				"NVIDIA, CUDA C++ Programming Guide, binary and PTX compatibility",
				"'%s' has compute capability %s, and the image's "
				"TORCH_CUDA_ARCH_LIST is '%.200s'",
				gpu->name, capability, list);
	}
}

/* Of a GPU, as far as the host tells. */
static struct requirement_facts facts_of(const struct host_gpu *gpu)
{
	const struct nvidia_model *model = nvidia_model_find(gpu->name);
	struct requirement_facts facts = {
		.cuda = gpu->cuda_version,
		.driver = gpu->driver_version,
		.arch = capability_of(gpu),
		.brand = gpu->brand[0] == '\0' && model != NULL ? model->brand : gpu->brand,
	};
	if (facts.cuda[0] == '\0' && facts.driver[0] != '\0')
		cuda_of_driver(facts.driver, false, &facts.cuda, &facts.cuda_below);
	return facts;
}

static const char *or_unknown(const char *value)
{
	return value[0] != '\0' ? value : "not known";
}

/* On every GPU; where they differ, it depends on which one the container is given. */
static void judge_requirement(struct compat_case *it, const char *name, const char *requirement)
{
	static const char *const words[] = {"holds", "cannot be told", "does not hold"};
	size_t next = 0;
	size_t seen[3] = {0};
	const struct host_gpu *last = NULL; /* the one that fails, if any */
	enum requirement_answer worst = REQUIREMENT_MET;
	for (const struct host_gpu *gpu = NULL; (gpu = case_gpu(it, "nvidia", &next)) != NULL;) {
		enum requirement_answer answer = REQUIREMENT_UNKNOWN;
		struct requirement_facts facts = facts_of(gpu);
		struct error err = {0};
		if (requirement_evaluate(requirement, &facts, &answer, &err) < 0) {
			compat_find(it, COMPAT_CANNOT_WORK,
				    "Correct the variable, or set NVIDIA_DISABLE_REQUIRE=true.",
				    NULL, "%s: %s: NVIDIA's container toolkit refuses to start it",
				    name, err.text);
			return;
		}
		seen[answer]++;
		last = last == NULL || answer > worst ? gpu : last;
		worst = answer > worst ? answer : worst;
	}
	if (last == NULL)
		return;
	struct requirement_facts facts = facts_of(last);
	enum requirement_answer answer =
		seen[REQUIREMENT_MET] + seen[REQUIREMENT_UNKNOWN] == 0	     ? REQUIREMENT_NOT_MET
		: seen[REQUIREMENT_UNKNOWN] + seen[REQUIREMENT_NOT_MET] == 0 ? REQUIREMENT_MET
									     : REQUIREMENT_UNKNOWN;
	compat_find(it,
		    answer == REQUIREMENT_MET	    ? COMPAT_WORKS
		    : answer == REQUIREMENT_NOT_MET ? COMPAT_CANNOT_WORK
						    : COMPAT_UNKNOWN,
		    answer == REQUIREMENT_MET
			    ? ""
			    : "Update the driver, take an earlier image, or start "
			      "it with NVIDIA_DISABLE_REQUIRE=true.",
		    NULL,
		    "%s='%.300s' %s: '%s' has driver %s, CUDA %s, compute capability %s, brand %s",
		    name, requirement, words[answer], last->name, or_unknown(facts.driver),
		    or_unknown(facts.cuda), or_unknown(facts.arch), or_unknown(facts.brand));
}

static bool is_true(const char *value)
{
	static const char *const words[] = {"1", "t", "T", "true", "TRUE", "True", NULL};
	return value != NULL && words[text_position(words, value)] != NULL;
}

void rule_nvidia_require(struct compat_case *it)
{
	static const char prefix[] = "NVIDIA_REQUIRE_";
	const char *cuda = case_variable(it, "NVIDIA_REQUIRE_CUDA");
	const char *version = case_variable(it, "CUDA_VERSION");
	bool given = cuda != NULL || version != NULL;
	if (!case_on_linux(it) || !case_has_gpu(it, "nvidia"))
		return;
	if (given && is_true(case_variable(it, "NVIDIA_DISABLE_REQUIRE"))) {
		compat_find(it, COMPAT_WORKS, "", NULL,
			    "the image's conditions are switched off by NVIDIA_DISABLE_REQUIRE");
		return;
	}
	for (size_t i = 0; i < it->image->environment_count; i++) {
		const struct image_pair *variable = &it->image->environment[i];
		if (text_starts_with(variable->name, prefix) && variable->value[0] != '\0' &&
		    !text_starts_with(variable->name, "NVIDIA_REQUIRE_JETPACK"))
			judge_requirement(it, variable->name, variable->value);
	}
	if (version != NULL && version_is_valid(version) && (cuda == NULL || cuda[0] == '\0')) {
		char implied[64] = "";
		(void)snprintf(implied, sizeof(implied), "cuda>=%.*s",
			       (int)version_length(version, 2), version);
		judge_requirement(it, "CUDA_VERSION of an image without NVIDIA_REQUIRE_CUDA",
				  implied);
	}
}

static void judge_capabilities(struct compat_case *it, const struct text_list *given)
{
	static const char *const known[] = {"all",   "compute", "compat32", "graphics", "utility",
					    "video", "display", "ngx",	    NULL};
	for (size_t i = 0; i < given->count; i++) {
		if (known[text_position(known, given->items[i])] == NULL) {
			compat_find(
				it, COMPAT_CANNOT_WORK, "Correct NVIDIA_DRIVER_CAPABILITIES.", NULL,
				"NVIDIA_DRIVER_CAPABILITIES names '%.80s', which is not one of all, "
				"compute, compat32, graphics, utility, video, display, ngx",
				given->items[i]);
			return;
		}
	}
	if (given->count > 0 && case_cuda_toolkit(it)[0] != '\0' && !text_list_has(given, "all") &&
	    !text_list_has(given, "compute"))
		compat_find(it, COMPAT_CANNOT_WORK, "Add compute to NVIDIA_DRIVER_CAPABILITIES.",
			    NULL,
			    "the image has CUDA %s, and NVIDIA_DRIVER_CAPABILITIES lacks compute, "
			    "without which the container gets no libcuda.so.1",
			    case_cuda_toolkit(it));
}

void rule_nvidia_variables(struct compat_case *it)
{
	const char *devices = case_variable(it, "NVIDIA_VISIBLE_DEVICES");
	const char *capabilities = case_variable(it, "NVIDIA_DRIVER_CAPABILITIES");
	struct text_list given CLEANUP_TEXT_LIST = {0};
	if (!case_on_linux(it) || !case_has_gpu(it, "nvidia"))
		return;
	if (devices != NULL && (text_equal(devices, "void") || text_equal(devices, "none")))
		compat_find(
			it, COMPAT_WORKS,
			"A device plugin sets it anew; whoever starts the image by hand must.",
			NULL,
			"the image sets NVIDIA_VISIBLE_DEVICES=%s: by itself it is given no GPU",
			devices);
	if (capabilities == NULL)
		return;
	if (text_list_split(&given, capabilities, ',', NULL) < 0)
		it->answer->arena.failed = true;
	else
		judge_capabilities(it, &given);
}
