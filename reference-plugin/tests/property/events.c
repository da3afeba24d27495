/* SPDX-License-Identifier: MIT */
#include "reference-plugin/tests/property/events.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "reference-plugin/tests/property/calls.h"
#include "reference-plugin/tests/property/virtual_time.h"

#include <string.h>
#include <unistd.h>

enum { LONG_MS = 6 * 60 * 1000 };

struct event_kind {
	const char *name;
	unsigned weight;
	int (*apply)(const struct event *event, struct node *node, struct error *err);
	void (*describe)(const struct event *event, struct text *out); /* may be NULL */
};

/*
 * Time.
 */

static const unsigned pauses_ms[] = {1, 40, 120, 700, 1500, 4000, 9000, 33000};

static int apply_pause(const struct event *event, struct node *node, struct error *err)
{
	(void)err;
	loop_run_for(&node->loop, pauses_ms[event->which % ARRAY_SIZE(pauses_ms)]);
	return 0;
}

static void describe_pause(const struct event *event, struct text *out)
{
	text_addf(out, " %u ms", pauses_ms[event->which % ARRAY_SIZE(pauses_ms)]);
}

static int apply_settle(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	return node_settle(node, err);
}

/* Nothing is left of faults after the first pause; in the second, nothing may happen. */
static int apply_quiet(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	int rc = node_settle(node, err);
	loop_run_for(&node->loop, LONG_MS);
	if (rc == 0)
		rc = node_settle(node, err);
	size_t before = node->restlessness;
	loop_run_for(&node->loop, LONG_MS);
	if (rc == 0 && node->restlessness != before)
		return error_set(err, ERROR_FORMAT, "the plugin does not keep quiet");
	return rc == 0 ? node_settle(node, err) : rc;
}

static int apply_inspect(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	int rc = kubelet_start(node->kubelet, err);
	return rc == 0 ? node_inspect(node, err) : rc;
}

/*
 * The kubelet.
 */

static const char *const restarts[] = {"whole", "plugin sockets", "kubelet socket"};

static int apply_restart(const struct event *event, struct node *node, struct error *err)
{
	enum kubelet_restart what = (enum kubelet_restart)(event->which % ARRAY_SIZE(restarts));
	model_stirs(&node->model);
	for (size_t i = 0; i < RESOURCES; i++)
		node->registrations_allowed[i]++;
	if (what == KUBELET_RESTART_PLUGIN_SOCKETS || node->model.kubelet_runs)
		return kubelet_restart(node->kubelet, what, err);
	return 0;
}

static void describe_restart(const struct event *event, struct text *out)
{
	text_addf(out, ": %s", restarts[event->which % ARRAY_SIZE(restarts)]);
}

static int apply_stop(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	(void)err;
	kubelet_stop(node->kubelet);
	return 0;
}

static int apply_start(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	return kubelet_start(node->kubelet, err);
}

static const char *const faults[] = {
	"register-status=UNAVAILABLE*1",
	"register-status=UNAVAILABLE*3",
	"register-status=UNKNOWN:no*2",
	"register-delay=300*1",
	"register-delay=9007*1", /* never at the instant at which a quiet time ends */
	"register-delay=15013*1",
	"register-hang*1",
	"register-malformed*2",
	"list-twice*2",
	"list-cancel=0*1",
	"list-cancel=700*2",
	"disconnect=0*1",
	"disconnect=500*2",
	"disconnect=3000*1",
	"options-twice*2",
	"flap=30*3",
	"flap=400*3",
};

static int apply_fault(const struct event *event, struct node *node, struct error *err)
{
	model_stirs(&node->model);
	for (size_t i = 0; i < RESOURCES; i++)
		node->registrations_allowed[i] += 4;
	return kubelet_fault_set(node->kubelet, faults[event->which % ARRAY_SIZE(faults)], err);
}

static void describe_fault(const struct event *event, struct text *out)
{
	text_addf(out, ": %s", faults[event->which % ARRAY_SIZE(faults)]);
}

static int apply_unlink(const struct event *event, struct node *node, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	model_stirs(&node->model);
	for (size_t i = 0; i < RESOURCES; i++)
		node->registrations_allowed[i]++;
	int rc = file_list(node->config.plugin_dir, &names, err);
	text_each (name, &names) {
		char *path CLEANUP_FREE = path_join(node->config.plugin_dir, name);
		if (text_starts_with(name, event->resource == 0 ? "gpu-display" : "gpu-compute"))
			(void)unlink(path);
	}
	return rc;
}

static void describe_resource(const struct event *event, struct text *out)
{
	text_addf(out, " of %s", node_resources[event->resource]);
}

/*
 * The plugin and its devices.
 */

static int apply_plugin_stop(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	(void)err;
	node_plugin_stop(node);
	return 0;
}

static int apply_plugin_start(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	return node->plugin == NULL ? node_plugin_start(node, err) : 0;
}

