/* SPDX-License-Identifier: MIT */
/* `fleet begin` and `fleet verdict`: what the pods of a fleet's Jobs do before and after their run. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "conformance/cli/commands.h"
#include "reports/fleet/fleet.h"
#include "reports/model.h"
#include "reports/report_file.h"

#include <stdio.h>
#include <string.h>

static int64_t lock_fd = -1;
static const char *begin_plan = "";

static int begin_run(const struct text_list *arguments)
{
	struct text verdict CLEANUP_TEXT = {0};
	struct error err = {0};
	bool complete = false;
	int rc = lock_fd < 0 ? 0 : file_lock_descriptor((int)lock_fd, false, &err);
	if (rc == ERROR_BUSY) {
		command_print("fleet begin", "waits until the pod that uses the folder has ended");
		err = (struct error){0};
		rc = file_lock_descriptor((int)lock_fd, true, &err);
	}
	if (rc == 0)
		rc = fleet_begin(arguments->items[0], begin_plan, &complete, &err);
	if (rc == 0)
		return complete ? EXIT_SUCCESS : REPORT_EXIT_INCOMPLETE;
	fleet_verdict_add(NULL, REPORT_EXIT_BROKEN, err.text, NULL, &verdict);
	(void)options_print(text_take(&verdict), NULL);
	return command_failed("fleet begin", rc, &err);
}

static const struct option_spec begin_options[] = {
	{OPTION_ROW("plan", OPTION_STRING, begin_plan), .value = "ID",
	 .help = "What is run: a run with another ID is repeated."},
	{OPTION_ROW("lock", OPTION_INT, lock_fd), .value = "FD",
	 .help = "Lock this open file first, for all processes that share it; wait while another pod "
		 "has the lock.",
	 .min = 0, .max = 1023},
	{0},
};

const struct command_spec command_fleet_begin = {
	.name = "fleet begin",
	.summary = "Look in a node's folder whether its run is to be done",
	.arguments = "FOLDER",
	.description =
		"What the pods of 'gpucert fleet plan' do first. A report with a verdict is kept, and "
		"the run is not repeated. A run that was interrupted or proved nothing moves "
		"to earlier_runs/N/NODE next to the folder. An error is also printed as a verdict "
		"(verdict.schema.json).",
	.options = begin_options,
	.exit_codes = TEXTS("0", "the folder has the report", "2", "usage", "3",
			    "the folder cannot be used", "4", "the run is to be done"),
	.run = begin_run,
};

static int64_t given_exit_code = -1;

static const char *given_pushed, *given_not_pushed;

/* Reads the result of `gpucert publish`: its receipt, or its error, which exists only after it has ended. */
static void read_push(struct fleet_push *push, char **text)
{
	const char *prefix = "gpucert publish: ";
	cJSON *receipt CLEANUP_JSON = NULL;
	if (given_pushed != NULL && json_read_file(given_pushed, &receipt, NULL) == 0) {
		*text = memory_copy(view_string(receipt, "/reference"));
		push->place = *text;
		return;
	}
	if (given_not_pushed == NULL || file_read_line(given_not_pushed, text, NULL) < 0)
		*text = memory_copy("");
	push->why = text_starts_with(*text, prefix) ? *text + strlen(prefix) : *text;
	if (push->why[0] == '\0')
		push->why = "not yet";
}

static int verdict_run(const struct text_list *arguments)
{
	struct text out CLEANUP_TEXT = {0};
	cJSON *report CLEANUP_JSON = NULL;
	char *why CLEANUP_FREE = NULL;
	const bool pushes = given_pushed != NULL || given_not_pushed != NULL;
	struct fleet_push push = {0};
	struct error err = {0};
	int rc = report_file_read(arguments->items[0], NULL, &report, &err);
	int64_t code = rc == 0 ? view_int(report, "/verdict/exitCode") : REPORT_EXIT_BROKEN;
	if (pushes)
		read_push(&push, &why);
	fleet_verdict_add(report, given_exit_code < 0 ? code : given_exit_code, err.text,
			  pushes ? &push : NULL, &out);
	const int printed = options_print(text_take(&out), rc == 0 ? &err : NULL);
	rc = rc == 0 ? printed : rc;
	return command_end("fleet verdict", rc, &err);
}

static const struct option_spec verdict_options[] = {
	{OPTION_ROW("exit-code", OPTION_INT, given_exit_code), .value = "N",
	 .help = "The exit code of the run. Default: the report's.", .min = 0, .max = 255},
	{OPTION_ROW("pushed", OPTION_STRING, given_pushed), .value = "FILE",
	 .help = "Name the place of the report: the file that 'gpucert publish --receipt' wrote."},
	{OPTION_ROW("not-pushed", OPTION_STRING, given_not_pushed), .value = "FILE",
	 .help = "Say that the report is only on its node: the file has the error of 'gpucert publish', "
		 "or nothing before it has ended."},
	{0},
};

const struct command_spec command_fleet_verdict = {
	.name = "fleet verdict",
	.summary = "Print a report's verdict as one line of JSON",
	.arguments = "REPORT",
	.description =
		"Prints what the Jobs of 'gpucert fleet plan' write to the termination message of "
		"their pods: at most 4096 bytes, verdict.schema.json. Without a report the line says "
		"why there is none.",
	.options = verdict_options,
	.exit_codes = EXIT_CODES("done", "the report cannot be read"),
	.run = verdict_run,
};
