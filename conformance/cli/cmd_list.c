/* SPDX-License-Identifier: MIT */
/* `list` and `show`: the checks, without running any. */
#include "base/members.h"
#include "base/style.h"
#include "conformance/checks/suites.h"
#include "conformance/cli/commands.h"
#include "conformance/runner/plan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
	bool json;
	struct text_list exclude;
} list;

static void print_table(const struct plan *plan)
{
	const struct check_suite *suite = NULL;
	bool color = style_enabled(STDOUT_FILENO);
	int width = 0;
	for (size_t i = 0; i < plan->count; i++) {
		int length = (int)strlen(plan->items[i].check->id);
		width = length > width ? length : width;
	}
	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_item *item = &plan->items[i];
		const struct requirement *requirement = requirement_get(item->check->requirement);
		if (item->suite != suite) {
			(void)printf("%s%s%s%s\n", suite != NULL ? "\n" : "",
				     style(color, STYLE_BOLD), item->suite->title,
				     style(color, STYLE_RESET));
			suite = item->suite;
		}
		(void)printf("  %-*s  %-7s %-6s %s\n", width, item->check->id, requirement->id,
			     report_level_names[requirement->level], item->check->title);
	}
	(void)printf("\n%zu check%s. 'gpucert show CHECK' explains one.\n", plan->count,
		     plan->count == 1 ? "" : "s");
}

static int list_run(const struct text_list *arguments)
{
	struct plan plan CLEANUP_PLAN = {0};
	struct plan_filter filter = {.include = *arguments, .exclude = list.exclude};
	struct error err = {0};
	int rc = plan_make(suites, &filter, NULL, &plan, &err);
	text_list_free(&list.exclude);
	if (rc < 0)
		return command_failed("list", ERROR_ARGUMENT, &err);
	if (!list.json) {
		print_table(&plan);
		return EXIT_SUCCESS;
	}

	struct members array CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < plan.count; i++) {
		const struct plan_item *item = &plan.items[i];
		const struct check *check = item->check;
		const struct requirement *requirement = requirement_get(check->requirement);
		struct members row = member_object(&array, NULL);
		member_string(&row, "id", check->id);
		member_string(&row, "suite", item->suite->name);
		member_string(&row, "title", check->title);
		member_string(&row, "requirement", requirement->id);
		member_string(&row, "level", report_level_names[requirement->level]);
		member_string(&row, "sentence", requirement->sentence);
		member_string(&row, "source", requirement->source);
		member_string(&row, "advice", check->advice);
		member_string(&row, "severity", report_severity_names[check->severity]);
		if (check->depends_on != NULL)
			member_string(&row, "dependsOn", check->depends_on);
		member_int(&row, "revision", check->revision);
		member_int(&row, "timeoutSeconds", check->timeout_s);
	}
	rc = options_print(json_print(array.object), &err);
	return command_end("list", rc, &err);
}

static const struct option_spec list_options[] = {
	{OPTION_ROW("json", OPTION_FLAG, list.json), .help = "Print a JSON array."},
	{OPTION_ROW("exclude", OPTION_LIST, list.exclude), .letter = 'x', .value = "PATTERN",
	 .help = "Leave out checks that match."},
	{0},
};

const struct command_spec command_list = {
	.name = "list",
	.summary = "List the checks",
	.arguments = "[PATTERN...]",
	.description = "A pattern is a suite (isolation), a check (api.vulkan), a glob over "
		       "checks ('registration.*'), or one of tag:NAME, level:must|should|may, "
		       "severity:critical|high|medium|low, requirement:ID.",
	.options = list_options,
	.examples = TEXTS("gpucert list", "List every check.", "gpucert list isolation level:must",
			  "List the isolation suite, and every MUST check."),
	.exit_codes = TEXTS("0", "done", "2", "usage, or no check matches"),
	.run = list_run,
};

static void show_field(const char *name, const char *value)
{
	(void)printf("  %-12s %s\n", name, value);
}

static void show_check(const struct check_suite *suite, const struct check *check)
{
	const struct requirement *requirement = requirement_get(check->requirement);
	const struct check_needs *needs = &check->needs;
	struct text all CLEANUP_TEXT = {0};
	bool color = style_enabled(STDOUT_FILENO);

	if (needs->devices != 0)
		text_addf(&all, ", %u device%s", needs->devices, needs->devices == 1 ? "" : "s");
	if (needs->api != NULL)
		text_addf(&all, ", a device that offers %s", needs->api);
	if (needs->own_plugin)
		text_add(&all, ", a plugin that the suite starts (--plugin)");
	if (needs->live_node)
		text_add(&all, ", the node itself");
	if (needs->containers)
		text_add(&all, ", containers");
	else if (needs->launcher)
		text_add(&all, ", probes that can run");

	(void)printf("%s%s%s\n\n", style(color, STYLE_BOLD), check->id, style(color, STYLE_RESET));
	show_field("Checks", check->title);
	show_field("Suite", suite->title);
	(void)printf("  %-12s %s (%s): %s\n", "Requirement", requirement->id,
		     report_level_names[requirement->level], requirement->sentence);
	show_field("Source", requirement->source);
	show_field("Severity", report_severity_names[check->severity]);
	(void)printf("  %-12s %u\n", "Revision", check->revision);
	(void)printf("  %-12s %u s\n", "Time limit", check->timeout_s);
	show_field("Needs", all.size != 0 ? text_string(&all) + 2 : "nothing special");
	if (check->depends_on != NULL)
		show_field("Depends on", check->depends_on);
	show_field("If it fails", check->advice);
}

static int show_run(const struct text_list *arguments)
{
	struct plan plan CLEANUP_PLAN = {0};
	const struct plan_filter filter = {.include = *arguments};
	struct error err = {0};
	if (arguments->count == 0) {
		(void)fprintf(stderr, "gpucert show: name a check; 'gpucert list' shows all\n");
		return 2;
	}
	if (plan_make(suites, &filter, NULL, &plan, &err) < 0)
		return command_failed("show", ERROR_ARGUMENT, &err);
	for (size_t i = 0; i < plan.count; i++) {
		if (i > 0)
			(void)printf("\n");
		show_check(plan.items[i].suite, plan.items[i].check);
	}
	return 0;
}

const struct command_spec command_show = {
	.name = "show",
	.summary = "Explain a check: its requirement, its source, and what to do when it fails",
	.arguments = "PATTERN...",
	.description = "PATTERN is as in 'gpucert list': a check, a suite, a glob.",
	.examples = TEXTS("gpucert show isolation.single-device",
			  "Print what it checks, why, and what to do when it fails.",
			  "gpucert show api", "Explain each check of the suite."),
	.exit_codes = TEXTS("0", "done", "2", "usage, or no such check"),
	.run = show_run,
};
