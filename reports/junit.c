/* SPDX-License-Identifier: MIT */
#include "reports/junit.h"

#include "reports/view.h"

#include <string.h>

enum junit_kind { JUNIT_PASS, JUNIT_FAILURE, JUNIT_ERROR, JUNIT_SKIPPED, JUNIT_KIND_COUNT };

static const char *const junit_elements[JUNIT_KIND_COUNT] = {NULL, "failure", "error", "skipped"};

static enum junit_kind junit_kind_of(const struct view_check *check)
{
	if (text_equal(check->disposition, report_disposition_name(REPORT_EXPECTED_FAIL)))
		return JUNIT_SKIPPED;
	if (text_equal(check->disposition, report_disposition_name(REPORT_UNEXPECTED_IMPROVEMENT)))
		return JUNIT_FAILURE;
	switch (check->outcome) {
	case REPORT_PASS:
		return JUNIT_PASS;
	case REPORT_FAIL:
		return JUNIT_FAILURE;
	case REPORT_CRASH:
	case REPORT_TIMEOUT:
	case REPORT_BROKEN:
		return JUNIT_ERROR;
	case REPORT_UNSUPPORTED:
	case REPORT_NOT_APPLICABLE:
	case REPORT_SKIP:
	case REPORT_NOTRUN:
	case REPORT_OUTCOME_COUNT:
		break;
	}
	return JUNIT_SKIPPED;
}

static void junit_add_attribute(struct text *out, const char *name, const char *value)
{
	text_addf(out, " %s=\"", name);
	text_add_xml(out, value, strlen(value));
	text_add(out, "\"");
}

static void junit_add_seconds(struct text *out, int64_t ms)
{
	text_addf(out, " time=\"%lld.%03lld\"", (long long)ms / 1000, (long long)ms % 1000);
}

static void junit_add_message(struct text *out, const struct view_check *check)
{
	struct text message CLEANUP_TEXT = {0};

	if (text_equal(check->disposition, report_disposition_name(REPORT_EXPECTED_FAIL)))
		text_addf(&message, "expected by %s: ", check->expectation);
	if (text_equal(check->disposition, report_disposition_name(REPORT_UNEXPECTED_IMPROVEMENT)))
		text_addf(&message, "better than expected: remove the entry %s",
			  check->expectation);
	text_add(&message, check->reason);
	out->failed = out->failed || message.failed;
	junit_add_attribute(out, "message", text_string(&message));
}

/* What did not hold, and what to do, for the person who reads the failure. */
static void junit_add_details(struct text *out, const struct view_check *check)
{
	const cJSON *assertion = NULL;
	struct text details CLEANUP_TEXT = {0};

	text_addf(&details, "%s\n", check->title);
	cJSON_ArrayForEach (assertion, json_pointer(check->json, "/assertions")) {
		if (cJSON_IsTrue(json_pointer(assertion, "/ok")))
			continue;
		text_addf(&details, "%s: saw %s, wanted %s (%s)\n", view_string(assertion, "/what"),
			  view_string(assertion, "/saw"), view_string(assertion, "/wanted"),
			  view_string(assertion, "/at"));
	}
	text_addf(&details, "%s\n", check->advice);
	out->failed = out->failed || details.failed;
	text_add_xml(out, text_string(&details), details.size);
}

static void junit_add_result(struct text *out, const struct view_check *check)
{
	enum junit_kind kind = junit_kind_of(check);

	if (kind == JUNIT_PASS)
		return;
	text_addf(out, "      <%s", junit_elements[kind]);
	if (kind != JUNIT_SKIPPED)
		junit_add_attribute(out, "type", report_outcome_name(check->outcome));
	junit_add_message(out, check);
	if (kind == JUNIT_SKIPPED) {
		text_add(out, "/>\n");
		return;
	}
	text_add(out, ">");
	junit_add_details(out, check);
	text_addf(out, "</%s>\n", junit_elements[kind]);
}

static void junit_add_notes(struct text *out, const struct view_check *check)
{
	const cJSON *notes = json_pointer(check->json, "/notes");
	const cJSON *note = NULL;

	if (notes == NULL || notes->child == NULL)
		return;
	text_add(out, "      <system-out>");
	cJSON_ArrayForEach (note, notes) {
		const char *string = cJSON_GetStringValue(note);

		if (string != NULL)
			text_add_xml(out, string, strlen(string));
		text_add(out, "\n");
	}
	text_add(out, "</system-out>\n");
}

static void junit_add_case(struct text *out, const struct view_check *check)
{
	struct text name CLEANUP_TEXT = {0};
	struct text group CLEANUP_TEXT = {0};

	view_add_name(check, &name);
	text_addf(&group, "gpucert.%.*s", (int)view_suite_size(check), check->id);
	out->failed = out->failed || name.failed || group.failed;
	text_add(out, "    <testcase");
	junit_add_attribute(out, "name", text_string(&name));
	junit_add_attribute(out, "classname", text_string(&group));
	junit_add_seconds(out, check->duration_ms);
	text_add(out, ">\n");
	junit_add_result(out, check);
	junit_add_notes(out, check);
	text_add(out, "    </testcase>\n");
}

struct junit_counts {
	size_t kinds[JUNIT_KIND_COUNT];
	int64_t duration_ms;
};

