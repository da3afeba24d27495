/* SPDX-License-Identifier: MIT */
#include "reports/journal_record.h"

#include "base/members.h"
#include "reports/items.h"
#include "reports/journal_read.h"

#include <string.h>

enum { ARRAY_BYTES_MAX = 512 * 1024 };

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#error "the project is built with GCC or Clang"
#endif

static struct members record_new(enum journal_type type)
{
	struct members record = members_new();

	member_string(&record, "type", journal_type_name(type));
	return record;
}

static cJSON *record_strings(const char *const *strings)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();

	if (array == NULL)
		return NULL;
	for (const char *const *s = strings; s != NULL && *s != NULL; s++) {
		if (members_append(array, members_new_text(*s, JOURNAL_TEXT_MAX), NULL) < 0)
			return NULL;
	}
	return STEAL(array);
}

cJSON *journal_record_run_begin(const struct journal_run *run)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_RUN_BEGIN);
	struct members harness CLEANUP_MEMBERS = members_new();
	struct members invocation CLEANUP_MEMBERS = members_new();

	member_string(&harness, "version", GPUCERT_VERSION);
	member_string(&harness, "commit", run->commit);
	member_string(&harness, "compiler", COMPILER);
	member_string(&harness, "tableDigest", run->table_digest);
	member_item(&invocation, "argv", record_strings(run->argv));
	member_int(&invocation, "timeoutPercent", run->timeout_percent);
	member_int(&invocation, "minRun", run->min_run);
	member_bool(&invocation, "conformanceRequired", run->conformance_required);
	member_string(&record, "schema", JOURNAL_SCHEMA);
	member_string(&record, "id", run->id);
	member_item(&record, "harness", members_take(&harness));
	member_item(&record, "invocation", members_take(&invocation));
	return members_take(&record);
}

cJSON *journal_record_environment(const cJSON *environment)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_ENVIRONMENT);

	member_copy(&record, "environment", environment);
	return members_take(&record);
}

static cJSON *record_expected(const struct journal_planned_check *check)
{
	struct members expected CLEANUP_MEMBERS = members_new();

	member_string(&expected, "outcome", report_outcome_name(check->expected));
	member_string(&expected, "entry", check->expectation);
	return members_take(&expected);
}

static cJSON *record_planned_check(const struct journal_planned_check *check)
{
	struct members planned CLEANUP_MEMBERS = members_new();
	bool runs = check->outcome == REPORT_PASS;

	member_string(&planned, "id", check->id);
	member_string(&planned, "variant", check->variant);
	member_int(&planned, "revision", check->revision);
	member_string(&planned, "requirement", check->requirement);
	member_string(&planned, "severity", check->severity);
	member_string(&planned, "title", check->title);
	member_string(&planned, "advice", check->advice);
	if (check->expectation != NULL)
		member_item(&planned, "expected", record_expected(check));
	if (check->unproven != NULL)
		member_cut(&planned, "unproven", check->unproven, JOURNAL_TEXT_MAX);
	if (!runs) {
		member_string(&planned, "outcome", report_outcome_name(check->outcome));
		member_cut(&planned, "reason", check->reason != NULL ? check->reason : "",
			   JOURNAL_TEXT_MAX);
	}
	return members_take(&planned);
}

static cJSON *record_requirement(const struct journal_requirement *requirement)
{
	struct members member CLEANUP_MEMBERS = members_new();

	member_string(&member, "id", requirement->id);
	member_string(&member, "level", requirement->level);
	member_string(&member, "sentence", requirement->sentence);
	member_string(&member, "source", requirement->source);
	if (requirement->left_out != NULL && requirement->left_out[0] != NULL)
		member_item(&member, "leftOut", record_strings(requirement->left_out));
	if (requirement->not_applicable != NULL)
		member_cut(&member, "notApplicable", requirement->not_applicable, JOURNAL_TEXT_MAX);
	return members_take(&member);
}

static cJSON *record_settings(const struct journal_settings *settings)
{
	struct members member CLEANUP_MEMBERS = members_new();

	member_string(&member, "launcher", settings->launcher);
	member_string(&member, "profile", settings->profile);
	member_bool(&member, "thorough", settings->thorough);
	return members_take(&member);
}

cJSON *journal_record_plan(const struct journal_plan *plan)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_PLAN);
	cJSON *checks CLEANUP_JSON = cJSON_CreateArray();
	cJSON *requirements CLEANUP_JSON = cJSON_CreateArray();
	int rc = checks != NULL && requirements != NULL ? 0 : error_memory(NULL);

	for (size_t i = 0; rc == 0 && i < plan->check_count; i++)
		rc = members_append(checks, record_planned_check(&plan->checks[i]), NULL);
	for (size_t i = 0; rc == 0 && i < plan->requirement_count; i++)
		rc = members_append(requirements, record_requirement(&plan->requirements[i]), NULL);
	if (rc < 0)
		return NULL;
	member_item(&record, "settings", record_settings(&plan->settings));
	member_int(&record, "filteredOut", (int64_t)plan->filtered_out);
	member_item(&record, "requirements", STEAL(requirements));
	member_item(&record, "checks", STEAL(checks));
	return members_take(&record);
}

cJSON *journal_record_phase(enum report_phase phase, const char *what, uint64_t duration_ms)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_PHASE);

	member_string(&record, "phase", report_phase_name(phase));
	member_cut(&record, "what", what, JOURNAL_TEXT_MAX);
	member_int(&record, "durationMs", (int64_t)duration_ms);
	return members_take(&record);
}

