/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/tests/rig.h"

#include "base/cleanup.h"

static void expect_refusal(struct kubelet_outcome outcome, const char *part)
{
	CU_ASSERT_FALSE(outcome.accepted);
	UNIT_STRING(outcome.reason, "UnexpectedAdmissionError");
	UNIT_CONTAINS(outcome.message, part);
	kubelet_outcome_free(&outcome);
}

static void expect_admission(struct kubelet_outcome outcome)
{
	if (!outcome.accepted)
		(void)printf("%s\n", outcome.message);
	CU_ASSERT(outcome.accepted);
	kubelet_outcome_free(&outcome);
}

static const struct allocation *held(struct rig *rig, const char *pod, const char *container)
{
	const struct allocation *allocation =
		allocation_find(rig->kubelet, pod, container, RIG_RESOURCE);
	CU_ASSERT_PTR_NOT_NULL_FATAL(allocation);
	return allocation;
}

static void test_devices_are_allocated_and_freed(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(
		&rig, "{'device_count': 3, 'allocate': {'once': {'envs': {'GPUS': '{sorted}'}}}}");
	rig_wait_listed(&rig);
	expect_admission(rig_admit(&rig, "pod-a", "main", 2));
	UNIT_INT(held(&rig, "pod-a", "main")->ids.list.count, 2);
	UNIT_INT(held(&rig, "pod-a", "main")->response->n_envs, 1);
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).in_use, 2);
	expect_refusal(rig_admit(&rig, "pod-b", "main", 2),
		       "Allocate failed due to requested number of devices unavailable for "
		       "example.com/gpu. Requested: 2, Available: 1, which is unexpected");
	expect_admission(rig_admit(&rig, "pod-b", "main", 1));
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_ALLOCATE), 2);
	/* The container restarts: nothing is asked again. */
	expect_admission(rig_admit(&rig, "pod-a", "main", 2));
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_ALLOCATE), 2);
	expect_refusal(rig_admit(&rig, "pod-a", "main", 1),
		       "changed request for resource \"example.com/gpu\" from 2 to 1");
	kubelet_remove_pod(rig.kubelet, "pod-a");
	CU_ASSERT_PTR_NULL(allocation_find(rig.kubelet, "pod-a", "main", RIG_RESOURCE));
	expect_admission(rig_admit(&rig, "pod-c", "main", 2));
	rig_close(&rig);
}

static struct kubelet_outcome admit_ids(struct rig *rig, const char *pod, const char *const *ids,
					size_t count)
{
	const struct kubelet_limit limit = {.resource = RIG_RESOURCE, .count = count, .ids = ids};
	const struct kubelet_container container = {
		.pod = pod, .name = "main", .limits = &limit, .limit_count = 1};
	struct kubelet_outcome outcome = {0};
	CHECK_OK(kubelet_admit(rig->kubelet, &container, RIG_PATIENCE_MS, &outcome, ERR));
	return outcome;
}

static void test_named_devices_are_allocated(void)
{
	struct rig rig;
	const char *const ids[] = {"c", "a"};
	const char *const ill[] = {"d"};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'options': {'get_preferred_allocation_available': true},"
				 " 'devices': [{'id': 'a'}, {'id': 'b'}, {'id': 'c'},"
				 " {'id': 'd', 'health': 'Unhealthy'}]}");
	rig_wait_listed(&rig);
	expect_admission(admit_ids(&rig, "pod", ids, 2));
	UNIT_INT(held(&rig, "pod", "main")->ids.list.count, 2);
	UNIT_STRING(held(&rig, "pod", "main")->ids.list.items[0], "a");
	UNIT_STRING(held(&rig, "pod", "main")->ids.list.items[1], "c");
	/* Nothing is left to prefer. */
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_PREFERRED), 0);
	expect_refusal(admit_ids(&rig, "other", ids, 1),
		       "device c of example.com/gpu is unhealthy, in use or not listed");
	expect_refusal(admit_ids(&rig, "other", ill, 1), "device d of example.com/gpu");
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_ALLOCATE), 1);
	rig_close(&rig);
}

