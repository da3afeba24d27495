/* SPDX-License-Identifier: MIT */
#include "reports/view.h"
#include "reports/writer.h"

#include <string.h>

/* Sizes that CI systems handle well; report.json has the rest. */
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

static void add_attribute(struct text *out, const char *name, const char *value, size_t max)
{
	text_addf(out, " %s=\"", name);
	add_cut(out, value, strlen(value), max);
	text_add(out, "\"");
}

/* Begins the element of an outcome that is not a pass. */
static void begin_outcome(struct text *out, enum junit_kind kind, const char *type,
			  const struct text *message)
{
	text_addf(out, "      <%s", elements[kind]);
	if (kind != JUNIT_SKIPPED)
		add_attribute(out, "type", type, SIZE_MAX);
	add_attribute(out, "message", text_string(message), MESSAGE_MAX);
}

static void add_seconds(struct text *out, int64_t ms)
{
	text_addf(out, " time=\"%lld.%03lld\"", (long long)ms / 1000, (long long)ms % 1000);
}

static void add_result(struct text *out, const struct view_check *check)
{
	const char *entry = view_string(check->json, "/expected/entry");
	const enum junit_kind kind = kind_of(check);
	struct text message CLEANUP_TEXT = {0};
	struct text details CLEANUP_TEXT = {0};

	if (kind == JUNIT_PASS)
		return;
	if (check->disposition == REPORT_EXPECTED_FAIL)
		text_addf(&message, "expected by %s: ", view_expected_by(check->json));
	if (check->disposition == REPORT_UNEXPECTED_IMPROVEMENT)
		text_addf(&message, "better than expected: remove the entry %s; ", entry);
	text_add(&message, check->reason);
	begin_outcome(out, kind, report_outcome_names[check->outcome], &message);
	if (kind == JUNIT_SKIPPED) {
		text_add(out, "/>\n");
		return;
	}

	/* The assertions that did not hold, and what to do. */
	text_addf(&details, "%s\n", view_string(check->json, "/title"));
	json_each (assertion, json_pointer(check->json, "/assertions")) {
		if (json_pointer_true(assertion, "/ok"))
			continue;
		text_addf(&details, "%s: got %s, expected %s (%s)\n",
			  view_string(assertion, "/what"), view_string(assertion, "/saw"),
			  view_string(assertion, "/wanted"), view_string(assertion, "/at"));
	}
	text_addf(&details, "%s\n", view_string(check->json, "/advice"));
	text_add(out, ">");
	add_cut(out, text_string(&details), details.size, DETAILS_MAX);
	text_addf(out, "</%s>\n", elements[kind]);
}

struct counts {
	size_t kinds[JUNIT_KIND_COUNT];
	int64_t duration_ms;
};

static void begin_suite(struct text *out, const cJSON *report, size_t number, const char *name,
			size_t size, const struct counts *counts)
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
	static const char shape[] = "0000-00-00T00:00:00";
	const char *started = view_string(report, "/run/started");
	const size_t *kinds = counts->kinds;
	size_t matching = 0;

	/* The host's name is left out: a report may be published. */
	text_addf(out, "  <testsuite id=\"%zu\" package=\"gpucert\" hostname=\"localhost\" name=\"",
		  number);
	text_add_xml(out, size > 0 ? name : "unnamed", size > 0 ? size : strlen("unnamed"));
	text_addf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
		  kinds[JUNIT_PASS] + kinds[JUNIT_FAILURE] + kinds[JUNIT_ERROR] +
			  kinds[JUNIT_SKIPPED],
		  kinds[JUNIT_FAILURE], kinds[JUNIT_ERROR], kinds[JUNIT_SKIPPED]);
	add_seconds(out, counts->duration_ms);

	/* In UTC, without the fraction and zone that the stricter schema forbids. */
	while (matching < sizeof(shape) - 1 &&
	       (shape[matching] == '0' ? started[matching] >= '0' && started[matching] <= '9'
				       : started[matching] == shape[matching]))
		matching++;
	text_addf(out, " timestamp=\"%.19s\">\n",
		  matching == sizeof(shape) - 1 ? started : "1970-01-01T00:00:00");

	text_add(out, "    <properties>\n");
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		text_add(out, "      <property");
		add_attribute(out, "name", properties[i].name, SIZE_MAX);
		add_attribute(out, "value", view_string(report, properties[i].pointer), SIZE_MAX);
		text_add(out, "/>\n");
	}
	text_add(out, "    </properties>\n");
}

