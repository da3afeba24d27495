/* SPDX-License-Identifier: MIT */
/* What a plugin exposes: to users of the node, to containers, and to callers with invented ids. */
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>

enum {
	KUBELET_RESTARTS = 2,
	CONTENT_MAX = 4096,
	CHECKPOINT_MAX = 64 << 20,
	OTHERS_WRITE = 0002,
	GROUP_WRITE_OTHERS_ALL = 0027,
	OUTPUT_MS = 300, /* in which a line of the plugin's output arrives */
	NAME_LEAST = 4,	 /* characters: a shorter name of a node is a common word */
};

static void judge_modes(struct rig *rig, const struct kubelet_registration *r)
{
	int mode = r != NULL && r->socket != NULL ? node_file_mode(r->socket) : -1;
	int directory = node_file_mode(kubelet_plugin_dir(rig->kubelet));
	if (mode < 0 || directory < 0) {
		check_unsupported(rig->run, "the mode of the plugin's socket is not known");
		return;
	}
	(void)check_expect(rig->run, (mode & OTHERS_WRITE) == 0, "mode of the plugin's socket",
			   "not writable for every user", "%04o", (unsigned)mode);
	(void)check_expect(rig->run, (directory & GROUP_WRITE_OTHERS_ALL) == 0,
			   "mode of the plugin directory", "0750, as the kubelet made it", "%04o",
			   (unsigned)directory);
}

/* Also of the socket that follows a kubelet's restart. */
static void socket_mode(struct rig *rig, const struct rig_item *item)
{
	judge_modes(rig, rig_last_registration(rig, item->resource));
	rig->supervised = true;
	if (rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) && rig_returns(rig) &&
	    rig_expect_listed(rig)) /* for the next resource */
		judge_modes(rig, rig_last_registration(rig, item->resource));
}

/* A device node of an answer. */
struct known_node {
	const char *path;
	unsigned major,
		minor; /* the kernel's own numbers (Documentation/admin-guide/devices.txt) */
};

enum { ANY_MINOR = 0x7fffffff };

/* Memory, kernel log, consoles, input, raw disks, and what controls them. */
static const struct known_node dangerous[] = {
	{"/dev/mem", 1, 1},
	{"/dev/kmem", 1, 2},
	{"/dev/port", 1, 4},
	{"/dev/kmsg", 1, 11},
	{"/dev/console", 5, 1},
	{"/dev/tty0", 4, ANY_MINOR},
	{"/dev/vcs", 7, ANY_MINOR},
	{"/dev/watchdog", 10, 130},
	{"/dev/nvram", 10, 144},
	{"/dev/uinput", 10, 223},
	{"/dev/tpm0", 10, 224},
	{"/dev/btrfs-control", 10, 234},
	{"/dev/autofs", 10, 235},
	{"/dev/mapper/control", 10, 236},
	{"/dev/loop-control", 10, 237},
	{"/dev/uhid", 10, 239},
	{"/dev/sg", 21, ANY_MINOR},
	{"/dev/cpu/0/msr", 202, ANY_MINOR},
	{NULL, 0, 0},
};

/* Devices with resources of their own, which no GPU needs. */
static const struct known_node unrelated[] = {
	{"/dev/kvm", 10, 232},
	{"/dev/fuse", 10, 229},
	{"/dev/net/tun", 10, 200},
	{"/dev/vhost-net", 10, 238},
	{"/dev/vhost-vsock", 10, 241},
	{"/dev/rtc0", 0, 0}, /* its number changes at each boot, and may be a GPU's elsewhere */
	{"/dev/hpet", 10, 228},
	{"/dev/input/event", 13, ANY_MINOR},
	{"/dev/ttyS", 4, ANY_MINOR},
	{"/dev/bus/usb", 189, ANY_MINOR},
	{NULL, 0, 0},
};

static const struct known_node *find_node(const struct known_node *nodes, const char *path,
					  const struct node_file *file)
{
	for (; nodes->path != NULL; nodes++) {
		bool is_it = file->kind == NODE_FILE_CHARACTER && nodes->major != 0 &&
			     file->major == nodes->major &&
			     (nodes->minor == ANY_MINOR || file->minor == nodes->minor);
		if (is_it || strcmp(path, nodes->path) == 0)
			return nodes;
	}
	return NULL;
}

