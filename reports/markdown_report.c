/* SPDX-License-Identifier: MIT */
#include "reports/environment.h"
#include "reports/findings.h"
#include "reports/markdown.h"
#include "reports/writer.h"

#include <string.h>

/* Of each list that many are told: with MARKDOWN_STRING_MAX this keeps the whole below MARKDOWN_REPORT_MAX. */
enum { LIST_MAX = 15, DEVICES_MAX = 12, APIS_MAX = 32, PARTS_MAX = 6 };

struct page {
	const cJSON *report;
	const char *location;
	struct findings findings;
	struct text *out;
};

static void add_built(struct page *page, struct text *built)
{
	markdown_add(page->out, text_string(built));
	page->out->failed = page->out->failed || built->failed;
}

static void add_place(struct page *page)
{
	struct text place CLEANUP_TEXT = {0};
	text_addf(&place, "%s%sreport.json", page->location != NULL ? page->location : "",
		  page->location != NULL ? "/" : "");
	add_built(page, &place);
}

/* How much of a list is not told, and where it is. */
static void add_rest(struct page *page, size_t count, const char *what)
{
	if (count == 0)
		return;
	text_addf(page->out, "\n%zu more %s: ", count, what);
	add_place(page);
	text_add(page->out, "\n");
}

static void add_verdict(struct page *page)
{
	struct text fixed CLEANUP_TEXT = {0};
	struct text verdict CLEANUP_TEXT = {0};
	text_addf(page->out, "## gpucert: %s\n\n", findings_headline_of(page->report).word);
	if (findings_add_fixed(&page->findings, &fixed)) {
		text_add(page->out, "**FIXED** ");
		add_built(page, &fixed);
		text_add(page->out, "\n\n");
	}
	findings_add_verdict(page->report, &verdict);
	add_built(page, &verdict);
	text_add(page->out, "\n");
	const char *aborted = view_string(page->report, "/run/abort/reason");
	if (aborted[0] == '\0')
		return;
	text_add(page->out, "\n**Aborted:** ");
	markdown_add(page->out, aborted);
	text_add(page->out, "\n");
}

static void add_part(struct page *page, const char *section, const char *title, const cJSON *item)
{
	const char *ref = view_string(item, "/ref");
	struct text name CLEANUP_TEXT = {0};
	environment_add_name(section, item, &name);
	page->out->failed = page->out->failed || name.failed;
	if (name.size == 0)
		return;
	text_addf(page->out, "| %s | ", title);
	if (strcmp(section, "devices") == 0 && ref[0] != '\0') {
		markdown_add(page->out, ref);
		text_add(page->out, ": ");
	}
	add_built(page, &name);
	text_add(page->out, " |\n");
}

static void add_section(struct page *page, const char *section, const char *title,
			const cJSON *value)
{
	size_t count = 0;
	if (!cJSON_IsArray(value)) {
		add_part(page, section, title, value);
		return;
	}
	json_each (item, value) {
		if (count++ < PARTS_MAX)
			add_part(page, section, title, item);
	}
	if (count > PARTS_MAX)
		text_addf(page->out, "| %s | and %zu more |\n", title, count - PARTS_MAX);
}

static void add_environment(struct page *page)
{
	static const struct {
		const char *section, *title;
	} sections[] = {
		{"node", "node"},      {"os", "OS"},	       {"drivers", "driver"},
		{"devices", "device"}, {"runtime", "runtime"}, {"plugin", "plugin"},
		{"images", "image"},   {"harness", "gpucert"},
	};
	const cJSON *environment = json_pointer(page->report, "/environment");
	const size_t before = page->out->size;
	text_add(page->out, "\n| environment | |\n| --- | --- |\n");
	const size_t head = page->out->size;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		add_section(page, sections[i].section, sections[i].title,
			    cJSON_GetObjectItemCaseSensitive(environment, sections[i].section));
	if (page->out->size > head || page->out->failed)
		return;
	page->out->size = before;
	text_add(page->out, "\nNothing is known about the environment.\n");
}

/* "**fail** isolation.no-allocation and 2 more (must ISO-01): why" */
static void add_finding(struct page *page, const struct finding *finding)
{
	struct text story CLEANUP_TEXT = {0};
	text_addf(page->out, "- **%s** ", report_outcome_names[finding->check->outcome]);
	finding_add_story(finding, &story);
	add_built(page, &story);
	text_add(page->out, finding->check->reason[0] != '\0' ? ": " : "");
	markdown_add(page->out, finding->check->reason);
	text_add(page->out, "\n");
}

