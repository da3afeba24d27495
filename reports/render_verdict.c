/* SPDX-License-Identifier: MIT */
#include "reports/render_state.h"

#include <string.h>

/* Ids of the requirements with that verdict at that level. */
static cJSON *verdict_ids(const struct render *render, enum report_requirement_verdict verdict,
			  const char *level)
{
	cJSON *ids CLEANUP_JSON = cJSON_CreateArray();

	for (size_t i = 0; ids != NULL && i < render->requirement_count; i++) {
		const struct render_requirement *requirement = &render->requirements[i];

		if (strcmp(requirement->level, level) != 0 ||
		    report_requirement_verdict_of(&requirement->tally) != verdict)
			continue;
		if (members_append(ids, cJSON_CreateString(requirement->id), NULL) < 0)
			return NULL;
	}
	return STEAL(ids);
}

/* A recording proves nothing about a node, and neither does a journal that names none. */
static bool verdict_is_live(const struct render *render)
{
	const char *kind = cJSON_GetStringValue(json_pointer(render->environment, "/node/kind"));

	return text_equal(kind, "live") || text_equal(kind, "wine");
}

/* Why the conformance is undecided, for people. */
static char *verdict_open_reason(const struct render *render, const cJSON *open)
{
	int count = cJSON_GetArraySize(open);

	if (!render->planned)
		return strdup("the run ended before it had a plan");
	if (render_state_of(render) != REPORT_COMPLETE)
		return strdup("the run is not complete");
	if (!verdict_is_live(render))
		return strdup("the node is a recording, or not known");
	if (count == 0)
		return strdup("the plan holds no MUST requirement");
	return text_format("%d MUST requirement%s not tested", count, count == 1 ? "" : "s");
}

/* Is any MUST satisfied? Without one nothing is proven. */
static bool verdict_proves(const struct render *render)
{
	for (size_t i = 0; i < render->requirement_count; i++) {
		const struct render_requirement *requirement = &render->requirements[i];

		if (strcmp(requirement->level, "must") == 0 &&
		    report_requirement_verdict_of(&requirement->tally) == REPORT_SATISFIED)
			return true;
	}
	return false;
}

/* Violated beats incomplete: one violated MUST is enough to know. */
static cJSON *verdict_conformance(const struct render *render, enum report_conformance *result)
{
	struct members conformance CLEANUP_MEMBERS = members_new();
	cJSON *must CLEANUP_JSON = verdict_ids(render, REPORT_VIOLATED, "must");
	cJSON *should CLEANUP_JSON = verdict_ids(render, REPORT_VIOLATED, "should");
	cJSON *open CLEANUP_JSON = verdict_ids(render, REPORT_NOT_TESTED, "must");
	cJSON *other CLEANUP_JSON = verdict_ids(render, REPORT_REQUIREMENT_NOT_APPLICABLE, "must");
	char *reason CLEANUP_FREE = NULL;

	if (must == NULL || should == NULL || open == NULL || other == NULL)
		return NULL;
	*result = REPORT_CONFORMANCE_INCOMPLETE;
	if (must->child != NULL)
		*result = REPORT_CONFORMANCE_VIOLATED;
	else if (open->child == NULL && verdict_proves(render) && verdict_is_live(render) &&
		 render_state_of(render) == REPORT_COMPLETE)
		*result = REPORT_CONFORMANT;
	reason = *result == REPORT_CONFORMANCE_INCOMPLETE ? verdict_open_reason(render, open)
							  : strdup("");
	if (reason == NULL)
		return NULL;
	member_string(&conformance, "result", report_conformance_name(*result));
	member_string(&conformance, "reason", reason);
	member_item(&conformance, "must", STEAL(must));
	member_item(&conformance, "should", STEAL(should));
	member_item(&conformance, "notTested", STEAL(open));
	member_item(&conformance, "notApplicable", STEAL(other));
	return members_take(&conformance);
}

