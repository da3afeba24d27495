/* SPDX-License-Identifier: MIT */
#include "reports/render_state.h"

#include <string.h>

static int plan_word(const struct json_at *object, const char *key, const char *const *words,
		     struct error *err)
{
	struct json_at at = {0};
	int rc = json_need(object, key, JSON_STRING, &at, err);

	for (; rc == 0 && *words != NULL; words++) {
		if (strcmp(*words, at.node->valuestring) == 0)
			return 0;
	}
	return rc == 0 ? json_error(&at, err, "unknown value") : rc;
}

/* The checks that test it and are not in the plan: those that apply leave it open. */
static int plan_take_left_out(const struct json_at *item, struct render_requirement *requirement,
			      struct error *err)
{
	struct json_at left_out = {0};
	int rc = json_have_string(item, "notApplicable", &requirement->not_applicable, err);

	rc = rc == 0 ? json_have(item, "leftOut", JSON_ARRAY, &left_out, err) : rc;
	if (rc < 0)
		return rc;
	requirement->tally.outcomes[REPORT_NOT_APPLICABLE] =
		requirement->not_applicable != NULL ? 1 : 0;
	if (left_out.node == NULL || left_out.node->child == NULL)
		return 0;
	requirement->tally.left_out = json_count(&left_out);
	requirement->left_out = cJSON_GetStringValue(left_out.node->child);
	return requirement->left_out != NULL ? 0 : json_error(&left_out, err, "expected strings");
}

static int plan_take_requirement(const struct json_at *item, struct render_requirement *requirement,
				 struct error *err)
{
	static const char *const levels[] = {"must", "should", "may", NULL};
	const char *text = NULL;
	int rc = json_need_string(item, "id", &requirement->id, err);

	rc = rc == 0 ? plan_word(item, "level", levels, err) : rc;
	rc = rc == 0 ? json_need_string(item, "level", &requirement->level, err) : rc;
	rc = rc == 0 ? json_need_string(item, "sentence", &text, err) : rc;
	rc = rc == 0 ? json_need_string(item, "source", &text, err) : rc;
	if (rc < 0)
		return rc;
	rc = plan_take_left_out(item, requirement, err);
	if (rc < 0)
		return rc;
	requirement->planned = item->node;
	requirement->checks = cJSON_CreateArray();
	return requirement->checks != NULL ? 0 : error_memory(err);
}

static int plan_link_requirement(struct render *render, const struct json_at *item,
				 struct render_check *check, struct error *err)
{
	struct json_at at = {0};
	int rc = json_have(item, "requirement", JSON_STRING, &at, err);

	if (rc < 0 || at.node == NULL)
		return rc;
	for (size_t i = 0; i < render->requirement_count; i++) {
		if (text_equal(render->requirements[i].id, at.node->valuestring)) {
			check->requirement = &render->requirements[i];
			return 0;
		}
	}
	return json_error(&at, err, "no such requirement in the plan");
}

/* The optional members that say how the check is expected to end, or that it will not run. */
static int plan_take_outcome(const struct json_at *item, struct render_check *check,
			     struct error *err)
{
	static const char *const not_run[] = {"unsupported", "not-applicable", "skip", NULL};
	struct json_at expected = {0};
	struct json_at outcome = {0};
	const char *text = NULL;
	int rc = json_have(item, "expected", JSON_OBJECT, &expected, err);

	if (rc == 0 && expected.node != NULL) {
		rc = json_need_string(&expected, "entry", &check->expectation, err);
		rc = rc == 0 ? json_need_string(&expected, "outcome", &text, err) : rc;
		rc = rc == 0 ? report_outcome_parse(text, &check->expected, err) : rc;
	}
	rc = rc == 0 ? json_have_string(item, "unproven", &check->unproven, err) : rc;
	rc = rc == 0 ? json_have(item, "outcome", JSON_STRING, &outcome, err) : rc;
	if (rc < 0 || outcome.node == NULL)
		return rc;
	rc = plan_word(item, "outcome", not_run, err);
	rc = rc == 0 ? json_need_string(item, "reason", &check->reason, err) : rc;
	return rc == 0 ? report_outcome_parse(outcome.node->valuestring, &check->outcome, err) : rc;
}

static int plan_make_arrays(struct render_check *check, struct error *err)
{
	cJSON **const arrays[] = {&check->attempts, &check->assertions, &check->notes,
				  &check->evidence, &check->devices,	&check->events};

	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		*arrays[i] = cJSON_CreateArray();
		if (*arrays[i] == NULL)
			return error_memory(err);
	}
	return 0;
}

static int plan_take_check(struct render *render, const struct json_at *item,
			   struct render_check *check, struct error *err)
{
	static const char *const severities[] = {"critical", "high", "medium", "low", NULL};
	const char *id = NULL;
	const char *variant = NULL;
	const char *text = NULL;
	int64_t revision = 0;
	int rc = json_need_string(item, "id", &id, err);

