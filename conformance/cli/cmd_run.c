/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "conformance/checks/suites.h"
#include "conformance/cli/commands.h"
#include "conformance/cli/run_selection.h"
#include "conformance/cli/run_vm.h"
#include "conformance/runner/environment.h"
#include "conformance/runner/plugin_profile.h"
#include "conformance/runner/runner.h"
#include "containers/offers.h"
#include "reports/view.h"
#include "rpc/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const char *ci;
	struct runner_settings settings;
	const char *shard, *from, *only, *profile;
	int64_t seed, repeat;
	struct run_vm vm;
	bool until_fail, dry_run;
	struct text_list exclude, expect, cdi_directories;
} run = {
	.ci = "none",
	.repeat = 1,
	.vm = {.memory = 3072},
	.settings =
		{
			.asked = {.kubelet_profile = CONTEXT_BOTH_KUBELETS,
				  .out_directory = "gpucert-report",
				  .timeout_percent = 100},
			.min_run = 1,
			.jobs = 1,
		},
};

static const char *const launchers[] = {"containerd", "process", NULL};
static const char *const nodes[] = {RUNNER_WINE_NODE, RUN_VM_NODE};
static const char *const profiles[] = {CONTEXT_BOTH_KUBELETS, "1.36", "1.37", NULL};

