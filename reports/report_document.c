/* SPDX-License-Identifier: MIT */
#include "reports/report_document.h"
#include "reports/environment.h"
#include "reports/writer.h"

#include <string.h>

/* Items printed of each list in Markdown; with MARKDOWN_STRING_MAX they keep the page below MARKDOWN_REPORT_MAX. */
enum { LIST_MAX = 15, DEVICES_MAX = 12, APIS_MAX = 32 };

enum { NARROW_MAX = 8 };

int report_document_open(const cJSON *report, const char *location, struct doc *doc,
			 struct report_document *out, struct error *err)
{
	out->doc = doc;
	out->report = report;
	out->location = location;
	int rc = findings_open(report, &out->findings, err);
	out->untested_left = out->findings.untested.checks;
	return rc;
}

void report_document_free(struct report_document *document)
{
	findings_free(&document->findings);
}

const cJSON *report_devices(const struct report_document *it)
{
	return json_pointer(it->report, "/environment/devices");
}

bool report_is_dense(const struct report_document *it)
{
	return cJSON_GetArraySize(report_devices(it)) > NARROW_MAX;
}

void report_add_check(struct report_document *it, const char *class, const char *id,
		      const char *name)
{
	doc_begin(it->doc, DOC_LINK, class);
	doc_href(it->doc, "", "c-", id);
	doc_text(it->doc, "%s", name);
	doc_end(it->doc, DOC_LINK);
}

void report_add_more(struct report_document *it, size_t count, const char *what)
{
	if (count != 0)
		doc_add(it->doc, DOC_PARAGRAPH, "soft", "%zu more %s: %s%sreport.json", count, what,
			it->location != NULL ? it->location : "", it->location != NULL ? "/" : "");
}

void report_add_verdict(struct report_document *it)
{
	static const char *const tones[] = {
		[FINDINGS_GOOD] = "good", [FINDINGS_OPEN] = "warn", [FINDINGS_BAD] = "bad"};
	const struct findings_headline headline = findings_headline_of(it->report);
	struct text verdict CLEANUP_TEXT = {0};
	struct text fixed CLEANUP_TEXT = {0};
	struct text title CLEANUP_TEXT = {0};
	findings_add_verdict(it->report, &verdict);
	(void)findings_add_fixed(&it->findings, &fixed);
	text_addf(&title, "gpucert: %s", headline.word);
	if (doc_is(it->doc, DOC_FORM_MARKDOWN))
		doc_title(it->doc, text_string(&title));
	doc_label(it->doc, DOC_LINE, "good", "FIXED", "%s", text_string(&fixed));
	if (doc_is(it->doc, DOC_FORM_TERMINAL)) {
		doc_label(it->doc, DOC_PARAGRAPH, tones[headline.tone], headline.word, "%s",
			  text_string(&verdict));
		return;
	}
	if (doc_is(it->doc, DOC_FORM_HTML))
		doc_add(it->doc, DOC_PARAGRAPH, "word", "%s", headline.word);
	doc_add(it->doc, DOC_PARAGRAPH, NULL, "%s", text_string(&verdict));
}

size_t report_add_findings(struct report_document *it, const struct finding_list *list,
			   size_t lines)
{
	const bool is_html = doc_is(it->doc, DOC_FORM_HTML);
	const bool is_terminal = doc_is(it->doc, DOC_FORM_TERMINAL);
	const size_t needed = list == &it->findings.problems && is_terminal ? 2 : 1;
	size_t left = list->checks;
	doc_begin(it->doc, DOC_LIST, "findings");
	for (size_t i = 0; i < list->count && lines >= needed; i++, lines -= needed) {
		const struct finding *finding = &list->items[i];
		const struct view_check *check = finding->check;
		const char *advice = view_string(check->json, "/advice");
		struct text story CLEANUP_TEXT = {0};
		finding_add_story(finding, &story);
		left -= finding->alike;
		it->untested_left -= finding->held;

		doc_begin(it->doc, DOC_ITEM, NULL);
		doc_outcome(it->doc, check->outcome);
		doc_text(it->doc, " ");
		report_add_check(it, "id", check->id, check->id);
		doc_add(it->doc, DOC_SPAN, NULL, "%s", text_string(&story));
		if (!is_html && check->reason[0] != '\0')
			doc_text(it->doc, ": ");
		doc_add(it->doc, DOC_SPAN, NULL, "%s", check->reason);
		if (!is_html && list == &it->findings.problems && check->outcome != REPORT_PASS)
			doc_label(it->doc, DOC_PARAGRAPH, "warn", "do", "%s", advice);
	}
	doc_end(it->doc, DOC_LIST);
	return left;
}

