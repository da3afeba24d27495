/* SPDX-License-Identifier: MIT */
#include "reference-plugin/tests/property/calls.h"

#include "base/cleanup.h"
#include "conformance/kubelet/pod.h"
#include "reference-plugin/tests/property/virtual_time.h"
#include "rpc/message.h"

#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 60 * 1000 };

static const char *const pods[PODS] = {"p0", "p1", "p2", "p3", "p4", "p5"};

/*
 * Pods.
 */

/* The plugin may have gone, and a device with it, as long as things have not come to rest. */
int call_admit(const struct event *event, struct node *node, struct error *err)
{
	struct model *model = &node->model;
	const unsigned *count = event->count;
	id_bits *held = model->held[event->pod];
	struct kubelet_limit limits[RESOURCES] = {0};
	struct kubelet_container container = {
		.pod = pods[event->pod], .name = "c", .limits = limits};
	struct kubelet_outcome outcome CLEANUP(kubelet_outcome_free) = {0};
	if (!model->kubelet_runs)
		return 0;
	for (unsigned i = 0; i < RESOURCES; i++) {
		node->allocated[i] = 0;
		if (count[i] > 0)
			limits[container.limit_count++] = (struct kubelet_limit){
				.resource = node_resources[i], .count = count[i]};
	}
	bool rested = model->rests;
	bool wanted = model_admits(model, event->pod, count, virtual_time_ms());
	int rc = kubelet_admit(node->kubelet, &container, PATIENCE_MS, &outcome, err);
	if (rc < 0)
		return error_wrap(err, ERROR_FORMAT, "admission");
	if (rested && outcome.accepted != wanted)
		return error_set(err, ERROR_FORMAT, "a pod was %s: %s",
				 wanted ? "refused" : "admitted",
				 outcome.message != NULL ? outcome.message : "");

	for (unsigned i = 0; i < RESOURCES; i++) {
		id_bits got = node->allocated[i];
		if ((got & model_in_use(model, i)) != 0)
			return error_set(err, ERROR_FORMAT, "a device in use was allocated");
		if (!outcome.accepted)
			held[i] = 0;
		else if (held[i] == 0)
			held[i] = got;
		if (outcome.accepted && count[i] > 0 && bits_count(held[i]) != count[i])
			return error_set(err, ERROR_FORMAT,
					 "%u devices were allocated instead of %u",
					 bits_count(held[i]), count[i]);
	}
	return 0;
}

void describe_admit(const struct event *event, struct text *out)
{
	text_addf(out, " %s, %u for display, %u for compute", pods[event->pod], event->count[0],
		  event->count[1]);
}

int call_remove(const struct event *event, struct node *node, struct error *err)
{
	(void)err;
	if (!node->model.kubelet_runs)
		return 0;
	kubelet_remove_pod(node->kubelet, pods[event->pod]);
	for (unsigned i = 0; i < RESOURCES; i++)
		node->model.held[event->pod][i] = 0;
	return 0;
}

void describe_pod(const struct event *event, struct text *out)
{
	text_addf(out, " %s", pods[event->pod]);
}

/* From the answers that the kubelet keeps: without the plugin, too. */
int call_start(const struct event *event, struct node *node, struct error *err)
{
	const id_bits *held = node->model.held[event->pod];
	struct kubelet_outcome outcome CLEANUP(kubelet_outcome_free) = {0};
	struct grant grant CLEANUP(grant_free) = {0};
	id_bits devices = 0;
	if (!node->model.kubelet_runs)
		return 0;
	struct error why = {0};
	int rc = kubelet_start_container(node->kubelet, pods[event->pod], "c", PATIENCE_MS,
					 &outcome, &grant, &why);
	if ((held[0] | held[1]) == 0)
		return rc == ERROR_NOT_FOUND
			       ? 0
			       : error_set(err, ERROR_FORMAT, "a container without devices starts");
	if (rc < 0)
		return error_set(err, ERROR_FORMAT, "start: %s", why.text);
	for (unsigned i = 0; i < IDS; i++)
		devices |= ((held[0] | held[1]) >> i & 1) << i / REPLICAS;
	if (!outcome.accepted || grant.devices.count != bits_count(devices))
		return error_set(err, ERROR_FORMAT, "a container starts with %zu devices of %u",
				 grant.devices.count, bits_count(devices));
	return 0;
}

