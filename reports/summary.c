/* SPDX-License-Identifier: MIT */
#include "reports/environment.h"
#include "reports/report_document.h"
#include "reports/writer.h"

enum { FRAME_LINES = 7, ENTRIES_MAX = 3 };

/* A name and its version, if it has one; nothing when it is not known. */
static void add_part(struct text *body, const cJSON *environment, const char *name,
		     const char *version)
{
	const char *name_text = view_string(environment, name);
	const char *version_text = view_string(environment, version);
	if (name_text[0] != '\0')
		text_addf(body, "%s%s%s%s", body->size != 0 ? ", " : "", name_text,
			  version_text[0] != '\0' ? " " : "", version_text);
}

/* What the report is about. */
static void add_environment(struct report_document *it)
{
	const cJSON *environment = json_pointer(it->report, "/environment");
	const char *kind = view_string(environment, "/node/kind");
	const bool is_wine = text_equal(kind, "wine");
	const bool is_recorded = text_equal(kind, "recorded");
	struct text body CLEANUP_TEXT = {0};
	struct text parts CLEANUP_TEXT = {0};
	environment_add_names("devices", environment, &parts);
	if (is_recorded)
		text_addf(&body, "a recorded node (%s): ", view_string(environment, "/node/file"));
	else if (is_wine)
		text_add(&body, "a Windows node under Wine: ");
	else if (text_equal(kind, "vm"))
		text_addf(&body, "a virtual machine (QEMU %s, %s) with virtual GPUs: ",
			  view_string(environment, "/node/vm/qemu"),
			  view_string(environment, "/node/vm/accelerator"));
	/* The system of a node that is not this machine, and what stood in for it. */
	if (is_recorded || is_wine) {
		add_part(&parts, environment, "/os/product", "/os/version");
		text_addf(&parts, "; %s on %s", is_wine ? "run" : "replayed",
			  view_string(environment, "/node/machine/product"));
	}
	add_part(&parts, environment, "/plugin/name", "/plugin/version");
	add_part(&parts, environment, "/runtime/name", "/runtime/version");
	if (!is_recorded && !is_wine)
		add_part(&parts, environment, "/os/product", "");
	if (parts.size == 0)
		text_add(&parts, "an unknown environment");
	text_add_all(&body, &parts);
	doc_label(it->doc, "", "on", text_string(&body));
}

/* The suites in which checks passed with proof: how many, of all that apply. Then "vulkan on lavapipe", or on how many of
 * several devices; no line where no API was shown to work. */
static void add_works(struct report_document *it)
{
	const struct view *view = &it->findings.view;
	struct text suites CLEANUP_TEXT = {0};
	struct text apis CLEANUP_TEXT = {0};
	for (size_t i = 0; i < view->count; i++) {
		const struct view_check *head = &view->checks[i];
		const char *last = "";
		size_t passed = 0;
		size_t all = 0;
		for (size_t k = view_begins_suite(view, i) ? i : view->count; k < view->count;
		     k++) {
			const struct view_check *check = &view->checks[k];
			if (!view_same_suite(head, check) ||
			    check->outcome == REPORT_NOT_APPLICABLE ||
			    check->outcome == REPORT_NOTRUN)
				continue;
			all++;
			passed += check->outcome == REPORT_PASS && !check->unproven;
		}
		if (passed > 0)
			text_addf(&suites, "%s%.*s %zu/%zu", suites.size != 0 ? ", " : "",
				  (int)head->suite_size, head->id, passed, all);

		passed = all = 0;
		json_each (outcome, json_pointer(head->json, "/deviceOutcomes")) {
			all++;
			if (head->unproven ||
			    !view_is(outcome, "/outcome", report_outcome_names[REPORT_PASS]))
				continue;
			passed++;
			last = view_string(outcome, "/ref");
		}
		if (passed == 0)
			continue;
		text_addf(&apis, "%s%s on ", apis.size != 0 ? ", " : "", view_name_in_suite(head));
		if (all == 1)
			text_add(&apis, last);
		else
			text_addf(&apis, "%zu of %zu", passed, all);
	}
	doc_label(it->doc, "good", "works",
		  suites.size > 0 ? text_string(&suites) : "nothing was shown to work");
	doc_label(it->doc, "good", "apis", text_string(&apis));
}

/* How many predictions of launches held; no line where there are none. */
static void add_predictions(struct report_document *it)
{
	struct text body CLEANUP_TEXT = {0};
	int held = 0;
	int wrong = 0;
	json_each (prediction, json_pointer(it->report, "/predictions")) {
		const cJSON *agrees = json_pointer(prediction, "/agrees");
		held += cJSON_IsTrue(agrees);
		wrong += cJSON_IsFalse(agrees);
	}
	if (held + wrong == 0)
		return;
	text_addf(&body, "%d kind%s of launches ended as the rules of images predict", held,
		  held == 1 ? "" : "s");
	if (wrong != 0)
		text_addf(&body, ", %d otherwise", wrong);
	doc_label(it->doc, wrong != 0 ? "bad" : "good", "images", text_string(&body));
}

