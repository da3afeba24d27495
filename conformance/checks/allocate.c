/* SPDX-License-Identifier: MIT */
/* Allocate: what the plugin hands out, and how it answers what it cannot. */
#include "conformance/checks/allocate.h"

#include "conformance/checks/suites.h"
#include "rpc/rpc.h"

#include <signal.h>
#include <string.h>

enum { REPEATS = 20, ORDERED_MAX = 64 /* ids in one call */ };

#define UNKNOWN_ID "gpucert-no-such-device::0"

/* Allocate of the first id works. Returns whether, and how long it took. */
static bool expect_first(struct rig *rig, const struct rig_item *item, const char *what,
			 uint64_t *duration_ms)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	bool works = allocate_expect(rig, item->resource, (const char *const *)item->ids->items, 1,
				     what, &reply) != NULL;
	if (duration_ms != NULL)
		*duration_ms = reply.duration_ms;
	return works;
}

static void one_response(struct rig *rig, const struct rig_item *item)
{
	(void)expect_first(rig, item, "Allocate of one device", NULL);
}

static void prompt(struct rig *rig, const struct rig_item *item)
{
	uint64_t duration_ms = 0;
	if (expect_first(rig, item, "Allocate of one device", &duration_ms))
		(void)check_expect_in_time(rig->run, "milliseconds", duration_ms);
}

/* An id that was asked for again stands for the same device nodes. */
static void ask_again(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct allocate_difference difference = {0};
	const V1beta1__ContainerAllocateResponse *again =
		allocate_expect(rig, item->resource, &item->id, 1, item->id, &reply);
	if (again != NULL &&
	    allocate_differ(rig, ALLOCATE_GRANTED, item->answer, again, &difference) &&
	    difference.is_device)
		(void)check_expect(rig->run, false,
				   check_format(rig->run, "%s asked for again", item->id),
				   difference.first, "%s", difference.second);
}

static void each_and_all(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	allocate_for_each(rig, item, ask_again);
	(void)allocate_together(rig, item, &reply);
}

/* The same ids in order, in order again, and in reverse order. False: there is no answer for so many at once. */
static bool compare_orders(struct rig *rig, const struct rig_item *item, size_t count)
{
	static const char *const names[] = {"ids in order", "the same ids again",
					    "ids in reverse order"};
	const struct text_list *ids = item->ids;
	const V1beta1__ContainerAllocateResponse *answers[ARRAY_SIZE(names)] = {NULL};
	struct rpc_answer replies[ARRAY_SIZE(names)] = {0};
	const char *backwards[ORDERED_MAX] = {NULL};
	for (size_t i = 0; i < count; i++)
		backwards[i] = ids->items[count - 1 - i];
	for (size_t i = 0; i < ARRAY_SIZE(names) && (i == 0 || answers[0] != NULL); i++) {
		answers[i] = allocate_expect(rig, item->resource,
					     i < 2 ? (const char *const *)ids->items : backwards,
					     count, names[i], &replies[i]);
		if (i != 0)
			(void)allocate_expect_same(rig, names[i], ALLOCATE_ALL, answers[0],
						   answers[i]);
	}
	bool answered = answers[0] != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		rpc_answer_free(&replies[i]);
	return answered;
}

static void order(struct rig *rig, const struct rig_item *item)
{
	size_t count = item->ids->count < ORDERED_MAX ? item->ids->count : ORDERED_MAX;
	if (!compare_orders(rig, item, count) && count > 1)
		(void)compare_orders(rig, item, 1);
}

/* What the answers for one id have been so far. */
struct repeats {
	struct rpc_answer first, before;
	size_t changed;	 /* answers that hand out something else than the first */
	size_t returned; /* of these, what the one before did, or after one that did */
	struct allocate_difference shown; /* the first, or one in a device node */
};

