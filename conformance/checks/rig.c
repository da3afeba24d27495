/* SPDX-License-Identifier: MIT */
#include "conformance/checks/rig.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "conformance/checks/every_end.h"
#include "conformance/checks/every_list.h"
#include "conformance/checks/granted.h"
#include "conformance/checks/node_cdi.h"
#include "conformance/checks/rig_ids.h"
#include "conformance/checks/rig_known.h"

#include <signal.h>
#include <string.h>
#include <time.h>

enum {
	RIG_REPORTED_MAX = 64, /* registrations */
	RIG_STOP_GRACE_MS = 5000,
	RIG_DRAIN_MS = 5000,
	RIG_SECOND_LOOK_MS = 20,
	RIG_WAITED_REPORTED_NS = 10000000, /* many short calls are reported together */
	RIG_EVIDENCE_MAX = 4 * 1024 * 1024,
	RIG_END_SEEN_MS = 500, /* a connection breaks before its process has ended */
};

static const char start_advice[] =
	"Correct the command (--plugin): its first word is a program in PATH, or a path; a relative one begins "
	"in the folder where gpucert was started.";
static const char end_advice[] =
	"The plugin must serve until SIGTERM: see whether its command (--plugin) does when it is run by "
	"hand. plugin-output.txt in the evidence holds what it printed.";
static const char again_advice[] =
	"The plugin worked at an earlier start and ends at this one: look at what it left behind, as a socket "
	"of the same name. plugin-output.txt in the evidence holds what it printed.";
static const char crash_advice[] =
	"The plugin crashed, and everything else follows from that: plugin-output.txt in the evidence "
	"holds what it printed, with the trace if it printed one.";
static const char path_advice[] =
	"The plugin ran and did not call Register on this run's kubelet.sock. When it has " KUBELET_STANDARD_PLUGIN_DIR
	" compiled in, add --private-mounts; else name the directory in its "
	"command with {plugin-dir}. One that needs longer to start: --timeout-percent 300. plugin-output.txt in the "
	"evidence holds its output.";

static const char refused_advice[] =
	"The kubelet refused Register, and nothing of the plugin was tested: kubelet-events.ndjson in the "
	"evidence has the call and the answer. 'gpucert run registration' says which rule it breaks.";

static void report_waited(struct rig *rig)
{
	check_add_time(rig->run, REPORT_PHASE_PLUGIN, rig->waited_ns);
	rig->waited_ns = 0;
}

void rig_waited(struct rig *rig, uint64_t start_ns)
{
	rig->waited_ns += clock_monotonic_ns() - start_ns;
	if (rig->waited_ns >= RIG_WAITED_REPORTED_NS)
		report_waited(rig);
}

bool rig_is_windows(const struct rig *rig)
{
	return node_is_windows(rig->context->node);
}

int rig_peer(const struct rig *rig, const char *resource)
{
	const struct rpc_channel *channel =
		kubelet_plugin_channel(kubelet_resource_plugin(rig->kubelet, resource));
	return channel != NULL ? rpc_channel_peer(channel) : 0;
}

/* Of the plugin watcher, whose texts name the calls. */
static void see_registry(struct rig *rig, const struct kubelet_event *event)
{
	const bool asks = event->type == KUBELET_EVENT_WATCHER_INFO;
	if (!asks && event->type != KUBELET_EVENT_WATCHER_NOTIFIED)
		return;
	rig->registry.notified += !asks;
	/* A kubelet asks again, which may succeed. */
	if (!asks && event->text == NULL)
		free(STEAL(rig->registry.problem));
	if (rig->registry.problem != NULL)
		return;
	if (event->code > RPC_OK)
		rig->registry.problem =
			text_format("GetInfo: %s %s", rpc_code_name(event->code), event->text);
	else if (event->text != NULL && (!asks || text_starts_with(event->text, "RegisterPlugin")))
		rig->registry.problem = memory_copy(event->text);
}

bool rig_is_notified(void *user)
{
	const struct rig *rig = user;
	return rig->registry.notified != 0 || rig->registry.problem != NULL;
}

