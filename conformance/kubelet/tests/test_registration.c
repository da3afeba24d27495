/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/tests/rig.h"

#include "base/cleanup.h"
#include "base/path.h"

#include <string.h>

static void test_plugin_registers_and_lists(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(
		&rig, "{'options': {'pre_start_required': true}, 'socket': 'a.sock',"
		      " 'devices': [{'id': 'gpu-0'}, {'id': 'gpu-1', 'health': 'Unhealthy'}]}");
	const struct kubelet_registration *seen = rig_registration(&rig, 0);
	UNIT_STRING(seen->version, "v1beta1");
	UNIT_STRING(seen->endpoint, "a.sock");
	UNIT_STRING(seen->resource, RIG_RESOURCE);
	UNIT_STRING(seen->socket, scripted_plugin_socket(plugin));
	CU_ASSERT(seen->has_options && seen->sent_options.pre_start_required);
	CU_ASSERT(seen->options.pre_start_required);
	CU_ASSERT_FALSE(seen->options.get_preferred_allocation_available);
	CU_ASSERT(seen->socket_existed);
	UNIT_INT(seen->dial_attempts, 1);
	UNIT_INT(seen->code, RPC_OK);
	CU_ASSERT(seen->options_answered_ms != 0 && seen->options_answered_ms <= seen->answered_ms);
	rig_wait_listed(&rig);
	struct kubelet_resource_status status = kubelet_resource_status(rig.kubelet, RIG_RESOURCE);
	CU_ASSERT(status.known && status.connected && status.listed);
	UNIT_INT(status.capacity, 2);
	UNIT_INT(status.allocatable, 1);
	CU_ASSERT(kubelet_plugin_is_connected(seen->plugin));
	const struct kubelet_message *message =
		kubelet_stream_last(kubelet_plugin_stream(seen->plugin));
	CU_ASSERT_PTR_NOT_NULL_FATAL(message);
	if (message == NULL)
		return;
	UNIT_INT(message->devices.count, 2);
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_OPTIONS), 1);
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_LIST_AND_WATCH), 1);
	rig_close(&rig);
}

static void refused(const char *script, const char *message)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin = rig_plugin(&rig, script);
	const struct kubelet_registration *seen = rig_registration(&rig, 0);
	UNIT_INT(seen->code, RPC_UNKNOWN);
	UNIT_STRING(seen->message, message);
	CU_ASSERT_PTR_NULL(seen->plugin);
	rig_wait_event(&rig, KUBELET_EVENT_REGISTER,
		       2); /* its second attempt: the answer arrived */
	UNIT_STRING(scripted_plugin_last_error(plugin), message);
	CU_ASSERT_FALSE(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).known);
	rig_close(&rig);
}

static void test_version_and_name_are_checked(void)
{
	refused("{'version': 'v1beta2', 'register': {'retry_ms': 1}}",
		"requested API version \"v1beta2\" is not supported by kubelet. Supported version "
		"is "
		"[\"v1beta1\"]");
	refused("{'resource': 'gpu', 'register': {'retry_ms': 1}}",
		"the ResourceName \"gpu\" is invalid");
	refused("{'resource': 'kubernetes.io/gpu', 'register': {'retry_ms': 1}}",
		"the ResourceName \"kubernetes.io/gpu\" is invalid");
}

static void test_options_failure_refuses(void)
{
	for (int profile = KUBELET_PROFILE_1_36; profile <= KUBELET_PROFILE_1_37; profile++) {
		struct rig rig;
		rig_start(&rig, (enum kubelet_profile)profile);
		struct scripted_plugin *plugin = rig_plugin(
			&rig, "{'rpc': {'GetDevicePluginOptions': {'code': 'INTERNAL', 'message':"
			      " 'broken'}}, 'register': {'retries': 0}}");
		const struct kubelet_registration *seen = rig_registration(&rig, 0);
		UNIT_INT(seen->code, RPC_UNKNOWN);
		UNIT_STRING(seen->message, "failed to get device plugin options: rpc error: code = "
					   "Internal desc = broken");
		UNIT_INT(seen->options_code, RPC_INTERNAL);
		UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_LIST_AND_WATCH), 0);
		CU_ASSERT_FALSE(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).known);
		/* Only 1.37 closes the connection that failed. */
		UNIT_INT(kubelet_plugin_channel(seen->plugin) == NULL,
			 profile == KUBELET_PROFILE_1_37);
		rig_close(&rig);
	}
}

