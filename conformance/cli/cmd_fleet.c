/* SPDX-License-Identifier: MIT */
/* `fleet`: the nodes of a cluster. */
#include "base/cleanup.h"
#include "base/file.h"
#include "conformance/cli/commands.h"
#include "reports/certificates/publish/publish.h"
#include "reports/fleet/fleet.h"
#include "reports/model.h"
#include "reports/report_file.h"
#include "reports/report_files.h"

#include <stdio.h>

enum { LINES_MAX = 20, SECONDS_MAX = 30 * 24 * 3600 };

static struct fleet_plan plan = {
	.name = "fleet",
	.name_space = "gpucert",
	.folder = "/var/lib/gpucert/fleet",
	.max_unavailable = "10%",
	.wave = 1,
	.retries = 1,
	.deadline_s = 14400,
};

/* The first of many lines. */
static void print_some(const char *command, const struct text_list *lines)
{
	for (size_t i = 0; i < lines->count && i < LINES_MAX; i++)
		command_print(command, lines->items[i]);
	if (lines->count > LINES_MAX)
		(void)fprintf(stderr, "gpucert %s: and %zu more\n", command,
			      lines->count - LINES_MAX);
}

/* Whether `gpucert publish` can use it. */
static int check_place(const char *place, struct error *err)
{
#if GPUCERT_MODULE_CERTIFICATES
	const struct publish_options options = {.registry.plain_http = plan.plain_http};
	return report_place_check(place, &options, err);
#else
	return error_set(err, ERROR_UNSUPPORTED, "%s: gpucert was built without publish", place);
#endif
}

static int plan_run(const struct text_list *arguments)
{
	struct text_list of_run CLEANUP_TEXT_LIST = {0};
	struct fleet_wave wave CLEANUP_FLEET_WAVE = {0};
	cJSON *nodes CLEANUP_JSON = NULL;
	struct error err = {0};
	for (size_t i = 1; i < arguments->count; i++)
		text_list_add(&of_run, arguments->items[i]);
	plan.arguments = &of_run;
	plan.check_place = check_place;
	int rc = plan.image != NULL ? fleet_list_read(arguments->items[0], "Node", &nodes, &err)
				    : error_set(&err, ERROR_ARGUMENT, "--image is missing");
	if (rc == 0) {
		rc = fleet_plan_make(nodes, &plan, &wave, &err);
		if (rc == ERROR_FORMAT)
			rc = error_wrap(&err, rc, "%s", arguments->items[0]);
	}
	print_some("fleet plan", &wave.left_out);
	if (rc == 0)
		rc = options_print(text_take(&wave.jobs), &err);
	if (rc == 0)
		(void)fprintf(stderr,
			      "gpucert fleet plan: wave %lld of %zu, %zu of %zu nodes; %zu left "
			      "out\n",
			      (long long)plan.wave, wave.waves, wave.nodes, wave.planned,
			      wave.left_out.count);
	text_list_free(&plan.selectors);
	text_list_free(&plan.tolerations);
	if (rc == 0)
		return EXIT_SUCCESS;
	command_print("fleet plan", err.text);
	return OPTIONS_EXIT_USAGE;
}

