/* SPDX-License-Identifier: MIT */
#include "reports/view.h"
#include "reports/writer.h"

#include <string.h>

enum junit_kind { JUNIT_PASS, JUNIT_FAILURE, JUNIT_ERROR, JUNIT_SKIPPED, JUNIT_KIND_COUNT };

static const char *const elements[JUNIT_KIND_COUNT] = {NULL, "failure", "error", "skipped"};

static enum junit_kind kind_of(const struct view_check *check)
{
	if (check->disposition == REPORT_EXPECTED_FAIL)
		return JUNIT_SKIPPED;
	if (check->disposition == REPORT_UNEXPECTED_IMPROVEMENT || check->outcome == REPORT_FAIL)
		return JUNIT_FAILURE;
	if (report_outcome_is_bad(check->outcome))
		return JUNIT_ERROR;
	return check->outcome == REPORT_PASS ? JUNIT_PASS : JUNIT_SKIPPED;
}

static void add_attribute(struct text *out, const char *name, const char *value)
{
	text_addf(out, " %s=\"", name);
	text_add_xml(out, value, strlen(value));
	text_add(out, "\"");
}

static void add_seconds(struct text *out, int64_t ms)
{
	text_addf(out, " time=\"%lld.%03lld\"", (long long)ms / 1000, (long long)ms % 1000);
}

static void add_message(struct text *out, const struct view_check *check)
{
	const char *entry = view_string(check->json, "/expected/entry");
	struct text message CLEANUP_TEXT = {0};
	if (check->disposition == REPORT_EXPECTED_FAIL)
		text_addf(&message, "expected by %s: ", entry);
	if (check->disposition == REPORT_UNEXPECTED_IMPROVEMENT)
		text_addf(&message, "better than expected: remove the entry %s", entry);
	text_add(&message, check->reason);
	out->failed = out->failed || message.failed;
	add_attribute(out, "message", text_string(&message));
}

/* What did not hold, and what to do, for the person who reads the failure. */
static void add_details(struct text *out, const struct view_check *check)
{
	struct text details CLEANUP_TEXT = {0};
	text_addf(&details, "%s\n", view_string(check->json, "/title"));
	json_each (assertion, json_pointer(check->json, "/assertions")) {
		if (cJSON_IsTrue(json_pointer(assertion, "/ok")))
			continue;
		text_addf(&details, "%s: saw %s, wanted %s (%s)\n", view_string(assertion, "/what"),
			  view_string(assertion, "/saw"), view_string(assertion, "/wanted"),
			  view_string(assertion, "/at"));
	}
	text_addf(&details, "%s\n", view_string(check->json, "/advice"));
	out->failed = out->failed || details.failed;
	text_add_xml(out, text_string(&details), details.size);
}

static void add_result(struct text *out, const struct view_check *check)
{
	enum junit_kind kind = kind_of(check);
	if (kind == JUNIT_PASS)
		return;
	text_addf(out, "      <%s", elements[kind]);
	if (kind != JUNIT_SKIPPED)
		add_attribute(out, "type", report_outcome_names[check->outcome]);
	add_message(out, check);
	if (kind == JUNIT_SKIPPED) {
		text_add(out, "/>\n");
		return;
	}
	text_add(out, ">");
	add_details(out, check);
	text_addf(out, "</%s>\n", elements[kind]);
}

static void add_notes(struct text *out, const struct view_check *check)
{
	const cJSON *notes = json_pointer(check->json, "/notes");
	if (notes == NULL || notes->child == NULL)
		return;
	text_add(out, "      <system-out>");
	json_each (note, notes) {
		const char *string = cJSON_GetStringValue(note);
		if (string != NULL)
			text_add_xml(out, string, strlen(string));
		text_add(out, "\n");
	}
	text_add(out, "</system-out>\n");
}

static void add_case(struct text *out, const struct view_check *check)
{
	struct text group CLEANUP_TEXT = {0};
	text_addf(&group, "gpucert.%.*s", (int)view_suite_size(check), check->id);
	out->failed = out->failed || group.failed;
	text_add(out, "    <testcase");
	add_attribute(out, "name", check->id);
	add_attribute(out, "classname", text_string(&group));
	add_seconds(out, check->duration_ms);
	text_add(out, ">\n");
	add_result(out, check);
	add_notes(out, check);
	text_add(out, "    </testcase>\n");
}

struct counts {
	size_t kinds[JUNIT_KIND_COUNT];
	int64_t duration_ms;
};

static void count_check(struct counts *counts, const struct view_check *check)
{
	counts->kinds[kind_of(check)]++;
	counts->duration_ms += check->duration_ms;
}

