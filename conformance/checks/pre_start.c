/* SPDX-License-Identifier: MIT */
/* PreStartContainer, which the kubelet calls before each start of a container if the plugin requires it. */
#include "base/clock.h"
#include "base/file.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/growth.h"
#include "conformance/checks/handed_out.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"

#include <signal.h>
#include <string.h>

enum {
	CANCELLED_CALLS = 8,
	LISTED_MS = 300, /* within which a list caused by the call comes */
	RETURN_MS = 20000,
	CALLS = 16, /* of a round */
	ROUND_MS = 200,
};

/* True: there is an answer, also one with a status other than OK. False: recorded. */
static bool start(struct rig *rig, const char *resource, const char *id, const char *what,
		  struct rpc_answer *reply)
{
	struct error err = {0};
	return check_expect_ok(rig->run, rig_pre_start(rig, resource, &id, 1, reply, &err), what,
			       &err);
}

static bool expect_start(struct rig *rig, const char *resource, const char *const *ids,
			 size_t count, const char *what, struct rpc_answer *reply)
{
	struct error err = {0};
	return rig_expect_answer(rig, rig_pre_start(rig, resource, ids, count, reply, &err), what,
				 reply, &err);
}

static bool expect_start_first(struct rig *rig, const struct rig_item *item, const char *what)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	return expect_start(rig, item->resource, rig_ids(item->ids), 1, what, &reply);
}

/* Allocates first: a kubelet starts only containers with allocated devices. */
static bool expect_allocated(struct rig *rig, const struct rig_item *item, const char *what)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	return rig_expect_answer(
		rig, rig_allocate(rig, item->resource, rig_ids(item->ids), 1, &reply, &err), what,
		&reply, &err);
}

/* Calls the row's judge for each resource whose plugin does, or does not, require the call. Returns the rig; NULL:
 * recorded. */
static struct rig *each_resource(struct check_run *run, bool required, void *user)
{
	struct rig *rig = rig_ready(run);
	size_t count = 0;
	rig_each (resource, rig) {
		const struct kubelet_registration *registration = rig_registration(rig, resource);
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		struct rig_item item = {.resource = resource, .ids = &ids, .user = user};
		if (registration == NULL || registration->options.pre_start_required != required)
			continue;
		count++;
		if (!rig_healthy_ids(rig, resource, &ids) ||
		    !expect_allocated(rig, &item, "Allocate of one device"))
			return NULL;
		check_row(run)->judge(rig, &item);
	}
	if (rig != NULL && count == 0)
		check_not_applicable(run, required ? "the plugin does not require PreStartContainer"
						   : "the plugin requires PreStartContainer");
	return rig;
}

static void required(struct check_run *run)
{
	(void)each_resource(run, true, NULL);
}

static void not_required(struct check_run *run)
{
	(void)each_resource(run, false, NULL);
}

static void succeeds(struct rig *rig, const struct rig_item *item)
{
	const char *const *ids = rig_ids(item->ids);
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (!expect_start(rig, item->resource, ids, 1, "PreStartContainer", &reply))
		return;
	(void)check_expect_in_time(rig->run, "milliseconds", reply.duration_ms);
	/* A kubelet keeps the ids of a container as a set: their order is another one at each call. */
	if (item->ids->count < 2)
		return;
	const char *const turned[] = {ids[1], ids[0]};
	struct rpc_answer allocated CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer both CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	/* allocate.each-and-all judges a refusal. */
	if (rig_allocate(rig, item->resource, ids, 2, &allocated, &err) == 0 &&
	    allocated.code == RPC_OK)
		(void)expect_start(
			rig, item->resource, turned, 2,
			check_format(rig->run, "PreStartContainer of %s and %s", ids[1], ids[0]),
			&both);
}

static void repeat(struct rig *rig, const struct rig_item *item)
{
	static const char *const whats[] = {"PreStartContainer", "PreStartContainer again",
					    "PreStartContainer for the third time"};
	array_each (what, whats) {
		if (!expect_start_first(rig, item, *what))
			return;
	}
	text_list_add(item->user, item->resource);
	text_list_add(item->user, item->ids->items[0]);
}

/* Containers outlive restarts of kubelet and plugin. When one of them is restarted later, its devices were allocated in
 * an earlier run of the plugin, and are not allocated again. */