static void judge_dangerous(struct rig *rig, const struct rig_item *item)
{
	struct tally *nodes = item->user;
	(void)rig;
	answer_each (device, item->answer, devices) {
		const char *path = device->host_path;
		struct node_file file = {0};
		(void)node_file_identify(path, &file);
		const struct known_node *found = find_node(dangerous, path, &file);
		if (found != NULL)
			tally_add(nodes, false, "%s, which is %s", path, found->path);
		else
			tally_add(nodes, file.kind != NODE_FILE_BLOCK, "%s, a disk", path);
	}
}

/* A GPU's node, by the names that drivers give it. */
static bool is_gpu(const char *path)
{
	static const char *const starts[] = {"/dev/nvidia", "/dev/dri/", "/dev/kfd",
					     "/dev/dxg",    "/dev/mali", "/dev/accel/"};
	array_each (start, starts) {
		if (text_starts_with(path, *start))
			return true;
	}
	return false;
}

static void judge_unrelated(struct rig *rig, const struct rig_item *item)
{
	struct tally *nodes = item->user;
	bool gpu = false;
	(void)rig;
	answer_each (device, item->answer, devices)
		gpu = gpu || is_gpu(device->host_path);
	answer_each (device, item->answer, devices) {
		const char *path = device->host_path;
		struct node_file file = {0};
		(void)node_file_identify(path, &file);
		if (gpu)
			tally_add(nodes, find_node(unrelated, path, &file) == NULL,
				  "%s beside a GPU", path);
	}
}

static const struct allocate_rule
	device_nodes = {"devices[].host_path", "no memory, kernel log, console or disk of the node",
			"no answer hands out a device node", judge_dangerous},
	unrelated_nodes = {"devices[].host_path", "nodes of GPUs only",
			   "no answer hands out the device node of a GPU", judge_unrelated};

struct values {
	struct tally tally;
	const char *canary; /* in the plugin's environment */
	char host[256];
};

static bool has_any(const char *text, const char *const *parts)
{
	for (; *parts != NULL; parts++) {
		for (const char *p = text; *p != '\0'; p++) {
			size_t i = 0;
			while ((*parts)[i] != '\0' &&
			       toupper((unsigned char)p[i]) == toupper((unsigned char)(*parts)[i]))
				i++;
			if ((*parts)[i] == '\0')
				return true;
		}
	}
	return false;
}

/* The secret that a value exposes; NULL: none. */
static const char *given_away(const struct values *values, const char *name, const char *value)
{
	static const char *const secrets[] = {"-----BEGIN ", "eyJhbGciOi", "Bearer ", NULL};
	static const char *const names[] = {"PASSWORD",	  "PASSWD",	"SECRET",
					    "API_KEY",	  "APIKEY",	"PRIVATE_KEY",
					    "ACCESS_KEY", "CREDENTIAL", NULL};
	if (strstr(value, values->canary) != NULL)
		return "the plugin's own environment";
	if (has_any(value, secrets) ||
	    (has_any(name, names) && value[0] != '\0' && value[0] != '/'))
		return "a secret";
	return strlen(values->host) >= NAME_LEAST && strcmp(values->host, "localhost") != 0 &&
			       text_has_word(value, values->host)
		       ? "the node's name"
		       : NULL;
}

static void judge_values(struct rig *rig, const struct rig_item *item)
{
	const V1beta1__ContainerAllocateResponse *answer = item->answer;
	struct values *values = item->user;
	(void)rig;
	answer_each (env, answer, envs) {
		const char *what = given_away(values, env->key, env->value);
		tally_add(&values->tally, what == NULL, "%s has %s", env->key, what);
	}
	answer_each (annotation, answer, annotations) {
		const char *what = given_away(values, annotation->key, annotation->value);
		tally_add(&values->tally, what == NULL, "annotation %s has %s", annotation->key,
			  what);
	}
}

static void judge_resource(struct rig *rig, const struct rig_item *item)
{
	allocate_for_each_and_all(rig, item, judge_values, item->user);
}

/* A value for a variable of the plugin's environment that it has no use for. */
static const char *canary_of(struct check_run *run)
{
	return check_format(run, "gpucert-canary-%llu", (unsigned long long)clock_monotonic_ns());
}

