/* SPDX-License-Identifier: MIT */
#include "conformance/runner/plan.h"

#include "base/text.h"
#include "conformance/runner/needs.h"

#include <string.h>

enum { PATTERNS_MAX = 1024 };

/* Which patterns of a filter matched anything so far. */
struct plan_matched {
	bool include[PATTERNS_MAX];
	bool exclude[PATTERNS_MAX];
};

const char *check_level_name(enum check_level level)
{
	static const char *const names[] = {"must", "should", "may"};

	return names[level];
}

const char *check_severity_name(enum check_severity severity)
{
	static const char *const names[] = {"critical", "high", "medium", "low"};

	return names[severity];
}

static bool plan_has_tag(const struct check *check, const char *tag)
{
	for (const char *const *t = check->tags; t != NULL && *t != NULL; t++) {
		if (strcmp(*t, tag) == 0)
			return true;
	}
	return false;
}

static bool plan_matches(const char *pattern, const struct plan_item *item)
{
	const struct requirement *requirement = requirement_get(item->check->requirement);

	if (text_starts_with(pattern, "tag:"))
		return plan_has_tag(item->check, pattern + 4);
	if (text_starts_with(pattern, "level:"))
		return requirement != NULL &&
		       strcmp(check_level_name(requirement->level), pattern + 6) == 0;
	if (text_starts_with(pattern, "severity:"))
		return strcmp(check_severity_name(item->check->severity), pattern + 9) == 0;
	if (text_starts_with(pattern, "requirement:"))
		return requirement != NULL && strcmp(requirement->id, pattern + 12) == 0;
	return strcmp(item->suite->name, pattern) == 0 || text_glob(pattern, item->check->id) ||
	       text_glob(pattern, item->name);
}

static bool plan_selects(const struct text_list *patterns, bool *matched,
			 const struct plan_item *item)
{
	bool selected = false;

	for (size_t i = 0; i < patterns->count; i++) {
		if (plan_matches(patterns->items[i], item)) {
			matched[i] = true;
			selected = true;
		}
	}
	return selected;
}

static void plan_item_free(struct plan_item *item)
{
	free(item->name);
	free(item->reason);
	*item = (struct plan_item){0};
}

static int plan_push(struct plan_item **items, size_t *count, size_t *capacity,
		     struct plan_item *item, struct error *err)
{
	if (*count == *capacity) {
		size_t wanted = *capacity != 0 ? *capacity * 2 : 64;
		struct plan_item *grown = realloc(*items, wanted * sizeof(*grown));

		if (grown == NULL)
			return error_memory(err);
		*items = grown;
		*capacity = wanted;
	}
	(*items)[(*count)++] = *item;
	*item = (struct plan_item){0};
	return 0;
}

static int plan_judge(struct plan_item *item, const struct context *context, struct error *err)
{
	enum needs_verdict verdict = NEEDS_MET;
	int rc = needs_judge(&item->check->needs, context, &verdict, &item->reason, err);

	item->unproven = needs_unproven(&item->check->needs, context);
	item->no_api = verdict == NEEDS_API;
	if (verdict == NEEDS_NOT_APPLICABLE || verdict == NEEDS_API)
		item->outcome = REPORT_NOT_APPLICABLE;
	else if (verdict == NEEDS_UNSUPPORTED)
		item->outcome = REPORT_UNSUPPORTED;
	return rc;
}

/* Which requirements have an item that is about this node. */
static void plan_find_applied(const struct plan_item *items, size_t count,
			      bool applied[CHECK_REQUIREMENT_COUNT])
{
	for (size_t i = 0; i < count; i++) {
		if (items[i].outcome != REPORT_NOT_APPLICABLE)
			applied[items[i].check->requirement] = true;
	}
}

static void plan_open(struct plan_item *items, size_t count,
		      const bool applied[CHECK_REQUIREMENT_COUNT])
{
	for (size_t i = 0; i < count; i++) {
		if (items[i].no_api && !applied[items[i].check->requirement])
			items[i].outcome = REPORT_UNSUPPORTED;
	}
}

/* A requirement applies also where no device offers any API that could show it: then it is not
 * tested. */
static void plan_open_without_api(struct plan *plan)
{
	bool applied[CHECK_REQUIREMENT_COUNT] = {false};

	plan_find_applied(plan->items, plan->count, applied);
	plan_find_applied(plan->left_out, plan->left_out_count, applied);
	plan_open(plan->items, plan->count, applied);
	plan_open(plan->left_out, plan->left_out_count, applied);
}

