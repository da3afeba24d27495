/* SPDX-License-Identifier: MIT */
/* Which Windows images run on which Windows hosts, and with which GPU support. */
#include "base/cleanup.h"
#include "containers/judging/compat/case.h"

#include <string.h>

enum { BUILD_2019 = 17763, BUILD_2025 = 26100 };

#define TABLE_SOURCE                                                                               \
	"MicrosoftDocs/Virtualization-Documentation, deploy-containers/version-compatibility.md"
#define GPU_SOURCE                                                                                 \
	"MicrosoftDocs/Virtualization-Documentation, deploy-containers/gpu-acceleration.md"

/* Where a runtime decides differently from windows_image_judge(). */
struct windows_image_judgement windows_judge(struct windows_version host,
					     struct windows_version image,
					     enum compat_runtime runtime)
{
	struct windows_image_judgement out = windows_image_judge(host, image);
	const struct windows_image_judgement usual = out;
	const bool is_20 = runtime == COMPAT_CONTAINERD_20;
	const bool newer = image.build > host.build;
	const bool outside = !windows_image_rule(host, image);
	if (runtime == COMPAT_CONTAINERD_17 && host.build != image.build) {
		out.answer = WINDOWS_IMAGE_REFUSED;
		out.reason = "containerd 1.6 and 1.7 accept only images of the host's own build";
	} else if (is_20 && host.build >= BUILD_2025 && image.build >= WINDOWS_BUILD_2022 &&
		   image.build < BUILD_2025) {
		out.answer = WINDOWS_IMAGE_RUNTIME_DEPENDENT;
		out.reason =
			"releases of containerd 2.0 and 2.1 differ in whether a host of Windows "
			"Server 2025 or later accepts images of Windows Server 2022";
	} else if ((is_20 || runtime == COMPAT_CONTAINERD_2X) && (newer || outside)) {
		out.answer = WINDOWS_IMAGE_REFUSED;
		out.reason =
			newer ? "the image is newer than the host"
			      : "hosts below build 20348 accept only their own build, later ones "
				"images from the last long-term release before them on";
	} else if (runtime == COMPAT_DOCKER && newer) {
		out.answer = WINDOWS_IMAGE_REFUSED;
		out.reason =
			"Docker says that the image is incompatible with the host: it is newer";
	} else if (runtime == COMPAT_DOCKER && outside &&
		   usual.answer == WINDOWS_IMAGE_RUNTIME_DEPENDENT) {
		out.reason = "Docker's containerd image store refuses it (moby #53397), its older "
			     "stores pull it";
	}
	return out;
}

/* Hyper-V isolation also runs older images. */
static void judge_hyperv(struct compat_case *it, struct windows_version image, const char *why)
{
	static const char *const sentences[] = {
		[WINDOWS_IMAGE_RUNS] = "Hyper-V isolation runs it",
		[WINDOWS_IMAGE_REFUSED] = "Hyper-V isolation does not run it either",
		[WINDOWS_IMAGE_RUNTIME_DEPENDENT] = "",
		[WINDOWS_IMAGE_UNKNOWN] = "whether Hyper-V isolation runs it is not published",
	};
	enum windows_image_answer answer = windows_image_hyperv(it->host->windows, image);
	bool process = it->options->isolation == COMPAT_PROCESS_ISOLATION;
	enum compat_verdict verdict = process ? COMPAT_HYPERV : COMPAT_WORKS;
	if (answer != WINDOWS_IMAGE_RUNS)
		verdict = answer == WINDOWS_IMAGE_REFUSED || process ? COMPAT_CANNOT_WORK
								     : COMPAT_UNKNOWN;
	it->source = process ? NULL : TABLE_SOURCE;
	compat_find(it, verdict, "image %s on host %s: %s%s%s", it->image->platform.os_version,
		    it->host->os_version, why, why[0] != '\0' ? "; " : "", sentences[answer]);
}

void rule_windows_build(struct compat_case *it)
{
	const char *version = it->image->platform.os_version;
	struct windows_version image = {0};
	struct error err = {0};
	if (!text_equal(it->image->platform.os, "windows"))
		return;
	if (version[0] == '\0' || it->host->windows.build == 0) {
		compat_find(it, COMPAT_UNKNOWN,
			    "os.version of the image is %s, the host's build is %s",
			    case_known(version), case_known(it->host->os_version));
		return;
	}
	if (windows_version_parse(version, "os.version", &image, &err) < 0) {
		compat_find(it, COMPAT_CANNOT_WORK, "%s", err.text);
		return;
	}
	if (it->options->isolation == COMPAT_HYPERV_ISOLATION) {
		judge_hyperv(it, image, "");
		return;
	}

	struct windows_image_judgement judgement =
		windows_judge(it->host->windows, image, it->options->runtime);
	if (judgement.answer == WINDOWS_IMAGE_REFUSED) {
		judge_hyperv(it, image, judgement.reason);
		return;
	}
	if (judgement.answer != WINDOWS_IMAGE_RUNS && it->options->runtime == COMPAT_RUNTIME_ANY)
		it->advice = "Take an image of the host's own long-term release, or name the "
			     "runtime with --runtime.";
	compat_find(it, judgement.answer == WINDOWS_IMAGE_RUNS ? COMPAT_WORKS : COMPAT_UNKNOWN,
		    "image %s on host %s: %s", version, it->host->os_version, judgement.reason);
}