static void test_refusals_of_the_device_model(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	expect_refusal(rig_admit(&rig, "pod", "main", 1),
		       "cannot allocate unregistered device example.com/gpu");
	(void)rig_plugin(&rig, "{'devices': [{'id': 'a', 'health': 'Unhealthy'}]}");
	rig_wait_listed(&rig);
	expect_refusal(rig_admit(&rig, "pod", "main", 1),
		       "no healthy devices present; cannot allocate unhealthy devices");
	rig_close(&rig);
}

static void test_device_that_got_ill_is_refused_on_restart(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'devices': [{'id': 'a'}]}");
	rig_wait_listed(&rig);
	expect_admission(rig_admit(&rig, "pod", "main", 1));
	char a[] = "a", b[] = "b", ill[] = "Unhealthy", well[] = "Healthy";
	struct kubelet_device items[] = {{.id = a, .health = ill}, {.id = b, .health = well}};
	const struct kubelet_device_list list = {.items = items, .count = 2};
	CHECK_OK(scripted_plugin_list(plugin, &list, ERR));
	rig_wait_event(&rig, KUBELET_EVENT_DEVICES, 2);
	expect_refusal(rig_admit(&rig, "pod", "main", 1),
		       "previously allocated devices are no longer healthy");
	rig_close(&rig);
}

static void test_plugin_errors_have_kubelet_texts(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'device_count': 1, 'rpc': {'Allocate': {'code': 'NOT_FOUND',"
			       " 'message': 'no such device', 'times': 1}}}");
	rig_wait_listed(&rig);
	expect_refusal(rig_admit(&rig, "pod", "main", 1),
		       "Allocate failed due to rpc error: code = NotFound desc = no such device, "
		       "which is unexpected");
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).in_use, 0);
	expect_admission(rig_admit(&rig, "pod", "main", 1));
	rig_close(&rig);
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'device_count': 1, 'rpc': {'Allocate': {'empty': true}}}");
	rig_wait_listed(&rig);
	expect_refusal(rig_admit(&rig, "pod", "main", 1),
		       "no containers return in allocation response");
	rig_close(&rig);
}

/* manager.go, allocateContainerResources: allocatedDevices is restored when Allocate fails, and not
 * when it answers nothing. */
static void test_empty_answers_leak_devices(void)
{
	static const char none[] = "requested number of devices unavailable for example.com/gpu. "
				   "Requested: 1, Available: 0";
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'device_count': 3, 'rpc': {'Allocate': {'empty': true, 'skip': 1,"
			       " 'times': 2}}}");
	rig_wait_listed(&rig);
	expect_admission(rig_admit(&rig, "good", "main", 1));
	for (size_t i = 0; i < 2; i++)
		expect_refusal(rig_admit(&rig, "pod", "main", 1),
			       "no containers return in allocation response");
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).in_use, 3);
	expect_refusal(rig_admit(&rig, "pod", "main", 1), none);
	kubelet_remove_pod(rig.kubelet, "pod"); /* it held nothing */
	expect_refusal(rig_admit(&rig, "pod", "main", 1), none);
	kubelet_remove_pod(rig.kubelet, "good");
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).in_use, 0);
	expect_admission(rig_admit(&rig, "pod", "main", 3));
	rig_close(&rig);
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'device_count': 2, 'rpc': {'Allocate': {'empty': true, 'times':"
			       " 1}}}");
	rig_wait_listed(&rig);
	expect_refusal(rig_admit(&rig, "pod", "main", 1), "no containers return");
	CHECK_OK(kubelet_restart(rig.kubelet, KUBELET_RESTART_WHOLE, ERR));
	rig_wait_listed(&rig);
	expect_admission(rig_admit(&rig, "pod", "main", 2));
	rig_close(&rig);
}