static void count_change(struct rig *rig, struct repeats *repeats,
			 const V1beta1__ContainerAllocateResponse *answer)
{
	const V1beta1__ContainerAllocateResponse *first = rig_first_response(&repeats->first);
	const V1beta1__ContainerAllocateResponse *before = rig_first_response(&repeats->before);
	struct allocate_difference difference = {0};
	struct allocate_difference unused = {0};
	bool differs = allocate_differ(rig, ALLOCATE_GRANTED, first, answer, &difference);
	bool is_new =
		before == NULL || allocate_differ(rig, ALLOCATE_GRANTED, before, answer, &unused);
	repeats->returned += repeats->changed != 0 && (!differs || !is_new);
	repeats->changed += differs;
	if (differs &&
	    (!repeats->shown.found || (difference.is_device && !repeats->shown.is_device)))
		repeats->shown = difference;
}

/* What is made up for each container, such as a token in a file's name, is another each time. Anything else that
 * changes is another thing under the same id. */
static void expect_steady(struct rig *rig, const struct repeats *repeats, size_t count)
{
	const struct allocate_difference *shown = &repeats->shown;
	bool made_up = !shown->is_device && repeats->returned == 0 && repeats->changed == count - 1;
	bool held = repeats->changed == 0 || made_up;
	(void)check_expect(rig->run, held, "what the id hands out",
			   held ? "the same each time" : shown->first, "%s",
			   held ? check_format(rig->run, "the same in %zu answers", count)
				: shown->second);
	if (made_up)
		check_note(rig->run, "each answer has its own %s", shown->second);
}

static void repeat(struct rig *rig, const struct rig_item *item)
{
	struct repeats repeats = {0};
	bool works = allocate_expect(rig, item->resource, (const char *const *)item->ids->items, 1,
				     "the first Allocate", &repeats.first) != NULL;
	size_t count = 1;
	for (; works && count < REPEATS; count++) {
		struct rpc_answer reply = {0};
		const V1beta1__ContainerAllocateResponse *answer =
			allocate_expect(rig, item->resource, (const char *const *)item->ids->items,
					1, "Allocate of the same id again", &reply);
		works = answer != NULL;
		if (works)
			count_change(rig, &repeats, answer);
		rpc_answer_free(&repeats.before);
		repeats.before = reply;
	}
	if (works)
		expect_steady(rig, &repeats, count);
	rpc_answer_free(&repeats.first);
	rpc_answer_free(&repeats.before);
}

/* The response is the one that the request alone gets; where that differs each time, only what it hands out counts. */
static void expect_alone(struct rig *rig, const char *resource, const char *const *ids,
			 const V1beta1__ContainerAllocateResponse *response)
{
	struct rpc_answer first CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer second CLEANUP_RPC_ANSWER = {0};
	struct allocate_difference difference = {0};
	const V1beta1__ContainerAllocateResponse *alone =
		allocate_expect(rig, resource, ids, 1, "the second request alone", &first);
	const V1beta1__ContainerAllocateResponse *again =
		allocate_expect(rig, resource, ids, 1, "the second request alone", &second);
	bool differ = alone != NULL && again != NULL &&
		      allocate_differ(rig, ALLOCATE_ALL, alone, again, &difference);
	if (differ && allocate_differ(rig, ALLOCATE_GRANTED, alone, again, &difference))
		check_note(rig->run, "answers differ each time: their order is unknown");
	else
		(void)allocate_expect_same(rig, "second container response",
					   differ ? ALLOCATE_GRANTED : ALLOCATE_ALL, response,
					   alone);
}

/* Several container requests in one call, each for one id. */
static void several_requests(struct rig *rig, const struct rig_item *item)
{
	const char *const *all = (const char *const *)item->ids->items;
	const char *const *last = &all[item->ids->count - 1];
	struct kubelet_allocate_request request = {0};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	kubelet_allocate_request_add(&request, all, 1);
	kubelet_allocate_request_add(&request, last, 1);
	int rc = kubelet_call(kubelet_resource_plugin(rig->kubelet, item->resource),
			      DEVICE_PLUGIN_SERVICE "Allocate", &request.request.base,
			      &v1beta1__allocate_response__descriptor, RIG_CALL_MS, &reply, &err);
	const V1beta1__AllocateResponse *response = (const V1beta1__AllocateResponse *)reply.reply;
	if (check_expect_ok(rig->run, rc, "Allocate is answered", &err) &&
	    check_expect_text(rig->run, "two container requests", rpc_code_name(reply.code),
			      "OK") &&
	    check_expect_int(rig->run, "container responses",
			     (long long)response->n_container_responses, 2))
		expect_alone(rig, item->resource, last, response->container_responses[1]);
}