static const struct option_spec run_options[] = {
	{OPTION_ROW("plugin", OPTION_STRING, run.settings.asked.plugin_command), .letter = 'p',
	 .value = "CMD",
	 .help = "The device plugin under test, as a command line. {plugin-dir} and "
		 "{kubelet-socket} in it are replaced, and {registry-dir}, for a plugin in "
		 "plugins_registry; the environment has DEVICE_PLUGIN_DIR and KUBELET_SOCKET. "
		 "Default: the reference plugin.",
	 .env = "GPUCERT_PLUGIN"},
	{OPTION_ROW("plugin-profile", OPTION_STRING, run.profile), .value = "NAME|FILE",
	 .help = "How a known plugin is started: a profile (docs/testing-your-plugin.md), or the name "
		 "of an installed one, such as nvidia. --plugin or --attach replaces its command, "
		 "--resource its resource.",
	 .env = "GPUCERT_PLUGIN_PROFILE"},
	{OPTION_ROW("private-mounts", OPTION_FLAG, run.settings.asked.hidden_directory),
	 .help = "The plugin hard-codes /var/lib/kubelet/device-plugins, or plugins_registry: run it in "
		 "a mount namespace in which private directories are mounted there."},
	{OPTION_ROW("attach", OPTION_STRING, run.settings.asked.attach_directory), .value = "DIR",
	 .help = "The plugin runs already and watches DIR for kubelet.sock. Files of a live kubelet "
		 "in it are moved aside and put back."},
	{OPTION_ROW("fail-device", OPTION_STRING, run.settings.asked.fail_device), .value = "CMD",
	 .help = "A command line that makes the device in its environment variable DEVICE_ID, an id "
		 "of the plugin's, fail, as the checks of suite health need it: sh -c 'echo $DEVICE_ID "
		 ">/sys/bus/pci/drivers/DRIVER/unbind'. Needs --restore-device."},
	{OPTION_ROW("restore-device", OPTION_STRING, run.settings.asked.restore_device),
	 .value = "CMD", .help = "A command line that makes it work again."},
	{OPTION_ROW("optional-call", OPTION_LIST, run.settings.asked.optional_calls),
	 .value = "CALL",
	 .help = "A call that kubelets make only of plugins which ask for it, and that this one is "
		 "known to offer: GetPreferredAllocation or PreStartContainer. "
		 "registration.optional-calls fails when the plugin does not offer it."},
	{OPTION_ROW("resource", OPTION_STRING, run.settings.asked.resource), .letter = 'r',
	 .value = "NAME",
	 .help = "Test this resource only. Default: each that the plugin registers.",
	 .env = "GPUCERT_RESOURCE"},
	{OPTION_ROW("pod-resources", OPTION_STRING, run.settings.pod_resources), .value = "SOCKET",
	 .help = "The node is live: ask its kubelet at this socket "
		 "(/var/lib/kubelet/pod-resources/kubelet.sock) which devices pods hold, and leave "
		 "these alone (docs/fleet.md). Default: nobody is asked.",
	 .env = "GPUCERT_POD_RESOURCES"},
	{OPTION_ROW("drain-check", OPTION_FLAG, run.settings.drain_check),
	 .help = "With --pod-resources: end with 3, and name the pods, when some hold devices of "
		 "--resource, or without it of any resource."},
	{OPTION_ROW("node", OPTION_STRING, run.settings.asked.node_file), .letter = 'n',
	 .value = "FILE",
	 .help = "Replay a recorded node (gpu-discovery --record); checks that need the devices "
		 "themselves are unsupported then. \"wine\": a Windows node under Wine on this "
		 "machine, with Windows programs in containers. \"vm\": a Linux node with virtual "
		 "GPUs in a virtual machine (docs/vm-node.md)."},
	{OPTION_ROW("vm-memory", OPTION_INT, run.vm.memory), .value = "MIB",
	 .help = "Memory of the machine of --node vm.", .min = 1024, .max = 1 << 20},
	{OPTION_ROW("vm-cpus", OPTION_INT, run.vm.cpus), .value = "N",
	 .help = "Its processors. 0: as many as this machine has.", .min = 0, .max = 255},
	{OPTION_ROW("windows-programs", OPTION_STRING, run.settings.workplace.windows_programs),
	 .value = "DIR",
	 .help = "Folder of the Windows programs for --node wine. Default: libexec/gpucert/windows of "
		 "the installation, or the build tree \"windows\" next to this one.",
	 .env = "GPUCERT_WINDOWS_PROGRAMS"},
	{OPTION_ROW("windows-dlls", OPTION_STRING, run.settings.workplace.windows_dlls),
	 .value = "DIR",
	 .help = "DLLs for the containers of --node wine: those with a name of one of Wine's own "
		 "replace it, others are added to System32. make-dlls.sh makes such folders "
		 "(docs/wine-node.md).",
	 .env = "GPUCERT_WINDOWS_DLLS"},
	{OPTION_ROW("cri", OPTION_STRING, run.settings.workplace.cri_address), .value = "ADDR",
	 .help = "Use this container runtime (unix:///run/containerd/containerd.sock, on Windows "
		 "npipe:////./pipe/containerd-containerd) instead of a private containerd.",
	 .env = "GPUCERT_CRI"},
	{OPTION_ROW("containerd", OPTION_STRING, run.settings.workplace.containerd),
	 .value = "PATH",
	 .help = "The program of the private containerd; ctr and the shims next to it are used with "
		 "it. Default: containerd in PATH.",
	 .env = "GPUCERT_CONTAINERD"},
	{OPTION_ROW("cdi-dir", OPTION_LIST, run.cdi_directories), .value = "DIR",
	 .help = "Folder of the node's CDI Specs, also for the private containerd. A "
		 "device in a later folder replaces one in an earlier. Default: the container "
		 "runtime's folders, otherwise /etc/cdi and /var/run/cdi.",
	 .env = "GPUCERT_CDI_DIR"},
	{OPTION_ROW("image", OPTION_STRING, run.settings.workplace.image), .value = "REF",
	 .help = "With --cri: run the probes in this image, which the runtime must have, instead of a "
		 "composed one. Required on Windows. Its probes are in /libexec/gpucert, on Windows "
		 "in C:\\gpucert\\libexec\\gpucert.",
	 .env = "GPUCERT_IMAGE"},
	{OPTION_ROW("immutable", OPTION_FLAG, run.settings.asked.immutable),
	 .help = "The image has user-land drivers of its own, so that containers get only device "
		 "nodes of the node: isolation.host-paths fails for every file of the node in a "
		 "container, and for a device that no API shows."},
	{OPTION_ROW("runtime-handler", OPTION_LIST, run.settings.asked.runtime_handlers),
	 .value = "NAME",
	 .help = "The runtime's handler for the pod sandboxes. A private containerd has runc, and "
		 "crun and kata where they are installed. With several, the first runs all checks, "
		 "and isolation is judged with each. Default: the runtime's own.",
	 .env = "GPUCERT_RUNTIME_HANDLER"},
	{OPTION_ROW("launcher", OPTION_CHOICE, run.settings.workplace.launcher),
	 .value = "LAUNCHER",
	 .help = "Run probes in containers, or as processes of the host, which proves nothing "
		 "about containers. Default: containers, where containerd and runc are installed.",
	 .choices = launchers},
	{OPTION_ROW("profile", OPTION_CHOICE, run.settings.asked.kubelet_profile),
	 .value = "VERSION",
	 .help = "Behave as this kubelet; both: as 1.36, and where a rule differs as 1.37, too.",
	 .choices = profiles},
	{OPTION_ROW("out", OPTION_STRING, run.settings.asked.out_directory), .letter = 'o',
	 .value = "DIR",
	 .help = "Folder for journal, report and evidence; files of an earlier run in it are "
		 "replaced, others never. Used by one run at a time.",
	 .env = "GPUCERT_OUT"},
	{OPTION_ROW("expect", OPTION_LIST, run.expect), .letter = 'e', .value = "FILE|NAME",
	 .help = "Known failures: an expectation file (docs/expectations.md), or the name of an "
		 "installed one, such as windows-gpus. A known failure does not fail the run; one "
		 "that now passes does.",
	 .env = "GPUCERT_EXPECT"},
	{OPTION_ROW("exclude", OPTION_LIST, run.exclude), .letter = 'x', .value = "PATTERN",
	 .help = "Leave out checks that match."},
	{OPTION_ROW("from", OPTION_STRING, run.from), .value = "REPORT",
	 .help = "Run the checks that did not pass in this report (a folder, or its report.json)."},
	{OPTION_ROW("only", OPTION_STRING, run.only), .value = "OUTCOMES",
	 .help = "With --from: those with one of these outcomes instead, such as fail,crash."},
	{OPTION_ROW("shard", OPTION_STRING, run.shard), .value = "I/N",
	 .help = "Of the selected checks run only every N-th, from the I-th: N machines with I from 1 "
		 "to N run all of them."},
	{OPTION_ROW("shuffle", OPTION_INT, run.seed), .value = "SEED",
	 .help = "Run the checks in a random order, which is the same for the same seed; a check "
		 "still follows those that it depends on. 0: in the order of 'gpucert list'.",
	 .min = 0, .max = INT64_MAX},
	{OPTION_ROW("repeat", OPTION_INT, run.repeat), .value = "N",
	 .help = "Run N times, into run-1, run-2, ... below the output folder; 'gpucert compare' shows "
		 "what differs.",
	 .min = 1, .max = 100000},
	{OPTION_ROW("until-fail", OPTION_FLAG, run.until_fail),
	 .help = "With --repeat: stop after the first run whose exit code is not 0."},
	{OPTION_ROW("launch-anyway", OPTION_FLAG, run.settings.asked.launch_anyway),
	 .help = "Launch containers even when 'gpucert image check' predicts failure; the report "
		 "shows whether the prediction held."},
	{OPTION_ROW("thorough", OPTION_FLAG, run.settings.asked.thorough),
	 .help = "Wait as long as each requirement says (minutes) instead of a few seconds."},
	{OPTION_ROW("min-run", OPTION_INT, run.settings.min_run), .value = "N",
	 .help = "Exit with 5 when fewer checks than this ran.", .min = 1, .max = 100000},
	{OPTION_ROW("require-conformant", OPTION_FLAG, run.settings.conformance_required),
	 .help = "Exit with 0 only when the node is conformant: every MUST requirement that "
		 "applies was tested and holds."},
	{OPTION_ROW("fail-fast", OPTION_FLAG, run.settings.fail_fast),
	 .help = "Stop at the first failure that no expectation (--expect) covers."},
	{OPTION_ROW("keep", OPTION_FLAG, run.settings.asked.keep),
	 .help = "Stop each check at its first failure that no expectation covers, and show how to "
		 "look at its sockets, plugin and containers. Enter continues."},
	{OPTION_ROW("timeout-percent", OPTION_INT, run.settings.asked.timeout_percent),
	 .value = "N",
	 .help = "Scale how long the harness waits; 300 on a slow machine. Verdicts use the "
		 "requirements' own limits.",
	 .min = 10, .max = 10000},
	{OPTION_ROW("jobs", OPTION_INT, run.settings.jobs), .letter = 'j', .value = "N",
	 .help = "Run up to N checks at a time. Only one of them launches probes, and it runs alone "
		 "with another vendor's plugin or under Wine.",
	 .min = 1, .max = 64},
	{OPTION_ROW("time-limit", OPTION_INT, run.settings.time_limit_s), .value = "SECONDS",
	 .help = "End the run after this time: the report has what was tested until then, and the "
		 "exit code is 4. 0: no limit.",
	 .min = 0, .max = 2592000},
	{OPTION_ROW("silence-limit", OPTION_INT, run.settings.silence_limit_s), .value = "SECONDS",
	 .help = "End a check that records nothing for this time, with the outcome timeout. 0: only "
		 "the check's own limit.",
	 .min = 0, .max = 2592000},
	{OPTION_ROW("include-host-identity", OPTION_FLAG, run.settings.include_identity),
	 .help = "Keep identifying data: host and user names, home folders, serial numbers. By "
		 "default they are redacted in all stored files (docs/redaction.md); secrets always are."},
	{OPTION_ROW("reproducible", OPTION_FLAG, run.settings.reproducible),
	 .help = "Zero what differs from run to run (times, ids) in the report."},
	{OPTION_ROW("dry-run", OPTION_FLAG, run.dry_run),
	 .help = "Print which checks would run and which are unsupported, and end."},
	{OPTION_ROW("ci", OPTION_CHOICE, run.ci), .value = "SYSTEM",
	 .help = "The run is a job of this CI system: sections around the output of suites, "
		 "annotations for unexpected outcomes, and the report on the job's page, where the "
		 "system has them. \"auto\": detect it by its variables (docs/ci.md).",
	 .choices = ci_names, .env = "GPUCERT_CI"},
	{OPTION_ROW("quiet", OPTION_FLAG, run.settings.quiet), .letter = 'q',
	 .help = "Print nothing but errors."},
	{OPTION_ROW("verbose", OPTION_FLAG, run.settings.verbose), .letter = 'v',
	 .help = "Print a line for each check."},
	{0},
};

