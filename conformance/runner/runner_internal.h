/* SPDX-License-Identifier: MIT */
#pragma once

/* The state of one run; runner.c and runner_journal.c share it. */

#include "base/termination.h"
#include "conformance/runner/environment.h"
#include "conformance/runner/progress.h"
#include "conformance/runner/runner.h"
#include "conformance/runner/workplace.h"
#include "conformance/system_log/system_log.h"
#include "reports/expect/expectations.h"
#include "reports/journal.h"

struct runner {
	const struct runner_settings *settings;
	const struct check_suite *const *suites;
	uv_loop_t loop;
	struct termination *termination;
	volatile bool interrupted;
	uint64_t started_ms; /* clock_monotonic_ms() */
	char id[64];
	char *program;
	char *plugin_command; /* built for the reference plugin */
	struct context context;
	struct text_list cdi_directories; /* of the context */
	struct discovery_snapshot *node;
	struct workplace workplace;
	struct environment environment;
	bool plugin_news; /* environment.plugin has changed since the journal had it */
	struct expectations expectations;
	unsigned flakes;  /* known flaky checks that failed so far */
	bool unexpected;  /* a check failed that was not expected to */
	cJSON *described; /* the environment, as the journal first has it */
	int plugin_pid;	  /* of the last plugin that registered; 0: unknown */
	struct plan plan;
	int output_lock; /* of the output folder; -1: none */
	char *output;	 /* its path while the run lasts (conformance/runner/output.h) */
	struct redactor *redactor;
	struct held_devices held; /* of the context */
	struct journal *journal;
	struct system_log *log; /* NULL: it cannot be read, or nothing is launched */
	struct progress *progress;
};

/* From here on identities of this host and of the node's devices are redacted in everything that is written. */
int runner_open_redactor(struct runner *runner, struct error *err);

/* With --pod-resources: which devices pods hold, and redacts their names in everything that is written. ERROR_BUSY:
 * pods hold some, and --drain-check was given; errors of pod_resources_list(). */
int runner_ask_pods(struct runner *runner, struct error *err);

/* The report's environment.pods. */
cJSON *runner_describe_pods(const struct runner *runner);

/* The journal's first records. */
int runner_open_journal(struct runner *runner, struct error *err);

/* The environment, and how long it took to set up. */
int runner_journal_environment(struct runner *runner, struct error *err);

/* The plugin, if it changed since it was last written. */
int runner_journal_plugin(struct runner *runner, struct error *err);

/* Reads the files of settings->expect, warns of rows that are due for review, and refuses those whose
 * check does not exist. Errors of expectations_open(). */
int runner_open_expectations(struct runner *runner, struct error *err);

/* Every check of the plan, and every requirement. */
int runner_journal_plan(struct runner *runner, struct error *err);

/* Runs the plan's checks, up to settings->jobs at a time. Returns with none running. */
int schedule_run(struct runner *runner, struct error *err);