static void variables(struct check_run *run)
{
	struct values values = {
		.tally = TALLY_OF(run, "variables and annotations", "about devices only"),
		.canary = canary_of(run),
	};
	const char *const env[] = {check_format(run, "CONFORMANCE_CANARY=%s", values.canary), NULL};
	size_t size = sizeof(values.host);
	if (uv_os_gethostname(values.host, &size) != 0)
		values.host[0] = '\0';
	struct rig *rig = rig_ready_with(run, env);
	if (rig == NULL || !rig_for_each(rig, judge_resource, &values))
		return;
	tally_end(&values.tally);
	if (values.tally.count == 0)
		check_not_applicable(run, "no answer has a variable or an annotation");
}

/* The content of the file that an id leads to. */
static const char victim_content[] = "not the plugin's\n";

static void expect_no_content(struct rig *rig, const struct rpc_answer *reply)
{
	if (strstr(reply->message, "not the plugin's") != NULL)
		(void)check_expect(rig->run, false, "grpc-message",
				   "nothing of the file that the id leads to", "%s",
				   reply->message);
}

/* Calls the plugin in every way with an id that it does not have. False: recorded. */
static bool call_with(struct rig *rig, const char *resource, const char *id)
{
	struct rpc_answer allocated CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer started CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	int rc = rig_allocate(rig, resource, &id, 1, &allocated, &err);
	if (rc == 0)
		rc = rig_pre_start(rig, resource, &id, 1, &started, &err);
	expect_no_content(rig, &allocated);
	expect_no_content(rig, &started);
	return rc == 0 ||
	       check_expect_ok(rig->run, rc, "a call with an unknown id is answered", &err);
}

/* From its start to its end, with a call that it refuses and a restart of the kubelet: some print it with an error. */
static void log_environment(struct check_run *run)
{
	const char *canary = canary_of(run);
	const char *const env[] = {check_format(run, "CONFORMANCE_CANARY=%s", canary), NULL};
	struct rig *rig = rig_ready_with(run, env);
	if (rig == NULL)
		return;
	rig->supervised = true;
	rig_allocate_one_each(rig);
	rig_each (resource, rig) {
		if (!call_with(rig, resource, RIG_UNKNOWN_ID))
			return;
	}
	if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE))
		return;
	(void)rig_returns(rig);
	if (rig_stop_plugin(rig, SIGTERM))
		(void)check_expect_is(
			run, strstr(text_string(&rig->output), canary) == NULL,
			"the plugin's output", "without its environment",
			"the value of CONFORMANCE_CANARY, a variable of no use to it");
}

#define VICTIM "victim"
#define MADE   "made-by-an-id"

/* Finds a file that an id made next to the victim, also with a suffix added by the plugin. False: none. */
static bool find_made(const char *victim, char name[RIG_LINE_MAX])
{
	char *folder CLEANUP_FREE = path_directory(victim);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	(void)file_list(folder, &names, NULL);
	text_each (entry, &names) {
		if (strstr(entry, MADE) == NULL &&
		    (strstr(entry, VICTIM) == NULL || strcmp(entry, VICTIM) == 0))
			continue;
		(void)snprintf(name, RIG_LINE_MAX, "%s", entry);
		return true;
	}
	return false;
}

/* An id that makes a file if the plugin uses it as a file name. */
#define MADE_BESIDE "../" MADE

