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

static void each_and_all(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	allocate_for_each(rig, item, NULL);
	(void)allocate_together(rig, item, &reply);
}

/* The same ids in order, in order again, and in reverse order. */
static void order(struct rig *rig, const struct rig_item *item)
{
	static const char *const names[] = {"ids in order", "the same ids again",
					    "ids in reverse order"};
	const struct text_list *ids = item->ids;
	const V1beta1__ContainerAllocateResponse *answers[ARRAY_SIZE(names)] = {NULL};
	struct rpc_answer replies[ARRAY_SIZE(names)] = {0};
	const char *backwards[ORDERED_MAX] = {NULL};
	size_t count = ids->count < ORDERED_MAX ? ids->count : ORDERED_MAX;
	for (size_t i = 0; i < count; i++)
		backwards[i] = ids->items[count - 1 - i];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		answers[i] = allocate_expect(rig, item->resource,
					     i < 2 ? (const char *const *)ids->items : backwards,
					     count, names[i], &replies[i]);
		if (i != 0)
			allocate_expect_same(rig, names[i], answers[0], answers[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		rpc_answer_free(&replies[i]);
}

/* What the second answer holds is the plugin's to choose: a folder or a token of its own, for one.
 */
static void repeat(struct rig *rig, const struct rig_item *item)
{
	bool works = expect_first(rig, item, "the first Allocate", NULL);
	for (int i = 1; works && i < REPEATS; i++)
		works = expect_first(rig, item, "Allocate of the same id again", NULL);
}

/* The response is the one that the request alone gets; nothing to tell where that differs each
 * time. */
static void expect_alone(struct rig *rig, const char *resource, const char *const *ids,
			 const V1beta1__ContainerAllocateResponse *response)
{
	struct rpc_answer first CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer second CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerAllocateResponse *alone =
		allocate_expect(rig, resource, ids, 1, "the second request alone", &first);
	const V1beta1__ContainerAllocateResponse *again =
		allocate_expect(rig, resource, ids, 1, "the second request alone", &second);
	if (alone != NULL && again != NULL && !allocate_is_same(alone, again))
		check_note(rig->run, "answers differ each time: their order cannot be told");
	else
		allocate_expect_same(rig, "second container response", response, alone);
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

static bool expect_refused(struct rig *rig, const struct rpc_answer *reply)
{
	return check_expect(rig->run, reply->code != RPC_OK, "Allocate of an unknown id",
			    "an error", "%s", rpc_code_name(reply->code));
}

static void unknown_id(struct rig *rig, const struct rig_item *item)
{
	static const char *const unknown[] = {UNKNOWN_ID, "", "../../etc/passwd", "a\nb\"c%00"};
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (call_oddly(rig, item->resource, unknown[i], &reply))
			(void)expect_refused(rig, &reply);
	}
	(void)expect_first(rig, item, "Allocate of a healthy device afterwards", NULL);
}

static void error_names_id(struct rig *rig, const struct rig_item *item)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	if (call_oddly(rig, item->resource, UNKNOWN_ID, &reply) && expect_refused(rig, &reply))
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
	const struct kubelet_registration *found; /* of a resource under test, and dialled */
};

static bool is_registering(void *user)
{
	struct registering *registering = user;
	struct rig *rig = registering->rig;
	for (size_t i = registering->from; i < kubelet_registration_count(rig->kubelet); i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);
		if (r->socket != NULL && text_list_has(&rig->resources, r->resource)) {
			registering->found = r;
			return true;
		}
	}
	return false;
}

/* Calls Allocate on the socket of a registration that is under way. */
static void allocate_on_socket(struct rig *rig, const struct kubelet_registration *r,
			       const char *id)
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
			 "%s %s", rpc_code_name(reply.code), reply.message))
		(void)check_expect_is(rig->run, first, "Allocate is answered",
				      "before ListAndWatch is opened",
				      "after ListAndWatch was opened");
	rpc_channel_close(channel);
}

/* The kubelet opens ListAndWatch once it has answered Register; while it holds that answer back
 * there is no stream, and the ids are known from the plugin's run before. */
static void before_list(struct check_run *run)
{
	struct rig *rig = rig_ready(run, NULL);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct registering registering = {.rig = rig};
	struct error err = {0};
	if (rig == NULL || !rig_stop_plugin(rig, SIGTERM) ||
	    !check_works(run, kubelet_fault_set(rig->kubelet, "register-delay=8000", &err), NULL,
			 &err))
		return;
	registering.from = kubelet_registration_count(rig->kubelet);
	if (!rig_start_plugin(rig, NULL))
		return;
	int rc = rig_wait(rig, is_registering, &registering, rig_wait_ms(rig, CHECK_REG_01),
			  "a Register call", &err);
	if (check_expect_ok(run, rc, "the plugin tries to register", &err) &&
	    rig_healthy_ids(rig, registering.found->resource, &ids))
		allocate_on_socket(rig, registering.found, ids.items[0]);
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
			   "allocatable."),
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