static void test_plugin_errors_are_told_whole(void)
{
	struct rig rig;
	char message[1801];
	memset(message, 'm', sizeof(message) - 1);
	message[sizeof(message) - 1] = '\0';
	char *script CLEANUP_FREE = text_format(
		"{'device_count': 1, 'rpc': {'Allocate': {'code': 99, 'message': '%s'}}}", message);
	char *wanted CLEANUP_FREE =
		text_format("Allocate failed due to rpc error: code = Code(99) desc = %s, which is "
			    "unexpected",
			    message);
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, script);
	rig_wait_listed(&rig);
	struct kubelet_outcome outcome = rig_admit(&rig, "pod", "main", 1);
	UNIT_STRING(outcome.message, wanted);
	kubelet_outcome_free(&outcome);
	rig_close(&rig);
}

static void test_hanging_allocate_is_given_up(void)
{
	struct rig rig;
	const struct kubelet_limit limit = {.resource = RIG_RESOURCE, .count = 1};
	const struct kubelet_container container = {
		.pod = "pod", .name = "main", .limits = &limit, .limit_count = 1};
	struct kubelet_outcome outcome = {0};
	struct error err = {0};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'device_count': 1, 'rpc': {'Allocate': {'hang': true}}}");
	rig_wait_listed(&rig);
	UNIT_INT(kubelet_admit(rig.kubelet, &container, 20, &outcome, &err), ERROR_TIMEOUT);
	CU_ASSERT_PTR_NULL(allocation_find(rig.kubelet, "pod", "main", RIG_RESOURCE));
	kubelet_interrupt(rig.kubelet, "enough");
	UNIT_INT(kubelet_admit(rig.kubelet, &container, RIG_PATIENCE_MS, &outcome, &err),
		 ERROR_CANCELLED);
	rig_close(&rig);
}

static void test_init_containers_pass_devices_on(void)
{
	struct rig rig;
	const struct kubelet_limit limit = {.resource = RIG_RESOURCE, .count = 1};
	struct kubelet_container container = {.pod = "pod",
					      .name = "init",
					      .kind = KUBELET_CONTAINER_INIT,
					      .limits = &limit,
					      .limit_count = 1};
	struct kubelet_outcome outcome = {0};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_listed(&rig);
	CHECK_OK(kubelet_admit(rig.kubelet, &container, RIG_PATIENCE_MS, &outcome, ERR));
	expect_admission(outcome);
	expect_admission(rig_admit(&rig, "pod", "main", 1));
	UNIT_STRING(held(&rig, "pod", "init")->ids.list.items[0],
		    held(&rig, "pod", "main")->ids.list.items[0]);
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_ALLOCATE), 2);
	/* Taken by main, it is not handed on a second time. */
	expect_admission(rig_admit(&rig, "pod", "second", 1));
	CU_ASSERT(strcmp(held(&rig, "pod", "main")->ids.list.items[0],
			 held(&rig, "pod", "second")->ids.list.items[0]) != 0);
	kubelet_remove_pod(rig.kubelet, "pod");
	container.kind = KUBELET_CONTAINER_RESTARTABLE_INIT;
	CHECK_OK(kubelet_admit(rig.kubelet, &container, RIG_PATIENCE_MS, &outcome, ERR));
	expect_admission(outcome);
	expect_admission(rig_admit(&rig, "pod", "main", 1));
	CU_ASSERT(strcmp(held(&rig, "pod", "init")->ids.list.items[0],
			 held(&rig, "pod", "main")->ids.list.items[0]) != 0);
	rig_close(&rig);
}

