/* SPDX-License-Identifier: MIT */
/* GetPreferredAllocation: the plugin's preference among the devices that the kubelet could assign. */
#include "base/clock.h"
#include "conformance/checks/growth.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"
#include "rpc/message.h"

#include <string.h>

enum {
	AVAILABLE_MAX = 1000, /* ids in one request */
	VARIED_MAX = 8,	      /* sizes, and ids that must be included in turn */
	VARIED_MS = 2000,     /* limit of the requests to a slow plugin */
	CALLS = 16,	      /* of a round */
	ROUND_MS = 200,
};

/* The members of a request with one container. */
struct request {
	const char *what;
	const char *const *available;
	size_t available_count;
	const char *const *must_include;
	size_t must_count;
	int32_t size;
};

static void request_init(const struct request *request, struct kubelet_preferred_request *message)
{
	kubelet_preferred_request_init(message, request->available, request->available_count,
				       request->size);
	message->container.must_include_deviceids = message_strings(request->must_include);
	message->container.n_must_include_deviceids = request->must_count;
}

/* True: there is an answer, also one with a status other than OK. False: recorded. */
static bool ask(struct rig *rig, const char *resource, const struct request *request,
		struct rpc_answer *reply)
{
	struct kubelet_preferred_request message;
	struct error err = {0};
	request_init(request, &message);
	return check_expect_ok(
		rig->run,
		rig_call(rig, resource, &kubelet_method_prefer, &message.request.base, reply, &err),
		request->what, &err);
}

/* An empty container response if the plugin sent none, which is no preference. */
static const V1beta1__ContainerPreferredAllocationResponse *
answer_to(const struct rpc_answer *reply, size_t index)
{
	static const V1beta1__ContainerPreferredAllocationResponse nothing =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_RESPONSE__INIT;
	const V1beta1__PreferredAllocationResponse *response =
		(const V1beta1__PreferredAllocationResponse *)reply->reply;
	return index < response->n_container_responses ? response->container_responses[index]
						       : &nothing;
}

/* Asks, and the status must be OK. Returns the first container response, as a kubelet does. NULL: recorded. */
static const V1beta1__ContainerPreferredAllocationResponse *
expect_answer(struct rig *rig, const char *resource, const struct request *request,
	      struct rpc_answer *reply)
{
	if (!ask(rig, resource, request, reply) ||
	    !check_expect(rig->run, reply->code == RPC_OK, request->what, "OK", "%s %s",
			  rpc_code_name(reply->code), reply->message))
		return NULL;
	return answer_to(reply, 0);
}

static const bool is_offered = true, is_not_offered = false;

/* A body: the row's judge for each resource whose plugin does, or does not, offer preferred allocation, as the row's
 * param says. */
static void each_resource(struct check_run *run)
{
	const bool offered = *(const bool *)check_row(run)->param;
	struct rig *rig = rig_ready(run);
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
		check_row(run)->judge(rig, &item);
	}
	if (rig != NULL && count == 0)
		check_not_applicable(run, offered ? "the plugin offers no preferred allocation"
						  : "the plugin offers preferred allocation");
}

static struct request request_of(const struct rig_item *item, size_t size, size_t must)
{
	const char *const *ids = rig_ids(item->ids);
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
	array_each (size, sizes) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		const struct request request = request_of(item, *size, 0);
		if (expect_answer(rig, item->resource, &request, &reply) == NULL)
			return;
	}
}

static bool names(const V1beta1__ContainerPreferredAllocationResponse *answer, const char *id)
{
	items_each (named, answer->deviceids, answer->n_deviceids) {
		if (strcmp(*named, id) == 0)
			return true;
	}
	return false;
}

/* Judges one answer of several; false ends the requests. */
typedef bool answer_judge(const struct request *request,
			  const V1beta1__ContainerPreferredAllocationResponse *answer, void *user);

struct varied {
	struct rig *rig;
	const char *resource;
	const char
		*ring[2 * AVAILABLE_MAX]; /* the ids twice, so that they can begin at any of them */
	size_t count;			  /* ids */
	bool last;			  /* included ones come last, every other time */
	uint64_t end_ms;
	answer_judge *judge;
	void *user;
};

