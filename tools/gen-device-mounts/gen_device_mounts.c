/* SPDX-License-Identifier: MIT */
/* gen-device-mounts: the devices, files and variables that a container needs, as flags for programs that
 * start containers. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "tools/gen-device-mounts/cdi.h"
#include "tools/gen-device-mounts/container_flags.h"
#include "tools/gen-device-mounts/selection.h"
#include "tools/gen-device-mounts/shell.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_NO_DEVICE = 1, EXIT_DEFECT = 1, EXIT_BROKEN = 3, EXIT_NOT_STARTED = 127 };

#ifdef _WIN32
enum { SHELL_HERE = SHELL_CMD };
#else
enum { SHELL_HERE = SHELL_SH };
#endif

static struct {
	struct selection selection;
	struct text_list check;
	const char *resource, *tool, *allocation, *format, *node, *root;
	bool skip_runtime_mounts, run, verbose;
} given = {.resource = "any", .format = "text"};

static const char *const resources[] = {"any", "display", "compute", NULL};
static const char *const allocations[] = {"location-path", "class", NULL};
static const char *const formats[] = {"text", "sh", "cmd", "powershell", "json", "cri", NULL};

static const struct option_spec options[] = {
	{OPTION_ROW("all", OPTION_FLAG, given.selection.all), .letter = 'a',
	 .help = "Every device of the node."},
	{OPTION_ROW("index", OPTION_LIST, given.selection.values[SELECTION_INDEX]), .letter = 'i',
	 .value = "N",
	 .help = "The device with this index in the list of gpu-discovery; several with commas."},
	{OPTION_ROW("id", OPTION_LIST, given.selection.values[SELECTION_ID]), .value = "ID",
	 .help = "The device with this id."},
	{OPTION_ROW("luid", OPTION_LIST, given.selection.values[SELECTION_LUID]), .letter = 'l',
	 .value = "LUID",
	 .help = "The Windows adapter with this LUID, decimal or as 0x...; several with commas."},
	{OPTION_ROW("path", OPTION_LIST, given.selection.values[SELECTION_PATH]), .letter = 'p',
	 .value = "LOCATION",
	 .help = "The Windows device at this location path, PCIROOT(0)#PCI(1B00)."},
	{OPTION_ROW("vendor", OPTION_LIST, given.selection.values[SELECTION_VENDOR]),
	 .value = "VENDOR", .help = "Every device of VENDOR, a name or a PCI id like 0x10de."},
	{OPTION_ROW("resource", OPTION_CHOICE, given.resource), .letter = 'r', .choices = resources,
	 .help = "Of these, only devices that can render or present (display), or only those that "
		 "cannot (compute)."},
	{OPTION_ROW("for", OPTION_CHOICE, given.tool), .letter = 'f', .choices = container_tools,
	 .help = "The program whose flags are wanted; ctr unless given. docker on Windows can give "
		 "the class of display adapters only, and no files. cdi: a Spec of the Container "
		 "Device Interface, as JSON, for devices of Linux."},
	{OPTION_ROW("check", OPTION_LIST, given.check), .value = "PATH",
	 .help = "With --for cdi: instead of writing a Spec, check a file, or the files of a "
		 "folder; a later one has priority (/etc/cdi, then /var/run/cdi)."},
	{OPTION_ROW("allocation", OPTION_CHOICE, given.allocation), .choices = allocations,
	 .help = "On Windows: each device by its location path, which needs Windows Server 2022, "
		 "or the class of all display adapters. location-path unless given, with docker "
		 "class."},
	{OPTION_ROW("skip-runtime-mounts", OPTION_FLAG, given.skip_runtime_mounts),
	 .help = "On Windows: without the files of the drivers."},
	{OPTION_ROW("format", OPTION_CHOICE, given.format), .choices = formats,
	 .help = "How to print: one line quoted for a shell (text: the one of this system), json: "
		 "an array with one string an argument, cri: devices, mounts and envs of a "
		 "ContainerConfig."},
	{OPTION_ROW("run", OPTION_FLAG, given.run),
	 .help = "Run 'ctr run --rm' (or the program of --for) with the flags and the arguments, "
		 "instead of printing."},
	{OPTION_ROW("node", OPTION_STRING, given.node), .letter = 'n', .value = "FILE",
	 .help = "Read a recorded node instead of looking at this machine."},
	{OPTION_ROW("root", OPTION_STRING, given.root), .value = "DIR",
	 .help = "Look below DIR, where the root of another system is mounted."},
	{OPTION_ROW("verbose", OPTION_FLAG, given.verbose), .letter = 'v',
	 .help = "Print on stderr the chosen devices, and what discovery reported about others."},
	{.name = NULL},
};

/* The index of a choice in the list; `otherwise` if none was made. */
static int choice_of(const char *value, const char *const *choices, int otherwise)
{
	for (int i = 0; value != NULL && choices[i] != NULL; i++) {
		if (strcmp(choices[i], value) == 0)
			return i;
	}
	return otherwise;
}

