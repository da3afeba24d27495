/* SPDX-License-Identifier: MIT */
/* Repeated restarts, at a bad moment, or together with others. */
#include "base/clock.h"
#include "base/file.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/handed_out.h"
#include "conformance/checks/list_and_watch.h"
#include "conformance/checks/node_cdi.h"
#include "conformance/checks/raw_client.h"
#include "conformance/checks/restart.h"
#include "conformance/checks/tally.h"
#include "conformance/kubelet/id_set.h"
#include "rpc/message.h"

#include <signal.h>
#include <string.h>

enum {
	AGAIN = 3, /* even if each takes long */
	AGAIN_MS = 12000,
	LEAKS = 6,
	LEAKS_THOROUGH = 100,
	REGISTRATIONS_EACH = 2, /* for each restart: its socket went, and kubelet.sock appeared */
	ABSENT_MS = 2000,
	ABSENT_THOROUGH_MS = 600000,
	HANG_MS = 1000,
	HANG_THOROUGH_MS = 60000,
	SETTLED_MS = 500,
	REMOVALS = 5,
	FIGHT_MS = 1500,
	FIGHT_THOROUGH_MS = 60000,
	FIGHT_ATTEMPTS = 4, /* of one resource, both instances together */
	ANSWER_MS = 10000,
	RELEASE_MS = 3000,
	AWAY_MS = 500, /* from the end of a kubelet to the start of the next */
};

void restart_add_devices(struct rig *rig, bool places, struct text_list *out)
{
	rig_each (resource, rig) {
		const struct kubelet_device_list *list =
			kubelet_resource_devices(rig->kubelet, resource);
		listed_each (device, list) {
			char *numa CLEANUP_FREE = list_numa_text(device);
			text_list_addf(out, "%s %s%s%s", resource, device->id,
				       places && numa[0] != '\0' ? " on NUMA nodes" : "",
				       places ? numa : "");
		}
	}
	text_list_sort(out);
}

void restart_expect_devices(struct rig *rig, bool places, const struct text_list *before,
			    const char *when)
{
	struct text_list now CLEANUP_TEXT_LIST = {0};
	TALLY(kept, rig->run, check_format(rig->run, "devices listed %s", when), "those before");
	restart_add_devices(rig, places, &now);
	text_each (device, before)
		tally_add(&kept, id_set_has(&(const struct id_set){now}, device), "%s is gone",
			  device);
	if (kept.wrong != 0)
		check_advise(rig->run, "Derive ids and NUMA nodes from the hardware, not from "
				       "counters or order, and list all devices at each start.");
}

/* Restarts the kubelet `count` times, each time when the plugin is back, and writes down what the plugin uses
 * after each. Returns for how many restarts that is known; -1: a restart failed, which is recorded. */
static int restart_times(struct rig *rig, size_t count, struct rig_footprint *used)
{
	struct text_list before CLEANUP_TEXT_LIST = {0};
	uint64_t end_ms = clock_monotonic_ms() + AGAIN_MS;
	int known = 0;
	restart_add_devices(rig, false, &before);
	for (size_t i = 0; i < count && (i < AGAIN || clock_monotonic_ms() < end_ms); i++) {
		const char *event = check_format(rig->run, "kubelet restart %zu", i + 1);
		if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) ||
		    !rig_expect_return(rig, event) || !rig_expect_listed(rig))
			return -1;
		restart_expect_devices(rig, false, &before,
				       check_format(rig->run, "after %s", event));
		restart_expect_works(rig);
		known += rig_footprint(rig, &used[known]);
	}
	return known;
}

void restart_again(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	struct rig_footprint used[AGAIN];
	if (rig == NULL)
		return;
	(void)restart_times(rig, AGAIN, used);
}

