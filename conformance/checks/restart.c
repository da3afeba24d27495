/* SPDX-License-Identifier: MIT */
/* Restarts: of the kubelet, of the plugin, and of neither. */
#include "conformance/checks/restart.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/suites.h"

#include <signal.h>
#include <string.h>

enum {
	FLAPS = 5,
	FLAPS_THOROUGH = 20,
	FLAP_THREADS = 40, /* threads of pools that fill up */
	FLAP_MS = 150,
	FLAP_THOROUGH_MS = 1000,
	ASKED_MAX = 64,		/* ids among which a preferred device is chosen */
	SIGNAL_EXIT_CODE = 128, /* of a shell, for a program that a signal ended */
	RETRY_MS = 1000,
};

/* Did the plugin end with its last stream? It may have registered before it saw that one end. */
static bool ended_by_itself(const struct rig *rig)
{
	return rig->supervised && rig->plugin != NULL && process_has_ended(rig->plugin) &&
	       process_result(rig->plugin)->end == PROCESS_EXITED &&
	       process_result(rig->plugin)->code == 0;
}

/* Allocate is UNAVAILABLE while the plugin is about to serve again. The pod then stays Failed, and its
 * controller creates another one: with `user`, a flag, the call is repeated within the row's limit. */
static void allocates(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	const char *const *ids = rig_ids(item->ids);
	uint64_t end = clock_monotonic_ms() + rig_wait_ms(rig, check_row(rig->run)->requirement);
	int rc = rig_allocate(rig, item->resource, ids, 1, &reply, &err);
	while (clock_monotonic_ms() < end) {
		const bool unavailable =
			rc == ERROR_UNAVAILABLE || (rc == 0 && reply.code == RPC_UNAVAILABLE);
		if (!(rc < 0 && ended_by_itself(rig)) && !(unavailable && item->user != NULL))
			break;
		loop_run_for(&rig->loop, RETRY_MS);
		if (ended_by_itself(rig) && !restart_expect_registered(rig))
			return;
		rpc_answer_free(&reply);
		reply = (struct rpc_answer){0};
		rc = rig_allocate(rig, item->resource, ids, 1, &reply, &err);
	}
	if (!rig_expect_answer(rig, rc, "Allocate afterwards", &reply, &err))
		return;

	/* The calls that a kubelet makes in addition to Allocate if the plugin's current options require them. An error
	 * fails the pod. */
	const struct kubelet_registration *r = rig_last_registration(rig, item->resource);
	struct rpc_answer preferred CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer started CLEANUP_RPC_ANSWER = {0};
	if (r != NULL && r->options.get_preferred_allocation_available) {
		const size_t count = item->ids->count < ASKED_MAX ? item->ids->count : ASKED_MAX;
		rc = rig_prefer(rig, item->resource, ids, count, &preferred, &err);
		(void)rig_expect_answer(rig, rc, "GetPreferredAllocation afterwards", &preferred,
					&err);
	}
	if (r != NULL && r->options.pre_start_required) {
		rc = rig_pre_start(rig, item->resource, ids, 1, &started, &err);
		(void)rig_expect_answer(rig, rc, "PreStartContainer afterwards", &started, &err);
	}
}

/* Every resource lists its devices and allocates one of them. */
static void expect_works(struct rig *rig)
{
	if (rig_expect_listed(rig))
		(void)rig_for_each(rig, allocates, NULL);
}

void restart_expect_works(struct rig *rig)
{
	if (rig_expect_listed(rig))
		(void)rig_for_each(rig, allocates, &rig->supervised);
}

/* Keeps nothing if the plugin's answers differ each time. */
static void keep_answer(struct rig *rig, const struct rig_item *item)
{
	if (allocate_is_stable(rig, item))
		(void)allocate_keep(rig, item->resource, item->ids->items[0], item->user);
}

struct rig *restart_ready(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig != NULL)
		rig->supervised = true;
	return rig;
}

struct restart {
	enum kubelet_restart what;
	const char *event;
};

/* A body: after the restart of the row's param the plugin must register again. A plugin that ends
 * because of it comes back with its pod. */
