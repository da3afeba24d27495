/* SPDX-License-Identifier: MIT */
#include "base/json.h"
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

static cJSON *list_item_json(const struct plan_item *item)
{
	cJSON *json = cJSON_CreateObject();

	if (json == NULL)
		return NULL;
	(void)cJSON_AddStringToObject(json, "id", item->check->id);
	if (item->variant != NULL)
		(void)cJSON_AddStringToObject(json, "variant", item->variant->name);
	(void)cJSON_AddStringToObject(json, "suite", item->suite->name);
	(void)cJSON_AddStringToObject(json, "title", item->check->title);
	(void)cJSON_AddStringToObject(json, "requirement", list_requirement(item->check));
	(void)cJSON_AddStringToObject(json, "level", list_level(item->check));
	(void)cJSON_AddStringToObject(json, "severity", check_severity_name(item->check->severity));
	if (item->check->stands_on != NULL)
		(void)cJSON_AddStringToObject(json, "standsOn", item->check->stands_on);
	(void)cJSON_AddNumberToObject(json, "revision", item->check->revision);
	(void)cJSON_AddNumberToObject(json, "timeoutSeconds", item->check->timeout_s);
	return json;
}

static int list_print_json(const struct plan *plan)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();
	char *text CLEANUP_FREE = NULL;

	for (size_t i = 0; i < plan->count; i++)
		(void)cJSON_AddItemToArray(array, list_item_json(&plan->items[i]));
	text = array != NULL ? json_print(array) : NULL;
	if (text == NULL)
		return 3;
	(void)fputs(text, stdout);
	return 0;
}

static void list_print_table(const struct plan *plan)
{
	const struct check_suite *suite = NULL;
	bool color = style_enabled(STDOUT_FILENO);
	int width = 0;

	for (size_t i = 0; i < plan->count; i++) {
		int length = (int)strlen(plan->items[i].name);

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
		(void)printf("  %-*s  %-7s %-6s %s\n", width, item->name,
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
		code = list_print_json(&plan);
	} else {
		list_print_table(&plan);
	}
	text_list_free(&list.exclude);
	return code;
}

static const struct option_spec list_options[] = {
	{.name = "json", .type = OPTION_FLAG, .target = &list.json, .help = "Print a JSON array."},
	{.name = "exclude",
	 .letter = 'x',
	 .type = OPTION_LIST,
	 .target = &list.exclude,
	 .value = "PATTERN",
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
	.description = "A pattern is a suite (isolation), a check (api.vulkan), a glob over checks "
		       "('registration.*'), or one of tag:NAME, level:must|should|may, "
		       "severity:critical|high|medium|low, requirement:ID.",
	.options = list_options,
	.examples = list_examples,
	.exit_codes = list_exit_codes,
	.run = list_run,
};
