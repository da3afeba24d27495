/* SPDX-License-Identifier: MIT */
#include "reports/view.h"
#include "reports/writer.h"

#include <string.h>

/* What CI systems keep of a test case without trouble; report.json has the rest. */
enum { MESSAGE_MAX = 2000, DETAILS_MAX = 64 * 1024, OUTPUT_MAX = 256 * 1024 };

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

/* Adds at most `max` bytes of it, whole characters, and says when there is more. */
static void add_cut(struct text *out, const char *string, size_t size, size_t max)
{
	const size_t shown = text_fit(string, size, max);
	text_add_xml(out, string, shown);
	if (shown < size)
		text_addf(out, "… (%zu more bytes are in report.json)", size - shown);
}

static void add_attribute(struct text *out, const char *name, const char *value)
{
	text_addf(out, " %s=\"", name);
	text_add_xml(out, value, strlen(value));
	text_add(out, "\"");
}

static void add_text_attribute(struct text *out, const char *name, const struct text *value)
{
	text_addf(out, " %s=\"", name);
	add_cut(out, text_string(value), value->size, MESSAGE_MAX);
	text_add(out, "\"");
	out->failed = out->failed || value->failed;
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
		text_addf(&message, "better than expected: remove the entry %s; ", entry);
	text_add(&message, check->reason);
	add_text_attribute(out, "message", &message);
}

/* What did not hold, and what to do, for the person who reads the failure. */
static void add_details(struct text *out, const struct view_check *check)
{
	struct text details CLEANUP_TEXT = {0};
	text_addf(&details, "%s\n", view_string(check->json, "/title"));
	json_each (assertion, json_pointer(check->json, "/assertions")) {
		if (cJSON_IsTrue(json_pointer(assertion, "/ok")))
			continue;
		text_addf(&details, "%s: got %s, expected %s (%s)\n",
			  view_string(assertion, "/what"), view_string(assertion, "/saw"),
			  view_string(assertion, "/wanted"), view_string(assertion, "/at"));
	}
	text_addf(&details, "%s\n", view_string(check->json, "/advice"));
	out->failed = out->failed || details.failed;
	add_cut(out, text_string(&details), details.size, DETAILS_MAX);
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

/* Notes stand at the end of their suite: of a test case schemas allow no output. */
static void add_notes(struct text *out, const struct view_check *check)
{
	json_each (note, json_pointer(check->json, "/notes")) {
		const char *string = cJSON_GetStringValue(note);
		if (string != NULL)
			text_addf(out, "%s: %s\n", check->id, string);
	}
}

static void add_case(struct text *out, const struct view_check *check)
{
	text_add(out, "    <testcase");
	add_attribute(out, "name", check->id);
	text_add(out, " classname=\"gpucert.");
	text_add_xml(out, check->id, check->suite_size);
	text_add(out, "\"");
	add_seconds(out, check->duration_ms);
	text_add(out, ">\n");
	add_result(out, check);
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

/* Without fraction and zone, which the stricter schema forbids; it is UTC. */
static void add_timestamp(struct text *out, const char *started)
{
	static const char shape[] = "0000-00-00T00:00:00";
	size_t size = 0;
	while (size < sizeof(shape) - 1 &&
	       (shape[size] == '0' ? started[size] >= '0' && started[size] <= '9'
				   : started[size] == shape[size]))
		size++;
	text_addf(out, " timestamp=\"%.19s\"",
		  size == sizeof(shape) - 1 ? started : "1970-01-01T00:00:00");
}

/* The host is not told: a report that is handed on names no machine. */
static void begin_suite(struct text *out, const cJSON *report, size_t number, const char *name,
			size_t size, const struct counts *counts)
{
	text_addf(out, "  <testsuite id=\"%zu\" package=\"gpucert\" hostname=\"localhost\" name=\"",
		  number);
	text_add_xml(out, size > 0 ? name : "unnamed", size > 0 ? size : strlen("unnamed"));
	text_add(out, "\"");
	add_counts(out, counts);
	add_timestamp(out, view_string(report, "/run/started"));
	text_add(out, ">\n");
	add_properties(out, report);
}

static void end_suite(struct text *out, const struct text *output)
{
	text_add(out, "    <system-out>");
	add_cut(out, text_string(output), output->size, OUTPUT_MAX);
	text_add(out, "</system-out>\n    <system-err/>\n  </testsuite>\n");
	out->failed = out->failed || output->failed;
}

/* The suite to which `view->checks[first]` belongs, which is its first check. */
static void add_suite(struct text *out, const cJSON *report, const struct view *view, size_t number,
		      size_t first)
{
	const struct view_check *head = &view->checks[first];
	struct counts counts = {0};
	struct text output CLEANUP_TEXT = {0};
	for (size_t i = first; i < view->count; i++) {
		if (view_same_suite(head, &view->checks[i]))
			count_check(&counts, &view->checks[i]);
	}
	begin_suite(out, report, number, head->id, head->suite_size, &counts);
	for (size_t i = first; i < view->count; i++) {
		if (!view_same_suite(head, &view->checks[i]))
			continue;
		add_case(out, &view->checks[i]);
		add_notes(&output, &view->checks[i]);
	}
	end_suite(out, &output);
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

static void add_conformance(struct text *out, const cJSON *report, size_t number)
{
	enum junit_kind kind = conformance_kind(report);
	const char *abort = view_string(report, "/run/abort/reason");
	struct counts counts = {0};
	struct text message CLEANUP_TEXT = {0};
	struct text output CLEANUP_TEXT = {0};
	counts.kinds[kind] = 1;
	view_add_conformance(report, &message);
	if (abort[0] != '\0')
		text_addf(&message, "; aborted: %s", abort);
	begin_suite(out, report, number, "conformance", strlen("conformance"), &counts);
	text_add(out, "    <testcase name=\"conformance\" classname=\"gpucert.conformance\" "
		      "time=\"0.000\">\n");
	if (kind != JUNIT_PASS) {
		text_addf(out, "      <%s", elements[kind]);
		if (kind != JUNIT_SKIPPED)
			add_attribute(out, "type", "conformance");
		add_text_attribute(out, "message", &message);
		text_add(out, "/>\n");
	}
	text_add(out, "    </testcase>\n");
	end_suite(out, &output);
}

int junit_write(const cJSON *report, const struct writer_options *options, struct text *out,
		struct error *err)
{
	struct view view CLEANUP_VIEW = {0};
	size_t number = 0;
	int rc = view_open(report, &view, err);
	(void)options;
	if (rc < 0)
		return rc;
	text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (size_t i = 0; i < view.count; i++) {
		if (view_begins_suite(&view, i))
			add_suite(out, report, &view, number++, i);
	}
	add_conformance(out, report, number);
	text_add(out, "</testsuites>\n");
	return 0;
}
