/* SPDX-License-Identifier: MIT */
/* Restarts: of the kubelet, of the plugin, and of neither. */
#include "base/clock.h"
#include "base/file.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/suites.h"
#include "rpc/rpc.h"

#include <signal.h>
#include <string.h>

enum {
	AGAIN_MS = 60000, /* RES-01 */
	STOP_MS = 30000,  /* RES-08 */
	FLAPS = 5,
	FLAPS_THOROUGH = 20,
	FLAP_MS = 150,
	FLAP_THOROUGH_MS = 1000,
	DESCRIPTORS_MORE = 4,
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

static void restart_kubelet(struct check_run *run, enum kubelet_restart what,
			    const char *description)
{
	struct rig *rig = rig_ready(run);
	struct error err = {0};
	size_t from = 0;

	if (rig == NULL)
		return;
	from = kubelet_registration_count(rig->kubelet);
	if (kubelet_restart(rig->kubelet, what, &err) < 0) {
		check_broken(run, "fake kubelet: %s", err.text);
		return;
	}
	if (rig_expect_registered_again(rig, from, AGAIN_MS, description))
		restart_expect_works(rig);
}

static void restart_kubelet_restart(struct check_run *run)
{
	restart_kubelet(run, KUBELET_RESTART_WHOLE,
			"a registration within 60 s of the kubelet's restart");
}

static void restart_socket_removed(struct check_run *run)
{
	restart_kubelet(run, KUBELET_RESTART_PLUGIN_SOCKETS,
			"a registration within 60 s of the removal of the plugin's socket");
}

static void restart_kubelet_socket(struct check_run *run)
{
	restart_kubelet(run, KUBELET_RESTART_KUBELET_SOCKET,
			"a registration within 60 s of the return of kubelet.sock");
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
	if (!rig_expect_registered_again(rig, from, AGAIN_MS,
					 "a registration after the last restart"))
		return;
	restart_expect_works(rig);
	if (before >= 0)
		(void)check_expect_at_most(run, "open descriptors of the plugin afterwards",
					   rig_descriptors(rig), before + DESCRIPTORS_MORE);
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
	if (!check_expect(run, rig_end_plugin(rig, SIGTERM, STOP_MS), "the plugin after SIGTERM",
			  "ended within 30 s", "%s",
			  plugin_process_has_ended(rig->plugin) ? "ended" : "still running"))
		return;
	const struct process_result *result = plugin_process_result(rig->plugin);

	(void)check_expect(run, result->end == PROCESS_EXITED && result->code == 0,
			   "the plugin's end", "exit code 0", "%s %d",
			   result->end == PROCESS_EXITED ? "exit code" : "signal", result->code);
	for (size_t i = 0; i < sockets.count; i++)
		(void)check_expect(run, !file_exists(sockets.items[i]), "the plugin's socket",
				   "removed", "%s",
				   file_exists(sockets.items[i]) ? "still there" : "removed");
}

static void restart_kill_and_return(struct check_run *run)
{
	struct rig *rig = rig_ready(run);

	if (rig == NULL)
		return;
	if (!rig_end_plugin(rig, SIGKILL, STOP_MS)) {
		check_broken(run, "the plugin did not end after SIGKILL");
		return;
	}
	if (rig_start_plugin(rig, NULL) && rig_expect_registered(rig))
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
		.timeout_s = 120,
		.stands_on = "list-and-watch.arrives",
		.run = restart_kubelet_restart,
	},
	{
		.id = "restart.socket-removed",
		.title = "A plugin whose own socket is removed registers again",
		.advice = "Watch the own socket file; the kubelet unlinks it when it starts.",
		.requirement = CHECK_RES_02,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "list-and-watch.arrives",
		.run = restart_socket_removed,
	},
	{
		.id = "restart.kubelet-socket-recreated",
		.title = "A plugin registers again when only kubelet.sock is recreated",
		.advice = "Watch for the creation of kubelet.sock, not only for the loss of the "
			  "own socket.",
		.requirement = CHECK_RES_03,
		.severity = CHECK_HIGH,
		.revision = 1,
		.timeout_s = 120,
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
		.timeout_s = 180,
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
		.timeout_s = 120,
		.needs = {.own_plugin = true},
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
		.timeout_s = 120,
		.needs = {.own_plugin = true},
		.stands_on = "list-and-watch.arrives",
		.run = restart_kill_and_return,
	},
	{.id = NULL},
};

const struct check_suite suite_restart = {
	.name = "restart",
	.title = "Restarts and resilience",
	.checks = checks,
};