static void add_list(struct page *page, const struct finding_list *list, const char *title,
		     const char *what)
{
	const bool are_problems = list == &page->findings.problems;
	size_t left = list->checks;
	if (list->count > 0)
		text_addf(page->out, "\n### %s\n\n", title);
	for (size_t i = 0; i < list->count && i < LIST_MAX; i++) {
		const struct finding *finding = &list->items[i];
		add_finding(page, finding);
		left -= finding->alike;
		page->findings.untested.checks -= finding->held;
		if (!are_problems || finding->check->outcome == REPORT_PASS)
			continue;
		text_add(page->out, "  - Do: ");
		markdown_add(page->out, view_string(finding->check->json, "/advice"));
		text_add(page->out, "\n");
	}
	add_rest(page, left, what);
}

static const char *outcome_on(const struct view_check *check, const char *ref)
{
	const char *name = NULL;
	json_each (outcome, json_pointer(check->json, "/deviceOutcomes")) {
		if (strcmp(view_string(outcome, "/ref"), ref) == 0)
			name = report_outcome_names[report_outcome_of(
				view_string(outcome, "/outcome"))];
	}
	return name != NULL ? name : "-";
}

static void add_api_head(struct page *page, const cJSON *devices)
{
	size_t columns = 0;
	text_add(page->out, "\n### APIs by device\n\n| API |");
	json_each (device, devices) {
		if (columns++ == DEVICES_MAX)
			break;
		text_add(page->out, " ");
		markdown_add(page->out, view_string(device, "/ref"));
		text_add(page->out, " |");
	}
	text_add(page->out, "\n| --- |");
	for (size_t i = 0; i < columns && i < DEVICES_MAX; i++)
		text_add(page->out, " --- |");
	text_add(page->out, "\n");
}

static void add_api(struct page *page, const struct view_check *check, const cJSON *devices)
{
	size_t columns = 0;
	text_add(page->out, "| ");
	markdown_add(page->out, check->id);
	text_add(page->out, check->unproven ? " (not proven) |" : " |");
	json_each (device, devices) {
		if (columns++ == DEVICES_MAX)
			break;
		text_addf(page->out, " %s |", outcome_on(check, view_string(device, "/ref")));
	}
	text_add(page->out, "\n");
}

/* The checks that tell an outcome for each device. */
static void add_apis(struct page *page)
{
	const cJSON *devices = json_pointer(page->report, "/environment/devices");
	const size_t device_count = (size_t)cJSON_GetArraySize(devices);
	const struct view *view = &page->findings.view;
	size_t rows = 0;
	for (size_t i = 0; i < view->count && device_count > 0; i++) {
		const cJSON *outcomes = json_pointer(view->checks[i].json, "/deviceOutcomes");
		if (cJSON_GetArraySize(outcomes) == 0)
			continue;
		if (rows++ == 0)
			add_api_head(page, devices);
		if (rows <= APIS_MAX)
			add_api(page, &view->checks[i], devices);
	}
	add_rest(page, rows > APIS_MAX ? rows - APIS_MAX : 0, "APIs");
	add_rest(page, rows > 0 && device_count > DEVICES_MAX ? device_count - DEVICES_MAX : 0,
		 "devices");
}

/* Whoever keeps the digest can tell later whether the journal is still that of the run. */
static void add_end(struct page *page)
{
	text_add(page->out, "\nReport: ");
	add_place(page);
	text_addf(page->out, " (%.1f s, exit code %lld); journal: ",
		  (double)view_int(page->report, "/run/durationMs") / 1000.0,
		  (long long)view_int(page->report, "/verdict/exitCode"));
	markdown_add(page->out, view_string(page->report, "/run/journal/digest"));
	text_add(page->out, "\n");
}

int markdown_write(const cJSON *report, const struct writer_options *options, struct text *out,
		   struct error *err)
{
	struct page page = {.report = report, .location = options->location, .out = out};
	struct findings *findings = &page.findings;
	int rc = findings_open(report, findings, err);
	if (rc == 0) {
		add_verdict(&page);
		add_environment(&page);
		add_list(&page, &findings->problems, "Unexpected", "unexpected results");
		add_list(&page, &findings->expected, "Known failures", "known failures");
		add_apis(&page);
		add_list(&page, &findings->untested, "Not tested", "untested checks");
		add_end(&page);
	}
	findings_free(findings);
	return rc;
}
