/* SPDX-License-Identifier: MIT */
/* GetPreferredAllocation: the plugin's wish among the devices that the kubelet could assign. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/suites.h"
#include "rpc/message.h"
#include "rpc/rpc.h"

#include <string.h>

enum { AVAILABLE_MAX = 1000 /* ids in one request */ };

/* The members of a request with one container. */
struct request {
	const char *what;
	const char *const *available;
	size_t available_count;
	const char *const *must_include;
	size_t must_count;
	int32_t size;
};

/* True: there is an answer, also one with a status other than OK. False: recorded. */
static bool ask(struct rig *rig, const char *resource, const struct request *request,
		struct rpc_answer *reply)
{
	V1beta1__ContainerPreferredAllocationRequest container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *containers[] = {&container};
	V1beta1__PreferredAllocationRequest message = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;
	struct error err = {0};
	container.available_deviceids = message_strings(request->available);
	container.n_available_deviceids = request->available_count;
	container.must_include_deviceids = message_strings(request->must_include);
	container.n_must_include_deviceids = request->must_count;
	container.allocation_size = request->size;
	message.container_requests = containers;
	message.n_container_requests = 1;
	int rc = rig_call(rig, resource, DEVICE_PLUGIN_SERVICE "GetPreferredAllocation",
			  &message.base, &v1beta1__preferred_allocation_response__descriptor, reply,
			  &err);
	return check_expect_ok(rig->run, rc, request->what, &err);
}

/* The same, and the status must be OK. Returns the first container response, as a kubelet does; an empty one if the plugin
 * sent none, which is no preference. NULL: recorded. */
static const V1beta1__ContainerPreferredAllocationResponse *
expect_answer(struct rig *rig, const char *resource, const struct request *request,
	      struct rpc_answer *reply)
{
	static const V1beta1__ContainerPreferredAllocationResponse nothing =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_RESPONSE__INIT;
	if (!ask(rig, resource, request, reply) ||
	    !check_expect(rig->run, reply->code == RPC_OK, request->what, "OK", "%s %s",
			  rpc_code_name(reply->code), reply->message))
		return NULL;
	const V1beta1__PreferredAllocationResponse *response =
		(const V1beta1__PreferredAllocationResponse *)reply->reply;
	return response->n_container_responses != 0 ? response->container_responses[0] : &nothing;
}

/* Calls `judge` for each resource whose plugin does, or does not, offer preferred allocation. */
static void each_resource(struct check_run *run, bool offered, check_judge *judge)
{
	struct rig *rig = rig_ready(run, NULL);
	size_t count = 0;
	rig_each (resource, rig) {
		const struct kubelet_registration *registration = rig_registration(rig, resource);
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		struct rig_item item = {.resource = resource, .ids = &ids};
		if (registration == NULL ||
		    registration->options.get_preferred_allocation_available != offered)
			continue;
		count++;
		if (!rig_healthy_ids(rig, resource, &ids))
			return;
		judge(rig, &item);
	}
	if (rig != NULL && count == 0)
		check_not_applicable(run, offered ? "the plugin offers no preferred allocation"
						  : "the plugin offers preferred allocation");
}

static void offered(struct check_run *run)
{
	each_resource(run, true, check_row(run)->judge);
}

static void not_offered(struct check_run *run)
{
	each_resource(run, false, check_row(run)->judge);
}

static struct request request_of(const struct rig_item *item, size_t size, size_t must)
{
	const char *const *ids = (const char *const *)item->ids->items;
	size_t count = item->ids->count < AVAILABLE_MAX ? item->ids->count : AVAILABLE_MAX;
	return (struct request){
		.what = "GetPreferredAllocation",
		.available = ids,
		.available_count = count,
		.must_include = &ids[count - must],
		.must_count = must,
		.size = (int32_t)(size < count ? size : count),
	};
}

static void succeeds(struct rig *rig, const struct rig_item *item)
{
	const size_t sizes[] = {1, 2, item->ids->count};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		const struct request request = request_of(item, sizes[i], 0);
		if (expect_answer(rig, item->resource, &request, &reply) == NULL)
			return;
	}
}

