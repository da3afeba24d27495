/* SPDX-License-Identifier: MIT */
#include "conformance/runner/plan.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "conformance/kubelet/id_set.h"
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

static bool matches(const char *pattern, const struct check_suite *suite, const struct check *check)
{
	const struct requirement *requirement = requirement_get(check->requirement);
	if (text_starts_with(pattern, "tag:"))
		return check->tags != NULL &&
		       check->tags[text_position(check->tags, pattern + 4)] != NULL;
	if (text_starts_with(pattern, "level:"))
		return text_equal(report_level_names[requirement->level], pattern + 6);
	if (text_starts_with(pattern, "severity:"))
		return text_equal(report_severity_names[check->severity], pattern + 9);
	if (text_starts_with(pattern, "requirement:"))
		return text_equal(requirement->id, pattern + 12);
	return text_equal(suite->name, pattern) || text_glob(pattern, check->id);
}

static bool selects(const struct text_list *patterns, const struct check_suite *suite,
		    const struct check *check)
{
	text_each (pattern, patterns) {
		if (matches(pattern, suite, check))
			return true;
	}
	return false;
}

static bool os_is_met(const struct check_needs *needs, const struct context *context)
{
	return needs->os == NULL || text_equal(context->node->system.os, needs->os);
}

/* Without the option that a check needs, a run that names no checks leaves it out. NULL: none is missing. */
static const char *missing_option(const struct check_needs *needs, const struct context *context)
{
	if (needs->failing_device && context->fail_device == NULL)
		return "needs commands that make a device fail and work again "
		       "(--fail-device, --restore-device)";
	if (needs->optional_calls && context->optional_calls.count == 0)
		return "no optional call is expected (--optional-call)";
	if (needs->registry && !context_uses_registry(context))
		return "the plugin does not see plugins_registry (--private-mounts, or {registry-dir} in --plugin)";
	return NULL;
}

/* Evaluates the needs of the item's check; the first unmet one counts. */
static void judge(struct plan_item *item, const struct context *context)
{
	const struct check_needs *needs = &item->check->needs;
	const bool probes = needs->launcher || needs->containers;
	const size_t devices = context->node->device_count;
	size_t offering = 0;
	for (size_t i = 0; needs->api != NULL && i < devices; i++)
		offering += filter_offers(&context->node->devices[i], needs->api);

	if (needs->launcher && text_equal(context->launcher, "process"))
		item->unproven = "the probes ran on the host (--launcher process), which proves "
				 "nothing about containers";

	/* Needs without which the rule does not apply to this node. */
	item->outcome = REPORT_NOT_APPLICABLE;
	if (!os_is_met(needs, context)) {
		item->reason = text_format("needs a %s node, this one is %s", needs->os,
					   context->node->system.os);
		return;
	}
	if (devices < needs->devices) {
		if (devices == 0)
			item->outcome = REPORT_UNSUPPORTED;
		item->reason = text_format("needs %u device%s, the node has %zu", needs->devices,
					   needs->devices == 1 ? "" : "s", devices);
		return;
	}
	if ((needs->live_node || probes) && context->node_file != NULL) {
		item->reason =
			memory_copy("needs the node itself; a recorded node was given (--node)");
		return;
	}
	if (needs->api != NULL && offering == 0) {
		item->no_api = true;
		item->reason = text_format("no device of the node offers %s", needs->api);
		return;
	}

	const char *missing = missing_option(needs, context);
	if (missing != NULL && !needs->failing_device) {
		item->reason = memory_copy(missing);
		return;
	}

	/* Needs of the test, which the rule does not mention. */
	item->outcome = REPORT_UNSUPPORTED;
	if (needs->own_plugin && context->plugin_command == NULL)
		item->reason =
			memory_copy("needs a plugin that the suite starts itself (--plugin)");
	else if (missing != NULL)
		item->reason = memory_copy(missing);
	else if (probes && text_equal(context->launcher, "none"))
		item->reason = text_format("needs to run probes: %s", context->launcher_missing);
	else if (needs->containers && !text_equal(context->launcher, "containerd"))
		item->reason =
			memory_copy("needs containers; --launcher process runs probes on the host");
	else
		item->outcome = REPORT_PASS;
}

/* Adds the checks that are selected, or the others; *count counts them. */
static void add_items(struct plan *plan, size_t *count, const struct check_suite *const *suites,
		      const struct plan_filter *filter, const struct context *context,
		      bool selected)
{
	size_t position = 0;
	for (; *suites != NULL; suites++) {
		for (const struct check *check = (*suites)->checks; check->id != NULL; check++) {
			bool matched =
				context == NULL || (os_is_met(&check->needs, context) &&
						    missing_option(&check->needs, context) == NULL);
			if (filter->include.count != 0)
				matched = selects(&filter->include, *suites, check);
			if (selects(&filter->exclude, *suites, check))
				matched = false;
			if (matched && filter->shard_count > 1)
				matched = position++ % filter->shard_count == filter->shard;
			if (matched != selected)
				continue;

			size_t total = plan->count + plan->left_out_count;
			plan->items = array_grow(plan->items, total, sizeof(*plan->items));
			plan->items[total] = (struct plan_item){.suite = *suites, .check = check};
			if (context != NULL)
				judge(&plan->items[total], context);
			++*count;
		}
	}
}