static void on_event(const struct kubelet_event *event, void *user)
{
	struct rig *rig = user;
	if (rig->events.size < RIG_EVIDENCE_MAX) {
		cJSON *json CLEANUP_JSON = kubelet_event_json(event);
		char *line CLEANUP_FREE = json_print_compact(json);
		text_addf(&rig->events, "%s\n", line);
	}
	see_registry(rig, event);
	if (event->type == KUBELET_EVENT_DEVICES) {
		every_list_see(rig, event);
		if (rig->on_list != NULL)
			rig->on_list(event, rig->on_list_user);
	}
	if (event->type != KUBELET_EVENT_REGISTER_ANSWERED || event->code != RPC_OK ||
	    rig->reported++ >= RIG_REPORTED_MAX)
		return;

	/* For the report, while the plugin runs. Under Wine a relay serves its socket. */
	bool relayed = rig->context->wine_directory != NULL;
	check_add_plugin(rig->run, event->resource, relayed ? 0 : rig_peer(rig, event->resource));
}

static void on_plugin_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct rig *rig = user;
	struct rig_run *run = &rig->run_of_plugin;
	(void)is_stderr;

	/* Go prints "panic: " or "fatal error: " before the traces of all its goroutines. */
	static const char *const crashes[] = {"panic: ", "fatal error: "};
	/* Node.js prints the error, and then where it was thrown. */
	bool is_trace = text_starts_with(line, "    at ") && strstr(run->said[1], "Error") != NULL;
	if (!run->crashed && is_trace) {
		run->crashed = true;
		run->said[0][0] = '\0';
	}
	if (!run->crashed && line[0] == '\t') {
		/* A frame of Go's trace of an error: its place, and before that its function. The error says more. */
		memmove(run->said[1], run->said[0], RIG_LINE_MAX);
		run->said[0][0] = '\0';
	} else if (!run->crashed && size != 0) {
		array_each (crash, crashes)
			run->crashed |=
				size > strlen(*crash) && strncmp(line, *crash, strlen(*crash)) == 0;
		(void)snprintf(run->said[0], RIG_LINE_MAX, "%s", run->crashed ? "" : run->said[1]);
		(void)snprintf(run->said[1], RIG_LINE_MAX, "%.*s", (int)size, line);
	}
	if (rig->output.size >= RIG_EVIDENCE_MAX)
		return;
	text_append(&rig->output, line, size);
	text_add(&rig->output, "\n");
}

/* A plugin that dies on its own ends the wait of the check. */
static void on_plugin_end(struct process *plugin, const struct process_result *result, void *user)
{
	struct rig *rig = user;
	struct rig_run *run = &rig->run_of_plugin;
	char description[256] = "";
	(void)plugin;
	if (run->asked)
		return;
	process_describe(result, description, sizeof(description));
	run->crashed = run->crashed || result->end == PROCESS_SIGNALLED;
	free(run->end);
	run->end = text_format(
		"the plugin %s%s%s%s%s%s (all of its output: evidence/%s, plugin-output.txt)",
		result->end == PROCESS_SIGNALLED ? "was " : "", description,
		run->said[1][0] != '\0' ? ", and last printed: " : "", run->said[0],
		run->said[0][0] != '\0' ? " | " : "", run->said[1], check_row(rig->run)->id);
	kubelet_interrupt(rig->kubelet, run->end);
}

static bool has_ended(void *user)
{
	const struct rig *rig = user;
	return rig->run_of_plugin.end != NULL;
}

bool rig_plugin_ends(struct rig *rig)
{
	return loop_wait(&rig->loop, has_ended, rig, RIG_END_SEEN_MS, "its end", NULL) == 0;
}

bool rig_was_refused(const struct rig *rig)
{
	const size_t count = kubelet_registration_count(rig->kubelet);
	return count != 0 && kubelet_registration_at(rig->kubelet, count - 1)->code > RPC_OK;
}

/* The advice for a plugin that failed: its end matters more than the consequences. NULL: the row's. */
static const char *advice_for(const struct rig *rig)
{
	const bool registered = kubelet_registration_count(rig->kubelet) > rig->first_registration;
	if (rig->run_of_plugin.end != NULL)
		return rig->run_of_plugin.crashed    ? crash_advice
		       : rig->first_registration > 0 ? again_advice
						     : end_advice;
	/* In these suites it is often the harness that has it refused. */
	const char *id = check_row(rig->run)->id;
	if (registered && !text_starts_with(id, "registration.") &&
	    !text_starts_with(id, "restart.") && rig_was_refused(rig))
		return refused_advice;
	/* Other checks of the run have seen its resources: it finds the directory. */
	const bool known = cJSON_GetArraySize(rig->known) != 0;
	return !registered && !known && rig->plugin != NULL && !rig->context->hidden_directory
		       ? path_advice
		       : NULL;
}

