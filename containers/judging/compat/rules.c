/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/path.h"
#include "base/version.h"
#include "containers/judging/compat/case.h"
#include "containers/judging/compat/nvidia.h"

#include <stdarg.h>
#include <string.h>

enum { REPEATS_MAX = 32 }; /* the newest findings, with which a new one is compared */

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
	 "Take the image of the host's operating system.", "OCI image-spec, image-index.md",
	 .apply = rule_os, .scope = COMPAT_OF_PROGRAM},
	{"platform.architecture", "The image is for the host's architecture.",
	 "Take the image of the host's architecture; emulation has no GPU driver.",
	 "OCI image-spec, image-index.md", .apply = rule_architecture, .scope = COMPAT_OF_PROGRAM,
	 .symptoms = {"exec format error", "no match for platform"}},
	{"platform.cpu-level", "The host's processor has the x86-64 level of the image.",
	 "Take an image for a lower level (amd64 without a variant is v1), or another host.",
	 "OCI image-spec, image-index.md (variant); System V ABI x86-64, Micro-Architecture Levels",
	 .apply = rule_cpu_level},
	{"gpu.vendor", "The host has a GPU of the vendor whose user-land is in the image.",
	 "Start it on a node with a GPU of that vendor.",
	 "NVIDIA CUDA and AMD ROCm run on their own devices", .apply = rule_gpu_vendor},
	{"windows.build", "The image's build of Windows runs on the host's.",
	 "Build the image on a base of the host's long-term release (ltsc2022 of 20348, ltsc2025 "
	 "of "
	 "26100).",
	 "hcsshim osversion/platform_compat_windows.go; containerd platforms "
	 "platform_windows_compat.go; MicrosoftDocs/Virtualization-Documentation, "
	 "deploy-containers/version-compatibility.md; moby #53397",
	 rule_windows_build, .os = "windows", .scope = COMPAT_OF_PROGRAM,
	 .symptoms = {"does not match the host operating system"}},
	{"windows.isolation", "GPUs are given to containers in process isolation.",
	 "Start it with process isolation, on Windows Server 2019 or later.", MICROSOFT_GPU,
	 rule_windows_isolation, .os = "windows", .scope = COMPAT_OF_DEVICE},
	{"windows.edition", "The edition of Windows in the image has the API.",
	 "Build on mcr.microsoft.com/windows/server of the host's release.", MICROSOFT_GPU,
	 rule_windows_edition, .os = "windows", .scope = COMPAT_OF_DEVICE},
	{"windows.wddm", "The GPU's driver is of WDDM 2.5 or later.", "Update the GPU's driver.",
	 MICROSOFT_GPU, rule_windows_wddm, .os = "windows", .vendor = "",
	 .scope = COMPAT_OF_DEVICE},
	{"windows.device-type", "The runtime takes the device string in this isolation.",
	 "Give the device as vpci-location-path://PCIROOT(0)#PCI(0300) or class/GUID, in process "
	 "isolation.",
	 HCSSHIM_DEVICES, rule_windows_device, .os = "windows", .scope = COMPAT_OF_DEVICE},
	{"windows.device-schema", "The host's HCS schema has what the device string needs.",
	 "Give the whole class (class/GUID), or update the host; query-hcs-capabilities asks it.",
	 "MicrosoftDocs/Virtualization-Documentation, virtualization/api/hcs/SchemaReference.md",
	 rule_windows_schema, .os = "windows", .scope = COMPAT_OF_DEVICE},
	{"windows.known-limits", "What is known to fail although nothing refuses it.", "",
	 "the row's own", rule_windows_limits, .os = "windows"},
	{"linux.driver-glibc", "The image's glibc has what the host's driver files ask for.",
	 "Build the image on a newer distribution with glibc, or put the driver's user-mode "
	 "libraries into it.",
	 "ld.so(8): symbol versions", rule_mounted_glibc, .os = "linux", .scope = COMPAT_OF_DEVICE,
	 .symptoms = {"version `GLIBC_"}},
	{"linux.missing-libraries", "What the image's programs need is in it, or in the driver.",
	 "Put it into the image.", "ld.so(8): DT_NEEDED and symbol versions",
	 rule_missing_libraries, .os = "linux", .scope = COMPAT_OF_PROGRAM,
	 .symptoms = {"error while loading shared libraries", "' not found (required by "}},
	{"linux.driver-library", "The API's library is in the image, or is given to the container.",
	 "Put the loader into the image, or let the device plugin give the driver's libraries.",
	 "dlopen(3); base/gpu_apis.def", rule_driver_library, .os = "linux",
	 .scope = COMPAT_OF_DEVICE},
	{COMPAT_IMAGE_DRIVER, "The image has the driver where only device nodes are handed out.",
	 "Put the vendor's user-mode driver into the image, or take an image that has it.",
	 "dlopen(3); base/gpu_apis.def", rule_image_driver, .os = "linux",
	 .scope = COMPAT_OF_DEVICE},
	{"linux.device-node", "The container is given the device nodes that the driver opens.",
	 "Let the device plugin answer with the node and the permissions rw.",
	 "Linux, Documentation/admin-guide/cgroup-v1/devices.rst; NVIDIA open-gpu-kernel-modules "
	 "(nvidiactl); amdkfd (/dev/kfd)",
	 rule_device_node, .os = "linux", .scope = COMPAT_OF_DEVICE, .symptoms = {"EPERM"}},
	{"nvidia.lock-step", "Driver libraries in the image are of the host's kernel module.",
	 "Remove the driver's libraries from the image; the host's own are given to the container.",
	 "NVIDIA open-gpu-kernel-modules (API mismatch); CUDA error 803, NVML error 18",
	 rule_nvidia_lock_step, .os = "linux", .vendor = "nvidia"},
	{"cuda.minimum-driver", "The host's driver runs the image's CUDA toolkit.",
	 "Update the driver, or take an image with an older CUDA, or on a data-centre GPU install "
	 "the "
	 "forward-compatibility package cuda-compat in the image.",
	 CUDA_RELEASES_SOURCE "; NVIDIA, CUDA Compatibility, minor-version compatibility",
	 rule_cuda_driver, .vendor = "nvidia"},
	{"cuda.forward-compatibility", "The forward-compatibility package fits driver and GPU.",
	 "Update the driver, or install the package of the toolkit's release.",
	 "NVIDIA, CUDA Compatibility, forward compatibility; CUDA error 804", rule_cuda_forward,
	 .os = "linux", .vendor = "nvidia"},
	{"cuda.compute-capability", "The image's CUDA knows the GPU's compute capability.",
	 "Take an image whose CUDA is made for the GPU.",
	 NVIDIA_MODELS_SOURCE "; CUDA Toolkit Release Notes, deprecated architectures; CUDA C++ "
			      "Programming Guide, binary and PTX compatibility",
	 rule_cuda_capability, .vendor = "nvidia"},
	{"nvidia.require", "The conditions of the image's NVIDIA_REQUIRE_* variables hold.",
	 "Update the driver, take an earlier image, or start it with NVIDIA_DISABLE_REQUIRE=true.",
	 "nvidia-container-toolkit internal/requirements", rule_nvidia_require, .os = "linux",
	 .vendor = "nvidia"},
	{"nvidia.variables", "The image's variables let NVIDIA's toolkit give it the driver.",
	 "Correct NVIDIA_DRIVER_CAPABILITIES.",
	 "nvidia-container-toolkit, NVIDIA_VISIBLE_DEVICES and NVIDIA_DRIVER_CAPABILITIES",
	 rule_nvidia_variables, .os = "linux", .vendor = "nvidia"},
	{"rocm.release", "The image's ROCm is at most two releases from the kernel driver's.",
	 "Take an image of a ROCm release near the driver's, or install AMD's kernel driver "
	 "(amdgpu-dkms) of such a release.",
	 "AMD, ROCm on Linux, User and kernel-space support matrix, as of 2025-06 and 2026-11",
	 rule_rocm_release, .os = "linux", .vendor = "amd"},
	{"amd.architecture", "The image is built for the GPU's architecture.",
	 "Take an image that is built for the GPU.",
	 "AMD, ROCm: code objects are for one gfx architecture each", rule_amd_architecture,
	 .vendor = "amd"},
	{"intel.platform", "compute-runtime in the image has the GPU's generation.",
	 "Add the legacy package (libze-intel-gpu-legacy1, intel-opencl-icd-legacy) to the image.",
	 "intel/compute-runtime LEGACY_PLATFORMS.md, as of 2026-11", rule_intel_platform,
	 .os = "linux", .vendor = "intel"},
};