static void test_preferred_allocation(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(
		&rig, "{'device_count': 5, 'options': {'get_preferred_allocation_available': true},"
		      " 'preferred': ['device-3', 'nobody-knows-this', 'device-1']}");
	rig_wait_listed(&rig);
	expect_admission(rig_admit(&rig, "pod-a", "main", 2));
	UNIT_STRING(held(&rig, "pod-a", "main")->ids.list.items[0], "device-1");
	UNIT_STRING(held(&rig, "pod-a", "main")->ids.list.items[1], "device-3");
	/* What it prefers is taken: the kubelet chooses by itself. */
	expect_admission(rig_admit(&rig, "pod-b", "main", 2));
	UNIT_INT(held(&rig, "pod-b", "main")->ids.list.count, 2);
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_PREFERRED), 2);
	rig_close(&rig);
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(
		&rig, "{'device_count': 2, 'options': {'get_preferred_allocation_available': true},"
		      " 'rpc': {'GetPreferredAllocation': {'code': 13, 'message': 'no idea'}}}");
	rig_wait_listed(&rig);
	expect_refusal(
		rig_admit(&rig, "pod", "main", 1),
		"device plugin GetPreferredAllocation rpc failed with err: rpc error: code = "
		"Internal desc = no idea");
	rig_close(&rig);
}

static size_t count_on_node(const struct allocation *allocation, char node)
{
	size_t count = 0;
	for (size_t i = 0; i < allocation->ids.list.count; i++)
		count += allocation->ids.list.items[i][0] == node ? 1 : 0;
	return count;
}

static void test_topology_hint_is_followed(void)
{
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct rig rig;
		const struct kubelet_options options = {.seed = seed};
		const struct kubelet_limit limit = {.resource = RIG_RESOURCE, .count = 3};
		const struct kubelet_container container = {.pod = "pod",
							    .name = "main",
							    .limits = &limit,
							    .limit_count = 1,
							    .numa_mask = UINT64_C(1) << 1};
		struct kubelet_outcome outcome = {0};
		rig_init(&rig);
		rig_make(&rig, &options);
		CHECK_OK(kubelet_start(rig.kubelet, ERR));
		(void)rig_plugin(&rig,
				 "{'devices': [{'id': '0-a', 'numa': [0]}, {'id': '0-b',"
				 " 'numa': [0]}, {'id': '1-a', 'numa': [1]}, {'id': '1-b',"
				 " 'numa': [0, 1]}, {'id': 'n-a'}, {'id': 'n-b', 'numa': [-1]}]}");
		rig_wait_listed(&rig);
		CHECK_OK(kubelet_admit(rig.kubelet, &container, RIG_PATIENCE_MS, &outcome, ERR));
		expect_admission(outcome);
		/* Both aligned ones, then one that is on the wrong node, before those on none. */
		UNIT_INT(count_on_node(held(&rig, "pod", "main"), '1'), 2);
		UNIT_INT(count_on_node(held(&rig, "pod", "main"), '0'), 1);
		rig_close(&rig);
	}
}

static void test_order_follows_the_seed(void)
{
	char first[8][16] = {{0}};
	bool differs = false;
	for (int round = 0; round < 8; round++) {
		struct rig rig;
		const struct kubelet_options options = {.seed = (uint64_t)(round / 2)};
		rig_init(&rig);
		rig_make(&rig, &options);
		CHECK_OK(kubelet_start(rig.kubelet, ERR));
		(void)rig_plugin(&rig, "{'device_count': 9}");
		rig_wait_listed(&rig);
		expect_admission(rig_admit(&rig, "pod", "main", 1));
		(void)snprintf(first[round], sizeof(first[round]), "%s",
			       held(&rig, "pod", "main")->ids.list.items[0]);
		differs = differs || strcmp(first[round], first[0]) != 0;
		rig_close(&rig);
	}
	for (int round = 0; round < 8; round += 2)
		UNIT_STRING(first[round], first[round + 1]);
	CU_ASSERT(differs);
}