int rig_explain(struct rig *rig, int rc, struct error *err)
{
	const char *harm = kubelet_socket_harm(rig->kubelet);
	if (rc >= 0)
		return rc;
	if (rig->plugin != NULL && !rig->run_of_plugin.asked &&
	    (rc == ERROR_REMOTE || rc == ERROR_UNAVAILABLE))
		(void)rig_plugin_ends(rig);
	rig_read_known(rig);
	const char *advice = advice_for(rig);
	if (advice != NULL)
		check_advise(rig->run, advice);
	if (has_ended(rig))
		(void)error_set(err, rc, "%s", rig->run_of_plugin.end);
	else if (rig->registry.problem != NULL)
		(void)error_set(err, rc, "in plugins_registry: %s", rig->registry.problem);
	return harm != NULL ? error_wrap(err, rc, "the plugin %s kubelet.sock", harm) : rc;
}

static void keep_text(struct rig *rig, const char *name, struct text *text)
{
	if (text->size != 0)
		check_evidence_text(rig->run, name, text_string(text), text->size);
	text_free(text);
}

static void close_rig(void *argument)
{
	struct rig *rig = argument;
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	if (rig->plugin != NULL && !process_has_ended(rig->plugin)) {
		if (plugin_process_stop(&rig->loop, rig->plugin, &err) < 0)
			check_note(rig->run, "stopping the plugin: %s", err.text);
		else
			every_end_keep(rig);
	}
	process_free(rig->plugin);
	rig_waited(rig, start);
	report_waited(rig);

	/* A plugin that names CDI devices must write Specs, and may leave them behind. */
	struct text_list files CLEANUP_TEXT_LIST = {0};
	if (node_cdi_files(rig->context, &files, NULL) == 0) {
		text_each (path, &files) {
			if (!text_list_has(&rig->cdi_files, path))
				check_note(rig->run,
					   "%s was not there before the plugin, and stays: a "
					   "Spec by which runtimes of the node change containers",
					   path);
		}
	}

	/* Every plugin of the node needs kubelet.sock. A live kubelet may have removed its own. */
	const char *harm = rig->kubelet != NULL ? kubelet_socket_harm(rig->kubelet) : NULL;
	if (harm != NULL && rig->context->attach_directory != NULL)
		check_note(rig->run, "kubelet.sock was %s during the check", harm);
	else if (harm != NULL)
		(void)check_expect(rig->run, false, "kubelet.sock", "left to the kubelet",
				   "%s by the plugin; every plugin of the node needs it", harm);
	rig_note_untested(rig);
	every_list_keep(rig);

	kubelet_free(rig->kubelet);
	if (loop_drain(&rig->loop, RIG_DRAIN_MS, &err) < 0)
		check_note(rig->run, "clean-up: %s", err.text);
	keep_text(rig, "kubelet-events.ndjson", &rig->events);
	keep_text(rig, "plugin-output.txt", &rig->output);
	text_list_free(&rig->cdi_files);
	free(rig->run_of_plugin.end);
	free(rig->registry.problem);
	every_list_free(&rig->lists);
	text_list_free(&rig->resources);
	text_list_free(&rig->left_out);
	text_list_free(&rig->busy);
	cJSON_Delete(rig->known);
	granted_reader_free(&rig->granted);
	free(rig);
}

struct rig *rig_with_kubelet(struct check_run *run)
{
	struct rig *rig = memory_allocate(1, sizeof(*rig));
	struct error err = {0};
	if (!check_works(run, loop_open(&rig->loop, &err), NULL, &err)) {
		free(rig);
		return NULL;
	}
	rig->run = run;
	rig->context = check_context(run);
	check_defer(run, close_rig, rig);

	const char *attached = rig->context->attach_directory;
	struct kubelet_options options = {
		.plugin_dir = attached != NULL ? attached : check_path(run, "dp"),
		.registry_dir =
			context_uses_registry(rig->context) ? check_path(run, "registry") : NULL,
		.registry_dir_seen =
			rig->context->hidden_directory ? KUBELET_STANDARD_REGISTRY_DIR : NULL,
		.take_over = attached != NULL,
		.os = rig_is_windows(rig) ? KUBELET_OS_WINDOWS : KUBELET_OS_LINUX,
		.seed = 1,
		.on_event = on_event,
		.is_held = rig_is_held,
		.user = rig,
	};
	int rc = kubelet_profile_parse(check_kubelet(run), &options.profile, &err);
	if (rc == 0)
		rc = kubelet_new(&rig->loop, &options, &rig->kubelet, &err);
	if (rc == 0)
		rc = node_cdi_files(rig->context, &rig->cdi_files, &err);
	if (rc == 0)
		rc = kubelet_start(rig->kubelet, &err);
	return check_works(run, rc, "fake kubelet", &err) ? rig : NULL;
}