static void paths_in_ids(struct rig *rig, const struct rig_item *item)
{
	const char *relative = check_format(rig->run, "/proc/%d/cwd/" MADE_BESIDE,
					    rig->plugin != NULL ? process_id(rig->plugin) : 0);
	const bool exists_before = file_exists(relative);
	const char *victim = check_path(rig->run, VICTIM);
	const char *made = check_path(rig->run, MADE);
	struct error err = {0};
	if (!check_works(
		    rig->run,
		    file_write_atomic(victim, victim_content, strlen(victim_content), 0600, &err),
		    "a file", &err))
		return;
	struct file_status before = {0};
	struct file_status after = {0};
	(void)file_status(victim, false, &before, NULL);
	const char *const starts[] = {"", "../../../../../../../../..",
				      "a/../../../../../../../../.."};
	array_each (start, starts) {
		if (!call_with(rig, item->resource,
			       check_format(rig->run, "%s%s", *start, victim)) ||
		    !call_with(rig, item->resource, check_format(rig->run, "%s%s", *start, made)))
			return;
	}
	/* A shell makes the file, whether it gets the id plain or in quotes. */
	static const char *const heads[] = {"a;", "a';", "a\";", "$("};
	static const char *const tails[] = {";#", ";#", ";#", ")"};
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		if (!call_with(rig, item->resource,
			       check_format(rig->run, "%s:>%s%s", heads[i], made, tails[i])))
			return;
	}
	if (!call_with(rig, item->resource, MADE_BESIDE) ||
	    !call_with(rig, item->resource, "a/../../" MADE))
		return;
	bool same = file_status(victim, false, &after, NULL) == 0 && after.inode == before.inode &&
		    after.size == before.size && after.modified_ns == before.modified_ns;
	(void)check_expect_is(rig->run, same, "the file that an id leads to", "untouched",
			      "changed or removed");
	char name[RIG_LINE_MAX] = "";
	bool found = find_made(victim, name);
	if (!exists_before && file_exists(relative)) {
		(void)file_remove_tree(relative, NULL);
		(void)snprintf(name, sizeof(name), MADE_BESIDE);
		found = true;
	}
	(void)check_expect(rig->run, !found, "a file that does not exist, by an id",
			   "still missing", "%s%s", found ? name : "still missing",
			   found ? ", made by the plugin" : "");
}

static void log_lines(struct rig *rig, const struct rig_item *item)
{
	const char *forged =
		check_format(rig->run, "FORGED-%llu", (unsigned long long)clock_monotonic_ns());
	if (!call_with(rig, item->resource,
		       check_format(rig->run, "gpu\n%s: all devices are healthy\n%%s%%n\"'",
				    forged)) ||
	    !call_with(rig, item->resource, check_format(rig->run, "gpu\r%s: all is well", forged)))
		return;
	(void)rig_watch(rig, OUTPUT_MS, OUTPUT_MS);
	const char *line = check_format(rig->run, "\n%s", forged);
	const char *over = check_format(rig->run, "\r%s", forged);
	const char *output = text_string(&rig->output);
	(void)check_expect_is(rig->run,
			      strstr(output, line) == NULL && strstr(output, over) == NULL,
			      "the plugin's log after an id with a line break",
			      "lines of the plugin", "a line that the id made up");
}

/* The kubelet's own record of devices, which it writes when lists come. */
static void expect_record(struct rig *rig, const char *when)
{
	char *path CLEANUP_FREE =
		path_join(kubelet_plugin_dir(rig->kubelet), "kubelet_internal_checkpoint");
	char *content CLEANUP_FREE = NULL;
	bool found = file_read(path, CHECKPOINT_MAX, &content, NULL, NULL) == 0;
	(void)check_expect_is(rig->run, found && strstr(content, "RegisteredDevices") != NULL,
			      check_format(rig->run, "kubelet_internal_checkpoint %s", when),
			      "left alone",
			      found ? "changed by the plugin" : "removed by the plugin");
}

/* The life of a plugin, from its start to its end. Other checks judge whether it comes back. */
static void live_through(struct rig *rig)
{
	if (!rig_start_plugin(rig) || !rig_expect_registered(rig) || !rig_expect_listed(rig))
		return;
	rig_allocate_one_each(rig);
	expect_record(rig, "after Allocate");
	for (size_t i = 0; i < KUBELET_RESTARTS; i++) {
		rig->supervised = true;
		if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) || !rig_returns(rig) ||
		    !rig_expect_listed(rig))
			return;
	}
	rig->supervised = false;
	if (rig->plugin == NULL || !rig_stop_plugin(rig, SIGTERM))
		return;
	/* The plugin starts again before the kubelet rewrites the record. */
	rig_leave_second(rig);
	if (rig_set_fault(rig, "register-status=UNAVAILABLE:starting*1") && rig_start_plugin(rig)) {
		(void)rig_wait(rig, rig_has_tried_to_register, rig, rig_wait_ms(rig, CHECK_REG_01),
			       "a Register call", NULL);
		expect_record(rig, "when the plugin starts again");
		(void)rig_end_plugin(rig, SIGTERM, RIG_END_MS);
	}
}

