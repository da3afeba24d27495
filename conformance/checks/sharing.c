/* SPDX-License-Identifier: MIT */
/* Devices that a plugin offers several times: ids "DEVICE::N", or "DEVICE\N" on Windows. */
#include "conformance/checks/allocate.h"
#include "conformance/checks/list_and_watch.h"
#include "conformance/checks/suites.h"

#include <string.h>

enum {
	REPLICAS_MAX = 16, /* that are requested of a device */
	DEVICES_MAX = 16,  /* that are examined */
};

/* The length of the device's part of an id; 0: the id is not that of a replica. */
static size_t device_part(const char *id)
{
	size_t length = strlen(id);
	size_t digits = 0;
	while (digits < length && id[length - digits - 1] >= '0' && id[length - digits - 1] <= '9')
		digits++;
	length -= digits;
	if (digits == 0)
		return 0;
	if (length > 2 && strncmp(&id[length - 2], "::", 2) == 0)
		return length - 2;
	return length > 1 && id[length - 1] == '\\' ? length - 1 : 0;
}

bool list_is_same_device(const char *a, const char *b)
{
	size_t length = device_part(a);
	return length != 0 && device_part(b) == length && strncmp(a, b, length) == 0;
}

bool list_may_be_one_device(const char *a, const char *b)
{
	size_t length = device_part(a);
	size_t other = device_part(b);
	length = length != 0 ? length : strlen(a);
	other = other != 0 ? other : strlen(b);
	return length == other && strncmp(a, b, length) == 0;
}

/* The ids of one device, which follow each other in a sorted list, and what is known about them. */
struct replicas {
	const char *ids[REPLICAS_MAX];
	size_t count;
	size_t same; /* that grant the same as the first one */
	struct allocate_difference difference;
};

typedef void judge_replicas(struct rig *rig, const char *resource, const struct replicas *replicas);

/* The row's param for the ids of each device that has several. Distinct devices may have such names, too: ids with
 * different grants are not replicas, except the reference plugin's. */
static void each_device(struct rig *rig, const struct rig_item *item)
{
	judge_replicas *const *judge = check_row(rig->run)->param;
	size_t *judged = item->user;
	size_t i = 0;
	while (i < item->ids->count && *judged < DEVICES_MAX) {
		struct replicas replicas = {.same = 1};
		size_t start = i;
		for (; i < item->ids->count &&
		       (i == start ||
			list_is_same_device(item->ids->items[start], item->ids->items[i]));
		     i++) {
			if (replicas.count < REPLICAS_MAX)
				replicas.ids[replicas.count++] = item->ids->items[i];
		}
		for (size_t k = 1; k < replicas.count; k++) {
			struct allocate_difference difference = {0};
			struct rpc_answer one CLEANUP_RPC_ANSWER = {0};
			struct rpc_answer other CLEANUP_RPC_ANSWER = {0};
			const V1beta1__ContainerAllocateResponse *a = allocate_expect(
				rig, item->resource, &replicas.ids[0], 1, replicas.ids[0], &one);
			const V1beta1__ContainerAllocateResponse *b = allocate_expect(
				rig, item->resource, &replicas.ids[k], 1, replicas.ids[k], &other);
			bool same =
				a != NULL && b != NULL && allocate_same_sources(a, b, &difference);
			replicas.same += same;
			if (!same && !replicas.difference.found)
				replicas.difference = difference;
		}
		if (replicas.count < 2 || (replicas.same == 1 && !rig->context->reference_plugin))
			continue;
		(*judge)(rig, item->resource, &replicas);
		++*judged;
	}
}

static void one_device(struct rig *rig, const char *resource, const struct replicas *replicas)
{
	bool same = replicas->same == replicas->count;
	(void)check_expect(
		rig->run, same,
		check_format(rig->run, "replicas like %s of %s", replicas->ids[0], resource),
		same ? "the same device" : replicas->difference.first, "%s",
		same ? "the same device" : replicas->difference.second);
}