static enum container_tool tool_given(void)
{
	return (enum container_tool)choice_of(given.tool, container_tools, TOOL_CTR);
}

static bool is_cdi(void)
{
	return tool_given() == TOOL_CDI;
}

static bool is_cri(void)
{
	return strcmp(given.format, "cri") == 0;
}

/* Docker starts Windows containers by an interface that knows classes only. */
static bool docker_on_windows(bool windows)
{
	return windows && tool_given() == TOOL_DOCKER && !is_cri();
}

static void report_devices(const struct selected *selected)
{
	text_each (note, &selected->notes)
		log_warning("%s", note);
	for (size_t i = 0; i < selected->count; i++) {
		const struct discovery_device *device = selected->devices[i];
		if (device->health != DISCOVERY_HEALTHY)
			log_warning("device '%s' is unhealthy: %s", device->id,
				    device->health_reason);
		if (given.verbose)
			log_info("device %zu: %s (%s)", device->index, device->id,
				 device->description);
	}
}

/* Logs the unrequested parts of the answer, and the missing ones. */
static void report_answer(const struct answer *answer, const struct discovery_snapshot *snapshot,
			  bool windows, const struct answer_rules *rules)
{
	for (size_t i = 0; i < answer->warnings.count; i++)
		log_warning("%s", answer->warnings.items[i]);
	if (windows && rules->allocation == ANSWER_CLASS)
		log_warning("the container sees every display adapter of the node (it has %zu "
			    "devices): a class cannot be narrowed down",
			    snapshot->device_count);
	if (docker_on_windows(windows) && !given.skip_runtime_mounts)
		log_warning("docker cannot mount single files into Windows containers: the image "
			    "has to bring what a driver has besides DirectX");
	for (size_t i = 0; given.verbose && i < snapshot->diagnostic_count; i++)
		log_info("%s: %s", snapshot->diagnostics[i].place,
			 snapshot->diagnostics[i].message);
}

/* Prints the answer, or runs the tool with its flags. */
static int deliver(const struct answer *answer, bool windows, const struct text_list *arguments,
		   int *code, struct error *err)
{
	const char *const command[] = {container_tools[tool_given()], "run", "--rm"};
	struct text_list flags CLEANUP_TEXT_LIST = {0};
	struct text line CLEANUP_TEXT = {0};
	cJSON *json CLEANUP_JSON = NULL;

	if (is_cri()) {
		json = container_config(&answer->message);
		return options_print(json_print(json), err);
	}

	for (size_t i = 0; given.run && i < ARRAY_SIZE(command); i++)
		text_list_add(&flags, command[i]);
	int rc = container_flags_add(&flags, tool_given(), windows, &answer->message, err);
	if (rc < 0)
		return rc;
	text_each (argument, arguments)
		text_list_add(&flags, argument);

	if (given.run) {
		if (given.verbose && shell_quote(&line, (enum shell)SHELL_HERE, &flags, NULL) == 0)
			log_info("%s", text_string(&line));
		*code = EXIT_NOT_STARTED;
		return shell_run((const char *const *)flags.items, code, err);
	}
	if (strcmp(given.format, "json") == 0) {
		json = json_new_strings(&flags);
		return options_print(json_print(json), err);
	}
	const int shell = choice_of(given.format, &formats[1], SHELL_HERE);
	rc = shell_quote(&line, (enum shell)shell, &flags, err);
	if (rc < 0)
		return rc;
	text_add(&line, "\n");
	return options_print(text_take(&line), err);
}