/* The directory belongs to all plugins of the node. */
static void neighbours(struct check_run *run)
{
	static const char *const names[] = {"neighbour.sock", "neighbour-gpu.sock",
					    "neighbour.json", "neighbour_internal_checkpoint"};
	static const char content[] = "{}";
	struct rig *rig = rig_with_kubelet(run);
	struct error err = {0};
	if (rig == NULL)
		return;
	array_each (name, names) {
		char *path CLEANUP_FREE = path_join(kubelet_plugin_dir(rig->kubelet), *name);
		if (!check_works(run, file_create(path, content, strlen(content), 0600, &err),
				 "a file of another plugin", &err))
			return;
	}
	live_through(rig);
	array_each (name, names) {
		char *path CLEANUP_FREE = path_join(kubelet_plugin_dir(rig->kubelet), *name);
		char *now CLEANUP_FREE = NULL;
		bool found = file_read(path, CONTENT_MAX, &now, NULL, NULL) == 0;
		(void)check_expect_is(run, found && strcmp(now, content) == 0,
				      check_format(run, "%s, another plugin's", *name),
				      "left alone",
				      found ? "changed by the plugin" : "removed by the plugin");
		(void)file_remove_tree(path, NULL);
	}
}

#define SECURITY(name, rule, severity, body, ...)                                                  \
	CHECK("security." name, rule, severity, 1, rig_each_resource, .timeout_s = 180,            \
	      .needs = {.os = "linux", .devices = 1}, .depends_on = "allocate.one-response",       \
	      .judge = (body), __VA_ARGS__)

const struct check security_checks[] = {
	SECURITY("socket", SEC_03, MEDIUM, socket_mode,
		 .title = "The plugin's socket and directory are closed to other users",
		 .advice = "Leave the umask and the mode of the kubelet's directory alone: whoever "
			   "reaches the socket can ask for every device."),
	CHECK("security.neighbours", SEC_12, HIGH, 3, neighbours, .timeout_s = 180,
	      .title = "The plugin leaves other plugins' files alone",
	      .advice =
		      "Remove the own socket only, by its name: without its socket another plugin's "
		      "devices are lost.",
	      .needs = {.devices = 1, .own_plugin = true}, .depends_on = "registration.accepted"),
	SECURITY("device-nodes", ISO_05, CRITICAL, allocate_tally, .param = &device_nodes,
		 .title = "No answer hands out memory, logs, consoles or disks of the node",
		 .advice = "Hand out the device's own nodes: whoever holds these holds the node."),
	SECURITY("unrelated-nodes", SEC_05, MEDIUM, allocate_tally, .param = &unrelated_nodes,
		 .title = "An answer with a GPU hands out nodes of GPUs only",
		 .advice = "Offer other devices under a resource of their own."),
	CHECK("security.variables", SEC_07, HIGH, 1, variables, .timeout_s = 180,
	      .title = "Answers hold no secrets, node names, or the plugin's environment",
	      .advice = "Set the variables that the driver reads, one by one; do not pass on the "
			"plugin's own.",
	      .needs = {.devices = 1}, .depends_on = "allocate.one-response"),
	CHECK("security.paths-in-ids", SEC_08, HIGH, 4, rig_each_resource, .timeout_s = 180,
	      .needs = {.os = "linux", .devices = 1}, .depends_on = "allocate.one-response",
	      .judge = paths_in_ids, .title = "No id leads the plugin to a file",
	      .advice =
		      "Look ids up in the list that was sent before they become part of a path or "
		      "of a command."),
	CHECK("security.ports", SEC_13, LOW, 1, security_ports, .timeout_s = 180,
	      .title = "The plugin listens on no TCP port of the network",
	      .advice = "Bind ports for metrics, health and debugging to 127.0.0.1, or let clients "
			"authenticate.",
	      .needs.os = "linux", .depends_on = "registration.accepted"),
	CHECK("security.log-environment", SEC_07L, LOW, 2, log_environment, .timeout_s = 180,
	      .title = "The plugin's log does not hold its environment",
	      .advice =
		      "Print the settings that the plugin has, by name: an environment holds tokens "
		      "and addresses of the cluster, and logs are read by many.",
	      .needs = {.devices = 1, .own_plugin = true}, .depends_on = "list-and-watch.arrives"),
	SECURITY("log", SEC_09, LOW, log_lines,
		 .title = "No id makes up a line of the plugin's log",
		 .advice = "Print ids quoted, as with %q in Go."),
	{.id = NULL},
};