static bool has_device_outcomes(const struct view_check *check)
{
	return json_first(json_pointer(check->json, "/deviceOutcomes")) != NULL;
}

/* A row of the grid: an API that was tested, or could not be. */
static bool is_api(const struct view_check *check)
{
	return has_device_outcomes(check) ||
	       (text_starts_with(check->id, "api.") && check->outcome != REPORT_NOT_APPLICABLE &&
		check->outcome != REPORT_PASS);
}

size_t report_count_apis(const struct report_document *it)
{
	size_t count = 0;
	for (size_t i = 0; json_first(report_devices(it)) != NULL && i < it->findings.view.count;
	     i++)
		count += is_api(&it->findings.view.checks[i]) ? 1 : 0;
	return count;
}

/* The outcome of the check on one device. */
static void add_outcome_on(struct report_document *it, const struct view_check *check,
			   const char *ref)
{
	const bool dense = doc_is(it->doc, DOC_FORM_HTML) && report_is_dense(it);
	json_each (item, json_pointer(check->json, "/deviceOutcomes")) {
		const enum report_outcome outcome =
			report_outcome_of(view_string(item, "/outcome"));
		if (strcmp(view_string(item, "/ref"), ref) != 0 || outcome == REPORT_OUTCOME_COUNT)
			continue;
		const char *word = report_outcome_names[outcome];
		doc_heat(it->doc, doc_tone_of(outcome), 1, 1, NULL, dense ? word : "",
			 dense ? "" : word);
		return;
	}
	doc_heat(it->doc, DOC_QUIET, 0, 0, NULL, "not tested", "");
}

/* Its row. */
static void add_api(struct report_document *it, const struct view_check *check, size_t columns)
{
	doc_begin(it->doc, DOC_ROW, NULL);
	doc_begin(it->doc, DOC_HEADER, NULL);
	report_add_check(it, "name", check->id, view_name_in_suite(check));
	if (check->unproven)
		doc_text(it->doc, " (not proven)");
	if (!has_device_outcomes(check)) { /* it ended before it reached a device */
		doc_begin(it->doc, DOC_CELL, NULL);
		doc_attribute(it->doc, "colspan", "%zu", columns);
		doc_outcome(it->doc, check->outcome);
		doc_text(it->doc, " %s", check->reason);
		return;
	}
	const cJSON *device = json_first(report_devices(it));
	for (size_t i = 0; i < columns; i++, device = device->next)
		add_outcome_on(it, check, view_string(device, "/ref"));
}

void report_add_apis(struct report_document *it)
{
	const bool is_html = doc_is(it->doc, DOC_FORM_HTML);
	const bool dense = report_is_dense(it);
	const size_t devices = (size_t)cJSON_GetArraySize(report_devices(it));
	const size_t columns = is_html || devices < DEVICES_MAX ? devices : DEVICES_MAX;
	size_t rows = 0;
	doc_table(it->doc, DOC_GRID, dense ? "grid dense" : "grid", "APIs by device", NULL, NULL);
	doc_begin(it->doc, DOC_ROW, NULL);
	doc_add(it->doc, DOC_HEADER, NULL, "API");
	for (size_t i = 0; i < columns; i++) {
		const cJSON *device = cJSON_GetArrayItem(report_devices(it), (int)i);
		doc_begin(it->doc, DOC_HEADER, "device");
		if (is_html && !dense)
			doc_text(it->doc, "%s ", view_string(device, "/name"));
		doc_add(it->doc, DOC_SPAN, "id", "%s", view_string(device, "/ref"));
	}
	doc_begin(it->doc, DOC_BODY, NULL);
	for (size_t i = 0; i < it->findings.view.count; i++) {
		const struct view_check *check = &it->findings.view.checks[i];
		if (!is_api(check) || (rows++ >= APIS_MAX && !is_html))
			continue;
		add_api(it, check, columns);
	}
	doc_end(it->doc, DOC_BOX);
	report_add_more(it, !is_html && rows > APIS_MAX ? rows - APIS_MAX : 0, "APIs");
	report_add_more(it, devices - columns, "devices");
}

