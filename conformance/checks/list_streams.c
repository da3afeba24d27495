/* SPDX-License-Identifier: MIT */
/* More streams, more resources, and restarts of the plugin. */
#include "base/clock.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/growth.h"
#include "conformance/checks/list_and_watch.h"

#include <signal.h>
#include <string.h>

enum {
	RESTARTS = 2,
	CYCLES = 12, /* streams in a round */
	CYCLES_THOROUGH = 125,
	ROUND_MS = 1000, /* limit of a round, for a plugin that lists late */
	ROUND_THOROUGH_MS = 10000,
	CYCLES_AT_ONCE = 100,
	CYCLES_PAUSE_MS = 1000,
	MANY = 10000,	   /* devices: with more, lists take long */
	SECOND_MS = 500,   /* how long a second stream is watched */
	COMPARED_MAX = 16, /* ids of two resources */
};

/* Expects the same ids in both lists; both are sorted. */
static void expect_same_ids(struct check_run *run, const char *what, const struct text_list *wanted,
			    const struct text_list *saw)
{
	TALLY(unknown, run, what, "none but those that were healthy before");
	TALLY(missing, run, what, "listed as healthy");
	size_t i = 0;
	size_t j = 0;
	while (i < wanted->count || j < saw->count) {
		int order = i == wanted->count ? 1
			    : j == saw->count  ? -1
					       : strcmp(wanted->items[i], saw->items[j]);
		if (order <= 0)
			tally_add(&missing, order == 0, "%s is missing", wanted->items[i]);
		if (order >= 0)
			tally_add_text(&unknown, order == 0, saw->items[j]);
		i += order <= 0;
		j += order >= 0;
	}
}

/* Adds "RESOURCE ID" for each healthy device of the resources under test, in order. False: recorded. */
static bool take_ids(struct rig *rig, struct text_list *out)
{
	rig_each (resource, rig) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		if (!rig_healthy_ids(rig, resource, &ids))
			return false;
		text_each (id, &ids)
			text_list_addf(out, "%s %s", resource, id);
	}
	text_list_sort(out);
	return true;
}

struct again {
	struct rig *rig;
	size_t from; /* registrations */
};

/* Has each resource registered again? */
static bool has_returned(void *user)
{
	const struct again *again = user;
	rig_each (resource, again->rig) {
		bool found = false;
		registration_each (r, again->rig->kubelet, again->from)
			found = found || (r->code == RPC_OK && text_equal(r->resource, resource));
		if (!found)
			return false;
	}
	return true;
}

void list_ids_stable(struct check_run *run)
{
	static const char *const whats[RESTARTS] = {"id after a restart",
						    "id after a second restart"};
	struct rig *rig = rig_ready(run);
	struct text_list before CLEANUP_TEXT_LIST = {0};
	if (rig == NULL || !take_ids(rig, &before))
		return;
	items_each (what, whats, RESTARTS) {
		struct text_list after CLEANUP_TEXT_LIST = {0};
		if (!rig_restart_plugin(rig, SIGTERM) || !rig_expect_listed(rig) ||
		    !take_ids(rig, &after))
			return;
		expect_same_ids(run, *what, &before, &after);
	}

	/* The plugin serves anew, without having ended. */
	struct text_list after CLEANUP_TEXT_LIST = {0};
	struct again again = {.rig = rig, .from = kubelet_registration_count(rig->kubelet)};
	if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE))
		return;
	if (rig_wait(rig, has_returned, &again, rig_wait_ms(rig, CHECK_REG_01), "a registration",
		     NULL) < 0)
		check_note(run, "the plugin did not come back after a kubelet restart; see "
				"restart.kubelet-restart");
	else if (rig_expect_listed(rig) && take_ids(rig, &after))
		expect_same_ids(run, "id after a kubelet restart", &before, &after);
}

struct pair {
	struct kubelet_stream *streams[2];
	size_t messages[2]; /* that were compared */
	bool same;
};

