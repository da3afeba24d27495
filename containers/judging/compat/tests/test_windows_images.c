/* SPDX-License-Identifier: MIT */
/* Which image runs on which host: the vectors of hcsshim, and where the sources contradict each
 * other. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "containers/judging/compat/windows_images.h"

static struct windows_version build_of(unsigned build)
{
	return (struct windows_version){.major = 10, .build = build};
}

/* osversion/platform_compat_windows_test.go of hcsshim, and the same rule for later hosts. */
static void test_rule(void)
{
	static const struct {
		unsigned host, image;
		bool runs;
	} vectors[] = {
		{17763, 17763, true},  {17763, 20348, false}, {20348, 17763, false},
		{20348, 20348, true},  {22621, 17763, false}, {22621, 20348, true},
		{25398, 17763, false}, {25398, 20348, true},  {26100, 20348, true},
		{20348, 26100, false}, {20348, 22621, false}, {26100, 22621, true},
		{26100, 26100, true},  {26200, 26100, true},  {26200, 20348, false},
		{28000, 26100, true},  {28000, 20348, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		bool runs =
			windows_image_rule(build_of(vectors[i].host), build_of(vectors[i].image));
		if (runs != vectors[i].runs)
			(void)printf("\nhost %u, image %u\n", vectors[i].host, vectors[i].image);
		CU_ASSERT_EQUAL(runs, vectors[i].runs);
	}
	CU_ASSERT_FALSE(windows_image_rule(
		(struct windows_version){.major = 6, .minor = 3, .build = 20348}, build_of(20348)));
}

static void expect(unsigned host, unsigned image, enum windows_image_answer answer)
{
	struct windows_image_judgement judgement =
		windows_image_judge(build_of(host), build_of(image));
	if (judgement.answer != answer)
		(void)printf("\nhost %u, image %u: %s\n", host, image, judgement.reason);
	UNIT_INT(judgement.answer, answer);
	CU_ASSERT_TRUE(judgement.reason[0] != '\0');
}

static void test_judgements(void)
{
	expect(20348, 20348, WINDOWS_IMAGE_RUNS);
	expect(26100, 20348, WINDOWS_IMAGE_RUNS);
	expect(26100, 26100, WINDOWS_IMAGE_RUNS);
	expect(25398, 20348, WINDOWS_IMAGE_RUNS);
	expect(22631, 20348, WINDOWS_IMAGE_RUNS);
	expect(17763, 17763, WINDOWS_IMAGE_RUNS);
	expect(19042, 19042, WINDOWS_IMAGE_RUNS);
	expect(17763, 20348, WINDOWS_IMAGE_REFUSED);
	expect(20348, 17763, WINDOWS_IMAGE_REFUSED);
	expect(20348, 26100, WINDOWS_IMAGE_REFUSED);
	expect(25398, 26100, WINDOWS_IMAGE_REFUSED);
	expect(26100, 17763, WINDOWS_IMAGE_REFUSED);
}

/* moby #53397: a host of 25H2 refuses the 2022 image that Microsoft's table lists for Windows 11.
 */
static void test_sources_contradict(void)
{
	expect(26200, 20348, WINDOWS_IMAGE_RUNTIME_DEPENDENT);
	expect(28000, 20348, WINDOWS_IMAGE_RUNTIME_DEPENDENT);
	expect(19045, 19045, WINDOWS_IMAGE_RUNTIME_DEPENDENT);
	UNIT_STRING(windows_image_answer_name(WINDOWS_IMAGE_RUNTIME_DEPENDENT),
		    "runtime-dependent");
}

static void test_revisions_of_2016(void)
{
	struct windows_version host = {10, 0, 14393, true, 5000};
	struct windows_version image = {10, 0, 14393, true, 5000};
	UNIT_INT(windows_image_judge(host, image).answer, WINDOWS_IMAGE_RUNS);
	image.revision = 4999;
	UNIT_INT(windows_image_judge(host, image).answer, WINDOWS_IMAGE_REFUSED);
	image.revision_known = false;
	UNIT_INT(windows_image_judge(host, image).answer, WINDOWS_IMAGE_UNKNOWN);
}

UNIT_MAIN("windows images", {"rule", test_rule}, {"judgements", test_judgements},
	  {"sources contradict", test_sources_contradict},
	  {"revisions of 2016", test_revisions_of_2016})
