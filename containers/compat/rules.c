/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/compat/case.h"
#include "containers/compat/nvidia.h"

#include <stdarg.h>
#include <string.h>

enum { REPEATS_MAX = 32 }; /* findings in front of a new one that it is compared with */

const char *const compat_runtime_names[] = {
	"any", "containerd-1.7", "containerd-2.0", "containerd-2.x", "docker", NULL};
const char *const compat_isolation_names[] = {"process", "hyperv", NULL};
const char *const compat_api_names[] = {"any", "directx", "cuda", "other", NULL};

#define HCSSHIM_DEVICES                                                                            \
	"hcsshim internal/hcsoci/hcsdoc_wcow.go; containerd internal/cri/opts/"                    \
	"spec_windows_opts.go; moby"
#define MICROSOFT_GPU                                                                              \
	"MicrosoftDocs/Virtualization-Documentation, deploy-containers/gpu-acceleration.md"

static const struct compat_rule rules[] = {
	{"platform.os", "The image is for the host's operating system.",
	 "OCI image-spec, image-index.md", rule_os},
	{"platform.architecture", "The image is for the host's architecture.",
	 "OCI image-spec, image-index.md", rule_architecture},
	{"platform.cpu-level", "The host's processor has the x86-64 level of the image.",
	 "OCI image-spec, image-index.md (variant); System V ABI x86-64, Micro-Architecture Levels",
	 rule_cpu_level},
	{"gpu.vendor", "The host has a GPU of the vendor whose user-land is in the image.",
	 "NVIDIA CUDA and AMD ROCm run on their own devices", rule_gpu_vendor},
	{"windows.build", "The image's build of Windows runs on the host's.",
	 "hcsshim osversion/platform_compat_windows.go; containerd platforms "
	 "platform_windows_compat.go; MicrosoftDocs/Virtualization-Documentation, "
	 "deploy-containers/version-compatibility.md; moby #53397",
	 rule_windows_build},
	{"windows.isolation", "GPUs are given to containers in process isolation.", MICROSOFT_GPU,
	 rule_windows_isolation},
	{"windows.edition", "The edition of Windows in the image has the API.", MICROSOFT_GPU,
	 rule_windows_edition},
	{"windows.wddm", "The GPU's driver is of WDDM 2.5 or later.", MICROSOFT_GPU,
	 rule_windows_wddm},
	{"windows.device-type", "The runtime takes the device string in this isolation.",
	 HCSSHIM_DEVICES, rule_windows_device},
	{"windows.device-schema", "The host's HCS schema has what the device string needs.",
	 "MicrosoftDocs/Virtualization-Documentation, virtualization/api/hcs/SchemaReference.md",
	 rule_windows_schema},
	{"windows.known-limits", "What is known to fail although nothing refuses it.",
	 "the row's own", rule_windows_limits},
	{"linux.driver-glibc", "The image's glibc has what the host's driver files ask for.",
	 "ld.so(8): symbol versions", rule_mounted_glibc},
	{"linux.missing-libraries", "What the image's programs need is in it, or in the driver.",
	 "ld.so(8): DT_NEEDED and symbol versions", rule_missing_libraries},
	{"nvidia.lock-step", "Driver libraries in the image are of the host's kernel module.",
	 "NVIDIA open-gpu-kernel-modules (API mismatch); CUDA error 803, NVML error 18",
	 rule_nvidia_lock_step},
	{"cuda.minimum-driver", "The host's driver runs the image's CUDA toolkit.",
	 CUDA_RELEASES_SOURCE "; NVIDIA, CUDA Compatibility, minor-version compatibility",
	 rule_cuda_driver},
	{"cuda.forward-compatibility", "The forward-compatibility package fits driver and GPU.",
	 "NVIDIA, CUDA Compatibility, forward compatibility; CUDA error 804", rule_cuda_forward},
	{"cuda.compute-capability", "The image's CUDA knows the GPU's compute capability.",
	 NVIDIA_MODELS_SOURCE "; CUDA Toolkit Release Notes, deprecated architectures",
	 rule_cuda_capability},
	{"nvidia.require", "The conditions of the image's NVIDIA_REQUIRE_* variables hold.",
	 "nvidia-container-toolkit internal/requirements", rule_nvidia_require},
	{"nvidia.variables", "The image's variables let NVIDIA's toolkit give it the driver.",
	 "nvidia-container-toolkit, NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES",
	 rule_nvidia_variables},
	{"rocm.release", "The image's ROCm is at most two releases from the kernel driver's.",
	 "AMD, ROCm on Linux, User and kernel-space support matrix, as of 2025-06 and 2026-11",
	 rule_rocm_release},
	{"amd.architecture", "The image is built for the GPU's architecture.",
	 "AMD, ROCm: code objects are for one gfx architecture each", rule_amd_architecture},
	{"intel.platform", "compute-runtime in the image has the GPU's generation.",
	 "intel/compute-runtime LEGACY_PLATFORMS.md, as of 2026-11", rule_intel_platform},
};

