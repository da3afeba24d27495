/* SPDX-License-Identifier: MIT */
#include "base/style.h"
#include "conformance/checks/suites.h"
#include "conformance/cli/commands.h"
#include "conformance/runner/plan.h"

#include <stdio.h>
#include <unistd.h>

static void show_field(const char *name, const char *value)
{
	(void)printf("  %-12s %s\n", name, value);
}

static void show_needs(const struct check_needs *needs)
{
	struct text list CLEANUP_TEXT = {0};
	if (needs->devices != 0)
		text_addf(&list, ", %u device%s", needs->devices, needs->devices == 1 ? "" : "s");
	if (needs->api != NULL)
		text_addf(&list, ", a device that offers %s", needs->api);
	if (needs->own_plugin)
		text_add(&list, ", a plugin that the suite starts (--plugin)");
	if (needs->live_node)
		text_add(&list, ", the node itself");
	if (needs->containers)
		text_add(&list, ", containers");
	else if (needs->launcher)
		text_add(&list, ", probes that can run");
	show_field("Needs", list.size != 0 ? text_string(&list) + 2 : "nothing special");
}

static void show_check(const struct check_suite *suite, const struct check *check)
{
	const struct requirement *requirement = requirement_get(check->requirement);
	bool color = style_enabled(STDOUT_FILENO);
	(void)printf("%s%s%s\n\n", style(color, STYLE_BOLD), check->id, style(color, STYLE_RESET));
	show_field("Checks", check->title);
	show_field("Suite", suite->title);
	if (requirement != NULL) {
		(void)printf("  %-12s %s (%s): %s\n", "Requirement", requirement->id,
			     check_level_name(requirement->level), requirement->sentence);
		show_field("Source", requirement->source);
	}
	show_field("Severity", check_severity_name(check->severity));
	(void)printf("  %-12s %u\n", "Revision", check->revision);
	(void)printf("  %-12s %u s\n", "Time limit", check->timeout_s);
	show_needs(&check->needs);
	if (check->stands_on != NULL)
		show_field("Stands on", check->stands_on);
	show_field("If it fails", check->advice);
}

static int show_run(const struct text_list *arguments)
{
	const struct check_suite *suite = NULL;
	const struct check *check = NULL;
	struct error err = {0};
	if (arguments->count == 0) {
		(void)fprintf(stderr, "gpucert show: name a check; 'gpucert list' shows all\n");
		return 2;
	}
	for (size_t i = 0; i < arguments->count; i++) {
		if (plan_find(suites, arguments->items[i], &suite, &check, &err) < 0) {
			(void)fprintf(stderr, "gpucert show: %s\n", err.text);
			return 2;
		}
		if (i > 0)
			(void)printf("\n");
		show_check(suite, check);
	}
	return 0;
}

static const char *const show_examples[] = {
	"gpucert show isolation.single-device",
	"Tell what it checks, why, and what to do when it fails.",
	NULL,
};

static const char *const show_exit_codes[] = {"0", "done", "2", "usage, or no such check", NULL};

const struct command_spec command_show = {
	.name = "show",
	.summary = "Explain a check: its requirement, its source, and what to do when it fails",
	.arguments = "CHECK...",
	.examples = show_examples,
	.exit_codes = show_exit_codes,
	.run = show_run,
};
