/* SPDX-License-Identifier: MIT */
/* What a catalogue says that an image wants of the host's GPUs: its rules. */
#include "base/cleanup.h"
#include "base/version.h"
#include "containers/selection/compatibility.h"
#include "containers/selection/internal.h"

#include <string.h>

const char *const catalogue_vendors[] = {"nvidia", "amd", "intel", NULL};

enum { NVIDIA, AMD };

bool wants_vendor(const struct catalogue_wants *wants, const char *vendor)
{
	bool nvidia = wants->cuda[0] != '\0' || wants->compute_capabilities[0] != NULL;
	bool amd = wants->architectures[0] != NULL;
	return image_pair_value(wants->drivers, wants->driver_count, vendor) != NULL ||
	       (nvidia && text_equal(vendor, catalogue_vendors[NVIDIA])) ||
	       (amd && text_equal(vendor, catalogue_vendors[AMD]));
}

static void judge_vendor(struct compat_case *it, const struct catalogue_wants *wants)
{
	struct text wanted CLEANUP_TEXT = {0};
	const char *has = NULL;
	for (const char *const *vendor = catalogue_vendors; *vendor != NULL; vendor++) {
		if (!wants_vendor(wants, *vendor))
			continue;
		text_addf(&wanted, "%s%s", wanted.size > 0 ? " or " : "", *vendor);
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

static enum compat_verdict judge_version(const struct compat_case *it, const struct host_gpu *gpu,
					 const char *has, const char *least)
{
	/* AMD numbers the driver that it ships; the kernel's own has the kernel's release. */
	bool of_kernel = text_equal(gpu->vendor, catalogue_vendors[AMD]) &&
			 text_equal(has, it->host->kernel);
	return of_kernel ? COMPAT_UNKNOWN : case_at_least(has, least);
}

static void judge_driver(struct compat_case *it, const struct catalogue_wants *wants)
{
	for (size_t i = 0; i < wants->driver_count; i++) {
		const struct image_pair *least = &wants->drivers[i];
		bool nvidia = text_equal(least->name, catalogue_vendors[NVIDIA]);
		size_t next = 0;
		for (const struct host_gpu *gpu = NULL;
		     (gpu = case_gpu(it, least->name, &next)) != NULL;) {
			char buffer[NVIDIA_DRIVER_SIZE];
			const char *has =
				nvidia ? case_nvidia_driver(it, gpu, buffer) : gpu->driver_version;
			compat_find(it, judge_version(it, gpu, has, least->value),
				    "the image wants driver %s of %s, the host's is %s",
				    least->value, least->name, case_told(has));
		}
	}
}

/* Of GPUs of one vendor. Where some fit and others do not, it depends on which one the container is
 * given. */
struct tally {
	size_t fits, not, unknown;
	const char *first_not; /* what the first that does not fit is: "9.0" */
};

static void tally_add(struct tally *tally, const char *fact, bool fits)
{
	if (fact[0] == '\0')
		tally->unknown++;
	else if (fits)
		tally->fits++;
	else if (tally->not ++ == 0)
		tally->first_not = fact;
}

static void judge_tally(struct compat_case *it, const struct tally *tally, const char *what,
			const char *const *list)
{
	size_t all = tally->fits + tally->not +tally->unknown;
	struct text wanted CLEANUP_TEXT = {0};
	for (const char *const *item = list; *item != NULL; item++)
		text_addf(&wanted, "%s%s", item == list ? "" : ", ", *item);
	if (tally->not > 0)
		compat_find(
			it, tally->not == all ? COMPAT_CANNOT_WORK : COMPAT_UNKNOWN,
			"the image is built for %s %s; %zu of the host's %zu GPUs fit, one that "
			"does not has %s",
			what, text_string(&wanted), tally->fits, all, tally->first_not);
	else if (all > 0)
		compat_find(it, tally->unknown > 0 ? COMPAT_UNKNOWN : COMPAT_WORKS,
			    "the image is built for %s %s; %zu of the host's %zu GPUs fit%s", what,
			    text_string(&wanted), tally->fits, all,
			    tally->unknown > 0 ? ", of others it is not known" : "");
}

static void judge_capability(struct compat_case *it, const struct catalogue_wants *wants)
{
	struct tally tally = {0};
	size_t next = 0;
	for (const struct host_gpu *gpu = NULL; wants->compute_capabilities[0] != NULL &&
						(gpu = case_gpu(it, "nvidia", &next)) != NULL;) {
		const char *has = case_capability(gpu);
		bool fits = false;
		for (const char *const *one = wants->compute_capabilities; *one != NULL; one++)
			fits = fits || case_code_runs(*one, strlen(*one), has);
		tally_add(&tally, has, fits);
	}
	judge_tally(it, &tally, "compute capability", wants->compute_capabilities);
}

/* Perhaps with features behind a colon: "gfx90a:xnack-". */
static bool has_architecture(const char *const *list, const char *has)
{
	for (; *list != NULL; list++) {
		size_t size = strcspn(*list, ":");
		if (size == strlen(has) && strncmp(*list, has, size) == 0)
			return true;
	}
	return false;
}

static void judge_architecture(struct compat_case *it, const struct catalogue_wants *wants)
{
	struct tally tally = {0};
	size_t next = 0;
	for (const struct host_gpu *gpu = NULL;
	     wants->architectures[0] != NULL && (gpu = case_gpu(it, "amd", &next)) != NULL;) {
		tally_add(&tally, gpu->architecture,
			  has_architecture(wants->architectures, gpu->architecture));
	}
	judge_tally(it, &tally, "architecture", wants->architectures);
}

#define SOURCE "the catalogue"

static const struct {
	struct compat_rule rule;
	void (*judge)(struct compat_case *it, const struct catalogue_wants *wants);
	const char *replaces; /* a rule of compat/ that an entry's wants say better */
} rules[] = {
	{{"catalogue.vendor", "The host has a GPU of a vendor that the image is for.",
	  "Start it on a node with such a GPU.", SOURCE, NULL},
	 judge_vendor,
	 "gpu.vendor"},
	{{"catalogue.driver", "The host's driver is as new as the catalogue says.",
	  "Update the GPU's driver, or take an earlier image.", SOURCE, NULL},
	 judge_driver,
	 "nvidia.require"},
	{{"catalogue.compute-capability", "The image has code for the GPU's compute capability.",
	  "Take an image that is built for the GPU.",
	  SOURCE "; CUDA C++ Programming Guide, binary and PTX compatibility", NULL},
	 judge_capability,
	 "cuda.compute-capability"},
	{{"catalogue.architecture", "The image has code for the GPU's architecture.",
	  "Take an image that is built for the GPU.",
	  SOURCE "; AMD, ROCm: code objects are for one gfx architecture each", NULL},
	 judge_architecture,
	 "amd.architecture"},
};

/* A catalogue tells no NVIDIA_REQUIRE_* and no libraries, so that rules about what is missing would
 * judge what nobody said. */
static bool is_replaced(const struct catalogue_entry *entry, const char *id)
{
	for (size_t i = 0; !entry->loaded && i < ARRAY_SIZE(rules); i++) {
		if (text_equal(rules[i].replaces, id))
			return rules[i].judge != judge_capability ||
			       entry->wants.compute_capabilities[0] != NULL;
	}
	return false;
}

static const struct compat_rule compatibility_rule = {
	"nfd.compatibility",
	"The host has the features that the image's compatibility artifact asks for.",
	"Start it on a node that has them, or take another image.",
	"Node Feature Discovery, docs/usage/image-compatibility.md; the artifact in the registry",
	NULL,
};

/* False: out of memory. */
static bool judge_compatibility(struct compat_case *it, const struct catalogue_entry *entry)
{
	struct features features CLEANUP_FEATURES = {0};
	struct compatibility_answer answer = {COMPAT_UNKNOWN, ""};
	struct error err = {0};
	it->rule = &compatibility_rule;
	if (entry->not_read[0] != '\0')
		compat_find(it, COMPAT_UNKNOWN, "its compatibility artifact cannot be read: %s",
			    entry->not_read);
	if (entry->compatibility == NULL)
		return true;
	int rc = features_of_host(it->host, &features, &err);
	if (rc == 0)
		rc = compatibility_judge(entry->compatibility, &features, &it->answer->arena,
					 &answer, &err);
	compat_find(it, answer.verdict, "%s%s; artifact %s",
		    rc < 0 ? "not a compatibility artifact: " : "",
		    rc < 0 ? err.text : answer.reason, entry->artifact);
	return rc != ERROR_MEMORY;
}

bool wants_check(const struct catalogue_entry *entry, const struct host_facts *host,
		 const struct compat_options *options, struct compat_answer *answer)
{
	struct compat_case it = {
		.image = &entry->image, .host = host, .options = options, .answer = answer};
	size_t count = 0;
	const struct compat_rule *all = compat_rules(&count);
	for (size_t i = 0; i < count; i++) {
		it.rule = &all[i];
		if (!is_replaced(entry, all[i].id))
			all[i].apply(&it);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		it.rule = &rules[i].rule;
		rules[i].judge(&it, &entry->wants);
	}
	return judge_compatibility(&it, entry);
}
