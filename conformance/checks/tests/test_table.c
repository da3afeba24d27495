/* SPDX-License-Identifier: MIT */
/* Lint of the check table: what no compiler sees. */
#include "base/file.h"
#include "base/gpu_apis.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "conformance/checks/suites.h"
#include "conformance/runner/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct plan_filter everything;

static bool complain(const char *id, const char *what)
{
	(void)fprintf(stderr, "%s: %s\n", id, what);
	return false;
}

static bool is_id(const struct check_suite *suite, const char *id)
{
	size_t length = strlen(suite->name);
	if (strncmp(id, suite->name, length) != 0 || id[length] != '.')
		return false;
	for (const char *p = id + length + 1; *p != '\0'; p++) {
		if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '-')
			return false;
	}
	return id[length + 1] != '\0';
}

static bool check_is_sound(const struct check_suite *suite, const struct check *check)
{
	if (!is_id(suite, check->id))
		return complain(check->id, "id is not suite.kebab-case");
	if (check->title == NULL || strlen(check->title) > 72 || strlen(check->title) < 10)
		return complain(check->id, "title is missing or longer than 72 characters");
	if (check->advice == NULL || strlen(check->advice) < 20)
		return complain(check->id, "advice is missing");
	if (check->requirement == CHECK_REQUIREMENT_NONE)
		return complain(check->id, "requirement is missing");
	if (requirement_limit(check->requirement) != 0 &&
	    strpbrk(check->title, "0123456789") != NULL)
		return complain(check->id, "title repeats a limit of requirements.def");
	if (check->revision == 0 || check->timeout_s == 0 || check->timeout_s > 720)
		return complain(check->id, "revision or time limit is missing");
	return check->run != NULL || complain(check->id, "body is missing");
}

static void test_rows_are_sound(void)
{
	for (const struct check_suite *const *suite = suites; *suite != NULL; suite++) {
		for (const struct check *check = (*suite)->checks; check->id != NULL; check++)
			CU_ASSERT_TRUE(check_is_sound(*suite, check));
	}
}

/* Is there a check of that id before the item? */
static bool comes_before(const struct plan *plan, size_t index, const char *id)
{
	for (size_t i = 0; i < index; i++) {
		if (strcmp(plan->items[i].check->id, id) == 0)
			return true;
	}
	return false;
}

static void test_checks_stand_on_earlier_ones(void)
{
	struct plan plan CLEANUP_PLAN = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(plan_make(suites, &everything, NULL, &plan, &err), 0);
	for (size_t i = 0; i < plan.count; i++) {
		const char *depends_on = plan.items[i].check->depends_on;
		CU_ASSERT_TRUE(depends_on == NULL || comes_before(&plan, i, depends_on) ||
			       complain(plan.items[i].check->id, "stands on no earlier check"));
	}
}

static bool is_row(const struct check *check)
{
	return text_starts_with(check->id, "api.") && gpu_api_find(check->id + 4) != NULL;
}

/* A new row of base/gpu_apis.def states its id there, and need not be in ids.txt. */
static void test_ids_are_those_of_ids_txt(void)
{
	struct plan plan CLEANUP_PLAN = {0};
	char *golden CLEANUP_FREE = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(plan_make(suites, &everything, NULL, &plan, &err), 0);
	CU_ASSERT_EQUAL_FATAL(file_read(GPUCERT_SOURCE_DIR "/conformance/checks/tests/ids.txt",
					1 << 20, &golden, NULL, &err),
			      0);
	const char *expected = golden;
	for (size_t i = 0; i < plan.count; i++) {
		const struct plan_item *item = &plan.items[i];
		char *line CLEANUP_FREE =
			text_format("%s %u\n", item->check->id, item->check->revision);
		if (text_starts_with(expected, line))
			expected += strlen(line);
		else
			CU_ASSERT_TRUE(is_row(item->check) ||
				       complain(item->check->id, "is not next in ids.txt"));
	}
	CU_ASSERT_STRING_EQUAL(expected, "");
}

static void test_each_api_has_its_check(void)
{
	struct plan plan CLEANUP_PLAN = {0};
	struct error err = {0};
	size_t found = 0;
	size_t wanted = 0;
	CU_ASSERT_EQUAL_FATAL(plan_make(suites, &everything, NULL, &plan, &err), 0);
	for (size_t i = 0; i < plan.count; i++)
		found += is_row(plan.items[i].check) ? 1 : 0;
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++)
		wanted += api->tested ? 1 : 0;
	CU_ASSERT_EQUAL(found, wanted);
}