/* The device in which the lists differ. Caller frees; NULL: none. */
static char *find_difference(const struct kubelet_message *first,
			     const struct kubelet_message *second)
{
	const struct kubelet_device **one CLEANUP_FREE = list_sorted(&first->devices);
	const struct kubelet_device **other CLEANUP_FREE = list_sorted(&second->devices);
	size_t i = 0;
	size_t j = 0;
	while (i < first->devices.count || j < second->devices.count) {
		int order = i == first->devices.count	 ? 1
			    : j == second->devices.count ? -1
							 : strcmp(one[i]->id, other[j]->id);
		if (order != 0)
			return text_format("%s is only on the %s stream",
					   order < 0 ? one[i]->id : other[j]->id,
					   order < 0 ? "first" : "second");
		if (strcmp(one[i]->health, other[j]->health) != 0)
			return text_format("%s is %s, and %s on the first stream", one[i]->id,
					   other[j]->health, one[i]->health);
		char *numa CLEANUP_FREE = list_numa_text(one[i]);
		char *other_numa CLEANUP_FREE = list_numa_text(other[j]);
		if (strcmp(numa, other_numa) != 0)
			return text_format("%s is on NUMA nodes:%s, and:%s on the first stream",
					   one[i]->id, other_numa, numa);
		i++;
		j++;
	}
	return NULL;
}

/* Do both streams list the same? The first list of a stream may lack devices. */
static bool is_same(void *user)
{
	struct pair *pair = user;
	bool news = false;
	for (size_t i = 0; i < 2; i++) {
		size_t messages = kubelet_stream_state(pair->streams[i]).messages;
		news = news || messages != pair->messages[i];
		pair->messages[i] = messages;
	}
	const struct kubelet_message *first = kubelet_stream_last(pair->streams[0]);
	const struct kubelet_message *second = kubelet_stream_last(pair->streams[1]);
	if (news && first != NULL && second != NULL) {
		char *difference CLEANUP_FREE = find_difference(first, second);
		pair->same = difference == NULL;
	}
	return pair->same;
}

int list_open_stream(struct rig *rig, struct kubelet_plugin *plugin, struct kubelet_stream **out,
		     struct error *err)
{
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_stream_open(plugin, NULL, out, err);
	if (rc == 0)
		rc = kubelet_stream_wait(*out, context_wait_ms(rig->context, RIG_CALL_MS), err);
	rig_waited(rig, start);
	return rig_explain(rig, rc, err);
}

bool list_need_further(struct rig *rig, const char *resource)
{
	struct kubelet_stream *stream CLEANUP_KUBELET_STREAM = NULL;
	struct error err = {0};
	int rc = list_open_stream(rig, kubelet_resource_plugin(rig->kubelet, resource), &stream,
				  &err);
	if (rc < 0)
		check_unsupported(
			rig->run,
			"needs a list on a further stream; see list-and-watch.two-streams: %s",
			err.text);
	return rc == 0;
}

void list_two_streams(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	rig_each (resource, rig) {
		struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
		struct kubelet_stream *own CLEANUP_KUBELET_STREAM = NULL;
		struct error err = {0};
		size_t before = kubelet_resource_status(rig->kubelet, resource).capacity;
		if (!check_expect_ok(run, list_open_stream(rig, plugin, &own, &err),
				     "a list on a second stream", &err))
			continue;

		struct pair pair = {.streams = {kubelet_plugin_stream(plugin), own}};
		(void)rig_watch(rig, SECOND_MS, SECOND_MS);
		(void)rig_wait(rig, is_same, &pair, context_limit_ms(rig->context, RIG_HEALTHY_MS),
			       "the same list", NULL);
		const struct kubelet_message *first = kubelet_stream_last(pair.streams[0]);
		const struct kubelet_message *second = kubelet_stream_last(own);
		if (first == NULL || second == NULL) {
			(void)check_expect(run, false, resource, "a list on both streams",
					   "none on the %s", first == NULL ? "first" : "second");
		} else {
			char *difference CLEANUP_FREE = find_difference(first, second);
			const char *what = check_format(run, "the second stream lists %zu devices",
							first->devices.count);
			(void)check_expect_is(run, difference == NULL, what,
					      "those of the first stream", difference);
		}
		size_t after = kubelet_resource_status(rig->kubelet, resource).capacity;
		if (after < before)
			(void)check_expect_int(run, check_format(run, "devices of %s", resource),
					       (long long)after, (long long)before);
		(void)check_expect_is(run, kubelet_stream_state(pair.streams[0]).open,
				      "the first stream", "still open", "closed");
		(void)check_expect_is(run, kubelet_stream_state(own).open, "the second stream",
				      "still open", "closed");
	}
}

struct cycles {
	const char *resource;
	int each; /* of a round */
	int done;
};

