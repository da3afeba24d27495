/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/termination.h"
#include "conformance/cli/commands.h"
#include "conformance/kubelet/pod.h"
#include "conformance/subject/plugin_process.h"
#include "rpc/loop.h"
#include "rpc/socket.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_UNEXPECTED = 1, EXIT_BROKEN = 3, CALL_TIMEOUT_MS = 60 * 1000, DRAIN_MS = 5000 };

static const char *plugin_dir;
static const char *registry_dir;
static const char *profile_name = "1.36";
static const char *os_name = "linux";
static const char *plugin_command;
static bool take_over, private_mounts, once;
static struct text_list allocations, faults;
static struct kubelet_limit *limits; /* of the allocations */
static int64_t seconds, seed, fleet = 1;

static const char *const profiles[] = {"1.36", "1.37", NULL};
static const char *const systems[] = {"linux", "windows", NULL};

static const struct option_spec options[] = {
	{OPTION_ROW("plugin-dir", OPTION_STRING, plugin_dir), .letter = 'd', .value = "DIR",
	 .help = "Directory for kubelet.sock and the plugins' sockets; made when absent. "
		 "Required."},
	{OPTION_ROW("registry-dir", OPTION_STRING, registry_dir), .value = "DIR",
	 .help = "Watch this plugins_registry directory as well."},
	{OPTION_ROW("profile", OPTION_CHOICE, profile_name), .value = "VERSION",
	 .choices = profiles,
	 .help = "Kubelet to behave like: 1.36 keeps one plugin for each resource, 1.37 several."},
	{OPTION_ROW("os", OPTION_CHOICE, os_name), .value = "OS", .choices = systems,
	 .help = "Operating system of that kubelet; decides how answers are merged."},
	{OPTION_ROW("plugin", OPTION_STRING, plugin_command), .letter = 'p', .value = "COMMAND",
	 .help = "Run this plugin. {plugin-dir}, {kubelet-socket} and {registry-dir} in it are "
		 "replaced, and DEVICE_PLUGIN_DIR, PLUGIN_SOCK_DIR, KUBELET_SOCKET and "
		 "PLUGINS_REGISTRY_DIR are set."},
	{OPTION_ROW("private-mounts", OPTION_FLAG, private_mounts),
	 .help = "Show the plugin the directory at " KUBELET_STANDARD_PLUGIN_DIR
		 ", in a mount namespace of its own (needs root)."},
	{OPTION_ROW("take-over", OPTION_FLAG, take_over),
	 .help = "Use a directory in which a kubelet runs: sockets that somebody listens on are "
		 "moved aside and put back at the end."},
	{OPTION_ROW("allocate", OPTION_LIST, allocations), .letter = 'a', .value = "RESOURCE=N",
	 .help = "Admit and start a container with N devices once the resource is listed."},
	{OPTION_ROW("fleet", OPTION_INT, fleet), .value = "N", .min = 1, .max = 1000,
	 .help = "Play N kubelets, in DIR/1 to DIR/N, each with a --plugin of its own. Events name "
		 "their node, and --allocate is served on each."},
	{OPTION_ROW("fault", OPTION_LIST, faults), .letter = 'f', .value = "FAULT",
	 .help = "Misbehave: NAME[=VALUE][*TIMES]. The names are above."},
	{OPTION_ROW("once", OPTION_FLAG, once),
	 .help = "End when every --allocate has been served."},
	{OPTION_ROW("seconds", OPTION_INT, seconds), .letter = 's', .value = "N", .min = 0,
	 .max = INT64_C(30) * 24 * 3600,
	 .help = "End after this time; 0: not before SIGINT or SIGTERM."},
	{OPTION_ROW("seed", OPTION_INT, seed), .value = "N", .min = 0, .max = INT64_MAX,
	 .help = "Seed of the random order in which devices are chosen and sent."},
	{0},
};

/* One kubelet with its plugin. */
struct session {
	uv_loop_t *loop;
	int64_t node; /* from 1; 0: there is one kubelet */
	struct kubelet *kubelet;
	struct process *plugin;
	bool unserved, plugin_ended, stopping;
};

/* A run of the command. */
struct run {
	uv_loop_t loop;
	struct termination *termination;
	uv_timer_t timer;
	struct session *sessions; /* `fleet` of them */
};

