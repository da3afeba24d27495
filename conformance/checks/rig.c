/* SPDX-License-Identifier: MIT */
#include "conformance/checks/rig.h"
#include "rpc/loop.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "rpc/client.h"
#include "rpc/rpc.h"

#include <string.h>
#include <time.h>

enum {
	RIG_TOLD_MAX = 64,
	RIG_STOP_GRACE_MS = 5000,
	RIG_DRAIN_MS = 5000,
	RIG_DESCRIPTORS_MORE = 4,
	RIG_SECOND_LOOK_MS = 20,
	RIG_EVIDENCE_MAX = 4 * 1024 * 1024,
};

void rig_waited(struct rig *rig, uint64_t start_ns)
{
	check_add_time(rig->run, REPORT_PHASE_PLUGIN, clock_monotonic_ns() - start_ns);
}

bool rig_is_windows(const struct rig *rig)
{
	return strcmp(rig->context->node->system.os, "windows") == 0;
}

/* For the report, while the plugin is there. Under Wine a relay serves its socket. */
static void rig_tell_plugin(struct rig *rig, const char *resource)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
	struct rpc_channel *channel = plugin != NULL ? kubelet_plugin_channel(plugin) : NULL;
	bool relayed = rig->context->wine_directory != NULL;

	if (rig->told++ < RIG_TOLD_MAX)
		check_add_plugin(rig->run, resource,
				 channel != NULL && !relayed ? rpc_channel_peer(channel) : 0);
}

static void rig_on_event(const struct kubelet_event *event, void *user)
{
	struct rig *rig = user;
	bool full = rig->events.size >= RIG_EVIDENCE_MAX;
	cJSON *json CLEANUP_JSON = !full ? kubelet_event_json(event) : NULL;
	char *line CLEANUP_FREE = json != NULL ? json_print_compact(json) : NULL;

	if (line != NULL)
		text_addf(&rig->events, "%s\n", line);
	if (event->type == KUBELET_EVENT_REGISTER_ANSWERED && event->code == RPC_OK)
		rig_tell_plugin(rig, event->resource);
}

static void rig_on_plugin_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct rig *rig = user;

	(void)is_stderr;
	if (rig->output.size >= RIG_EVIDENCE_MAX)
		return;
	text_append(&rig->output, line, size);
	text_add(&rig->output, "\n");
}

/* A plugin that dies on its own ends whatever the check waits for. */
static void rig_on_plugin_end(struct plugin_process *plugin, const struct process_result *result,
			      void *user)
{
	struct rig *rig = user;
	char description[256] = "";
	char reason[320] = "";

	(void)plugin;
	process_describe(result, description, sizeof(description));
	(void)snprintf(reason, sizeof(reason), "the plugin %s", description);
	kubelet_interrupt(rig->kubelet, reason);
}

/* Who else but the plugin uses kubelet.sock? NULL: nobody did anything to it. */
static const char *rig_socket_harm(const struct rig *rig)
{
	return rig->kubelet != NULL ? kubelet_socket_harm(rig->kubelet) : NULL;
}

void rig_explain_harm(const struct rig *rig, int rc, struct error *err)
{
	const char *harm = rig_socket_harm(rig);

	if (rc < 0 && harm != NULL)
		(void)error_wrap(err, rc, "the plugin %s kubelet.sock", harm);
}

static void rig_note_harm(const struct rig *rig)
{
	const char *harm = rig_socket_harm(rig);

	if (harm != NULL)
		check_note(rig->run,
			   "the plugin %s kubelet.sock, which every plugin of the node needs",
			   harm);
}

