/* SPDX-License-Identifier: MIT */
#include "reports/certificates/claims.h"

#include "base/cleanup.h"
#include "base/json_members.h"
#include "reports/environment.h"
#include "reports/expect/expectations.h"
#include "reports/view.h"

static int check_check(const struct json_at *at, struct error *err)
{
	return expectation_is_sentinel(at->node->valuestring)
		       ? json_error(at, err,
				    "%.64s cannot be claimed: all other checks depend on it",
				    at->node->valuestring)
		       : expectation_check_text(at, err);
}

#define TEXT(key, member, presence, check) JSON_TEXT(struct claim, key, member, presence, check)

static const struct json_member claim_members[] = {
	TEXT("check", check, JSON_OPTIONAL, check_check),
	TEXT("requirement", requirement, JSON_OPTIONAL, expectation_check_text),
	TEXT("justification", justification, JSON_REQUIRED, expectation_check_text),
	TEXT("link", link, JSON_REQUIRED, expectation_check_text),
	TEXT("reviewBy", review_by, JSON_REQUIRED, expectation_check_day),
	{0},
};

static const struct json_member file_members[] = {
	{.key = "schema",
	 .type = JSON_MEMBER_SCHEMA,
	 .presence = JSON_REQUIRED,
	 .what = "gpucert-claims/1"},
	JSON_LIST(struct claims, "claims", items, count, JSON_REQUIRED, CLAIMS_MAX, claim_members),
	{0},
};

int claims_parse(const char *data, size_t size, struct claims *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	int rc = json_parse_strict(data, size, &document, err);
	struct json_at root = json_root(document);
	*out = (struct claims){0};
	if (rc == 0 && !cJSON_IsObject(document))
		rc = error_set(err, ERROR_FORMAT, "expected object");
	if (rc == 0)
		rc = json_members_read(&root, file_members, out, &out->arena, err);

	for (size_t i = 0; rc == 0 && i < out->count; i++) {
		const struct claim *claim = &out->items[i];
		if ((claim->check[0] == '\0') == (claim->requirement[0] == '\0'))
			rc = error_set(err, ERROR_FORMAT,
				       "claims[%zu]: name either a check or a requirement", i);
		for (size_t k = 0; rc == 0 && k < i; k++) {
			const struct claim *other = &out->items[k];
			if (text_equal(claim->check, other->check) &&
			    text_equal(claim->requirement, other->requirement))
				rc = error_set(err, ERROR_FORMAT,
					       "claims[%zu]: the same as claims[%zu]", i, k);
		}
	}
	return rc;
}

static const cJSON *find_id(const cJSON *array, const char *id)
{
	json_each (item, array) {
		if (view_is(item, "/id", id))
			return item;
	}
	return NULL;
}

#define NOT_CERTIFIED "not-certified"

/* The run that is judged, and why it may not be called certified. */
struct judgement {
	const struct claims *claims;
	const cJSON *checks, *requirements; /* from the report */
	const cJSON *planned;		    /* requirements of the journal's plan */
	struct faults *faults;
};

/* By the check's id, which may be "", or by the requirement's. */
static bool is_claimed(const struct judgement *judgement, const char *check,
		       const char *requirement)
{
	for (size_t i = 0; i < judgement->claims->count; i++) {
		const struct claim *claim = &judgement->claims->items[i];
		if (claim->check[0] != '\0' ? text_equal(claim->check, check)
					    : text_equal(claim->requirement, requirement))
			return true;
	}
	return false;
}

/* One check of a MUST requirement that was not tested. */
static void judge_check(const struct judgement *judgement, const cJSON *check,
			const char *requirement)
{
	const char *id = view_string(check, "/id"), *word = view_string(check, "/outcome");
	const enum report_outcome outcome = report_outcome_of(word);
	const bool untested = outcome == REPORT_UNSUPPORTED || outcome == REPORT_NOTRUN;
	const char *unproven = view_string(check, "/unproven");
	if (outcome == REPORT_PASS && unproven[0] != '\0')
		faults_add(judgement->faults, NOT_CERTIFIED,
			   "%s (%s) passed where a pass proves nothing: %s", id, requirement,
			   unproven);
	if (outcome == REPORT_PASS || outcome == REPORT_NOT_APPLICABLE ||
	    (untested && !expectation_is_sentinel(id) && is_claimed(judgement, id, requirement)))
		return;
	faults_add(judgement->faults, NOT_CERTIFIED,
		   untested ? "%s (%s) is %s and not claimed: %s"
			    : "%s (%s) is %s, which cannot be claimed: %s",
		   id, requirement, word, view_string(check, "/reason"));
}

