/* SPDX-License-Identifier: MIT */
#include "reports/environment.h"
#include "reports/findings.h"
#include "reports/markdown.h"
#include "reports/writer.h"

#include <string.h>

/* Items printed of each list; with MARKDOWN_STRING_MAX they keep the page below MARKDOWN_REPORT_MAX. */
enum { LIST_MAX = 15, DEVICES_MAX = 12, APIS_MAX = 32, PARTS_MAX = 6 };

struct page {
	const cJSON *report;
	const char *location;
	struct findings findings;
	struct text *out;
};

static void add_place(struct page *page)
{
	struct text place CLEANUP_TEXT = {0};
	if (page->location != NULL)
		text_addf(&place, "%s/", page->location);
	text_add(&place, "report.json");
	markdown_add(page->out, text_string(&place));
}

/* How many items of a list were left out, and the file that has them. */
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
	const char *aborted = view_string(page->report, "/run/abort/reason");
	struct text fixed CLEANUP_TEXT = {0};
	struct text verdict CLEANUP_TEXT = {0};

	text_addf(page->out, "## gpucert: %s\n\n", findings_headline_of(page->report).word);
	if (findings_add_fixed(&page->findings, &fixed)) {
		text_add(page->out, "**FIXED** ");
		markdown_add(page->out, text_string(&fixed));
		text_add(page->out, "\n\n");
	}
	findings_add_verdict(page->report, &verdict);
	markdown_add(page->out, text_string(&verdict));
	text_add(page->out, "\n");
	if (aborted[0] == '\0')
		return;
	text_add(page->out, "\n**Aborted:** ");
	markdown_add(page->out, aborted);
	text_add(page->out, "\n");
}

/* A row for the section, or for each item of an array. */
static void add_section(struct page *page, const char *section, const char *title,
			const cJSON *value)
{
	const bool is_array = cJSON_IsArray(value);
	size_t count = 0;
	for (const cJSON *item = is_array ? value->child : value; item != NULL;
	     item = is_array ? item->next : NULL) {
		const char *ref = view_string(item, "/ref");
		struct text name CLEANUP_TEXT = {0};

		if (count++ >= PARTS_MAX)
			continue;
		environment_add_name(section, item, &name);
		if (name.size == 0)
			continue;
		text_addf(page->out, "| %s | ", title);
		if (strcmp(section, "devices") == 0 && ref[0] != '\0') {
			markdown_add(page->out, ref);
			text_add(page->out, ": ");
		}
		markdown_add(page->out, text_string(&name));
		text_add(page->out, " |\n");
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
	if (page->out->size > head)
		return;
	page->out->size = before;
	text_add(page->out, "\nNothing is known about the environment.\n");
}

/* "- **fail** isolation.no-allocation and 2 more (must ISO-01): why", and what to do about problems. */
static void add_list(struct page *page, const struct finding_list *list, const char *title,
		     const char *what)
{
	const bool are_problems = list == &page->findings.problems;
	size_t left = list->checks;
	if (list->count > 0)
		text_addf(page->out, "\n### %s\n\n", title);
	for (size_t i = 0; i < list->count && i < LIST_MAX; i++) {
		const struct finding *finding = &list->items[i];
		const struct view_check *check = finding->check;
		struct text story CLEANUP_TEXT = {0};

		text_addf(page->out, "- **%s** ", report_outcome_names[check->outcome]);
		finding_add_story(finding, &story);
		markdown_add(page->out, text_string(&story));
		text_add(page->out, check->reason[0] != '\0' ? ": " : "");
		markdown_add(page->out, check->reason);
		text_add(page->out, "\n");
		left -= finding->alike;
		page->findings.untested.checks -= finding->held;
		if (!are_problems || check->outcome == REPORT_PASS)
			continue;
		text_add(page->out, "  - Do: ");
		markdown_add(page->out, view_string(check->json, "/advice"));
		text_add(page->out, "\n");
	}
	add_rest(page, left, what);
}

static const char *outcome_on(const cJSON *outcomes, const char *ref)
{
	const char *name = "-";
	json_each (outcome, outcomes) {
		if (strcmp(view_string(outcome, "/ref"), ref) == 0)
			name = report_outcome_names[report_outcome_of(
				view_string(outcome, "/outcome"))];
	}
	return name != NULL ? name : "-";
}

/* A table of the checks that have an outcome for each device. */
static void add_apis(struct page *page)
{
	const cJSON *devices = json_pointer(page->report, "/environment/devices");
	const size_t device_count = (size_t)cJSON_GetArraySize(devices);
	const struct view *view = &page->findings.view;
	struct text *out = page->out;
	const cJSON *past =
		devices != NULL ? devices->child : NULL; /* the first without a column */
	size_t columns = 0;
	size_t rows = 0;

	for (; past != NULL && columns < DEVICES_MAX; past = past->next)
		columns++;
	for (size_t i = 0; i < view->count && device_count > 0; i++) {
		const struct view_check *check = &view->checks[i];
		const cJSON *outcomes = json_pointer(check->json, "/deviceOutcomes");
		if (cJSON_GetArraySize(outcomes) == 0)
			continue;
		if (rows++ == 0) {
			text_add(out, "\n### APIs by device\n\n| API |");
			for (const cJSON *device = devices->child; device != past;
			     device = device->next) {
				text_add(out, " ");
				markdown_add(out, view_string(device, "/ref"));
				text_add(out, " |");
			}
			text_add(out, "\n| --- |");
			for (size_t k = 0; k < columns; k++)
				text_add(out, " --- |");
			text_add(out, "\n");
		}
		if (rows > APIS_MAX)
			continue;
		text_add(out, "| ");
		markdown_add(out, check->id);
		text_add(out, check->unproven ? " (not proven) |" : " |");
		for (const cJSON *device = devices->child; device != past; device = device->next)
			text_addf(out, " %s |", outcome_on(outcomes, view_string(device, "/ref")));
		text_add(out, "\n");
	}
	add_rest(page, rows > APIS_MAX ? rows - APIS_MAX : 0, "APIs");
	add_rest(page, rows > 0 ? device_count - columns : 0, "devices");
}

int markdown_write(const cJSON *report, const struct writer_options *options, struct text *out,
		   struct error *err)
{
	struct page page = {.report = report, .location = options->location, .out = out};
	struct findings *findings = &page.findings;
	int rc = findings_open(report, findings, err);
	if (rc < 0) {
		findings_free(findings);
		return rc;
	}

	add_verdict(&page);
	add_environment(&page);
	add_list(&page, &findings->problems, "Unexpected", "unexpected results");
	add_list(&page, &findings->expected, "Known failures", "known failures");
	add_apis(&page);
	add_list(&page, &findings->untested, "Not tested", "untested checks");

	/* The digest shows later whether a journal is still the run's. */
	text_add(out, "\nReport: ");
	add_place(&page);
	text_addf(out, " (%.1f s, exit code %lld); journal: ",
		  (double)view_int(report, "/run/durationMs") / 1000.0,
		  (long long)view_int(report, "/verdict/exitCode"));
	markdown_add(out, view_string(report, "/run/journal/digest"));
	text_add(out, "\n");
	findings_free(findings);
	return 0;
}