static void test_endpoint_is_joined(void)
{
	static const struct {
		const char *endpoint, *below;
	} cases[] = {
		{"/abs.sock", "/device-plugins/abs.sock"},
		{"../up.sock", "/up.sock"},
		{"sub/x.sock", "/device-plugins/sub/x.sock"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig rig;
		const struct kubelet_options options = {.dial_timeout_ms = 1};
		rig_init(&rig);
		rig_make(&rig, &options);
		CHECK_OK(kubelet_start(rig.kubelet, ERR));
		char *script CLEANUP_FREE = text_format(
			"{'endpoint': '%s', 'register': {'retries': 0}}", cases[i].endpoint);
		char *below CLEANUP_FREE = path_join(rig.directory, cases[i].below);
		char *wanted CLEANUP_FREE = path_normalize(below);
		(void)rig_plugin(&rig, script);
		const struct kubelet_registration *seen = rig_registration(&rig, 0);
		UNIT_STRING(seen->socket, wanted);
		CU_ASSERT_FALSE(seen->socket_existed);
		UNIT_INT(seen->code, RPC_UNKNOWN);
		CU_ASSERT(text_starts_with(
			seen->message, "failed to dial device plugin: context deadline exceeded"));
		rig_close(&rig);
	}
}

static void test_strings_do_not_end_at_nul(void)
{
	refused("{'resource': 'example.com/gpu\xe2\x90\x80x', 'register': {'retry_ms': 1}}",
		"the ResourceName \"example.com/gpu\\x00x\" is invalid");
	refused("{'version': 'v1beta1\xe2\x90\x80', 'register': {'retry_ms': 1}}",
		"requested API version \"v1beta1\\x00\" is not supported by kubelet. Supported "
		"version is [\"v1beta1\"]");
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'socket': 'a.sock', 'endpoint': 'a.sock\xe2\x90\x80x',"
			       " 'register': {'retries': 0}}");
	const struct kubelet_registration *seen = rig_registration(&rig, 0);
	UNIT_INT(seen->code, RPC_UNKNOWN);
	UNIT_CONTAINS(seen->message, "failed to dial device plugin: parse \"passthrough:///");
	UNIT_CONTAINS(seen->message, "a.sock\\x00x\": net/url: invalid control character in URL");
	UNIT_INT(seen->dial_attempts, 0);
	rig_close(&rig);
}

static bool attempt_is_answered(void *user)
{
	const struct kubelet_registration *seen = user;
	return seen->answered_ms != 0;
}

/* A Register whose caller gave up ends with the call: it must not take a later registration out of
 * the kubelet's table, whose end would go unnoticed then. */
static void test_abandoned_attempt_ends_with_its_call(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'endpoint': 'missing.sock',"
			       " 'register': {'deadline_ms': 1000, 'retries': 0}}");
	const struct kubelet_registration *abandoned = rig_registration(&rig, 0);
	CU_ASSERT(abandoned->abandoned);
	struct scripted_plugin *good = rig_plugin(&rig, "{'device_count': 2}");
	rig_wait_listed(&rig);
	CHECK_OK(loop_wait(&rig.loop, attempt_is_answered, (void *)(uintptr_t)abandoned, 30000,
			   "the end of the abandoned attempt", ERR));
	UNIT_STRING(rig.last_text[KUBELET_EVENT_DIAL_FAILED], "the caller of Register left");
	scripted_plugin_cut(good);
	rig_wait_allocatable(&rig, 0);
	rig_close(&rig);
}