#define BLANKS " \t\r\n" /* between the words of a plugin's command line */

/* A private containerd's configuration holds them without escapes. */
static int check_cdi_directories(struct error *err)
{
	text_each (directory, &run.cdi_directories) {
		if (!path_is_absolute(directory) || strpbrk(directory, "\"\\\n\r\t") != NULL)
			return error_set(err, ERROR_ARGUMENT,
					 "--cdi-dir: '%s' is not an absolute path, or holds "
					 "quotes, backslashes or line ends",
					 directory);
	}
	return 0;
}

static int check_optional_calls(struct error *err)
{
	text_each (call, &run.settings.asked.optional_calls) {
		if (!text_equal(call, "GetPreferredAllocation") &&
		    !text_equal(call, "PreStartContainer"))
			return error_set(err, ERROR_ARGUMENT,
					 "--optional-call: got '%s', expected "
					 "GetPreferredAllocation or PreStartContainer",
					 call);
	}
	return 0;
}

static int check_node(const char *node, struct error *err)
{
	for (size_t i = 0; node != NULL && !file_exists(node) && i < ARRAY_SIZE(nodes); i++) {
		size_t distance = text_distance(node, nodes[i]);
		if (distance != 0 && distance <= strlen(nodes[i]) / 2)
			return error_set(err, ERROR_ARGUMENT,
					 "--node: no file '%s'; did you mean '%s'?", node,
					 nodes[i]);
	}
	return 0;
}