/* Allocate of an id, or none, that the plugin does not have. False: no answer at all, recorded. */
static bool call_oddly(struct rig *rig, const char *resource, const char *id,
		       struct rpc_answer *reply)
{
	struct error err = {0};
	int rc = rig_allocate(rig, resource, &id, id != NULL ? 1 : 0, reply, &err);
	return rc == 0 || check_expect_ok(rig->run, rc, "Allocate is answered", &err);
}

static void unknown_id(struct rig *rig, const struct rig_item *item)
{
	static const char *const unknown[] = {UNKNOWN_ID, "", "../../etc/passwd", "a\nb\"c%00"};
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (call_oddly(rig, item->resource, unknown[i], &reply))
			(void)check_expect(rig->run, reply.code != RPC_OK,
					   "Allocate of an unknown id", "an error", "%s",
					   rpc_code_name(reply.code));
	}
	(void)expect_first(rig, item, "Allocate of a healthy device afterwards", NULL);
}

static void error_names_id(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (!call_oddly(rig, item->resource, UNKNOWN_ID, &reply))
		return;
	if (reply.code == RPC_OK)
		check_not_applicable(rig->run,
				     "an unknown id is not refused; see allocate.unknown-id");
	else
		(void)check_expect(rig->run, strstr(reply.message, UNKNOWN_ID) != NULL,
				   "grpc-message", "names " UNKNOWN_ID, "'%s'", reply.message);
}

static void no_ids(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (call_oddly(rig, item->resource, NULL, &reply)) {
		const V1beta1__ContainerAllocateResponse *response = rig_first_response(&reply);
		bool gave =
			response != NULL && (response->n_devices != 0 || response->n_mounts != 0 ||
					     response->n_cdi_devices != 0);
		(void)check_expect(rig->run, !gave, "Allocate without ids",
				   "an error or an empty answer", "%s",
				   gave ? "devices or mounts" : rpc_code_name(reply.code));
	}
	(void)expect_first(rig, item, "Allocate of a healthy device afterwards", NULL);
}

struct registering {
	struct rig *rig;
	size_t from;
	const char *resource;
	const struct kubelet_registration *found; /* of the resource, and dialled */
};

static bool is_registering(void *user)
{
	struct registering *registering = user;
	struct rig *rig = registering->rig;
	for (size_t i = registering->from; i < kubelet_registration_count(rig->kubelet); i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);
		if (r->socket != NULL && text_equal(r->resource, registering->resource)) {
			registering->found = r;
			return true;
		}
	}
	return false;
}

/* Calls Allocate on the socket of a registration that is under way, and compares the answer with the one that the id
 * had while a stream was open. */
static void allocate_on_socket(struct rig *rig, const struct kubelet_registration *r,
			       const char *id, const struct rpc_answer *known)
{
	struct kubelet_allocate_request request = {0};
	struct rpc_channel *channel = NULL;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	char *address CLEANUP_FREE = text_format("unix:%s", r->socket);
	int rc = address == NULL ? error_memory(&err)
				 : rpc_channel_open(&rig->loop, address, NULL, &channel, &err);
	kubelet_allocate_request_add(&request, &id, 1);
	const struct rpc_unary_call call = {.method = DEVICE_PLUGIN_SERVICE "Allocate",
					    .request = &request.request.base,
					    .reply_type = &v1beta1__allocate_response__descriptor,
					    .timeout_ms = RIG_CALL_MS};
	if (rc == 0)
		rc = rpc_unary_answer(channel, &call, &reply, &err);
	bool first = r->plugin == NULL || kubelet_plugin_stream(r->plugin) == NULL;
	if (check_expect_ok(rig->run, rc, "Allocate is answered", &err) &&
	    check_expect(rig->run, reply.code == RPC_OK, "Allocate before any ListAndWatch", "OK",
			 "%s %s", rpc_code_name(reply.code), reply.message) &&
	    check_expect_is(rig->run, first, "Allocate is answered",
			    "before ListAndWatch is opened", "after ListAndWatch was opened"))
		(void)allocate_expect_same(
			rig, "Allocate before any ListAndWatch, compared with later",
			ALLOCATE_GRANTED, rig_first_response(known), rig_first_response(&reply));
	rpc_channel_close(channel);
}