static void test_start_calls_pre_start_and_merges(void)
{
	struct rig rig;
	struct kubelet_outcome outcome = {0};
	struct grant grant = {0};
	struct error err = {0};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(
		&rig, "{'device_count': 1, 'options': {'pre_start_required': true}, 'allocate':"
		      " {'each': {'mounts': [{'container_path': '/c', 'host_path': '/h/{id}',"
		      " 'read_only': true}]}}, 'rpc': {'PreStartContainer': {'code': 14, 'message':"
		      " 'resetting', 'times': 1}}}");
	rig_wait_listed(&rig);
	UNIT_INT(kubelet_start_container(rig.kubelet, "pod", "main", RIG_PATIENCE_MS, &outcome,
					 &grant, &err),
		 ERROR_NOT_FOUND);
	expect_admission(rig_admit(&rig, "pod", "main", 1));
	CHECK_OK(kubelet_start_container(rig.kubelet, "pod", "main", RIG_PATIENCE_MS, &outcome,
					 &grant, ERR));
	CU_ASSERT_FALSE(outcome.accepted);
	UNIT_STRING(outcome.reason, "CreateContainerError");
	UNIT_CONTAINS(outcome.message, "code = Unavailable desc = resetting");
	kubelet_outcome_free(&outcome);
	CHECK_OK(kubelet_start_container(rig.kubelet, "pod", "main", RIG_PATIENCE_MS, &outcome,
					 &grant, ERR));
	CU_ASSERT(outcome.accepted);
	UNIT_INT(grant.mounts.count, 1);
	UNIT_STRING(grant.mounts.items[0].host_path, "/h/device-0");
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_PRE_START), 2);
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_ALLOCATE), 1);
	grant_free(&grant);
	rig_close(&rig);
}

static void test_pre_start_has_a_deadline(void)
{
	struct rig rig;
	const struct kubelet_options times = {.pre_start_timeout_ms = 20};
	struct kubelet_outcome outcome = {0};
	struct grant grant = {0};
	rig_init(&rig);
	rig_make(&rig, &times);
	CHECK_OK(kubelet_start(rig.kubelet, ERR));
	(void)rig_plugin(&rig, "{'device_count': 1, 'options': {'pre_start_required': true}, 'rpc':"
			       " {'PreStartContainer': {'hang': true}}}");
	rig_wait_listed(&rig);
	expect_admission(rig_admit(&rig, "pod", "main", 1));
	CHECK_OK(kubelet_start_container(rig.kubelet, "pod", "main", RIG_PATIENCE_MS, &outcome,
					 &grant, ERR));
	CU_ASSERT_FALSE(outcome.accepted);
	UNIT_CONTAINS(outcome.message, "code = DeadlineExceeded");
	kubelet_outcome_free(&outcome);
	rig_close(&rig);
}

static void test_allocations_outlive_a_kubelet_restart(void)
{
	struct rig rig;
	struct kubelet_outcome outcome = {0};
	struct grant grant = {0};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(
		&rig,
		"{'device_count': 2, 'allocate': {'each': {'envs': {'GPU': '{id} {call}'}}}}");
	rig_wait_listed(&rig);
	expect_admission(rig_admit(&rig, "pod", "main", 1));
	char *id CLEANUP_FREE = strdup(held(&rig, "pod", "main")->ids.list.items[0]);
	CHECK_OK(kubelet_restart(rig.kubelet, KUBELET_RESTART_WHOLE, ERR));
	UNIT_STRING(held(&rig, "pod", "main")->ids.list.items[0], id);
	UNIT_INT(rig_registration(&rig, 1)->code, RPC_OK);
	rig_wait_listed(&rig);
	expect_admission(rig_admit(&rig, "pod", "main", 1));
	CHECK_OK(kubelet_start_container(rig.kubelet, "pod", "main", RIG_PATIENCE_MS, &outcome,
					 &grant, ERR));
	UNIT_INT(grant.envs.count, 1);
	CU_ASSERT(text_ends_with(grant.envs.items[0].value, " 0"));
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_ALLOCATE), 1);
	grant_free(&grant);
	rig_close(&rig);
}

static void call_allocate(struct kubelet_plugin *plugin, const char *id, struct rpc_answer *reply)
{
	struct kubelet_allocate_request request = {0};
	kubelet_allocate_request_add(&request, &id, 1);
	CHECK_OK(kubelet_call(plugin, &kubelet_method_allocate, &request.request.base,
			      RIG_PATIENCE_MS, reply, ERR));
}