static void start_again(struct rig *rig, const struct text_list *started, const char *event)
{
	for (size_t i = 0; i + 1 < started->count; i += 2) {
		const char *resource = started->items[i];
		const char *id = started->items[i + 1];
		const struct kubelet_device *device =
			kubelet_resource_device(rig->kubelet, resource, id);
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (kubelet_device_is_healthy(device))
			(void)expect_start(
				rig, resource, &id, 1,
				check_format(rig->run, "PreStartContainer after %s", event),
				&reply);
		else
			check_note(rig->run, "after %s %s is %s", event, id,
				   kubelet_device_state(device));
	}
}

/* The row's judge for each resource adds it and the id that it started to a list. */
static void repeats(struct check_run *run)
{
	struct text_list started CLEANUP_TEXT_LIST = {0};
	struct rig *rig = each_resource(run, true, &started);
	struct error err = {0};
	if (rig == NULL || started.count == 0)
		return;
	rig->supervised = true;
	if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE))
		return;
	int rc = rig_wait_return(rig, context_wait_ms(rig->context, RETURN_MS), &err);
	if (rc < 0)
		check_note(run, "not tested after a kubelet's restart: %s", err.text);
	else if (rig_expect_listed(rig))
		start_again(rig, &started, "the kubelet's restart");
	if (rig->plugin != NULL && rig_restart_plugin(rig, SIGTERM) && rig_expect_listed(rig))
		start_again(rig, &started, "the plugin's restart");
}

static void on_cancelled(const struct rpc_status *status, ProtobufCMessage *reply, void *user)
{
	struct rpc_call **call = user;
	(void)status;
	*call = NULL;
	protobuf_c_message_free_unpacked(reply, NULL);
}

/* The kubelet gives up a call at its deadline, and calls again at the container's next start. */
static void cancelled(struct rig *rig, const struct rig_item *item)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, item->resource);
	for (size_t i = 0; i < CANCELLED_CALLS; i++) {
		const V1beta1__PreStartContainerRequest request =
			kubelet_pre_start_request(rig_ids(item->ids), 1);
		struct rpc_call *call = NULL;
		struct error err = {0};
		int rc = kubelet_call_start(plugin, &kubelet_method_pre_start, &request.base,
					    RIG_CALL_MS, on_cancelled, &call, &call, &err);
		if (!rig_expect_ok(rig, rc, "a call that is cancelled", &err))
			return;
		(void)rig_watch(rig, 1, 1); /* in which the call is cancelled */
		if (call != NULL)
			rpc_call_cancel(call);
	}
	(void)expect_start_first(rig, item, "PreStartContainer after cancelled calls");
}

/* Another device, and what was wrong with it in a list; NULL: nothing. */
struct watched {
	const struct rig_item *item;
	const char *id, *wrong;
};

static void watch_other(const struct kubelet_event *event, void *user)
{
	struct watched *watched = user;
	const struct kubelet_device *device = kubelet_device_find(event->devices, watched->id);
	if (text_equal(event->resource, watched->item->resource) &&
	    !kubelet_device_is_healthy(device))
		watched->wrong = kubelet_device_state(device);
}

/* A device in use by another container must keep its health and its files. */
static void others(struct rig *rig, const struct rig_item *item)
{
	const char *other = item->ids->items[item->ids->count - 1];
	struct rpc_answer before CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer own CLEANUP_RPC_ANSWER = {0};
	struct text_list files CLEANUP_TEXT_LIST = {0};
	TALLY(present, rig->run, "files of answers, also of another device's",
	      "present, as before");
	if (item->ids->count < 2) {
		check_not_applicable(rig->run, "%s has one device", item->resource);
		return;
	}
	const V1beta1__ContainerAllocateResponse *answer =
		allocate_expect(rig, item->resource, &other, 1, other, &before);
	const V1beta1__ContainerAllocateResponse *started_one =
		rig_ask(rig, item->resource, rig_ids(item->ids), 1, &own);
	if (answer != NULL)
		handed_out_add_mounts(answer, true, &files);
	if (started_one != NULL)
		handed_out_add_mounts(started_one, true, &files);
	struct watched watched = {.item = item, .id = other};
	rig->on_list = watch_other;
	rig->on_list_user = &watched;
	bool started = answer != NULL && expect_start_first(rig, item, "PreStartContainer");
	if (started)
		(void)rig_watch(rig, LISTED_MS, LISTED_MS);
	rig->on_list = NULL;
	if (!started)
		return;
	(void)check_expect_is(rig->run, watched.wrong == NULL,
			      check_format(rig->run, "%s after PreStartContainer of %s", other,
					   item->ids->items[0]),
			      "listed and healthy, as before", watched.wrong);
	text_each (path, &files)
		tally_add(&present, file_exists(path), "%s is gone", path);
}

