/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The runner: what a check is (check.h), and a whole run of checks, whatever they test.
 *
 *   workplace.h    the run's directory, container runtime and probe image
 *   plan.h         which checks run, with requirements.def and the checks' needs
 *   execution.h    one check in its own process, whose output result.h reads
 *   environment.h  the report's `environment`
 *   output.h       the output folder
 */

#include "base/text.h"
#include "conformance/runner/plan.h"
#include "conformance/runner/workplace.h"
#include "reports/ci/ci.h"

/* As node_file: a Windows node under Wine on this machine. A file of that name is "./wine". */
#define RUNNER_WINE_NODE "wine"

struct runner_settings {
	/* The part of the checks' context that the user asked for: plugin_command (NULL: the installed
	 * reference plugin), hidden_directory, attach_directory (NULL: the plugin is ours to
	 * start), resource, kubelet_profile, node_file (also RUNNER_WINE_NODE), runtime_handlers,
	 * out_directory (made when missing; see conformance/runner/output.h), launch_anyway, thorough
	 * and timeout_percent. */
	struct context asked;
	struct workplace_options workplace; /* without wine, which node_file says */
	struct plan_filter filter;
	const struct text_list *expect; /* expectation files, or names of installed ones */
	const char *const *argv;	/* the command line, NULL-ended, for the journal */
	int64_t min_run;
	int64_t jobs;		   /* checks that may run at a time; at least 1 */
	int64_t time_limit_s;	   /* of the run, when the running check is stopped; 0: none */
	int64_t silence_limit_s;   /* of a check that records nothing; 0: none */
	const char *pod_resources; /* the socket of the node's kubelet, which reports the devices of
				    * pods (pod_resources.h), not to be used by the run; NULL: not
				    * asked */
	bool drain_check;	   /* with pod_resources: no run if pods hold devices of the
				    * resource under test, or without such a resource any devices */
	bool conformance_required;
	bool reproducible;
	bool include_identity; /* stores names, home folders and serial numbers unredacted */
	bool fail_fast;
	/* Shows what would run, and where; nothing is run or written then. NULL: a real run. */
	void (*on_plan)(const struct plan *plan, const struct context *context,
			const struct workplace *workplace);
	bool quiet;
	bool verbose;
	const struct ci_system *ci; /* the CI system of the run; NULL: none */
};

/* Runs the checks of `suites` (NULL-ended). *exit_code is one of enum report_exit. On error there is no
 * report, and the text says what to do. */
int runner_run(const struct runner_settings *settings, const struct check_suite *const *suites,
	       int *exit_code, struct error *err);