/* The resource under test that registered first. */
static const char *first_resource(const struct rig *rig)
{
	const struct kubelet_registration *r = NULL;
	for (size_t i = rig->first_registration; i < kubelet_registration_count(rig->kubelet);
	     i++) {
		r = kubelet_registration_at(rig->kubelet, i);
		if (r->resource != NULL && text_list_has(&rig->resources, r->resource))
			return r->resource;
	}
	return rig->resources.items[0];
}

/* The kubelet opens ListAndWatch once it has answered Register; while it holds that answer back
 * there is no stream, and the ids are known from the plugin's run before. */
static void before_list(struct check_run *run)
{
	struct rig *rig = rig_ready(run, NULL);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct rpc_answer known CLEANUP_RPC_ANSWER = {0};
	struct registering registering = {.rig = rig};
	struct error err = {0};
	if (rig == NULL)
		return;
	registering.resource = check_format(run, "%s", first_resource(rig));
	registering.from = kubelet_registration_count(rig->kubelet);
	if (!rig_healthy_ids(rig, registering.resource, &ids) ||
	    allocate_expect(rig, registering.resource, (const char *const *)ids.items, 1,
			    "Allocate of one device", &known) == NULL ||
	    !rig_stop_plugin(rig, SIGTERM) ||
	    !check_works(run, kubelet_fault_set(rig->kubelet, "register-delay=8000", &err), NULL,
			 &err) ||
	    !rig_start_plugin(rig, NULL))
		return;
	int rc = rig_wait(rig, is_registering, &registering, rig_wait_ms(rig, CHECK_REG_01),
			  "a Register call", &err);
	if (check_expect_ok(run, rc, "the plugin tries to register", &err))
		allocate_on_socket(rig, registering.found, ids.items[0], &known);
}

#define ALLOCATE(name, rule, severity, body, ...)                                                  \
	CHECK("allocate." name, rule, severity, 1, rig_each_resource, .timeout_s = 180,            \
	      .stands_on = "allocate.one-response", .judge = (body), __VA_ARGS__)

#define ALLOCATE_CDI(name, rule, severity, body, ...)                                              \
	CHECK("allocate.cdi-" name, rule, severity, 1, body, .timeout_s = 180,                     \
	      .needs = {.os = "linux", .devices = 1, .live_node = true},                           \
	      .stands_on = "allocate.one-response", __VA_ARGS__)

