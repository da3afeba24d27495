/* SPDX-License-Identifier: MIT */
/* The rules about a catalogue's requirements on the host's GPUs. */
#include "base/cleanup.h"
#include "containers/judging/selection/compatibility.h"
#include "containers/judging/selection/internal.h"

#include <string.h>

const char *const catalogue_vendors[] = {"nvidia", "amd", "intel", NULL};

bool wants_vendor(const struct catalogue_requirements *wants, const char *vendor)
{
	bool nvidia = wants->cuda[0] != '\0' || wants->compute_capabilities[0] != NULL;
	bool amd = wants->architectures[0] != NULL;
	return image_pair_value(wants->drivers, wants->driver_count, vendor) != NULL ||
	       (nvidia && text_equal(vendor, "nvidia")) || (amd && text_equal(vendor, "amd"));
}

static void judge_vendor(struct compat_case *it)
{
	struct text wanted CLEANUP_TEXT = {0};
	const char *has = NULL;
	for (const char *const *vendor = catalogue_vendors; *vendor != NULL; vendor++) {
		if (!wants_vendor(it->wants, *vendor))
			continue;
		text_add_item(&wanted, " or ", *vendor);
		if (has == NULL && case_has_gpu(it, *vendor))
			has = *vendor;
	}
	if (has != NULL)
		compat_find(it, COMPAT_WORKS, "the image is for GPUs of %s, the host has one of %s",
			    text_string(&wanted), has);
	else if (wanted.size > 0)
		compat_find(
			it, COMPAT_CANNOT_WORK,
			"the image is for GPUs of %s, and of the host's %zu GPUs none is such a one "
			"with its vendor's driver",
			text_string(&wanted), it->host->gpu_count);
}

static void judge_driver(struct compat_case *it)
{
	const struct host_gpu *gpu = it->gpu;
	const char *least =
		image_pair_value(it->wants->drivers, it->wants->driver_count, gpu->vendor);
	bool nvidia = text_equal(gpu->vendor, "nvidia");
	char buffer[NVIDIA_DRIVER_SIZE];
	const char *has = nvidia ? case_nvidia_driver(it, gpu, buffer) : gpu->driver_version;
	/* AMD numbers the driver that it ships; the kernel's own has the kernel's release. */
	bool of_kernel = text_equal(gpu->vendor, "amd") && text_equal(has, it->host->kernel);
	if (least != NULL)
		compat_find(it, of_kernel ? COMPAT_UNKNOWN : case_at_least(has, least),
			    "the image wants driver %s of %s, the host's is %s", least, gpu->vendor,
			    case_known(has));
}

/* Does the image have code, for one of the targets in `list`, that the GPU runs? */
static void judge_code(struct compat_case *it, const char *what, const char *const *list,
		       bool (*fits)(const char *element, size_t size, const char *of),
		       const char *has)
{
	struct text wanted CLEANUP_TEXT = {0};
	bool runs = false;
	for (const char *const *one = list; *one != NULL; one++) {
		text_add_item(&wanted, ", ", *one);
		runs = runs || fits(*one, strlen(*one), has);
	}
	if (wanted.size > 0)
		compat_find(it, case_verdict(has[0] != '\0', runs),
			    "the image is built for %s %s, that of '%s' is %s", what,
			    text_string(&wanted), it->gpu->name, case_known(has));
}

static void judge_capability(struct compat_case *it)
{
	judge_code(it, "compute capability", it->wants->compute_capabilities, case_code_runs,
		   case_capability(it->gpu));
}

static void judge_architecture(struct compat_case *it)
{
	judge_code(it, "architecture", it->wants->architectures, case_code_is_of,
		   it->gpu->architecture);
}

#define SOURCE "the catalogue"

static const struct {
	struct compat_rule rule;
	const char *replaces; /* a rule of compat/ that an entry's requirements replace */
} rules[] = {
	{{"catalogue.vendor", "The host has a GPU of a vendor that the image is for.",
	  "Start it on a node with such a GPU.", SOURCE, .apply = judge_vendor},
	 "gpu.vendor"},
	{{"catalogue.driver", "The host's driver is as new as the catalogue says.",
	  "Update the GPU's driver, or take an earlier image.", SOURCE, judge_driver, .vendor = ""},
	 "nvidia.require"},
	{{"catalogue.compute-capability", "The image has code for the GPU's compute capability.",
	  "Take an image that is built for the GPU.",
	  SOURCE "; CUDA C++ Programming Guide, binary and PTX compatibility", judge_capability,
	  .vendor = "nvidia"},
	 "cuda.compute-capability"},
	{{"catalogue.architecture", "The image has code for the GPU's architecture.",
	  "Take an image that is built for the GPU.",
	  SOURCE "; AMD, ROCm: code objects are for one gfx architecture each", judge_architecture,
	  .vendor = "amd"},
	 "amd.architecture"},
};

static const struct compat_rule compatibility_rule = {
	"nfd.compatibility",
	"The host has the features that the image's compatibility artifact asks for.",
	"Start it on a node that has them, or take another image.",
	"Node Feature Discovery, docs/usage/image-compatibility.md; the artifact in the registry",
	.apply = NULL,
};

static void judge_compatibility(struct compat_case *it, const struct catalogue_entry *entry)
{
	struct features features CLEANUP_FEATURES = {0};
	struct compatibility_answer answer = {COMPAT_UNKNOWN, ""};
	struct error err = {0};
	it->rule = &compatibility_rule;
	if (entry->not_read[0] != '\0')
		compat_find(it, COMPAT_UNKNOWN, "its compatibility artifact cannot be read: %s",
			    entry->not_read);
	if (entry->compatibility == NULL)
		return;
	features_of_host(it->host, &features);
	int rc = compatibility_judge(entry->compatibility, &features, &it->answer->arena, &answer,
				     &err);
	compat_find(it, answer.verdict, "%s%s; artifact %s",
		    rc < 0 ? "not a compatibility artifact: " : "",
		    rc < 0 ? err.text : answer.reason, entry->artifact);
}

void wants_check(const struct catalogue_entry *entry, const struct host_facts *host,
		 const struct compat_options *options, struct compat_answer *answer)
{
	struct compat_case it = {.image = &entry->image,
				 .host = host,
				 .options = options,
				 .answer = answer,
				 .wants = &entry->wants};
	size_t count = 0;
	const struct compat_rule *all = compat_rules(&count);
	for (size_t i = 0; i < count; i++) {
		/* A catalogue states no NVIDIA_REQUIRE_* and no libraries, so rules about missing ones would
		 * judge facts that nobody stated. */
		bool replaced = false;
		for (size_t k = 0; !entry->loaded && k < ARRAY_SIZE(rules); k++)
			replaced = replaced || (text_equal(rules[k].replaces, all[i].id) &&
						(rules[k].rule.apply != judge_capability ||
						 entry->wants.compute_capabilities[0] != NULL));
		if (!replaced)
			compat_apply(&it, &all[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		compat_apply(&it, &rules[i].rule);
	judge_compatibility(&it, entry);
}