static void end_suite(struct text *out, const struct text *output)
{
	text_add(out, "    <system-out>");
	add_cut(out, text_string(output), output->size, OUTPUT_MAX);
	text_add(out, "</system-out>\n    <system-err/>\n  </testsuite>\n");
}

/* The suite whose first check is `view->checks[first]`. */
static void add_suite(struct text *out, const cJSON *report, const struct view *view, size_t number,
		      size_t first)
{
	const struct view_check *head = &view->checks[first];
	struct counts counts = {0};
	struct text output CLEANUP_TEXT = {0};

	for (size_t i = first; i < view->count; i++) {
		const struct view_check *check = &view->checks[i];
		if (!view_same_suite(head, check))
			continue;
		counts.kinds[kind_of(check)]++;
		counts.duration_ms += check->duration_ms;
	}
	begin_suite(out, report, number, head->id, head->suite_size, &counts);

	for (size_t i = first; i < view->count; i++) {
		const struct view_check *check = &view->checks[i];
		if (!view_same_suite(head, check))
			continue;
		text_add(out, "    <testcase");
		add_attribute(out, "name", check->id, SIZE_MAX);
		text_add(out, " classname=\"gpucert.");
		text_add_xml(out, check->id, check->suite_size);
		text_add(out, "\"");
		add_seconds(out, check->duration_ms);
		text_add(out, ">\n");
		add_result(out, check);
		text_add(out, "    </testcase>\n");

		/* The schemas allow output only at the end of a suite, not in a test case. */
		json_each (note, json_pointer(check->json, "/notes")) {
			const char *string = cJSON_GetStringValue(note);
			if (string != NULL)
				text_addf(&output, "%s: %s\n", check->id, string);
		}
	}
	end_suite(out, &output);
}

/* A test case for the run as a whole: systems that only count test cases must not report success when nothing was
 * proven. */
static void add_conformance(struct text *out, const cJSON *report, size_t number)
{
	const char *result = view_string(report, "/verdict/conformance/result");
	const char *abort = view_string(report, "/run/abort/reason");
	const int64_t exit_code = view_int(report, "/verdict/exitCode");
	const bool required = json_pointer_true(report, "/run/invocation/conformanceRequired");
	enum junit_kind kind = text_equal(result, "conformant") ? JUNIT_PASS : JUNIT_SKIPPED;
	struct counts counts = {0};
	struct text message CLEANUP_TEXT = {0};
	struct text output CLEANUP_TEXT = {0};

	if (exit_code == REPORT_EXIT_BROKEN || exit_code == REPORT_EXIT_INCOMPLETE)
		kind = JUNIT_ERROR;
	else if (exit_code == REPORT_EXIT_UNEXPECTED &&
		 (required || text_equal(result, "violated")))
		kind = JUNIT_FAILURE;
	counts.kinds[kind] = 1;
	view_add_conformance(report, &message);
	if (abort[0] != '\0')
		text_addf(&message, "; aborted: %s", abort);

	begin_suite(out, report, number, "conformance", strlen("conformance"), &counts);
	text_add(out, "    <testcase name=\"conformance\" classname=\"gpucert.conformance\" "
		      "time=\"0.000\">\n");
	if (kind != JUNIT_PASS) {
		begin_outcome(out, kind, "conformance", &message);
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
