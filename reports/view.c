/* SPDX-License-Identifier: MIT */
#include "reports/view.h"

#include <string.h>

enum { VIEW_IDS_MAX = 6 };

static int view_take_expectation(const struct json_at *item, struct view_check *check,
				 struct error *err)
{
	struct json_at expected = {0};
	int rc = json_have(item, "expected", JSON_OBJECT, &expected, err);

	if (rc == 0 && expected.node != NULL)
		rc = json_need_string(&expected, "entry", &check->expectation, err);
	return rc;
}

static int view_take_duration(const struct json_at *item, struct view_check *check,
			      struct error *err)
{
	struct json_at attempts = {0};
	const cJSON *node = NULL;
	size_t index = 0;
	int rc = json_need(item, "attempts", JSON_ARRAY, &attempts, err);

	cJSON_ArrayForEach (node, attempts.node) {
		struct json_at attempt = {.node = node, .parent = &attempts, .index = index};
		int64_t ms = 0;

		rc = rc == 0 ? json_need_int(&attempt, "durationMs", 0, INT64_MAX, &ms, err) : rc;
		check->duration_ms += ms;
		index++;
	}
	return rc;
}

static int view_take_unproven(const struct json_at *item, struct view_check *check,
			      struct error *err)
{
	const char *unproven = NULL;
	int rc = json_have_string(item, "unproven", &unproven, err);

	check->unproven = check->outcome == REPORT_PASS && unproven != NULL;
	if (check->unproven)
		check->reason = unproven;
	return rc;
}

static int view_take_check(const struct json_at *item, struct view_check *check, struct error *err)
{
	const char *outcome = NULL;
	int rc = json_need_string(item, "id", &check->id, err);

	check->json = item->node;
	rc = rc == 0 ? json_have_string(item, "variant", &check->variant, err) : rc;
	rc = rc == 0 ? json_have_string(item, "requirement", &check->requirement, err) : rc;
	rc = rc == 0 ? json_have_string(item, "level", &check->level, err) : rc;
	rc = rc == 0 ? json_need_string(item, "severity", &check->severity, err) : rc;
	rc = rc == 0 ? json_need_string(item, "title", &check->title, err) : rc;
	rc = rc == 0 ? json_need_string(item, "advice", &check->advice, err) : rc;
	rc = rc == 0 ? json_need_string(item, "reason", &check->reason, err) : rc;
	rc = rc == 0 ? json_have_string(item, "cause", &check->cause, err) : rc;
	rc = rc == 0 ? json_have_string(item, "disposition", &check->disposition, err) : rc;
	rc = rc == 0 ? json_need_string(item, "outcome", &outcome, err) : rc;
	rc = rc == 0 ? report_outcome_parse(outcome, &check->outcome, err) : rc;
	rc = rc == 0 ? view_take_expectation(item, check, err) : rc;
	rc = rc == 0 ? view_take_unproven(item, check, err) : rc;
	return rc == 0 ? view_take_duration(item, check, err) : rc;
}

int view_open(const cJSON *report, struct view *view, struct error *err)
{
	struct json_at root = json_root(report);
	struct json_at checks = {0};
	const cJSON *node = NULL;
	int rc = json_need(&root, "checks", JSON_ARRAY, &checks, err);

	if (rc < 0)
		return rc;
	view->checks = calloc(json_count(&checks) + 1, sizeof(*view->checks));
	if (view->checks == NULL)
		return error_memory(err);
	cJSON_ArrayForEach (node, checks.node) {
		size_t index = view->count++;
		struct json_at item = {.node = node, .parent = &checks, .index = index};

		rc = view_take_check(&item, &view->checks[index], err);
		if (rc < 0) {
			view_free(view);
			return rc;
		}
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

	return cJSON_IsNumber(node) ? (int64_t)node->valuedouble : 0;
}

const char *view_string(const cJSON *report, const char *pointer)
{
	const char *string = cJSON_GetStringValue(json_pointer(report, pointer));

	return string != NULL ? string : "";
}

static void view_add_ids(const cJSON *ids, struct text *out)
{
	const cJSON *id = NULL;
	int told = 0;

	cJSON_ArrayForEach (id, ids) {
		if (told == VIEW_IDS_MAX) {
			text_addf(out, " and %d more", cJSON_GetArraySize(ids) - told);
			return;
		}
		text_add(out, told++ == 0 ? ": " : ", ");
		text_add(out, cJSON_IsString(id) ? id->valuestring : "?");
	}
}

void view_add_conformance(const cJSON *report, struct text *out)
{
	const char *result = view_string(report, "/verdict/conformance/result");

	if (strcmp(result, "violated") == 0) {
		text_add(out, "not conformant, violated");
		view_add_ids(json_pointer(report, "/verdict/conformance/must"), out);
	} else if (strcmp(result, "conformant") == 0) {
		text_add(out, "conformant");
	} else {
		text_addf(out, "conformance not proven, %s",
			  view_string(report, "/verdict/conformance/reason"));
		view_add_ids(json_pointer(report, "/verdict/conformance/notTested"), out);
	}
}

void view_add_name(const struct view_check *check, struct text *out)
{
	text_add(out, check->id);
	if (check->variant != NULL) {
		text_add(out, "@");
		text_add(out, check->variant);
	}
}

size_t view_suite_size(const struct view_check *check)
{
	return strcspn(check->id, ".");
}

bool view_same_suite(const struct view_check *a, const struct view_check *b)
{
	size_t size = view_suite_size(a);

	return size == view_suite_size(b) && memcmp(a->id, b->id, size) == 0;
}