static void rig_close(void *argument)
{
	struct rig *rig = argument;
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();

	if (rig->plugin != NULL && !plugin_process_has_ended(rig->plugin) &&
	    plugin_process_stop(rig->plugin, &err) < 0)
		check_note(rig->run, "stopping the plugin: %s", err.text);
	plugin_process_free(rig->plugin);
	rig_waited(rig, start);
	rig_note_harm(rig);
	rig_tell_untested(rig);
	kubelet_free(rig->kubelet);
	if (loop_drain(&rig->loop, RIG_DRAIN_MS, &err) < 0)
		check_note(rig->run, "clean-up: %s", err.text);
	if (rig->events.size != 0)
		check_evidence_text(rig->run, "kubelet-events.ndjson", text_string(&rig->events),
				    rig->events.size);
	if (rig->output.size != 0)
		check_evidence_text(rig->run, "plugin-output.txt", text_string(&rig->output),
				    rig->output.size);
	text_free(&rig->events);
	text_free(&rig->output);
	text_list_free(&rig->resources);
	text_list_free(&rig->left_out);
	cJSON_Delete(rig->known);
	free(rig);
}

static int rig_make_kubelet(struct rig *rig, struct error *err)
{
	char *directory CLEANUP_FREE = path_join(check_directory(rig->run), "dp");
	struct kubelet_options options = {
		.plugin_dir = directory,
		.os = rig_is_windows(rig) ? KUBELET_OS_WINDOWS : KUBELET_OS_LINUX,
		.seed = 1,
		.on_event = rig_on_event,
		.user = rig,
	};
	int rc = 0;

	if (rig->context->attach_directory != NULL) {
		options.plugin_dir = rig->context->attach_directory;
		options.take_over = true;
	}
	if (options.plugin_dir == NULL)
		return error_memory(err);
	rc = kubelet_profile_parse(rig->context->kubelet_profile, &options.profile, err);
	return rc == 0 ? kubelet_new(&rig->loop, &options, &rig->kubelet, err) : rc;
}

/* A rig whose kubelet is there and not started. NULL: recorded as broken. */
static struct rig *rig_new(struct check_run *run)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct error err = {0};

	if (rig == NULL) {
		check_broken(run, "out of memory");
		return NULL;
	}
	if (loop_open(&rig->loop, &err) < 0) {
		check_broken(run, "%s", err.text);
		free(rig);
		return NULL;
	}
	rig->run = run;
	rig->context = check_context(run);
	check_defer(run, rig_close, rig);
	if (rig_make_kubelet(rig, &err) < 0) {
		check_broken(run, "fake kubelet: %s", err.text);
		return NULL;
	}
	return rig;
}

struct rig *rig_with_kubelet(struct check_run *run)
{
	struct rig *rig = rig_new(run);
	struct error err = {0};

	if (rig != NULL && kubelet_start(rig->kubelet, &err) < 0) {
		check_broken(run, "fake kubelet: %s", err.text);
		return NULL;
	}
	return rig;
}

bool rig_start_plugin(struct rig *rig, const char *const *env)
{
	struct plugin_process_spec spec = {
		.command = rig->context->plugin_command,
		.plugin_dir = kubelet_plugin_dir(rig->kubelet),
		.kubelet_socket = kubelet_socket(rig->kubelet),
		.private_mounts = rig->context->hidden_directory,
		.env = env,
		.grace_ms = RIG_STOP_GRACE_MS,
		.on_line = rig_on_plugin_line,
		.on_end = rig_on_plugin_end,
		.user = rig,
	};
	struct error err = {0};

	rig->first_registration = kubelet_registration_count(rig->kubelet);
	rig->started_ms = clock_monotonic_ms();
	kubelet_interrupt(rig->kubelet, NULL);
	if (spec.command == NULL)
		return true;
	plugin_process_free(rig->plugin);
	rig->plugin = NULL;
	if (plugin_process_start(&rig->loop, &spec, &rig->plugin, &err) < 0) {
		check_broken(rig->run, "the plugin could not be started: %s", err.text);
		return false;
	}
	return true;
}