const struct compat_rule *compat_rules(size_t *count)
{
	*count = ARRAY_SIZE(rules);
	return rules;
}

void compat_find(struct compat_case *it, enum compat_verdict verdict, const char *advice,
		 const char *source, const char *format, ...)
{
	struct compat_answer *answer = it->answer;
	va_list args;
	va_start(args, format);
	const char *reason = arena_vformat(&answer->arena, format, args);
	va_end(args);
	/* GPUs of a kind need one finding. */
	size_t looked_at = answer->count < REPEATS_MAX ? answer->count : REPEATS_MAX;
	for (size_t i = answer->count - looked_at; i < answer->count; i++) {
		if (answer->findings[i].rule == it->rule->id &&
		    text_equal(answer->findings[i].reason, reason))
			return;
	}
	struct compat_finding *findings = arena_grow(&answer->arena, answer->findings,
						     answer->count, sizeof(*answer->findings));
	if (findings == NULL)
		return;
	answer->findings = findings;
	findings[answer->count++] = (struct compat_finding){
		.verdict = verdict,
		.rule = it->rule->id,
		.reason = reason,
		.advice = advice,
		.source = source != NULL ? source : it->rule->source,
	};
}

int compat_check(const struct image *image, const struct image_contents *contents,
		 const struct host_facts *host, const struct compat_options *options,
		 struct compat_answer *answer, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct compat_case it = {image, contents, host, options, answer, &rules[i]};
		rules[i].apply(&it);
	}
	return answer->arena.failed ? error_memory(err) : 0;
}

const char *case_variable(const struct compat_case *it, const char *name)
{
	return image_pair_value(it->image->environment, it->image->environment_count, name);
}

const char *case_label(const struct compat_case *it, const char *name)
{
	const char *value =
		image_pair_value(it->image->annotations, it->image->annotation_count, name);
	return value != NULL ? value
			     : image_pair_value(it->image->labels, it->image->label_count, name);
}

const struct host_gpu *case_gpu(const struct compat_case *it, const char *vendor, size_t *index)
{
	while (*index < it->host->gpu_count) {
		const struct host_gpu *gpu = &it->host->gpus[(*index)++];
		if (text_equal(gpu->vendor, vendor))
			return gpu;
	}
	return NULL;
}

bool case_has_gpu(const struct compat_case *it, const char *vendor)
{
	size_t next = 0;
	return case_gpu(it, vendor, &next) != NULL;
}

bool case_on_linux(const struct compat_case *it)
{
	return text_equal(it->host->os, "linux");
}

bool case_on_windows(const struct compat_case *it)
{
	return text_equal(it->host->os, "windows");
}

const struct contents_library *case_library(const struct compat_case *it, const char *glob)
{
	for (size_t i = 0; it->contents != NULL && i < it->contents->library_count; i++) {
		if (text_glob(glob, path_base(it->contents->libraries[i].path)))
			return &it->contents->libraries[i];
	}
	return NULL;
}

const char *case_cuda_toolkit(const struct compat_case *it)
{
	const char *variable = case_variable(it, "CUDA_VERSION");
	const struct contents_library *library = case_library(it, "libcudart.so*");
	if (variable != NULL && version_is_valid(variable))
		return variable;
	if (library == NULL || !version_is_valid(library->version))
		return "";
	/* The number behind major and minor is of a build, not of an update. */
	return arena_format(&it->answer->arena, "%.*s", (int)version_length(library->version, 2),
			    library->version);
}