static void print_event(const struct kubelet_event *event, void *user)
{
	struct session *session = user;
	cJSON *json CLEANUP_JSON = kubelet_event_json(event);
	if (session->node != 0)
		(void)cJSON_AddNumberToObject(json, "node", (double)session->node);
	char *line CLEANUP_FREE = json_print_compact(json);
	if ((printf("%s\n", line) < 0 || fflush(stdout) != 0) && session->kubelet != NULL)
		kubelet_interrupt(session->kubelet, "standard output is gone");
}

static void print_plugin_event(struct session *session, enum kubelet_event_type type,
			       const char *stream, const char *text)
{
	struct kubelet_event event = kubelet_event_of(type);
	event.elapsed_ms = kubelet_elapsed_ms(session->kubelet);
	event.stream = stream;
	event.text = text;
	print_event(&event, session);
}

static void on_plugin_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct text text CLEANUP_TEXT = {0};
	text_add_escaped(&text, line, size);
	print_plugin_event(user, KUBELET_EVENT_PLUGIN_OUTPUT, is_stderr ? "stderr" : "stdout",
			   text_string(&text));
}

static void on_plugin_end(struct process *plugin, const struct process_result *result, void *user)
{
	struct session *session = user;
	char how[128] = "";
	(void)plugin;
	process_describe(result, how, sizeof(how));
	print_plugin_event(session, KUBELET_EVENT_PLUGIN_EXITED, NULL, how);
	session->plugin_ended = !session->stopping;
	kubelet_interrupt(session->kubelet, how);
}

static void on_request(const char *what, void *user)
{
	const struct run *run = user;
	for (int64_t i = 0; i < fleet; i++) {
		if (run->sessions[i].kubelet != NULL)
			kubelet_interrupt(run->sessions[i].kubelet, what);
	}
}

static void on_time(uv_timer_t *timer)
{
	on_request("the time is over", timer->data);
}

static int make_absolute(const char *path, char **out, struct error *err)
{
	char working[4096];
	size_t size = sizeof(working);
	if (path_is_absolute(path)) {
		*out = memory_copy(path);
		return 0;
	}
	int rc = uv_cwd(working, &size);
	if (rc != 0)
		return error_uv(err, rc, "cannot determine the working directory");
	*out = path_join(working, path);
	return 0;
}

/* Refuses mistakes before anything is touched. */
static int check_options(struct error *err)
{
	int rc = 0;
	if (plugin_dir == NULL)
		return error_set(err, ERROR_ARGUMENT, "--plugin-dir is needed");
	if (once && allocations.count == 0)
		return error_set(err, ERROR_ARGUMENT, "--once needs --allocate");
	if (fleet > 1 && (registry_dir != NULL || take_over))
		return error_set(err, ERROR_ARGUMENT,
				 "--fleet excludes --registry-dir and --take-over");
	if (private_mounts && plugin_command == NULL)
		return error_set(err, ERROR_ARGUMENT, "--private-mounts needs --plugin");
	for (size_t i = 0; rc == 0 && i < faults.count; i++)
		rc = kubelet_fault_check(faults.items[i], err);
	limits = memory_allocate(allocations.count + 1, sizeof(*limits));
	for (size_t i = 0; rc == 0 && i < allocations.count; i++) {
		char *equals = strrchr(allocations.items[i], '=');
		long long count = 0;
		if (equals == NULL)
			return error_set(err, ERROR_ARGUMENT, "--allocate %s: expected RESOURCE=N",
					 allocations.items[i]);
		*equals = '\0';
		rc = text_to_int64(equals + 1, "--allocate", 1, INT32_MAX, &count, err);
		limits[i] = (struct kubelet_limit){.resource = allocations.items[i],
						   .count = (size_t)count};
	}
	return rc;
}

