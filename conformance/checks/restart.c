/* SPDX-License-Identifier: MIT */
/* Restarts: of the kubelet, of the plugin, and of neither. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/suites.h"
#include "rpc/rpc.h"

#include <signal.h>
#include <string.h>

enum {
	FLAPS = 5,
	FLAPS_THOROUGH = 20,
	FLAP_MS = 150,
	FLAP_THOROUGH_MS = 1000,
};

/* Every resource lists its devices and allocates one of them. */
static void restart_expect_works(struct rig *rig)
{
	if (!rig_expect_listed(rig))
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		struct kubelet_reply reply = {0};
		struct error err = {0};

		if (!rig_healthy_ids(rig, resource, &ids))
			return;
		int rc = kubelet_call_allocate(kubelet_resource_plugin(rig->kubelet, resource),
					       (const char *const *)ids.items, 1, RIG_CALL_MS,
					       &reply, &err);

		if (check_expect_ok(rig->run, rc, "Allocate afterwards", &err))
			(void)check_expect(rig->run, reply.code == RPC_OK, "Allocate afterwards",
					   "OK", "%s %s", rpc_code_name(reply.code), reply.message);
		kubelet_reply_free(&reply);
	}
}

static void restart_kubelet(struct rig *rig, enum kubelet_restart what,
			    enum check_requirement requirement, const char *event)
{
	struct error err = {0};
	size_t from = 0;

	if (rig == NULL)
		return;
	from = kubelet_registration_count(rig->kubelet);
	if (kubelet_restart(rig->kubelet, what, &err) < 0) {
		check_broken(rig->run, "fake kubelet: %s", err.text);
		return;
	}
	if (rig_expect_return(rig, from, requirement, event))
		restart_expect_works(rig);
}

/* What a kubelet does when it starts. A plugin that ends over it comes back with its pod. */
static void restart_kubelet_restart(struct check_run *run)
{
	struct rig *rig = rig_ready(run);

	if (rig != NULL)
		rig->supervised = true;
	restart_kubelet(rig, KUBELET_RESTART_WHOLE, CHECK_RES_01, "the kubelet's restart");
}

static void restart_socket_removed(struct check_run *run)
{
	restart_kubelet(rig_ready(run), KUBELET_RESTART_PLUGIN_SOCKETS, CHECK_RES_02,
			"the removal of the plugin's socket");
}

static void restart_kubelet_socket(struct check_run *run)
{
	restart_kubelet(rig_ready(run), KUBELET_RESTART_KUBELET_SOCKET, CHECK_RES_03,
			"the return of kubelet.sock");
}

static void restart_flapping(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct error err = {0};
	size_t from = 0;
	int before = 0;

	if (rig == NULL)
		return;
	before = rig_descriptors(rig);
	for (int i = 0; i < (rig->context->thorough ? FLAPS_THOROUGH : FLAPS); i++) {
		from = kubelet_registration_count(rig->kubelet);
		if (kubelet_restart(rig->kubelet, KUBELET_RESTART_WHOLE, &err) < 0) {
			check_broken(run, "fake kubelet: %s", err.text);
			return;
		}
		(void)rig_watch(rig, FLAP_MS, FLAP_THOROUGH_MS);
	}
	if (!rig_expect_return(rig, from, CHECK_RES_05, "the last restart"))
		return;
	restart_expect_works(rig);
	rig_expect_descriptors(rig, before);
}

/* Under a DaemonSet they die with the container; as a service of the node they stay for ever. */
static void restart_expect_no_daemons(struct check_run *run)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};

	if (process_end_orphans(&names, &err) < 0) {
		check_broken(run, "processes of the plugin: %s", err.text);
		return;
	}
	(void)check_expect(run, names.count == 0, "processes that the plugin left running", "none",
			   "%s", names.count != 0 ? names.items[0] : "none");
}

