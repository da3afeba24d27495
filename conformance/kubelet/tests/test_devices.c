/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/tests/rig.h"

#include "base/cleanup.h"
#include "rpc/message.h"

#include <string.h>

static void set_list(struct scripted_plugin *plugin, struct kubelet_device *items, size_t count)
{
	const struct kubelet_device_list list = {.items = items, .count = count};
	CHECK_OK(scripted_plugin_list(plugin, &list, ERR));
}

#define DEVICE(name, state) ((struct kubelet_device){.id = (name), .health = (state)})

/* Writable strings for lists that a test makes. */
static char gpu0[] = "gpu-0", gpu1[] = "gpu-1", healthy[] = "Healthy", unhealthy[] = "Unhealthy",
	    lower[] = "healthy", none[] = "";

static void expect(struct rig *rig, size_t capacity, size_t allocatable)
{
	struct kubelet_resource_status status = kubelet_resource_status(rig->kubelet, RIG_RESOURCE);
	UNIT_INT(status.capacity, capacity);
	UNIT_INT(status.allocatable, allocatable);
}

static void test_each_message_replaces_the_list(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'device_count': 3}");
	rig_wait_listed(&rig);
	expect(&rig, 3, 3);
	struct kubelet_device mixed[] = {DEVICE(gpu0, healthy), DEVICE(gpu1, unhealthy)};
	set_list(plugin, mixed, 2);
	rig_wait_event(&rig, KUBELET_EVENT_DEVICES, 2);
	expect(&rig, 2, 1);
	set_list(plugin, NULL, 0);
	rig_wait_event(&rig, KUBELET_EVENT_DEVICES, 3);
	expect(&rig, 0, 0);
	CU_ASSERT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).listed);
	UNIT_INT(kubelet_resource_devices(rig.kubelet, RIG_RESOURCE)->count, 0);
	rig_close(&rig);
}

/* "a\0b" and "a" are two devices, and "Healthy\0junk" is not "Healthy". */
static void test_ids_do_not_end_at_nul(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'devices': [{'id': 'a\xe2\x90\x80z'}, {'id': 'a'},"
			       " {'id': 'c', 'health': 'Healthy\xe2\x90\x80junk'}],"
			       " 'allocate': {'once': {'envs': {'GPU': '{sorted}'}}}}");
	rig_wait_listed(&rig);
	expect(&rig, 3, 2);
	/* The plugin takes an id for its own only as it sent it. */
	struct kubelet_outcome outcome = rig_admit(&rig, "pod", "main", 2);
	CU_ASSERT(outcome.accepted);
	kubelet_outcome_free(&outcome);
	const struct allocation *held = allocation_find(rig.kubelet, "pod", "main", RIG_RESOURCE);
	CU_ASSERT_PTR_NOT_NULL_FATAL(held);
	if (held != NULL)
		UNIT_STRING(held->response->envs[0]->value, "a,a" MESSAGE_NUL "z");
	rig_close(&rig);
}

static void test_an_empty_list_is_a_capacity(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'devices': [], 'on_kubelet_socket': 'ignore',"
			       " 'on_socket_removed': 'ignore'}");
	rig_wait_event(&rig, KUBELET_EVENT_RESOURCE, 1);
	expect(&rig, 0, 0);
	CHECK_OK(kubelet_restart(rig.kubelet, KUBELET_RESTART_WHOLE, ERR));
	UNIT_INT(rig.events[KUBELET_EVENT_RESOURCE], 2);
	CU_ASSERT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).known);
	rig_close(&rig);
}

static void test_health_is_compared_exactly(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(
		&rig, "{'devices': [{'id': 'a', 'health': 'healthy'}, {'id': 'b', 'health': ''},"
		      " {'id': 'c', 'health': 'Unknown'}, {'id': 'd'}]}");
	rig_wait_listed(&rig);
	expect(&rig, 4, 1);
	/* The same id in both states is in both sets; twice in one state it collapses. */
	struct kubelet_device twice[] = {DEVICE(gpu0, healthy), DEVICE(gpu0, lower),
					 DEVICE(gpu1, healthy), DEVICE(gpu1, healthy),
					 DEVICE(none, none)};
	set_list(plugin, twice, 5);
	rig_wait_event(&rig, KUBELET_EVENT_DEVICES, 2);
	expect(&rig, 4, 2);
	rig_close(&rig);
}

