/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/document.h"
#include "reports/environment.h"
#include "reports/view.h"

#include <string.h>

#define REPORT_NAME   "gpucert-report.json"
#define FRAGMENT_NAME "PRODUCT-fragment.yaml"

enum { REQUIREMENTS_MAX = 5 };

/* Adds what the report lacks for the requirement; nothing: it lacks nothing. */
typedef void kar_lack(const cJSON *report, struct text *why);

static void lack_versions(const cJSON *report, struct text *why)
{
	json_each (driver, json_pointer(report, "/environment/drivers")) {
		if (view_string(driver, "/version")[0] == '\0')
			text_addf(why, "the version of driver %s is unknown",
				  view_string(driver, "/key"));
		if (why->size > 0)
			return;
	}
	if (view_string(report, "/environment/runtime/version")[0] == '\0')
		text_add(why, "the version of the container runtime is unknown");
}

static void lack_virtual(const cJSON *report, struct text *why)
{
	json_each (device, json_pointer(report, "/environment/devices")) {
		if (strcmp(view_string(device, "/kind"), "virtual") == 0)
			return;
	}
	text_add(why, "the node has no virtual device");
}

/* Requirements of the programme (kubernetes-sigs/ai-conformance, kars/), and those of gpucert that show them: all must be
 * satisfied. */
static const struct kar {
	const char *number, *section, *id, *level, *asked;
	const char *requirements[REQUIREMENTS_MAX + 1];
	kar_lack *lack;
} kars[] = {
	{"0049",
	 "security",
	 "secure_accelerator_access",
	 "MUST",
	 "Containers use the accelerators that they were allocated, and reach no other one.",
	 {"API-01", "ISO-01", "ISO-02", "ISO-03", "ISO-08"},
	 NULL},
	{"0001",
	 "accelerators",
	 "driver_runtime_management",
	 "SHOULD",
	 "Driver and container runtime are installed, fit each other, and their versions are "
	 "known.",
	 {"ENV-01", "ENV-02", "API-01"},
	 lack_versions},
	{"0003",
	 "accelerators",
	 "gpu_sharing",
	 "SHOULD",
	 "Several containers share an accelerator, each sees it, and all compute correct results.",
	 {"SHR-01", "SHR-02", "ISO-04", "ISO-13"},
	 NULL},
	{"0004",
	 "accelerators",
	 "virtualized_accelerator",
	 "SHOULD",
	 "Virtual accelerators are allocated as physical ones are: they compute, and are isolated.",
	 {"API-01", "ISO-01", "ISO-02", "ISO-08"},
	 lack_virtual},
};

enum kar_status { IMPLEMENTED, NOT_IMPLEMENTED, NOT_TESTED };

static const char *const status_names[] = {"Implemented", "Not Implemented", "not tested"};

void fleet_add_refusal(const cJSON *report, struct text *why)
{
	const cJSON *environment = json_pointer(report, "/environment");
	const char *kind = view_string(environment, "/node/kind");
	bool hardware = false;
	json_each (driver, json_pointer(environment, "/drivers"))
		hardware = hardware || !json_pointer_true(driver, "/software");
	if (strcmp(view_string(report, "/run/state"), report_state_names[REPORT_COMPLETE]) != 0)
		text_add(why, "the run did not finish");
	else if (view_int(report, "/verdict/exitCode") != REPORT_EXIT_EXPECTED)
		text_addf(why, "the run's exit code is %lld",
			  (long long)view_int(report, "/verdict/exitCode"));
	else if (strcmp(view_string(report, "/verdict/conformance/result"),
			report_conformance_names[REPORT_CONFORMANT]) != 0)
		view_add_conformance(report, why);
	else if (strcmp(kind, "live") != 0)
		text_addf(why, "the node is not a live one: '%s'", kind);
	else if (!hardware)
		text_add(why, "the node has no accelerator, only software");
}