/* The answer for two of all devices, of which one must be included; NULL: recorded. */
static const V1beta1__ContainerPreferredAllocationResponse *
ask_for_two(struct rig *rig, const struct rig_item *item, struct rpc_answer *reply)
{
	const struct request request = request_of(item, 2, 1);
	return expect_answer(rig, item->resource, &request, reply);
}

static bool names(const V1beta1__ContainerPreferredAllocationResponse *answer, const char *id)
{
	for (size_t i = 0; i < answer->n_deviceids; i++) {
		if (strcmp(answer->deviceids[i], id) == 0)
			return true;
	}
	return false;
}

static void only_available(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerPreferredAllocationResponse *answer =
		ask_for_two(rig, item, &reply);
	for (size_t i = 0; answer != NULL && i < answer->n_deviceids; i++) {
		const char *id = answer->deviceids[i];
		bool again = false;
		for (size_t k = 0; k < i; k++)
			again = again || strcmp(answer->deviceids[k], id) == 0;
		(void)check_expect(rig->run, text_list_has(item->ids, id), "preferred device",
				   "one that is available", "'%s'", id);
		(void)check_expect(rig->run, !again, "preferred device", "named once", "'%s' again",
				   id);
	}
	if (answer != NULL && answer->n_deviceids == 0)
		check_not_applicable(rig->run, "the answer prefers no device; see "
					       "preferred-allocation.size");
}

static void must_include(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerPreferredAllocationResponse *answer =
		ask_for_two(rig, item, &reply);
	const struct request request = request_of(item, 2, 1);
	if (answer != NULL)
		(void)check_expect_is(rig->run, names(answer, request.must_include[0]),
				      check_format(rig->run, "%s, which must be included",
						   request.must_include[0]),
				      "preferred", "not preferred");
}

static void size(struct rig *rig, const struct rig_item *item)
{
	for (size_t wanted = 1; wanted <= 2 && wanted <= item->ids->count; wanted++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		const struct request request = request_of(item, wanted, 0);
		const V1beta1__ContainerPreferredAllocationResponse *answer =
			expect_answer(rig, item->resource, &request, &reply);
		if (answer != NULL)
			(void)check_expect_int(rig->run, "preferred devices",
					       (long long)answer->n_deviceids, (long long)wanted);
	}
}