void restart_leaks(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	struct rig_footprint used[LEAKS_THOROUGH];
	if (rig == NULL)
		return;
	size_t from = kubelet_registration_count(rig->kubelet);
	size_t count = rig->context->thorough ? LEAKS_THOROUGH : LEAKS;
	int known = restart_times(rig, count, used);
	if (known < 0)
		return;
	(void)check_expect_at_most(run, "Register calls after these restarts",
				   rig_count_attempts(rig, NULL, from),
				   (long long)(rig->resources.count * count * REGISTRATIONS_EACH));
	rig_expect_idle(rig, SETTLED_MS, SETTLED_MS, "after these restarts");
	if (known <= AGAIN) {
		check_note(run, "the plugin's descriptors and threads cannot be counted");
		return;
	}

	/* One for each restart; descriptors about to be closed at the first observation are not counted. */
	struct rig_footprint most = used[0];
	struct rig_footprint now = used[known - 1];
	most.descriptors += known - 3;
	most.threads += known - 3;
	most.files += known - 3;
	(void)rig_wait_footprint(rig, &most, RELEASE_MS, &now);
	(void)check_expect_at_most_measured(run, "open descriptors of the plugin", now.descriptors,
					    most.descriptors);
	(void)check_expect_at_most_measured(run, "threads of the plugin", now.threads,
					    most.threads);
	(void)check_expect_at_most_measured(run, "temporary files of the plugin", now.files,
					    most.files);
}

void restart_kubelet_absent(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	if (rig == NULL)
		return;
	rig_stop_kubelet(rig);
	rig_expect_idle(rig, ABSENT_MS, ABSENT_THOROUGH_MS, "while the kubelet was away");
	/* A starting kubelet may refuse at first, even a plugin that was registered before. */
	if (!rig_set_fault(rig, "register-status=UNAVAILABLE:starting*1") ||
	    !rig_start_kubelet(rig) || !rig_expect_return(rig, "the kubelet's return"))
		return;
	restart_expect_works(rig);
	kubelet_stop(rig->kubelet);
	(void)rig_watch(rig, SETTLED_MS, SETTLED_MS);
	if (rig->plugin != NULL)
		(void)check_expect_is(run, rig_end_plugin(rig, SIGTERM, RIG_END_MS),
				      "the plugin without a kubelet", "ended by SIGTERM",
				      "running after SIGTERM");
}

void restart_register_unanswered(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	if (rig == NULL)
		return;
	if (!rig_set_fault(rig, "register-hang*1") ||
	    !rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) || !rig_expect_attempt(rig))
		return;
	(void)rig_watch(rig, HANG_MS, HANG_THOROUGH_MS);
	if (rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) &&
	    rig_expect_return(rig, "the restart of a kubelet that did not answer Register"))
		restart_expect_works(rig);
}

static bool has_body(void *user)
{
	struct raw_client *client = user;
	const struct raw_stream *stream = raw_stream(client, 1);
	return client->closed || stream->ended || stream->body.size != 0;
}

/* Opens ListAndWatch on a connection of its own. */
static int list_anew(struct rig *rig, const char *resource, struct error *err)
{
	struct raw_client *client CLEANUP_RAW = NULL;
	int rc = raw_open(&rig->loop, rig_last_registration(rig, resource)->socket, &client, err);
	if (rc == 0) {
		raw_greet(client, UINT32_MAX);
		raw_call(client, 1, DEVICE_PLUGIN_SERVICE "ListAndWatch", "", 0);
		rc = rig_wait(rig, has_body, client, context_wait_ms(rig->context, ANSWER_MS),
			      "a device list", err);
	}
	return rc == 0 && raw_stream(client, 1)->body.size == 0
		       ? error_set(err, ERROR_UNAVAILABLE, "the call ended without a list")
		       : rc;
}

static bool has_ended_or_registered(void *user)
{
	const struct rig *rig = user;
	return process_has_ended(rig->plugin) ||
	       kubelet_registration_count(rig->kubelet) > rig->before_restart;
}

/* One that was started below a supervisor of its own is seen by its registration only. */
static bool ends_or_registers(struct rig *rig)
{
	return rig->plugin != NULL &&
	       rig_wait(rig, has_ended_or_registered, rig, context_wait_ms(rig->context, ANSWER_MS),
			"its end", NULL) == 0;
}