static const cJSON *find_requirement(const cJSON *report, const char *id)
{
	json_each (requirement, json_pointer(report, "/requirements")) {
		if (strcmp(view_string(requirement, "/id"), id) == 0)
			return requirement;
	}
	return NULL;
}

static enum kar_status status_of(const cJSON *report, const struct kar *kar, struct text *why)
{
	enum kar_status status = IMPLEMENTED;
	if (kar->lack != NULL)
		kar->lack(report, why);
	if (why->size > 0)
		return NOT_TESTED;
	for (const char *const *id = kar->requirements; *id != NULL; id++) {
		const cJSON *requirement = find_requirement(report, *id);
		const char *verdict = view_string(requirement, "/verdict");
		if (strcmp(verdict, report_requirement_verdict_names[REPORT_SATISFIED]) == 0)
			continue;
		text_addf(why, "%s%s is %s", why->size > 0 ? ", " : "", *id,
			  verdict[0] != '\0' ? verdict : "unknown");
		if (strcmp(verdict, report_requirement_verdict_names[REPORT_VIOLATED]) == 0)
			status = NOT_IMPLEMENTED;
		else if (status == IMPLEMENTED)
			status = NOT_TESTED;
	}
	return status;
}

static void add_checks(const cJSON *report, const struct kar *kar, struct doc *doc)
{
	static const char *const headings[] = {"check", "outcome", "what was seen", NULL};
	doc_section(doc, "checks", "Checks", 0, NULL);
	doc_table(doc, "", "Checks", NULL, headings);
	json_each (check, json_pointer(report, "/checks")) {
		const char *of = view_string(check, "/requirement");
		const cJSON *notes = json_pointer(check, "/notes");
		const char *note = cJSON_GetStringValue(json_first(notes));
		if (kar->requirements[text_position(kar->requirements, of)] == NULL)
			continue;
		doc_add(doc, "<tr><td>%s<td>%s<td>%s", view_string(check, "/id"),
			view_string(check, "/outcome"),
			view_string(check, "/reason")[0] != '\0' ? view_string(check, "/reason")
			: note != NULL				 ? note
								 : "");
	}
	doc_end(doc, DOC_BOX);
	doc_end(doc, DOC_SECTION);
}

static void add_environment(const cJSON *report, struct doc *doc)
{
	static const char *const sections[] = {"drivers", "devices", "os",     "runtime",
					       "plugin",  "node",    "harness"};
	doc_section(doc, "environment", "Where", 0, NULL);
	doc_add(doc, "<dl>");
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct text name CLEANUP_TEXT = {0};
		environment_add_names(sections[i], json_pointer(report, "/environment"), &name);
		doc_fact(doc, sections[i], text_string(&name));
	}
	doc_fact(doc, "began", view_string(report, "/run/started"));
	doc_fact(doc, "journal", view_string(report, "/run/journal/digest"));
	doc_fact(doc, "report", REPORT_NAME);
	doc_add(doc, "</dl>");
	doc_end(doc, DOC_SECTION);
}

static int write_page(const cJSON *report, const char *path, const struct kar *kar,
		      const char *status, const char *why, struct error *err)
{
	static const char *const headings[] = {"requirement", "verdict", "rule", NULL};
	struct doc doc CLEANUP_DOC = {.writer = &doc_markdown};
	char *title CLEANUP_FREE = text_format("KAR-%s %s (%s)", kar->number, kar->id, kar->level);
	doc_title(&doc, title);
	doc_add(&doc, "<p>%s</p>", kar->asked);
	doc_add(&doc, "<p><b>%s</b>%s%s</p>", status, why[0] != '\0' ? ": " : "", why);
	doc_section(&doc, "requirements", "Requirements of gpucert", 0, NULL);
	doc_table(&doc, "", "Requirements", NULL, headings);
	for (const char *const *id = kar->requirements; *id != NULL; id++) {
		const cJSON *requirement = find_requirement(report, *id);
		doc_add(&doc, "<tr><td>%s<td>%s<td>%s", *id, view_string(requirement, "/verdict"),
			view_string(requirement, "/sentence"));
	}
	doc_end(&doc, DOC_BOX);
	doc_end(&doc, DOC_SECTION);
	add_checks(report, kar, &doc);
	add_environment(report, &doc);
	return file_write_atomic(path, doc.out.data, doc.out.size, 0644, err);
}

