/* SPDX-License-Identifier: MIT */
/* Each reason for which an image wins or loses. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "containers/judging/selection/selection.h"

#include <stdlib.h>
#include <string.h>

#define LINUX(reference, rest)                                                                     \
	"{\"reference\":\"" reference                                                              \
	"\",\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}" rest "}"
#define WINDOWS(reference, version)                                                                \
	"{\"reference\":\"" reference "\",\"platform\":{\"os\":\"windows\",\"architecture\":"      \
	"\"amd64\",\"osVersion\":\"" version                                                       \
	"\"},\"base\":\"mcr.microsoft.com/windows/server:ltsc2022\"}"
#define WANTS(wants) ",\"wants\":{" wants "}"

#define HOST(level, gpus)                                                                          \
	"{\"schema\":\"gpucert-host/1\",\"os\":\"linux\",\"architecture\":\"amd64\",\"kernel\":"   \
	"\"6.8.0\",\"cpuLevel\":" #level ",\"gpus\":[" gpus "]}"
#define NVIDIA(version, capability)                                                                    \
	"{\"vendor\":\"nvidia\",\"name\":\"A GPU\",\"driver\":\"nvidia\",\"driverVersion\":\"" version \
	"\",\"computeCapability\":\"" capability "\"}"
#define AMD(version, architecture)                                                                    \
	"{\"vendor\":\"amd\",\"name\":\"Another\",\"driver\":\"amdgpu\",\"driverVersion\":\"" version \
	"\",\"architecture\":\"" architecture "\"}"
#define H200 HOST(3, NVIDIA("550.54.15", "9.0"))
#define SERVER2022                                                                                 \
	"{\"schema\":\"gpucert-host/1\",\"os\":\"windows\",\"architecture\":\"amd64\","            \
	"\"windows\":{\"version\":\"10.0.20348.2582\",\"edition\":\"server\"}}"

struct trial {
	struct host_facts host;
	struct catalogue catalogue;
	struct selection selection;
};

static void trial_free(struct trial *trial)
{
	selection_free(&trial->selection);
	catalogue_free(&trial->catalogue);
	host_facts_free(&trial->host);
}

static void trial_make(const char *host, const char *images, struct trial *out)
{
	static const struct compat_options options = {0};
	struct error err = {0};
	char *text CLEANUP_FREE =
		text_format("{\"schema\":\"gpucert-catalogue/1\",\"images\":[%s]}", images);
	UNIT_INT(host_facts_parse(host, strlen(host), &out->host, &err), 0);
	UNIT_INT(catalogue_parse(text, strlen(text), &out->catalogue, &err), 0);
	UNIT_STRING(err.text, "");
	selection_make(&out->catalogue, &out->host, &options, &out->selection);
}

/* Of two images, in both orders of the catalogue: `first` wins at `step`, and `reason` says so. */
static void expect_first_at(const char *host, const char *first, const char *second,
			    const char *step, const char *reason, unsigned line)
{
	const char *const orders[][2] = {{first, second}, {second, first}};
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct trial trial __attribute__((cleanup(trial_free))) = {0};
		char *images CLEANUP_FREE = text_format("%s,%s", orders[i][0], orders[i][1]);
		trial_make(host, images, &trial);
		const struct selection_item *items = trial.selection.items;
		UNIT_NEED(trial.selection.count == 2);
		unit_int(items[0].entry - trial.catalogue.entries, (long long)i, line, __FILE__);
		unit_string(items[0].step, "", line, __FILE__);
		unit_string(items[1].step, step, line, __FILE__);
		unit_contains(items[1].reason, reason, line, __FILE__);
	}
}

#define FIRST(host, first, second, step, reason)                                                   \
	expect_first_at(host, first, second, step, reason, __LINE__)

static void expect_verdict_at(const char *host, const char *image, enum compat_verdict verdict,
			      const char *rule, const char *says, unsigned line)
{
	struct trial trial __attribute__((cleanup(trial_free))) = {0};
	trial_make(host, image, &trial);
	const struct selection_item *item = &trial.selection.items[0];
	unit_int(selection_verdict(&trial.selection), verdict, line, __FILE__);
	unit_string(item->finding.rule != NULL ? item->finding.rule : "", rule, line, __FILE__);
	if (says != NULL)
		unit_contains(item->finding.reason, says, line, __FILE__);
}

#define VERDICT(host, image, verdict, rule, says)                                                  \
	expect_verdict_at(host, image, verdict, rule, says, __LINE__)
#define WORKS(host, image) VERDICT(host, image, COMPAT_WORKS, "", NULL)

