/* SPDX-License-Identifier: MIT */
#include "reports/view.h"

#include "base/memory.h"

#include <string.h>

enum { IDS_MAX = 6 };

#define EXACT_MAX 9007199254740992 /* the largest whole number that a double holds exactly */

int view_open(const cJSON *report, struct view *view, struct error *err)
{
	struct json_at root = json_root(report);
	struct json_at checks = {0};
	const char *id = NULL;
	const char *outcome = NULL;
	int rc = json_need(&root, "checks", JSON_ARRAY, &checks, err);
	if (rc != 0)
		return rc;
	if (json_count(&checks) > VIEW_CHECKS_MAX)
		return error_set(err, ERROR_LIMIT, "checks: more than %d", (int)VIEW_CHECKS_MAX);

	/* The report is untrusted. */
	view->checks = memory_allocate(json_count(&checks), sizeof(*view->checks));
	json_each (node, checks.node) {
		struct json_at at = {.node = node, .parent = &checks, .index = view->count};
		rc = json_need_string(&at, "id", &id, err);
		if (rc == 0)
			rc = json_need_string(&at, "outcome", &outcome, err);
		if (rc == 0 && report_outcome_of(outcome) == REPORT_OUTCOME_COUNT)
			rc = json_error(&at, err, "outcome: '%.32s' is not an outcome", outcome);
		if (rc < 0)
			return rc;

		struct view_check *check = &view->checks[view->count++];
		const char *unproven = view_string(node, "/unproven");
		*check = (struct view_check){
			.json = node,
			.id = id,
			.suite_size = strcspn(id, "."),
			.reason = view_string(node, "/reason"),
			.cause = view_string(node, "/cause"),
			.outcome = report_outcome_of(outcome),
			.disposition = (enum report_disposition)text_position(
				report_disposition_names, view_string(node, "/disposition")),
			.duration_ms = view_duration(node, "/time/durationMs"),
		};
		check->unproven = check->outcome == REPORT_PASS && unproven[0] != '\0';
		if (check->unproven)
			check->reason = unproven;
	}
	return 0;
}

void view_free(struct view *view)
{
	free(view->checks);
	*view = (struct view){0};
}

int64_t view_int(const cJSON *report, const char *pointer)
{
	const cJSON *node = json_pointer(report, pointer);
	if (!cJSON_IsNumber(node))
		return 0;
	return node->valuedouble >= EXACT_MAX	 ? EXACT_MAX
	       : node->valuedouble <= -EXACT_MAX ? -EXACT_MAX
						 : (int64_t)node->valuedouble;
}

int64_t view_duration(const cJSON *report, const char *pointer)
{
	const int64_t duration = view_int(report, pointer);
	return duration > 0 ? duration : 0;
}

const char *view_string(const cJSON *report, const char *pointer)
{
	const char *string = json_pointer_string(report, pointer);
	return string != NULL ? string : "";
}

bool view_is(const cJSON *report, const char *pointer, const char *string)
{
	return text_equal(view_string(report, pointer), string);
}

void view_add_escaped(struct text *out, const char *string)
{
	text_add_escaped(out, string, strlen(string));
}

static void add_ids(const cJSON *ids, struct text *out)
{
	int listed = 0;
	json_each (id, ids) {
		if (listed == IDS_MAX) {
			text_addf(out, " and %d more", cJSON_GetArraySize(ids) - listed);
			return;
		}
		text_add(out, listed++ == 0 ? ": " : ", ");
		text_add(out, cJSON_IsString(id) ? id->valuestring : "?");
	}
}

void view_add_conformance(const cJSON *report, struct text *out)
{
	const char *result = view_string(report, "/verdict/conformance/result");
	if (text_equal(result, "violated")) {
		text_add(out, "not conformant, violated");
		add_ids(json_pointer(report, "/verdict/conformance/must"), out);
	} else if (text_equal(result, "conformant")) {
		text_add(out, "conformant");
	} else {
		const char *reason = view_string(report, "/verdict/conformance/reason");
		const cJSON *untested = json_pointer(report, "/verdict/conformance/notTested");
		text_addf(out, "conformance not proven%s%s", reason[0] != '\0' ? ", " : "", reason);
		if (json_first(untested) != NULL &&
		    !view_is(report, "/run/state", report_state_names[REPORT_COMPLETE]))
			text_add(out, "; not tested");
		add_ids(untested, out);
	}
}

const char *view_name_in_suite(const struct view_check *check)
{
	const char *dot = check->id + check->suite_size;
	return *dot == '.' ? dot + 1 : check->id;
}

bool view_same_suite(const struct view_check *a, const struct view_check *b)
{
	return a->suite_size == b->suite_size && memcmp(a->id, b->id, a->suite_size) == 0;
}

bool view_begins_suite(const struct view *view, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (view_same_suite(&view->checks[i], &view->checks[index]))
			return false;
	}
	return true;
}

const char *view_expected_by(const cJSON *check)
{
	const char *entry = view_string(check, "/expected/entry");
	return entry[0] != '\0' ? entry : "its level, " REPORT_LEVEL_MAY;
}