	check->planned = item->node;
	check->outcome = REPORT_NOTRUN;
	rc = rc == 0 ? json_have_string(item, "variant", &variant, err) : rc;
	rc = rc == 0 ? json_need_int(item, "revision", 0, INT32_MAX, &revision, err) : rc;
	rc = rc == 0 ? plan_word(item, "severity", severities, err) : rc;
	rc = rc == 0 ? json_need_string(item, "title", &text, err) : rc;
	rc = rc == 0 ? json_need_string(item, "advice", &text, err) : rc;
	rc = rc == 0 ? plan_link_requirement(render, item, check, err) : rc;
	rc = rc == 0 ? plan_take_outcome(item, check, err) : rc;
	rc = rc == 0 ? plan_make_arrays(check, err) : rc;
	if (rc < 0)
		return rc;
	check->name = variant != NULL ? text_format("%s@%s", id, variant) : strdup(id);
	return check->name != NULL ? 0 : error_memory(err);
}

static int plan_take_requirements(struct render *render, const struct json_at *record,
				  struct error *err)
{
	struct json_at items = {0};
	const cJSON *node = NULL;
	int rc = json_need(record, "requirements", JSON_ARRAY, &items, err);

	if (rc < 0)
		return rc;
	render->requirements = calloc(json_count(&items) + 1, sizeof(*render->requirements));
	if (render->requirements == NULL)
		return error_memory(err);
	cJSON_ArrayForEach (node, items.node) {
		size_t index = render->requirement_count++;
		struct json_at item = {.node = node, .parent = &items, .index = index};

		rc = plan_take_requirement(&item, &render->requirements[index], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int plan_take_checks(struct render *render, const struct json_at *record, struct error *err)
{
	struct json_at items = {0};
	const cJSON *node = NULL;
	int rc = json_need(record, "checks", JSON_ARRAY, &items, err);

	if (rc < 0)
		return rc;
	render->checks = calloc(json_count(&items) + 1, sizeof(*render->checks));
	render->by_name = calloc(json_count(&items) + 1, sizeof(struct render_check *));
	if (render->checks == NULL || render->by_name == NULL)
		return error_memory(err);
	cJSON_ArrayForEach (node, items.node) {
		size_t index = render->check_count++;
		struct json_at item = {.node = node, .parent = &items, .index = index};

		render->by_name[index] = &render->checks[index];
		rc = plan_take_check(render, &item, &render->checks[index], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int plan_compare(const void *a, const void *b)
{
	const struct render_check *const *left = a;
	const struct render_check *const *right = b;

	return strcmp((*left)->name, (*right)->name);
}

static int plan_take_settings(struct render *render, const struct json_at *record,
			      struct error *err)
{
	static const char *const launchers[] = {"containerd", "process", "none", NULL};
	struct members settings CLEANUP_MEMBERS = members_new();
	struct json_at from = {0};
	int rc = json_need(record, "settings", JSON_OBJECT, &from, err);

	rc = rc == 0 ? plan_word(&from, "launcher", launchers, err) : rc;
	rc = rc == 0 ? copy_string(&from, "launcher", &settings, err) : rc;
	rc = rc == 0 ? copy_string(&from, "profile", &settings, err) : rc;
	rc = rc == 0 ? copy_bool(&from, "thorough", &settings, err) : rc;
	if (rc < 0)
		return rc;
	render->settings = members_take(&settings);
	return render->settings != NULL ? 0 : error_memory(err);
}

int render_take_plan(struct render *render, const struct json_at *record, struct error *err)
{
	int rc = 0;

	if (render->planned)
		return error_set(err, ERROR_FORMAT, "type: a second plan");
	render->planned = true;
	rc = plan_take_settings(render, record, err);
	rc = rc == 0 ? json_need_int(record, "filteredOut", 0, INT64_MAX, &render->filtered_out,
				     err)
		     : rc;
	rc = rc == 0 ? plan_take_requirements(render, record, err) : rc;
	rc = rc == 0 ? plan_take_checks(render, record, err) : rc;
	if (rc < 0)
		return rc;
	qsort(render->by_name, render->check_count, sizeof(struct render_check *), plan_compare);
	for (size_t i = 1; i < render->check_count; i++) {
		if (strcmp(render->by_name[i - 1]->name, render->by_name[i]->name) == 0)
			return error_set(err, ERROR_FORMAT, "checks: '%s' is planned twice",
					 render->by_name[i]->name);
	}
	return 0;
}

int render_find_check(struct render *render, const struct json_at *record, const char *member,
		      struct render_check **out, struct error *err)
{
	struct json_at at = {0};
	struct render_check key = {0};
	const struct render_check *const key_pointer = &key;
	struct render_check **found = NULL;
	int rc = json_need(record, member, JSON_STRING, &at, err);

	if (rc < 0)
		return rc;
	key.name = at.node->valuestring;
	if (render->check_count != 0)
		found = bsearch(&key_pointer, render->by_name, render->check_count,
				sizeof(struct render_check *), plan_compare);
	if (found == NULL)
		return json_error(&at, err, "no such check in the plan");
	*out = *found;
	return 0;
}

static void plan_free_check(struct render_check *check)
{
	free(check->name);
	cJSON_Delete(check->attempts);
	cJSON_Delete(check->assertions);
	cJSON_Delete(check->notes);
	cJSON_Delete(check->evidence);
	cJSON_Delete(check->devices);
	cJSON_Delete(check->events);
}

void render_free_plan(struct render *render)
{
	cJSON_Delete(render->settings);
	for (size_t i = 0; i < render->check_count; i++)
		plan_free_check(&render->checks[i]);
	for (size_t i = 0; i < render->requirement_count; i++)
		cJSON_Delete(render->requirements[i].checks);
	free(render->checks);
	free(render->by_name);
	free(render->requirements);
}