static int answer_for(const struct discovery_snapshot *snapshot, const struct text_list *arguments,
		      int *code, struct error *err)
{
	const bool windows = strcmp(snapshot->system.os, "windows") == 0;
	const bool docker = docker_on_windows(windows);
	const int allocation = choice_of(given.allocation, allocations,
					 docker ? ANSWER_CLASS : ANSWER_LOCATION_PATH);
	if (docker && allocation != ANSWER_CLASS)
		return error_set(
			err, ERROR_ARGUMENT,
			"docker on Windows cannot assign a device by its location path: it "
			"uses the first interface of the Host Compute Service, which knows "
			"only classes of devices");

	struct selected selected CLEANUP(selected_free) = {0};
	const struct answer_rules rules = {
		.allocation = (enum answer_allocation)allocation,
		.allow_several = true,
		.skip_runtime_mounts = given.skip_runtime_mounts || docker,
	};
	int rc = selection_apply(&given.selection, snapshot, rules.allocation, &selected, err);
	if (rc < 0)
		return rc;
	const struct answer_request request = {
		.devices = selected.devices,
		.count = selected.count,
		.windows = windows,
		.recorded = snapshot->recorded,
		.root = given.root,
		.rules = &rules,
	};

	if (is_cdi()) {
		struct text_list notes CLEANUP_TEXT_LIST = {0};
		cJSON *spec CLEANUP_JSON = NULL;
		rc = cdi_write(&request, &notes, &spec, err);
		if (rc < 0)
			return rc;
		report_devices(&selected);
		text_each (note, &notes)
			log_warning("%s", note);
		return options_print(json_print(spec), err);
	}

	struct answer answer CLEANUP(answer_free) = {0};
	rc = answer_build(&request, &answer, err);
	if (rc < 0)
		return rc;
	report_devices(&selected);
	report_answer(&answer, snapshot, windows, &rules);
	return deliver(&answer, windows, arguments, code, err);
}

/* Why the command line makes no sense; NULL when it does. */
static const char *objection(const struct text_list *arguments)
{
	const bool check = given.check.count > 0;

	if (check && !is_cdi())
		return "--check is of --for cdi";
	if (is_cdi()) {
		if (given.run || arguments->count > 0)
			return "--for cdi starts no container, so it takes neither --run nor arguments";
		if (strcmp(given.format, "text") != 0 && strcmp(given.format, "json") != 0)
			return "--for cdi prints JSON, so it cannot be combined with another --format";
		if (given.allocation != NULL || given.skip_runtime_mounts)
			return "--allocation and --skip-runtime-mounts are for Windows, whose "
			       "devices CDI does not have";
		if (check && !selection_is_empty(&given.selection))
			return "--check looks at files, so no devices can be chosen";
		if (check)
			return NULL;
	}
	if (selection_is_empty(&given.selection))
		return "which devices? Give --all, --index, --id, --luid, --path or --vendor";
	if (given.run && is_cri())
		return "--run starts a container with flags, so it cannot be combined with --format cri";
	if (given.run && arguments->count == 0)
		return "--run needs an image, and whatever else the program of --for takes";
	if (!given.run && arguments->count > 0)
		return "there are arguments for the container, but no --run";
	if (given.tool != NULL && is_cri())
		return "--format cri prints no program's flags, so it cannot be combined with --for";
	return NULL;
}