static bool start_with(struct rig *rig, const char *const *env)
{
	const char *temporary = check_path(rig->run, RIG_TEMPORARY);
	const char *variables[RIG_VARIABLES_MAX + 2] = {NULL};
	size_t count = 0;
	/* Windows has TEMP, and Wine 10 does not work with a TMPDIR. */
	if (!rig_is_windows(rig))
		variables[count++] = check_format(rig->run, "TMPDIR=%s", temporary);
	for (size_t i = 0; env != NULL && env[i] != NULL && i < RIG_VARIABLES_MAX; i++)
		variables[count++] = env[i];
	struct plugin_process_spec spec = {
		.command = rig->context->plugin_command,
		.plugin_dir = kubelet_plugin_dir(rig->kubelet),
		.kubelet_socket = kubelet_socket(rig->kubelet),
		.registry_dir = kubelet_registry_dir(rig->kubelet),
		.private_mounts = rig->context->hidden_directory,
		.process = {.env = variables,
			    .grace_ms = RIG_STOP_GRACE_MS,
			    .on_line = on_plugin_line,
			    .on_end = on_plugin_end,
			    .user = rig},
	};
	struct error err = {0};
	rig->first_registration = kubelet_registration_count(rig->kubelet);
	rig->started_ms = clock_monotonic_ms();
	kubelet_interrupt(rig->kubelet, NULL);
	if (spec.command == NULL)
		return true;
	process_free(rig->plugin);
	rig->plugin = NULL;
	free(rig->run_of_plugin.end);
	rig->run_of_plugin = (struct rig_run){0};
	int rc = file_make_directories(temporary, 0700, &err);
	if (rc == 0)
		rc = plugin_process_start(&rig->loop, &spec, &rig->plugin, &err);
	if (rc < 0)
		check_advise(rig->run, start_advice);
	else
		rig->run_of_plugin.process_id = process_id(rig->plugin);
	return check_works(rig->run, rc, "the plugin could not be started", &err);
}

bool rig_start_plugin(struct rig *rig)
{
	return start_with(rig, NULL);
}

bool rig_end_plugin(struct rig *rig, int signal, uint64_t timeout_ms)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	rig->run_of_plugin.asked = true;
	/* It may have ended by itself, with its stream or its kubelet. */
	const bool runs = !process_has_ended(rig->plugin);
	int rc = runs ? process_signal(rig->plugin, signal, &err) : 0;
	if (rc == 0)
		rc = plugin_process_wait(&rig->loop, rig->plugin,
					 context_wait_ms(rig->context, timeout_ms), &err);
	rig_waited(rig, start);
	if (rc == 0 && runs)
		every_end_keep(rig);
	/* The end was requested, so it does not end waits. */
	kubelet_interrupt(rig->kubelet, NULL);
	return rc == 0;
}

bool rig_stop_plugin(struct rig *rig, int signal)
{
	if (rig_end_plugin(rig, signal, RIG_END_MS))
		return true;
	if (signal == SIGTERM)
		check_note(rig->run, "the plugin did not end with SIGTERM and was killed, as by a "
				     "kubelet; see restart.terminate");
	return (signal == SIGTERM && rig_end_plugin(rig, SIGKILL, RIG_END_MS)) ||
	       check_expect(rig->run, false, "the plugin", "ended", "running after SIGKILL");
}

bool rig_restart_kubelet(struct rig *rig, enum kubelet_restart what)
{
	struct error err = {0};
	rig->before_restart = kubelet_registration_count(rig->kubelet);
	return check_works(rig->run, kubelet_restart(rig->kubelet, what, &err), "fake kubelet",
			   &err);
}

void rig_stop_kubelet(struct rig *rig)
{
	rig->before_restart = kubelet_registration_count(rig->kubelet);
	kubelet_stop(rig->kubelet);
}

bool rig_returns(struct rig *rig)
{
	struct error err = {0};
	return rig_wait_return(rig, rig_wait_ms(rig, CHECK_RES_01), &err) == 0;
}

bool rig_start_kubelet(struct rig *rig)
{
	struct error err = {0};
	return check_works(rig->run, kubelet_start(rig->kubelet, &err), "fake kubelet", &err);
}