static void kubelet_restarts(struct check_run *run)
{
	const struct restart *restart = check_row(run)->param;
	struct rig *rig = restart_ready(run);
	if (rig == NULL)
		return;
	/* A kubelet sweeps its own folder, but no subfolders. */
	rig_each (resource, rig) {
		const struct kubelet_registration *r = rig_registration(rig, resource);
		if (restart->what == KUBELET_RESTART_PLUGIN_SOCKETS && r != NULL &&
		    !path_is_bare_name(r->endpoint)) {
			check_not_applicable(run, "no kubelet removes %s", r->endpoint);
			return;
		}
	}
	/* A file watch may end after its first event. restart.again has more restarts of the whole kubelet. */
	const char *events[] = {restart->event,
				check_format(run, "%s, a second time", restart->event)};
	for (size_t i = 0; i < (restart->what == KUBELET_RESTART_WHOLE ? 1 : ARRAY_SIZE(events));
	     i++) {
		if (!rig_restart_kubelet(rig, restart->what) || !rig_expect_return(rig, events[i]))
			return;
		expect_works(rig);
	}
}

/* A kubelet without them calls neither PreStartContainer nor GetPreferredAllocation any more. */
static void expect_same_options(struct rig *rig, const char *resource)
{
	const struct kubelet_plugin_options *before = NULL, *after = NULL;
	registration_each (r, rig->kubelet, 0) {
		if (r->code == RPC_OK && text_equal(r->resource, resource))
			after = &r->options;
		before = before == NULL ? after : before;
	}
	if (before == NULL)
		return;
	(void)check_expect_int(rig->run, "pre_start_required after the restarts",
			       after->pre_start_required, before->pre_start_required);
	(void)check_expect_int(rig->run, "get_preferred_allocation_available after the restarts",
			       after->get_preferred_allocation_available,
			       before->get_preferred_allocation_available);
}

/* The longest time from a stream's start to its first list, among the resources. */
static uint64_t slowest_list_ms(const struct rig *rig)
{
	uint64_t slowest_ms = 0;
	rig_each (resource, rig) {
		const struct kubelet_stream_state stream =
			kubelet_stream_state(rig_stream(rig, resource));
		uint64_t ms = stream.first_ms - stream.opened_ms;
		slowest_ms = stream.messages != 0 && ms > slowest_ms ? ms : slowest_ms;
	}
	return slowest_ms;
}

/* What the plugin prefers where only the resource's last device is available: an id other than that one, or NULL. */
static const char *unavailable_preference(struct rig *rig, const char *resource)
{
	const struct kubelet_registration *r = rig_last_registration(rig, resource);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (r == NULL || !r->options.get_preferred_allocation_available ||
	    !rig_healthy_ids(rig, resource, &ids))
		return NULL;
	const char *last = ids.items[ids.count - 1];
	(void)rig_prefer(rig, resource, &last, 1, &reply, NULL);
	const V1beta1__ContainerPreferredAllocationResponse *answer = rig_first_preference(&reply);
	for (size_t i = 0; answer != NULL && i < answer->n_deviceids; i++) {
		if (!text_equal(answer->deviceids[i], last))
			return check_format(rig->run, "%s", answer->deviceids[i]);
	}
	return NULL;
}