static int apply_plugin_update(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	return node_plugin_start(node, err);
}

static int apply_device(const struct event *event, struct node *node, struct error *err)
{
	return node_device(node, event->device, event->state, err);
}

static void describe_device(const struct event *event, struct text *out)
{
	static const char *const states[] = {"goes away", "is unhealthy", "is healthy"};
	text_addf(out, " %.2s %s", model_string(event->device * REPLICAS), states[event->state]);
}

/* A file that nobody can read takes no device away. */
static int apply_unreadable(const struct event *event, struct node *node, struct error *err)
{
	(void)event;
	int rc = file_write_atomic(node->file, "{", 1, 0644, err);
	if (rc == 0 && node->plugin != NULL && node_scan(node, NULL) == 0)
		rc = error_set(err, ERROR_FORMAT, "an unreadable node was read");
	return rc == 0 ? node_write(node, err) : rc;
}

static const struct event_kind kinds[] = {
	{"pause", 14, apply_pause, describe_pause},
	{"rest", 14, apply_settle, NULL},
	{"long rest", 1, apply_quiet, NULL},
	{"kubelet restarts", 6, apply_restart, describe_restart},
	{"kubelet stops", 2, apply_stop, NULL},
	{"kubelet starts", 5, apply_start, NULL},
	{"kubelet has fault", 8, apply_fault, describe_fault},
	{"removed: socket", 2, apply_unlink, describe_resource},
	{"plugin stops", 2, apply_plugin_stop, NULL},
	{"plugin starts", 5, apply_plugin_start, NULL},
	{"plugin is replaced", 1, apply_plugin_update, NULL},
	{"device", 16, apply_device, describe_device},
	{"node cannot be read", 1, apply_unreadable, NULL},
	{"pod is admitted:", 14, call_admit, describe_admit},
	{"pod ends:", 8, call_remove, describe_pod},
	{"container starts: pod", 4, call_start, describe_pod},
	{"Allocate", 14, call_allocate, describe_call},
	{"GetPreferredAllocation", 6, call_preferred, describe_preferred},
	{"PreStartContainer", 1, call_pre_start, describe_resource},
};

static const struct event_kind inspection = {"inspection", 0, apply_inspect, NULL};

/* SplitMix64 */
static unsigned draw(uint64_t *state, unsigned below)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t mixed = (*state ^ (*state >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((mixed ^ (mixed >> 31)) % below);
}

/* Mostly an id of the resource. */
static unsigned draw_string(uint64_t *state, unsigned resource)
{
	const unsigned display = DISPLAY_DEVICES * REPLICAS;
	if (draw(state, 12) == 0)
		return draw(state, STRINGS);
	return resource == 0 ? draw(state, display) : display + draw(state, IDS - display);
}

struct event event_draw(uint64_t seed, size_t index)
{
	uint64_t state = seed * UINT64_C(0x2545f4914f6cdd1d) + index * UINT64_C(0xd1342543de82ef95);
	unsigned all = 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		all += kinds[i].weight;
	unsigned at = draw(&state, all);
	const struct event_kind *kind = kinds;
	while (at >= kind->weight)
		at -= kind++->weight;
	if (index % INSPECTED_EVERY == INSPECTED_EVERY - 1)
		kind = &inspection;

	struct event event = {.kind = kind, .which = draw(&state, 1000)};
	event.resource = draw(&state, 3) == 0 ? 1 : 0;
	event.device = draw(&state, DEVICES);
	event.pod = draw(&state, PODS);
	static const enum device_state states[] = {DEVICE_ABSENT, DEVICE_UNHEALTHY, DEVICE_HEALTHY};
	event.state = draw(&state, 2) == 0 ? DEVICE_HEALTHY : states[draw(&state, 3)];
	event.count[0] = draw(&state, 4);
	event.count[1] = event.count[0] == 0 ? 1 + draw(&state, 3) : draw(&state, 2);
	event.containers = draw(&state, 3) == 0 ? 2 : 1;
	for (unsigned i = 0; i < 2; i++) {
		event.string_count[i] = draw(&state, 16) == 0 ? 0 : 1 + draw(&state, CALL_IDS);
		for (unsigned k = 0; k < CALL_IDS; k++)
			event.strings[i][k] = draw_string(&state, event.resource);
	}
	event.available = draw(&state, UINT32_C(1) << IDS);
	event.size = (int)draw(&state, 7) - 1;
	return event;
}

void event_describe(const struct event *event, struct text *out)
{
	text_add(out, event->kind->name);
	if (event->kind->describe != NULL)
		event->kind->describe(event, out);
}

int event_apply(const struct event *event, struct node *node, struct error *err)
{
	int rc = event->kind->apply(event, node, err);
	if (rc == 0 && node->surprise.code != 0)
		return error_copy(err, &node->surprise);
	return rc;
}