static void add_continuation(struct report_document *it)
{
	struct text body CLEANUP_TEXT = {0};
	text_addf(&body, "gpucert run --from %s --only crash,notrun --out FOLDER", it->location);
	doc_label(it->doc, "", "continue", text_string(&body));
}

void report_add_end(struct report_document *it, size_t failed_left, size_t untested_left)
{
	const cJSON *overhead = json_pointer(it->report, "/run/time/overheadPercent");
	struct text body CLEANUP_TEXT = {0};
	if (failed_left != 0)
		text_addf(&body, "%zu more failed%s", failed_left,
			  untested_left != 0 ? " and " : " in ");
	if (untested_left != 0)
		text_addf(&body, "%zu more untested in ", untested_left);
	if (it->location != NULL)
		text_addf(&body, "%s/", it->location);
	text_addf(&body, "report.json (%.1f s",
		  (double)view_duration(it->report, "/run/durationMs") / 1000.0);
	if (cJSON_IsNumber(overhead))
		text_addf(&body, ", %.1f %% overhead", overhead->valuedouble);
	text_addf(&body, "; exit code %lld)", (long long)view_int(it->report, "/verdict/exitCode"));
	doc_label(it->doc, "", "report", text_string(&body));

	/* Shows later whether a journal is still the run's. */
	doc_add(it->doc, "<p><b>journal</b> %s</p>",
		view_string(it->report, "/run/journal/digest"));
}

int summary_write(const cJSON *report, const struct writer_options *options, struct text *out,
		  struct error *err)
{
	struct doc doc CLEANUP_DOC = {
		.writer = &doc_terminal, .color = options->color, .columns = options->columns};
	struct report_document it CLEANUP_REPORT_DOCUMENT = {0};
	const struct findings *findings = &it.findings;
	const struct finding_list *expected = &findings->expected;
	const struct finding_list *untested = &findings->untested;
	const char *aborted = view_string(report, "/run/abort/reason");
	struct text fixed CLEANUP_TEXT = {0};
	struct text kubelets CLEANUP_TEXT = {0};
	struct text known CLEANUP_TEXT = {0};
	int rc = report_document_open(report, options->location, &doc, &it, err);
	if (rc < 0)
		return rc;
	size_t lines = SUMMARY_LINES - FRAME_LINES;
	lines -= findings_add_fixed(findings, &fixed) ? 1 : 0;
	lines -= aborted[0] != '\0' ? 1 : 0;
	const bool has_rest = view_int(report, "/verdict/exitCode") == REPORT_EXIT_INCOMPLETE &&
			      options->location != NULL && findings->view.count != 0;
	lines -= has_rest ? 1 : 0;
	const bool all_kubelets = findings_add_kubelets(report, &kubelets);
	lines -= kubelets.size != 0 ? 1 : 0;

	report_add_verdict(&it);
	add_environment(&it);
	doc_label(&doc, "bad", "aborted", aborted);
	add_works(&it);
	doc_label(&doc, all_kubelets ? "good" : "warn", "kubelets", text_string(&kubelets));
	add_predictions(&it);
	const size_t failed_left = report_add_findings(&it, &findings->problems, lines);
	const size_t problems = findings->problems.count;
	lines -= problems < lines / 2 ? problems * 2 : lines / 2 * 2;

	/* The entries of expectation files that match failures. */
	if (expected->count > 0 && lines > 0) {
		text_addf(&known, "%zu failure%s expected by ", expected->checks,
			  expected->checks == 1 ? " is" : "s are");
		for (size_t i = 0; i < expected->count && i < ENTRIES_MAX; i++)
			text_addf(&known, "%s%s", i > 0 ? ", " : "",
				  view_expected_by(expected->items[i].check->json));
		text_add(&known, expected->count > ENTRIES_MAX ? ", ..." : "");
		doc_label(&doc, "warn", "known", text_string(&known));
		lines--;
	}
	/* A line for each reason why checks did not run, while there are lines. */
	for (size_t i = 0; i < untested->count && i < lines; i++) {
		const struct finding *finding = &untested->items[i];
		struct text name CLEANUP_TEXT = {0};
		finding_add_name(finding, &name);
		doc_add(&doc, "<line><b class=warn>untested</b> %s (%s): %s</line>",
			text_string(&name), report_outcome_names[finding->check->outcome],
			finding->check->reason);
		it.untested_left -= finding->alike;
	}
	if (has_rest)
		add_continuation(&it);
	report_add_end(&it, failed_left, it.untested_left);
	text_add_all(out, &doc.out);
	return 0;
}