static void impossible(struct rig *rig, const struct rig_item *item)
{
	static const char *const unknown[] = {RIG_UNKNOWN_ID, ""};
	const char *const *ids = (const char *const *)item->ids->items;
	const size_t count = item->ids->count < AVAILABLE_MAX ? item->ids->count : AVAILABLE_MAX;
	const struct request requests[] = {
		{"a request for no device", ids, count, NULL, 0, 0},
		{"a request for a negative number of devices", ids, count, NULL, 0, -1},
		{"a request for more devices than are available", ids, count, NULL, 0,
		 (int32_t)count + 1},
		{"a request for 2,147,483,647 devices", ids, count, NULL, 0, INT32_MAX},
		{"a request without available devices", NULL, 0, NULL, 0, 1},
		{"a request for unknown devices", unknown, ARRAY_SIZE(unknown), NULL, 0, 1},
		{"a request that must include an unknown device", ids, count, unknown, 1, 1},
		{"a request that must include more devices than it asks for", ids, count, ids,
		 count, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (!ask(rig, item->resource, &requests[i], &reply))
			return;
	}
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct request request = request_of(item, 1, 0);
	request.what = "GetPreferredAllocation afterwards";
	(void)expect_answer(rig, item->resource, &request, &reply);
}

static void repeat(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer first CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer second CLEANUP_RPC_ANSWER = {0};
	const struct request request = request_of(item, item->ids->count > 2 ? 2 : 1, 0);
	const V1beta1__ContainerPreferredAllocationResponse *one =
		expect_answer(rig, item->resource, &request, &first);
	const V1beta1__ContainerPreferredAllocationResponse *other =
		one != NULL ? expect_answer(rig, item->resource, &request, &second) : NULL;
	if (other == NULL)
		return;
	bool same = one->n_deviceids == other->n_deviceids;
	for (size_t i = 0; same && i < one->n_deviceids; i++)
		same = names(other, one->deviceids[i]);
	(void)check_expect_is(rig->run, same, "the second answer", "the devices of the first",
			      "other devices");
}

static void prompt(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const struct request request = request_of(item, (item->ids->count + 1) / 2, 0);
	if (expect_answer(rig, item->resource, &request, &reply) != NULL)
		(void)check_expect_in_time(rig->run,
					   check_format(rig->run,
							"milliseconds for %d of %zu devices",
							request.size, request.available_count),
					   reply.duration_ms);
}

/* Any status is an answer. The plugin must serve afterwards. */
static void survives(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer allocated CLEANUP_RPC_ANSWER = {0};
	const struct request request = request_of(item, 1, 0);
	struct error err = {0};
	if (!ask(rig, item->resource, &request, &reply))
		return;
	int rc = rig_allocate(rig, item->resource, request.available, 1, &allocated, &err);
	if (check_expect_ok(rig->run, rc, "Allocate afterwards", &err))
		(void)check_expect_text(rig->run, "Allocate afterwards",
					rpc_code_name(allocated.code), "OK");
}

#define PREFERRED(name, rule, severity, body, ...)                                                 \
	CHECK("preferred-allocation." name, rule, severity, 1, offered, .timeout_s = 180,          \
	      .needs = {.devices = 1}, .judge = (body), __VA_ARGS__)

const struct check preferred_allocation_checks[] = {
	PREFERRED("succeeds", PRF_02, CRITICAL, succeeds,
		  .title = "GetPreferredAllocation succeeds where it is offered",
		  .advice = "Answer every possible request, or do not set "
			    "get_preferred_allocation_available: an error fails the pod.",
		  .depends_on = "allocate.one-response"),
	PREFERRED("only-available", PRF_03, MEDIUM, only_available,
		  .title = "Only available devices are preferred, each once",
		  .advice = "Choose among available_deviceIDs: the kubelet drops all others and "
			    "chooses by itself.",
		  .depends_on = "preferred-allocation.succeeds"),
	PREFERRED("must-include", PRF_04, MEDIUM, must_include,
		  .title = "Devices that must be included are preferred",
		  .advice = "Begin with must_include_deviceIDs, which the container holds already, "
			    "and add the devices that fit them best.",
		  .depends_on = "preferred-allocation.succeeds"),
	PREFERRED(
		"size", PRF_05, MEDIUM, size,
		.title = "A preferred allocation has the requested number of devices",
		.advice =
			"Return allocation_size devices: otherwise the kubelet chooses the missing "
			"ones.",
		.depends_on = "preferred-allocation.succeeds"),
	PREFERRED("impossible-requests", PRF_07, MEDIUM, impossible,
		  .title = "Impossible requests for a preferred allocation do no harm",
		  .advice = "Check sizes and ids before use; answer with an error or with what is "
			    "possible.",
		  .depends_on = "preferred-allocation.succeeds"),
	PREFERRED("repeat", PRF_08, LOW, repeat,
		  .title = "The same request gets the same preferred allocation",
		  .advice =
			  "Sort the ids before you choose: users cannot reproduce a placement that "
			  "changes without a cause.",
		  .depends_on = "preferred-allocation.succeeds"),
	PREFERRED("prompt", PRF_09, MEDIUM, prompt,
		  .title = "A preferred allocation from all devices is prompt",
		  .advice = "Do not try all combinations: the kubelet has no deadline here, and "
			    "admits one pod at a time.",
		  .depends_on = "preferred-allocation.succeeds"),
	CHECK("preferred-allocation.not-offered", PRF_01, LOW, 1, not_offered,
	      .title = "A plugin without preferred allocation survives the call",
	      .advice = "Answer with UNIMPLEMENTED, or with an empty answer.", .timeout_s = 180,
	      .needs = {.devices = 1}, .depends_on = "allocate.one-response", .judge = survives),
	{.id = NULL},
};