cJSON *journal_record_check_begin(const char *check, unsigned attempt, uint64_t timeout_ms)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_CHECK_BEGIN);

	member_string(&record, "check", check);
	member_int(&record, "attempt", attempt);
	member_int(&record, "timeoutMs", (int64_t)timeout_ms);
	return members_take(&record);
}

cJSON *journal_record_evidence(const char *check, const cJSON *evidence)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_EVIDENCE);

	member_string(&record, "check", check);
	member_copy(&record, "evidence", evidence);
	return members_take(&record);
}

cJSON *journal_record_event(const char *check, const char *kind, const char *text)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_EVENT);

	member_string(&record, "check", check);
	member_string(&record, "kind", kind);
	member_cut(&record, "text", text, JOURNAL_TEXT_MAX);
	return members_take(&record);
}

static cJSON *record_phases(const uint64_t phases_ms[REPORT_PHASE_COUNT])
{
	struct members phases CLEANUP_MEMBERS = members_new();

	for (int i = 0; i < REPORT_PHASE_COUNT; i++)
		member_int(&phases, report_phase_name((enum report_phase)i), (int64_t)phases_ms[i]);
	return members_take(&phases);
}

/* A copy of an array's item in which every text has a bounded length. */
static cJSON *record_cut(const cJSON *item)
{
	cJSON *copy CLEANUP_JSON = NULL;
	cJSON *member = NULL;

	if (cJSON_IsString(item))
		return members_new_text(item->valuestring, JOURNAL_TEXT_MAX);
	copy = cJSON_Duplicate(item, true);
	for (member = copy != NULL ? copy->child : NULL; member != NULL; member = member->next) {
		cJSON *cut = NULL;

		if (!cJSON_IsString(member) || strlen(member->valuestring) <= JOURNAL_TEXT_MAX)
			continue;
		cut = members_new_text(member->valuestring, JOURNAL_TEXT_MAX);
		if (cut == NULL || cJSON_SetValuestring(member, cut->valuestring) == NULL) {
			cJSON_Delete(cut);
			return NULL;
		}
		cJSON_Delete(cut);
	}
	return STEAL(copy);
}

struct bounds {
	size_t bytes[2]; /* of the items that did not hold, and of the others */
	int64_t left_out;
};

/* Keeps `item` if it is what its array holds and within the limits. Items that did not hold have a
 * limit of their own, so that a flood of others cannot hide them. */
static int record_add_item(cJSON *kept, const cJSON *item, copy_item_fn *copy_item,
			   struct bounds *bounds)
{
	cJSON *cut CLEANUP_JSON = record_cut(item);
	char *json CLEANUP_FREE = cut != NULL ? json_print_compact(cut) : NULL;
	struct json_at root = json_root(cut);
	bool held = !cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(item, "ok"));
	int rc = 0;

	if (json == NULL)
		return error_memory(NULL);
	bounds->bytes[held] += strlen(json);
	if (bounds->bytes[held] <= ARRAY_BYTES_MAX)
		rc = copy_item(&root, kept, NULL);
	if (bounds->bytes[held] > ARRAY_BYTES_MAX || rc == ERROR_FORMAT) {
		bounds->left_out++;
		rc = 0;
	}
	return rc;
}

static void record_add_array(struct members *record, const char *key, const cJSON *array,
			     copy_item_fn *copy_item, int64_t *left_out)
{
	cJSON *kept CLEANUP_JSON = cJSON_CreateArray();
	struct bounds bounds = {0};
	const cJSON *item = NULL;

	cJSON_ArrayForEach (item, array) {
		if (record_add_item(kept, item, copy_item, &bounds) < 0)
			record->failed = true;
	}
	*left_out += bounds.left_out;
	member_item(record, key, STEAL(kept));
}

cJSON *journal_record_check_held(const char *check, const char *cause, const char *reason)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_CHECK_HELD);

	member_string(&record, "check", check);
	member_string(&record, "cause", cause);
	member_cut(&record, "reason", reason, JOURNAL_TEXT_MAX);
	return members_take(&record);
}

static cJSON *record_watched(const struct journal_check_end *end)
{
	struct members watched CLEANUP_MEMBERS = members_new();

	member_int(&watched, "ms", (int64_t)end->watched_ms);
	member_int(&watched, "thoroughMs", (int64_t)end->watched_thorough_ms);
	return members_take(&watched);
}

cJSON *journal_record_check_end(const struct journal_check_end *end)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_CHECK_END);
	int64_t left_out = 0;

	member_string(&record, "check", end->check);
	member_int(&record, "attempt", end->attempt);
	member_string(&record, "outcome", report_outcome_name(end->outcome));
	member_cut(&record, "reason", end->reason, JOURNAL_TEXT_MAX);
	member_int(&record, "durationMs", (int64_t)end->duration_ms);
	member_item(&record, "phasesMs", record_phases(end->phases_ms));
	if (end->watched_thorough_ms != 0)
		member_item(&record, "watched", record_watched(end));
	record_add_array(&record, "assertions", end->assertions, item_copy_assertion, &left_out);
	record_add_array(&record, "notes", end->notes, copy_string_item, &left_out);
	record_add_array(&record, "evidence", end->evidence, item_copy_evidence, &left_out);
	record_add_array(&record, "devices", end->devices, copy_string_item, &left_out);
	member_int(&record, "leftOut", left_out);
	return members_take(&record);
}

cJSON *journal_record_abort(enum report_abort abort, const char *reason)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_ABORT);

	member_string(&record, "kind", report_abort_name(abort));
	member_cut(&record, "reason", reason, JOURNAL_TEXT_MAX);
	return members_take(&record);
}

cJSON *journal_record_run_end(void)
{
	struct members record CLEANUP_MEMBERS = record_new(JOURNAL_RUN_END);

	return members_take(&record);
}
