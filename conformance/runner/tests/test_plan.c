/* SPDX-License-Identifier: MIT */
/* Which checks do not run because of others. */
#include "base/tests/unit.h"
#include "conformance/runner/plan.h"

#define ROW(name, base)                                                                            \
	{                                                                                          \
		.id = "s." name, .title = "A check", .depends_on = (base)                          \
	}

static const struct check checks[] = {
	ROW("root", NULL),	   ROW("middle", "s.root"), ROW("leaf-x", "s.middle"),
	ROW("leaf-y", "s.middle"), ROW("alone", NULL),	    {.id = NULL},
};

static const struct check_suite suite = {.name = "s", .title = "A suite", .checks = checks};
static const struct check_suite *const suites[] = {&suite, NULL};

/* The name of what keeps each item of a plan from running, "-" for nothing. */
static void expect_causes(const char *const *include, const char *bad, enum report_outcome outcome,
			  const char *const *causes)
{
	struct plan_filter filter = {0};
	struct plan plan CLEANUP_PLAN = {0};
	struct error err = {0};
	for (; include != NULL && *include != NULL; include++)
		text_list_add(&filter.include, *include);
	CU_ASSERT_EQUAL_FATAL(plan_make(suites, &filter, NULL, &plan, &err), 0);
	for (size_t i = 0; i < plan.count; i++) {
		const struct plan_item *cause = NULL;
		if (text_equal(plan.items[i].check->id, bad))
			plan.items[i].outcome = outcome;
		cause = plan_cause(&plan, suites, i);
		UNIT_NEED(causes[i] != NULL);
		CU_ASSERT_STRING_EQUAL(cause != NULL ? cause->check->id : "-", causes[i]);
	}
	text_list_free(&filter.include);
}

static void test_causes(void)
{
	static const char *const by_root[] = {"-", "s.root", "s.root", "s.root", "-", NULL};
	static const char *const by_middle[] = {"-", "-", "s.middle", "s.middle", "-", NULL};
	static const char *const nothing[] = {"-", "-", "-", "-", "-", NULL};
	expect_causes(NULL, "s.root", REPORT_FAIL, by_root);
	expect_causes(NULL, "s.root", REPORT_CRASH, by_root);
	expect_causes(NULL, "s.root", REPORT_TIMEOUT, by_root);
	expect_causes(NULL, "s.root", REPORT_BROKEN, by_root);
	expect_causes(NULL, "s.middle", REPORT_FAIL, by_middle);
	expect_causes(NULL, "s.leaf-x", REPORT_FAIL, nothing);
	expect_causes(NULL, "s.root", REPORT_UNSUPPORTED, nothing);
	expect_causes(NULL, "s.root", REPORT_PASS, nothing);
}

/* The names of the plan's items, without the suite's, one after another. */
static void list_items(const struct plan_filter *filter, struct text *out)
{
	struct plan plan CLEANUP_PLAN = {0};
	UNIT_INT(plan_make(suites, filter, NULL, &plan, NULL), 0);
	for (size_t i = 0; i < plan.count; i++)
		text_addf(out, " %s", plan.items[i].check->id + strlen("s."));
	UNIT_INT(plan.count + plan.left_out_count, ARRAY_SIZE(checks) - 1);
}

static void test_shards(void)
{
	static const char *const wanted[] = {" root leaf-y", " middle alone", " leaf-x"};
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct plan_filter filter = {.shard = i, .shard_count = ARRAY_SIZE(wanted)};
		struct text names CLEANUP_TEXT = {0};
		list_items(&filter, &names);
		UNIT_STRING(text_string(&names), wanted[i]);
	}
}

static void test_random_orders_keep_dependencies(void)
{
	size_t different = 0;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		const struct plan_filter filter = {.seed = seed};
		struct text first CLEANUP_TEXT = {0};
		struct text again CLEANUP_TEXT = {0};
		list_items(&filter, &first);
		list_items(&filter, &again);
		const char *names = text_string(&first);
		UNIT_STRING(names, text_string(&again));
		CU_ASSERT_TRUE(strstr(names, "root") < strstr(names, "middle"));
		CU_ASSERT_TRUE(strstr(names, "middle") < strstr(names, "leaf-x"));
		CU_ASSERT_TRUE(strstr(names, "middle") < strstr(names, "leaf-y"));
		different += strcmp(names, " root middle leaf-x leaf-y alone") != 0 ? 1 : 0;
	}
	CU_ASSERT_TRUE(different > 25);
}

static void test_what_is_left_out_is_no_cause(void)
{
	static const char *const leaf[] = {"s.leaf-y", NULL};
	static const char *const ends[] = {"s.root", "s.leaf-*", NULL};
	static const char *const nothing[] = {"-", NULL};
	static const char *const by_root[] = {"-", "s.root", "s.root", NULL};
	expect_causes(leaf, "s.root", REPORT_FAIL, nothing);
	/* Through a check that is not in the plan. */
	expect_causes(ends, "s.root", REPORT_FAIL, by_root);
}

static void test_awaited(void)
{
	static const char *const awaited[] = {"s.root", "s.middle", "-", "-"};
	const struct plan_filter filter = {0};
	struct plan plan CLEANUP_PLAN = {0};
	UNIT_INT(plan_make(suites, &filter, NULL, &plan, NULL), 0);
	/* The checks end one after another; the third is a leaf. */
	for (size_t ended = 0; ended < ARRAY_SIZE(awaited); ended++) {
		const struct plan_item *item = plan_awaited(&plan, suites, &checks[3]);
		CU_ASSERT_STRING_EQUAL(item != NULL ? item->check->id : "-", awaited[ended]);
		CU_ASSERT_PTR_NULL(plan_awaited(&plan, suites, &checks[4]));
		plan.items[ended].ended = true;
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a check that depends on one that ended badly does not run", test_causes},
		{"a check that is left out holds up nothing", test_what_is_left_out_is_no_cause},
		{"a check waits for the first of those that it depends on", test_awaited},
		{"shards take turns", test_shards},
		{"random orders keep dependencies", test_random_orders_keep_dependencies},
		CU_TEST_INFO_NULL,
	};
	return unit_run("plan", tests);
}