/* A MUST requirement that was not tested: every check that keeps it open must be claimed. */
static void judge_open(const struct judgement *judgement, const cJSON *requirement)
{
	const char *id = view_string(requirement, "/id");
	const cJSON *left_out = json_pointer(find_id(judgement->planned, id), "/leftOut");
	const cJSON *checks = json_pointer(requirement, "/checks");
	json_each (name, checks)
		judge_check(
			judgement,
			find_id(judgement->checks, cJSON_IsString(name) ? name->valuestring : ""),
			id);
	json_each (name, left_out) {
		if (expectation_is_sentinel(name->valuestring) ||
		    !is_claimed(judgement, name->valuestring, id))
			faults_add(judgement->faults, NOT_CERTIFIED,
				   "%s (%s) was left out and is not claimed", name->valuestring,
				   id);
	}
	if (json_first(checks) == NULL && json_first(left_out) == NULL &&
	    !is_claimed(judgement, "", id))
		faults_add(judgement->faults, NOT_CERTIFIED,
			   "%s: no check tests it, and it is not claimed", id);
}

/* What is wrong with a claim about something that was tested; NULL: nothing. */
static const char *claim_fault(const struct judgement *judgement, const struct claim *claim)
{
	const cJSON *check = find_id(judgement->checks, claim->check);
	const cJSON *requirement = find_id(judgement->requirements, claim->requirement);
	const enum report_outcome outcome = report_outcome_of(view_string(check, "/outcome"));
	const char *verdict = view_string(requirement, "/verdict");
	if (check == NULL && requirement == NULL) {
		json_each (planned, judgement->planned) {
			json_each (id, json_pointer(planned, "/leftOut")) {
				if (text_equal(id->valuestring, claim->check))
					return NULL;
			}
		}
		return "there is none of that name in the run";
	}
	if (check != NULL && outcome != REPORT_UNSUPPORTED && outcome != REPORT_NOTRUN)
		return report_outcome_is_bad(outcome) ? "a failure is never claimed away"
						      : "it was tested: remove the claim";
	if (text_equal(verdict, "violated"))
		return "a failure is never claimed away";
	return requirement != NULL && !text_equal(verdict, "not-tested")
		       ? "it was tested: remove the claim"
		       : NULL;
}

void claims_judge(const struct claims *claims, const cJSON *report, const struct journal_log *log,
		  const char *today, struct faults *faults)
{
	struct judgement judgement = {
		.claims = claims,
		.checks = json_pointer(report, "/checks"),
		.requirements = json_pointer(report, "/requirements"),
		.faults = faults,
	};
	const char *ended = view_string(report, "/run/ended");
	bool proven = false;
	for (size_t i = 0; i < log->count; i++) {
		if (log->records[i].type == JOURNAL_PLAN)
			judgement.planned = json_pointer(log->records[i].json, "/requirements");
	}

	if (!view_is(report, "/run/state", "complete"))
		faults_add(faults, NOT_CERTIFIED, "the run is not complete");
	if (!environment_is_live(json_pointer(report, "/environment")))
		faults_add(faults, NOT_CERTIFIED,
			   "it ran on a recorded node, which proves nothing about one");
	if (expectation_day(ended) > expectation_day(today) + 1)
		faults_add(faults, NOT_CERTIFIED,
			   "the run ended on %.10s, and today is %.10s: the clock of its machine "
			   "is wrong, or that of this one",
			   ended, today);

	json_each (requirement, judgement.requirements) {
		const char *verdict = view_string(requirement, "/verdict");
		if (!view_is(requirement, "/level", "must"))
			continue;
		if (text_equal(verdict, "satisfied"))
			proven = true;
		else if (text_equal(verdict, "violated"))
			faults_add(faults, NOT_CERTIFIED,
				   "%s is violated, and a failure is never claimed away: %s",
				   view_string(requirement, "/id"),
				   view_string(requirement, "/reason"));
		else if (!text_equal(verdict, "not-applicable"))
			judge_open(&judgement, requirement);
	}
	if (!proven)
		faults_add(faults, NOT_CERTIFIED, "no MUST requirement is satisfied");

	for (size_t i = 0; i < claims->count; i++) {
		const struct claim *claim = &claims->items[i];
		const char *id = claim->check[0] != '\0' ? claim->check : claim->requirement;
		const char *fault = claim_fault(&judgement, claim);
		if (fault != NULL)
			faults_add(faults, NOT_CERTIFIED, "claims[%zu] (%s): %s", i, id, fault);
		if (expectation_day(today) > expectation_day(claim->review_by))
			faults_add(faults, NOT_CERTIFIED,
				   "claims[%zu] (%s) was to be reviewed by %s", i, id,
				   claim->review_by);
	}
}

void claims_free(struct claims *claims)
{
	arena_free(&claims->arena);
	*claims = (struct claims){0};
}