/* One container with one limit, from its admission to its start. */
static int serve_allocation(struct session *session, size_t index, struct error *err)
{
	struct kubelet_outcome outcome = {0};
	struct grant merged CLEANUP_GRANT = {0};
	char *pod CLEANUP_FREE = text_format("gpucert-%zu", index);
	const struct kubelet_container container = {
		.pod = pod, .name = "main", .limits = &limits[index], .limit_count = 1};
	int rc = kubelet_wait_listed(session->kubelet, limits[index].resource, UINT64_MAX, err);
	if (rc == 0)
		rc = kubelet_admit(session->kubelet, &container, CALL_TIMEOUT_MS, &outcome, err);
	if (rc == 0 && outcome.accepted)
		rc = kubelet_start_container(session->kubelet, pod, "main", CALL_TIMEOUT_MS,
					     &outcome, &merged, err);
	session->unserved = session->unserved || (rc == 0 && !outcome.accepted);
	kubelet_outcome_free(&outcome);
	return rc;
}

static bool never(void *user)
{
	(void)user;
	return false;
}

static int start_session(struct session *session, struct error *err)
{
	char *directory CLEANUP_FREE = NULL;
	char *registry CLEANUP_FREE = NULL;
	struct kubelet_options kubelet = {.take_over = take_over,
					  .seed = (uint64_t)seed,
					  .os = text_equal(os_name, "windows") ? KUBELET_OS_WINDOWS
									       : KUBELET_OS_LINUX,
					  .on_event = print_event,
					  .user = session};
	int rc = kubelet_profile_parse(profile_name, &kubelet.profile, err);
	if (rc == 0)
		rc = make_absolute(plugin_dir, &directory, err);
	if (rc == 0 && registry_dir != NULL)
		rc = make_absolute(registry_dir, &registry, err);
	if (rc != 0)
		return rc;
	kubelet.plugin_dir = directory;
	kubelet.registry_dir = registry;
	kubelet.registry_dir_seen = private_mounts ? KUBELET_STANDARD_REGISTRY_DIR : NULL;
	if (session->node != 0) {
		char *parent = directory;
		directory = text_format("%s/%lld", parent, (long long)session->node);
		free(parent);
		kubelet.plugin_dir = directory;
	}
	rc = kubelet_new(session->loop, &kubelet, &session->kubelet, err);
	if (rc == 0)
		rc = kubelet_start(session->kubelet, err);
	for (size_t i = 0; rc == 0 && i < faults.count; i++)
		rc = kubelet_fault_set(session->kubelet, faults.items[i], err);
	if (rc < 0 || plugin_command == NULL)
		return rc;

	const struct plugin_process_spec spec = {
		.command = plugin_command,
		.plugin_dir = kubelet_plugin_dir(session->kubelet),
		.kubelet_socket = kubelet_socket(session->kubelet),
		.registry_dir = kubelet_registry_dir(session->kubelet),
		.private_mounts = private_mounts,
		.process = {.on_line = on_plugin_line, .on_end = on_plugin_end, .user = session},
	};
	rc = plugin_process_start(session->loop, &spec, &session->plugin, err);
	if (rc == 0)
		print_plugin_event(session, KUBELET_EVENT_PLUGIN_STARTED, NULL, plugin_command);
	return rc;
}

static int serve_allocations(struct session *session, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < allocations.count; i++) {
		rc = serve_allocation(session, i, err);
		if (rc == ERROR_TIMEOUT || rc == ERROR_CANCELLED) {
			log_warning("--allocate %s=%zu was not served: %s", limits[i].resource,
				    limits[i].count, err->text);
			session->unserved = true;
		}
		if (rc == ERROR_TIMEOUT) /* one plugin hangs; another may serve the next one */
			rc = 0;
	}
	return rc;
}

static int run_all(struct run *run, struct error *err)
{
	int rc = 0;
	for (int64_t i = 0; rc == 0 && i < fleet; i++)
		rc = start_session(&run->sessions[i], err);
	if (rc == 0)
		(void)termination_open(&run->loop, on_request, run, &run->termination, NULL);
	if (seconds > 0)
		(void)uv_timer_start(&run->timer, on_time, (uint64_t)seconds * 1000, 0);
	/* One that is interrupted does not keep the others from being served. */
	for (int64_t i = 0; (rc == 0 || rc == ERROR_CANCELLED) && i < fleet; i++)
		rc = serve_allocations(&run->sessions[i], err);
	if (rc == 0 && !once)
		rc = kubelet_wait(run->sessions[0].kubelet, never, NULL, UINT64_MAX, "the end",
				  err);
	return rc == ERROR_CANCELLED ? 0 : rc;
}