static void test_a_list_beyond_4_mib_ends_the_stream(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'devices': [{'id': 'a'}], 'lists': [{'device_count': 100000,"
			       " 'device_prefix': 'a-prefix-that-makes-the-message-large-'}]}");
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig.kubelet, RIG_RESOURCE);
	UNIT_INT(kubelet_stream_state(kubelet_plugin_stream(plugin)).code, RPC_RESOURCE_EXHAUSTED);
	expect(&rig, 1, 0);
	rig_close(&rig);
}

static void test_malformed_lists_end_the_stream(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'rpc': {'ListAndWatch': {'malformed': true}}}");
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig.kubelet, RIG_RESOURCE);
	UNIT_INT(kubelet_stream_state(kubelet_plugin_stream(plugin)).code, RPC_INTERNAL);
	rig_close(&rig);
}

static void test_text_that_is_no_utf8_ends_the_stream(void)
{
	struct rig rig;
	char broken[] = "gpu-\xff";
	struct kubelet_device items[] = {DEVICE(broken, healthy)};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'device_count': 1}");
	rig_wait_listed(&rig);
	set_list(plugin, items, 1);
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
	UNIT_CONTAINS(rig.last_text[KUBELET_EVENT_DISCONNECTED], "invalid UTF-8");
	expect(&rig, 1, 0);
	rig_close(&rig);
}

static void test_grace_period(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_listed(&rig);
	rig_stop_plugin(&rig, plugin);
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
	expect(&rig, 2, 0);
	CU_ASSERT_FALSE(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).connected);
	kubelet_advance_time(rig.kubelet, UINT64_C(4) * 60 * 1000);
	expect(&rig, 2, 0);
	kubelet_advance_time(rig.kubelet, UINT64_C(60) * 1000);
	CU_ASSERT_FALSE(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).known);
	UNIT_INT(rig.events[KUBELET_EVENT_RESOURCE_REMOVED], 1);
	/* It comes back within the period: nothing is lost. */
	(void)rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_listed(&rig);
	kubelet_advance_time(rig.kubelet, UINT64_C(10) * 60 * 1000);
	expect(&rig, 2, 2);
	rig_close(&rig);
}

static bool has_two_streams(void *user)
{
	return scripted_plugin_streams(user) == 2;
}

static bool has_no_stream(void *user)
{
	return scripted_plugin_streams(user) == 0;
}

static void test_extra_streams_and_cuts(void)
{
	struct rig rig;
	struct kubelet_stream *second = NULL;
	rig_start(&rig, KUBELET_PROFILE_1_37);
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_listed(&rig);
	struct kubelet_plugin *seen = kubelet_resource_plugin(rig.kubelet, RIG_RESOURCE);
	CHECK_OK(kubelet_stream_open(seen, NULL, &second, ERR));
	CHECK_OK(kubelet_stream_wait(second, RIG_PATIENCE_MS, ERR));
	UNIT_INT(kubelet_stream_last(second)->devices.count, 2);
	rig_wait(&rig, has_two_streams, plugin, "two streams");
	kubelet_stream_cancel(second);
	UNIT_INT(kubelet_stream_state(second).code, RPC_CANCELLED);
	kubelet_stream_close(&second);
	CU_ASSERT(kubelet_plugin_is_connected(seen));
	kubelet_stop(rig.kubelet);
	CU_ASSERT_FALSE(kubelet_plugin_is_connected(seen));
	CU_ASSERT_PTR_NULL(kubelet_plugin_channel(seen));
	expect(&rig, 2, 0);
	rig_wait(&rig, has_no_stream, plugin, "the end of the streams");
	rig_close(&rig);
}

static void test_stalled_list_is_not_read(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	CHECK_OK(kubelet_fault_set(rig.kubelet, "list-stall", ERR));
	(void)rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_event(&rig, KUBELET_EVENT_REGISTER_ANSWERED, 1);
	loop_run_for(&rig.loop, 20);
	UNIT_INT(rig.events[KUBELET_EVENT_DEVICES], 0);
	rig_close(&rig);
}