/* Allocate on a new connection must grant the same as before. */
static void allocate_anew(struct rig *rig, const struct allocate_kept_answer *known)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	rig->before_restart = kubelet_registration_count(rig->kubelet);
	int rc = allocate_on_socket(rig, rig_last_registration(rig, known->resource)->socket,
				    known->id, &reply, &err);
	/* A plugin that ends with each stream comes back with its pod. */
	if (reply.reply == NULL && ends_or_registers(rig))
		return;
	if (check_expect_ok(rig->run, rc, "Allocate on a new connection is answered", &err) &&
	    check_expect(rig->run, reply.code == RPC_OK, "Allocate on a new connection", "OK",
			 "%s %s", rpc_code_name(reply.code), reply.message))
		(void)allocate_expect_same(rig, "Allocate on a new connection", ALLOCATE_GRANTED,
					   known->answer, rig_first_response(&reply));
}

void restart_kubelet_disconnects(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	struct error err = {0};
	if (rig == NULL)
		return;
	const char *first = rig->resources.items[0];
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct allocate_kept kept CLEANUP_ALLOCATE_KEPT = {0};
	if (!rig_healthy_ids(rig, first, &ids) || !allocate_keep(rig, first, ids.items[0], &kept))
		return;
	/* Each connection once: a plugin that ends because of it comes back to the same kubelet. */
	struct text_list names CLEANUP_TEXT_LIST = {0};
	kubelet_resource_names(rig->kubelet, &names);
	const char *fault = check_format(run, "disconnect=0*%zu", names.count);
	rig->before_restart = kubelet_registration_count(rig->kubelet);
	if (!rig_set_fault(rig, fault))
		return;
	(void)rig_watch(rig, SETTLED_MS, SETTLED_MS);
	rig_each (resource, rig) {
		int rc = list_anew(rig, resource, &err);
		rc = rig_explain(rig, rc, &err);
		if (rc < 0 && ends_or_registers(rig)) {
			if (process_has_ended(rig->plugin) && !restart_expect_registered(rig))
				return;
			rc = list_anew(rig, resource, &err);
		}
		if (check_expect_ok(
			    run, rc,
			    "ListAndWatch on a new connection, after the kubelet closed its own",
			    &err) &&
		    text_equal(resource, kept.each[0].resource))
			allocate_anew(rig, &kept.each[0]);
	}
}

static void free_plugin(void *plugin)
{
	process_free(plugin);
}

bool restart_start_second(struct rig *rig, struct process **older)
{
	*older = STEAL(rig->plugin);
	check_defer(rig->run, free_plugin, *older);
	rig_leave_second(rig);
	return rig_start_plugin(rig);
}

void restart_side_by_side(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	struct process *older = NULL;
	if (rig == NULL)
		return;
	size_t from = kubelet_registration_count(rig->kubelet);
	if (!restart_start_second(rig, &older))
		return;
	(void)rig_wait(rig, rig_has_tried_to_register, rig, rig_wait_ms(rig, CHECK_REG_01),
		       "the second instance", NULL);
	uint64_t watched_ms = rig_watch(rig, FIGHT_MS, FIGHT_THOROUGH_MS);
	if (process_has_ended(rig->plugin) || process_has_ended(older))
		check_note(run, "of two instances one ended");
	rig_each (resource, rig) {
		(void)check_expect_at_most(
			run, check_format(run, "Register calls of two instances for %s", resource),
			rig_count_attempts(rig, resource, from),
			FIGHT_ATTEMPTS + (long long)(watched_ms / FIGHT_THOROUGH_MS));
	}
}

/* Containers run on while their plugin is away, and start again with the answer of before. */
void restart_answer_stays(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct handed_out out CLEANUP_HANDED_OUT = {0};
	if (rig == NULL)
		return;

	/* What the answers for each resource's first device hand out. */
	rig_each (resource, rig) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (!rig_healthy_ids(rig, resource, &ids))
			return;
		const V1beta1__ContainerAllocateResponse *answer = allocate_expect(
			rig, resource, rig_ids(&ids), 1, "Allocate of one device", &reply);
		if (answer == NULL)
			return;
		handed_out_add(rig, answer, true, &out);
	}
	if (out.paths.count + out.cdi.count == 0) {
		check_not_applicable(run, "the answers hand out no file of the node");
		return;
	}
	/* restart.kubelet-restart judges a plugin that does not come back. */
	rig->supervised = true;
	if (rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) && rig_returns(rig))
		handed_out_expect(rig, &out, "after the kubelet's restart");
	rig->supervised = false;
	if (!rig_stop_plugin(rig, SIGTERM))
		return;
	handed_out_expect(rig, &out, "after the plugin's end");
	rig_leave_second(rig);
	if (rig_start_plugin(rig) && rig_expect_registered(rig) && rig_expect_listed(rig))
		handed_out_expect(rig, &out, "after the plugin's restart");
}