/* The entries of a section of PRODUCT.yaml; strings of JSON are such of YAML. */
static void add_entry(const cJSON *report, const struct kar *kar, enum kar_status status,
		      const char *why, struct text *sections)
{
	struct text notes CLEANUP_TEXT = {0};
	if (status == NOT_TESTED)
		return;
	text_addf(&notes, "gpucert %s, journal %s%s%s", view_string(report, "/run/harness/version"),
		  view_string(report, "/run/journal/digest"), why[0] != '\0' ? ": " : "", why);
	text_addf(sections,
		  "    - id: %s\n      level: %s\n      status: %s\n      evidence:\n"
		  "        - \"KAR-%s-%s.md\"\n        - \"" REPORT_NAME "\"\n      notes: ",
		  kar->id, kar->level, status_names[status], kar->number, kar->id);
	json_add_quoted(sections, text_string(&notes), notes.size);
	text_add(sections, "\n");
}

static int write_fragment(const char *folder, const struct text *security,
			  const struct text *accelerators, bool refused, struct error *err)
{
	char *path CLEANUP_FREE = path_join(folder, FRAGMENT_NAME);
	struct text out CLEANUP_TEXT = {0};
	/* That of an earlier run says nothing about this one. */
	int rc = file_remove_tree(path, err);
	if (rc < 0 || refused || security->size + accelerators->size == 0)
		return rc;
	text_add(&out, "# Entries for PRODUCT.yaml: copy status, evidence and notes.\nspec:\n");
	if (accelerators->size > 0)
		text_addf(&out, "  accelerators:\n%s", text_string(accelerators));
	if (security->size > 0)
		text_addf(&out, "  security:\n%s", text_string(security));
	return file_write_atomic(path, out.data, out.size, 0644, err);
}

int fleet_evidence_write(const cJSON *report, const char *folder, struct text_list *lines,
			 struct error *err)
{
	struct text refusal CLEANUP_TEXT = {0};
	struct text security CLEANUP_TEXT = {0};
	struct text accelerators CLEANUP_TEXT = {0};
	char *copy CLEANUP_FREE = path_join(folder, REPORT_NAME);
	fleet_add_refusal(report, &refusal);
	int rc = file_make_directories(folder, 0755, err);
	if (rc == 0)
		rc = write_fragment(folder, &security, &accelerators, true, err);
	if (rc == 0)
		rc = json_write_file(copy, report, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(kars); i++) {
		const struct kar *kar = &kars[i];
		char *name CLEANUP_FREE = text_format("KAR-%s-%s.md", kar->number, kar->id);
		char *path CLEANUP_FREE = path_join(folder, name);
		struct text why CLEANUP_TEXT = {0};
		text_add_all(&why, &refusal);
		const enum kar_status status =
			refusal.size > 0 ? NOT_TESTED : status_of(report, kar, &why);
		const char *word = refusal.size > 0 ? "not proven" : status_names[status];
		(void)text_list_addf(lines, NULL, "KAR-%s %s: %s%s%s", kar->number, kar->id, word,
				     why.size > refusal.size ? ": " : "",
				     why.size > refusal.size ? text_string(&why) : "");
		add_entry(report, kar, status, text_string(&why),
			  strcmp(kar->section, "security") == 0 ? &security : &accelerators);
		rc = write_page(report, path, kar, word, text_string(&why), err);
	}
	return rc < 0 ? rc
		      : write_fragment(folder, &security, &accelerators, refusal.size > 0, err);
}
