/* SPDX-License-Identifier: MIT */
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

static void annotate(const struct ci_system *ci, bool is_error, const struct text *title,
		     const struct text *message, struct text *out)
{
	ci->annotate(out, is_error, text_string(title), text_string(message));
	out->failed = out->failed || title->failed || message->failed;
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
	out->failed = out->failed || name.failed;
	annotate(ci, !improved, &title, &message, out);
}

static void add_rest(const struct ci_system *ci, size_t count, struct text *out)
{
	struct text title CLEANUP_TEXT = {0};
	struct text message CLEANUP_TEXT = {0};
	text_addf(&title, "%zu more unexpected results", count);
	text_add(&message, "they are in the report");
	annotate(ci, true, &title, &message, out);
}

/* Why something was not tested. */
static void add_untested(const struct finding_list *untested, struct text *out)
{
	for (size_t i = 0; i < untested->count && i < UNTESTED_MAX; i++) {
		const struct finding *finding = &untested->items[i];
		text_add(out, "\n");
		finding_add_name(finding, out);
		text_addf(out, " (%s): ", report_outcome_names[finding->check->outcome]);
		add_escaped(out, finding->check->reason);
	}
}

/* Why nothing is proven, where no failure shows it. */
static void add_verdict(const struct ci_system *ci, const cJSON *report,
			const struct findings *findings, struct text *out)
{
	const bool is_error = view_int(report, "/verdict/exitCode") != REPORT_EXIT_EXPECTED;
	const char *aborted = view_string(report, "/run/abort/reason");
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
	add_untested(&findings->untested, &message);
	out->failed = out->failed || verdict.failed;
	annotate(ci, is_error, &title, &message, out);
}

/* What is unexpected, the gravest first and each reason once. */
static int add_annotations(const struct ci_system *ci, const cJSON *report, struct text *out,
			   struct error *err)
{
	struct findings findings CLEANUP_FINDINGS = {0};
	const struct finding_list *problems = &findings.problems;
	int rc = ci->annotate != NULL ? findings_open(report, &findings, err) : 0;
	if (rc < 0 || ci->annotate == NULL)
		return rc;
	size_t left = problems->checks;
	for (size_t i = 0; i < problems->count && i + 1 < CI_ANNOTATIONS_MAX; i++) {
		add_problem(ci, &problems->items[i], out);
		left -= problems->items[i].alike;
	}
	if (left > 0)
		add_rest(ci, left, out);
	if (problems->count == 0 &&
	    (view_int(report, "/verdict/exitCode") != REPORT_EXIT_EXPECTED ||
	     strcmp(findings_headline_of(report).word, "PARTIAL") == 0))
		add_verdict(ci, report, &findings, out);
	return 0;
}

/* Adds to the end of a file that another program may write to as well. */
static int append(const char *path, const char *text, struct error *err)
{
	enum { MODE = 0644 };
	uv_fs_t request;
	int file = uv_fs_open(NULL, &request, path, UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_APPEND,
			      MODE, NULL);
	uv_fs_req_cleanup(&request);
	if (file < 0)
		return error_uv(err, file, "%s", path);
	int rc =
		file_write_all(file, text, strlen(text)) ? 0 : error_system(err, errno, "%s", path);
	(void)close(file);
	return rc;
}

static int show_page(const char *variable, const cJSON *report, const char *directory,
		     struct error *err)
{
	const struct writer_options options = {.location = directory};
	const char *path = getenv(variable);
	char *text CLEANUP_FREE = NULL;
	if (path == NULL || path[0] == '\0')
		return 0;
	int rc = writer_print(writer_find("markdown"), report, &options, &text, err);
	if (rc == 0)
		rc = append(path, text, err);
	return rc < 0 ? error_wrap(err, rc, "%s", variable) : 0;
}

static char *absolute(const char *directory, const char *name)
{
	char here[4096] = "";
	size_t size = sizeof(here);
	char *path CLEANUP_FREE = path_join(directory, name);
	if (path == NULL || path_is_absolute(path) || uv_cwd(here, &size) < 0)
		return STEAL(path);
	return path_join(here, path);
}

static int add_commands(const struct ci_system *ci, const cJSON *report, const char *directory,
			struct text *out, struct error *err)
{
	char *path CLEANUP_FREE = NULL;
	int rc = add_annotations(ci, report, out, err);
	if (rc < 0 || ci->hand_over == NULL)
		return rc;
	path = absolute(directory, ci->file_name);
	if (path == NULL)
		return error_memory(err);
	ci->hand_over(out, path);
	return 0;
}

int ci_print(const struct ci_system *ci, const cJSON *report, const char *directory, bool quiet,
	     struct error *err)
{
	const struct writer_options options = {.location = directory};
	struct text summary CLEANUP_TEXT = {0};
	struct text commands CLEANUP_TEXT = {0};
	int rc = summary_write(report, &options, &summary, err);
	if (rc == 0)
		rc = add_commands(ci, report, directory, &commands, err);
	if (rc == 0 && (summary.failed || commands.failed))
		rc = error_memory(err);
	if (rc < 0)
		return rc;
	if (!quiet) {
		text_add_all(&summary, &commands);
		(void)fputs(text_string(&summary), stdout);
		(void)fflush(stdout);
	}
	return ci->page_variable != NULL ? show_page(ci->page_variable, report, directory, err) : 0;
}
