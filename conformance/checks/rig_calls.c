/* SPDX-License-Identifier: MIT */
/* A kubelet's calls to the plugin, one at a time, and the pods for which it makes them. */
#include "base/clock.h"
#include "conformance/checks/rig.h"

int rig_call(struct rig *rig, const char *resource, const struct kubelet_method *method,
	     const ProtobufCMessage *request, struct rpc_answer *reply, struct error *err)
{
	uint64_t start = clock_monotonic_ns();
	const uint64_t limit_ms = context_wait_ms(rig->context, RIG_CALL_MS);
	int rc = kubelet_call(kubelet_resource_plugin(rig->kubelet, resource), method, request,
			      limit_ms, reply, err);
	/* A refusal is an answer; silence, and the end of the plugin, are not. */
	if (rc == 0 && reply->code == RPC_DEADLINE_EXCEEDED && reply->duration_ms + 1 >= limit_ms)
		rc = error_set(err, ERROR_TIMEOUT, "no answer within %llu s",
			       (unsigned long long)limit_ms / 1000);
	if (rc == 0 && reply->code == RPC_UNAVAILABLE && rig_plugin_ends(rig))
		rc = ERROR_REMOTE;
	rig_waited(rig, start);
	return rig_explain(rig, rc, err);
}

bool rig_expect_answer(struct rig *rig, int rc, const char *what, const struct rpc_answer *reply,
		       const struct error *err)
{
	return check_expect_ok(rig->run, rc, what, err) &&
	       check_expect(rig->run, reply->code == RPC_OK, what, "OK", "%s %s",
			    rpc_code_name(reply->code), reply->message);
}

int rig_allocate(struct rig *rig, const char *resource, const char *const *ids, size_t count,
		 struct rpc_answer *reply, struct error *err)
{
	struct kubelet_allocate_request request = {0};
	kubelet_allocate_request_add(&request, ids, count);
	return rig_call(rig, resource, &kubelet_method_allocate, &request.request.base, reply, err);
}

void rig_allocate_one_each(struct rig *rig)
{
	rig_each (resource, rig) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (kubelet_resource_status(rig->kubelet, resource).allocatable != 0 &&
		    rig_healthy_ids(rig, resource, &ids))
			(void)rig_allocate(rig, resource, rig_ids(&ids), 1, &reply, NULL);
	}
}

int rig_pre_start(struct rig *rig, const char *resource, const char *const *ids, size_t count,
		  struct rpc_answer *reply, struct error *err)
{
	const V1beta1__PreStartContainerRequest request = kubelet_pre_start_request(ids, count);
	return rig_call(rig, resource, &kubelet_method_pre_start, &request.base, reply, err);
}

int rig_prefer(struct rig *rig, const char *resource, const char *const *ids, size_t count,
	       struct rpc_answer *reply, struct error *err)
{
	struct kubelet_preferred_request request;
	kubelet_preferred_request_init(&request, ids, count, 1);
	return rig_call(rig, resource, &kubelet_method_prefer, &request.request.base, reply, err);
}

const V1beta1__ContainerAllocateResponse *rig_first_response(const struct rpc_answer *reply)
{
	const V1beta1__AllocateResponse *response = (const V1beta1__AllocateResponse *)reply->reply;
	return response != NULL && response->n_container_responses != 0
		       ? response->container_responses[0]
		       : NULL;
}

const V1beta1__ContainerPreferredAllocationResponse *
rig_first_preference(const struct rpc_answer *reply)
{
	const V1beta1__PreferredAllocationResponse *response =
		(const V1beta1__PreferredAllocationResponse *)reply->reply;
	return response != NULL && response->n_container_responses != 0
		       ? response->container_responses[0]
		       : NULL;
}

const V1beta1__ContainerAllocateResponse *rig_ask(struct rig *rig, const char *resource,
						  const char *const *ids, size_t count,
						  struct rpc_answer *reply)
{
	(void)rig_allocate(rig, resource, ids, count, reply, NULL);
	return rig_first_response(reply);
}

bool rig_admit(struct rig *rig, const char *pod, const struct kubelet_limit *limits, size_t count,
	       struct grant *grant)
{
	const struct kubelet_container container = {
		.pod = pod,
		.name = "probe",
		.limits = limits,
		.limit_count = count,
	};
	struct kubelet_outcome outcome = {0};
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_admit(rig->kubelet, &container, context_wait_ms(rig->context, RIG_CALL_MS),
			       &outcome, &err);
	if (rc == 0 && outcome.accepted)
		rc = kubelet_start_container(rig->kubelet, pod, container.name,
					     context_wait_ms(rig->context, RIG_START_MS), &outcome,
					     grant, &err);
	if (rc == 0 && !outcome.accepted)
		rc = error_set(&err, ERROR_REMOTE, "%s: %s", outcome.reason, outcome.message);
	kubelet_outcome_free(&outcome);
	rc = rig_explain(rig, rc, &err);
	rig_waited(rig, start);

	if (rc == 0 && rig->admitted)
		return true;
	rig->admitted = rc == 0 || rig->admitted;
	if (rc < 0) {
		rig_release(rig, pod);
		(void)error_wrap(&err, rc, "%s %s", limits->resource,
				 limits->ids != NULL && limits->count == 1 ? limits->ids[0] : "");
	}
	return check_expect_ok(rig->run, rc, "a container with a device is admitted and started",
			       &err);
}

void rig_release(struct rig *rig, const char *pod)
{
	kubelet_remove_pod(rig->kubelet, pod);
}