/* What a build of Windows does not have is not wanted of it. */
static void test_builds(void)
{
	const struct gpu_api *video = gpu_api_find("d3d12video"), *any = gpu_api_find("d3d12");
	CU_ASSERT_FALSE(gpu_api_in_build(video, "20348.1547"));
	CU_ASSERT_FALSE(gpu_api_in_build(video, "21999"));
	CU_ASSERT_TRUE(gpu_api_in_build(video, "22000.1"));
	CU_ASSERT_TRUE(gpu_api_in_build(video, "26100.2314"));
	CU_ASSERT_TRUE(gpu_api_in_build(video, ""));
	CU_ASSERT_TRUE(gpu_api_in_build(any, "17763.1"));
}

static void test_names_are_unique(void)
{
	struct plan plan CLEANUP_PLAN = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(plan_make(suites, &everything, NULL, &plan, &err), 0);
	for (size_t i = 0; i < plan.count; i++) {
		for (size_t j = i + 1; j < plan.count; j++)
			CU_ASSERT_STRING_NOT_EQUAL(plan.items[i].check->id,
						   plan.items[j].check->id);
	}
}

static void test_every_requirement_is_tested(void)
{
	bool tested[CHECK_REQUIREMENT_COUNT] = {false};
	for (const struct check_suite *const *suite = suites; *suite != NULL; suite++) {
		for (const struct check *check = (*suite)->checks; check->id != NULL; check++)
			tested[check->requirement] = true;
	}
	for (int i = 1; i < CHECK_REQUIREMENT_COUNT; i++) {
		if (!tested[i])
			(void)fprintf(stderr, "%s has no check\n",
				      requirement_get((enum check_requirement)i)->id);
		CU_ASSERT_TRUE(tested[i]);
	}
}

static void test_nothing_is_there(void)
{
	static const struct discovery_snapshot empty = {.system.os = ""};
	struct context context = {
		.launcher = "none",
		.launcher_missing = "nothing is there",
		.node = &empty,
	};
	struct text_list all CLEANUP_TEXT_LIST = {0};
	struct plan plan CLEANUP_PLAN = {0};
	text_list_add(&all, "*");
	struct plan_filter filter = {.include = all};
	CU_ASSERT_EQUAL_FATAL(plan_make(suites, &filter, &context, &plan, NULL), 0);
	for (size_t i = 0; i < plan.count; i++) {
		const struct check_needs *needs = &plan.items[i].check->needs;
		bool needy = needs->devices != 0 || needs->own_plugin || needs->containers ||
			     needs->launcher || needs->api != NULL || needs->os != NULL ||
			     needs->failing_device || needs->optional_calls || needs->registry;
		CU_ASSERT_EQUAL(plan.items[i].reason != NULL, needy);
		CU_ASSERT_EQUAL(plan.items[i].outcome != REPORT_PASS, needy);
	}
}

/* `like`: what the message about a pattern without a check proposes; NULL: nothing. */
static void expect_refused(const char *pattern, const char *like)
{
	struct plan plan CLEANUP_PLAN = {0};
	struct text_list include CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	text_list_add(&include, pattern);
	struct plan_filter filter = {.include = include};
	CU_ASSERT_EQUAL(plan_make(suites, &filter, NULL, &plan, &err), ERROR_ARGUMENT);
	CU_ASSERT_EQUAL(plan.count, 0);
	CU_ASSERT_EQUAL(strstr(err.text, "did you mean") != NULL, like != NULL);
	CU_ASSERT_TRUE(like == NULL || strstr(err.text, like) != NULL);
}

static void expect_found(const char *pattern)
{
	struct plan plan CLEANUP_PLAN = {0};
	struct text_list include CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	text_list_add(&include, pattern);
	struct plan_filter filter = {.include = include};
	CU_ASSERT_EQUAL(plan_make(suites, &filter, NULL, &plan, &err), 0);
	CU_ASSERT_TRUE(plan.count != 0);
}

static void test_patterns(void)
{
	expect_found("isolation");
	expect_found("isolation.*");
	expect_found("api.vulkan");
	expect_found("level:must");
	expect_found("severity:critical");
	expect_found("requirement:REG-04");
	expect_refused("api.vulcan", "'api.vulkan'");
	expect_refused("level:never", NULL);
	expect_refused("", NULL);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"rows are sound", test_rows_are_sound},
		{"checks stand on earlier ones", test_checks_stand_on_earlier_ones},
		{"names are unique", test_names_are_unique},
		{"ids are those of ids.txt", test_ids_are_those_of_ids_txt},
		{"each API has its check", test_each_api_has_its_check},
		{"builds of Windows", test_builds},
		{"every requirement is tested", test_every_requirement_is_tested},
		{"where nothing is there, whatever needs something is unsupported",
		 test_nothing_is_there},
		{"patterns", test_patterns},
		CU_TEST_INFO_NULL,
	};
	return unit_run("check table", tests);
}