static void junit_count(struct junit_counts *counts, const struct view_check *check)
{
	counts->kinds[junit_kind_of(check)]++;
	counts->duration_ms += check->duration_ms;
}

static void junit_add_counts(struct text *out, const struct junit_counts *counts)
{
	const size_t *kinds = counts->kinds;

	text_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
		  kinds[JUNIT_PASS] + kinds[JUNIT_FAILURE] + kinds[JUNIT_ERROR] +
			  kinds[JUNIT_SKIPPED],
		  kinds[JUNIT_FAILURE], kinds[JUNIT_ERROR], kinds[JUNIT_SKIPPED]);
	junit_add_seconds(out, counts->duration_ms);
}

static void junit_add_property(struct text *out, const cJSON *report, const char *name,
			       const char *pointer)
{
	text_add(out, "      <property");
	junit_add_attribute(out, "name", name);
	junit_add_attribute(out, "value", view_string(report, pointer));
	text_add(out, "/>\n");
}

/* The suite to which `view->checks[first]` belongs, which is its first check. */
static void junit_add_suite(struct text *out, const cJSON *report, const struct view *view,
			    size_t first)
{
	const struct view_check *head = &view->checks[first];
	struct junit_counts counts = {0};

	for (size_t i = first; i < view->count; i++) {
		if (view_same_suite(head, &view->checks[i]))
			junit_count(&counts, &view->checks[i]);
	}
	text_add(out, "  <testsuite name=\"");
	text_add_xml(out, head->id, view_suite_size(head));
	text_add(out, "\"");
	junit_add_counts(out, &counts);
	junit_add_attribute(out, "timestamp", view_string(report, "/run/started"));
	text_add(out, ">\n    <properties>\n");
	junit_add_property(out, report, "run", "/run/id");
	junit_add_property(out, report, "state", "/run/state");
	junit_add_property(out, report, "node", "/environment/node/kind");
	junit_add_property(out, report, "environment", "/environment/digest");
	junit_add_property(out, report, "conformance", "/verdict/conformance/result");
	text_add(out, "    </properties>\n");
	for (size_t i = first; i < view->count; i++) {
		if (view_same_suite(head, &view->checks[i]))
			junit_add_case(out, &view->checks[i]);
	}
	text_add(out, "  </testsuite>\n");
}

/* The run as a whole: a test system that looks at test cases alone must not take one in which
 * nothing was proven for a success. */
static enum junit_kind junit_conformance_kind(const cJSON *report)
{
	const char *result = view_string(report, "/verdict/conformance/result");

	switch (view_int(report, "/verdict/exitCode")) {
	case REPORT_EXIT_BROKEN:
	case REPORT_EXIT_INCOMPLETE:
		return JUNIT_ERROR;
	case REPORT_EXIT_UNEXPECTED:
		if (strcmp(result, "violated") == 0 ||
		    cJSON_IsTrue(json_pointer(report, "/run/invocation/conformanceRequired")))
			return JUNIT_FAILURE;
		break;
	default:
		break;
	}
	return strcmp(result, "conformant") == 0 ? JUNIT_PASS : JUNIT_SKIPPED;
}

static void junit_add_conformance(struct text *out, const cJSON *report)
{
	enum junit_kind kind = junit_conformance_kind(report);
	const char *abort = view_string(report, "/run/abort/reason");
	struct junit_counts counts = {0};
	struct text message CLEANUP_TEXT = {0};

	counts.kinds[kind] = 1;
	view_add_conformance(report, &message);
	if (abort[0] != '\0')
		text_addf(&message, "; aborted: %s", abort);
	out->failed = out->failed || message.failed;
	text_add(out, "  <testsuite name=\"conformance\"");
	junit_add_counts(out, &counts);
	junit_add_attribute(out, "timestamp", view_string(report, "/run/started"));
	text_add(out, ">\n    <testcase name=\"conformance\" classname=\"gpucert.conformance\" "
		      "time=\"0.000\">\n");
	if (kind != JUNIT_PASS) {
		text_addf(out, "      <%s", junit_elements[kind]);
		junit_add_attribute(out, "message", text_string(&message));
		text_add(out, "/>\n");
	}
	text_add(out, "    </testcase>\n  </testsuite>\n");
}

static bool junit_begins_suite(const struct view *view, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (view_same_suite(&view->checks[i], &view->checks[index]))
			return false;
	}
	return true;
}

static int junit_write(const cJSON *report, const struct writer_options *options, struct text *out,
		       struct error *err)
{
	struct view view CLEANUP_VIEW = {0};
	struct junit_counts counts = {0};
	int rc = view_open(report, &view, err);

	(void)options;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < view.count; i++)
		junit_count(&counts, &view.checks[i]);
	counts.kinds[junit_conformance_kind(report)]++;
	text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpucert\"");
	junit_add_counts(out, &counts);
	text_add(out, ">\n");
	for (size_t i = 0; i < view.count; i++) {
		if (junit_begins_suite(&view, i))
			junit_add_suite(out, report, &view, i);
	}
	junit_add_conformance(out, report);
	text_add(out, "</testsuites>\n");
	return 0;
}

const struct writer writer_junit = {
	.name = "junit",
	.file_name = "junit.xml",
	.media = "application/xml",
	.write = junit_write,
};