static void unknown_id(struct rig *rig, const struct rig_item *item)
{
	static const char *const unknown[] = {RIG_UNKNOWN_ID, "../../etc/passwd"};
	array_each (id, unknown) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (start(rig, item->resource, *id, "PreStartContainer of an unknown id", &reply))
			(void)check_expect(rig->run, reply.code != RPC_OK,
					   "PreStartContainer of an unknown id", "an error", "%s",
					   rpc_code_name(reply.code));
	}
	(void)expect_start_first(rig, item, "PreStartContainer of an allocated device afterwards");
}

static bool start_round(struct rig *rig, void *user)
{
	uint64_t end_ms = clock_monotonic_ms() + ROUND_MS;
	for (size_t i = 0; i < CALLS && (i == 0 || clock_monotonic_ms() < end_ms); i++) {
		if (!expect_start_first(rig, user, "PreStartContainer after others"))
			return false;
	}
	return true;
}

static void leaks(struct rig *rig, const struct rig_item *item)
{
	struct rig_item started = *item;
	rig_expect_level(rig, "calls of PreStartContainer", start_round, &started);
}

static void survives(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (start(rig, item->resource, item->ids->items[0], "PreStartContainer", &reply))
		(void)expect_allocated(rig, item, "Allocate afterwards");
}

#define SUCCEEDS "pre-start.succeeds"
#define ALLOCATE "allocate.one-response"
#define PRE_START(name, revision, rule, severity, foundation, run, body, ...)                      \
	CHECK("pre-start." name, rule, severity, revision, run, .timeout_s = 180,                  \
	      .needs = {.devices = 1}, .depends_on = (foundation), .judge = (body), __VA_ARGS__)

const struct check pre_start_checks[] = {
	PRE_START("succeeds", 1, PRE_01, CRITICAL, ALLOCATE, required, succeeds,
		  .title = "PreStartContainer of allocated devices succeeds in time",
		  .advice = "Prepare devices in less than the kubelet's deadline, or do not set "
			    "pre_start_required: the container does not start otherwise."),
	PRE_START("repeat", 2, PRE_03, CRITICAL, SUCCEEDS, repeats, repeat,
		  .title = "PreStartContainer succeeds each time a container starts",
		  .advice =
			  "Keep no record of allocated devices or started containers: the kubelet "
			  "calls again, with the same ids, when it restarts a container, also "
			  "after a restart of the plugin."),
	PRE_START("cancelled", 1, PRE_05, MEDIUM, SUCCEEDS, required, cancelled,
		  .title = "Cancelled calls of PreStartContainer leave the plugin usable",
		  .advice =
			  "Stop at the end of the call's context, and release what it locked: the "
			  "kubelet cancels the call at its deadline."),
	PRE_START("others-undisturbed", 2, PRE_06, HIGH, SUCCEEDS, required, others,
		  .title = "PreStartContainer leaves the devices of other containers alone",
		  .advice = "Reset and prepare only the devices of the call."),
	PRE_START("unknown-id", 1, PRE_04, LOW, SUCCEEDS, required, unknown_id,
		  .title = "PreStartContainer of an unknown id is refused",
		  .advice = "Look each id up in the list that was sent, and answer with an error "
			    "status."),
	PRE_START("leaks", 2, PRE_07, MEDIUM, "pre-start.repeat", required, leaks,
		  .title = "Many calls of PreStartContainer leak nothing",
		  .advice = "Close what a call opened: compare the plugin's /proc/PID/fd and its "
			    "memory before and after."),
	PRE_START("not-required", 1, PRE_02, LOW, ALLOCATE, not_required, survives,
		  .title = "A plugin that requires no PreStartContainer survives it",
		  .advice = "Answer with an empty response, as upstream's stub does, or with "
			    "UNIMPLEMENTED."),
	{.id = NULL},
};
