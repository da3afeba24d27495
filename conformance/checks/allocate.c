/* SPDX-License-Identifier: MIT */
/* Allocate: what the plugin hands out, and how it answers what it cannot. */
#include "conformance/checks/allocate.h"

#include "base/clock.h"
#include "conformance/checks/suites.h"
#include "rpc/rpc.h"

#include <signal.h>
#include <string.h>

enum { REPEATS = 20 };

#define UNKNOWN_ID "gpucert-no-such-device::0"

static void one_response(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct kubelet_reply reply = {0};

	(void)allocate_expect(rig, resource, (const char *const *)ids->items, 1,
			      "Allocate of one device", &reply);
	kubelet_reply_free(&reply);
}

static void allocate_one_response(struct check_run *run)
{
	allocate_each(run, one_response);
}

static void prompt(struct rig *rig, const char *resource, const struct text_list *ids)
{
	struct kubelet_reply reply = {0};

	if (allocate_expect(rig, resource, (const char *const *)ids->items, 1,
			    "Allocate of one device", &reply) != NULL)
		(void)check_expect_at_most(rig->run, "milliseconds", (long long)reply.duration_ms,
					   (long long)requirement_limit_ms(CHECK_ALC_02));
	kubelet_reply_free(&reply);
}

static void allocate_prompt(struct check_run *run)
{
	allocate_each(run, prompt);
}

static void each_and_all(struct rig *rig, const char *resource, const struct text_list *ids)
{
	size_t count = allocate_sample(rig, resource, ids);

	for (size_t i = 0; i < count; i++) {
		char **id = allocate_sampled(ids, count, i);
		struct kubelet_reply reply = {0};

		(void)allocate_expect(rig, resource, (const char *const *)id, 1, *id, &reply);
		kubelet_reply_free(&reply);
	}
	struct kubelet_reply reply = {0};

	count = count < ALLOCATE_TOGETHER_MAX ? count : ALLOCATE_TOGETHER_MAX;

	(void)allocate_expect_together(rig, resource, (const char *const *)ids->items, count,
				       "all devices together", &reply);
	kubelet_reply_free(&reply);
}

static void allocate_each_and_all(struct check_run *run)
{
	allocate_each(run, each_and_all);
}