static void restart_terminate(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text_list sockets CLEANUP_TEXT_LIST = {0};

	if (rig == NULL)
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		const struct kubelet_registration *r =
			rig_registration(rig, rig->resources.items[i]);

		if (r != NULL && text_list_add(&sockets, r->socket, NULL) < 0)
			check_broken(run, "out of memory");
	}
	uint64_t limit_ms = requirement_limit_ms(CHECK_RES_08);
	uint64_t start_ms = clock_monotonic_ms();
	bool ended = rig_end_plugin(rig, SIGTERM, limit_ms);

	if (!check_expect(run, ended, "the plugin after SIGTERM", "ended", "%s",
			  ended ? "ended" : "still running") ||
	    !check_expect_at_most(run, "milliseconds from SIGTERM to the end",
				  (long long)(clock_monotonic_ms() - start_ms),
				  (long long)limit_ms))
		return;
	const struct process_result *result = plugin_process_result(rig->plugin);

	(void)check_expect(run, result->end == PROCESS_EXITED && result->code == 0,
			   "the plugin's end", "exit code 0", "%s %d",
			   result->end == PROCESS_EXITED ? "exit code" : "signal", result->code);
	restart_expect_no_daemons(run);
	for (size_t i = 0; i < sockets.count; i++) {
		bool there = file_exists(sockets.items[i]);

		(void)check_expect(run, !there, "the plugin's socket", "removed", "%s",
				   there ? "still there" : "removed");
	}
}

static void restart_kill_and_return(struct check_run *run)
{
	struct rig *rig = rig_ready(run);

	if (rig == NULL)
		return;
	if (!rig_end_plugin(rig, SIGKILL, RIG_END_MS)) {
		check_broken(run, "the plugin did not end after SIGKILL");
		return;
	}
	rig_leave_second(rig);
	if (rig_start_plugin(rig, NULL) && rig_expect_registered(rig))
		restart_expect_works(rig);
}

/* Two instances of the plugin, of which the older one stops. */
struct succession {
	struct rig *rig;
	struct plugin_process *older;
};

static void succession_free(void *argument)
{
	struct succession *succession = argument;

	plugin_process_free(succession->older);
	free(succession);
}

static bool restart_older_is_unwatched(void *user)
{
	const struct succession *succession = user;
	const struct rig *rig = succession->rig;

	for (size_t i = 0; i < rig->first_registration; i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);
		struct kubelet_stream *stream =
			r->plugin != NULL ? kubelet_plugin_stream(r->plugin) : NULL;

		if (stream != NULL && kubelet_stream_is_open(stream))
			return false;
	}
	return true;
}

static bool restart_is_allocatable(void *user)
{
	const struct rig *rig = user;

	for (size_t i = 0; i < rig->resources.count; i++) {
		struct kubelet_resource_status status =
			kubelet_resource_status(rig->kubelet, rig->resources.items[i]);

		if (!status.connected || !status.listed || status.allocatable == 0)
			return false;
	}
	return true;
}

/* A second instance beside the one that runs; NULL: recorded. */
static struct succession *restart_begin_succession(struct rig *rig)
{
	struct succession *succession = calloc(1, sizeof(*succession));

	if (succession == NULL) {
		check_broken(rig->run, "out of memory");
		return NULL;
	}
	succession->rig = rig;
	succession->older = STEAL(rig->plugin);
	check_defer(rig->run, succession_free, succession);
	rig_leave_second(rig);
	if (!rig_start_plugin(rig, NULL))
		return NULL;
	struct error err = {0};
	int rc = rig_settle(rig, &err);

	if (rc < 0 && (plugin_process_has_ended(rig->plugin) ||
		       plugin_process_has_ended(succession->older))) {
		check_unsupported(rig->run, "two instances do not run side by side: %s", err.text);
		return NULL;
	}
	return check_expect_ok(rig->run, rc, "a second instance registers", &err) &&
			       rig_expect_listed(rig)
		       ? succession
		       : NULL;
}

/* Stops the older instance, and waits until the kubelet has seen its streams end. */
static bool restart_end_older(struct succession *succession)
{
	struct rig *rig = succession->rig;
	struct plugin_process *newer = rig->plugin;
	struct error err = {0};

	rig->plugin = succession->older;
	if (!rig_end_plugin(rig, SIGTERM, RIG_END_MS))
		(void)rig_end_plugin(rig, SIGKILL, RIG_END_MS);
	rig->plugin = newer;
	if (kubelet_wait(rig->kubelet, restart_older_is_unwatched, succession, RIG_CALL_MS,
			 "the end of the older instance's streams", &err) == 0)
		return true;
	check_broken(rig->run, "%s", err.text);
	return false;
}