static const struct option_spec plan_options[] = {
	{OPTION_ROW("image", OPTION_STRING, plan.image), .letter = 'i', .value = "REF",
	 .help = "The image that each node runs, with gpucert and /bin/sh in it: "
		 "NAME@sha256:DIGEST. Required."},
	{OPTION_ROW("allow-tag", OPTION_FLAG, plan.allow_tag),
	 .help = "Accept an image without a digest: nodes may run different images then."},
	{OPTION_ROW("name", OPTION_STRING, plan.name), .value = "NAME",
	 .help = "Name of the fleet's run, at most 20 characters: the Jobs' names and the folder on "
		 "the nodes begin with it. Use another one for each."},
	{OPTION_ROW("namespace", OPTION_STRING, plan.name_space), .value = "NAME",
	 .help = "Namespace of the Jobs, which must exist and allow privileged pods."},
	{OPTION_ROW("selector", OPTION_LIST, plan.selectors), .letter = 'l', .value = "KEY=VALUE",
	 .help = "Plan only nodes with this label; of several, a node must have all."},
	{OPTION_ROW("toleration", OPTION_LIST, plan.tolerations), .value = "KEY",
	 .help = "Plan nodes with a taint of this key, too."},
	{OPTION_ROW("max-unavailable", OPTION_STRING, plan.max_unavailable), .value = "N|N%",
	 .help = "Nodes of a wave, or their share of the planned nodes."},
	{OPTION_ROW("wave", OPTION_INT, plan.wave), .value = "K",
	 .help = "The wave to print, from 1. Use the same list of nodes for all waves.", .min = 1,
	 .max = FLEET_ITEMS_MAX},
	{OPTION_ROW("retries", OPTION_INT, plan.retries), .value = "N",
	 .help = "How often a run that proved nothing (exit codes 3 and 4) starts again. 0 works "
		 "with Kubernetes 1.20 and later, others need 1.26 (podFailurePolicy).",
	 .min = 0, .max = 10},
	{OPTION_ROW("deadline", OPTION_INT, plan.deadline_s), .value = "SECONDS",
	 .help = "End a Job after this time.", .min = 60, .max = SECONDS_MAX},
	{OPTION_ROW("folder", OPTION_STRING, plan.folder), .value = "DIR",
	 .help = "Folder on each node. The report is in DIR/NAME/NODE and stays there."},
	{OPTION_ROW("push", OPTION_STRING, plan.push), .value = "PLACE",
	 .help = "Each node pushes its report to this place, as 'gpucert publish' does: "
		 "https://HOST/PATH/{node} or oci://HOST/REPOSITORY:{node}."},
	{OPTION_ROW("push-secret", OPTION_STRING, plan.push_secret), .value = "NAME",
	 .help = "Secret of the namespace with what --push needs: 'token' (for https://), "
		 "'.dockerconfigjson' (for oci://), 'ca.crt' (an authority to trust)."},
	{OPTION_ROW("plain-http", OPTION_FLAG, plan.plain_http),
	 .help = "Allow --push over plain HTTP, which everybody on the way can read."},
	{OPTION_ROW("pod-resources", OPTION_FLAG, plan.pod_resources),
	 .help = "Leave devices alone that pods of the node hold: run with --pod-resources, and mount "
		 "the kubelet's folder for it."},
	{OPTION_ROW("runtime-class", OPTION_STRING, plan.runtime_class), .value = "NAME",
	 .help = "RuntimeClass of the pods, such as nvidia."},
	{0},
};

const struct command_spec command_fleet_plan = {
	.name = "fleet plan",
	.summary = "Print Jobs that certify the nodes of a cluster, wave by wave",
	.arguments = "NODES.json [ARGUMENT...]",
	.description =
		"Reads the output of 'kubectl get nodes -o json' and prints a List of Jobs for "
		"'kubectl apply -f -': one for each node of a wave, pinned to it. Nodes that cannot run "
		"one are left out and printed on standard error. Each Job runs gpucert with the "
		"arguments, keeps the report on its node, and writes the verdict to its pod's "
		"status. The output depends only on the list and the options.",
	.options = plan_options,
	.examples = TEXTS(
		"gpucert fleet plan nodes.json -i registry.example/gpucert@sha256:... | kubectl apply -f -",
		"Start the first wave, a tenth of the nodes.",
		"gpucert fleet plan nodes.json -i ... --wave 2 -- --require-conformant isolation api",
		"Print the second wave; what follows -- are options of gpucert run.",
		"gpucert fleet plan nodes.json -i ... --push https://reports.example.com/nov-29/{node} "
		"--push-secret reports",
		"Push the reports to a web server, with the bearer token in the Secret."),
	.exit_codes = TEXTS("0", "done", "2", "usage, or a list of nodes that cannot be planned"),
	.run = plan_run,
};

static bool merge_json;

/* The lines of standard input. */
static int read_names(struct text_list *paths, struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char *names CLEANUP_FREE = NULL;
	int rc = file_read("/dev/stdin", JSON_FILE_MAX, &names, NULL, err);
	if (rc == 0)
		text_list_split(&lines, names, '\n');
	text_each (line, &lines) {
		if (line[0] != '\0')
			text_list_add(paths, line);
	}
	return rc;
}

static int merge_run(const struct text_list *arguments)
{
	const struct writer_options options = writer_options_of_stdout();
	struct fleet_merge merge CLEANUP_FLEET_MERGE = {0};
	const struct report_files files = {
		.without = fleet_merge_unneeded, .use = fleet_merge_add, .user = &merge};
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	int rc = 0;
	text_each (argument, arguments) {
		if (rc == 0 && text_equal(argument, "-"))
			rc = read_names(&paths, &err);
		else
			text_list_add(&paths, argument);
	}
	if (rc == 0 && paths.count == 0)
		rc = error_set(&err, ERROR_NOT_FOUND, "standard input names no report");
	if (rc == 0)
		rc = report_files_read(&paths, &files, &merge.refused, &err);
	if (rc < 0)
		return command_failed("fleet merge", rc, &err);

	fleet_merge_finish(&merge);
	if (!merge_json)
		fleet_merge_add_text(&merge, &options, &out);
	rc = options_print(merge_json ? fleet_merge_json(&merge) : text_take(&out), &err);
	print_some("fleet merge", &merge.refused);
	if (rc == 0 && merge.refused.count > 0)
		rc = error_set(&err, ERROR_FORMAT, "%zu reports were refused, and are not counted",
			       merge.refused.count);
	return command_end("fleet merge", rc, &err);
}