static cJSON *verdict_expectation(const struct render *render)
{
	struct members expectation CLEANUP_MEMBERS = members_new();
	cJSON *checks CLEANUP_JSON = cJSON_CreateArray();

	for (size_t i = 0; checks != NULL && i < render->check_count; i++) {
		enum report_disposition disposition = render_disposition(&render->checks[i]);

		if (disposition != REPORT_UNEXPECTED_FAIL &&
		    disposition != REPORT_UNEXPECTED_IMPROVEMENT)
			continue;
		if (members_append(checks, cJSON_CreateString(render->checks[i].name), NULL) < 0)
			return NULL;
	}
	if (checks == NULL)
		return NULL;
	member_string(&expectation, "result", checks->child != NULL ? "unexpected" : "as-expected");
	member_item(&expectation, "checks", STEAL(checks));
	return members_take(&expectation);
}

static cJSON *verdict_totals(const struct report_tally *tally)
{
	struct members totals CLEANUP_MEMBERS = members_new();
	struct members outcomes CLEANUP_MEMBERS = members_new();
	struct members dispositions CLEANUP_MEMBERS = members_new();

	for (int i = 0; i < REPORT_OUTCOME_COUNT; i++)
		member_int(&outcomes, report_outcome_name((enum report_outcome)i),
			   (int64_t)tally->outcomes[i]);
	for (int i = 0; i < REPORT_DISPOSITION_COUNT; i++)
		member_int(&dispositions, report_disposition_name((enum report_disposition)i),
			   (int64_t)tally->dispositions[i]);
	member_int(&totals, "checks", (int64_t)report_tally_total(tally));
	member_int(&totals, "ran", (int64_t)report_tally_ran(tally));
	member_item(&totals, "outcome", members_take(&outcomes));
	member_item(&totals, "disposition", members_take(&dispositions));
	return members_take(&totals);
}

static cJSON *verdict_requirements(const struct render *render)
{
	static const char *const keys[] = {"id", "level", "sentence", "source"};
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();

	for (size_t i = 0; array != NULL && i < render->requirement_count; i++) {
		const struct render_requirement *requirement = &render->requirements[i];
		struct members json CLEANUP_MEMBERS = members_new();

		for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
			member_copy(
				&json, keys[k],
				cJSON_GetObjectItemCaseSensitive(requirement->planned, keys[k]));
		member_copy(&json, "checks", requirement->checks);
		member_string(&json, "verdict",
			      report_requirement_verdict_name(
				      report_requirement_verdict_of(&requirement->tally)));
		member_taken(&json, "reason", render_requirement_reason(requirement));
		if (members_append(array, members_take(&json), NULL) < 0)
			return NULL;
	}
	return STEAL(array);
}

static struct report_tally verdict_tally(const struct render *render)
{
	struct report_tally tally = {0};

	for (size_t i = 0; i < render->check_count; i++) {
		const struct render_check *check = &render->checks[i];

		tally.outcomes[check->outcome]++;
		tally.dispositions[render_disposition(check)]++;
		tally.cut_off += check->cut_off ? 1 : 0;
	}
	return tally;
}

int render_add_verdict(struct render *render, struct members *report, struct error *err)
{
	struct members verdict CLEANUP_MEMBERS = members_new();
	struct report_tally tally = verdict_tally(render);
	struct report_facts facts = {
		.state = render_state_of(render),
		.broken_abort =
			render->aborted != NULL && render->abort_kind == REPORT_ABORT_BROKEN,
		.tally = &tally,
		.min_run = (size_t)render->min_run,
		.conformance_required = render->conformance_required,
		.conformance = REPORT_CONFORMANCE_INCOMPLETE,
	};

	member_item(&verdict, "conformance", verdict_conformance(render, &facts.conformance));
	member_item(&verdict, "expectation", verdict_expectation(render));
	member_int(&verdict, "exitCode", report_exit_of(&facts));
	member_item(report, "requirements", verdict_requirements(render));
	member_item(report, "totals", verdict_totals(&tally));
	member_item(report, "verdict", members_take(&verdict));
	return report->failed ? error_memory(err) : 0;
}
