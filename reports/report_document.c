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

/* In tables of many devices cells are narrow. */
static bool is_dense(const struct report_document *it)
{
	return cJSON_GetArraySize(report_devices(it)) > NARROW_MAX;
}

void report_add_check(struct report_document *it, const char *class, const char *id,
		      const char *name)
{
	doc_add(it->doc, "<a class=%s href=#c-%s>%s</a>", class, id, name);
}

void report_add_more(struct report_document *it, size_t count, size_t shown, const char *what)
{
	const bool somewhere = it->location != NULL;
	if (count > shown)
		doc_add(it->doc, "<p class=soft>%zu more %s: %s%sreport.json</p>", count - shown,
			what, somewhere ? it->location : "", somewhere ? "/" : "");
}

void report_add_verdict(struct report_document *it)
{
	const struct findings_headline headline = findings_headline_of(it->report);
	struct text verdict CLEANUP_TEXT = {0};
	struct text fixed CLEANUP_TEXT = {0};
	struct text title CLEANUP_TEXT = {0};
	findings_add_verdict(it->report, &verdict);
	(void)findings_add_fixed(&it->findings, &fixed);
	text_addf(&title, "gpucert: %s", headline.word);
	if (doc_is(it->doc, DOC_FORM_MARKDOWN))
		doc_title(it->doc, text_string(&title));
	doc_label(it->doc, "good", "FIXED", text_string(&fixed));
	if (doc_is(it->doc, DOC_FORM_HTML))
		doc_add(it->doc, "<p class=word>%s</p>", headline.word);
	doc_add(it->doc, "<p>");
	if (doc_is(it->doc, DOC_FORM_TERMINAL))
		doc_add(it->doc, "<b class=%s>%s</b>", doc_tone_names[headline.tone],
			headline.word);
	doc_add(it->doc, "%s</p>", text_string(&verdict));
}

size_t report_add_findings(struct report_document *it, const struct finding_list *list,
			   size_t lines)
{
	const bool are_problems = list == &it->findings.problems;
	const bool is_html = doc_is(it->doc, DOC_FORM_HTML);
	const size_t needed = are_problems && doc_is(it->doc, DOC_FORM_TERMINAL) ? 2 : 1;
	size_t left = list->checks;
	doc_add(it->doc, "<ul class=findings>");
	for (size_t i = 0; i < list->count && lines >= needed; i++, lines -= needed) {
		const struct finding *finding = &list->items[i];
		const struct view_check *check = finding->check;
		struct text story CLEANUP_TEXT = {0};
		finding_add_story(finding, &story);
		left -= finding->alike;
		it->untested_left -= finding->held;

		doc_add(it->doc, "<li>");
		doc_outcome(it->doc, check->outcome);
		doc_add(it->doc, " ");
		report_add_check(it, "id", check->id, check->id);
		doc_add(it->doc, "<span>%s</span>%s<span>%s</span>", text_string(&story),
			!is_html && check->reason[0] != '\0' ? ": " : "", check->reason);
		if (!is_html && are_problems && check->outcome != REPORT_PASS)
			doc_add(it->doc, "<p><b class=warn>do</b> %s</p>",
				view_string(check->json, "/advice"));
	}
	doc_end(it->doc, DOC_LIST);
	return left;
}

static bool has_device_outcomes(const struct view_check *check)
{
	return json_first(json_pointer(check->json, "/deviceOutcomes")) != NULL;
}

/* A row of the grid: an API that was tested, or could not be tested. */
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
		count += is_api(&it->findings.view.checks[i]);
	return count;
}