static void test_steps(void)
{
	FIRST(H200, LINUX("z", WANTS("\"drivers\":{\"nvidia\":\"550\"}")), LINUX("a", ""), "gpu",
	      "names no GPU of the host's; the first names the host's GPU");
	FIRST(H200, LINUX("z", WANTS("\"cpuLevel\":3")), LINUX("a", ""), "cpu-level",
	      "is for x86-64-v1; the first is for x86-64-v3");
	FIRST(H200, LINUX("z", WANTS("\"cuda\":\"12.4\"")), LINUX("a", WANTS("\"cuda\":\"12.6\"")),
	      "cuda-driver", "CUDA 12.6, which runs by minor-version compatibility; the first");
	FIRST(H200, LINUX("z", WANTS("\"cuda\":\"12.4\"")),
	      LINUX("a", WANTS("\"drivers\":{\"nvidia\":\"550\"}")), "cuda-driver",
	      "has no CUDA; the first has CUDA 12.4");
	FIRST(H200, LINUX("z", WANTS("\"cuda\":\"12.4\"")),
	      LINUX("a", WANTS("\"cuda\":\"12.2.1\"")), "cuda",
	      "has CUDA 12.2.1; the first has CUDA 12.4");
	FIRST(SERVER2022, WINDOWS("z", "10.0.20348.2582"), WINDOWS("a", "10.0.20348.887"),
	      "os-build", "is of build 10.0.20348.887; the first is of build 10.0.20348.2582");
	FIRST(H200, LINUX("z", ",\"created\":\"2026-10-02\""),
	      LINUX("a", ",\"created\":\"2026-10-01\""), "created",
	      "is of 2026-10-01; the first is of 2026-10-02");
	FIRST(H200, LINUX("z", ",\"created\":\"2026-10-02\""), LINUX("a", ""), "created",
	      "states none; the first is of 2026-10-02");
	FIRST(H200, LINUX("a", ""), LINUX("b", ""), "reference",
	      "is called b; the first is called a");
}

static void test_verdict_comes_first(void)
{
	FIRST(H200, LINUX("z", ""), LINUX("a", WANTS("\"cuda\":\"13.0\",\"cpuLevel\":3")),
	      "verdict", "CUDA 13.0 of the image needs driver 580");
	FIRST(H200, LINUX("z", ""), LINUX("a", WANTS("\"cuda\":\"99.0\"")), "verdict", "CUDA 99.0");
	FIRST(H200, LINUX("z", WANTS("\"cuda\":\"99.0\"")), LINUX("a", WANTS("\"cpuLevel\":4")),
	      "verdict", "is for x86-64-v4, the host's processor has v3");
	FIRST(SERVER2022, WINDOWS("z", "10.0.17763.1"), WINDOWS("a", "10.0.26100.1"), "verdict",
	      "the image is newer than the host");
}

static void test_the_same_twice(void)
{
	struct trial trial __attribute__((cleanup(trial_free))) = {0};
	trial_make(H200, LINUX("a", "") "," LINUX("a", ""), &trial);
	UNIT_INT(trial.selection.items[0].entry - trial.catalogue.entries, 0);
	UNIT_STRING(trial.selection.items[1].step, "place");
}

static void test_drivers(void)
{
	VERDICT(H200, LINUX("a", WANTS("\"drivers\":{\"nvidia\":\"570.26\"}")), COMPAT_CANNOT_WORK,
		"catalogue.driver", "wants driver 570.26 of nvidia, the host's is 550.54.15");
	VERDICT(HOST(1, NVIDIA("", "9.0")),
		LINUX("a", WANTS("\"drivers\":{\"nvidia\":\"570.26\"}")), COMPAT_UNKNOWN,
		"catalogue.driver", "the host's is not known");
	VERDICT(H200, LINUX("a", WANTS("\"drivers\":{\"amd\":\"6.8.5\",\"intel\":\"6.1\"}")),
		COMPAT_CANNOT_WORK, "catalogue.vendor",
		"amd or intel, and of the host's 1 GPUs none");
	WORKS(H200, LINUX("a", WANTS("\"drivers\":{\"amd\":\"6.8.5\",\"nvidia\":\"550.54.15\"}")));
	WORKS(HOST(1, AMD("6.8.5", "gfx90a")),
	      LINUX("a", WANTS("\"drivers\":{\"amd\":\"6.8.5\"}")));
	/* The kernel's own amdgpu has the kernel's release, which AMD's numbers say nothing of. */
	VERDICT(HOST(1, AMD("6.8.0", "gfx90a")), LINUX("a", WANTS("\"drivers\":{\"amd\":\"6.7\"}")),
		COMPAT_UNKNOWN, "catalogue.driver", "wants driver 6.7 of amd, the host's is 6.8.0");
	/* An image for several vendors may have CUDA. */
	WORKS(HOST(1, AMD("6.8.5", "gfx90a")),
	      LINUX("a", WANTS("\"cuda\":\"12.4\",\"architectures\":[\"gfx90a\"]")));
	/* A catalogue's CUDA is no condition of NVIDIA's toolkit: minor-version compatibility holds. */
	WORKS(H200, LINUX("a", WANTS("\"cuda\":\"12.6\"")));
}