/* `where`: a pointer to a string or strings, or a section of the environment, which is shown by its name. */
struct fact {
	const char *name, *where;
};

static const struct fact facts[] = {
	{"Recording", "/environment/node/file"},
	{"Run on", "/environment/node/machine/product"},
	{"Operating system", "os"},
	{"Architecture", "/environment/os/architecture"},
	{"Drivers", "drivers"},
	{"Device plugin", "plugin"},
	{"Plugin API", "/environment/plugin/api"},
	{"Unknown parts", "/environment/plugin/unknown"},
	{"Resources", "/environment/plugin/resources"},
	{"Container runtime", "runtime"},
	{"Shim", "/environment/runtime/shim"},
	{"OCI runtime", "/environment/runtime/oci"},
	{"Unknown parts", "/environment/runtime/unknown"},
	{"Images", "images"},
	{"Probes ran in", "/run/settings/launcher"},
	{"Kubelet", "/run/settings/profile"},
	{"gpucert", "harness"},
	{"Started", "/run/started"},
	{NULL, NULL},
};

/* These distinguish a run from others. */
static const struct fact identity[] = {
	{"Command line", "/run/invocation/argv"},
	{"Run", "/run/id"},
	{"Environment", "/environment/digest"},
	{"Journal", "/run/journal/digest"},
	{NULL, NULL},
};

/* A string, or several with spaces between them. */
static void add_strings(struct text *out, const cJSON *value)
{
	if (cJSON_IsString(value))
		text_add(out, value->valuestring);
	json_each (item, value)
		text_addf(out, "%s%s", item != value->child ? " " : "",
			  cJSON_IsString(item) ? item->valuestring : "?");
}

static void add_facts(struct report_document *it, const struct fact *fact)
{
	const cJSON *environment = json_pointer(it->report, "/environment");
	for (; fact->name != NULL; fact++) {
		struct text value CLEANUP_TEXT = {0};
		if (fact->where[0] == '/')
			add_strings(&value, json_pointer(it->report, fact->where));
		else
			environment_add_names(fact->where, environment, &value);
		doc_fact(it->doc, fact->name, "%s", text_string(&value));
	}
}

static void add_device(struct report_document *it, const cJSON *device)
{
	const char *key = view_string(device, "/driver");
	const int64_t files = view_int(device, "/runtimeFiles/count");
	struct text apis CLEANUP_TEXT = {0};
	add_strings(&apis, json_pointer(device, "/apis"));
	doc_begin(it->doc, DOC_ROW, NULL);
	doc_begin(it->doc, DOC_HEADER, NULL);
	doc_text(it->doc, "%s ", view_string(device, "/name"));
	doc_add(it->doc, DOC_SPAN, "id", "%s", view_string(device, "/ref"));
	doc_add(it->doc, DOC_CELL, NULL, "%s", view_string(device, "/kind"));
	doc_begin(it->doc, DOC_CELL, NULL);
	doc_text(it->doc, "%s", key);
	json_each (driver, json_pointer(it->report, "/environment/drivers")) {
		if (!text_equal(view_string(driver, "/key"), key))
			continue;
		doc_text(it->doc, " %s", view_string(driver, "/version"));
		break;
	}
	doc_add(it->doc, DOC_CELL, "id", "%s", view_string(device, "/hardwareId"));
	doc_add(it->doc, DOC_CELL, NULL, "%s", text_string(&apis));
	doc_add(it->doc, DOC_CELL, NULL, "%lld file%s", (long long)files, files == 1 ? "" : "s");
}