bool rig_set_fault(struct rig *rig, const char *fault)
{
	struct error err = {0};
	return check_works(rig->run, kubelet_fault_set(rig->kubelet, fault, &err), "fake kubelet",
			   &err);
}

/* Whether all sockets of the plugin's present run are named by its process ID. */
static bool sockets_name_process(const struct rig *rig)
{
	char *id CLEANUP_FREE = text_format("%d", rig->run_of_plugin.process_id);
	bool all = rig->run_of_plugin.process_id > 0 &&
		   kubelet_registration_count(rig->kubelet) > rig->first_registration;
	registration_each (registration, rig->kubelet, rig->first_registration)
		all = all && text_has_word(registration->endpoint, id);
	return all;
}

void rig_leave_second(struct rig *rig)
{
	time_t second = time(NULL);
	if (sockets_name_process(rig))
		return;
	while (time(NULL) == second)
		(void)rig_watch(rig, RIG_SECOND_LOOK_MS, RIG_SECOND_LOOK_MS);
}

uint64_t rig_watch(struct rig *rig, uint64_t ms, uint64_t thorough_ms)
{
	uint64_t duration_ms = rig->context->thorough ? thorough_ms : ms;
	bool ended = has_ended(rig);
	loop_run_for(&rig->loop, duration_ms);
	check_add_time(rig->run, REPORT_PHASE_WAIT, duration_ms * 1000000);
	/* It may end because of a kubelet's restart: its supervisor starts it again. */
	if (!ended && has_ended(rig) && !rig->supervised &&
	    !text_starts_with(check_row(rig->run)->id, "restart.")) {
		check_advise(rig->run, advice_for(rig));
		(void)check_expect(rig->run, false, "the plugin", "still running", "%s",
				   rig->run_of_plugin.end);
	}
	if (thorough_ms != ms)
		check_add_watched(rig->run, duration_ms, thorough_ms);
	return duration_ms;
}

bool rig_restart_plugin(struct rig *rig, int signal)
{
	if (!rig_stop_plugin(rig, signal))
		return false;
	rig_leave_second(rig);
	return rig_start_plugin(rig) && rig_expect_registered(rig);
}

static struct rig *registered_with(struct check_run *run, const char *const *env)
{
	struct rig *rig = rig_with_kubelet(run);
	return rig != NULL && start_with(rig, env) && rig_expect_registered(rig) ? rig : NULL;
}

struct rig *rig_registered(struct check_run *run)
{
	return registered_with(run, NULL);
}

struct rig *rig_listed(struct check_run *run)
{
	struct rig *rig = rig_registered(run);
	return rig != NULL && rig_expect_listed(rig) ? rig : NULL;
}

struct rig *rig_watching(struct check_run *run,
			 void (*on_list)(const struct kubelet_event *event, void *user), void *user)
{
	struct rig *rig = rig_with_kubelet(run);
	if (rig == NULL)
		return NULL;
	rig->on_list = on_list;
	rig->on_list_user = user;
	if (rig_start_plugin(rig) && rig_expect_registered(rig) && rig_expect_lists(rig))
		return rig;
	rig->on_list = NULL; /* the rig outlives the caller's data */
	return NULL;
}

struct rig *rig_ready_with(struct check_run *run, const char *const *env)
{
	struct rig *rig = registered_with(run, env);
	if (rig == NULL || !rig_expect_listed(rig))
		return NULL;

	/* A plugin may offer resources that this node has no device for. */
	struct text_list all CLEANUP_TEXT_LIST = rig->resources;
	rig->resources = (struct text_list){0};
	struct text busy CLEANUP_TEXT = {0};
	text_each (resource, &all) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		bool healthy = rig_count_healthy(rig, resource) != 0;
		(void)rig_free_ids(rig, resource, &ids, &busy);
		bool empty = !healthy || ids.count == 0;
		text_list_add(empty ? &rig->left_out : &rig->resources, resource);
		if (!healthy)
			check_note(run, "%s lists no healthy device and is left out", resource);
	}
	if (rig->resources.count != 0)
		return rig;
	check_unsupported(run, "%s",
			  busy.size != 0 ? text_string(&busy)
					 : "the plugin lists no healthy device; see "
					   "list-and-watch.devices-present");
	return NULL;
}

struct rig *rig_ready(struct check_run *run)
{
	return rig_ready_with(run, NULL);
}
