/* SPDX-License-Identifier: MIT */
#include "reports/render_state.h"

#include "base/memory.h"

static int take_check(const struct render *render, const cJSON *planned, struct render_check *check,
		      struct error *err)
{
	const char *outcome = field_string(planned, "outcome");
	const char *requirement = field_string(planned, "requirement");
	check->planned = planned;
	check->id = field_string(planned, "id");
	check->unproven = field_string(planned, "unproven");
	check->reason = field_string(planned, "reason");
	check->outcome = outcome != NULL ? report_outcome_of(outcome) : REPORT_NOTRUN;
	if (check->reason == NULL)
		check->reason = "";
	for (size_t i = 0; i < RENDER_LIST_COUNT; i++)
		check->lists[i] = cJSON_CreateArray();

	for (size_t i = 0; requirement != NULL && i < render->requirement_count; i++) {
		if (text_equal(render->requirements[i].id, requirement))
			check->requirement = &render->requirements[i];
	}
	if (requirement != NULL && check->requirement == NULL)
		return error_set(err, ERROR_FORMAT,
				 "checks[%zu].requirement: no such requirement in the plan",
				 (size_t)(check - render->checks));
	return 0;
}

int render_take_plan(struct render *render, const cJSON *record, struct error *err)
{
	const cJSON *requirements = field_get(record, "requirements");
	const cJSON *checks = field_get(record, "checks");
	if (render->plan != NULL)
		return error_set(err, ERROR_FORMAT, "type: a second plan");
	render->plan = record;
	render->requirements = memory_allocate((size_t)cJSON_GetArraySize(requirements),
					       sizeof(*render->requirements));
	render->checks =
		memory_allocate((size_t)cJSON_GetArraySize(checks), sizeof(*render->checks));
	json_each (item, requirements) {
		struct render_requirement *requirement =
			&render->requirements[render->requirement_count++];
		requirement->planned = item;
		requirement->id = field_string(item, "id");
		requirement->tally.left_out =
			(size_t)cJSON_GetArraySize(field_get(item, "leftOut"));
		requirement->tally.outcomes[REPORT_NOT_APPLICABLE] =
			field_get(item, "notApplicable") != NULL ? 1 : 0;
	}

	json_each (item, checks) {
		const size_t index = render->check_count++;
		int rc = take_check(render, item, &render->checks[index], err);
		if (rc != 0)
			return rc;
		if (text_index_put(&render->by_id, render->checks[index].id, index) != index)
			return error_set(err, ERROR_FORMAT, "checks: '%s' is planned twice",
					 render->checks[index].id);
	}
	return 0;
}

int render_find_check(const struct render *render, const cJSON *record, const char *member,
		      struct render_check **out, struct error *err)
{
	const struct json_at root = json_root(record);
	const char *id = NULL;
	size_t place = 0;
	int rc = json_need_string(&root, member, &id, err);
	if (rc != 0)
		return rc;
	if (!text_index_get(&render->by_id, id, &place))
		return error_set(err, ERROR_FORMAT, "%s: no such check in the plan", member);
	*out = &render->checks[place];
	return 0;
}

void render_free_plan(struct render *render)
{
	for (size_t i = 0; i < render->check_count; i++) {
		for (size_t k = 0; k < RENDER_LIST_COUNT; k++)
			cJSON_Delete(render->checks[i].lists[k]);
	}
	free(render->checks);
	text_index_free(&render->by_id);
	free(render->requirements);
}
