/* SPDX-License-Identifier: MIT */
/* What a run means to a check whose needs it does not meet. */
#include "conformance/runner/plan.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"

#include <string.h>

static void body(struct check_run *run)
{
	(void)run;
}

#define ROW(name, about, ...)                                                                      \
	{                                                                                          \
		.id = "plan." name, .requirement = (about), .needs = {__VA_ARGS__}, .run = body    \
	}

static const struct check checks[] = {
	ROW("any", CHECK_REG_01, .devices = 0),
	ROW("windows", CHECK_WIN_01, .os = "windows"),
	ROW("device", CHECK_ALC_01, .devices = 1),
	ROW("pair", CHECK_ISO_03, .devices = 2, .containers = true),
	ROW("own", CHECK_RES_01, .own_plugin = true),
	ROW("live", CHECK_ALC_15, .live_node = true),
	ROW("container", CHECK_ISO_01, .containers = true),
	ROW("probe", CHECK_ENV_02, .launcher = true),
	ROW("vulkan", CHECK_API_01, .devices = 1, .launcher = true, .api = "vulkan"),
	ROW("opencl", CHECK_API_01, .devices = 1, .launcher = true, .api = "opencl"),
	{.id = NULL},
};

static const struct check_suite suite = {.name = "plan", .title = "Plan", .checks = checks};
static const struct check_suite *const suites[] = {&suite, NULL};

static const char *const vulkan_apis[] = {"vulkan", NULL};
static const char *const other_apis[] = {"magic", NULL};
static struct discovery_device devices[2];
static struct discovery_snapshot node;

/* A live Linux node with one device that offers Vulkan, and containers. */
static struct context one_device(void)
{
	devices[0] = (struct discovery_device){.apis = vulkan_apis};
	devices[1] = devices[0];
	node = (struct discovery_snapshot){
		.system = {.os = "linux"}, .devices = devices, .device_count = 1};
	return (struct context){
		.plugin_command = "plugin",
		.launcher = "containerd",
		.launcher_missing = "",
		.node = &node,
	};
}

static const struct plan_item *find(const struct plan_item *items, size_t count, const char *id)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(items[i].check->id + strlen("plan."), id) == 0)
			return &items[i];
	}
	return NULL;
}

static void make(const struct context *context, const char *only, struct plan *plan)
{
	struct text_list include CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	if (only != NULL)
		text_list_add(&include, only);
	struct plan_filter filter = {.include = include};
	UNIT_INT(plan_make(suites, &filter, context, plan, &err), 0);
}

static void expect(const struct context *context, const char *id, enum report_outcome outcome,
		   const char *reason)
{
	struct plan plan CLEANUP_PLAN = {0};
	const struct plan_item *item = NULL;
	make(context, "plan", &plan);
	item = find(plan.items, plan.count, id);
	UNIT_NEED(item != NULL);
	UNIT_STRING(report_outcome_names[item->outcome], report_outcome_names[outcome]);
	UNIT_CONTAINS(item->reason != NULL ? item->reason : "", reason);
	UNIT_INT(item->reason == NULL, outcome == REPORT_PASS);
}

static void test_what_is_not_about_this_node_does_not_apply(void)
{
	struct context context = one_device();
	expect(&context, "any", REPORT_PASS, "");
	expect(&context, "device", REPORT_PASS, "");
	expect(&context, "vulkan", REPORT_PASS, "");
	expect(&context, "windows", REPORT_NOT_APPLICABLE, "needs a windows node");
	expect(&context, "pair", REPORT_NOT_APPLICABLE, "needs 2 devices, the node has 1");
	expect(&context, "opencl", REPORT_NOT_APPLICABLE, "no device of the node offers opencl");
	context.node_file = "node.json";
	context.launcher = "none";
	expect(&context, "live", REPORT_NOT_APPLICABLE, "recorded");
	expect(&context, "container", REPORT_NOT_APPLICABLE, "recorded");
	expect(&context, "vulkan", REPORT_NOT_APPLICABLE, "recorded");
}

static void test_what_cannot_be_tested_is_unsupported(void)
{
	struct context context = one_device();
	context.launcher = "none";
	context.launcher_missing = "runc is not installed";
	expect(&context, "container", REPORT_UNSUPPORTED, "runc is not installed");
	expect(&context, "vulkan", REPORT_UNSUPPORTED, "runc is not installed");
	context.plugin_command = NULL;
	expect(&context, "own", REPORT_UNSUPPORTED, "--plugin");
	/* A node without devices shows nothing at all, least of all that rules do not apply. */
	node.device_count = 0;
	expect(&context, "device", REPORT_UNSUPPORTED, "needs 1 device, the node has 0");
	expect(&context, "pair", REPORT_UNSUPPORTED, "needs 2 devices, the node has 0");
	expect(&context, "vulkan", REPORT_UNSUPPORTED, "needs 1 device");
}

static void test_a_node_without_a_known_api_leaves_the_rule_open(void)
{
	struct context context = one_device();
	devices[0].apis = other_apis;
	expect(&context, "vulkan", REPORT_UNSUPPORTED, "no device of the node offers vulkan");
	expect(&context, "opencl", REPORT_UNSUPPORTED, "no device of the node offers opencl");
}

static void test_the_host_proves_nothing_about_containers(void)
{
	struct context context = one_device();
	struct plan plan CLEANUP_PLAN = {0};
	context.launcher = "process";
	expect(&context, "container", REPORT_UNSUPPORTED, "--launcher process");
	make(&context, NULL, &plan);
	UNIT_CONTAINS(find(plan.items, plan.count, "vulkan")->unproven, "--launcher process");
	UNIT_CONTAINS(find(plan.items, plan.count, "probe")->unproven, "--launcher process");
	CU_ASSERT_PTR_NULL(find(plan.items, plan.count, "device")->unproven);
}

static void test_what_filters_leave_out_is_known(void)
{
	struct context context = one_device();
	struct plan all CLEANUP_PLAN = {0};
	struct plan some CLEANUP_PLAN = {0};
	const struct plan_item *item = NULL;
	/* A run that names no checks leaves out those of another system. */
	make(&context, NULL, &all);
	UNIT_INT(all.left_out_count, 1);
	UNIT_STRING(all.items[all.count].check->id, "plan.windows");
	UNIT_INT(all.items[all.count].outcome, REPORT_NOT_APPLICABLE);
	make(&context, "plan.vulkan", &some);
	UNIT_INT(some.count, 1);
	UNIT_INT(some.left_out_count, ARRAY_SIZE(checks) - 2);
	item = find(some.items + some.count, some.left_out_count, "container");
	UNIT_NEED(item != NULL);
	UNIT_INT(item->outcome, REPORT_PASS); /* it applies, and did not run */
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"what is not about this node does not apply",
		 test_what_is_not_about_this_node_does_not_apply},
		{"what cannot be tested is unsupported", test_what_cannot_be_tested_is_unsupported},
		{"a node without a known API leaves the rule open",
		 test_a_node_without_a_known_api_leaves_the_rule_open},
		{"the host proves nothing about containers",
		 test_the_host_proves_nothing_about_containers},
		{"what filters leave out is known", test_what_filters_leave_out_is_known},
		CU_TEST_INFO_NULL,
	};
	return unit_run("needs", tests);
}