void report_add_environment(struct report_document *it)
{
	static const char *const headings[] = {"Device", "Kind",    "Driver", "Hardware id",
					       "APIs",	 "Runtime", NULL};
	const bool is_html = doc_is(it->doc, DOC_FORM_HTML);
	const size_t devices = (size_t)cJSON_GetArraySize(report_devices(it));
	const size_t shown = is_html || devices < DEVICES_MAX ? devices : DEVICES_MAX;
	const char *node = view_string(it->report, "/environment/node/kind");
	if (text_equal(node, "recorded"))
		node = "a recording of another machine, which proves nothing about it";
	else if (text_equal(node, "live"))
		node = "this machine";
	else if (text_equal(node, "wine"))
		node = "Windows programs under Wine";

	doc_begin(it->doc, DOC_FACTS, "facts");
	doc_fact(it->doc, "Node", "%s", node);
	add_facts(it, facts);
	doc_end(it->doc, DOC_FACTS);
	if (is_html) {
		doc_begin(it->doc, DOC_DETAILS, NULL);
		doc_add(it->doc, DOC_SUMMARY, NULL, "Identity of the run");
		doc_begin(it->doc, DOC_FACTS, "facts long");
		add_facts(it, identity);
		doc_end(it->doc, DOC_DETAILS);
	}
	if (devices == 0)
		return;
	if (is_html && report_is_dense(it)) {
		doc_begin(it->doc, DOC_DETAILS, NULL);
		doc_add(it->doc, DOC_SUMMARY, NULL, "%zu devices", devices);
	}
	doc_table(it->doc, DOC_TABLE, "stacked", "Devices", NULL, headings);
	for (size_t i = 0; i < shown; i++)
		add_device(it, cJSON_GetArrayItem(report_devices(it), (int)i));
	doc_end(it->doc, DOC_BOX);
	if (is_html && report_is_dense(it))
		doc_end(it->doc, DOC_DETAILS);
	report_add_more(it, devices - shown, "devices");
}

static void add_section(struct report_document *it, const struct finding_list *list,
			const char *heading, const char *what)
{
	if (list->count == 0)
		return;
	doc_section(it->doc, "", heading, 0, NULL);
	size_t left = report_add_findings(it, list, LIST_MAX);
	if (list == &it->findings.untested)
		left = it->untested_left - (list->checks - left);
	report_add_more(it, left, what);
	doc_end(it->doc, DOC_SECTION);
}

int markdown_write(const cJSON *report, const struct writer_options *options, struct text *out,
		   struct error *err)
{
	struct doc doc CLEANUP_DOC = {.writer = &doc_markdown};
	struct report_document it CLEANUP_REPORT_DOCUMENT = {0};
	const struct findings *findings = &it.findings;
	int rc = report_document_open(report, options->location, &doc, &it, err);
	if (rc < 0)
		return rc;
	report_add_verdict(&it);
	doc_label(&doc, DOC_LINE, "bad", "aborted", "%s", view_string(report, "/run/abort/reason"));
	add_section(&it, &findings->problems, "Unexpected", "unexpected results");
	add_section(&it, &findings->expected, "Known failures", "known failures");
	doc_section(&doc, "", "Environment", 0, NULL);
	report_add_environment(&it);
	doc_end(&doc, DOC_SECTION);
	if (report_count_apis(&it) > 0) {
		doc_section(&doc, "", "APIs by device", 0, NULL);
		report_add_apis(&it);
		doc_end(&doc, DOC_SECTION);
	}
	add_section(&it, &findings->untested, "Not tested", "untested checks");
	report_add_end(&it, 0, 0);
	text_add_all(out, &doc.out);
	return 0;
}