static bool plugin_is_done(void *user)
{
	return scripted_plugin_registered(user) == KUBELET_REGISTRATIONS_KEPT + 65;
}

/* As many as a plugin likes; what is kept of them does not grow. */
static void test_any_number_of_registrations(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	char *script CLEANUP_FREE = text_format("{'device_count': 1, 'register': {'repeat': %d}}",
						KUBELET_REGISTRATIONS_KEPT + 64);
	struct scripted_plugin *plugin = rig_plugin(&rig, script);
	CHECK_OK(loop_wait(&rig.loop, plugin_is_done, plugin, 60000, "all registrations", ERR));
	UNIT_INT(kubelet_registration_count(rig.kubelet), KUBELET_REGISTRATIONS_KEPT + 65);
	for (size_t i = 0; i < kubelet_registration_count(rig.kubelet); i++)
		UNIT_INT(kubelet_registration_at(rig.kubelet, i)->code, RPC_OK);
	CU_ASSERT_PTR_EQUAL(kubelet_registration_at(rig.kubelet, 0),
			    kubelet_registration_at(rig.kubelet, 65));
	rig_wait_listed(&rig);
	CU_ASSERT(scripted_plugin_streams(plugin) <= KUBELET_REGISTRATIONS_KEPT + 1);
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).allocatable, 1);
	struct kubelet_outcome outcome = rig_admit(&rig, "pod", "main", 1);
	CU_ASSERT(outcome.accepted);
	kubelet_outcome_free(&outcome);
	rig_close(&rig);
}

static bool plugin_is_registered(void *user)
{
	return scripted_plugin_registered(user) > 0;
}

static void test_faults_of_register(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	CHECK_OK(kubelet_fault_set(rig.kubelet, "register-status=UNAVAILABLE:not now*2", ERR));
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'register': {'retry_ms': 1}}");
	UNIT_INT(rig_registration(&rig, 1)->code, RPC_UNAVAILABLE);
	UNIT_STRING(rig_registration(&rig, 1)->message, "not now");
	UNIT_INT(rig_registration(&rig, 2)->code, RPC_OK);
	rig_wait(&rig, plugin_is_registered, plugin, "the registration");
	UNIT_INT(scripted_plugin_refused(plugin), 2);
	UNIT_INT(rig.events[KUBELET_EVENT_FAULT], 1);
	rig_close(&rig);
}

static void test_slow_and_silent_answers(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	CHECK_OK(kubelet_fault_set(rig.kubelet, "register-delay=30*1", ERR));
	(void)rig_plugin(&rig, "{}");
	const struct kubelet_registration *slow = rig_registration(&rig, 0);
	UNIT_INT(slow->code, RPC_OK);
	CU_ASSERT(slow->answered_ms - slow->time_ms >= 30);
	rig_wait_listed(&rig);
	CU_ASSERT(kubelet_stream_state(kubelet_plugin_stream(slow->plugin)).opened_ms >=
		  slow->answered_ms);
	CHECK_OK(kubelet_fault_set(rig.kubelet, "register-hang", ERR));
	/* What a busy machine does not bring as far as the kubelet in time is tried again. */
	(void)rig_plugin(&rig, "{'resource': 'example.com/other',"
			       " 'register': {'deadline_ms': 1000}}");
	const struct kubelet_registration *hung = rig_registration(&rig, 1);
	CU_ASSERT(hung->abandoned);
	UNIT_INT(hung->answered_ms, 0);
	UNIT_INT(rig.events[KUBELET_EVENT_REGISTER_ABANDONED], 1);
	rig_close(&rig);
}

static void faulty_socket(const char *fault)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	CHECK_OK(kubelet_fault_set(rig.kubelet, fault, ERR));
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'register': {'retry_ms': 1, 'deadline_ms': 20},"
				 " 'on_kubelet_socket': 'ignore'}");
	while (scripted_plugin_refused(plugin) < 2)
		(void)uv_run(&rig.loop, UV_RUN_ONCE);
	UNIT_INT(kubelet_registration_count(rig.kubelet), 0);
	rig_close(&rig);
}