bool rig_end_plugin(struct rig *rig, int signal, uint64_t timeout_ms)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = plugin_process_signal(rig->plugin, signal, &err);

	if (rc == 0)
		rc = plugin_process_wait(rig->plugin, context_wait_ms(rig->context, timeout_ms),
					 &err);
	rig_waited(rig, start);
	/* Its death was wanted: waits may go on. */
	kubelet_interrupt(rig->kubelet, NULL);
	return rc == 0;
}

void rig_leave_second(struct rig *rig)
{
	time_t second = time(NULL);

	while (time(NULL) == second)
		(void)rig_watch(rig, RIG_SECOND_LOOK_MS, RIG_SECOND_LOOK_MS);
}

uint64_t rig_watch(struct rig *rig, uint64_t ms, uint64_t thorough_ms)
{
	uint64_t duration_ms = rig->context->thorough ? thorough_ms : ms;

	loop_run_for(&rig->loop, duration_ms);
	check_add_time(rig->run, REPORT_PHASE_WAIT, duration_ms * 1000000);
	if (thorough_ms != ms)
		check_add_watched(rig->run, duration_ms, thorough_ms);
	return duration_ms;
}

int rig_descriptors(const struct rig *rig)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *path CLEANUP_FREE = NULL;

	if (rig->plugin == NULL || plugin_process_id(rig->plugin) == 0)
		return -1;
	path = text_format("/proc/%d/fd", plugin_process_id(rig->plugin));
	if (path == NULL || file_list(path, &names, NULL) < 0)
		return -1;
	return (int)names.count;
}

void rig_expect_descriptors(struct rig *rig, int before)
{
	int after = before >= 0 ? rig_descriptors(rig) : -1;

	if (before < 0)
		check_note(rig->run, "the plugin's open descriptors cannot be told");
	else if (after < 0 && !plugin_process_has_ended(rig->plugin))
		check_broken(rig->run, "the plugin's open descriptors cannot be told any more");
	else if (check_expect(rig->run, after >= 0, "the plugin", "still running", "%s",
			      after >= 0 ? "still running" : "ended"))
		(void)check_expect_at_most(rig->run, "open descriptors of the plugin afterwards",
					   after, before + RIG_DESCRIPTORS_MORE);
}

/* Admission and start of the pod's one container. */
static int rig_run_pod(struct rig *rig, const char *pod, const struct kubelet_limit *limits,
		       size_t count, struct grant *grant, struct error *err)
{
	const struct kubelet_container container = {
		.pod = pod,
		.name = "probe",
		.limits = limits,
		.limit_count = count,
	};
	struct kubelet_outcome outcome = {0};
	int rc = kubelet_admit(rig->kubelet, &container, context_wait_ms(rig->context, RIG_CALL_MS),
			       &outcome, err);

	if (rc == 0 && outcome.accepted)
		rc = kubelet_start_container(rig->kubelet, pod, container.name,
					     context_wait_ms(rig->context, RIG_START_MS), &outcome,
					     grant, err);
	if (rc == 0 && !outcome.accepted)
		rc = error_set(err, ERROR_REMOTE, "%s: %s", outcome.reason, outcome.message);
	kubelet_outcome_free(&outcome);
	return rc;
}

bool rig_admit(struct rig *rig, const char *pod, const struct kubelet_limit *limits, size_t count,
	       struct grant *grant)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = rig_run_pod(rig, pod, limits, count, grant, &err);

	rig_waited(rig, start);
	if (rc == 0 && rig->admitted)
		return true;
	rig->admitted = rc == 0 || rig->admitted;
	if (rc < 0) {
		rig_release(rig, pod);
		(void)error_wrap(&err, rc, "%s %s", limits->resource,
				 limits->ids != NULL && limits->count == 1 ? limits->ids[0] : "");
	}
	return check_expect_ok(rig->run, rc, "a container with a device is admitted and started",
			       &err);
}

void rig_release(struct rig *rig, const char *pod)
{
	kubelet_remove_pod(rig->kubelet, pod);
}