/*
 * Raw calls.
 */

/* Makes it, if the plugin is connected. True: there is a status to judge. */
static bool call(struct node *node, const struct event *event, const char *method,
		 const ProtobufCMessage *request, const ProtobufCMessageDescriptor *type,
		 struct rpc_answer *out, struct error *err)
{
	bool rested = node->model.rests && node->model.plugin_runs && node->model.kubelet_runs;
	struct kubelet_plugin *plugin =
		kubelet_resource_plugin(node->kubelet, node_resources[event->resource]);
	struct error why = {0};
	int rc = plugin != NULL && node->model.plugin_runs
			 ? kubelet_call(plugin, &(const struct kubelet_method){method, type},
					request, 0, out, &why)
			 : ERROR_UNAVAILABLE;
	if (rc == 0 && !rested)
		return out->code != RPC_UNAVAILABLE && out->code != RPC_CANCELLED;
	if (rc < 0 && rested)
		(void)error_set(err, ERROR_FORMAT, "%s: %s", method, why.text);
	return rc == 0;
}

/* What the answer lacks; NULL: nothing. */
static const char *judge_allocated(const struct event *event,
				   const V1beta1__AllocateResponse *reply)
{
	if (reply->n_container_responses != event->containers)
		return "not one answer for each container";
	for (unsigned i = 0; i < event->containers; i++) {
		const V1beta1__ContainerAllocateResponse *answer = reply->container_responses[i];
		id_bits wanted = 0;
		id_bits seen = 0;
		for (unsigned k = 0; k < event->string_count[i]; k++)
			wanted |= UINT32_C(1) << event->strings[i][k] / REPLICAS;
		for (size_t k = 0; k < answer->n_devices; k++) {
			for (unsigned d = 0; d < DEVICES; d++) {
				if (strncmp(answer->devices[k]->host_path + strlen("/dev/"),
					    model_string(d * REPLICAS), 2) == 0)
					seen |= UINT32_C(1) << d;
			}
		}
		if (seen != wanted || answer->n_devices != bits_count(wanted))
			return "not the devices that were asked for";
	}
	return NULL;
}

int call_allocate(const struct event *event, struct node *node, struct error *err)
{
	const char *ids[2][CALL_IDS];
	struct kubelet_allocate_request request = {0};
	struct rpc_answer answer CLEANUP_RPC_ANSWER = {0};
	unsigned at_fault = STRINGS;
	int wanted = RPC_OK;
	int other = RPC_OK;
	for (unsigned i = 0; i < event->containers; i++) {
		for (unsigned k = 0; k < event->string_count[i]; k++)
			ids[i][k] = model_string(event->strings[i][k]);
		kubelet_allocate_request_add(&request, ids[i], event->string_count[i]);
		if (wanted == RPC_OK)
			wanted = model_allocates(&node->model, event->resource, event->strings[i],
						 event->string_count[i], virtual_time_ms(),
						 &at_fault, &other);
	}
	if (!call(node, event, DEVICE_PLUGIN_SERVICE "Allocate", &request.request.base,
		  &v1beta1__allocate_response__descriptor, &answer, err))
		return err->code;
	if (answer.code != wanted && answer.code != other)
		return error_set(err, ERROR_FORMAT, "Allocate: %s %s, wanted %s",
				 rpc_code_name(answer.code), answer.message, rpc_code_name(wanted));
	if (answer.code == RPC_OK) {
		const char *lacks = judge_allocated(
			event, (const V1beta1__AllocateResponse *)(const void *)answer.reply);
		return lacks == NULL ? 0 : error_set(err, ERROR_FORMAT, "Allocate: %s", lacks);
	}
	char quoted[32] = "";
	if (at_fault < STRINGS)
		(void)snprintf(quoted, sizeof(quoted), "\"%s\"", model_string(at_fault));
	if (strstr(answer.message, quoted) == NULL)
		return error_set(err, ERROR_FORMAT, "Allocate does not name %s: %s", quoted,
				 answer.message);
	return 0;
}

void describe_call(const struct event *event, struct text *out)
{
	text_addf(out, " %s", node_resources[event->resource]);
	for (unsigned i = 0; i < event->containers; i++) {
		text_add(out, i == 0 ? ":" : " and");
		for (unsigned k = 0; k < event->string_count[i]; k++)
			text_addf(out, " \"%s\"", model_string(event->strings[i][k]));
	}
}

