/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/report_document.h"

#include <string.h>

#define REPORT_NAME "gpucert-report.json"

/* Requirements of the programme (kubernetes-sigs/ai-conformance, kars/), and the gpucert requirements that prove them:
 * all must be satisfied. */
static const struct kar {
	const char *number, *section, *id, *level, *asked;
	const char *requirements[6];
} kars[] = {
	{"0001",
	 "accelerators",
	 "driver_runtime_management",
	 "SHOULD",
	 "Driver and container runtime are installed, fit each other, and their versions are "
	 "known.",
	 {"ENV-01", "ENV-02", "API-01"}},
	{"0003",
	 "accelerators",
	 "gpu_sharing",
	 "SHOULD",
	 "Several containers share an accelerator, each sees it, and all compute correct results.",
	 {"SHR-01", "SHR-02", "ISO-04", "ISO-13"}},
	{"0004",
	 "accelerators",
	 "virtualized_accelerator",
	 "SHOULD",
	 "Virtual accelerators are allocated as physical ones are: they compute, and are isolated.",
	 {"API-01", "ISO-01", "ISO-02", "ISO-08"}},
	{"0049",
	 "security",
	 "secure_accelerator_access",
	 "MUST",
	 "Containers use the accelerators that they were allocated, and reach no other one.",
	 {"API-01", "ISO-01", "ISO-02", "ISO-03", "ISO-08"}},
};

enum kar_status { IMPLEMENTED, NOT_IMPLEMENTED, NOT_TESTED };

static const char *const status_names[] = {"Implemented", "Not Implemented", "not tested"};

/* The item of the section that has the value there; NULL: none. */
static const cJSON *find(const cJSON *report, const char *section, const char *pointer,
			 const char *value)
{
	json_each (item, json_pointer(report, section)) {
		if (view_is(item, pointer, value))
			return item;
	}
	return NULL;
}

void fleet_add_refusal(const cJSON *report, struct text *why)
{
	bool hardware = false;
	json_each (driver, json_pointer(report, "/environment/drivers"))
		hardware = hardware || !json_pointer_true(driver, "/software");
	if (!view_is(report, "/run/state", report_state_names[REPORT_COMPLETE]))
		text_add(why, "the run did not finish");
	else if (view_int(report, "/verdict/exitCode") != REPORT_EXIT_EXPECTED)
		text_addf(why, "the run's exit code is %lld",
			  (long long)view_int(report, "/verdict/exitCode"));
	else if (!view_is(report, "/verdict/conformance/result",
			  report_conformance_names[REPORT_CONFORMANT]))
		view_add_conformance(report, why);
	else if (!view_is(report, "/environment/node/kind", "live"))
		text_addf(why, "the node is not a live one: '%s'",
			  view_string(report, "/environment/node/kind"));
	else if (!hardware)
		text_add(why, "the node has no accelerator, only software");
}

static enum kar_status status_of(const cJSON *report, const struct kar *kar, struct text *why)
{
	enum kar_status status = IMPLEMENTED;
	if (text_equal(kar->id, "driver_runtime_management") &&
	    (find(report, "/environment/drivers", "/version", "") != NULL ||
	     view_string(report, "/environment/runtime/version")[0] == '\0'))
		text_add(why, "the version of a driver or of the container runtime is unknown");
	else if (text_equal(kar->id, "virtualized_accelerator") &&
		 find(report, "/environment/devices", "/kind", "virtual") == NULL)
		text_add(why, "the node has no virtual device");
	if (why->size > 0)
		return NOT_TESTED;
	for (const char *const *id = kar->requirements; *id != NULL; id++) {
		const char *verdict =
			view_string(find(report, "/requirements", "/id", *id), "/verdict");
		if (text_equal(verdict, report_requirement_verdict_names[REPORT_SATISFIED]))
			continue;
		text_addf(why, "%s%s is %s", why->size > 0 ? ", " : "", *id,
			  verdict[0] != '\0' ? verdict : "unknown");
		if (text_equal(verdict, report_requirement_verdict_names[REPORT_VIOLATED]))
			status = NOT_IMPLEMENTED;
		else if (status == IMPLEMENTED)
			status = NOT_TESTED;
	}
	return status;
}

