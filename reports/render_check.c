/* SPDX-License-Identifier: MIT */
#include "reports/render_state.h"

#include "base/memory.h"

#define CUT_OFF_REASON "the machine or runner stopped during this check"
#define CUT_OFF_ADVICE                                                                             \
	"Run it again: gpucert run --from FOLDER --only crash,notrun --out OTHER-FOLDER"
#define NOTRUN_REASON "the run ended before this check"

static int check_error(struct error *err, const char *text)
{
	return error_set(err, ERROR_FORMAT, "%s", text);
}

static bool is_open(const struct render_check *check)
{
	return check->begin == NULL && check->outcome == REPORT_NOTRUN && check->cause == NULL;
}

static int take_held(const struct render *render, struct render_check *check, const cJSON *record,
		     struct error *err)
{
	struct render_check *cause = NULL;
	int rc = render_find_check(render, record, "cause", &cause, err);
	if (rc != 0)
		return rc;
	if (!is_open(check))
		return check_error(err, "check: has a record of how it ended");
	if (cause->end == NULL || !report_outcome_is_bad(cause->outcome))
		return check_error(err, "cause: did not end badly");
	check->cause = cause->id;
	check->reason = field_string(record, "reason");
	return 0;
}

static int take_end(struct render *render, struct render_check *check,
		    const struct journal_record *record, struct error *err)
{
	const cJSON *phases = field_get(record->json, "phasesMs");
	check->end = record;
	check->outcome = report_outcome_of(field_string(record->json, "outcome"));
	check->reason = field_string(record->json, "reason");
	for (int i = 0; i < REPORT_PHASE_COUNT; i++)
		render->phases_ms[i] += field_count(phases, report_phase_names[i]);

	/* No runner writes a pass without a passed assertion, or with a failed one. */
	if (check->outcome != REPORT_PASS)
		return 0;
	if (check->lists[RENDER_ASSERTIONS]->child == NULL)
		return check_error(err, "outcome: a pass without an assertion");
	json_each (assertion, check->lists[RENDER_ASSERTIONS]) {
		if (!cJSON_IsTrue(field_get(assertion, "ok")))
			return check_error(err,
					   "outcome: a pass with an assertion that did not hold");
	}
	return 0;
}

void render_add_record(const struct journal_record *record, cJSON *array)
{
	struct members object CLEANUP_MEMBERS = members_new();
	json_members_copy(record->json, journal_shapes[record->type].members, &object);
	if (record->type == JOURNAL_EVENT)
		member_int(&object, "atMs", record->at_ms);
	array_add(array, members_take(&object));
}

static void add_device(struct render_check *check, const struct journal_record *record)
{
	const char *ref = field_string(record->json, "ref");
	cJSON *devices = check->lists[RENDER_DEVICES];
	cJSON *outcomes = check->lists[RENDER_DEVICE_OUTCOMES];
	if (field_get(record->json, "outcome") != NULL) {
		json_each (known, outcomes) {
			if (text_equal(field_string(known, "ref"), ref)) { /* the last one wins */
				cJSON_Delete(cJSON_DetachItemViaPointer(outcomes,
									(cJSON *)(uintptr_t)known));
				break;
			}
		}
		render_add_record(record, outcomes);
		return;
	}
	json_each (known, devices) {
		if (text_equal(known->valuestring, ref))
			return;
	}
	array_add(devices, cJSON_CreateString(ref));
}

/* Launches with the same prediction and the same end are counted together. */
static void add_prediction(const struct journal_record *record, cJSON *predictions)
{
	enum { COMPARED_MAX = 256 };
	struct members prediction CLEANUP_MEMBERS = members_new();
	size_t compared = 0;
	json_members_copy(record->json, journal_shapes[JOURNAL_PREDICTION].members, &prediction);
	member_int(&prediction, "launches", 1);
	json_each (known, predictions) {
		cJSON *launches = cJSON_GetObjectItemCaseSensitive(known, "launches");
		if (compared++ == COMPARED_MAX)
			break;
		const struct json_member *field = journal_shapes[JOURNAL_PREDICTION].members;
		while (field->key != NULL &&
		       cJSON_Compare(
			       cJSON_GetObjectItemCaseSensitive(known, field->key),
			       cJSON_GetObjectItemCaseSensitive(prediction.object, field->key),
			       true))
			field++;
		if (field->key != NULL)
			continue;
		(void)cJSON_SetNumberValue(launches, launches->valueint + 1);
		return;
	}
	array_add(predictions, members_take(&prediction));
}

