/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A whole run: workplace, plan, one process per check, journal, clean-up, report.
 */

#include "base/text.h"
#include "conformance/runner/plan.h"

/* As node_file: a Windows node under Wine on this machine. A file of that name is "./wine". */
#define RUNNER_WINE_NODE "wine"

struct runner_settings {
	const char *plugin_command;   /* NULL: the reference plugin beside this program */
	bool hidden_directory;	      /* the plugin hard-codes the kubelet's directory */
	const char *attach_directory; /* an attached plugin watches this directory; NULL: ours is
					 started */
	const char *resource;	      /* NULL: each that registers */
	const char *kubelet_profile;  /* "1.36", "1.37" */
	const char *node_file;	      /* recorded node; RUNNER_WINE_NODE; NULL: this machine */
	const char *windows_programs; /* for the Wine node; NULL: where wine_node_make() looks */
	const char *cri_address;      /* NULL: a private containerd */
	const char *image; /* the probe image, which that runtime has; NULL: ours is composed */
	const char *runtime_handler; /* of the containers' sandboxes; NULL: the runtime's own */
	const char *launcher; /* "containerd", "process"; NULL: containers if they can be had */
	const char *out_directory; /* made when missing; see conformance/runner/output.h */
	struct plan_filter filter;
	const char *const *argv; /* the command line, NULL-ended, for the journal */
	int64_t timeout_percent;
	int64_t min_run;
	bool conformance_required;
	bool thorough;
	bool reproducible;
	bool fail_fast;
	bool dry_run; /* prints the plan and ends */
	bool quiet;
	bool verbose;
};

/* Runs the checks of `suites` (NULL-ended). *exit_code is one of enum report_exit. An error means
 * that there is no report; it names what to do. */
int runner_run(const struct runner_settings *settings, const struct check_suite *const *suites,
	       int *exit_code, struct error *err);
