/* SPDX-License-Identifier: MIT */
/* The entry of an index that a host uses, or why there is none: "no matching manifest". */
#include "base/version.h"
#include "containers/judging/compat/case.h"

enum { EXPLAINED_MAX = 32 };

/* How well an entry fits a host. */
struct fit {
	bool fits, undisputed;
	const char *os_version;
	unsigned level;
	const char *why_not;
};

static struct fit refuse(const char *why)
{
	return (struct fit){.why_not = why};
}

static struct fit fit_of(const struct image_platform *entry, const struct host_facts *host,
			 const struct compat_options *options)
{
	struct windows_version version = {0};
	struct fit fit = {.fits = true, .undisputed = true, .os_version = entry->os_version};
	fit.level = platform_level(entry);
	if (!text_equal(entry->os, host->os))
		return refuse("another operating system");
	if (!text_equal(host_architecture(entry->architecture), host->architecture))
		return refuse("another architecture");
	if (fit.level > (host->cpu_level == 0 ? 1 : host->cpu_level))
		return refuse("a higher level of x86-64 than the host's processor has");
	if (!text_equal(host->os, "windows") || entry->os_version[0] == '\0')
		return fit;
	if (windows_version_parse(entry->os_version, "os.version", &version, NULL) < 0)
		return refuse("its os.version is not a version of Windows");
	struct windows_image_judgement judgement =
		windows_judge(host->windows, version, options->runtime);
	fit.undisputed = judgement.answer == WINDOWS_IMAGE_RUNS;
	return judgement.answer == WINDOWS_IMAGE_REFUSED ? refuse(judgement.reason) : fit;
}

static bool is_better(const struct fit *one, const struct fit *than)
{
	if (!one->fits || !than->fits)
		return one->fits;
	if (one->undisputed != than->undisputed)
		return one->undisputed;
	int order = version_compare(one->os_version, than->os_version);
	return order > 0 || (order == 0 && one->level > than->level);
}

const struct compat_rule compat_no_match = {
	.id = "platform.no-match",
	.says = "The index has an entry for the host.",
	.advice =
		"Take an image that has an entry for this host, or a host that one of the entries "
		"fits. A host that builds is matched in the same way: there FROM of this index "
		"fails, too, so build where an entry fits, or name it by its digest.",
	.source = "containerd platforms; moby distribution/pull_v2_windows.go; moby #53397",
};

const struct image_index_entry *compat_select(const struct image_index *index,
					      const struct host_facts *host,
					      const struct compat_options *options,
					      struct compat_answer *answer)
{
	struct compat_case it = {
		.host = host, .options = options, .answer = answer, .rule = &compat_no_match};
	const struct image_index_entry *best = NULL;
	struct fit best_fit = {0};
	for (size_t i = 0; i < index->count; i++) {
		struct fit fit = fit_of(&index->entries[i].platform, host, options);
		if (is_better(&fit, &best_fit)) {
			best = &index->entries[i];
			best_fit = fit;
		}
	}
	if (best != NULL || answer == NULL)
		return best;

	/* Why no entry fits. */
	const struct image_platform own = {host->os, host->architecture, "", host->os_version};
	compat_find(&it, COMPAT_CANNOT_WORK,
		    "no matching manifest for %s: none of %zu entries fits",
		    image_platform_name(&own, &answer->arena), index->count);
	for (size_t i = 0; i < index->count && i < EXPLAINED_MAX; i++) {
		const struct image_platform *entry = &index->entries[i].platform;
		it.advice = "";
		compat_find(&it, COMPAT_CANNOT_WORK, "%s: %s",
			    image_platform_name(entry, &answer->arena),
			    fit_of(entry, host, options).why_not);
	}
	if (index->count > EXPLAINED_MAX)
		compat_find(&it, COMPAT_CANNOT_WORK, "and %zu other entries",
			    index->count - EXPLAINED_MAX);
	return NULL;
}