/* Makes the item of one check and variant, and keeps it when the filter selects it. */
static int plan_consider(struct plan *plan, const struct plan_filter *filter,
			 struct plan_matched *matched, const struct context *context,
			 const struct check_suite *suite, const struct check *check,
			 const struct check_variant *variant, struct error *err)
{
	struct plan_item item = {
		.suite = suite,
		.check = check,
		.variant = variant,
		.name = variant != NULL ? text_format("%s@%s", check->id, variant->name)
					: strdup(check->id),
	};
	int rc = item.name != NULL ? 0 : error_memory(err);

	if (rc < 0)
		return rc;
	bool included = plan_selects(&filter->include, matched->include, &item);
	bool excluded = plan_selects(&filter->exclude, matched->exclude, &item);

	if (context != NULL)
		rc = plan_judge(&item, context, err);
	if (rc == 0 && (excluded || (filter->include.count != 0 && !included) ||
			(filter->include.count == 0 && context != NULL &&
			 !needs_os_is_met(&check->needs, context))))
		rc = plan_push(&plan->left_out, &plan->left_out_count, &plan->left_out_capacity,
			       &item, err);
	else if (rc == 0)
		rc = plan_push(&plan->items, &plan->count, &plan->capacity, &item, err);
	plan_item_free(&item);
	return rc;
}

static int plan_consider_check(struct plan *plan, const struct plan_filter *filter,
			       struct plan_matched *matched, const struct context *context,
			       const struct check_suite *suite, const struct check *check,
			       struct error *err)
{
	int rc = 0;

	if (check->variants == NULL)
		return plan_consider(plan, filter, matched, context, suite, check, NULL, err);
	for (const struct check_variant *v = check->variants; rc == 0 && v->name != NULL; v++)
		rc = plan_consider(plan, filter, matched, context, suite, check, v, err);
	return rc;
}

static int plan_not_found(const struct check_suite *const *suites, const char *pattern,
			  struct error *err)
{
	const char *nearest = "";
	size_t least = SIZE_MAX;

	for (; *suites != NULL; suites++) {
		for (const struct check *check = (*suites)->checks; check->id != NULL; check++) {
			size_t distance = text_distance(pattern, check->id);

			if (distance < least) {
				least = distance;
				nearest = check->id;
			}
		}
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "no check matches '%s' (the nearest is '%s'; 'gpucert list' shows all)",
			 pattern, nearest);
}

static int plan_all_matched(const struct check_suite *const *suites,
			    const struct text_list *patterns, const bool *matched,
			    struct error *err)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (!matched[i])
			return plan_not_found(suites, patterns->items[i], err);
	}
	return 0;
}

int plan_make(const struct check_suite *const *suites, const struct plan_filter *filter,
	      const struct context *context, struct plan *plan, struct error *err)
{
	struct plan_matched matched = {0};
	int rc = 0;

	if (filter->include.count > PATTERNS_MAX || filter->exclude.count > PATTERNS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d patterns", (int)PATTERNS_MAX);
	for (const struct check_suite *const *suite = suites; rc == 0 && *suite != NULL; suite++) {
		for (const struct check *check = (*suite)->checks; rc == 0 && check->id != NULL;
		     check++)
			rc = plan_consider_check(plan, filter, &matched, context, *suite, check,
						 err);
	}
	rc = rc == 0 ? plan_all_matched(suites, &filter->include, matched.include, err) : rc;
	rc = rc == 0 ? plan_all_matched(suites, &filter->exclude, matched.exclude, err) : rc;
	if (rc == 0)
		plan_open_without_api(plan);
	else
		plan_free(plan);
	return rc;
}

void plan_free(struct plan *plan)
{
	for (size_t i = 0; i < plan->left_out_count; i++)
		plan_item_free(&plan->left_out[i]);
	free(plan->left_out);
	for (size_t i = 0; i < plan->count; i++)
		plan_item_free(&plan->items[i]);
	free(plan->items);
	*plan = (struct plan){0};
}

static const struct check *plan_find_check(const struct check_suite *const *suites, const char *id)
{
	for (; *suites != NULL; suites++) {
		for (const struct check *check = (*suites)->checks; check->id != NULL; check++) {
			if (strcmp(check->id, id) == 0)
				return check;
		}
	}
	return NULL;
}

const struct plan_item *plan_cause(const struct plan *plan, const struct check_suite *const *suites,
				   size_t index)
{
	const struct check *check = plan->items[index].check;

	while (check != NULL && check->stands_on != NULL) {
		check = plan_find_check(suites, check->stands_on);
		for (size_t i = 0; i < index; i++) {
			if (plan->items[i].check == check &&
			    report_outcome_is_bad(plan->items[i].outcome))
				return &plan->items[i];
		}
	}
	return NULL;
}

int plan_find(const struct check_suite *const *suites, const char *name,
	      const struct check_suite **suite, const struct check **check,
	      const struct check_variant **variant, struct error *err)
{
	const char *at = strchr(name, '@');
	size_t length = at != NULL ? (size_t)(at - name) : strlen(name);

	for (const struct check_suite *const *s = suites; *s != NULL; s++) {
		for (const struct check *c = (*s)->checks; c->id != NULL; c++) {
			if (strlen(c->id) != length || strncmp(c->id, name, length) != 0)
				continue;
			*suite = *s;
			*check = c;
			*variant = NULL;
			if (at == NULL)
				return 0;
			for (const struct check_variant *v = c->variants;
			     v != NULL && v->name != NULL; v++) {
				if (strcmp(v->name, at + 1) == 0) {
					*variant = v;
					return 0;
				}
			}
			return error_set(err, ERROR_NOT_FOUND, "check '%s' has no variant '%s'",
					 c->id, at + 1);
		}
	}
	return plan_not_found(suites, name, err);
}