static void restart_rolling_update(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct succession *succession = rig != NULL ? restart_begin_succession(rig) : NULL;
	struct error err = {0};
	uint64_t start = 0;
	int rc = 0;

	if (succession == NULL || !restart_end_older(succession))
		return;
	start = clock_monotonic_ns();
	rc = kubelet_wait(rig->kubelet, restart_is_allocatable, rig, rig_wait_ms(rig, CHECK_RES_10),
			  "allocatable devices of each resource", &err);
	uint64_t duration_ns = clock_monotonic_ns() - start;

	rig_waited(rig, start);
	if (check_expect_ok(run, rc, "allocatable again after the older instance's end", &err) &&
	    check_expect_at_most(run, "milliseconds from the older instance's end",
				 (long long)(duration_ns / 1000000),
				 (long long)requirement_limit_ms(CHECK_RES_10)))
		restart_expect_works(rig);
}

static const struct check checks[] = {
	{
		.id = "restart.kubelet-restart",
		.title = "After a kubelet restart the plugin registers again",
		.advice = "Watch the plugin directory: when the own socket or kubelet.sock goes, "
			  "serve on a "
			  "new socket and register as soon as kubelet.sock is back.",
		.requirement = CHECK_RES_01,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 240,
		.needs = {.devices = 1},
		.stands_on = "list-and-watch.arrives",
		.run = restart_kubelet_restart,
	},
	{
		.id = "restart.socket-removed",
		.title = "A plugin whose own socket is removed registers again",
		.advice = "Watch the own socket file: the kubelet unlinks it when it starts, "
			  "before it "
			  "makes kubelet.sock.",
		.requirement = CHECK_RES_02,
		.severity = CHECK_MEDIUM,
		.revision = 1,
		.timeout_s = 240,
		.needs = {.devices = 1},
		.stands_on = "list-and-watch.arrives",
		.run = restart_socket_removed,
	},
	{
		.id = "restart.kubelet-socket-recreated",
		.title = "A plugin registers again when only kubelet.sock is made anew",
		.advice = "Watch for the creation of kubelet.sock, not only for the loss of the "
			  "own socket.",
		.requirement = CHECK_RES_03,
		.severity = CHECK_MEDIUM,
		.revision = 1,
		.timeout_s = 240,
		.needs = {.devices = 1},
		.stands_on = "list-and-watch.arrives",
		.run = restart_kubelet_socket,
	},
	{
		.id = "restart.flapping",
		.title = "A flapping kubelet leaves the plugin registered and unharmed",
		.advice = "Close the old listener and its connections before serving anew.",
		.requirement = CHECK_RES_05,
		.severity = CHECK_MEDIUM,
		.revision = 1,
		.timeout_s = 300,
		.needs = {.devices = 1},
		.stands_on = "list-and-watch.arrives",
		.run = restart_flapping,
	},
	{
		.id = "restart.terminate",
		.title = "SIGTERM ends the plugin and removes its socket",
		.advice = "Handle SIGTERM: end the streams, remove the socket, exit with 0.",
		.requirement = CHECK_RES_08,
		.severity = CHECK_MEDIUM,
		.revision = 1,
		.timeout_s = 240,
		.needs = {.devices = 1, .own_plugin = true},
		.stands_on = "list-and-watch.arrives",
		.run = restart_terminate,
	},
	{
		.id = "restart.kill-and-return",
		.title = "A plugin that was killed comes back beside its stale socket",
		.advice = "Use a new socket name at each start, or remove a stale socket before "
			  "binding.",
		.requirement = CHECK_RES_09,
		.severity = CHECK_HIGH,
		.revision = 1,
		.timeout_s = 240,
		.needs = {.devices = 1, .own_plugin = true},
		.stands_on = "list-and-watch.arrives",
		.run = restart_kill_and_return,
	},
	{
		.id = "restart.rolling-update",
		.title = "A resource outlives the older of two instances",
		.advice = "When the kubelet ends the stream though kubelet.sock is still there, "
			  "register again, with back-off: kubelets up to 1.36 end the newer "
			  "instance's stream when the older one stops.",
		.requirement = CHECK_RES_10,
		.severity = CHECK_MEDIUM,
		.revision = 1,
		.timeout_s = 240,
		.needs = {.devices = 1, .own_plugin = true},
		.stands_on = "list-and-watch.arrives",
		.run = restart_rolling_update,
	},
	{.id = NULL},
};

const struct check_suite suite_restart = {
	.name = "restart",
	.title = "Restarts and resilience",
	.checks = checks,
};
