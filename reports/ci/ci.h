/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output for the CI system in whose job a run takes place: collapsible sections around the live output, annotations for
 * what is unexpected, and the report on the job's page. A system is a row of a table. Systems read commands from the
 * lines that a job prints. text_add_escaped() ensures that no text of a plugin, a driver or an image is one.
 */

#include "base/json.h"

/* Sources:
 *   github    docs.github.com, "Workflow commands for GitHub Actions"; actions/runner, ActionCommand.cs
 *   gitlab    docs.gitlab.com, "CI/CD job logs", custom collapsible sections
 *   azure     learn.microsoft.com, "Logging commands"; microsoft/azure-pipelines-agent, Command.cs
 *   teamcity  jetbrains.com/help/teamcity, "Service messages"
 */
struct ci_system {
	const char *name;
	const char *variable;	   /* is set in each of its jobs */
	const char *page_variable; /* names a file for Markdown on the job's page; NULL: none */
	const char *file_name;	   /* of the report's file that hand_over names */
	const char *begin, *end;   /* templates of commands: around a section, */
	const char *annotation;	   /* an annotation (NULL: the system has none), */
	const char *hand_over;	   /* and to hand a file to the system; NULL: none */
	const struct ci_escape *of_titles, *of_messages;
};

extern const struct ci_system ci_systems[]; /* ended by {NULL} */

/* "none", "auto", and the systems' names, NULL-ended. */
extern const char *const ci_names[];

/* NULL: "none", or "auto" outside of a job of these systems (a variable that is empty or "false" does not count). */
const struct ci_system *ci_find(const char *name);

/* Begins or ends a section; `name` is the harness' own, a word. Sections are not nested. */
void ci_section(const struct ci_system *ci, struct text *out, const char *name, bool begins);

/* One line, or nothing. `title` and `message` are escaped here. */
void ci_annotate(const struct ci_system *ci, struct text *out, bool is_error, const char *title,
		 const char *message);

/* For a system with hand_over. The path is absolute. */
void ci_hand_over(const struct ci_system *ci, struct text *out, const char *path);

enum { CI_ANNOTATIONS_MAX = 10 }; /* GitHub shows no more of a step */

/*
 * Announces a report in `directory` to the system: prints the summary, annotations of unexpected results (or else of
 * why the run proves nothing: a warning where it is only PARTIAL) and the command that hands a file over, unless
 * `quiet`; appends Markdown to the file that page_variable names. Errors of view_open(), and of writing the page's
 * file, which name the variable.
 */
int ci_print(const struct ci_system *ci, const cJSON *report, const char *directory, bool quiet,
	     struct error *err);
