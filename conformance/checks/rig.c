/* SPDX-License-Identifier: MIT */
#include "conformance/checks/rig.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "rpc/rpc.h"

#include <string.h>

enum {
	RIG_SETTLE_MS = 500,
	RIG_STOP_GRACE_MS = 5000,
	RIG_DRAIN_MS = 5000,
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

static void rig_on_event(const struct kubelet_event *event, void *user)
{
	struct rig *rig = user;
	cJSON *json CLEANUP_JSON = kubelet_event_json(event);
	char *line CLEANUP_FREE = json != NULL ? json_print_compact(json) : NULL;

	if (line != NULL && rig->events.size < RIG_EVIDENCE_MAX)
		text_addf(&rig->events, "%s\n", line);
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

/* A plugin that took kubelet.sock away cannot register again: that is the cause to tell. */
static void rig_explain_harm(const struct rig *rig, int rc, struct error *err)
{
	const char *harm = rig_socket_harm(rig);

	if (rc < 0 && harm != NULL)
		(void)error_wrap(err, "the plugin %s kubelet.sock", harm);
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
	rig->run = run;
	rig->context = check_context(run);
	(void)uv_loop_init(&rig->loop);
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

/* The resources that the reference plugin offers for the node's devices. */
static int rig_reference_resources(const struct rig *rig, struct text_list *out, struct error *err)
{
	static const char *const own_names[] = {"gpucert.internal/display",
						"gpucert.internal/compute"};
	/* The WDDM plugin offers the adapters that display. */
	static const char *const directx_names[] = {"directx.microsoft.com/display", NULL};
	const char *const *names = rig_is_windows(rig) ? directx_names : own_names;
	bool has[2] = {false, false};
	int rc = 0;

	for (size_t i = 0; i < rig->context->node->device_count; i++)
		has[rig->context->node->devices[i].display ? 0 : 1] = true;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(has); i++) {
		if (has[i] && names[i] != NULL)
			rc = text_list_add(out, names[i], err);
	}
	return rc;
}

/* What registers in the place of a resource that does not. */
static void rig_explain_unregistered(const struct rig *rig, struct error *err)
{
	struct text others CLEANUP_TEXT = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};

	if (kubelet_resource_names(rig->kubelet, &names, NULL) < 0 || names.count == 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		text_addf(&others, "%s%s", i != 0 ? ", " : "", names.items[i]);
	(void)error_wrap(err, "the plugin offers %s", text_string(&others));
}

static int rig_wait_for(struct rig *rig, const struct text_list *resources, struct error *err)
{
	uint64_t limit_ms = context_limit_ms(rig->context, RIG_REGISTER_MS);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < resources->count; i++)
		rc = kubelet_wait_registered(rig->kubelet, resources->items[i],
					     rig->first_registration, limit_ms, NULL, err);
	if (rc < 0)
		rig_explain_unregistered(rig, err);
	return rc;
}

/* What another plugin offers is what registers: the first, and whatever follows at once. */
static int rig_wait_for_any(struct rig *rig, struct error *err)
{
	uint64_t limit_ms = context_limit_ms(rig->context, RIG_REGISTER_MS);
	int rc = kubelet_wait_registered(rig->kubelet, NULL, rig->first_registration, limit_ms,
					 NULL, err);

	if (rc < 0)
		return rc;
	loop_run_for(&rig->loop, RIG_SETTLE_MS);
	return kubelet_resource_names(rig->kubelet, &rig->resources, err);
}

bool rig_expect_registered(struct rig *rig)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = 0;

	text_list_free(&rig->resources);
	if (rig->context->resource != NULL)
		rc = text_list_add(&rig->resources, rig->context->resource, &err);
	else if (rig->context->reference_plugin)
		rc = rig_reference_resources(rig, &rig->resources, &err);
	if (rc == 0)
		rc = rig->resources.count != 0 ? rig_wait_for(rig, &rig->resources, &err)
					       : rig_wait_for_any(rig, &err);
	rig_waited(rig, start);
	rig_explain_harm(rig, rc, &err);
	return check_expect_ok(rig->run, rc, "the plugin registers within 30 s", &err);
}

/* Why a resource has no list: the end of its stream says more than the wait. */
static void rig_explain_no_list(const struct rig *rig, const char *resource, struct error *err)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
	struct kubelet_stream *stream = plugin != NULL ? kubelet_plugin_stream(plugin) : NULL;

	if (stream != NULL && !kubelet_stream_is_open(stream))
		(void)error_wrap(err, "ListAndWatch ended with %s (%s)",
				 rpc_code_name(kubelet_stream_code(stream)),
				 kubelet_stream_status(stream));
}

bool rig_expect_listed(struct rig *rig)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rig->resources.count; i++) {
		rc = kubelet_wait_listed(rig->kubelet, rig->resources.items[i],
					 context_limit_ms(rig->context, RIG_CALL_MS), &err);
		if (rc < 0)
			rig_explain_no_list(rig, rig->resources.items[i], &err);
	}
	rig_waited(rig, start);
	return check_expect_ok(rig->run, rc, "the plugin lists its devices", &err);
}

static bool rig_lists_healthy(const struct rig *rig, const char *resource)
{
	const struct kubelet_device_list *list = kubelet_resource_devices(rig->kubelet, resource);

	for (size_t i = 0; list != NULL && i < list->count; i++) {
		if (kubelet_device_is_healthy(&list->items[i]))
			return true;
	}
	return false;
}

