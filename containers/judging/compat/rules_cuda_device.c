/* SPDX-License-Identifier: MIT */
/* The requirements of an image's variables on NVIDIA devices and NVIDIA's container toolkit. */
#include "base/cleanup.h"
#include "base/version.h"
#include "containers/judging/compat/case.h"
#include "containers/judging/compat/nvidia.h"
#include "containers/judging/compat/requirement.h"

#include <string.h>

const char *case_capability(const struct host_gpu *gpu)
{
	const struct nvidia_model *model = nvidia_model_find(gpu->name);
	if (gpu->compute_capability[0] != '\0' || model == NULL)
		return gpu->compute_capability;
	return model->compute_capability;
}

bool case_code_runs(const char *element, size_t size, const char *capability)
{
	bool ptx = size > 4 && strncmp(element + size - 4, "+PTX", 4) == 0;
	return version_compare(element, capability) <= 0 &&
	       (ptx || version_major(element) == version_major(capability));
}

void rule_cuda_capability(struct compat_case *it)
{
	const char *toolkit = case_cuda_toolkit(it);
	const char *list = case_variable(it, "TORCH_CUDA_ARCH_LIST");
	const char *capability = case_capability(it->gpu);
	const char *oldest = "";
	const char *newest = "";
	if (capability[0] == '\0')
		return;
	if (toolkit[0] != '\0')
		cuda_capabilities(toolkit, &oldest, &newest);
	if (oldest[0] != '\0') {
		bool old = version_compare(capability, oldest) < 0;
		bool young = newest[0] != '\0' && version_compare(capability, newest) > 0;
		compat_find(it, case_verdict(!young, !old),
			    "'%s' has compute capability %s, and CUDA %s knows %s to %s%s",
			    it->gpu->name, capability, toolkit, oldest,
			    newest[0] != '\0' ? newest : "newer ones",
			    young ? ": only programs that bring PTX run" : "");
	}
	if (list != NULL && !case_list_has(list, case_code_runs, capability))
		compat_find(it, COMPAT_UNKNOWN,
			    "'%s' has compute capability %s, and the image's "
			    "TORCH_CUDA_ARCH_LIST is '%.200s'",
			    it->gpu->name, capability, list);
}

static void judge_requirement(struct compat_case *it, const char *name, const char *requirement)
{
	static const struct {
		enum compat_verdict verdict;
		const char *words;
	} answers[] = {
		[REQUIREMENT_MET] = {COMPAT_WORKS, "holds"},
		[REQUIREMENT_UNKNOWN] = {COMPAT_UNKNOWN, "is unknown"},
		[REQUIREMENT_NOT_MET] = {COMPAT_CANNOT_WORK, "does not hold"},
	};
	const struct host_gpu *gpu = it->gpu;
	const struct nvidia_model *model = nvidia_model_find(gpu->name);
	struct requirement_facts facts = {
		.cuda = gpu->cuda_version,
		.driver = gpu->driver_version,
		.arch = case_capability(gpu),
		.brand = gpu->brand[0] == '\0' && model != NULL ? model->brand : gpu->brand,
	};
	if (facts.cuda[0] == '\0' && facts.driver[0] != '\0')
		cuda_of_driver(facts.driver, false, &facts.cuda, &facts.cuda_below);

	enum requirement_answer answer = REQUIREMENT_UNKNOWN;
	struct error err = {0};
	if (requirement_evaluate(requirement, &facts, &answer, &err) < 0)
		compat_find(it, COMPAT_CANNOT_WORK,
			    "%s: %s: NVIDIA's container toolkit refuses to start it", name,
			    err.text);
	else
		compat_find(it, answers[answer].verdict,
			    "%s='%.300s' %s: '%s' has driver %s, CUDA %s, compute capability %s, "
			    "brand %s",
			    name, requirement, answers[answer].words, gpu->name,
			    case_known(facts.driver), case_known(facts.cuda),
			    case_known(facts.arch), case_known(facts.brand));
}

void rule_nvidia_require(struct compat_case *it)
{
	static const char prefix[] = "NVIDIA_REQUIRE_";
	static const char *const truths[] = {"1", "t", "T", "true", "TRUE", "True", NULL};
	const char *cuda = case_variable(it, "NVIDIA_REQUIRE_CUDA");
	const char *version = case_variable(it, "CUDA_VERSION");
	const char *disable = case_variable(it, "NVIDIA_DISABLE_REQUIRE");
	bool given = cuda != NULL || version != NULL;
	if (given && disable != NULL && truths[text_position(truths, disable)] != NULL) {
		compat_find(it, COMPAT_WORKS,
			    "the image's conditions are switched off by NVIDIA_DISABLE_REQUIRE");
		return;
	}
	for (size_t i = 0; i < it->image->environment_count; i++) {
		const struct json_pair *variable = &it->image->environment[i];
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

void rule_nvidia_variables(struct compat_case *it)
{
	static const char *const known[] = {"all",   "compute", "compat32", "graphics", "utility",
					    "video", "display", "ngx",	    NULL};
	const char *devices = case_variable(it, "NVIDIA_VISIBLE_DEVICES");
	if (devices != NULL && (text_equal(devices, "void") || text_equal(devices, "none")))
		compat_find(
			it, COMPAT_WORKS,
			"the image sets NVIDIA_VISIBLE_DEVICES=%s: by itself it is given no GPU; a "
			"device plugin sets it anew",
			devices);

	const char *capabilities = case_variable(it, "NVIDIA_DRIVER_CAPABILITIES");
	struct text_list given CLEANUP_TEXT_LIST = {0};
	if (capabilities != NULL)
		text_list_split(&given, capabilities, ',');
	text_each (name, &given) {
		if (known[text_position(known, name)] != NULL)
			continue;
		compat_find(it, COMPAT_CANNOT_WORK,
			    "NVIDIA_DRIVER_CAPABILITIES names '%.80s', which is not one of all, "
			    "compute, compat32, graphics, utility, video, display, ngx",
			    name);
		return;
	}
	if (given.count > 0 && case_cuda_toolkit(it)[0] != '\0' && !text_list_has(&given, "all") &&
	    !text_list_has(&given, "compute"))
		compat_find(it, COMPAT_CANNOT_WORK,
			    "the image has CUDA %s, and NVIDIA_DRIVER_CAPABILITIES lacks compute, "
			    "without which the container gets no libcuda.so.1",
			    case_cuda_toolkit(it));
}