static int check_settings(struct error *err)
{
	const struct runner_settings *settings = &run.settings;
	const struct context *asked = &settings->asked;
	const char *attach = asked->attach_directory;
	bool cri = settings->workplace.cri_address != NULL;
	bool processes = text_equal(settings->workplace.launcher, "process");
	const char *node = asked->node_file;
	bool wine = text_equal(node, RUNNER_WINE_NODE);
	bool vm = text_equal(node, RUN_VM_NODE);
	const struct {
		bool broken;
		const char *rule;
	} rules[] = {
		{asked->out_directory[0] == '\0', "--out: name a folder"},
		{text_equal(asked->plugin_command, ""), "--plugin: name a command"},
		{asked->plugin_command != NULL && attach != NULL,
		 "--plugin and --attach exclude each other"},
		{(asked->fail_device == NULL) != (asked->restore_device == NULL),
		 "--fail-device and --restore-device need each other"},
		{cri && processes, "--cri and --launcher process exclude each other"},
		{wine && !OFFERS_WINE_NODE,
		 "--node wine needs Linux and a gpucert with the module wine"},
		{vm && !OFFERS_ON_LINUX, "--node vm needs Linux"},
		{vm && cri, "--node vm and --cri exclude each other"},
		{vm && attach != NULL, "--node vm and --attach exclude each other"},
		{wine && processes, "--node wine and --launcher process exclude each other"},
		{cri && settings->workplace.containerd != NULL,
		 "--cri and --containerd exclude each other"},
		{processes && settings->workplace.containerd != NULL,
		 "--containerd and --launcher process exclude each other"},
		{!cri && settings->workplace.image != NULL, "--image needs --cri"},
		{processes && asked->runtime_handlers.count != 0,
		 "--runtime-handler and --launcher process exclude each other"},
		{wine && settings->workplace.image != NULL,
		 "--node wine and --image exclude each other"},
		{settings->pod_resources != NULL && node != NULL,
		 "--pod-resources and --node exclude each other"},
		{settings->drain_check && settings->pod_resources == NULL,
		 "--drain-check needs --pod-resources"},
		{run.only != NULL && run.from == NULL, "--only needs --from"},
		{asked->keep && settings->jobs > 1, "--keep and --jobs exclude each other"},
		{run.until_fail && run.repeat == 1, "--until-fail needs --repeat"},
	};
	struct address address;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i].broken)
			return error_set(err, ERROR_ARGUMENT, "%s", rules[i].rule);
	}
	if (attach != NULL && !path_is_absolute(attach))
		return error_set(err, ERROR_ARGUMENT, "--attach: '%s' is not an absolute path",
				 attach);
	if (cri &&
	    address_parse(settings->workplace.cri_address, ADDRESS_RULES_HERE, &address, err) < 0)
		return error_wrap(err, err->code, "--cri");
	int rc = check_node(node, err);
	if (rc == 0)
		rc = check_optional_calls(err);
	return rc == 0 ? check_cdi_directories(err) : rc;
}