/* Asks for that many of the `available` ids from `at` on; the first or last `must` of these must be included. */
static bool vary(struct varied *varied, size_t at, size_t available, size_t must, size_t size)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const struct request request = {
		.what = "GetPreferredAllocation",
		.available = &varied->ring[at],
		.available_count = available,
		.must_include = &varied->ring[varied->last ? at + available - must : at],
		.must_count = must,
		.size = (int32_t)(size < available ? size : available),
	};
	if (clock_monotonic_ms() >= varied->end_ms)
		return false;
	varied->last = !varied->last;
	const V1beta1__ContainerPreferredAllocationResponse *answer =
		expect_answer(varied->rig, varied->resource, &request, &reply);
	return answer != NULL && varied->judge(&request, answer, varied->user);
}

/* Requests as a kubelet makes them: for several devices, with devices that the pod holds already, and with devices that
 * other pods hold. Returns whether `judge` has seen all answers. */
static bool judge_answers(struct rig *rig, const struct rig_item *item, answer_judge *judge,
			  void *user)
{
	struct varied varied = {
		.rig = rig,
		.resource = item->resource,
		.count = item->ids->count < AVAILABLE_MAX ? item->ids->count : AVAILABLE_MAX,
		.end_ms = clock_monotonic_ms() + VARIED_MS,
		.judge = judge,
		.user = user,
	};
	const size_t count = varied.count;
	for (size_t i = 0; i < 2 * count; i++)
		varied.ring[i] = item->ids->items[i % count];
	if (!vary(&varied, count - 1, count, 1, 2))
		return false;
	for (size_t size = 1; size <= count && size <= VARIED_MAX; size++) {
		if (!vary(&varied, 0, count, 0, size))
			return false;
	}
	if (!vary(&varied, 0, count, 0, count))
		return false;
	const size_t turns = count < VARIED_MAX ? count : VARIED_MAX;
	for (size_t turn = 0; turn < turns; turn++) {
		const size_t at = turn * count / turns;
		const size_t some = (count + 1) / 2;
		if (!vary(&varied, at, count, 1, 2) ||
		    (count >= 3 && !vary(&varied, at, count, 2, 3)) ||
		    !vary(&varied, at, some, 0, 2) || !vary(&varied, at, some, 1, some) ||
		    !vary(&varied, at, some, 1, 2))
			return false;
	}
	return true;
}

struct preferences {
	struct tally rule, once;
	size_t preferred; /* devices, in all answers */
};

static bool is_available(const struct request *request,
			 const V1beta1__ContainerPreferredAllocationResponse *answer, void *user)
{
	struct preferences *seen = user;
	for (size_t i = 0; i < answer->n_deviceids; i++) {
		const char *id = answer->deviceids[i];
		bool found = false;
		bool again = false;
		for (size_t k = 0; k < request->available_count && !found; k++)
			found = strcmp(request->available[k], id) == 0;
		items_each (named, answer->deviceids, i)
			again = again || strcmp(*named, id) == 0;
		tally_add(&seen->rule, found, "'%s' for %d of %zu devices", id, request->size,
			  request->available_count);
		tally_add(&seen->once, !again, "'%s' again for %d devices, of which %zu %s", id,
			  request->size, request->must_count, "must be included");
	}
	seen->preferred += answer->n_deviceids;
	return seen->rule.wrong == 0 && seen->once.wrong == 0;
}

static void judge_preferences(struct rig *rig, const struct rig_item *item, answer_judge *judge,
			      struct preferences *seen)
{
	bool all = judge_answers(rig, item, judge, seen);
	tally_end(&seen->rule);
	tally_end(&seen->once);
	if (all && seen->preferred == 0)
		check_not_applicable(rig->run, "the answers prefer no device; see "
					       "preferred-allocation.size");
}

static void only_available(struct rig *rig, const struct rig_item *item)
{
	struct preferences seen = {
		.rule = TALLY_OF(rig->run, "preferred device", "one that is available"),
		.once = TALLY_OF(rig->run, "preferred device", "named once"),
	};
	judge_preferences(rig, item, is_available, &seen);
}