/* A container that asks for two gets the device, or a refusal that says why. */
static void two_replicas(struct rig *rig, const char *resource, const struct replicas *replicas)
{
	struct rpc_answer single CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer both CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	const char *what = check_format(rig->run, "%s and %s in one container", replicas->ids[0],
					replicas->ids[1]);
	const V1beta1__ContainerAllocateResponse *one =
		allocate_expect(rig, resource, replicas->ids, 1, replicas->ids[0], &single);
	int rc = rig_allocate(rig, resource, replicas->ids, 2, &both, &err);
	if (one == NULL || !check_expect_ok(rig->run, rc, what, &err))
		return;
	if (both.reply == NULL) {
		(void)check_expect(rig->run, both.message[0] != '\0', what,
				   "the device, or a refusal that says why", "%s: '%s'",
				   rpc_code_name(both.code), both.message);
		return;
	}
	const V1beta1__ContainerAllocateResponse *answer = rig_first_response(&both);
	struct allocate_difference difference = {0};
	bool same = answer != NULL && allocate_same_sources(one, answer, &difference);
	/* Variables may tell the container how large its share is. */
	if (!same && answer != NULL && one->n_devices + one->n_cdi_devices == 0) {
		check_note(rig->run, "%s: only variables, which differ from those for one", what);
		return;
	}
	(void)check_expect(rig->run, same, what,
			   same || !difference.found ? "the device, or a refusal that says why"
						     : difference.first,
			   "%s",
			   answer == NULL     ? "no container response"
			   : difference.found ? difference.second
					      : "the device");
}

static void unknown_replica(struct rig *rig, const char *resource, const struct replicas *replicas)
{
	TALLY(refused, rig->run, "Allocate of a replica that is not listed", "an error");
	const char *id = replicas->ids[0];
	size_t length = device_part(id);
	const char *separator = id[length] == ':' ? "::" : "\\";
	const char *const ends[] = {"999999", "-1", "00", "x", "", "0 "};
	for (size_t i = 0; i <= ARRAY_SIZE(ends); i++) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		bool bare = i == ARRAY_SIZE(ends);
		const char *made = check_format(rig->run, "%.*s%s%s", (int)length, id,
						bare ? "" : separator, bare ? "" : ends[i]);
		if (kubelet_resource_device(rig->kubelet, resource, made) != NULL)
			continue;
		if (!allocate_expect_answered(rig, resource, &made, 1, &reply))
			return;
		tally_add(&refused, reply.code != RPC_OK, "OK for '%s'", made);
	}
}

/* A broken device is broken for all its replicas. */
static void health(struct rig *rig, const char *resource, const struct replicas *replicas)
{
	const struct kubelet_device_list *list = kubelet_resource_devices(rig->kubelet, resource);
	TALLY(equal, rig->run, "health of a device's replicas", "the same");
	listed_each (device, list) {
		if (list_is_same_device(device->id, replicas->ids[0]))
			tally_add(&equal, kubelet_device_is_healthy(device),
				  "%s is Unhealthy, and %s Healthy", device->id, replicas->ids[0]);
	}
}

static void each_shared(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	size_t judged = 0;
	if (rig != NULL && rig_for_each(rig, each_device, &judged) && judged == 0)
		check_not_applicable(run,
				     "no device is offered several times, by ids that end with "
				     "\"::\" and a number");
}

#define SHARING(name, rule, severity, judge, ...)                                                  \
	CHECK("sharing." name, rule, severity, 1, each_shared, .timeout_s = 180,                   \
	      .needs = {.devices = 1}, .depends_on = "allocate.one-response",                      \
	      .param = &(judge_replicas *const){judge}, __VA_ARGS__)

const struct check sharing_checks[] = {
	SHARING("one-device", SHR_02, HIGH, one_device,
		.title = "Replicas of a device hand out that device",
		.advice = "Look the device up by the id without the replica's number."),
	SHARING("two-replicas", SHR_03, MEDIUM, two_replicas,
		.title = "Two replicas in one container are its device, or refused",
		.advice = "Answer with the device once, or with an error that says why: the pod's "
			  "owner gets to see it."),
	SHARING("unknown-replica", SHR_01, MEDIUM, unknown_replica,
		.title = "Only the replicas that are listed can be allocated",
		.advice =
			"Compare the whole id with the list that was sent, in place of its parts."),
	SHARING("health", SHR_05, HIGH, health, .title = "All replicas of a device have its health",
		.advice = "Set the health of every replica when the device's changes."),
	{.id = NULL},
};