int render_take_check(struct render *render, const struct journal_record *record, struct error *err)
{
	static const enum render_list lists[JOURNAL_TYPE_COUNT] = {
		[JOURNAL_ASSERTION] = RENDER_ASSERTIONS,
		[JOURNAL_EVIDENCE] = RENDER_EVIDENCE,
		[JOURNAL_OBSERVATION] = RENDER_OBSERVATIONS,
		[JOURNAL_EVENT] = RENDER_EVENTS,
	};
	struct render_check *check = NULL;
	int rc = render_find_check(render, record->json, "check", &check, err);
	if (rc != 0)
		return rc;
	if (journal_shapes[record->type].seen || record->type == JOURNAL_CHECK_END) {
		if (check->begin == NULL || check->end != NULL)
			return check_error(err, "check: has not begun");
	}
	if (record->type == JOURNAL_CHECK_BEGIN) {
		if (check->begin != NULL)
			return check_error(err, "check: begins a second time");
		if (!is_open(check))
			return check_error(err, "check: is planned not to run");
		for (size_t i = 0; i < render->check_count; i++)
			render->overlap = render->overlap || (render->checks[i].begin != NULL &&
							      render->checks[i].end == NULL);
		check->begin = record;
	} else if (record->type == JOURNAL_CHECK_HELD) {
		return take_held(render, check, record->json, err);
	} else if (record->type == JOURNAL_CHECK_END) {
		return take_end(render, check, record, err);
	} else if (record->type == JOURNAL_NOTE) {
		array_add(check->lists[RENDER_NOTES],
			  cJSON_CreateString(field_string(record->json, "text")));
	} else if (record->type == JOURNAL_DEVICE) {
		add_device(check, record);
	} else if (record->type == JOURNAL_PREDICTION) {
		add_prediction(record, render->predictions);
	} else if (record->type == JOURNAL_RAN) {
		render_add_record(record, render->ran);
	} else {
		render_add_record(record, check->lists[lists[record->type]]);
	}
	return 0;
}

/* How much the check decides about its requirement; among several, the first with the most decides. */
static int decides(const struct render_check *check)
{
	if (check->outcome == REPORT_PASS)
		return check->unproven != NULL ? 2 : 0;
	if (check->outcome == REPORT_NOT_APPLICABLE)
		return 1;
	return !check->cut_off && report_outcome_is_bad(check->outcome) &&
			       check->outcome != REPORT_BROKEN
		       ? 3
		       : 2;
}

/* {ms, thoroughMs}, or NULL when it did not watch. */
static const cJSON *watched_of(const struct render_check *check)
{
	return check->end != NULL ? field_get(check->end->json, "watched") : NULL;
}

static void tally(struct render_check *check)
{
	struct render_requirement *requirement = check->requirement;
	const cJSON *watched = watched_of(check);
	requirement->tally.outcomes[check->outcome]++;
	requirement->tally.cut_off += check->cut_off;
	requirement->tally.unproven +=
		check->outcome == REPORT_PASS && check->unproven != NULL ? 1 : 0;
	if (requirement->why == NULL || decides(check) > decides(requirement->why))
		requirement->why = check;
	if (field_count(watched, "ms") < field_count(watched, "thoroughMs"))
		requirement->watched = check;
}

void render_close_checks(struct render *render)
{
	for (size_t i = 0; i < render->check_count; i++) {
		struct render_check *check = &render->checks[i];
		if (is_open(check))
			check->reason = NOTRUN_REASON;
		if (check->begin != NULL && check->end == NULL) {
			check->cut_off = true;
			check->outcome = REPORT_CRASH;
			check->reason = CUT_OFF_REASON;
		}
		if (check->requirement != NULL)
			tally(check);
	}
}

char *render_requirement_reason(const struct render_requirement *requirement)
{
	const struct render_check *why = requirement->why;
	const cJSON *left_out = field_get(requirement->planned, "leftOut");
	const char *reason = field_string(requirement->planned, "notApplicable");
	int weight = why != NULL ? decides(why) : 0;
	if (weight >= 2)
		return text_format("%s (%s): %s", why->id, report_outcome_names[why->outcome],
				   why->outcome == REPORT_PASS ? why->unproven : why->reason);
	if (left_out != NULL && left_out->child != NULL)
		return text_format("%s was left out", left_out->child->valuestring);
	if (requirement->tally.outcomes[REPORT_PASS] != 0) {
		if (requirement->watched == NULL)
			return memory_copy("");
		const cJSON *watched = watched_of(requirement->watched);
		return text_format(
			"%s: watched for %.1f s; a thorough run watches %.1f s (--thorough)",
			requirement->watched->id, (double)field_count(watched, "ms") / 1000.0,
			(double)field_count(watched, "thoroughMs") / 1000.0);
	}
	if (weight == 1)
		return text_format("%s: %s", why->id, why->reason);
	return memory_copy(reason != NULL ? reason : "no check tests it");
}