/* The command line and the environment take precedence. */
static int apply_profile(struct plugin_profile *profile, struct error *err)
{
	struct context *asked = &run.settings.asked;
	int rc = plugin_profile_read(run.profile, profile, err);
	if (rc < 0)
		return error_wrap(err, ERROR_ARGUMENT, "--plugin-profile");
	for (size_t i = 0; i < profile->names.count; i++) {
		const char *name = profile->names.items[i];
		int status =
			getenv(name) == NULL ? uv_os_setenv(name, profile->values.items[i]) : 0;
		if (status < 0)
			return error_uv(err, status, "--plugin-profile: %s", name);
	}
	text_each (name, &profile->expect)
		text_list_add(&run.expect, name);
	text_each (call, &profile->optional_calls)
		text_list_add(&asked->optional_calls, call);
	if (asked->resource == NULL)
		asked->resource = profile->resource;
	if (asked->fail_device == NULL && asked->restore_device == NULL) {
		asked->fail_device = profile->fail_device;
		asked->restore_device = profile->restore_device;
	}
	if (asked->plugin_command == NULL && asked->attach_directory == NULL) {
		asked->plugin_command = profile->command;
		asked->attach_directory = profile->attach;
	}
	asked->hidden_directory |= profile->private_mounts && asked->attach_directory == NULL;
	return 0;
}