/* A kubelet chooses for itself where the plugin prefers nothing. */
static bool includes(const struct request *request,
		     const V1beta1__ContainerPreferredAllocationResponse *answer, void *user)
{
	struct preferences *seen = user;
	for (size_t i = 0; answer->n_deviceids != 0 && i < request->must_count; i++) {
		const char *id = request->must_include[i];
		tally_add(&seen->rule, names(answer, id), "%s is not", id);
	}
	seen->preferred += answer->n_deviceids;
	return seen->rule.wrong == 0;
}

static void must_include(struct rig *rig, const struct rig_item *item)
{
	struct preferences seen = {
		.rule = TALLY_OF(rig->run, "devices that must be included", "preferred")};
	judge_preferences(rig, item, includes, &seen);
}

static bool has_size(const struct request *request,
		     const V1beta1__ContainerPreferredAllocationResponse *answer, void *user)
{
	struct tally *tally = user;
	tally_add(tally, answer->n_deviceids == (size_t)request->size,
		  "%zu for %d of %zu, of which %zu must be included", answer->n_deviceids,
		  request->size, request->available_count, request->must_count);
	return tally->wrong == 0;
}

/* A call of several container requests gets an answer to each, in order and from its own devices. A kubelet sends one: it may
 * be refused. */
static void judge_several(struct rig *rig, const struct rig_item *item)
{
	const struct request first = request_of(item, 1, 0);
	const size_t last = first.available_count - 1;
	const struct request second = {
		.available = &first.available[last > 0],
		.available_count = last > 0 ? last : 1,
		.must_include = &first.available[last],
		.must_count = 1,
		.size = last > 1 ? 2 : 1,
	};
	struct kubelet_preferred_request message;
	struct kubelet_preferred_request further;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	request_init(&first, &message);
	request_init(&second, &further);
	V1beta1__ContainerPreferredAllocationRequest *both[] = {&message.container,
								&further.container};
	message.request.container_requests = both;
	message.request.n_container_requests = ARRAY_SIZE(both);
	int rc = rig_call(rig, item->resource, &kubelet_method_prefer, &message.request.base,
			  &reply, &err);
	if (!check_expect_ok(rig->run, rc, "two container requests in a call", &err) ||
	    reply.code != RPC_OK)
		return;
	const V1beta1__ContainerPreferredAllocationResponse *answer = answer_to(&reply, 1);
	TALLY(included, rig->run, "a device that a second container request must include",
	      "preferred");
	struct preferences seen = {
		.rule = TALLY_OF(rig->run, "preferred device of a second container request",
				 "one that is available to it"),
		.once = TALLY_OF(rig->run, "preferred device of a second container request",
				 "named once"),
	};
	if (!check_expect_int(rig->run, "preferred devices of a second container request",
			      (long long)answer->n_deviceids, second.size))
		return;
	(void)is_available(&second, answer, &seen);
	tally_add(&included, names(answer, *second.must_include), "%s is not",
		  *second.must_include);
	tally_end(&seen.rule);
	tally_end(&seen.once);
}

/* No call frees a device, so all available ids of a request count as free, whatever was allocated before. */
static void size(struct rig *rig, const struct rig_item *item)
{
	TALLY(sizes, rig->run, "preferred devices", "as many as were asked for");
	TALLY(later, rig->run, "preferred devices after Allocate", "as many as were asked for");
	if (!judge_answers(rig, item, has_size, &sizes))
		return;
	const char *const *ids = rig_ids(item->ids);
	const char *const *some[] = {&ids[0], &ids[item->ids->count - 1]};
	array_each (one, some) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct error err = {0};
		if (!check_expect_ok(rig->run,
				     rig_allocate(rig, item->resource, *one, 1, &reply, &err),
				     "Allocate of one device", &err))
			return;
	}
	if (judge_answers(rig, item, has_size, &later))
		judge_several(rig, item);
}