static bool has_three_streams(void *user)
{
	return scripted_plugin_calls(user, SCRIPT_LIST_AND_WATCH) >= 3;
}

/* Two streams at once; one that is cancelled is opened again, and the devices stay. */
static void test_streams_of_a_faulty_kubelet(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	CHECK_OK(kubelet_fault_set(rig.kubelet, "list-twice", ERR));
	CHECK_OK(kubelet_fault_set(rig.kubelet, "list-cancel=20*1", ERR));
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait(&rig, has_three_streams, plugin, "a third stream");
	rig_wait_allocatable(&rig, 2);
	UNIT_INT(rig.events[KUBELET_EVENT_DISCONNECTED], 0);

	/* The kubelet closes its connection: the plugin has to register again. */
	CHECK_OK(kubelet_fault_set(rig.kubelet, "disconnect=0*1", ERR));
	rig_wait(&rig, has_no_stream, plugin, "the end of the streams");
	expect(&rig, 2, 0);
	rig_close(&rig);
}

static void test_flapping_kubelet(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	CHECK_OK(kubelet_fault_set(rig.kubelet, "flap=20*3", ERR));
	rig_wait_event(&rig, KUBELET_EVENT_STOPPED, 3);
	(void)rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_allocatable(&rig, 2);
	UNIT_INT(rig.events[KUBELET_EVENT_STARTED], 4);
	rig_close(&rig);
}

/* The resource is served from the plugin's socket. */
static void expect_server(const struct rig *rig, const struct scripted_plugin *plugin)
{
	const struct kubelet_plugin *serves = kubelet_resource_plugin(rig->kubelet, RIG_RESOURCE);
	for (size_t i = 0; i < kubelet_registration_count(rig->kubelet); i++) {
		const struct kubelet_registration *seen = kubelet_registration_at(rig->kubelet, i);
		if (seen->plugin == serves)
			UNIT_STRING(seen->socket, scripted_plugin_socket(plugin));
	}
}

/* The second plugin replaces the first without its stream being closed; when that ends, 1.36
 * disconnects the second one, and 1.37 only the first. */
static void two_plugins(enum kubelet_profile profile)
{
	struct rig rig;
	rig_start(&rig, profile);
	struct scripted_plugin *old = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_listed(&rig);
	struct scripted_plugin *new = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_event(&rig, KUBELET_EVENT_DEVICES, 2);
	expect_server(&rig, new);
	UNIT_INT(scripted_plugin_streams(old), 1);
	rig_stop_plugin(&rig, old);
	if (profile == KUBELET_PROFILE_1_36) {
		rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 2);
		expect(&rig, 2, 0);
		rig_wait(&rig, has_no_stream, new, "the disconnect of the new plugin");
	} else {
		rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
		expect(&rig, 2, 2);
		UNIT_INT(scripted_plugin_streams(new), 1);
	}
	rig_close(&rig);
}

static void test_replaced_plugin_in_both_profiles(void)
{
	two_plugins(KUBELET_PROFILE_1_36);
	two_plugins(KUBELET_PROFILE_1_37);
}

static void test_survivor_takes_over(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_37);
	struct scripted_plugin *old = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_listed(&rig);
	struct scripted_plugin *new = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_event(&rig, KUBELET_EVENT_DEVICES, 2);
	rig_stop_plugin(&rig, new);
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
	expect(&rig, 2, 2);
	expect_server(&rig, old);
	CU_ASSERT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).listed);
	rig_stop_plugin(&rig, old);
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 2);
	expect(&rig, 2, 0);
	rig_close(&rig);
}

/* The old plugin ends while the new one's Register is held back: 1.36 disconnects the new one, whose ListAndWatch is never
 * opened, and in 1.37 it takes over. */