static int not_found(const struct check_suite *const *suites, const char *pattern,
		     struct error *err)
{
	/* Levels and severities have few names. */
	const char *const *names = text_starts_with(pattern, "level:")	    ? report_level_names
				   : text_starts_with(pattern, "severity:") ? report_severity_names
									    : NULL;
	if (names != NULL && names[text_position(names, strchr(pattern, ':') + 1)] == NULL) {
		struct text known CLEANUP_TEXT = {0};
		for (; *names != NULL; names++)
			text_addf(&known, "%s%s", known.size != 0 ? ", " : "", *names);
		return error_set(err, ERROR_ARGUMENT, "no check matches '%s'; expected one of %s",
				 pattern, text_string(&known));
	}
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
	if (!text_is_near(pattern, nearest))
		return error_set(err, ERROR_ARGUMENT,
				 "no check matches '%s'; 'gpucert list' shows all", pattern);
	return error_set(err, ERROR_ARGUMENT,
			 "no check matches '%s'; did you mean '%s'? 'gpucert list' shows all",
			 pattern, nearest);
}

/* Every pattern must match a check. */
static int all_match(const struct plan *plan, const struct check_suite *const *suites,
		     const struct text_list *patterns, struct error *err)
{
	size_t count = plan->count + plan->left_out_count;
	text_each (pattern, patterns) {
		size_t k = 0;
		while (k < count && !matches(pattern, plan->items[k].suite, plan->items[k].check))
			k++;
		if (k == count)
			return not_found(suites, pattern, err);
	}
	return 0;
}

/* The check on which this one depends; NULL: none. */
static const struct check *needed_by(const struct check *check,
				     const struct check_suite *const *suites)
{
	const struct check_suite *suite = NULL;
	return check->depends_on != NULL &&
			       plan_find(suites, check->depends_on, &suite, &check, NULL) == 0
		       ? check
		       : NULL;
}

static bool depends_on(const struct check_suite *const *suites, const struct check *check,
		       const struct check *other)
{
	do
		check = needed_by(check, suites);
	while (check != NULL && check != other);
	return check != NULL;
}

struct plan_item *plan_awaited(const struct plan *plan, const struct check_suite *const *suites,
			       const struct check *check)
{
	struct plan_item *awaited = NULL;
	while ((check = needed_by(check, suites)) != NULL) {
		for (size_t i = 0; i < plan->count; i++) {
			if (plan->items[i].check == check && !plan->items[i].ended)
				awaited = &plan->items[i];
		}
	}
	return awaited;
}

static bool depends_on_any(const struct check *check, const struct plan_item *const *items,
			   size_t count, const struct check_suite *const *suites)
{
	for (size_t i = 0; i < count; i++) {
		if (items[i] != NULL && depends_on(suites, check, items[i]->check))
			return true;
	}
	return false;
}

/* A random order, in which each place gets the first item that depends on none of the remaining ones. */
static void shuffle(struct plan_item *items, size_t count, uint64_t seed,
		    const struct check_suite *const *suites)
{
	struct random random = {.state = seed};
	struct plan_item *copy CLEANUP_FREE = memory_allocate(count + 1, sizeof(*copy));
	const struct plan_item **left CLEANUP_FREE = memory_allocate(count + 1, sizeof(*left));
	for (size_t i = 0; i < count; i++) {
		copy[i] = items[i];
		left[i] = &copy[i];
	}
	random_shuffle(&random, left, count);
	for (size_t place = 0; place < count; place++) {
		size_t i = 0;
		while (left[i] == NULL || depends_on_any(left[i]->check, left, count, suites))
			i++;
		items[place] = *left[i];
		left[i] = NULL;
	}
}

int plan_make(const struct check_suite *const *suites, const struct plan_filter *filter,
	      const struct context *context, struct plan *plan, struct error *err)
{
	add_items(plan, &plan->count, suites, filter, context, true);

	/* Moves rows that run last to the end; the order is kept otherwise. */
	struct plan_item *moved CLEANUP_FREE = memory_allocate(plan->count + 1, sizeof(*moved));
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->items[i].check->last)
			moved[count++] = plan->items[i];
		else
			plan->items[kept++] = plan->items[i];
	}
	if (count != 0)
		memcpy(&plan->items[kept], moved, count * sizeof(*moved));
	if (filter->seed != 0)
		shuffle(plan->items, kept, filter->seed, suites);

	add_items(plan, &plan->left_out_count, suites, filter, context, false);
	int rc = all_match(plan, suites, &filter->include, err);
	if (rc == 0)
		rc = all_match(plan, suites, &filter->exclude, err);
	if (rc < 0) {
		plan_free(plan);
		return rc;
	}

	/* A requirement whose checks all lack a device with their API still applies: it is not
	 * tested. */
	bool applied[CHECK_REQUIREMENT_COUNT] = {false};
	size_t total = plan->count + plan->left_out_count;
	for (size_t i = 0; i < total; i++) {
		if (plan->items[i].outcome != REPORT_NOT_APPLICABLE)
			applied[plan->items[i].check->requirement] = true;
	}
	for (size_t i = 0; i < total; i++) {
		struct plan_item *item = &plan->items[i];
		if (item->no_api && !applied[item->check->requirement])
			item->outcome = REPORT_UNSUPPORTED;
	}
	return 0;
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
	while ((check = needed_by(check, suites)) != NULL) {
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
			if (text_equal(c->id, id)) {
				*suite = *s;
				*check = c;
				return 0;
			}
		}
	}
	return not_found(suites, id, err);
}
