/* SPDX-License-Identifier: MIT */
#include "reports/items.h"
#include "reports/render_state.h"

#include <string.h>

#define CUT_OFF_REASON "the machine or runner stopped during this check"
#define NOTRUN_REASON  "the run ended before this check"

int render_take_check_begin(struct render *render, const struct journal_record *record,
			    struct error *err)
{
	struct json_at root = json_root(record->json);
	struct render_check *check = NULL;
	int64_t attempt = 0;
	int64_t timeout_ms = 0;
	int rc = render_find_check(render, &root, "check", &check, err);

	rc = rc == 0 ? json_need_int(&root, "attempt", 1, INT32_MAX, &attempt, err) : rc;
	rc = rc == 0 ? json_need_int(&root, "timeoutMs", 0, INT64_MAX, &timeout_ms, err) : rc;
	if (rc < 0)
		return rc;
	if (check->begin != NULL)
		return error_set(err, ERROR_FORMAT, "check: begins a second time");
	if (check->attempt == 0 && (check->outcome != REPORT_NOTRUN || check->cause != NULL))
		return error_set(err, ERROR_FORMAT, "check: is planned not to run");
	if (attempt != check->attempt + 1)
		return error_set(err, ERROR_FORMAT, "attempt: %lld, expected %lld",
				 (long long)attempt, (long long)check->attempt + 1);
	check->attempt = attempt;
	check->begin = record;
	return 0;
}

/* The record's check, which must be running. */
static int check_find_running(struct render *render, const struct json_at *record,
			      struct render_check **check, struct error *err)
{
	int rc = render_find_check(render, record, "check", check, err);

	if (rc == 0 && (*check)->begin == NULL)
		return error_set(err, ERROR_FORMAT, "check: has not begun");
	return rc;
}

int render_take_evidence(struct render *render, const struct json_at *record, struct error *err)
{
	struct render_check *check = NULL;
	struct json_at evidence = {0};
	int rc = check_find_running(render, record, &check, err);

	rc = rc == 0 ? json_need(record, "evidence", JSON_OBJECT, &evidence, err) : rc;
	return rc == 0 ? item_copy_evidence(&evidence, check->evidence, err) : rc;
}

int render_take_check_held(struct render *render, const struct json_at *record, struct error *err)
{
	struct render_check *check = NULL;
	struct render_check *cause = NULL;
	int rc = render_find_check(render, record, "check", &check, err);

	rc = rc == 0 ? render_find_check(render, record, "cause", &cause, err) : rc;
	if (rc < 0)
		return rc;
	if (check->attempt != 0 || check->outcome != REPORT_NOTRUN || check->cause != NULL)
		return error_set(err, ERROR_FORMAT, "check: has a record of how it ended");
	if (cause->begin != NULL || !report_outcome_is_bad(cause->outcome))
		return error_set(err, ERROR_FORMAT, "cause: did not end badly");
	check->cause = cause->name;
	return json_need_string(record, "reason", &check->reason, err);
}

/* Puts a new array in place of an attempt's earlier one. */
static int check_replace(const struct json_at *from, const char *key, copy_item_fn *copy_item,
			 cJSON **array, struct error *err)
{
	cJSON *made CLEANUP_JSON = cJSON_CreateArray();
	int rc = made != NULL ? 0 : error_memory(err);

	rc = rc == 0 ? copy_items(from, key, copy_item, made, err) : rc;
	if (rc == 0) {
		cJSON_Delete(*array);
		*array = STEAL(made);
	}
	return rc;
}

static cJSON *check_phases_json(const int64_t phases_ms[REPORT_PHASE_COUNT])
{
	struct members phases CLEANUP_MEMBERS = members_new();

	for (int i = 0; i < REPORT_PHASE_COUNT; i++)
		member_int(&phases, report_phase_name((enum report_phase)i), phases_ms[i]);
	return members_take(&phases);
}

