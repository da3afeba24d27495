/* SPDX-License-Identifier: MIT */
#include "reports/render_state.h"

#include <string.h>

static void take_requirement(const cJSON *planned, struct render_requirement *requirement)
{
	requirement->planned = planned;
	requirement->id = field_string(planned, "id");
	requirement->tally.left_out = (size_t)cJSON_GetArraySize(field_get(planned, "leftOut"));
	requirement->tally.outcomes[REPORT_NOT_APPLICABLE] =
		field_get(planned, "notApplicable") != NULL ? 1 : 0;
}

static int link_requirement(const struct render *render, struct render_check *check,
			    struct error *err)
{
	const char *id = field_string(check->planned, "requirement");
	for (size_t i = 0; id != NULL && i < render->requirement_count; i++) {
		if (strcmp(render->requirements[i].id, id) == 0)
			check->requirement = &render->requirements[i];
	}
	if (id != NULL && check->requirement == NULL)
		return error_set(err, ERROR_FORMAT,
				 "checks[%zu].requirement: no such requirement in the plan",
				 (size_t)(check - render->checks));
	return 0;
}

static int take_check(const struct render *render, const cJSON *planned, struct render_check *check,
		      struct error *err)
{
	const char *outcome = field_string(planned, "outcome");
	check->planned = planned;
	check->id = field_string(planned, "id");
	check->unproven = field_string(planned, "unproven");
	check->reason = field_string(planned, "reason");
	check->outcome = outcome != NULL ? report_outcome_of(outcome) : REPORT_NOTRUN;
	if (check->reason == NULL)
		check->reason = "";
	for (size_t i = 0; i < RENDER_LIST_COUNT; i++) {
		check->lists[i] = cJSON_CreateArray();
		if (check->lists[i] == NULL)
			return error_memory(err);
	}
	return link_requirement(render, check, err);
}

static int compare(const void *a, const void *b)
{
	const struct render_check *const *left = a;
	const struct render_check *const *right = b;
	return strcmp((*left)->id, (*right)->id);
}

static int sort_checks(struct render *render, struct error *err)
{
	qsort(render->by_id, render->check_count, sizeof(struct render_check *), compare);
	for (size_t i = 1; i < render->check_count; i++) {
		if (compare(&render->by_id[i - 1], &render->by_id[i]) == 0)
			return error_set(err, ERROR_FORMAT, "checks: '%s' is planned twice",
					 render->by_id[i]->id);
	}
	return 0;
}

int render_take_plan(struct render *render, const cJSON *record, struct error *err)
{
	const cJSON *requirements = field_get(record, "requirements");
	const cJSON *checks = field_get(record, "checks");
	size_t count = (size_t)cJSON_GetArraySize(checks);
	if (render->plan != NULL)
		return error_set(err, ERROR_FORMAT, "type: a second plan");
	render->plan = record;
	render->requirements =
		calloc((size_t)cJSON_GetArraySize(requirements) + 1, sizeof(*render->requirements));
	render->checks = calloc(count + 1, sizeof(*render->checks));
	render->by_id = calloc(count + 1, sizeof(struct render_check *));
	if (render->requirements == NULL || render->checks == NULL || render->by_id == NULL)
		return error_memory(err);
	json_each (item, requirements) {
		take_requirement(item, &render->requirements[render->requirement_count++]);
	}
	json_each (item, checks) {
		struct render_check *check = &render->checks[render->check_count];
		int rc = 0;
		render->by_id[render->check_count++] = check;
		rc = take_check(render, item, check, err);
		if (rc != 0)
			return rc;
	}
	return sort_checks(render, err);
}

int render_find_check(const struct render *render, const cJSON *record, const char *member,
		      struct render_check **out, struct error *err)
{
	struct json_at root = json_root(record);
	struct render_check key = {0};
	const struct render_check *const key_pointer = &key;
	struct render_check **found = NULL;
	int rc = json_need_string(&root, member, &key.id, err);
	if (rc != 0)
		return rc;
	if (render->check_count != 0)
		found = bsearch(&key_pointer, render->by_id, render->check_count,
				sizeof(struct render_check *), compare);
	if (found == NULL)
		return error_set(err, ERROR_FORMAT, "%s: no such check in the plan", member);
	*out = *found;
	return 0;
}

void render_free_plan(struct render *render)
{
	for (size_t i = 0; i < render->check_count; i++) {
		for (size_t k = 0; k < RENDER_LIST_COUNT; k++)
			cJSON_Delete(render->checks[i].lists[k]);
	}
	free(render->checks);
	free(render->by_id);
	free(render->requirements);
}