const struct compat_rule *compat_rules(size_t *count)
{
	*count = ARRAY_SIZE(rules);
	return rules;
}

void compat_apply(struct compat_case *it, const struct compat_rule *rule)
{
	const char *image_os = it->image->platform.os;
	it->rule = rule;
	if (rule->os != NULL && (!text_equal(rule->os, it->host->os) ||
				 (image_os[0] != '\0' && !text_equal(rule->os, image_os))))
		return;
	if (rule->vendor == NULL) {
		rule->apply(it);
		return;
	}

	const size_t first = it->answer->count;
	size_t next = 0;
	bool fits = false;
	while ((it->gpu = case_gpu(it, rule->vendor, &next)) != NULL) {
		it->worst = -1;
		rule->apply(it);
		fits = fits || (it->worst >= COMPAT_WORKS && it->worst < COMPAT_CANNOT_WORK);
	}

	/* When one of the GPUs fits, the others do not decide yet. */
	for (size_t i = first; fits && i < it->answer->count; i++) {
		struct compat_finding *one = &it->answer->findings[i];
		if (one->verdict != COMPAT_CANNOT_WORK)
			continue;
		one->verdict = COMPAT_UNKNOWN;
		one->advice =
			"See to it that the container is given the GPU of this host that fits.";
	}
}