/* The outcome of the check on one device. */
static void add_outcome_on(struct report_document *it, const struct view_check *check,
			   const char *ref)
{
	const bool dense = doc_is(it->doc, DOC_FORM_HTML) && is_dense(it);
	json_each (item, json_pointer(check->json, "/deviceOutcomes")) {
		const enum report_outcome outcome =
			report_outcome_of(view_string(item, "/outcome"));
		if (!view_is(item, "/ref", ref) || outcome == REPORT_OUTCOME_COUNT)
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
	doc_add(it->doc, "<tr><th>");
	report_add_check(it, "name", check->id, view_name_in_suite(check));
	doc_add(it->doc, "%s", check->unproven ? " (not proven)" : "");
	if (!has_device_outcomes(check)) { /* it ended before it reached a device */
		doc_add(it->doc, "<td colspan=%zu>", columns);
		doc_outcome(it->doc, check->outcome);
		doc_add(it->doc, " %s", check->reason);
		return;
	}
	const cJSON *device = json_first(report_devices(it));
	for (size_t i = 0; i < columns; i++, device = device->next)
		add_outcome_on(it, check, view_string(device, "/ref"));
}

void report_add_apis(struct report_document *it)
{
	const bool is_html = doc_is(it->doc, DOC_FORM_HTML);
	const bool dense = is_dense(it);
	const size_t devices = (size_t)cJSON_GetArraySize(report_devices(it));
	const size_t columns = is_html || devices < DEVICES_MAX ? devices : DEVICES_MAX;
	size_t rows = 0;
	doc_grid(it->doc, dense ? "dense" : "", "APIs by device");
	doc_add(it->doc, "<tr><th>API");
	const cJSON *device = json_first(report_devices(it));
	for (size_t i = 0; i < columns; i++, device = device->next)
		doc_add(it->doc, "<th class=device>%s<span class=id>%s</span>",
			is_html && !dense ? view_string(device, "/name") : "",
			view_string(device, "/ref"));
	doc_add(it->doc, "<tbody>");
	for (size_t i = 0; i < it->findings.view.count; i++) {
		const struct view_check *check = &it->findings.view.checks[i];
		if (is_api(check) && (rows++ < APIS_MAX || is_html))
			add_api(it, check, columns);
	}
	doc_end(it->doc, DOC_BOX);
	report_add_more(it, is_html ? 0 : rows, APIS_MAX, "APIs");
	report_add_more(it, devices, columns, "devices");
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
		doc_fact(it->doc, fact->name, text_string(&value));
	}
}

static void add_device(struct report_document *it, const cJSON *device)
{
	const char *key = view_string(device, "/driver");
	const int64_t files = view_int(device, "/runtimeFiles/count");
	struct text apis CLEANUP_TEXT = {0}, name CLEANUP_TEXT = {0};
	add_strings(&apis, json_pointer(device, "/apis"));
	json_each (driver, json_pointer(it->report, "/environment/drivers")) {
		if (name.size == 0 && view_is(driver, "/key", key))
			environment_add_name("drivers", driver, &name);
	}
	doc_add(it->doc,
		"<tr><th>%s <span class=id>%s</span><td>%s<td>%s<td class=id>%s<td>%s"
		"<td>%lld file%s",
		view_string(device, "/name"), view_string(device, "/ref"),
		view_string(device, "/kind"), name.size != 0 ? text_string(&name) : key,
		view_string(device, "/hardwareId"), text_string(&apis), (long long)files,
		files == 1 ? "" : "s");
}

void report_add_environment(struct report_document *it)
{
	static const char *const headings[] = {"Device", "Kind",    "Driver", "Hardware id",
					       "APIs",	 "Runtime", NULL};
	const bool is_html = doc_is(it->doc, DOC_FORM_HTML);
	const bool folded = is_html && is_dense(it);
	struct text kubelets CLEANUP_TEXT = {0};
	const size_t devices = (size_t)cJSON_GetArraySize(report_devices(it));
	const size_t shown = is_html || devices < DEVICES_MAX ? devices : DEVICES_MAX;
	const char *node = view_string(it->report, "/environment/node/kind");
	if (text_equal(node, "recorded"))
		node = "a recording of another machine, which proves nothing about it";
	else if (text_equal(node, "live"))
		node = "this machine";
	else if (text_equal(node, "wine"))
		node = "Windows programs under Wine";
	else if (text_equal(node, "vm"))
		node = "a virtual machine that was made for the run, whose GPUs are virtual";

	doc_add(it->doc, "<dl class=facts>");
	doc_fact(it->doc, "Node", node);
	add_facts(it, facts);
	(void)findings_add_kubelets(it->report, &kubelets);
	doc_fact(it->doc, "Works with kubelets", text_string(&kubelets));
	doc_end(it->doc, DOC_FACTS);
	if (is_html) {
		doc_add(it->doc, "<details><summary>Identity of the run</summary>"
				 "<dl class='facts long'>");
		add_facts(it, identity);
		doc_end(it->doc, DOC_DETAILS);
	}
	if (devices == 0)
		return;
	if (folded)
		doc_add(it->doc, "<details><summary>%zu devices</summary>", devices);
	doc_table(it->doc, "stacked", "Devices", NULL, headings);
	const cJSON *device = json_first(report_devices(it));
	for (size_t i = 0; i < shown; i++, device = device->next)
		add_device(it, device);
	doc_end(it->doc, DOC_BOX);
	if (folded)
		doc_end(it->doc, DOC_DETAILS);
	report_add_more(it, devices, shown, "devices");
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
	report_add_more(it, left, 0, what);
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
	doc_label(&doc, "bad", "aborted", view_string(report, "/run/abort/reason"));
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