static void test_raw_calls(void)
{
	struct rig rig;
	struct rpc_answer reply = {0};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	const struct scripted_plugin *served = rig_plugin(&rig, "{'device_count': 1}");
	rig_wait_listed(&rig);
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig.kubelet, RIG_RESOURCE);
	call_allocate(plugin, "nobody", &reply);
	UNIT_INT(reply.code, RPC_NOT_FOUND);
	UNIT_STRING(reply.message, "unknown device nobody");
	rpc_answer_free(&reply);
	call_allocate(plugin, "device-0", &reply);
	UNIT_INT(reply.code, RPC_OK);
	CU_ASSERT_PTR_NOT_NULL(reply.reply);
	rpc_answer_free(&reply);
	V1beta1__Empty empty = V1BETA1__EMPTY__INIT;
	const struct kubelet_method unknown = {"/v1alpha.DevicePlugin/Allocate",
					       &v1beta1__empty__descriptor};
	CHECK_OK(kubelet_call(plugin, &unknown, &empty.base, RIG_PATIENCE_MS, &reply, ERR));
	UNIT_INT(reply.code, RPC_UNIMPLEMENTED);
	rpc_answer_free(&reply);
	kubelet_stop(rig.kubelet);
	UNIT_INT(kubelet_call_options(plugin, RIG_PATIENCE_MS, &reply, NULL), ERROR_UNAVAILABLE);
	struct rpc_channel *channel = NULL;
	char *address CLEANUP_FREE = text_format("unix:%s", scripted_plugin_socket(served));
	CHECK_OK(rpc_channel_open(&rig.loop, address, NULL, &channel, ERR));
	const struct rpc_unary_call call = {
		.method = DEVICE_PLUGIN_SERVICE "GetDevicePluginOptions",
		.request = &empty.base,
		.reply_type = &v1beta1__device_plugin_options__descriptor,
		.timeout_ms = RIG_PATIENCE_MS};
	CHECK_OK(rpc_unary_answer(channel, &call, &reply, ERR));
	UNIT_INT(reply.code, RPC_OK);
	rpc_answer_free(&reply);
	rpc_channel_close(channel);
	rig_close(&rig);
}

static void test_call_after_the_stream_ended(void)
{
	struct rig rig;
	struct rpc_answer reply = {0};
	struct error err = {0};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'end': {'code': 'INTERNAL'}}");
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig.kubelet, RIG_RESOURCE);
	UNIT_INT(kubelet_call_options(plugin, RIG_PATIENCE_MS, &reply, &err), ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, "is disconnected, because ListAndWatch ended with INTERNAL");
	rig_close(&rig);
}

UNIT_MAIN("kubelet pods", {"devices are allocated and freed", test_devices_are_allocated_and_freed},
	  {"named devices are allocated", test_named_devices_are_allocated},
	  {"refusals of the device model", test_refusals_of_the_device_model},
	  {"a device that got ill", test_device_that_got_ill_is_refused_on_restart},
	  {"a plugin's errors have the kubelet's texts", test_plugin_errors_have_kubelet_texts},
	  {"empty answers leak devices", test_empty_answers_leak_devices},
	  {"a plugin's errors are told whole", test_plugin_errors_are_told_whole},
	  {"a hanging Allocate is given up", test_hanging_allocate_is_given_up},
	  {"init containers pass devices on", test_init_containers_pass_devices_on},
	  {"the preferred allocation is followed", test_preferred_allocation},
	  {"the topology hint is followed", test_topology_hint_is_followed},
	  {"the order follows the seed", test_order_follows_the_seed},
	  {"PreStartContainer and the merge", test_start_calls_pre_start_and_merges},
	  {"PreStartContainer has a deadline", test_pre_start_has_a_deadline},
	  {"allocations outlive a kubelet restart", test_allocations_outlive_a_kubelet_restart},
	  {"raw calls", test_raw_calls},
	  {"a call after ListAndWatch ended", test_call_after_the_stream_ended})
