/* SPDX-License-Identifier: MIT */
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

static const char *list_requirement(const struct check *check)
{
	const struct requirement *requirement = requirement_get(check->requirement);
	return requirement != NULL ? requirement->id : "";
}

static const char *list_level(const struct check *check)
{
	const struct requirement *requirement = requirement_get(check->requirement);
	return requirement != NULL ? check_level_name(requirement->level) : "";
}

static cJSON *item_json(const struct plan_item *item)
{
	const struct check *check = item->check;
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "id", check->id);
	member_string(&json, "suite", item->suite->name);
	member_string(&json, "title", check->title);
	member_string(&json, "requirement", list_requirement(check));
	member_string(&json, "level", list_level(check));
	member_string(&json, "severity", check_severity_name(check->severity));
	if (check->stands_on != NULL)
		member_string(&json, "standsOn", check->stands_on);
	member_int(&json, "revision", check->revision);
	member_int(&json, "timeoutSeconds", check->timeout_s);
	return members_take(&json);
}

static int print_json(const struct plan *plan)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < plan->count; i++)
		rc = members_append(array, item_json(&plan->items[i]), NULL);
	char *text CLEANUP_FREE = rc == 0 ? json_print(array) : NULL;
	if (text == NULL)
		return 3;
	(void)fputs(text, stdout);
	return 0;
}

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
		if (item->suite != suite) {
			(void)printf("%s%s%s%s\n", suite != NULL ? "\n" : "",
				     style(color, STYLE_BOLD), item->suite->title,
				     style(color, STYLE_RESET));
			suite = item->suite;
		}
		(void)printf("  %-*s  %-7s %-6s %s\n", width, item->check->id,
			     list_requirement(item->check), list_level(item->check),
			     item->check->title);
	}
	(void)printf("\n%zu checks. 'gpucert show CHECK' explains one.\n", plan->count);
}

static int list_run(const struct text_list *arguments)
{
	struct plan plan CLEANUP_PLAN = {0};
	struct plan_filter filter = {.include = *arguments, .exclude = list.exclude};
	struct error err = {0};
	int code = 0;
	if (plan_make(suites, &filter, NULL, &plan, &err) < 0) {
		(void)fprintf(stderr, "gpucert list: %s\n", err.text);
		code = 2;
	} else if (list.json) {
		code = print_json(&plan);
	} else {
		print_table(&plan);
	}
	text_list_free(&list.exclude);
	return code;
}

static const struct option_spec list_options[] = {
	{OPTION_ROW("json", OPTION_FLAG, list.json), .help = "Print a JSON array."},
	{OPTION_ROW("exclude", OPTION_LIST, list.exclude), .letter = 'x', .value = "PATTERN",
	 .help = "Leave out checks that match."},
	{.name = NULL},
};

static const char *const list_examples[] = {
	"gpucert list",
	"List every check.",
	"gpucert list isolation level:must",
	"List the isolation suite, and whatever is a MUST.",
	NULL,
};

static const char *const list_exit_codes[] = {"0", "done", "2", "usage, or no check matches", NULL};

const struct command_spec command_list = {
	.name = "list",
	.summary = "List the checks",
	.arguments = "[PATTERN...]",
	.description = "A pattern is a suite (isolation), a check (api.vulkan), a glob over "
		       "checks ('registration.*'), or one of tag:NAME, level:must|should|may, "
		       "severity:critical|high|medium|low, requirement:ID.",
	.options = list_options,
	.examples = list_examples,
	.exit_codes = list_exit_codes,
	.run = list_run,
};