/* The length of an argument's part that goes into the report. A command line may hold secrets: only
 * its program is kept, in every spelling of the option. */
static size_t recorded_length(const char *previous, const char *word)
{
	static const char *const options[] = {"--plugin", "--fail-device", "--restore-device"};
	const struct context *asked = &run.settings.asked;
	const char *const given[] = {asked->plugin_command, asked->fail_device,
				     asked->restore_device};
	const size_t size = strlen(word);
	bool holds = text_equal(previous, "-p");
	size_t start = 0;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const size_t option = strlen(options[i]);
		const size_t end = given[i] != NULL ? strlen(given[i]) : 0;
		holds |= text_equal(previous, options[i]);
		if (text_starts_with(word, options[i]) && word[option] == '=')
			start = option + 1;
		else if (end != 0 && start == 0 && text_ends_with(word, given[i]))
			start = size - end;
		holds |= end != 0 && text_ends_with(word, given[i]);
	}
	if (word[0] == '-' && word[1] == 'p')
		start = strlen("-p");
	if (!holds && start == 0)
		return size;
	start += strspn(word + start, BLANKS);
	return start + strcspn(word + start, BLANKS);
}

static void print_plan(const struct plan *plan, const struct context *context,
		       const struct workplace *workplace)
{
	(void)context;
	(void)workplace;
	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_item *item = &plan->items[i];
		bool runs = item->outcome == REPORT_PASS;
		struct text reason CLEANUP_TEXT = {0};
		if (!runs)
			view_add_escaped(&reason, item->reason);
		(void)printf("%-15s %s%s%s\n", runs ? "run" : report_outcome_names[item->outcome],
			     item->check->id, runs ? "" : ": ", text_string(&reason));
	}
}

/* One run after the other; the exit code is the first that is not 0. */
static int run_repeatedly(int *exit_code, struct error *err)
{
	const char *parent = run.settings.asked.out_directory;
	int64_t unlike = 0, first_unlike = 0, count = 0;
	int rc = 0;
	*exit_code = REPORT_EXIT_EXPECTED;
	while (rc == 0 && count < run.repeat) {
		char *out CLEANUP_FREE = text_format("%s/run-%lld", parent, (long long)++count);
		int code = REPORT_EXIT_BROKEN;
		if (!run.settings.quiet)
			(void)fprintf(stderr, "run %lld of %lld\n", (long long)count,
				      (long long)run.repeat);
		run.settings.asked.out_directory = out;
		rc = runner_run(&run.settings, suites, &code, err);
		run.settings.asked.out_directory = parent;
		if (code == REPORT_EXIT_EXPECTED)
			continue;
		if (unlike++ == 0) {
			*exit_code = code;
			first_unlike = count;
		}
		if (run.until_fail || code == REPORT_EXIT_INCOMPLETE)
			break;
	}
	if (rc == 0 && unlike != 0 && !run.settings.quiet)
		(void)fprintf(
			stderr,
			"%lld of %lld runs had an exit code other than 0; the first is %s/run-%lld\n",
			(long long)unlike, (long long)count, parent, (long long)first_unlike);
	return rc;
}