static void flapping(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct allocate_kept kept CLEANUP_ALLOCATE_KEPT = {0};
	if (rig == NULL || !rig_for_each(rig, keep_answer, &kept))
		return;
	rig->supervised = true;
	/* list-and-watch.first-message judges the first stream. */
	const uint64_t limit_ms = requirement_limit_ms(CHECK_LAW_01);
	const bool was_prompt = slowest_list_ms(rig) <= limit_ms;
	struct text_list devices CLEANUP_TEXT_LIST = {0};
	restart_add_devices(rig, true, &devices);
	/* preferred-allocation.only-available judges others. */
	struct text_list preferring CLEANUP_TEXT_LIST = {0};
	rig_each (resource, rig) {
		if (unavailable_preference(rig, resource) == NULL)
			text_list_add(&preferring, resource);
	}
	struct rig_footprint before = {0};
	(void)rig_footprint(rig, &before);
	for (int i = 0; i < (rig->context->thorough ? FLAPS_THOROUGH : FLAPS); i++) {
		if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE))
			return;
		(void)rig_watch(rig, FLAP_MS, FLAP_THOROUGH_MS);
	}
	if (!rig_expect_return(rig, "the last restart"))
		return;
	restart_expect_works(rig);
	if (was_prompt)
		(void)check_expect_at_most(run,
					   "milliseconds to the first list after the last restart",
					   (long long)slowest_list_ms(rig), (long long)limit_ms);
	restart_expect_devices(rig, true, &devices, "after the kubelet's restarts");
	rig_each (resource, rig)
		expect_same_options(rig, resource);
	text_each (resource, &preferring) {
		const char *preferred = unavailable_preference(rig, resource);
		(void)check_expect(
			run, preferred == NULL, "preferred device after the kubelet's restarts",
			"one that is available", "%s", preferred != NULL ? preferred : "one");
	}
	rig_expect_footprint(rig, &before, FLAP_THREADS);
	/* For the ids that are still healthy. */
	items_each (one, kept.each, kept.count) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (!kubelet_device_is_healthy(
			    kubelet_resource_device(rig->kubelet, one->resource, one->id)))
			continue;
		(void)allocate_expect_same(
			rig, check_format(rig->run, "%s after the kubelet's restarts", one->id),
			ALLOCATE_ALL, one->answer,
			rig_ask(rig, one->resource, &one->id, 1, &reply));
	}
}

static void terminate(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig == NULL)
		return;
	/* After a restart of the kubelet, which restart.kubelet-restart judges, the socket is another one. */
	struct error err = {0};
	rig->supervised = true;
	if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) ||
	    (rig_returns(rig) && !rig_expect_lists(rig)))
		return;
	rig->supervised = false;
	struct text_list sockets CLEANUP_TEXT_LIST = {0};
	registration_each (r, rig->kubelet, 0) {
		if (r->socket != NULL)
			text_list_add(&sockets, r->socket);
	}
	uint64_t start_ms = clock_monotonic_ms();
	bool ended = rig_end_plugin(rig, SIGTERM, requirement_limit_ms(CHECK_RES_08));
	if (!check_expect_is(run, ended, "the plugin after SIGTERM", "ended", "still running") ||
	    !check_expect_in_time(run, "milliseconds from SIGTERM to the end",
				  clock_monotonic_ms() - start_ms))
		return;

	/* A plugin without a handler dies by the signal, and cannot remove its socket. */
	const struct process_result *result = process_result(rig->plugin);
	bool died = (result->end == PROCESS_EXITED && result->code == SIGNAL_EXIT_CODE + SIGTERM) ||
		    (result->end != PROCESS_EXITED && result->code == SIGTERM);
	/* Daemons of a DaemonSet's plugin die with its container; those of a service would stay. */
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (check_works(run, process_end_orphans(&names, &err), "processes of the plugin", &err))
		(void)check_expect_is(run, names.count == 0, "the plugin's processes", "ended",
				      names.items != NULL ? names.items[0] : "");

	text_each (socket, &sockets) {
		bool left = file_exists(socket);
		if (left && died)
			check_note(run, "SIGTERM killed the plugin, and its socket is left behind");
		else
			(void)check_expect_is(run, !left, "the plugin's socket", "removed",
					      "still there");
	}
}

static void kill_and_return(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig != NULL && rig_restart_plugin(rig, SIGKILL))
		expect_works(rig);
}

/* Have the streams of the plugin's earlier runs ended? */
static bool older_is_unwatched(void *user)
{
	const struct rig *rig = user;
	for (size_t i = 0; i < rig->first_registration; i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);
		if (kubelet_stream_state(kubelet_plugin_stream(r->plugin)).open)
			return false;
	}
	return true;
}

static bool is_allocatable(void *user)
{
	const struct rig *rig = user;
	rig_each (resource, rig) {
		struct kubelet_resource_status status =
			kubelet_resource_status(rig->kubelet, resource);
		if (!status.connected || !status.listed || status.allocatable == 0)
			return false;
	}
	return true;
}

static bool is_allocatable_or_over(void *user)
{
	const struct rig *rig = user;
	return is_allocatable(user) || process_has_ended(rig->plugin);
}

