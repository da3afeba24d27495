/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/style.h"
#include "discovery/tool/tool.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_TOO_FEW = 1, EXIT_BROKEN = 3 };

static struct {
	bool json, details, watch;
	const char *record, *node, *root;
	bool display_only, compute_only;
	bool exclude_integrated, exclude_detachable, exclude_software;
	struct text_list vendors, ids;
	int64_t require, poll_ms;
} given = {.poll_ms = 5000};

static const struct option_spec options[] = {
	{OPTION_ROW("json", OPTION_FLAG, given.json),
	 .help = "Print a recorded node as JSON instead of a table."},
	{OPTION_ROW("details", OPTION_FLAG, given.details), .letter = 'd',
	 .help = "Print everything that is known, runtime files included."},
	{OPTION_ROW("record", OPTION_STRING, given.record), .value = "FILE",
	 .help = "Write a recorded node into FILE as well."},
	{OPTION_ROW("node", OPTION_STRING, given.node), .letter = 'n', .value = "FILE",
	 .help = "Read a recorded node instead of looking at this machine."},
	{OPTION_ROW("root", OPTION_STRING, given.root), .value = "DIR",
	 .help = "Look below DIR, where the root of another system is mounted."},
	{OPTION_ROW("watch", OPTION_FLAG, given.watch), .letter = 'w',
	 .help = "Print the devices and every later change as JSON lines until interrupted."},
	{OPTION_ROW("poll-ms", OPTION_INT, given.poll_ms), .value = "MS", .min = 10, .max = 3600000,
	 .help = "With --watch: how often to look for changes that the system does not report."},
	{OPTION_ROW("display-only", OPTION_FLAG, given.display_only),
	 .help = "Only devices that can render or present."},
	{OPTION_ROW("compute-only", OPTION_FLAG, given.compute_only),
	 .help = "Only devices that can neither render nor present."},
	{OPTION_ROW("exclude-integrated", OPTION_FLAG, given.exclude_integrated),
	 .help = "Leave out GPUs that are part of the processor."},
	{OPTION_ROW("exclude-detachable", OPTION_FLAG, given.exclude_detachable),
	 .help = "Leave out GPUs that can be unplugged."},
	{OPTION_ROW("exclude-software", OPTION_FLAG, given.exclude_software),
	 .help = "Leave out software drivers."},
	{OPTION_ROW("vendor", OPTION_LIST, given.vendors), .value = "VENDOR",
	 .help = "Only devices of VENDOR, a name or a PCI id like 0x10de."},
	{OPTION_ROW("id", OPTION_LIST, given.ids), .value = "ID", .help = "Only the device ID."},
	{OPTION_ROW("require", OPTION_INT, given.require), .value = "N", .max = 1000000,
	 .help = "Exit with 1 when there are fewer than N devices."},
	{.name = NULL},
};

static struct discovery_options options_given(void)
{
	return (struct discovery_options){
		.recorded_node = given.node,
		.root = given.root,
		.filter =
			{
				.display_only = given.display_only,
				.compute_only = given.compute_only,
				.include_integrated = !given.exclude_integrated,
				.include_detachable = !given.exclude_detachable,
				.exclude_software = given.exclude_software,
				.vendors = (const char *const *)given.vendors.items,
				.ids = (const char *const *)given.ids.items,
			},
	};
}

static int write_json(const struct discovery_snapshot *snapshot, const char *path,
		      struct error *err)
{
	char *json = discovery_to_json(snapshot);

	int rc = json != NULL ? 0 : error_memory(err);
	if (rc == 0 && path != NULL)
		rc = file_write_atomic(path, json, strlen(json), 0644, err);
	else if (rc == 0)
		(void)fputs(json, stdout);
	discovery_string_free(json);
	return rc;
}

static int take_and_show(struct error *err)
{
	const struct discovery_options chosen = options_given();
	struct discovery_snapshot *snapshot = NULL;
	char now[CLOCK_UTC_SIZE] = "";

	int rc = discovery_take(&chosen, &snapshot, err);
	if (rc < 0)
		return rc;
	if (given.record != NULL) {
		/* A copy of a recorded node keeps the time of the recording. */
		struct discovery_snapshot dated = *snapshot;
		if (!snapshot->recorded)
			dated.recorded_at = clock_utc(now);
		rc = write_json(&dated, given.record, err);
	}
	if (rc == 0 && given.json) {
		rc = write_json(snapshot, NULL, err);
	} else if (rc == 0) {
		struct text out CLEANUP_TEXT = {0};
		struct text diagnostics CLEANUP_TEXT = {0};
		if (given.details)
			table_details(snapshot, style_enabled(STDOUT_FILENO), &out);
		else
			table_devices(snapshot, style_enabled(STDOUT_FILENO), &out);
		table_diagnostics(snapshot, style_enabled(STDERR_FILENO), &diagnostics);
		(void)fputs(text_string(&diagnostics), stderr);
		rc = options_print(text_take(&out), err);
	}
	if (rc == 0 && (int64_t)snapshot->device_count < given.require)
		rc = EXIT_TOO_FEW;
	discovery_free(snapshot);
	return rc;
}

static int run(const struct text_list *arguments)
{
	struct error err = {0};
	int rc = 0;
	(void)arguments;

	log_set_program("gpu-discovery");
	if (given.watch) {
		const struct discovery_options chosen = options_given();
		rc = follow_run(&chosen, (unsigned)given.poll_ms, &err);
	} else {
		rc = take_and_show(&err);
	}
	text_list_free(&given.vendors);
	text_list_free(&given.ids);
	if (rc < 0)
		log_error("%s", err.text);
	return rc < 0 ? EXIT_BROKEN : rc;
}

int main(int argc, char **argv)
{
	static const char *const examples[] = {
		"gpu-discovery",
		"List the GPUs and software drivers of this machine.",
		"gpu-discovery --record node.json",
		"Record this machine, to be replayed elsewhere.",
		"gpu-discovery --node node.json --details",
		"Show everything about a recorded node.",
		"gpu-discovery --vendor nvidia --require 2",
		"Check for two GPUs of a vendor.",
		NULL};
	static const char *const exit_codes[] = {
		"0", "done",	    "1", "fewer devices than --require asks for",
		"2", "wrong usage", "3", "the node cannot be read, or nothing can be written",
		NULL};
	const struct command_spec program = {
		.name = "gpu-discovery",
		.summary = "Lists GPUs, software drivers and what containers need to use them",
		.description =
			"Shows what this machine, or a recorded one, offers for graphics and "
			"computing, without loading any driver. Diagnostics about devices that "
			"cannot be read go to stderr.",
		.options = options,
		.examples = examples,
		.exit_codes = exit_codes,
		.exit_output = EXIT_BROKEN,
		.run = run,
	};
	return options_main(&program, argc, argv);
}