static int run_run(const struct text_list *arguments)
{
	struct text_list recorded CLEANUP_TEXT_LIST = {0};
	struct text_list include CLEANUP_TEXT_LIST = {0};
	struct plugin_profile profile CLEANUP_PLUGIN_PROFILE = {0};
	struct error err = {0};
	const char *previous = "";
	int exit_code = REPORT_EXIT_BROKEN;
	for (const char *const *word = command_arguments; *word != NULL; word++) {
		size_t size = recorded_length(previous, *word);
		text_list_take(&recorded, memory_copy_start(*word, size));
		previous = *word;
	}
	int rc = run.profile != NULL ? apply_profile(&profile, &err) : 0;
	if (rc == 0)
		rc = check_settings(&err);

	/* In the virtual machine the node is this machine. */
	bool vm = text_equal(run.settings.asked.node_file, RUN_VM_NODE);
	if (vm)
		run.settings.asked.node_file = NULL;
	text_each (pattern, arguments)
		text_list_add(&include, pattern);
	if (rc == 0 && run.shard != NULL)
		rc = run_selection_shard(run.shard, &run.settings.filter, &err);
	if (rc == 0 && run.from != NULL)
		rc = run_selection_from(run.from, run.only, &include, &err);
	run.settings.argv = (const char *const *)recorded.items;
	run.settings.filter.include = include;
	run.settings.filter.exclude = run.exclude;
	run.settings.filter.seed = (uint64_t)run.seed;
	run.settings.expect = &run.expect;
	run.settings.on_plan = run.dry_run ? print_plan : NULL;
	run.settings.ci = ci_find(run.ci);
	run.settings.workplace.cdi_directories = &run.cdi_directories;
	run.settings.workplace.handlers = &run.settings.asked.runtime_handlers;
	if (rc == 0 && OFFERS_ON_LINUX && vm && getenv(ENVIRONMENT_VM) == NULL)
		rc = run_vm_start(&run.vm, run.settings.asked.out_directory, command_arguments,
				  &err);
	else if (rc == 0 && run.repeat > 1)
		rc = run_repeatedly(&exit_code, &err);
	else if (rc == 0)
		rc = runner_run(&run.settings, suites, &exit_code, &err);
	if (rc < 0) {
		command_print("run", err.text);
		exit_code = rc == ERROR_ARGUMENT ? REPORT_EXIT_USAGE : REPORT_EXIT_BROKEN;
	}
	text_list_free(&run.exclude);
	text_list_free(&run.expect);
	text_list_free(&run.cdi_directories);
	text_list_free(&run.settings.asked.optional_calls);
	text_list_free(&run.settings.asked.runtime_handlers);
	return exit_code;
}

const char *const run_exit_codes[] = {
	"0",  "nothing unexpected; conformance may still not be proven (--require-conformant)",
	"1",  "something unexpected: a check failed; or not conformant and required to be",
	"2",  "usage",
	"3",  "broken: a given file, the environment or the harness; nothing is proven",
	"4",  "incomplete: the run was interrupted",
	"5",  "too few checks ran",
	NULL,
};

const struct command_spec command_run = {
	.name = "run",
	.summary = "Run the checks and write a report",
	.arguments = "[PATTERN...]",
	.description =
		"Starts a fake kubelet and the device plugin, applies the plugin's answers "
		"as a kubelet would, launches containers that probe GPU APIs and "
		"isolation, and writes journal.ndjson, report.json, junit.xml, report.md, report.html "
		"and evidence to the output folder.\n\nPatterns select checks as for 'gpucert list'.",
	.options = run_options,
	.examples = TEXTS(
		"gpucert run", "Certify this machine with the reference plugin.",
		"gpucert run isolation api.vulkan", "Run one suite and one more check.",
		"gpucert run -p './my-plugin --dir {plugin-dir}' -r example.com/gpu -o report",
		"Certify a device plugin of your own.",
		"gpucert run --private-mounts --plugin ./nvidia-device-plugin",
		"Certify a plugin that hard-codes the kubelet's directory.",
		"gpucert run --node node.json registration allocate",
		"Replay a node that 'gpu-discovery --record node.json' recorded.",
		"gpucert run --from gpucert-report --only fail,crash -o again",
		"Run again what failed.",
		"gpucert run --from gpucert-report --only crash,notrun -o rest",
		"Run what a run that was killed left, into a report of its own.",
		"gpucert run -j 2 --repeat 20 --until-fail registration restart",
		"Look for a fault that shows now and then.", "gpucert run --ci auto",
		"Write for the CI system that runs the job.", "gpucert run --node wine",
		"Certify the Windows programs under Wine.", "gpucert run --node vm",
		"Certify a node with virtual GPUs behind a real kernel driver."),
	.exit_codes = run_exit_codes,
	.run = run_run,
};