/* The same ids in order, in order again, and in reverse order. */
static void order(struct rig *rig, const char *resource, const struct text_list *ids)
{
	static const char *const names[] = {"ids in order", "the same ids again",
					    "ids in reverse order"};
	const V1beta1__ContainerAllocateResponse *answers[ARRAY_SIZE(names)] = {NULL};
	struct kubelet_reply replies[ARRAY_SIZE(names)] = {0};
	const char *backwards[ALLOCATE_TOGETHER_MAX] = {NULL};
	size_t count = ids->count < ALLOCATE_TOGETHER_MAX ? ids->count : ALLOCATE_TOGETHER_MAX;

	for (size_t i = 0; i < count; i++)
		backwards[i] = ids->items[count - 1 - i];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		answers[i] = allocate_expect_together(
			rig, resource, i < 2 ? (const char *const *)ids->items : backwards, count,
			names[i], &replies[i]);
		if (i != 0)
			allocate_expect_same(rig, names[i], answers[0], answers[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		kubelet_reply_free(&replies[i]);
}

static void allocate_order(struct check_run *run)
{
	allocate_each(run, order);
}

/* What the second answer holds is the plugin's to choose: a folder or a token of its own, for one.
 */
static void repeat(struct rig *rig, const char *resource, const struct text_list *ids)
{
	bool works = true;

	for (int i = 0; works && i < REPEATS; i++) {
		struct kubelet_reply reply = {0};

		works = allocate_expect(rig, resource, (const char *const *)ids->items, 1,
					i == 0 ? "the first Allocate"
					       : "Allocate of the same id again",
					&reply) != NULL;
		kubelet_reply_free(&reply);
	}
}

static void allocate_repeat(struct check_run *run)
{
	allocate_each(run, repeat);
}

/* The response is the one that the request alone gets; nothing to tell where that differs each
 * time.
 */
static void allocate_expect_alone(struct rig *rig, const char *resource, char **id,
				  const V1beta1__ContainerAllocateResponse *response)
{
	struct kubelet_reply replies[2] = {0};
	const V1beta1__ContainerAllocateResponse *alone[2] = {NULL};

	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		alone[i] = allocate_expect(rig, resource, (const char *const *)id, 1,
					   "the second request alone", &replies[i]);
	if (alone[0] != NULL && alone[1] != NULL && !allocate_is_same(alone[0], alone[1]))
		check_note(rig->run, "answers differ each time: their order cannot be told");
	else
		allocate_expect_same(rig, "second container response", response, alone[0]);
	for (size_t i = 0; i < ARRAY_SIZE(alone); i++)
		kubelet_reply_free(&replies[i]);
}

/* Several container requests in one call, each for one id. */
static void several_requests(struct rig *rig, const char *resource, const struct text_list *ids)
{
	V1beta1__ContainerAllocateRequest first = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest last = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&first, &last};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	struct kubelet_reply together = {0};
	struct error err = {0};
	int rc = 0;

	first.devices_ids = &ids->items[0];
	first.n_devices_ids = 1;
	last.devices_ids = &ids->items[ids->count - 1];
	last.n_devices_ids = 1;
	request.container_requests = containers;
	request.n_container_requests = 2;
	rc = kubelet_call(kubelet_resource_plugin(rig->kubelet, resource), "Allocate",
			  &request.base, &v1beta1__allocate_response__descriptor, RIG_CALL_MS,
			  &together, &err);
	if (check_expect_ok(rig->run, rc, "Allocate is answered", &err) &&
	    check_expect_text(rig->run, "two container requests", rpc_code_name(together.code),
			      "OK")) {
		const V1beta1__AllocateResponse *response =
			(const V1beta1__AllocateResponse *)together.reply;

		if (check_expect_int(rig->run, "container responses",
				     (long long)response->n_container_responses, 2))
			allocate_expect_alone(rig, resource, last.devices_ids,
					      response->container_responses[1]);
	}
	kubelet_reply_free(&together);
}

static void allocate_several_requests(struct check_run *run)
{
	allocate_each(run, several_requests);
}

/* After something odd the plugin must still serve a healthy id. */
static void allocate_still_serves(struct rig *rig, const char *resource,
				  const struct text_list *ids)
{
	struct kubelet_reply reply = {0};

	(void)allocate_expect(rig, resource, (const char *const *)ids->items, 1,
			      "Allocate of a healthy device afterwards", &reply);
	kubelet_reply_free(&reply);
}

static void unknown_id(struct rig *rig, const char *resource, const struct text_list *ids)
{
	static const char *const unknown[] = {UNKNOWN_ID, "", "../../etc/passwd", "a\nb\"c%00"};

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		const V1beta1__AllocateResponse *response = NULL;
		struct kubelet_reply reply = {0};

		if (allocate_call(rig, resource, &unknown[i], 1, &reply, &response))
			(void)check_expect(rig->run, reply.code != RPC_OK,
					   "Allocate of an unknown id", "an error", "%s",
					   rpc_code_name(reply.code));
		kubelet_reply_free(&reply);
	}
	allocate_still_serves(rig, resource, ids);
}

static void allocate_unknown_id(struct check_run *run)
{
	allocate_each(run, unknown_id);
}

static void error_names_id(struct rig *rig, const char *resource, const struct text_list *ids)
{
	static const char *const unknown[] = {UNKNOWN_ID};
	const V1beta1__AllocateResponse *response = NULL;
	struct kubelet_reply reply = {0};

	(void)ids;
	if (allocate_call(rig, resource, unknown, 1, &reply, &response) &&
	    check_expect(rig->run, reply.code != RPC_OK, "Allocate of an unknown id", "an error",
			 "%s", rpc_code_name(reply.code)))
		(void)check_expect(rig->run, strstr(reply.message, UNKNOWN_ID) != NULL,
				   "grpc-message", "names " UNKNOWN_ID, "'%s'", reply.message);
	kubelet_reply_free(&reply);
}

static void allocate_error_names_id(struct check_run *run)
{
	allocate_each(run, error_names_id);
}

static bool allocate_gives_access(const V1beta1__ContainerAllocateResponse *response)
{
	return response->n_devices != 0 || response->n_mounts != 0 || response->n_cdi_devices != 0;
}