static void impossible(struct rig *rig, const struct rig_item *item)
{
	static const char *const unknown[] = {RIG_UNKNOWN_ID, ""};
	const char *const *ids = rig_ids(item->ids);
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
	array_each (each, requests) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (!ask(rig, item->resource, each, &reply))
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

static bool prefer_round(struct rig *rig, void *user)
{
	const struct rig_item *item = user;
	uint64_t end_ms = clock_monotonic_ms() + ROUND_MS;
	for (size_t i = 0; i < CALLS && (i == 0 || clock_monotonic_ms() < end_ms); i++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		const struct request request = request_of(item, 1 + i % 2, 1);
		if (expect_answer(rig, item->resource, &request, &reply) == NULL)
			return false;
	}
	return true;
}

static void leaks(struct rig *rig, const struct rig_item *item)
{
	struct rig_item asked = *item;
	rig_expect_level(rig, "calls of GetPreferredAllocation", prefer_round, &asked);
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
	if (check_expect_ok(
		    rig->run,
		    rig_allocate(rig, item->resource, request.available, 1, &allocated, &err),
		    "Allocate afterwards", &err))
		(void)check_expect_text(rig->run, "Allocate afterwards",
					rpc_code_name(allocated.code), "OK");
}

#define SUCCEEDS "preferred-allocation.succeeds"
#define PREFERRED(name, revision, rule, severity, foundation, body, ...)                           \
	CHECK("preferred-allocation." name, rule, severity, revision, each_resource,               \
	      .param = &is_offered, .timeout_s = 180, .needs = {.devices = 1},                     \
	      .depends_on = (foundation), .judge = (body), __VA_ARGS__)

const struct check preferred_allocation_checks[] = {
	PREFERRED("succeeds", 1, PRF_02, CRITICAL, "allocate.one-response", succeeds,
		  .title = "GetPreferredAllocation succeeds where it is offered",
		  .advice = "Answer every possible request, or do not set "
			    "get_preferred_allocation_available: an error fails the pod."),
	PREFERRED("only-available", 3, PRF_03, MEDIUM, SUCCEEDS, only_available,
		  .title = "Only available devices are preferred, each once",
		  .advice = "Choose among available_deviceIDs: the kubelet drops all others and "
			    "chooses by itself."),
	PREFERRED("must-include", 4, PRF_04, MEDIUM, SUCCEEDS, must_include,
		  .title = "Devices that must be included are preferred",
		  .advice = "Begin with must_include_deviceIDs, which the container holds already, "
			    "and add the devices that fit them best."),
	PREFERRED("size", 4, PRF_05, MEDIUM, SUCCEEDS, size,
		  .title = "A preferred allocation has the requested number of devices",
		  .advice =
			  "Return allocation_size devices, for each container request from its own "
			  "available_deviceIDs: otherwise the kubelet chooses the missing ones."),
	PREFERRED("impossible-requests", 1, PRF_07, MEDIUM, SUCCEEDS, impossible,
		  .title = "Impossible requests for a preferred allocation do no harm",
		  .advice = "Check sizes and ids before use; answer with an error or with what is "
			    "possible."),
	PREFERRED("repeat", 1, PRF_08, LOW, SUCCEEDS, repeat,
		  .title = "The same request gets the same preferred allocation",
		  .advice =
			  "Sort the ids before you choose: users cannot reproduce a placement that "
			  "changes without a cause."),
	PREFERRED("prompt", 1, PRF_09, MEDIUM, SUCCEEDS, prompt,
		  .title = "A preferred allocation from all devices is prompt",
		  .advice = "Do not try all combinations: the kubelet has no deadline here, and "
			    "admits one pod at a time."),
	PREFERRED("leaks", 2, PRF_11, MEDIUM, SUCCEEDS, leaks,
		  .title = "Many calls of GetPreferredAllocation leak nothing",
		  .advice = "Close what a call opened: compare the plugin's /proc/PID/fd and its "
			    "memory before and after."),
	CHECK("preferred-allocation.not-offered", PRF_01, LOW, 1, each_resource,
	      .param = &is_not_offered,
	      .title = "A plugin without preferred allocation survives the call",
	      .advice = "Answer with UNIMPLEMENTED, or with an empty answer.", .timeout_s = 180,
	      .needs = {.devices = 1}, .depends_on = "allocate.one-response", .judge = survives),
	{.id = NULL},
};