static void test_faults_of_the_socket(void)
{
	faulty_socket("connection-silent");
	faulty_socket("connection-garbage");
	faulty_socket("connection-close");
	faulty_socket("connection-refuse");
	faulty_socket("socket-absent");
}

static bool is_over(void *user)
{
	const struct rig *rig = user;
	return scripted_plugin_refused(rig->plugins[0]) > 0;
}

/* The kubelet has registered the plugin, which cannot read the answer. */
static void test_malformed_answer(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	CHECK_OK(kubelet_fault_set(rig.kubelet, "register-malformed*1", ERR));
	CHECK_OK(kubelet_fault_set(rig.kubelet, "options-twice", ERR));
	struct scripted_plugin *plugin = rig_plugin(&rig, "{'register': {'retry_ms': 1}}");
	rig_wait(&rig, is_over, &rig, "an answer that cannot be read");
	UNIT_INT(rig_registration(&rig, 0)->code, RPC_OK);
	UNIT_INT(rig_registration(&rig, 1)->code, RPC_OK);
	UNIT_INT(scripted_plugin_calls(plugin, SCRIPT_OPTIONS), 4);
	rig_close(&rig);
}

/* A plugin that listens only after its registration began is dialled again until the time is over.
 */
static void test_dial_is_repeated(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct scripted_plugin *plugin =
		rig_plugin(&rig, "{'register': {'via': 'none'}, 'socket': 'late.sock'}");
	scripted_plugin_cut(plugin);
	(void)rig_plugin(&rig, "{'endpoint': 'second.sock', 'socket': 'first.sock',"
			       " 'register': {'retries': 0}}");
	rig_wait_event(&rig, KUBELET_EVENT_REGISTER, 1);
	(void)rig_plugin(&rig, "{'register': {'via': 'none'}, 'socket': 'second.sock'}");
	const struct kubelet_registration *seen = rig_registration(&rig, 0);
	UNIT_INT(seen->code, RPC_OK);
	UNIT_INT(seen->dial_attempts, 2);
	CU_ASSERT(seen->connected_ms - seen->time_ms >= 1000);
	rig_close(&rig);
}

static void test_too_many_attempts_name_the_last_refusal(void)
{
	struct rig rig;
	struct error err = {0};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	(void)rig_plugin(&rig, "{'resource': 'nope', 'register': {'retries': 0}}");
	(void)rig_registration(&rig, 0);
	UNIT_INT(kubelet_wait_registration(rig.kubelet, 0, 1, &err), ERROR_TIMEOUT);
	UNIT_CONTAINS(err.text, "the ResourceName \"nope\" is invalid");
	kubelet_interrupt(rig.kubelet, "the plugin exited with code 3");
	UNIT_INT(kubelet_wait_listed(rig.kubelet, RIG_RESOURCE, 60000, &err), ERROR_CANCELLED);
	UNIT_CONTAINS(err.text, "the plugin exited with code 3");
	rig_close(&rig);
}

UNIT_MAIN("kubelet registration",
	  {"a plugin registers and lists its devices", test_plugin_registers_and_lists},
	  {"version and resource name are checked", test_version_and_name_are_checked},
	  {"GetDevicePluginOptions failing refuses the plugin", test_options_failure_refuses},
	  {"the endpoint is joined to the directory", test_endpoint_is_joined},
	  {"strings do not end at NUL", test_strings_do_not_end_at_nul},
	  {"an attempt ends with its call", test_abandoned_attempt_ends_with_its_call},
	  {"any number of registrations", test_any_number_of_registrations},
	  {"Register can be answered with a status", test_faults_of_register},
	  {"Register can be answered with nonsense", test_malformed_answer},
	  {"Register can be answered late or never", test_slow_and_silent_answers},
	  {"kubelet.sock can misbehave", test_faults_of_the_socket},
	  {"the plugin is dialled again", test_dial_is_repeated},
	  {"waits tell what happened", test_too_many_attempts_name_the_last_refusal})
