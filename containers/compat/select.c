/* SPDX-License-Identifier: MIT */
/* Which entry of an index a host takes, and why it takes none: "no matching manifest". */
#include "base/cleanup.h"
#include "base/version.h"
#include "containers/compat/case.h"

#include <string.h>

enum { EXPLAINED_MAX = 32 };

/* Better is greater. */
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

static void explain_entry(struct compat_case *it, const struct image_platform *entry,
			  const char *why)
{
	compat_find(it, COMPAT_CANNOT_WORK, "", NULL, "%s/%s%s%s%s%s: %s", entry->os,
		    entry->architecture, entry->variant[0] != '\0' ? "/" : "", entry->variant,
		    entry->os_version[0] != '\0' ? " " : "", entry->os_version, why);
}

static void explain(struct compat_case *it, const struct image_platform *entries, size_t count)
{
	const struct host_facts *host = it->host;
	compat_find(
		it, COMPAT_CANNOT_WORK,
		"Take an image that has an entry for this host, or a host that one of the entries "
		"fits. A host that builds is matched in the same way: there FROM of this index "
		"fails, too, so build where an entry fits, or name it by its digest.",
		NULL, "no matching manifest for %s/%s%s%s: none of %zu entries fits", host->os,
		host->architecture, host->os_version[0] != '\0' ? " " : "", host->os_version,
		count);
	for (size_t i = 0; i < count && i < EXPLAINED_MAX; i++)
		explain_entry(it, &entries[i], fit_of(&entries[i], host, it->options).why_not);
	if (count > EXPLAINED_MAX)
		compat_find(it, COMPAT_CANNOT_WORK, "", NULL, "and %zu other entries",
			    count - EXPLAINED_MAX);
}

size_t compat_select(const struct image_platform *entries, size_t count,
		     const struct host_facts *host, const struct compat_options *options,
		     struct compat_answer *answer)
{
	static const struct compat_rule rule = {
		.id = "platform.no-match",
		.says = "The index has an entry for the host.",
		.source = "containerd platforms; moby distribution/pull_v2_windows.go; moby #53397",
	};
	size_t best = count;
	struct fit best_fit = {0};
	for (size_t i = 0; i < count; i++) {
		struct fit fit = fit_of(&entries[i], host, options);
		if (is_better(&fit, &best_fit)) {
			best = i;
			best_fit = fit;
		}
	}
	struct compat_case it = {NULL, NULL, host, options, answer, &rule};
	if (best == count && answer != NULL)
		explain(&it, entries, count);
	return best;
}