static void no_ids(struct rig *rig, const char *resource, const struct text_list *ids)
{
	const V1beta1__AllocateResponse *response = NULL;
	struct kubelet_reply reply = {0};

	if (allocate_call(rig, resource, NULL, 0, &reply, &response)) {
		bool gave = response != NULL && response->n_container_responses != 0 &&
			    allocate_gives_access(response->container_responses[0]);

		(void)check_expect(rig->run, !gave, "Allocate without ids",
				   "an error or an empty answer", "%s",
				   gave ? "devices or mounts" : rpc_code_name(reply.code));
	}
	kubelet_reply_free(&reply);
	allocate_still_serves(rig, resource, ids);
}

static void allocate_no_ids(struct check_run *run)
{
	allocate_each(run, no_ids);
}

struct registering {
	struct rig *rig;
	size_t from;
	const struct kubelet_registration *found; /* of a resource under test, and dialled */
};

static bool allocate_is_registering(void *user)
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

static bool allocate_is_first(const struct kubelet_registration *r)
{
	return r->plugin == NULL || kubelet_plugin_stream(r->plugin) == NULL;
}

/* Calls Allocate on the socket of a registration that is under way. */
static void allocate_on_socket(struct rig *rig, const struct kubelet_registration *r, char *id)
{
	V1beta1__ContainerAllocateRequest container = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *containers[] = {&container};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;
	struct rpc_channel *channel = NULL;
	struct kubelet_reply reply = {0};
	struct error err = {0};
	int rc = kubelet_dial(&rig->loop, r->socket, RIG_CALL_MS, &channel, &err);

	container.devices_ids = &id;
	container.n_devices_ids = 1;
	request.container_requests = containers;
	request.n_container_requests = 1;
	if (rc == 0)
		rc = kubelet_call_on(channel, DEVICE_PLUGIN_SERVICE "Allocate", &request.base,
				     &v1beta1__allocate_response__descriptor, RIG_CALL_MS, &reply,
				     &err);
	bool first = allocate_is_first(r);
	if (check_expect_ok(rig->run, rc, "Allocate is answered", &err) &&
	    check_expect(rig->run, reply.code == RPC_OK, "Allocate before any ListAndWatch", "OK",
			 "%s %s", rpc_code_name(reply.code), reply.message))
		(void)check_expect(rig->run, first, "Allocate is answered",
				   "before ListAndWatch is opened", "%s",
				   first ? "before ListAndWatch is opened"
					 : "after ListAndWatch was opened");
	kubelet_reply_free(&reply);
	rpc_channel_close(channel);
}

/* The kubelet opens ListAndWatch once it has answered Register; while it holds that answer back
 * there is no stream, and the ids are known from the plugin's run before. */
static void allocate_before_list(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct registering registering = {.rig = rig};
	struct error err = {0};
	uint64_t start = 0;

	if (rig == NULL)
		return;
	if (!rig_end_plugin(rig, SIGTERM, RIG_END_MS) ||
	    kubelet_fault_set(rig->kubelet, "register-delay=8000", &err) < 0) {
		check_broken(run, "the plugin did not end, or the fault was refused: %s", err.text);
		return;
	}
	registering.from = kubelet_registration_count(rig->kubelet);
	if (!rig_start_plugin(rig, NULL))
		return;
	start = clock_monotonic_ns();
	int rc = kubelet_wait(rig->kubelet, allocate_is_registering, &registering,
			      rig_wait_ms(rig, CHECK_REG_01), "a Register call", &err);

	rig_waited(rig, start);
	if (!check_expect_ok(run, rc, "the plugin tries to register", &err))
		return;
	if (rig_healthy_ids(rig, registering.found->resource, &ids))
		allocate_on_socket(rig, registering.found, ids.items[0]);
}

#define ALLOCATE_CHECK(name, body)                                                                 \
	.id = "allocate." name, .revision = 1, .timeout_s = 180, .run = (body),                    \
	.needs = {.devices = 1}, .stands_on = "allocate.one-response"