/* Ends the attempt that runs, with the check's outcome and reason. */
static int check_add_attempt(struct render_check *check, int64_t duration_ms,
			     const int64_t phases_ms[REPORT_PHASE_COUNT], struct error *err)
{
	struct members attempt CLEANUP_MEMBERS = members_new();
	const cJSON *timeout = cJSON_GetObjectItemCaseSensitive(check->begin->json, "timeoutMs");

	member_int(&attempt, "n", check->attempt);
	member_string(&attempt, "outcome", report_outcome_name(check->outcome));
	member_string(&attempt, "reason", check->reason);
	member_int(&attempt, "startedMs", check->begin->at_ms);
	member_int(&attempt, "durationMs", duration_ms);
	member_number(&attempt, "timeoutMs", timeout->valuedouble);
	member_item(&attempt, "phasesMs", check_phases_json(phases_ms));
	check->begin = NULL;
	return members_append(check->attempts, members_take(&attempt), err);
}

static int check_read_phases(const struct json_at *record, int64_t phases_ms[REPORT_PHASE_COUNT],
			     struct error *err)
{
	const char *names[REPORT_PHASE_COUNT + 1] = {NULL};
	struct json_at phases = {0};
	int rc = json_need(record, "phasesMs", JSON_OBJECT, &phases, err);

	for (int i = 0; i < REPORT_PHASE_COUNT; i++)
		names[i] = report_phase_name((enum report_phase)i);
	rc = rc == 0 ? json_only_keys(&phases, names, err) : rc;
	for (int i = 0; rc == 0 && i < REPORT_PHASE_COUNT; i++)
		rc = json_have_int(&phases, names[i], 0, INT32_MAX, &phases_ms[i], err);
	return rc;
}

static int check_take_watched(struct render_check *check, const struct json_at *record,
			      struct error *err)
{
	struct json_at watched = {0};
	int rc = json_have(record, "watched", JSON_OBJECT, &watched, err);

	check->watched_ms = 0;
	check->watched_thorough_ms = 0;
	if (rc < 0 || watched.node == NULL)
		return rc;
	rc = json_need_int(&watched, "ms", 0, INT32_MAX, &check->watched_ms, err);
	return rc == 0 ? json_need_int(&watched, "thoroughMs", 1, INT32_MAX,
				       &check->watched_thorough_ms, err)
		       : rc;
}

static void check_add_watched(const struct render_check *check, struct members *json)
{
	struct members watched CLEANUP_MEMBERS = members_new();

	if (check->watched_thorough_ms == 0) {
		member_string(json, "watched", NULL);
		return;
	}
	member_int(&watched, "ms", check->watched_ms);
	member_int(&watched, "thoroughMs", check->watched_thorough_ms);
	member_item(json, "watched", members_take(&watched));
}

/* What a check-end says beyond its outcome. */
static int check_take_details(struct render_check *check, const struct json_at *record,
			      struct error *err)
{
	int rc = check_replace(record, "assertions", item_copy_assertion, &check->assertions, err);

	rc = rc == 0 ? check_replace(record, "notes", copy_string_item, &check->notes, err) : rc;
	rc = rc == 0 ? check_replace(record, "devices", copy_string_item, &check->devices, err)
		     : rc;
	rc = rc == 0 ? copy_items(record, "evidence", item_copy_evidence, check->evidence, err)
		     : rc;
	rc = rc == 0 ? check_take_watched(check, record, err) : rc;
	check->left_out = 0;
	return rc == 0 ? json_have_int(record, "leftOut", 0, INT64_MAX, &check->left_out, err) : rc;
}

/* No runner writes a pass without an assertion that held, or with one that did not. */
static int check_refuse_pass(const struct render_check *check, const struct json_at *record,
			     struct error *err)
{
	const cJSON *assertions = cJSON_GetObjectItemCaseSensitive(record->node, "assertions");
	const cJSON *assertion = NULL;

	if (check->outcome != REPORT_PASS)
		return 0;
	if (!cJSON_IsArray(assertions) || assertions->child == NULL)
		return error_set(err, ERROR_FORMAT, "outcome: a pass without an assertion");
	cJSON_ArrayForEach (assertion, assertions) {
		if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(assertion, "ok")))
			return error_set(err, ERROR_FORMAT,
					 "outcome: a pass with an assertion that did not hold");
	}
	return 0;
}