/* The strings of the first container must be included. */
int call_preferred(const struct event *event, struct node *node, struct error *err)
{
	const char *available[IDS];
	const char *must[CALL_IDS];
	V1beta1__ContainerPreferredAllocationRequest container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *containers[] = {&container};
	V1beta1__PreferredAllocationRequest request = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;
	struct rpc_answer answer CLEANUP_RPC_ANSWER = {0};
	id_bits healthy = 0;
	id_bits unhealthy = 0;
	id_bits optional = 0;
	id_bits included = 0;
	int wanted = RPC_OK;
	model_offers(&node->model, event->resource, virtual_time_ms(), &healthy, &unhealthy,
		     &optional);
	for (unsigned i = 0; i < IDS; i++) {
		if ((event->available >> i & 1) != 0)
			available[container.n_available_deviceids++] = model_string(i);
	}
	for (unsigned i = 0; i < event->string_count[0] / 2; i++) {
		unsigned index = event->strings[0][i];
		const unsigned one[] = {index};
		unsigned at_fault = 0;
		int other = 0;
		int code = model_allocates(&node->model, event->resource, one, 1, virtual_time_ms(),
					   &at_fault, &other);
		if (index < IDS && ((optional >> index & 1) != 0))
			return 0;
		if (wanted == RPC_OK && code != RPC_UNAVAILABLE)
			wanted = code;
		must[container.n_must_include_deviceids++] = model_string(index);
		included |= index < IDS ? UINT32_C(1) << index : 0;
	}
	if (wanted == RPC_OK && event->size < (int)bits_count(included))
		wanted = RPC_INVALID_ARGUMENT;
	container.available_deviceids = message_strings(available);
	container.must_include_deviceids = message_strings(must);
	container.allocation_size = event->size;
	request.n_container_requests = 1;
	request.container_requests = containers;
	if (!call(node, event, DEVICE_PLUGIN_SERVICE "GetPreferredAllocation", &request.base,
		  &v1beta1__preferred_allocation_response__descriptor, &answer, err))
		return err->code;
	if (answer.code != wanted)
		return error_set(err, ERROR_FORMAT, "GetPreferredAllocation: %s %s, wanted %s",
				 rpc_code_name(answer.code), answer.message, rpc_code_name(wanted));
	if (answer.code != RPC_OK)
		return 0;

	const V1beta1__ContainerPreferredAllocationResponse *reply =
		((const V1beta1__PreferredAllocationResponse *)(const void *)answer.reply)
			->container_responses[0];
	const id_bits usable = included | (event->available & healthy);
	const unsigned most = bits_count(usable);
	id_bits chosen = 0;
	for (size_t i = 0; i < reply->n_deviceids; i++)
		chosen |= node_bit_of(reply->deviceids[i]);
	if (reply->n_deviceids != (most < (unsigned)event->size ? most : (unsigned)event->size) ||
	    bits_count(chosen) != reply->n_deviceids || (included & ~chosen) != 0 ||
	    (chosen & ~usable) != 0)
		return error_set(err, ERROR_FORMAT, "GetPreferredAllocation chooses %zu wrongly",
				 reply->n_deviceids);
	return 0;
}

void describe_preferred(const struct event *event, struct text *out)
{
	text_addf(out, " %s: %d, available", node_resources[event->resource], event->size);
	for (unsigned i = 0; i < IDS; i++) {
		if ((event->available >> i & 1) != 0)
			text_addf(out, " %s", model_string(i));
	}
	text_add(out, ", must include");
	for (unsigned i = 0; i < event->string_count[0] / 2; i++)
		text_addf(out, " \"%s\"", model_string(event->strings[0][i]));
}

int call_pre_start(const struct event *event, struct node *node, struct error *err)
{
	V1beta1__PreStartContainerRequest request = V1BETA1__PRE_START_CONTAINER_REQUEST__INIT;
	struct rpc_answer answer CLEANUP_RPC_ANSWER = {0};
	if (call(node, event, DEVICE_PLUGIN_SERVICE "PreStartContainer", &request.base,
		 &v1beta1__pre_start_container_response__descriptor, &answer, err) &&
	    answer.code != RPC_UNIMPLEMENTED)
		return error_set(err, ERROR_FORMAT, "PreStartContainer: %s",
				 rpc_code_name(answer.code));
	return err->code;
}
