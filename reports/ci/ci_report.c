/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reports/ci/ci.h"
#include "reports/findings.h"
#include "reports/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { STRING_MAX = 2000 /* bytes of one string in an annotation */, UNTESTED_MAX = 3 };

static void add_escaped(struct text *out, const char *string)
{
	const size_t size = strlen(string);
	const size_t shown = text_fit(string, size, STRING_MAX);
	text_add_escaped(out, string, shown);
	text_add(out, shown < size ? "…" : "");
}

static void add_problem(const struct ci_system *ci, const struct finding *finding, struct text *out)
{
	const struct view_check *check = finding->check;
	const bool improved = check->disposition == REPORT_UNEXPECTED_IMPROVEMENT;
	struct text name CLEANUP_TEXT = {0};
	struct text title CLEANUP_TEXT = {0};
	struct text message CLEANUP_TEXT = {0};
	finding_add_name(finding, &name);
	add_escaped(&title, text_string(&name));
	text_addf(&title, " (%s)", report_outcome_names[check->outcome]);
	if (improved) {
		text_add(&message, "better than expected: remove the expectation ");
		add_escaped(&message, view_string(check->json, "/expected/entry"));
	} else {
		add_escaped(&message, check->reason);
		text_add(&message, "\n");
		add_escaped(&message, view_string(check->json, "/advice"));
	}
	ci_annotate(ci, out, !improved, text_string(&title), text_string(&message));
}

/* Why nothing is proven, if no failure shows it: the verdict, and why something was not tested. */
static void add_verdict(const struct ci_system *ci, const cJSON *report,
			const struct findings *findings, struct text *out)
{
	const bool is_error = view_int(report, "/verdict/exitCode") != REPORT_EXIT_EXPECTED;
	const char *aborted = view_string(report, "/run/abort/reason");
	const struct finding_list *untested = &findings->untested;
	struct text verdict CLEANUP_TEXT = {0};
	struct text title CLEANUP_TEXT = {0};
	struct text message CLEANUP_TEXT = {0};
	text_addf(&title, "gpucert: %s", findings_headline_of(report).word);
	findings_add_verdict(report, &verdict);
	add_escaped(&message, text_string(&verdict));
	if (aborted[0] != '\0') {
		text_add(&message, "\naborted: ");
		add_escaped(&message, aborted);
	}
	for (size_t i = 0; i < untested->count && i < UNTESTED_MAX; i++) {
		const struct finding *finding = &untested->items[i];
		text_add(&message, "\n");
		finding_add_name(finding, &message);
		text_addf(&message, " (%s): ", report_outcome_names[finding->check->outcome]);
		add_escaped(&message, finding->check->reason);
	}
	ci_annotate(ci, out, is_error, text_string(&title), text_string(&message));
}

/* Adds Markdown to the end of a file that another program may write to as well. */
static int show_page(const char *path, const cJSON *report, const char *directory,
		     struct error *err)
{
	enum { MODE = 0644 };
	const struct writer_options options = {.location = directory};
	char *text CLEANUP_FREE = NULL;
	uv_fs_t request;
	int rc = writer_print(writer_find("markdown"), report, &options, &text, err);
	if (rc < 0)
		return rc;
	int file = uv_fs_open(NULL, &request, path, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_APPEND,
			      MODE, NULL);
	uv_fs_req_cleanup(&request);
	if (file < 0)
		return error_uv(err, file, "%s", path);
	rc = file_write_all(file, text, strlen(text)) ? 0 : error_system(err, errno, "%s", path);
	(void)close(file);
	return rc;
}

int ci_print(const struct ci_system *ci, const cJSON *report, const char *directory, bool quiet,
	     struct error *err)
{
	const struct writer_options options = {.location = directory};
	const char *page = ci->page_variable != NULL ? getenv(ci->page_variable) : NULL;
	struct text out CLEANUP_TEXT = {0};
	struct findings findings CLEANUP_FINDINGS = {0};
	const struct finding_list *problems = &findings.problems;
	int rc = summary_write(report, &options, &out, err);
	if (rc == 0)
		rc = findings_open(report, &findings, err);
	if (rc < 0)
		return rc;

	/* Unexpected results, the gravest first and each reason once. */
	size_t left = problems->checks;
	for (size_t i = 0; i < problems->count && i + 1 < CI_ANNOTATIONS_MAX; i++) {
		add_problem(ci, &problems->items[i], &out);
		left -= problems->items[i].alike;
	}
	if (left > 0) {
		char *title CLEANUP_FREE = text_format("%zu more unexpected results", left);
		ci_annotate(ci, &out, true, title, "they are in the report");
	}
	if (problems->count == 0 &&
	    (view_int(report, "/verdict/exitCode") != REPORT_EXIT_EXPECTED ||
	     text_equal(findings_headline_of(report).word, "PARTIAL")))
		add_verdict(ci, report, &findings, &out);

	if (ci->hand_over != NULL) {
		char here[4096] = "";
		size_t size = sizeof(here);
		char *path CLEANUP_FREE = path_join(directory, ci->file_name);
		char *absolute CLEANUP_FREE = path_is_absolute(path) || uv_cwd(here, &size) < 0
						      ? STEAL(path)
						      : path_join(here, path);
		ci_hand_over(ci, &out, absolute);
	}
	if (!quiet) {
		(void)fputs(text_string(&out), stdout);
		(void)fflush(stdout);
	}
	rc = page != NULL && page[0] != '\0' ? show_page(page, report, directory, err) : 0;
	return rc < 0 ? error_wrap(err, rc, "%s", ci->page_variable) : 0;
}