/* *code is that of the program that --run ran, or the exit code for an error. */
static int discover_and_answer(const struct text_list *arguments, int *code, struct error *err)
{
	const struct discovery_options wanted = {
		.recorded_node = given.node,
		.root = given.root,
		.filter = {.include_integrated = true, .include_detachable = true},
	};
	struct discovery_snapshot *snapshot = NULL;
	const char *why = objection(arguments);
	if (why != NULL)
		return error_set(err, ERROR_ARGUMENT, "%s; see --help", why);

	*code = EXIT_BROKEN;
	if (given.check.count > 0) {
		struct text report CLEANUP_TEXT = {0};
		bool usable = false;
		int rc = cdi_check(&given.check, &usable, &report, err);
		if (rc == 0)
			rc = options_print(text_take(&report), err);
		if (rc == 0)
			*code = usable ? EXIT_SUCCESS : EXIT_DEFECT;
		return rc;
	}

	int rc = discovery_take(&wanted, &snapshot, err);
	if (rc < 0)
		return rc;
	*code = EXIT_NO_DEVICE;
	rc = answer_for(snapshot, arguments, code, err);
	if (rc == 0 && !given.run)
		*code = EXIT_SUCCESS;
	if (rc == ERROR_ARGUMENT || rc == ERROR_FORMAT || rc == ERROR_LIMIT)
		*code = OPTIONS_EXIT_USAGE;
	discovery_free(snapshot);
	return rc;
}

static int run(const struct text_list *arguments)
{
	struct error err = {0};
	int code = OPTIONS_EXIT_USAGE;
	log_set_program("gen-device-mounts");
	given.selection.resource =
		(enum selection_resource)choice_of(given.resource, resources, SELECTION_ANY);
	int rc = discover_and_answer(arguments, &code, &err);
	if (rc < 0)
		log_error("%s", err.text);
	selection_free(&given.selection);
	text_list_free(&given.check);
	return code;
}

static const char description[] =
	"Chooses devices of this machine, or of a recorded node, and prints the flags that give "
	"them to a container: devices, the files of their drivers (read-only) and variables, the "
	"same as the device plugins answer. A device is chosen when any of --all, --index, --id, "
	"--luid, --path and --vendor means it; a value that means none is an error. Only the flags "
	"go to stdout.\n\n"
	"With --run the arguments follow the flags: IMAGE CONTAINER-ID [COMMAND] for ctr, IMAGE "
	"[COMMAND] for the others. Put -- before them when they have options. ctr takes address "
	"and namespace from CONTAINERD_ADDRESS and CONTAINERD_NAMESPACE.\n\n"
	"With --for cdi the devices are those of a Spec of kind " CDI_KIND ": each under its id, "
	"and all of them together under the name all.";

static const char *const examples[] = {
	"gen-device-mounts --all",
	"Print the flags with which ctr gives a container every device.",
	"gen-device-mounts --index 0 --run -- registry.example/image test vulkaninfo",
	"Start a container named test with the first device.",
	"gen-device-mounts --path \"PCIROOT(0)#PCI(1B00)\" --format powershell",
	"Print flags that can be pasted into PowerShell.",
	"gen-device-mounts --node node.json --vendor nvidia --format cri",
	"Print the devices, mounts and variables of a container configuration for crictl, for another machine.",
	"gen-device-mounts --all --for cdi > /etc/cdi/" CDI_FILE,
	"Let container runtimes give devices by the Container Device Interface.",
	"gen-device-mounts --for cdi --check /etc/cdi --check /var/run/cdi",
	"Check the Specs of this machine, and list the devices that no container can get.",
	NULL,
};

static const char *const exit_codes[] = {
	"0",
	"done",
	"1",
	"no such device, or it cannot be given to a container that way; with --check: a file "
	"or device is unusable",
	"2",
	"wrong usage",
	"3",
	"the node cannot be read, or nothing can be written",
	"127",
	"with --run: the program cannot be started; every other code is its own",
	NULL,
};

int main(int argc, char **argv)
{
	const struct command_spec program = {
		.name = "gen-device-mounts",
		.summary =
			"Prints the flags that a container needs to use devices, or starts one with them",
		.arguments = "[ARGUMENT...]",
		.description = description,
		.options = options,
		.examples = examples,
		.exit_codes = exit_codes,
		.exit_output = EXIT_BROKEN,
		.run = run,
	};
	memory_ends_process(EXIT_BROKEN);
	return options_main(&program, argc, argv);
}