void compat_find(struct compat_case *it, enum compat_verdict verdict, const char *format, ...)
{
	struct compat_answer *answer = it->answer;
	const struct compat_rule *rule = it->rule;
	va_list args;
	va_start(args, format);
	const char *reason = arena_vformat(&answer->arena, format, args);
	va_end(args);
	const char *advice = verdict == COMPAT_WORKS ? "" : rule->advice;
	if (it->advice != NULL)
		advice = it->advice;
	const char *source = it->source != NULL ? it->source : rule->source;
	it->source = NULL;
	it->advice = NULL;
	it->worst = (int)verdict > it->worst ? (int)verdict : it->worst;

	/* Several GPUs of a kind need only one finding. */
	for (size_t i = 0; i < answer->count && i < REPEATS_MAX; i++) {
		const struct compat_finding *one = &answer->findings[answer->count - 1 - i];
		if (one->rule == rule->id && text_equal(one->reason, reason))
			return;
	}
	answer->findings = arena_grow(&answer->arena, answer->findings, answer->count,
				      sizeof(*answer->findings));
	answer->findings[answer->count++] = (struct compat_finding){.verdict = verdict,
								    .rule = rule->id,
								    .reason = reason,
								    .advice = advice,
								    .source = source};
}

enum compat_verdict case_verdict(bool known, bool fits)
{
	if (!known)
		return COMPAT_UNKNOWN;
	return fits ? COMPAT_WORKS : COMPAT_CANNOT_WORK;
}

enum compat_verdict case_at_least(const char *has, const char *needs)
{
	return case_verdict(has[0] != '\0', version_compare(has, needs) >= 0);
}

bool case_list_has(const char *list, bool (*fits)(const char *element, size_t size, const char *of),
		   const char *of)
{
	static const char separators[] = " ;,";
	for (const char *at = list + strspn(list, separators); *at != '\0';) {
		size_t size = strcspn(at, separators);
		if (fits(at, size, of))
			return true;
		at += size;
		at += strspn(at, separators);
	}
	return false;
}

const char *case_known(const char *fact)
{
	return fact[0] != '\0' ? fact : "not known";
}

void compat_check(const struct image *image, const struct image_contents *contents,
		  const struct host_facts *host, const struct compat_options *options,
		  struct compat_answer *answer)
{
	struct compat_case it = {.image = image,
				 .contents = contents,
				 .host = host,
				 .options = options,
				 .answer = answer};
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		compat_apply(&it, &rules[i]);
}

const char *case_variable(const struct compat_case *it, const char *name)
{
	return image_pair_value(it->image->environment, it->image->environment_count, name);
}

const struct host_gpu *case_gpu(const struct compat_case *it, const char *vendor, size_t *index)
{
	static const char *const modules[][2] = {
		{"nvidia", "nvidia"}, {"amd", "amdgpu"}, {"intel", "i915"}, {"intel", "xe"}};
	const bool linux_host = text_equal(it->host->os, "linux");
	while (*index < it->host->gpu_count) {
		const struct host_gpu *gpu = &it->host->gpus[(*index)++];
		if (vendor[0] != '\0' && !text_equal(gpu->vendor, vendor))
			continue;
		/* On Linux a device may be bound to another vendor's module: nouveau, vfio-pci. */
		bool usable = gpu->driver[0] == '\0' || !linux_host;
		for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
			usable = usable || (text_equal(gpu->vendor, modules[i][0]) &&
					    text_equal(gpu->driver, modules[i][1]));
		if (usable)
			return gpu;
	}
	return NULL;
}

bool case_has_gpu(const struct compat_case *it, const char *vendor)
{
	size_t next = 0;
	return case_gpu(it, vendor, &next) != NULL;
}

bool case_on_windows(const struct compat_case *it)
{
	return text_equal(it->host->os, "windows");
}

const struct contents_library *case_library(const struct compat_case *it, const char *glob)
{
	const struct contents_library *found = NULL;
	for (size_t i = 0; it->contents != NULL && i < it->contents->library_count; i++) {
		const struct contents_library *library = &it->contents->libraries[i];
		if (text_glob(glob, path_base(library->path)) &&
		    (found == NULL || found->version[0] == '\0'))
			found = library;
	}
	return found;
}

const char *case_cuda_toolkit(const struct compat_case *it)
{
	const char *variable = case_variable(it, "CUDA_VERSION");
	const struct contents_library *library = case_library(it, "libcudart.so*");
	if (variable != NULL && version_is_valid(variable))
		return variable;
	if (library == NULL || !version_is_valid(library->version))
		return "";
	/* The number after major and minor is that of a build, not of an update. */
	return arena_format(&it->answer->arena, "%.*s", (int)version_length(library->version, 2),
			    library->version);
}
