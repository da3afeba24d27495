/* SPDX-License-Identifier: MIT */
#include "conformance/runner/plan.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "discovery/filter.h"

#include <string.h>

static const struct requirement requirements[CHECK_REQUIREMENT_COUNT] = {
#define REQUIREMENT(symbol, id, level, sentence, source)                                           \
	[CHECK_##symbol] = {id, level, sentence, source, 0},
#define REQUIREMENT_LIMIT(symbol, id, level, before, limit, after, source)                         \
	[CHECK_##symbol] = {id, level, before #limit after, source, limit},
#include "conformance/runner/requirements.def"
#undef REQUIREMENT
};

const struct requirement *requirement_get(enum check_requirement requirement)
{
	return &requirements[requirement];
}

long long requirement_limit(enum check_requirement requirement)
{
	return requirements[requirement].limit;
}

uint64_t requirement_limit_ms(enum check_requirement requirement)
{
	return (uint64_t)requirement_limit(requirement) * 1000;
}

static bool has_tag(const struct check *check, const char *tag)
{
	return check->tags != NULL && check->tags[text_position(check->tags, tag)] != NULL;
}

static bool matches(const char *pattern, const struct check_suite *suite, const struct check *check)
{
	const struct requirement *requirement = requirement_get(check->requirement);
	if (text_starts_with(pattern, "tag:"))
		return has_tag(check, pattern + 4);
	if (text_starts_with(pattern, "level:"))
		return strcmp(report_level_names[requirement->level], pattern + 6) == 0;
	if (text_starts_with(pattern, "severity:"))
		return strcmp(report_severity_names[check->severity], pattern + 9) == 0;
	if (text_starts_with(pattern, "requirement:"))
		return strcmp(requirement->id, pattern + 12) == 0;
	return strcmp(suite->name, pattern) == 0 || text_glob(pattern, check->id);
}

static bool selects(const struct text_list *patterns, const struct check_suite *suite,
		    const struct check *check)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (matches(patterns->items[i], suite, check))
			return true;
	}
	return false;
}

static size_t count_devices(const struct context *context, const char *api)
{
	size_t count = 0;
	for (size_t i = 0; i < context->node->device_count; i++) {
		if (api == NULL || filter_offers(&context->node->devices[i], api))
			count++;
	}
	return count;
}

static bool os_is_met(const struct check_needs *needs, const struct context *context)
{
	return needs->os == NULL || strcmp(context->node->system.os, needs->os) == 0;
}

static bool probes(const struct check_needs *needs)
{
	return needs->launcher || needs->containers;
}

/* An unmet need: what it means, and its reason. */
static void miss(struct plan_item *item, enum report_outcome outcome, char *reason)
{
	item->outcome = outcome;
	item->reason = reason;
}

/* The needs without which the rule is not about this node. */
static void judge_node(struct plan_item *item, const struct context *context)
{
	const struct check_needs *needs = &item->check->needs;
	size_t devices = count_devices(context, NULL);
	if (!os_is_met(needs, context)) {
		miss(item, REPORT_NOT_APPLICABLE,
		     text_format("needs a %s node, this one is %s", needs->os,
				 context->node->system.os));
	} else if (devices < needs->devices) {
		miss(item, devices == 0 ? REPORT_UNSUPPORTED : REPORT_NOT_APPLICABLE,
		     text_format("needs %u device%s, the node has %zu", needs->devices,
				 needs->devices == 1 ? "" : "s", devices));
	} else if ((needs->live_node || probes(needs)) && context->node_file != NULL) {
		miss(item, REPORT_NOT_APPLICABLE,
		     strdup("needs the node itself; a recorded node was given (--node)"));
	} else if (needs->api != NULL && count_devices(context, needs->api) == 0) {
		item->no_api = true;
		miss(item, REPORT_NOT_APPLICABLE,
		     text_format("no device of the node offers %s", needs->api));
	}
}

/* The needs of a test of which the rule knows nothing. */
static void judge_run(struct plan_item *item, const struct context *context)
{
	const struct check_needs *needs = &item->check->needs;
	if (needs->own_plugin && context->plugin_command == NULL)
		miss(item, REPORT_UNSUPPORTED,
		     strdup("needs a plugin that the suite starts itself (--plugin)"));
	else if (probes(needs) && strcmp(context->launcher, "none") == 0)
		miss(item, REPORT_UNSUPPORTED,
		     text_format("needs to run probes: %s", context->launcher_missing));
	else if (needs->containers && strcmp(context->launcher, "containerd") != 0)
		miss(item, REPORT_UNSUPPORTED,
		     strdup("needs containers; --launcher process runs probes on the host"));
}

static int judge(struct plan_item *item, const struct context *context, struct error *err)
{
	if (item->check->needs.launcher && strcmp(context->launcher, "process") == 0)
		item->unproven = "the probes ran on the host (--launcher process), which proves "
				 "nothing about containers";
	judge_node(item, context);
	if (item->outcome == REPORT_PASS)
		judge_run(item, context);
	return item->outcome == REPORT_PASS || item->reason != NULL ? 0 : error_memory(err);
}

/* A requirement applies also where no device offers any API that could show it: then it is not
 * tested. */