static void test_devices(void)
{
	static const char two[] =
		HOST(1, NVIDIA("550.54.15", "9.0") "," NVIDIA("550.54.15", "7.5"));
	VERDICT(H200, LINUX("a", WANTS("\"computeCapabilities\":[\"10.0\",\"8.0\"]")),
		COMPAT_CANNOT_WORK, "catalogue.compute-capability",
		"the image is built for compute capability 10.0, 8.0, that of 'A GPU' is 9.0");
	WORKS(H200, LINUX("a", WANTS("\"computeCapabilities\":[\"8.0+PTX\"]")));
	WORKS(H200, LINUX("a", WANTS("\"cuda\":\"11.7\",\"computeCapabilities\":[\"8.0+PTX\"]")));
	VERDICT(two, LINUX("a", WANTS("\"computeCapabilities\":[\"9.0\"]")), COMPAT_UNKNOWN,
		"catalogue.compute-capability", "that of 'A GPU' is 7.5");
	VERDICT(HOST(1, NVIDIA("550.54.15", "")),
		LINUX("a", WANTS("\"computeCapabilities\":[\"9.0\"]")), COMPAT_UNKNOWN,
		"catalogue.compute-capability", "that of 'A GPU' is not known");
	WORKS(HOST(1, AMD("6.8.5", "gfx90a")),
	      LINUX("a", WANTS("\"architectures\":[\"gfx1100\",\"gfx90a:xnack-\"]")));
	VERDICT(HOST(1, AMD("6.8.5", "gfx90a")), LINUX("a", WANTS("\"architectures\":[\"gfx90\"]")),
		COMPAT_CANNOT_WORK, "catalogue.architecture", "that of 'Another' is gfx90a");
	VERDICT(HOST(1, ""), LINUX("a", WANTS("\"architectures\":[\"gfx90a\"]")),
		COMPAT_CANNOT_WORK, "catalogue.vendor", "of amd, and of the host's 0 GPUs none");
	/* Which of two vendors' GPUs the container is given is not known. */
	VERDICT(HOST(1, NVIDIA("535.54.03", "9.0") "," AMD("6.8.5", "gfx90a")),
		LINUX("a", WANTS("\"drivers\":{\"amd\":\"6.8.5\",\"nvidia\":\"550\"}")),
		COMPAT_UNKNOWN, "catalogue.driver", "wants driver 550 of nvidia");
	VERDICT(HOST(1, NVIDIA("535.54.03", "9.0") "," AMD("6.8.5", "gfx90a")),
		LINUX("a", WANTS("\"drivers\":{\"nvidia\":\"550\"}")), COMPAT_CANNOT_WORK,
		"catalogue.driver", "wants driver 550 of nvidia");
	/* nouveau does not count. */
	VERDICT(HOST(1, "{\"vendor\":\"nvidia\",\"driver\":\"nouveau\"}"),
		LINUX("a", WANTS("\"cuda\":\"12.4\"")), COMPAT_CANNOT_WORK, "catalogue.vendor",
		"of nvidia");
}

static void test_nothing_to_choose(void)
{
	struct trial trial __attribute__((cleanup(trial_free))) = {0};
	struct text text CLEANUP_TEXT = {0};
	trial_make(H200, "", &trial);
	UNIT_INT(selection_verdict(&trial.selection), COMPAT_CANNOT_WORK);
	selection_print(&trial.selection, false, &text);
	UNIT_CONTAINS(text_string(&text), "no image");
}

static void test_what_a_catalogue_says_is_escaped(void)
{
	struct trial trial __attribute__((cleanup(trial_free))) = {0};
	struct text text CLEANUP_TEXT = {0};
	trial_make(H200, LINUX("\\u001b[31ma\\nb", ""), &trial);
	selection_print(&trial.selection, false, &text);
	UNIT_CONTAINS(text_string(&text), "1. \\x1b[31ma\\nb (linux/amd64): works");
}

UNIT_MAIN("selection", {"steps", test_steps}, {"verdict", test_verdict_comes_first},
	  {"the same twice", test_the_same_twice}, {"drivers", test_drivers},
	  {"devices", test_devices}, {"nothing to choose", test_nothing_to_choose},
	  {"escapes", test_what_a_catalogue_says_is_escaped})