static const struct check checks[] = {
	{
		.id = "allocate.one-response",
		.title = "A container request is answered by a container response",
		.advice =
			"Return one ContainerAllocateResponse for each container request: without "
			"one the pod fails.",
		.requirement = CHECK_ALC_01,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 180,
		.needs = {.devices = 1},
		.stands_on = "list-and-watch.arrives",
		.run = allocate_one_response,
	},
	{
		ALLOCATE_CHECK("prompt", allocate_prompt),
		.title = "Allocate of a healthy device is prompt",
		.advice = "Prepare what is slow beforehand: the kubelet admits one pod at a time "
			  "and has "
			  "no deadline here.",
		.requirement = CHECK_ALC_02,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("each-and-all", allocate_each_and_all),
		.title = "Each device and all devices together can be allocated",
		.advice =
			"See which id is refused; a healthy id that is listed must be allocatable.",
		.requirement = CHECK_ALC_03,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("several-requests", allocate_several_requests),
		.title = "Several container requests are answered one by one, in order",
		.advice = "Answer container_requests[i] with container_responses[i].",
		.requirement = CHECK_ALC_04,
		.severity = CHECK_MEDIUM,
	},
	{
		ALLOCATE_CHECK("order", allocate_order),
		.title = "The same ids are given the same answer, in any order",
		.advice = "Sort the ids, or treat them as a set: the kubelet's order is random.",
		.requirement = CHECK_ALC_05,
		.severity = CHECK_HIGH,
	},
	{
		ALLOCATE_CHECK("repeat", allocate_repeat),
		.title = "A device that was allocated can be allocated again",
		.advice = "Keep no record of what is allocated: there is no call that gives a "
			  "device back.",
		.requirement = CHECK_ALC_06,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("unknown-id", allocate_unknown_id),
		.title = "Allocate of an unknown id is refused, and harms nothing",
		.advice = "Look each id up in the list that was sent, and answer with an error "
			  "status.",
		.requirement = CHECK_ALC_07,
		.severity = CHECK_HIGH,
	},
	{
		ALLOCATE_CHECK("error-names-id", allocate_error_names_id),
		.title = "The error of a refused Allocate names the id",
		.advice = "Put the id into the status message: it is all that the pod's owner gets "
			  "to see.",
		.requirement = CHECK_ALC_13,
		.severity = CHECK_LOW,
	},
	{
		ALLOCATE_CHECK("no-ids", allocate_no_ids),
		.title = "Allocate without ids does no harm",
		.advice = "Answer with an error or with nothing; never with a device.",
		.requirement = CHECK_ALC_09,
		.severity = CHECK_MEDIUM,
	},
	{
		.id = "allocate.before-list",
		.revision = 1,
		.timeout_s = 180,
		.run = allocate_before_list,
		.needs = {.devices = 1, .own_plugin = true},
		.stands_on = "allocate.one-response",
		.title = "Allocate works before any ListAndWatch stream is open",
		.advice = "Build the device table at start, not when the first stream opens.",
		.requirement = CHECK_ALC_12,
		.severity = CHECK_MEDIUM,
	},
	{
		.id = "allocate.paths-exist",
		.revision = 1,
		.timeout_s = 180,
		.run = allocate_paths_exist,
		.needs = {.devices = 1, .live_node = true},
		.stands_on = "allocate.one-response",
		.title = "Mount sources and device nodes in an answer exist",
		.advice =
			"Check each path before answering: the container runtime creates an empty "
			"directory where a mount source is missing.",
		.requirement = CHECK_ALC_15,
		.severity = CHECK_CRITICAL,
	},
	{
		ALLOCATE_CHECK("unique-paths", allocate_unique_paths),
		.title = "Entries of an answer with one container path are the same",
		.advice = "Merge what several devices share: of equal container paths only the "
			  "first counts.",
		.requirement = CHECK_ALC_16,
		.severity = CHECK_HIGH,
	},
	{
		ALLOCATE_CHECK("read-only", allocate_read_only),
		.title = "Driver files are mounted read-only, on harmless destinations",
		.advice = "Set read_only; mount files, not whole system directories.",
		.requirement = CHECK_ALC_18,
		.severity = CHECK_MEDIUM,
	},
	{.id = NULL},
};

const struct check_suite suite_allocate = {
	.name = "allocate",
	.title = "Allocate",
	.checks = checks,
};