void restart_both(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	struct text_list before CLEANUP_TEXT_LIST = {0};
	if (rig == NULL)
		return;
	restart_add_devices(rig, false, &before);
	kubelet_stop(rig->kubelet);
	if (!rig_stop_plugin(rig, SIGTERM))
		return;
	rig_leave_second(rig);
	if (!rig_start_kubelet(rig) || !rig_start_plugin(rig) || !rig_expect_registered(rig) ||
	    !rig_expect_listed(rig))
		return;
	restart_expect_devices(rig, false, &before, "after both restarted");
	restart_expect_works(rig);
}

void restart_directory_recreated(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	struct error err = {0};
	if (rig == NULL)
		return;
	rig_stop_kubelet(rig);
	/* A plugin that comes back at once makes its socket meanwhile. */
	int rc = file_remove_tree(kubelet_plugin_dir(rig->kubelet), &err);
	for (int i = 0; rc < 0 && i < REMOVALS; i++) {
		loop_run_for(&rig->loop, SETTLED_MS);
		rc = file_remove_tree(kubelet_plugin_dir(rig->kubelet), &err);
	}
	if (!check_works(run, rc, "fake kubelet", &err))
		return;
	rig_expect_idle(rig, HANG_MS, HANG_MS, "while its directory was gone");
	if (rig_start_kubelet(rig) && rig_expect_return(rig, "the return of the plugin directory"))
		restart_expect_works(rig);
}

void restart_during_allocate(struct check_run *run)
{
	struct rig *rig = restart_ready(run);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct raw_client *client CLEANUP_RAW = NULL;
	struct error err = {0};
	if (rig == NULL)
		return;
	const char *resource = rig->resources.items[0];
	if (!rig_healthy_ids(rig, resource, &ids))
		return;
	struct kubelet_allocate_request request = {0};
	struct text message CLEANUP_TEXT = {0};
	kubelet_allocate_request_add(&request, rig_ids(&ids), 1);
	int rc = message_pack(&request.request.base, &message, &err);
	if (rc == 0)
		rc = raw_open(&rig->loop, rig_last_registration(rig, resource)->socket, &client,
			      &err);
	if (!rig_expect_ok(rig, rc, "a connection", &err))
		return;

	/* The plugin has the request when it acknowledges PING. */
	raw_greet(client, UINT32_MAX);
	raw_call(client, 1, DEVICE_PLUGIN_SERVICE "Allocate", message.data, message.size);
	(void)raw_ping(client, context_wait_ms(rig->context, ANSWER_MS), NULL);
	raw_close(&client);
	if (rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) &&
	    rig_expect_return(rig, "a restart during Allocate"))
		restart_expect_works(rig);
}

/* The kubelet restarts when it has just answered Register, as quickly as a process can. */
void restart_at_once(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);
	struct error err = {0};
	if (rig == NULL || !rig_start_plugin(rig))
		return;
	rig->supervised = true;
	int rc = kubelet_wait_registration(rig->kubelet, 0, rig_wait_ms(rig, CHECK_REG_01), &err);
	if (!rig_expect_ok(rig, rc, "the plugin registers", &err))
		return;
	rig_stop_kubelet(rig);
	(void)rig_watch(rig, AWAY_MS, AWAY_MS);
	if (!rig_start_kubelet(rig))
		return;
	rig->first_registration = kubelet_registration_count(rig->kubelet);
	if (restart_expect_registered(rig))
		restart_expect_works(rig);
}