static void close_run(struct run *run)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	for (int64_t i = 0; i < fleet; i++) {
		struct session *session = &run->sessions[i];
		session->stopping = true;
		if (session->plugin != NULL && !process_has_ended(session->plugin) &&
		    plugin_process_stop(session->loop, session->plugin, &err) != 0)
			log_warning("%s", err.text);
		process_free(session->plugin);
	}
	if (process_end_orphans(&names, &err) != 0)
		log_warning("processes that were left running: %s", err.text);
	text_each (name, &names)
		log_warning("%s was left running and is ended", name);
	for (int64_t i = 0; i < fleet; i++) {
		kubelet_free(run->sessions[i].kubelet);
		run->sessions[i].kubelet = NULL;
	}
	termination_close(run->termination);
	uv_close((uv_handle_t *)&run->timer, NULL);
	if (loop_drain(&run->loop, DRAIN_MS, &err) != 0)
		log_debug("%s", err.text);
}

static int run_kubelet(const struct text_list *arguments)
{
	struct run run = {0};
	struct error err = {0};
	bool unexpected = false;
	(void)arguments;
	if (check_options(&err) != 0) {
		(void)fprintf(stderr, "gpucert kubelet: %s\nTry 'gpucert kubelet --help'.\n",
			      err.text);
		return OPTIONS_EXIT_USAGE;
	}
	int rc = loop_open(&run.loop, &err);
	if (rc < 0) {
		log_error("%s", err.text);
		return EXIT_BROKEN;
	}
	(void)uv_timer_init(&run.loop, &run.timer);
	run.timer.data = &run;
	socket_ignore_sigpipe();
	process_adopt_orphans();
	run.sessions = memory_allocate((size_t)fleet, sizeof(*run.sessions));
	for (int64_t i = 0; i < fleet; i++)
		run.sessions[i] =
			(struct session){.loop = &run.loop, .node = fleet > 1 ? i + 1 : 0};

	rc = run_all(&run, &err);
	if (rc != 0)
		log_error("%s", err.text);
	close_run(&run);
	for (int64_t i = 0; i < fleet; i++)
		unexpected = unexpected || run.sessions[i].unserved || run.sessions[i].plugin_ended;
	free(run.sessions);
	free(limits);
	text_list_free(&allocations);
	text_list_free(&faults);
	if (rc != 0)
		return rc == ERROR_ARGUMENT ? OPTIONS_EXIT_USAGE : EXIT_BROKEN;
	return unexpected ? EXIT_UNEXPECTED : 0;
}

const struct command_spec command_kubelet = {
	.name = "kubelet",
	.summary = "Run only the fake kubelet, and print what happens",
	.description =
		"Plays the device manager of a kubelet in a directory of its own: plugins register, "
		"their devices are listed, containers are admitted. Every event is printed to "
		"standard output as one JSON object a line, as it happens.\n\nFaults: "
		"register-status=CODE[:MESSAGE], watcher-status=CODE[:MESSAGE], register-delay=MS, register-hang, "
		"register-malformed, connection-silent, connection-garbage, connection-close, connection-refuse, "
		"socket-absent, list-stall, list-twice, list-cancel=MS, disconnect=MS, "
		"options-twice, flap=MS.\n\nNothing outside the directory is touched. A directory "
		"in which a kubelet is listening is refused without --take-over.",
	.options = options,
	.examples = TEXTS(
		"gpucert kubelet -d /tmp/kubelet",
		"Wait for plugins that are started by hand: device-plugin-gpu --plugin-dir /tmp/kubelet",
		"gpucert kubelet -d DIR -p 'my-plugin --dir {plugin-dir}' -a example.com/gpu=1 --once",
		"Run a plugin, allocate one device and show what the container would get.",
		"gpucert kubelet -d /tmp/kubelet -f 'register-status=UNAVAILABLE:later*2'",
		"Refuse the first two registrations."),
	.exit_codes =
		TEXTS("0", "ended as asked", "1",
		      "an --allocate was refused or not served, or the plugin ended by itself", "2",
		      "usage", "3",
		      "broken: the directory cannot be used or the plugin cannot be started"),
	.run = run_kubelet,
};