static const char *level_of(const struct render_check *check)
{
	return check->requirement != NULL ? field_string(check->requirement->planned, "level")
					  : NULL;
}

/* The expected end according to the plan; by default a pass. */
static struct report_known known_of(const struct render_check *check)
{
	const cJSON *row = field_get(check->planned, "expected");
	const char *outcome = field_string(row, "outcome");
	return (struct report_known){
		.outcome = outcome != NULL ? report_outcome_of(outcome) : REPORT_PASS,
		.flaky = cJSON_IsTrue(field_get(row, "flaky")),
		.may = text_equal(level_of(check), REPORT_LEVEL_MAY),
		.reason = field_string(row, "reason"),
	};
}

enum report_disposition render_disposition(const struct render_check *check)
{
	struct report_known known = known_of(check);
	if (check->over_budget)
		known = (struct report_known){.may = known.may};
	return report_disposition_known(check->outcome, check->reason, &known);
}

static bool is_flake(const struct render_check *check)
{
	const struct report_known known = known_of(check);
	return known.flaky && report_outcome_is_bad(check->outcome) &&
	       report_is_known(&known, check->reason);
}

void render_count_flakes(struct render *render)
{
	int64_t failed = 0;
	for (size_t i = 0; i < render->check_count; i++)
		failed += is_flake(&render->checks[i]);
	for (size_t i = 0; i < render->check_count; i++)
		render->checks[i].over_budget = is_flake(&render->checks[i]) &&
						failed > field_count(render->plan, "flakeBudget");
}

void render_add_check(const struct render *render, struct render_check *check,
		      struct members *checks)
{
	static const char *const lists[] = {"devices",	"deviceOutcomes", "assertions",	 "notes",
					    "evidence", "events",	  "observations"};
	struct members json = member_object(checks, NULL);
	const cJSON *watched = watched_of(check);
	const cJSON *end = check->end != NULL ? check->end->json : NULL;
	const cJSON *advice = field_get(end, "advice");
	json_members_copy(check->planned, record_identity, &json);
	if (check->cut_off || advice != NULL) {
		cJSON_DeleteItemFromObjectCaseSensitive(json.object, "advice");
		member_item(&json, "advice",
			    check->cut_off ? cJSON_CreateString(CUT_OFF_ADVICE)
					   : cJSON_Duplicate(advice, false));
	}
	member_string(&json, "level", level_of(check));
	member_string(&json, "outcome", report_outcome_names[check->outcome]);
	member_string(&json, "disposition", report_disposition_names[render_disposition(check)]);
	member_string(&json, "reason", check->reason);
	if (check->cause != NULL)
		member_string(&json, "cause", check->cause);
	member_item(&json, "watched",
		    watched != NULL ? cJSON_Duplicate(watched, true) : cJSON_CreateNull());

	/* When it ran, and where its time went. */
	if (check->begin != NULL) {
		struct members time = member_object(&json, "time");
		const int64_t last_ms = render->log->records[render->log->count - 1].at_ms;
		const int64_t began_ms = check->begin->at_ms;
		member_int(&time, "startedMs", began_ms);
		member_int(&time, "durationMs",
			   end != NULL		? field_count(end, "durationMs")
			   : last_ms > began_ms ? last_ms - began_ms
						: 0);
		member_int(&time, "timeoutMs", field_count(check->begin->json, "timeoutMs"));
		struct members phases = member_object(&time, "phasesMs");
		for (int i = 0; i < REPORT_PHASE_COUNT; i++)
			member_int(&phases, report_phase_names[i],
				   field_count(field_get(end, "phasesMs"), report_phase_names[i]));
	} else {
		member_null(&json, "time");
	}

	for (size_t i = 0; i < RENDER_LIST_COUNT; i++) {
		if (i != RENDER_OBSERVATIONS || check->lists[i]->child != NULL)
			member_item(&json, lists[i], STEAL(check->lists[i]));
	}
	member_int(&json, "leftOut", field_count(end, "leftOut"));
}