void rule_windows_isolation(struct compat_case *it)
{
	if (!text_equal(it->image->platform.os, "windows"))
		return;
	if (it->options->isolation == COMPAT_HYPERV_ISOLATION)
		compat_find(it, COMPAT_HYPERV,
			    "GPUs are given only to containers in process isolation");
	else if (it->host->windows.build != 0 && it->host->windows.build < BUILD_2019)
		compat_find(it, COMPAT_CANNOT_WORK,
			    "hosts give GPUs to containers from build %d on, this one is %s",
			    (int)BUILD_2019, it->host->os_version);
}

/* Editions are repositories of mcr.microsoft.com. */
enum { FULL = 1, SERVER = 2, CORE = 4, NANO = 8 };

static const char *const editions[] = {"windows", "windows/server", "windows/servercore",
				       "windows/nanoserver", NULL};

/* The edition of the image's base, which its own name shows, or the annotation or label of image-spec
 * annotations.md. */
static size_t edition_of(const struct image *image)
{
	static const char registry[] = "mcr.microsoft.com/";
	static const char key[] = "org.opencontainers.image.base.name";
	const char *note = image_pair_value(image->annotations, image->annotation_count, key);
	const char *label = image_pair_value(image->labels, image->label_count, key);
	const char *const names[] = {image->reference, note != NULL ? note : label};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *name = names[i] != NULL ? strstr(names[i], registry) : NULL;
		for (size_t e = 0; name != NULL && editions[e] != NULL; e++) {
			const char *own = name + strlen(registry);
			size_t size = strlen(editions[e]);
			if (strncmp(own, editions[e], size) == 0 && strchr(":@", own[size]) != NULL)
				return e;
		}
	}
	return ARRAY_SIZE(editions) - 1;
}

/* The support of editions for an API; the first matching row wins. */
static const struct edition_row {
	unsigned editions;   /* bits */
	enum compat_api api; /* ANY: every one */
	unsigned since;	     /* host build */
	enum compat_verdict verdict;
	const char *reason, *source;
} edition_rows[] = {
	{NANO, COMPAT_API_ANY, 0, COMPAT_CANNOT_WORK, "it has neither DirectX nor all of gdi32",
	 GPU_SOURCE},
	{FULL | SERVER, COMPAT_API_DIRECTX, 0, COMPAT_WORKS, "it has DirectX",
	 GPU_SOURCE ", manage-containers/container-base-images.md"},
	{SERVER | CORE, COMPAT_API_CUDA, BUILD_2025, COMPAT_WORKS,
	 "Microsoft supports CUDA in servercore on hosts from 26100 on",
	 "microsoft/Windows-Containers #594, comment of 2026-06-02"},
	{CORE, COMPAT_API_DIRECTX, 0, COMPAT_UNKNOWN,
	 "Microsoft does not support DirectX in it; it works once d3d, mf, dxva2, opengl32 and "
	 "other libraries are copied from the full image",
	 "unrealcontainers.github.io; " GPU_SOURCE},
	{FULL | SERVER | CORE, COMPAT_API_ANY, 0, COMPAT_UNKNOWN,
	 "Microsoft's document supports DirectX only in the full images; others work with the "
	 "driver's files mounted",
	 GPU_SOURCE},
};

void rule_windows_edition(struct compat_case *it)
{
	/* An image without a reference is only a platform. */
	if (!text_equal(it->image->platform.os, "windows") || it->image->reference[0] == '\0')
		return;
	size_t edition = edition_of(it->image);
	enum compat_api api = it->options->api;
	if (api == COMPAT_API_ANY)
		api = case_cuda_toolkit(it)[0] != '\0' ? COMPAT_API_CUDA : COMPAT_API_DIRECTX;
	for (size_t i = 0; i < ARRAY_SIZE(edition_rows); i++) {
		const struct edition_row *row = &edition_rows[i];
		if ((row->editions & 1U << edition) == 0 ||
		    (row->api != COMPAT_API_ANY && row->api != api) ||
		    it->host->windows.build < row->since)
			continue;
		it->source = row->source;
		compat_find(it, row->verdict, "base image %s, for %s: %s", editions[edition],
			    compat_api_names[api], row->reason);
		return;
	}
	it->advice = "Annotate the image with org.opencontainers.image.base.name, for example "
		     "mcr.microsoft.com/windows/server:ltsc2022.";
	compat_find(it, COMPAT_UNKNOWN,
		    "the image does not name its base, and editions of Windows differ in what they "
		    "have of %s",
		    compat_api_names[api]);
}

void rule_windows_wddm(struct compat_case *it)
{
	static const char least[] = "2.5";
	const struct host_gpu *gpu = it->gpu;
	if (gpu->wddm[0] != '\0')
		compat_find(it, case_at_least(gpu->wddm, least),
			    "the driver of '%s' (%s) is of WDDM %s; containers need %s", gpu->name,
			    gpu->driver_version, gpu->wddm, least);
}