static bool open_and_cancel(struct rig *rig, void *user)
{
	struct cycles *cycles = user;
	struct error err = {0};
	int rc = 0;
	uint64_t start_ms = clock_monotonic_ms();
	const uint64_t round_ms = rig->context->thorough ? ROUND_THOROUGH_MS : ROUND_MS;
	for (int i = 0;
	     rc == 0 && i < cycles->each && (i == 0 || clock_monotonic_ms() - start_ms < round_ms);
	     i++, cycles->done++) {
		/* Servers may treat many resets within a second as an attack (CVE-2023-44487). */
		if (cycles->done != 0 && cycles->done % CYCLES_AT_ONCE == 0) {
			(void)rig_watch(rig, CYCLES_PAUSE_MS, CYCLES_PAUSE_MS);
			start_ms += CYCLES_PAUSE_MS;
		}
		struct kubelet_stream *stream CLEANUP_KUBELET_STREAM = NULL;
		rc = list_open_stream(rig, kubelet_resource_plugin(rig->kubelet, cycles->resource),
				      &stream, &err);
	}
	return rc == 0 ||
	       check_expect_ok(rig->run, rc, "a stream that is opened and cancelled", &err);
}

void list_cancel(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	if (rig == NULL)
		return;
	struct cycles cycles = {.resource = rig->resources.items[0], .each = CYCLES};
	if (rig->context->thorough)
		cycles.each = CYCLES_THOROUGH;
	else if (kubelet_resource_status(rig->kubelet, cycles.resource).capacity > MANY)
		cycles.each = 1;
	rig_expect_level(rig, "streams that are opened and cancelled", open_and_cancel, &cycles);
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	/* Without a healthy device any call shows that the plugin serves. */
	const bool any = kubelet_resource_status(rig->kubelet, cycles.resource).allocatable == 0;
	if (!any && !rig_healthy_ids(rig, cycles.resource, &ids))
		return;
	int rc = any ? kubelet_call_options(kubelet_resource_plugin(rig->kubelet, cycles.resource),
					    RIG_CALL_MS, &reply, &err)
		     : rig_allocate(rig, cycles.resource, rig_ids(&ids), 1, &reply, &err);
	(void)rig_expect_answer(rig, rc, "a call afterwards", &reply, &err);
}

/* The id stands for the same device under both resources. */
static bool is_shared(struct rig *rig, const char *first, const char *second, const char *id)
{
	struct rpc_answer one CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer other CLEANUP_RPC_ANSWER = {0};
	struct allocate_difference difference = {0};
	const V1beta1__ContainerAllocateResponse *a = rig_ask(rig, first, &id, 1, &one);
	const V1beta1__ContainerAllocateResponse *b = rig_ask(rig, second, &id, 1, &other);
	return a != NULL && b != NULL &&
	       (!allocate_differ(ALLOCATE_GRANTED, a, b, &difference) || !difference.is_device);
}

void list_ids_across(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	TALLY(devices, run, "devices of several resources", "each of one resource");
	size_t compared = 0;
	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		const char *resource = rig->resources.items[i];
		if (!rig_healthy_ids(rig, resource, &ids))
			return;
		for (size_t k = 0; k < i; k++) {
			const char *other = rig->resources.items[k];
			size_t asked = 0;
			compared++;
			text_each (id, &ids) {
				const struct kubelet_device *device =
					kubelet_resource_device(rig->kubelet, other, id);
				bool both = kubelet_device_is_healthy(device) &&
					    asked++ < COMPARED_MAX &&
					    is_shared(rig, other, resource, id);
				tally_add(&devices, !both, "%s is offered by %s and %s", id, other,
					  resource);
			}
		}
	}
	if (rig != NULL && compared == 0)
		check_not_applicable(run, "one resource is under test");
}

void list_ids_apart(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	TALLY(ids, run, "ids of several resources", "each of one resource");
	for (size_t i = 1; rig != NULL && i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];
		for (size_t k = 0; k < i; k++) {
			const char *other = rig->resources.items[k];
			listed_each (device, kubelet_resource_devices(rig->kubelet, resource)) {
				bool both = kubelet_resource_device(rig->kubelet, other,
								    device->id) != NULL;
				tally_add(&ids, !both, "%s is an id of %s and of %s", device->id,
					  other, resource);
			}
		}
	}
	if (rig != NULL && rig->resources.count < 2)
		check_not_applicable(run, "one resource is under test");
}