/* A plugin that ends with its stream is started again, as in a DaemonSet. */
static int wait_allocatable(struct rig *rig, struct error *err)
{
	static const char what[] = "allocatable devices of each resource";
	uint64_t timeout_ms = rig_wait_ms(rig, CHECK_RES_10);
	int rc = rig_wait(rig, is_allocatable_or_over, rig, timeout_ms, what, err);
	if (rc < 0 || !process_has_ended(rig->plugin) || !rig_start_plugin(rig))
		return rc;
	check_note(rig->run, "the plugin ended and was started again, as in a DaemonSet");
	return rig_wait(rig, is_allocatable, rig, timeout_ms, what, err);
}

static void rolling_update(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	if (rig == NULL)
		return;

	/* Starts a second instance next to the running one. */
	struct process *older = NULL;
	if (!restart_start_second(rig, &older))
		return;
	struct error err = {0};
	int rc = rig_settle(rig, &err);
	if (rc < 0 && (process_has_ended(rig->plugin) || process_has_ended(older))) {
		check_unsupported(run, "two instances do not run side by side: %s", err.text);
		return;
	}
	if (!check_expect_ok(run, rc, "a second instance registers", &err) ||
	    !rig_expect_listed(rig))
		return;

	/* The older one stops, and the kubelet sees its streams end. */
	struct process *newer = rig->plugin;
	rig->plugin = older;
	bool stopped = rig_stop_plugin(rig, SIGTERM);
	rig->plugin = newer;
	if (!stopped)
		return;
	rc = kubelet_wait(rig->kubelet, older_is_unwatched, rig, RIG_CALL_MS,
			  "the end of the older instance's streams", &err);
	if (!check_works(run, rc, NULL, &err))
		return;

	uint64_t start_ms = clock_monotonic_ms();
	rc = wait_allocatable(rig, &err);
	uint64_t duration_ms = clock_monotonic_ms() - start_ms;
	const struct kubelet_registration *last =
		rig_last_registration(rig, rig->resources.items[0]);
	if (rc < 0 && last != NULL && last->socket != NULL && !file_exists(last->socket))
		rc = error_wrap(&err, rc, "the older instance removed the newer one's socket");
	if (check_expect_ok(run, rc, "allocatable again after the older instance's end", &err) &&
	    check_expect_in_time(run, "milliseconds from the older instance's end", duration_ms))
		expect_works(rig);
}

#define RESTART(name, rule, severity, revision, body, ...)                                         \
	CHECK("restart." name, rule, severity, revision, body, .timeout_s = 300,                   \
	      .depends_on = "list-and-watch.arrives", .needs.devices = 1, __VA_ARGS__)

