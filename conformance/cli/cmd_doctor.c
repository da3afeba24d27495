/* SPDX-License-Identifier: MIT */
/* `doctor`: what this machine can test, what is missing, and the command that installs it. */
#include "base/array.h"
#include "base/file.h"
#include "base/members.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/style.h"
#include "conformance/checks/suites.h"
#include "conformance/cli/commands.h"
#include "conformance/runner/runner.h"
#include "containers/offers.h"
#include "reports/view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KUBELET_SOCKET "/var/lib/kubelet/device-plugins/kubelet.sock"

enum state { OK, NOTE, MISSING };

enum {
	EXIT_INCOMPLETE = 1, /* something is missing */
	WIDTH = 16,	     /* of the second column */
	EXAMPLES_MAX = 3,    /* checks that are named for one reason */
};

static struct {
	bool json;
	bool missing;
	bool color;
	struct members *rows;
} doctor;

/* `mend` may be NULL. */
static void add_row(enum state state, const char *what, const char *detail, const char *mend)
{
	static const char *const names[] = {[OK] = "ok", [NOTE] = "note", [MISSING] = "missing"};
	static const enum style styles[] = {
		[OK] = STYLE_GREEN, [NOTE] = STYLE_YELLOW, [MISSING] = STYLE_RED};
	struct text shown CLEANUP_TEXT = {0};
	doctor.missing = doctor.missing || state == MISSING;
	if (doctor.json) {
		struct members row = member_object(doctor.rows, NULL);
		member_string(&row, "state", names[state]);
		member_string(&row, "what", what);
		member_string(&row, "detail", detail);
		if (mend != NULL)
			member_string(&row, "mend", mend);
		return;
	}
	view_add_escaped(&shown, detail);
	(void)printf("%s%-8s%s %-*s %s\n", style(doctor.color, styles[state]), names[state],
		     style(doctor.color, STYLE_RESET), WIDTH, what, text_string(&shown));
	if (mend != NULL)
		(void)printf("%-8s %-*s %s\n", "", WIDTH, "", mend);
}

static void add_containers(const struct workplace *workplace, const char *missing)
{
	const struct runtime_description *runtime =
		workplace->runtime != NULL ? runtime_describe(workplace->runtime) : NULL;
	if (runtime == NULL) {
		add_row(MISSING, "containers", missing,
			strstr(missing, "root") != NULL ? "run it as root: sudo gpucert doctor"
							: "apt install containerd runc");
		return;
	}
	struct text detail CLEANUP_TEXT = {0};
	text_addf(&detail, "%s %s, snapshotter %s, handlers", runtime->name, runtime->version,
		  runtime->snapshotter);
	for (size_t i = 0; i < runtime->handlers->count; i++)
		text_addf(&detail, "%s %s", i == 0 ? "" : ",", runtime->handlers->items[i]);
	add_row(OK, "containers", text_string(&detail), NULL);
	if (!text_list_has(runtime->handlers, "crun"))
		add_row(NOTE, "runtime handler",
			"crun is not installed: isolation is judged with runc only",
			"apt install crun");
}

static void add_devices(const struct discovery_snapshot *node)
{
	static const struct {
		const char *api, *mend;
	} software[] = {
		{"vulkan", "apt install mesa-vulkan-drivers"},
		{"opencl", "apt install pocl-opencl-icd"},
		{"opengl", "apt install libegl-mesa0 libgl1-mesa-dri"},
	};
	bool offered[ARRAY_SIZE(software)] = {false};
	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *device = &node->devices[i];
		struct text detail CLEANUP_TEXT = {0};
		bool usable =
			device->allocatable && device->apis != NULL && device->apis[0] != NULL;
		text_addf(&detail, "%s%s:", device->description,
			  device->kind == DISCOVERY_SOFTWARE ? " (software)" : "");
		for (size_t k = 0; usable && device->apis[k] != NULL; k++) {
			text_addf(&detail, "%s %s", k == 0 ? "" : ",", device->apis[k]);
			for (size_t s = 0; s < ARRAY_SIZE(software); s++)
				offered[s] =
					offered[s] || text_equal(device->apis[k], software[s].api);
		}
		if (!usable)
			text_addf(&detail, " offers nothing to a container%s%s",
				  device->allocatable ? "" : ": ",
				  device->allocatable ? "" : device->not_allocatable_reason);
		add_row(usable ? OK : NOTE, "device", text_string(&detail), NULL);
	}
	for (size_t i = 0; i < node->diagnostic_count; i++) {
		char *detail CLEANUP_FREE = text_format("%s: %s", node->diagnostics[i].place,
							node->diagnostics[i].message);
		add_row(NOTE, "discovery", detail, NULL);
	}
	for (size_t i = 0; text_equal(node->system.os, "linux") && i < ARRAY_SIZE(software); i++) {
		char *detail CLEANUP_FREE = text_format("no device offers %s", software[i].api);
		if (!offered[i])
			add_row(MISSING, "driver", detail, software[i].mend);
	}
}