static int write_page(const cJSON *report, const char *path, const struct kar *kar,
		      const char *status, const char *why, struct error *err)
{
	struct doc doc CLEANUP_DOC = {.writer = &doc_markdown};
	struct report_document document CLEANUP_REPORT_DOCUMENT = {0};
	char *title CLEANUP_FREE = text_format("KAR-%s %s (%s)", kar->number, kar->id, kar->level);
	int rc = report_document_open(report, NULL, &doc, &document, err);
	if (rc < 0)
		return rc;
	doc_title(&doc, title);
	doc_add(&doc, "<p>%s</p>", kar->asked);
	doc_add(&doc, "<p><b>%s</b>%s%s</p>", status, why[0] != '\0' ? ": " : "", why);

	/* The rules, and the checks that test them, with their observations. */
	static const char *const headings[] = {"requirement or check", "verdict",
					       "rule, or what was seen", NULL};
	doc_table(&doc, "", "Requirements", NULL, headings);
	for (const char *const *id = kar->requirements; *id != NULL; id++) {
		const cJSON *requirement = find(report, "/requirements", "/id", *id);
		doc_add(&doc, "<tr><td>%s<td>%s<td>%s", *id, view_string(requirement, "/verdict"),
			view_string(requirement, "/sentence"));
		json_each (check, json_pointer(report, "/checks")) {
			const char *reason = view_string(check, "/reason");
			if (view_is(check, "/requirement", *id))
				doc_add(&doc, "<tr><td>%s<td>%s<td>%s", view_string(check, "/id"),
					view_string(check, "/outcome"),
					reason[0] != '\0' ? reason
							  : view_string(check, "/notes/0"));
		}
	}
	doc_end(&doc, DOC_BOX);

	report_add_environment(&document);
	doc_add(&doc, "<p>%s: the run of %s, journal %s</p>", REPORT_NAME,
		view_string(report, "/run/started"), view_string(report, "/run/journal/digest"));
	return file_write_atomic(path, text_string(&doc.out), doc.out.size, 0644, err);
}

/* An entry of PRODUCT.yaml; JSON strings are valid YAML. */
static void add_entry(const cJSON *report, const struct kar *kar, enum kar_status status,
		      const char *why, struct text *out)
{
	struct text notes CLEANUP_TEXT = {0};
	char *section CLEANUP_FREE = text_format("  %s:\n", kar->section);
	text_addf(&notes, "gpucert %s, journal %s%s%s", view_string(report, "/run/harness/version"),
		  view_string(report, "/run/journal/digest"), why[0] != '\0' ? ": " : "", why);
	if (out->size == 0)
		text_add(out,
			 "# Entries of PRODUCT.yaml: copy status, evidence and notes.\nspec:\n");
	if (strstr(text_string(out), section) == NULL)
		text_add(out, section);
	text_addf(out,
		  "    - id: %s\n      level: %s\n      status: %s\n      evidence:\n"
		  "        - \"KAR-%s-%s.md\"\n        - \"" REPORT_NAME "\"\n      notes: ",
		  kar->id, kar->level, status_names[status], kar->number, kar->id);
	json_add_quoted(out, text_string(&notes), notes.size);
	text_add(out, "\n");
}

int fleet_evidence_write(const cJSON *report, const char *folder, struct text_list *lines,
			 struct error *err)
{
	struct text refusal CLEANUP_TEXT = {0};
	struct text entries CLEANUP_TEXT = {0};
	char *copy CLEANUP_FREE = path_join(folder, REPORT_NAME);
	char *fragment CLEANUP_FREE = path_join(folder, "PRODUCT-fragment.yaml");
	fleet_add_refusal(report, &refusal);
	int rc = file_make_directories(folder, 0755, err);
	/* A fragment of an earlier run says nothing about this one. */
	if (rc == 0)
		rc = file_remove_tree(fragment, err);
	if (rc == 0)
		rc = json_write_file(copy, report, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(kars); i++) {
		const struct kar *kar = &kars[i];
		char *path CLEANUP_FREE =
			text_format("%s/KAR-%s-%s.md", folder, kar->number, kar->id);
		struct text why CLEANUP_TEXT = {0};
		const bool refused = refusal.size > 0;
		const enum kar_status status = refused ? NOT_TESTED : status_of(report, kar, &why);
		const char *word = refused ? "not proven" : status_names[status];
		text_list_addf(lines, "KAR-%s %s: %s%s%s", kar->number, kar->id, word,
			       why.size > 0 ? ": " : "", text_string(&why));
		if (status != NOT_TESTED)
			add_entry(report, kar, status, text_string(&why), &entries);
		rc = write_page(report, path, kar, word, text_string(refused ? &refusal : &why),
				err);
	}
	if (rc == 0 && entries.size > 0)
		rc = file_write_atomic(fragment, entries.data, entries.size, 0644, err);
	return rc;
}