static const struct option_spec merge_options[] = {
	{OPTION_ROW("json", OPTION_FLAG, merge_json),
	 .help = "Print JSON (fleet.schema.json), with all groups and nodes."},
	{0},
};

const struct command_spec command_fleet_merge = {
	.name = "fleet merge",
	.summary = "Group the failures of many nodes, outliers first",
	.arguments = "FOLDER|-...",
	.description =
		"Reads every report.json below the folders, or the files that standard input names; "
		"the folder of a report has the name of its node. A group is the nodes with the same "
		"drivers, OS and plugin on which a check failed for the same reason, but for "
		"numbers, addresses and ids. Groups that are rare among such nodes come first. A "
		"node counts once, with its newest report. Reports that cannot be read, are of "
		"another node, or contradict themselves are refused.",
	.options = merge_options,
	.examples =
		TEXTS("gpucert fleet merge reports", "Merge reports/NODE/report.json of each node.",
		      "find reports -name report.json | gpucert fleet merge --json - >fleet.json",
		      "Read the names of the reports from standard input."),
	.exit_codes = EXIT_CODES("done", "a report was refused; the others are printed"),
	.run = merge_run,
};

static const char *status_plan;

static int status_run(const struct text_list *arguments)
{
	cJSON *pods CLEANUP_JSON = NULL;
	cJSON *jobs CLEANUP_JSON = NULL;
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};
	int rc = fleet_list_read(arguments->items[0], "Pod", &pods, &err);
	if (rc == 0 && status_plan != NULL)
		rc = fleet_list_read(status_plan, "Job", &jobs, &err);
	if (rc == 0)
		rc = fleet_status_add(pods, jobs, &out, &err);
	if (rc == 0)
		rc = options_print(text_take(&out), &err);
	return command_end("fleet status", rc, &err);
}

static const struct option_spec status_options[] = {
	{OPTION_ROW("plan", OPTION_STRING, status_plan), .value = "FILE",
	 .help = "What 'gpucert fleet plan' printed: its nodes without a pod are missing."},
	{0},
};

const struct command_spec command_fleet_status = {
	.name = "fleet status",
	.summary = "Print the state and the verdict of each node from the list of pods",
	.arguments = "PODS.json",
	.description =
		"Reads the output of 'kubectl get pods -l gpucert.internal/fleet=NAME -o json'. The pods of 'gpucert fleet plan' "
		"have their verdicts in their termination messages, so no report is needed. A "
		"node failed only if its run has a verdict; a run that was interrupted, was killed or "
		"proved nothing is lost, and is to be repeated.",
	.options = status_options,
	.examples =
		TEXTS("gpucert fleet status pods.json --plan jobs.json",
		      "Print which nodes failed, which proved nothing, and which have not begun."),
	.exit_codes = EXIT_CODES("done", "a list cannot be read"),
	.run = status_run,
};

static int patch_run(const struct text_list *arguments)
{
	cJSON *report CLEANUP_JSON = NULL;
	cJSON *node CLEANUP_JSON = NULL;
	cJSON *patches CLEANUP_JSON = NULL;
	struct error err = {0};
	int rc = report_file_read(arguments->items[0], NULL, &report, &err);
	if (rc == 0)
		rc = json_read_file(arguments->items[1], &node, &err);
	if (rc == 0) {
		rc = fleet_patch_make(report, node, &patches, &err);
		rc = rc < 0 ? error_wrap(&err, rc, "%s, %s", arguments->items[0],
					 arguments->items[1])
			    : 0;
	}
	if (rc == 0)
		rc = options_print(json_print(patches), &err);
	return command_end("fleet patch", rc, &err);
}

const struct command_spec command_fleet_patch = {
	.name = "fleet patch",
	.summary = "Print patches for a node's condition, labels and taint from its report",
	.arguments = "REPORT NODE.json",
	.description =
		"Prints JSON (fleet-patch.schema.json) with three patches for 'kubectl patch'; "
		"nothing is applied. A violated MUST adds the taint gpucert.internal/violated, any other result "
		"removes it. The report of a node with another name or kernel is refused.",
	.examples = TEXTS(
		"gpucert fleet patch reports/node-1 node.json >patch.json",
		"Print the patches; node.json is the output of 'kubectl get node node-1 -o json'.",
		"kubectl patch node node-1 --type merge -p \"$(jq .labels.patch patch.json)\"",
		"Apply one of them."),
	.exit_codes = EXIT_CODES("done", "the report or the node cannot be read, or do not belong "
					 "together"),
	.run = patch_run,
};