const struct check allocate_checks[] = {
	CHECK("allocate.one-response", ALC_01, CRITICAL, 1, rig_each_resource,
	      .title = "A container request is answered by a container response",
	      .advice = "Return one ContainerAllocateResponse for each container request: without "
			"one the pod fails.",
	      .timeout_s = 180, .needs = {.devices = 1}, .stands_on = "list-and-watch.arrives",
	      .judge = one_response),
	ALLOCATE("prompt", ALC_02, CRITICAL, prompt,
		 .title = "Allocate of a healthy device is prompt",
		 .advice = "Prepare what is slow beforehand: the kubelet admits one pod at a time "
			   "and has no deadline here."),
	ALLOCATE("each-and-all", ALC_03, CRITICAL, each_and_all,
		 .title = "Each device and all devices together can be allocated",
		 .advice = "See which id is refused; a healthy id that is listed must be "
			   "allocatable. Only replicas of one device may be refused together."),
	ALLOCATE("several-requests", ALC_04, MEDIUM, several_requests,
		 .title = "Several container requests are answered one by one, in order",
		 .advice = "Answer container_requests[i] with container_responses[i]."),
	ALLOCATE("order", ALC_05, HIGH, order,
		 .title = "The same ids are given the same answer, in any order",
		 .advice = "Sort the ids, or treat them as a set: the kubelet's order is random."),
	ALLOCATE("repeat", ALC_06, CRITICAL, repeat,
		 .title = "A device that was allocated can be allocated again",
		 .advice = "Keep no record of what is allocated: there is no call that gives a "
			   "device back."),
	ALLOCATE("unknown-id", ALC_07, HIGH, unknown_id,
		 .title = "Allocate of an unknown id is refused, and harms nothing",
		 .advice = "Look each id up in the list that was sent, and answer with an error "
			   "status."),
	ALLOCATE("error-names-id", ALC_13, LOW, error_names_id,
		 .title = "The error of a refused Allocate names the id",
		 .advice = "Put the id into the status message: it is all that the pod's owner "
			   "gets to see."),
	ALLOCATE("no-ids", ALC_09, MEDIUM, no_ids, .title = "Allocate without ids does no harm",
		 .advice = "Answer with an error or with nothing; never with a device."),
	CHECK("allocate.before-list", ALC_12, MEDIUM, 1, before_list,
	      .title = "Allocate works before any ListAndWatch stream is open",
	      .advice = "Build the device table at start, not when the first stream opens.",
	      .timeout_s = 180, .needs = {.devices = 1, .own_plugin = true},
	      .stands_on = "allocate.one-response"),
	ALLOCATE("paths-exist", ALC_15, CRITICAL, allocate_paths_exist,
		 .title = "Mount sources and device nodes in an answer exist",
		 .advice = "Check each path before answering: the container runtime creates an "
			   "empty directory where a mount source is missing.",
		 .needs = {.devices = 1, .live_node = true}),
	ALLOCATE("unique-paths", ALC_16, HIGH, allocate_unique_paths,
		 .title = "Entries of an answer with one container path are the same",
		 .advice = "Merge what several devices share: of equal container paths only the "
			   "first counts."),
	ALLOCATE("read-only", ALC_18, MEDIUM, allocate_read_only,
		 .title = "Driver files are mounted read-only, on harmless destinations",
		 .advice = "Set read_only; mount files, not whole system directories."),
	ALLOCATE_CDI(
		"resolves", ALC_22, CRITICAL, allocate_cdi_resolves,
		.title = "CDI devices in answers are in valid Specs of the node",
		.advice = "Write the Spec before you answer, as *.json or *.yaml right in one of "
			  "the runtime's folders; gen-device-mounts --for cdi --check tells "
			  "what is wrong with it."),
	ALLOCATE_CDI("specs", ALC_22S, MEDIUM, allocate_cdi_specs,
		     .title = "Specs of the kinds that answers name are valid",
		     .advice =
			     "Mend or remove the file: a runtime ignores it whole, with its other "
			     "devices."),
	ALLOCATE_CDI("files", ALC_29, CRITICAL, allocate_cdi_files,
		     .title = "Mount sources and device nodes in CDI edits exist",
		     .advice = "Write the Spec again when drivers change: a container with a mount "
			       "source that is missing does not start."),
	ALLOCATE_CDI("agrees", ALC_30, HIGH, allocate_cdi_agrees,
		     .title = "CDI edits contradict neither each other nor the answer",
		     .advice =
			     "Say each path and each variable once, in the Spec or in the answer: "
			     "which of two counts depends on the runtime."),
	ALLOCATE_CDI("one-device", ALC_31, CRITICAL, allocate_cdi_one_device,
		     .title = "The CDI devices for one id hand out no second device",
		     .advice =
			     "Keep device nodes and drivers of a device in its own edits: those of "
			     "the whole Spec are given to every container."),
	{.id = NULL},
};