/* A plugin may offer resources that this node has no device for. Where nobody said which resources
 * are under test, those that offer something are. */
static void rig_leave_out_empty(struct rig *rig)
{
	struct text_list offering CLEANUP_TEXT_LIST = {0};

	if (rig->context->resource != NULL || rig->context->reference_plugin)
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		if (rig_lists_healthy(rig, rig->resources.items[i]) &&
		    text_list_add(&offering, rig->resources.items[i], NULL) < 0)
			return;
	}
	if (offering.count == 0 || offering.count == rig->resources.count)
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		if (!text_list_has(&offering, rig->resources.items[i]))
			check_note(rig->run, "%s lists no healthy device and is left out",
				   rig->resources.items[i]);
	}
	text_list_free(&rig->resources);
	rig->resources = offering;
	offering = (struct text_list){0};
}

struct rig *rig_ready_with(struct check_run *run, const char *const *env)
{
	struct rig *rig = rig_with_kubelet(run);

	if (rig == NULL || !rig_start_plugin(rig, env) || !rig_expect_registered(rig) ||
	    !rig_expect_listed(rig))
		return NULL;
	rig_leave_out_empty(rig);
	return rig;
}

struct rig *rig_ready(struct check_run *run)
{
	return rig_ready_with(run, NULL);
}

const struct kubelet_registration *rig_registration(const struct rig *rig, const char *resource)
{
	size_t count = kubelet_registration_count(rig->kubelet);

	for (size_t i = rig->first_registration; i < count; i++) {
		const struct kubelet_registration *found = kubelet_registration_at(rig->kubelet, i);

		if (text_equal(found->resource, resource))
			return found;
	}
	return NULL;
}

bool rig_expect_registered_again(struct rig *rig, size_t from, uint64_t timeout_ms,
				 const char *what)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rig->resources.count; i++)
		rc = kubelet_wait_registered(rig->kubelet, rig->resources.items[i], from,
					     context_limit_ms(rig->context, timeout_ms), NULL,
					     &err);
	rig_waited(rig, start);
	rig_explain_harm(rig, rc, &err);
	return check_expect_ok(rig->run, rc, what, &err);
}

bool rig_end_plugin(struct rig *rig, int signal, uint64_t timeout_ms)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = plugin_process_signal(rig->plugin, signal, &err);

	if (rc == 0)
		rc = plugin_process_wait(rig->plugin, context_limit_ms(rig->context, timeout_ms),
					 &err);
	rig_waited(rig, start);
	/* Its death was wanted: waits may go on. */
	kubelet_interrupt(rig->kubelet, NULL);
	return rc == 0;
}

uint64_t rig_watch(struct rig *rig, uint64_t ms, uint64_t thorough_ms)
{
	uint64_t duration_ms = rig->context->thorough ? thorough_ms : ms;

	loop_run_for(&rig->loop, duration_ms);
	check_add_time(rig->run, REPORT_PHASE_WAIT, duration_ms * 1000000);
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

bool rig_healthy_ids(struct rig *rig, const char *resource, struct text_list *ids)
{
	const struct kubelet_device_list *list = kubelet_resource_devices(rig->kubelet, resource);
	struct error err = {0};

	for (size_t i = 0; list != NULL && i < list->count; i++) {
		if (kubelet_device_is_healthy(&list->items[i]) &&
		    text_list_add(ids, list->items[i].id, &err) < 0) {
			check_broken(rig->run, "%s", err.text);
			return false;
		}
	}
	text_list_sort(ids);
	return check_expect(rig->run, ids->count != 0, "healthy devices", "at least one",
			    "%zu of %s", ids->count, resource);
}

/* Admission and start of the pod's one container. */
static int rig_run_pod(struct rig *rig, const char *pod, const struct kubelet_limit *limit,
		       struct kubelet_container_options *options, struct error *err)
{
	const struct kubelet_container container = {
		.pod = pod,
		.name = "probe",
		.limits = limit,
		.limit_count = 1,
	};
	struct kubelet_outcome outcome = {0};
	int rc = kubelet_admit(rig->kubelet, &container,
			       context_limit_ms(rig->context, RIG_CALL_MS), &outcome, err);

	if (rc == 0 && outcome.accepted)
		rc = kubelet_start_container(rig->kubelet, pod, container.name,
					     context_limit_ms(rig->context, RIG_START_MS), &outcome,
					     options, err);
	if (rc == 0 && !outcome.accepted)
		rc = error_set(err, ERROR_REMOTE, "%s: %s", outcome.reason, outcome.message);
	kubelet_outcome_free(&outcome);
	return rc;
}

bool rig_admit(struct rig *rig, const char *pod, const struct kubelet_limit *limit,
	       struct kubelet_container_options *options)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = rig_run_pod(rig, pod, limit, options, &err);

	rig_waited(rig, start);
	if (rc == 0 && rig->admitted)
		return true;
	rig->admitted = rc == 0 || rig->admitted;
	if (rc < 0) {
		rig_release(rig, pod);
		(void)error_wrap(&err, "%s %s", limit->resource,
				 limit->ids != NULL && limit->count == 1 ? limit->ids[0] : "");
	}
	return check_expect_ok(rig->run, rc, "a container with a device is admitted and started",
			       &err);
}

void rig_release(struct rig *rig, const char *pod)
{
	kubelet_remove_pod(rig->kubelet, pod);
}