static void open_without_api(struct plan *plan)
{
	bool applied[CHECK_REQUIREMENT_COUNT] = {false};
	size_t count = plan->count + plan->left_out_count;
	for (size_t i = 0; i < count; i++) {
		const struct plan_item *item = &plan->items[i];
		if (item->outcome != REPORT_NOT_APPLICABLE)
			applied[item->check->requirement] = true;
	}
	for (size_t i = 0; i < count; i++) {
		struct plan_item *item = &plan->items[i];
		if (item->no_api && !applied[item->check->requirement])
			item->outcome = REPORT_UNSUPPORTED;
	}
}

static bool is_selected(const struct plan_filter *filter, const struct context *context,
			const struct check_suite *suite, const struct check *check)
{
	if (selects(&filter->exclude, suite, check))
		return false;
	if (filter->include.count != 0)
		return selects(&filter->include, suite, check);
	return context == NULL || os_is_met(&check->needs, context);
}

/* Adds the check's item, which is counted by *count. */
static int add_item(struct plan *plan, size_t *count, const struct context *context,
		    const struct check_suite *suite, const struct check *check, struct error *err)
{
	size_t total = plan->count + plan->left_out_count;
	struct plan_item *items = array_grow(plan->items, total, sizeof(*items));
	if (items == NULL)
		return error_memory(err);
	plan->items = items;
	items[total] = (struct plan_item){.suite = suite, .check = check};
	++*count;
	return context != NULL ? judge(&items[total], context, err) : 0;
}

/* Adds those that are selected, or those that are not. */
static int add_items(struct plan *plan, const struct check_suite *const *suites,
		     const struct plan_filter *filter, const struct context *context, bool selected,
		     struct error *err)
{
	size_t *count = selected ? &plan->count : &plan->left_out_count;
	int rc = 0;
	for (; rc == 0 && *suites != NULL; suites++) {
		for (const struct check *check = (*suites)->checks; rc == 0 && check->id != NULL;
		     check++) {
			if (is_selected(filter, context, *suites, check) == selected)
				rc = add_item(plan, count, context, *suites, check, err);
		}
	}
	return rc;
}

/* Moves the selected rows that run last behind the others; the order is kept otherwise. */
static int move_last(struct plan *plan, struct error *err)
{
	struct plan_item *moved CLEANUP_FREE = calloc(plan->count + 1, sizeof(*moved));
	size_t count = 0, kept = 0;
	if (moved == NULL)
		return error_memory(err);
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->items[i].check->last)
			moved[count++] = plan->items[i];
		else
			plan->items[kept++] = plan->items[i];
	}
	if (count != 0)
		memcpy(&plan->items[kept], moved, count * sizeof(*moved));
	return 0;
}

static int not_found(const struct check_suite *const *suites, const char *pattern,
		     struct error *err)
{
	const char *nearest = "";
	size_t least = SIZE_MAX;
	for (; *suites != NULL; suites++) {
		const char *name = (*suites)->name;
		const struct check *check = (*suites)->checks;
		for (; name != NULL; name = check++->id) {
			size_t distance = text_distance(pattern, name);
			if (distance < least) {
				least = distance;
				nearest = name;
			}
		}
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "no check matches '%s'; did you mean '%s'? 'gpucert list' shows all",
			 pattern, nearest);
}

/* Every pattern matches a check. */
static int all_match(const struct plan *plan, const struct check_suite *const *suites,
		     const struct text_list *patterns, struct error *err)
{
	size_t count = plan->count + plan->left_out_count;
	for (size_t i = 0; i < patterns->count; i++) {
		size_t k = 0;
		while (k < count &&
		       !matches(patterns->items[i], plan->items[k].suite, plan->items[k].check))
			k++;
		if (k == count)
			return not_found(suites, patterns->items[i], err);
	}
	return 0;
}

int plan_make(const struct check_suite *const *suites, const struct plan_filter *filter,
	      const struct context *context, struct plan *plan, struct error *err)
{
	int rc = add_items(plan, suites, filter, context, true, err);
	if (rc == 0)
		rc = move_last(plan, err);
	if (rc == 0)
		rc = add_items(plan, suites, filter, context, false, err);
	if (rc == 0)
		rc = all_match(plan, suites, &filter->include, err);
	if (rc == 0)
		rc = all_match(plan, suites, &filter->exclude, err);
	if (rc == 0)
		open_without_api(plan);
	else
		plan_free(plan);
	return rc;
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->count + plan->left_out_count; i++)
		free(plan->items[i].reason);
	free(plan->items);
	*plan = (struct plan){0};
}

const struct plan_item *plan_cause(const struct plan *plan, const struct check_suite *const *suites,
				   size_t index)
{
	const struct check *check = plan->items[index].check;
	const struct check_suite *suite = NULL;
	while (check->stands_on != NULL &&
	       plan_find(suites, check->stands_on, &suite, &check, NULL) == 0) {
		for (size_t i = 0; i < index; i++) {
			if (plan->items[i].check == check &&
			    report_outcome_is_bad(plan->items[i].outcome))
				return &plan->items[i];
		}
	}
	return NULL;
}

int plan_find(const struct check_suite *const *suites, const char *id,
	      const struct check_suite **suite, const struct check **check, struct error *err)
{
	for (const struct check_suite *const *s = suites; *s != NULL; s++) {
		for (const struct check *c = (*s)->checks; c->id != NULL; c++) {
			if (strcmp(c->id, id) == 0) {
				*suite = *s;
				*check = c;
				return 0;
			}
		}
	}
	return not_found(suites, id, err);
}