static void add_counts(struct text *out, const struct counts *counts)
{
	const size_t *kinds = counts->kinds;
	text_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
		  kinds[JUNIT_PASS] + kinds[JUNIT_FAILURE] + kinds[JUNIT_ERROR] +
			  kinds[JUNIT_SKIPPED],
		  kinds[JUNIT_FAILURE], kinds[JUNIT_ERROR], kinds[JUNIT_SKIPPED]);
	add_seconds(out, counts->duration_ms);
}

static void add_properties(struct text *out, const cJSON *report)
{
	static const struct {
		const char *name, *pointer;
	} properties[] = {
		{"run", "/run/id"},
		{"state", "/run/state"},
		{"node", "/environment/node/kind"},
		{"environment", "/environment/digest"},
		{"conformance", "/verdict/conformance/result"},
	};
	text_add(out, "    <properties>\n");
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		text_add(out, "      <property");
		add_attribute(out, "name", properties[i].name);
		add_attribute(out, "value", view_string(report, properties[i].pointer));
		text_add(out, "/>\n");
	}
	text_add(out, "    </properties>\n");
}

static void begin_suite(struct text *out, const cJSON *report, const char *name, size_t size,
			const struct counts *counts)
{
	text_add(out, "  <testsuite name=\"");
	text_add_xml(out, name, size);
	text_add(out, "\"");
	add_counts(out, counts);
	add_attribute(out, "timestamp", view_string(report, "/run/started"));
	text_add(out, ">\n");
}

/* The suite to which `view->checks[first]` belongs, which is its first check. */
static void add_suite(struct text *out, const cJSON *report, const struct view *view, size_t first)
{
	const struct view_check *head = &view->checks[first];
	struct counts counts = {0};
	for (size_t i = first; i < view->count; i++) {
		if (view_same_suite(head, &view->checks[i]))
			count_check(&counts, &view->checks[i]);
	}
	begin_suite(out, report, head->id, view_suite_size(head), &counts);
	add_properties(out, report);
	for (size_t i = first; i < view->count; i++) {
		if (view_same_suite(head, &view->checks[i]))
			add_case(out, &view->checks[i]);
	}
	text_add(out, "  </testsuite>\n");
}

/* The run as a whole: a test system that looks at test cases alone must not take one in which
 * nothing was proven for a success. */
static enum junit_kind conformance_kind(const cJSON *report)
{
	const char *result = view_string(report, "/verdict/conformance/result");
	int64_t exit_code = view_int(report, "/verdict/exitCode");
	bool required = cJSON_IsTrue(json_pointer(report, "/run/invocation/conformanceRequired"));
	if (exit_code == REPORT_EXIT_BROKEN || exit_code == REPORT_EXIT_INCOMPLETE)
		return JUNIT_ERROR;
	if (exit_code == REPORT_EXIT_UNEXPECTED && (required || strcmp(result, "violated") == 0))
		return JUNIT_FAILURE;
	return strcmp(result, "conformant") == 0 ? JUNIT_PASS : JUNIT_SKIPPED;
}

static void add_conformance(struct text *out, const cJSON *report)
{
	enum junit_kind kind = conformance_kind(report);
	const char *abort = view_string(report, "/run/abort/reason");
	struct counts counts = {0};
	struct text message CLEANUP_TEXT = {0};
	counts.kinds[kind] = 1;
	view_add_conformance(report, &message);
	if (abort[0] != '\0')
		text_addf(&message, "; aborted: %s", abort);
	out->failed = out->failed || message.failed;
	begin_suite(out, report, "conformance", strlen("conformance"), &counts);
	text_add(out, "    <testcase name=\"conformance\" classname=\"gpucert.conformance\" "
		      "time=\"0.000\">\n");
	if (kind != JUNIT_PASS) {
		text_addf(out, "      <%s", elements[kind]);
		add_attribute(out, "message", text_string(&message));
		text_add(out, "/>\n");
	}
	text_add(out, "    </testcase>\n  </testsuite>\n");
}

int junit_write(const cJSON *report, const struct writer_options *options, struct text *out,
		struct error *err)
{
	struct view view CLEANUP_VIEW = {0};
	struct counts counts = {0};
	int rc = view_open(report, &view, err);
	(void)options;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < view.count; i++)
		count_check(&counts, &view.checks[i]);
	counts.kinds[conformance_kind(report)]++;
	text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpucert\"");
	add_counts(out, &counts);
	text_add(out, ">\n");
	for (size_t i = 0; i < view.count; i++) {
		if (view_begins_suite(&view, i))
			add_suite(out, report, &view, i);
	}
	add_conformance(out, report);
	text_add(out, "</testsuites>\n");
	return 0;
}