/* Outcome and reason of the attempt that ends. */
static int check_take_outcome(struct render_check *check, const struct json_at *record,
			      struct error *err)
{
	enum report_outcome before = check->outcome;
	const char *name = NULL;
	int rc = json_need_string(record, "outcome", &name, err);

	rc = rc == 0 ? report_outcome_parse(name, &check->outcome, err) : rc;
	rc = rc == 0 ? json_need_string(record, "reason", &check->reason, err) : rc;
	rc = rc == 0 ? check_refuse_pass(check, record, err) : rc;
	check->flaky = check->flaky || (check->attempt > 1 && check->outcome != before);
	return rc;
}

int render_take_check_end(struct render *render, const struct journal_record *record,
			  struct error *err)
{
	struct json_at root = json_root(record->json);
	struct render_check *check = NULL;
	int64_t phases_ms[REPORT_PHASE_COUNT] = {0};
	int64_t duration_ms = 0;
	int64_t attempt = 0;
	int rc = check_find_running(render, &root, &check, err);

	rc = rc == 0 ? json_need_int(&root, "attempt", check->attempt, check->attempt, &attempt,
				     err)
		     : rc;
	rc = rc == 0 ? json_need_int(&root, "durationMs", 0, INT64_MAX, &duration_ms, err) : rc;
	rc = rc == 0 ? check_read_phases(&root, phases_ms, err) : rc;
	rc = rc == 0 ? check_take_outcome(check, &root, err) : rc;
	rc = rc == 0 ? check_take_details(check, &root, err) : rc;
	rc = rc == 0 ? check_add_attempt(check, duration_ms, phases_ms, err) : rc;
	for (int i = 0; rc == 0 && i < REPORT_PHASE_COUNT; i++)
		render->phases_ms[i] += phases_ms[i];
	return rc;
}

int render_add_event(const struct journal_record *record, cJSON *events, struct error *err)
{
	struct json_at root = json_root(record->json);
	struct members event CLEANUP_MEMBERS = members_new();
	int rc = copy_string(&root, "kind", &event, err);

	rc = rc == 0 ? copy_string(&root, "text", &event, err) : rc;
	member_int(&event, "atMs", record->at_ms);
	return rc == 0 ? members_append(events, members_take(&event), err) : rc;
}

static int check_close(const struct render *render, struct render_check *check, struct error *err)
{
	static const int64_t phases_ms[REPORT_PHASE_COUNT] = {0};
	const struct journal_record *last = &render->log->records[render->log->count - 1];

	if (check->begin == NULL) {
		if (check->attempt == 0 && check->outcome == REPORT_NOTRUN && check->cause == NULL)
			check->reason = NOTRUN_REASON;
		return 0;
	}
	check->cut_off = true;
	check->outcome = REPORT_CRASH;
	check->reason = CUT_OFF_REASON;
	return check_add_attempt(check, last->at_ms - check->begin->at_ms, phases_ms, err);
}

/* How much the check decides about its requirement; of several, the first with the most. */
static int check_decides(const struct render_check *check)
{
	static const int decides[REPORT_OUTCOME_COUNT] = {
		[REPORT_FAIL] = 3,   [REPORT_TIMEOUT] = 3,	  [REPORT_CRASH] = 3,
		[REPORT_BROKEN] = 2, [REPORT_UNSUPPORTED] = 2,	  [REPORT_SKIP] = 2,
		[REPORT_NOTRUN] = 2, [REPORT_NOT_APPLICABLE] = 1, [REPORT_PASS] = 0,
	};

	if (check->cut_off || (check->outcome == REPORT_PASS && check->unproven != NULL))
		return 2;
	return decides[check->outcome];
}

/* Satisfied, by a look that was shorter than what the requirement is about. */
static char *check_watched_reason(const struct render_check *check)
{
	return text_format("%s: watched for %.1f s; a thorough run watches %.1f s (--thorough)",
			   check->name, (double)check->watched_ms / 1000.0,
			   (double)check->watched_thorough_ms / 1000.0);
}