/* The checks of the plan: how many run, and for what reasons others do not. */
static void add_checks(const struct plan *plan)
{
	size_t runs = 0, applies = 0;
	for (size_t i = 0; i < plan->count; i++) {
		applies += plan->items[i].outcome != REPORT_NOT_APPLICABLE;
		runs += plan->items[i].outcome == REPORT_PASS;
	}
	char *summary CLEANUP_FREE =
		text_format("%zu of %zu that apply to this node can run", runs, applies);
	add_row(runs == applies ? OK : MISSING, "checks", summary, NULL);

	for (size_t i = 0; i < plan->count; i++) {
		struct text detail CLEANUP_TEXT = {0};
		size_t count = 0;
		bool known = plan->items[i].outcome != REPORT_UNSUPPORTED;
		for (size_t k = 0; k < i && !known; k++)
			known = text_equal(plan->items[k].reason, plan->items[i].reason);
		if (known)
			continue;
		text_addf(&detail, "%s:", plan->items[i].reason);
		for (size_t k = i; k < plan->count; k++) {
			if (plan->items[k].outcome == REPORT_UNSUPPORTED &&
			    text_equal(plan->items[k].reason, plan->items[i].reason) &&
			    ++count <= EXAMPLES_MAX)
				text_addf(&detail, "%s %s", count > 1 ? "," : "",
					  plan->items[k].check->id);
		}
		if (count > EXAMPLES_MAX)
			text_addf(&detail, " and %zu more", count - EXAMPLES_MAX);
		add_row(NOTE, "unsupported", text_string(&detail), NULL);
	}
}

static void on_plan(const struct plan *plan, const struct context *context,
		    const struct workplace *workplace)
{
	const struct discovery_system *system = &context->node->system;
	char *node CLEANUP_FREE = text_format("%s, %s", system->product, system->build);
	add_row(OK, "node", node, NULL);
	add_containers(workplace, context->launcher_missing);
	add_devices(context->node);
	if (text_equal(system->os, "linux")) {
		if (access("/dev/kmsg", R_OK) != 0)
			add_row(NOTE, "kernel log",
				"/dev/kmsg cannot be read: faults of devices during a check go unseen",
				"sysctl kernel.dmesg_restrict=0, or run it as root");
		if (file_exists(KUBELET_SOCKET))
			add_row(NOTE, "kubelet",
				"a kubelet uses " KUBELET_SOCKET
				": it is left alone; a plugin that "
				"runs in its pod is tested with --attach",
				NULL);
		char *debootstrap CLEANUP_FREE = NULL;
		if (!OFFERS_WINE_NODE)
			add_row(NOTE, "Wine node", "this gpucert was built without the module wine",
				NULL);
		if (process_find_program("debootstrap", &debootstrap, NULL) < 0)
			add_row(NOTE, "other nodes",
				OFFERS_WINE_NODE ? "--node wine and --node vm need debootstrap"
						 : "--node vm needs debootstrap",
				"apt install debootstrap");
	}
	add_checks(plan);
}

static const struct option_spec doctor_options[] = {
	{OPTION_ROW("json", OPTION_FLAG, doctor.json), .help = "Print a JSON array."},
	{0},
};

static int doctor_run(const struct text_list *arguments)
{
	struct members rows CLEANUP_MEMBERS = members_new_array();
	struct runner_settings settings = {
		.asked = {.kubelet_profile = "1.36", .out_directory = "", .timeout_percent = 100},
		.on_plan = on_plan,
		.quiet = true,
		.jobs = 1,
	};
	struct error err = {0};
	int exit_code = REPORT_EXIT_BROKEN;
	(void)arguments;
	doctor.rows = &rows;
	doctor.color = style_enabled(STDOUT_FILENO);

	int rc = runner_run(&settings, suites, &exit_code, &err);
	if (rc < 0) {
		/* Installed, but does not work: the rest is shown without it. */
		add_row(MISSING, "containers", err.text, NULL);
		settings.workplace.launcher = "none";
		rc = runner_run(&settings, suites, &exit_code, &err);
	}
	if (rc == 0 && doctor.json)
		rc = options_print(json_print(rows.object), &err);
	if (rc < 0)
		return command_failed("doctor", rc, &err);
	return doctor.missing ? EXIT_INCOMPLETE : EXIT_SUCCESS;
}

const struct command_spec command_doctor = {
	.name = "doctor",
	.summary = "Show what this machine can test, and what is missing",
	.description =
		"Lists the node's devices, starts and stops a private containerd as a run would, "
		"and shows which checks could run. What is missing comes with the command that "
		"installs it. Nothing is changed.",
	.options = doctor_options,
	.examples =
		TEXTS("gpucert doctor",
		      "Show what a run on this machine would leave out, and how to change that."),
	.exit_codes = TEXTS("0", "every check that applies to this node can run", "1",
			    "something is missing", "3",
			    "broken: the devices of the node cannot be listed"),
	.run = doctor_run,
};