static void test_end_during_registration(void)
{
	for (int profile = KUBELET_PROFILE_1_36; profile <= KUBELET_PROFILE_1_37; profile++) {
		struct rig rig;
		rig_start(&rig, (enum kubelet_profile)profile);
		struct scripted_plugin *old = rig_plugin(&rig, "{'device_count': 2}");
		rig_wait_listed(&rig);
		CHECK_OK(kubelet_fault_set(rig.kubelet, "register-delay=1000*1", ERR));
		(void)rig_plugin(&rig, "{'device_count': 2}");
		rig_wait_event(&rig, KUBELET_EVENT_OPTIONS, 2);
		rig_stop_plugin(&rig, old);
		rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
		UNIT_INT(rig_registration(&rig, 1)->code, RPC_OK);
		if (profile == KUBELET_PROFILE_1_37)
			rig_wait_listed(&rig);
		kubelet_advance_time(rig.kubelet, UINT64_C(6) * 60 * 1000);
		UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).connected,
			 profile == KUBELET_PROFILE_1_37);
		UNIT_INT(rig.events[KUBELET_EVENT_PROBLEM], 0);
		rig_close(&rig);
	}
}

/* 1.36: a failing registration for a name that is served takes the served one out of the table, so
 * that its end goes unnoticed. */
static void test_failed_reregistration_blinds_1_36(void)
{
	for (int profile = KUBELET_PROFILE_1_36; profile <= KUBELET_PROFILE_1_37; profile++) {
		struct rig rig;
		rig_start(&rig, (enum kubelet_profile)profile);
		struct scripted_plugin *good = rig_plugin(&rig, "{'device_count': 2}");
		rig_wait_listed(&rig);
		(void)rig_plugin(&rig, "{'rpc': {'GetDevicePluginOptions': {'code': 2}},"
				       " 'register': {'retries': 0}}");
		UNIT_INT(rig_registration(&rig, 1)->code, RPC_UNKNOWN);
		rig_stop_plugin(&rig, good);
		rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
		expect(&rig, 2, profile == KUBELET_PROFILE_1_36 ? 2 : 0);
		rig_close(&rig);
	}
}

static void test_same_socket_again(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_37);
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'device_count': 1, 'register': {'repeat': 1, 'repeat_ms': 1}}");
	const struct kubelet_registration *second = rig_registration(&rig, 1);
	CU_ASSERT(second->deduplicated);
	UNIT_INT(second->code, RPC_OK);
	CU_ASSERT_PTR_EQUAL(second->plugin, rig_registration(&rig, 0)->plugin);
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_OPTIONS), 1);
	rig_close(&rig);
	rig_start(&rig, KUBELET_PROFILE_1_36);
	plugin = rig_plugin(&rig, "{'device_count': 1, 'register': {'repeat': 1, 'repeat_ms': 1}}");
	CU_ASSERT_FALSE(rig_registration(&rig, 1)->deduplicated);
	rig_wait(&rig, has_two_streams, plugin, "the second stream");
	rig_close(&rig);
}

UNIT_MAIN("kubelet devices",
	  {"each message replaces the list", test_each_message_replaces_the_list},
	  {"ids do not end at NUL", test_ids_do_not_end_at_nul},
	  {"an empty list is a capacity", test_an_empty_list_is_a_capacity},
	  {"health is compared exactly", test_health_is_compared_exactly},
	  {"a list beyond 4 MiB ends the stream", test_a_list_beyond_4_mib_ends_the_stream},
	  {"a malformed list ends the stream", test_malformed_lists_end_the_stream},
	  {"text that is no UTF-8 ends the stream", test_text_that_is_no_utf8_ends_the_stream},
	  {"devices stay for the grace period", test_grace_period},
	  {"more streams, and cut connections", test_extra_streams_and_cuts},
	  {"a stalled list is not read", test_stalled_list_is_not_read},
	  {"a faulty kubelet opens and ends streams", test_streams_of_a_faulty_kubelet},
	  {"a kubelet can flap", test_flapping_kubelet},
	  {"a replaced plugin, in both profiles", test_replaced_plugin_in_both_profiles},
	  {"in 1.37 a survivor takes over", test_survivor_takes_over},
	  {"the end of one while another registers", test_end_during_registration},
	  {"a failed registration beside a good one", test_failed_reregistration_blinds_1_36},
	  {"the same socket registers again", test_same_socket_again})