char *render_requirement_reason(const struct render_requirement *requirement)
{
	const struct render_check *why = requirement->why;
	int decides = why != NULL ? check_decides(why) : 0;

	if (decides >= 2)
		return text_format("%s (%s): %s", why->name, report_outcome_name(why->outcome),
				   why->outcome == REPORT_PASS ? why->unproven : why->reason);
	if (requirement->left_out != NULL)
		return text_format("%s was left out", requirement->left_out);
	if (requirement->tally.outcomes[REPORT_PASS] != 0)
		return requirement->watched != NULL ? check_watched_reason(requirement->watched)
						    : strdup("");
	if (decides == 1)
		return text_format("%s: %s", why->name, why->reason);
	return strdup(requirement->not_applicable != NULL ? requirement->not_applicable
							  : "no check tests it");
}

static int check_tally(struct render_check *check, struct error *err)
{
	struct render_requirement *requirement = check->requirement;
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(check->planned, "id");
	const cJSON *known = NULL;

	if (requirement == NULL)
		return 0;
	requirement->tally.outcomes[check->outcome]++;
	requirement->tally.cut_off += check->cut_off ? 1 : 0;
	requirement->tally.unproven +=
		check->outcome == REPORT_PASS && check->unproven != NULL ? 1 : 0;
	if (requirement->why == NULL || check_decides(check) > check_decides(requirement->why))
		requirement->why = check;
	if (check->watched_ms < check->watched_thorough_ms)
		requirement->watched = check;
	cJSON_ArrayForEach (known, requirement->checks) {
		if (strcmp(known->valuestring, id->valuestring) == 0)
			return 0;
	}
	return members_append(requirement->checks, cJSON_CreateString(id->valuestring), err);
}

int render_close_checks(struct render *render, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < render->check_count; i++) {
		rc = check_close(render, &render->checks[i], err);
		rc = rc == 0 ? check_tally(&render->checks[i], err) : rc;
	}
	return rc;
}

enum report_disposition render_disposition(const struct render_check *check)
{
	return report_disposition_of(
		check->outcome, check->expectation != NULL ? &check->expected : NULL, check->flaky);
}

/* Members that the report takes over from the plan, null where the plan says nothing. */
static void check_copy_planned(const struct render_check *check, const char *const *keys,
			       struct members *json)
{
	for (; *keys != NULL; keys++) {
		const cJSON *member = cJSON_GetObjectItemCaseSensitive(check->planned, *keys);

		if (member != NULL)
			member_copy(json, *keys, member);
		else
			member_string(json, *keys, NULL);
	}
}

static void check_add_expected(const struct render_check *check, struct members *json)
{
	struct members expected CLEANUP_MEMBERS = members_new();

	if (check->expectation == NULL) {
		member_string(json, "expected", NULL);
		return;
	}
	member_string(&expected, "outcome", report_outcome_name(check->expected));
	member_string(&expected, "entry", check->expectation);
	member_item(json, "expected", members_take(&expected));
}

cJSON *render_check_json(struct render_check *check)
{
	static const char *const identity[] = {"id", "variant", "revision", "requirement", NULL};
	static const char *const texts[] = {"severity", "title", "advice", NULL};
	struct members json CLEANUP_MEMBERS = members_new();

	check_copy_planned(check, identity, &json);
	member_string(&json, "level",
		      check->requirement != NULL ? check->requirement->level : NULL);
	check_copy_planned(check, texts, &json);
	member_string(&json, "outcome", report_outcome_name(check->outcome));
	check_add_expected(check, &json);
	member_string(&json, "disposition", report_disposition_name(render_disposition(check)));
	member_string(&json, "reason", check->reason);
	if (check->cause != NULL)
		member_string(&json, "cause", check->cause);
	member_string(&json, "unproven", check->unproven);
	check_add_watched(check, &json);
	member_item(&json, "devices", STEAL(check->devices));
	member_item(&json, "attempts", STEAL(check->attempts));
	member_item(&json, "assertions", STEAL(check->assertions));
	member_item(&json, "notes", STEAL(check->notes));
	member_item(&json, "evidence", STEAL(check->evidence));
	member_item(&json, "events", STEAL(check->events));
	member_int(&json, "leftOut", check->left_out);
	return members_take(&json);
}