const struct check restart_checks[] = {
	RESTART("kubelet-restart", RES_01, CRITICAL, 1, kubelet_restarts,
		.param = &(const struct restart){KUBELET_RESTART_WHOLE, "the kubelet's restart"},
		.title = "After a kubelet restart the plugin registers again",
		.advice =
			"Watch the plugin directory: when the plugin's own socket or kubelet.sock "
			"disappears, serve on a new socket and register as soon as kubelet.sock is "
			"back."),
	RESTART("socket-removed", RES_02, MEDIUM, 3, kubelet_restarts,
		.param = &(const struct restart){KUBELET_RESTART_PLUGIN_SOCKETS,
						 "the removal of the plugin's socket"},
		.title = "A plugin whose own socket is removed registers again",
		.advice =
			"Watch the plugin's own socket file: a starting kubelet removes it before "
			"it creates kubelet.sock."),
	RESTART("kubelet-socket-recreated", RES_03, MEDIUM, 2, kubelet_restarts,
		.param = &(const struct restart){KUBELET_RESTART_KUBELET_SOCKET,
						 "the return of kubelet.sock"},
		.title = "A plugin registers again when only kubelet.sock is created again",
		.advice = "Watch for the creation of kubelet.sock, not only for the loss of the "
			  "plugin's own socket."),
	RESTART("flapping", RES_05, MEDIUM, 4, flapping,
		.title = "Quick kubelet restarts leave the plugin registered and working",
		.advice = "Close the old listener and its connections before you serve again, and "
			  "derive answers from ids only."),
	RESTART("terminate", RES_08, MEDIUM, 4, terminate,
		.title = "SIGTERM ends the plugin and removes its socket",
		.advice = "Handle SIGTERM: end the streams, remove the socket, exit; or leave the "
			  "signal its default action.",
		.needs.own_plugin = true),
	RESTART("kill-and-return", RES_09, HIGH, 1, kill_and_return,
		.title = "A killed plugin registers again despite its stale socket",
		.advice = "Use a new socket name at each start, or remove a stale socket before "
			  "binding.",
		.needs.own_plugin = true),
	RESTART("rolling-update", RES_10, MEDIUM, 1, rolling_update,
		.title = "A resource stays when the older of two instances stops",
		.advice =
			"When the kubelet ends the stream while kubelet.sock still exists, "
			"register again, with back-off: kubelets up to 1.36 end the newer "
			"instance's stream when the older one stops. Until the plugin does, update "
			"it without surge. Use a socket name of its own in each process: kubelets "
			"from 1.37 ignore a socket that they know.",
		.needs.own_plugin = true, .each_kubelet = true),
	RESTART("again", RES_20, HIGH, 1, restart_again,
		.title = "One kubelet restart after the other is survived",
		.advice = "Watch for kubelet.sock again after each registration, and serve anew "
			  "each time."),
	RESTART("leaks", RES_23, MEDIUM, 3, restart_leaks,
		.title = "Kubelet restarts leak neither descriptors, threads nor files",
		.advice = "Close the old listener, its connections, the one to the kubelet and its "
			  "watches before serving anew, and remove its temporary files; register "
			  "once."),
	RESTART("at-once", RES_22, MEDIUM, 1, restart_at_once,
		.title = "A kubelet restart right after registration is noticed",
		.advice = "Watch the plugin directory before calling Register, so that no change "
			  "falls between the two.",
		.needs.own_plugin = true),
	RESTART("during-allocate", RES_21, MEDIUM, 1, restart_during_allocate,
		.title = "A kubelet restart during Allocate does no harm",
		.advice = "Release locks when a call is cancelled or its connection is lost.",
		.needs.os = "linux"),
	RESTART("kubelet-absent", RES_04, MEDIUM, 3, restart_kubelet_absent,
		.title = "A plugin waits for a kubelet that is away",
		.advice = "Sleep until kubelet.sock is back, or end with an error and let the "
			  "supervisor start the plugin again; do not poll without a pause."),
	RESTART("register-unanswered", RES_06, MEDIUM, 1, restart_register_unanswered,
		.title = "A Register call that is never answered does not block the plugin",
		.advice = "Give Register a deadline, or watch for a new kubelet.sock meanwhile."),
	RESTART("kubelet-disconnects", RES_07, MEDIUM, 1, restart_kubelet_disconnects,
		.title = "After the kubelet closes its connection it can connect again",
		.advice = "Keep serving the socket, or register a new one, when a connection ends.",
		.needs.os = "linux"),
	RESTART("directory-recreated", RES_16, LOW, 2, restart_directory_recreated,
		.title = "A plugin directory that is created again is noticed",
		.advice =
			"A watch of the directory does not see the new one: watch its parent too, "
			"look at its inode from time to time, or end with an error.",
		.needs.os = "linux", .needs.own_plugin = true),
	RESTART("side-by-side", RES_11, MEDIUM, 1, restart_side_by_side,
		.title = "Two instances of a plugin do not fight for the kubelet",
		.advice = "Use a socket name of its own in each process; register again only for a "
			  "new kubelet.sock.",
		.needs.os = "linux", .needs.own_plugin = true, .each_kubelet = true),
	RESTART("answer-stays", RES_12, CRITICAL, 2, restart_answer_stays,
		.title = "What an answer hands out outlives the plugin",
		.advice = "Keep files that an answer mounts while pods may use them: the kubelet "
			  "applies a stored answer at each start of the container.",
		.needs.own_plugin = true, .needs.live_node = true),
	RESTART("both", RES_14, HIGH, 1, restart_both,
		.title = "Device ids survive a restart of kubelet and plugin",
		.advice = "Derive ids from the hardware: the kubelet's checkpoint holds them.",
		.needs.own_plugin = true),
	RESTART("every-end", RES_24, MEDIUM, 1, restart_every_end,
		.title = "The plugin does not crash when it is stopped, after whichever check",
		.advice = "Look at what a stream's end and the plugin's own end do twice, such as "
			  "closing a channel: the check that the reason names shows when.",
		.needs.own_plugin = true, .last = true),
	{.id = NULL},
};
