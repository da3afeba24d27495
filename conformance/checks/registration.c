/* SPDX-License-Identifier: MIT */
/* Registration: from kubelet.sock to an answered Register call. */
#include "base/memory.h"
#include "base/path.h"
#include "conformance/checks/restart.h"
#include "conformance/checks/suites.h"
#include "rpc/resource_name.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	IDLE_MS = 2000, /* REG-16, default; list-and-watch.idle watches longer */
	TWICE_MS = 500,
	IDLE_THOROUGH_MS = 60000,
};

/* A body: the row's judge for the accepted registration of each resource. */
static void each_registration(struct check_run *run)
{
	struct rig *rig = rig_registered(run);
	rig_each (resource, rig) {
		const struct kubelet_registration *r = rig_registration(rig, resource);
		if (r != NULL)
			check_row(run)->judge(
				rig, &(struct rig_item){.resource = resource, .registration = r});
	}
}

static bool is_notified_of_success(void *user)
{
	const struct rig *rig = user;
	return rig->registry.notified != 0 && rig->registry.problem == NULL;
}

static void accepted(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_registration *r = item->registration;
	const char *got = rpc_code_name(r->code);
	bool is_registered = r->code == RPC_OK;
	struct error err = {0};
	/* Without the notification the kubelet deregisters it again. */
	if (is_registered && r->by_watcher) {
		is_registered = rig_wait(rig, is_notified_of_success, rig, RIG_CALL_MS,
					 "NotifyRegistrationStatus", &err) == 0;
		got = rig->registry.problem != NULL ? rig->registry.problem : err.text;
	}
	(void)check_expect_is(rig->run, is_registered, r->resource, "registered", got);
}

static bool has_attempt(void *user)
{
	const struct rig *rig = user;
	return kubelet_registration_count(rig->kubelet) != 0;
}

/* Waits for the first attempt, accepted or refused. NULL: recorded. */
static const struct kubelet_registration *expect_attempt(struct rig *rig)
{
	struct error err = {0};
	int rc = rig_explain(rig,
			     rig_wait(rig, has_attempt, rig, rig_wait_ms(rig, CHECK_REG_01),
				      "a Register call", &err),
			     &err);
	return check_expect_ok(rig->run, rc, "the plugin tries to register", &err)
		       ? kubelet_registration_at(rig->kubelet, 0)
		       : NULL;
}

static void arrives(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);
	const struct kubelet_registration *first =
		rig != NULL && rig_start_plugin(rig) ? expect_attempt(rig) : NULL;
	if (first != NULL)
		(void)check_expect_in_time(run, "milliseconds from the start to the first Register",
					   first->time_ms - rig->started_ms);
}

/* Nothing more is expected of any attempt so far. */
static bool is_quiet(void *user)
{
	const struct rig *rig = user;
	registration_each (attempt, rig->kubelet, 0) {
		if (!rig_attempt_is_over(rig, attempt))
			return false;
	}
	return true;
}

/* Attempts by the names of their resources, and by time. */
static int compare_attempts(const void *a, const void *b)
{
	const struct kubelet_registration *one = *(const struct kubelet_registration *const *)a;
	const struct kubelet_registration *other = *(const struct kubelet_registration *const *)b;
	int order = strcmp(one->resource != NULL ? one->resource : "",
			   other->resource != NULL ? other->resource : "");
	return order != 0 ? order
			  : (one->time_ms > other->time_ms) - (one->time_ms < other->time_ms);
}

/* The stage that an attempt must have reached for a row's judge. */
struct stage_reached {
	bool (*has)(const struct kubelet_registration *attempt);
	const char *name;
};

static bool has_socket(const struct kubelet_registration *attempt)
{
	return attempt->socket != NULL;
}

static bool has_asked(const struct kubelet_registration *attempt)
{
	return attempt->options_asked_ms != 0;
}

/* A body: the row's judge for every attempt that reached the stage of the row's param. A refused attempt
 * never becomes a registration. Sorted, because the order of several resources differs from run to run,
 * and reports must not. */
static void each_attempt(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);
	if (rig == NULL || !rig_start_plugin(rig) || expect_attempt(rig) == NULL)
		return;
	rig_settle_attempts(rig);
	(void)rig_wait(rig, is_quiet, rig, rig_wait_ms(rig, CHECK_REG_01),
		       "the end of every attempt", NULL);

	size_t count = kubelet_registration_count(rig->kubelet);
	const struct kubelet_registration **attempts CLEANUP_FREE =
		memory_allocate(count, sizeof(*attempts));
	for (size_t i = 0; i < count; i++)
		attempts[i] = kubelet_registration_at(rig->kubelet, i);
	qsort(attempts, count, sizeof(*attempts), compare_attempts);

	const struct stage_reached *stage = check_row(run)->param;
	size_t judged = 0;
	items_each (attempt, attempts, count) {
		if (stage != NULL && !stage->has(*attempt)) {
			check_note(run, "%s: the attempt ended before %s", (*attempt)->resource,
				   stage->name);
			continue;
		}
		judged++;
		check_row(run)->judge(rig, &(struct rig_item){.registration = *attempt});
	}
	if (judged == 0)
		check_unsupported(run, "no attempt to register came to %s", stage->name);
}

static void endpoint_accepts(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_registration *r = item->registration;
	(void)check_expect_is(rig->run, r->socket_existed, "socket when Register arrived",
			      "present", "missing");
	(void)check_expect(rig->run, r->connected_ms != 0 && r->dial_attempts == 1,
			   "connections tried until one was accepted", "1", "%u%s",
			   r->dial_attempts, r->connected_ms != 0 ? "" : ", none accepted");
}

static void options_during_register(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_registration *r = item->registration;
	struct error err = {0};
	(void)error_set(&err, ERROR_UNAVAILABLE, "%s",
			r->options_code == RPC_NO_STATUS ? "no answer"
							 : rpc_code_name(r->options_code));
	int rc = r->options_code == RPC_OK ? 0 : rig_explain(rig, ERROR_UNAVAILABLE, &err);
	(void)check_expect_is(rig->run, rc == 0, "GetDevicePluginOptions", "OK", err.text);
	(void)check_expect(
		rig->run,
		r->options_answered_ms != 0 &&
			(r->answered_ms == 0 || r->options_answered_ms <= r->answered_ms),
		"GetDevicePluginOptions answered before Register", "yes", "%s",
		r->options_answered_ms != 0 ? "yes" : "never");
}

static void version(struct rig *rig, const struct rig_item *item)
{
	/* A kubelet has found it among those of GetInfo. */
	if (item->registration->by_watcher)
		(void)check_expect_is(rig->run, true, "GetInfo's versions",
				      "with " DEVICE_PLUGIN_VERSION, "");
	else
		(void)check_expect_text(rig->run, "RegisterRequest.version",
					item->registration->version, DEVICE_PLUGIN_VERSION);
}

static void resource_name(struct rig *rig, const struct rig_item *item)
{
	const char *name = item->registration->resource;
	struct error err = {0};
	bool valid = resource_name_check(name, &err) == 0;
	(void)check_expect(rig->run, valid, "RegisterRequest.resource_name",
			   "an extended resource name", "%s%s%s", name, valid ? "" : ": ",
			   valid ? "" : err.text);
}

static void endpoint_name(struct rig *rig, const struct rig_item *item)
{
	if (registration_is_by_watcher(rig, item->registration))
		return;
	const char *endpoint = item->registration->endpoint;
	const char *socket = item->registration->socket;
	bool misread = strpbrk(endpoint, "%?#") != NULL;
	(void)check_expect_varying(rig->run, path_is_bare_name(endpoint) && !misread,
				   "RegisterRequest.endpoint",
				   "a bare file name without %, ? and #", "%s%s%s", endpoint,
				   misread ? ", a URL to the kubelet, which dials " : "",
				   misread && socket != NULL ? socket : "");
}

static void endpoint_length(struct rig *rig, const struct rig_item *item)
{
	if (registration_is_by_watcher(rig, item->registration))
		return;
	size_t length =
		strlen(KUBELET_STANDARD_PLUGIN_DIR "/") + strlen(item->registration->endpoint);
	(void)check_expect_at_most(rig->run,
				   "bytes of the endpoint in " KUBELET_STANDARD_PLUGIN_DIR,
				   (long long)length, requirement_limit(CHECK_REG_07));
}

static void options_agree(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_registration *r = item->registration;
	/* Absent ones contradict nothing. */
	if (!r->has_options) {
		(void)check_expect_is(rig->run, true, "RegisterRequest.options",
				      "absent, or as GetDevicePluginOptions answers", "absent");
		return;
	}
	(void)check_expect_int(rig->run, "RegisterRequest.options.pre_start_required",
			       r->sent_options.pre_start_required, r->options.pre_start_required);
	(void)check_expect_int(rig->run,
			       "RegisterRequest.options.get_preferred_allocation_available",
			       r->sent_options.get_preferred_allocation_available,
			       r->options.get_preferred_allocation_available);
}

static void one_per_resource(struct rig *rig, const struct rig_item *item)
{
	(void)check_expect_int(rig->run, item->resource, rig_count_attempts(rig, item->resource, 0),
			       1);
}

static void fresh_socket_name(struct check_run *run)
{
	struct rig *rig = rig_registered(run);
	struct text_list endpoints CLEANUP_TEXT_LIST = {0};
	if (rig == NULL)
		return;
	registration_each (r, rig->kubelet, 0)
		text_list_add(&endpoints, r->endpoint);
	if (!rig_restart_plugin(rig, SIGTERM))
		return;
	rig_each (resource, rig) {
		const struct kubelet_registration *r = rig_registration(rig, resource);
		(void)check_expect_varying(
			run, r != NULL && !text_list_has(&endpoints, r->endpoint),
			"endpoint of the second run", "another than in the first", "%s",
			r != NULL ? r->endpoint : "(none)");
	}
}

/* Since the kubelet's restart, to the socket of the resource's last registration. While it serves it needs no second
 * one, whose connection kubelets up to 1.36 keep. */
static long long count_connections(const struct rig *rig, const char *resource)
{
	const struct kubelet_registration *last = rig_last_registration(rig, resource);
	long long count = 0;
	registration_each (r, rig->kubelet, rig->before_restart)
		count += last != NULL && text_equal(r->socket, last->socket) && r->plugin != NULL &&
			 kubelet_plugin_channel(r->plugin) != NULL;
	return count;
}

static void no_repeat(struct check_run *run)
{
	struct rig *rig = rig_registered(run);
	if (rig == NULL)
		return;
	/* Repeated behaviour also appears after a kubelet's restart, in some plugins only then. The suite restart
	 * judges a plugin that does not return. */
	rig->supervised = true;
	if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE))
		return;
	(void)rig_returns(rig);
	/* It may notice the restart in two ways. */
	loop_run_for(&rig->loop, context_wait_ms(rig->context, TWICE_MS));
	size_t before = kubelet_registration_count(rig->kubelet);
	check_note(run, "watched for %llu ms",
		   (unsigned long long)rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS));
	(void)check_expect_int(run, "further Register calls", rig_count_attempts(rig, NULL, before),
			       0);
	rig_each (resource, rig)
		(void)check_expect_at_most(
			run,
			check_format(
				run,
				"Register calls for a socket of %s after the kubelet's restart",
				resource),
			count_connections(rig, resource), 1);
}

static void options_prompt(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_registration *r = item->registration;
	(void)check_expect_in_time(rig->run, "milliseconds for GetDevicePluginOptions",
				   r->options_answered_ms - r->options_asked_ms);
}

static void optional_calls(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_plugin_options *options = &item->registration->options;
	text_each (call, &rig->context->optional_calls)
		(void)check_expect(rig->run,
				   text_equal(call, "PreStartContainer")
					   ? options->pre_start_required
					   : options->get_preferred_allocation_available,
				   call, "offered by GetDevicePluginOptions", "not offered");
}

#define ARRIVES	 "registration.arrives"
#define ACCEPTED "registration.accepted"
#define REGISTRATION(name, rule, severity, revision, foundation, body, ...)                        \
	CHECK("registration." name, rule, severity, revision, body, .timeout_s = 180,              \
	      .depends_on = (foundation), __VA_ARGS__)

const struct check registration_checks[] = {
	CHECK("registration.arrives", REG_01, CRITICAL, 2, arrives,
	      .title = "The plugin registers when kubelet.sock appears",
	      .advice =
		      "Read the plugin's output in the evidence. The plugin must dial kubelet.sock "
		      "in its plugin directory and call Register once it serves. If it hard-codes "
		      "/var/lib/kubelet/device-plugins, use --private-mounts.",
	      .timeout_s = 180),
	REGISTRATION("accepted", REG_01, CRITICAL, 1, ARRIVES, each_registration,
		     .title = "The kubelet accepts the plugin's registration",
		     .advice =
			     "Correct the request as the kubelet's answer in the reason says; the "
			     "checks version, resource-name and endpoint-name explain more.",
		     .judge = accepted),
	REGISTRATION("endpoint-accepts", REG_02, CRITICAL, 1, ARRIVES, each_attempt,
		     .param = &(const struct stage_reached){has_socket, "the dial-back"},
		     .title = "The plugin's socket accepts connections when it registers",
		     .advice = "Listen and serve before calling Register: the kubelet dials back "
			       "inside it.",
		     .judge = endpoint_accepts),
	REGISTRATION("options-during-register", REG_03, CRITICAL, 1, ARRIVES, each_attempt,
		     .param = &(const struct stage_reached){has_asked, "GetDevicePluginOptions"},
		     .title = "GetDevicePluginOptions is answered during Register",
		     .advice = "Do not hold a lock or the only thread during Register: the kubelet "
			       "calls GetDevicePluginOptions before it answers.",
		     .judge = options_during_register),
	REGISTRATION(
		"version", REG_04, CRITICAL, 1, ARRIVES, each_attempt,
		.title = "The API version in Register is v1beta1",
		.advice = "Send \"v1beta1\" in RegisterRequest.version; kubelets refuse everything "
			  "else.",
		.judge = version),
	REGISTRATION("resource-name", REG_05, CRITICAL, 1, ARRIVES, each_attempt,
		     .title = "The resource name is a valid extended resource name",
		     .advice = "Use vendor-domain/name with a DNS subdomain of your own; not "
			       "kubernetes.io/.",
		     .judge = resource_name),
	REGISTRATION(
		"endpoint-name", REG_06, CRITICAL, 1, ARRIVES, each_attempt,
		.title = "The endpoint is a bare file name",
		.advice =
			"Send only the socket's file name; the kubelet joins it to its "
			"directory and passes the path to gRPC as a URL, in which %, ? and # have "
			"special meanings.",
		.judge = endpoint_name),
	REGISTRATION("endpoint-length", REG_07, HIGH, 1, ARRIVES, each_attempt,
		     .title = "The endpoint's full path fits into a socket address",
		     .advice = "Shorten the socket's name: the limit holds for directory and name "
			       "together.",
		     .judge = endpoint_length),
	REGISTRATION(
		"options-agree", REG_08, LOW, 2, ACCEPTED, each_registration,
		.title = "The options in Register equal those of GetDevicePluginOptions",
		.advice = "Fill RegisterRequest.options and the answer to GetDevicePluginOptions "
			  "from one place; the kubelet uses the latter.",
		.judge = options_agree),
	REGISTRATION("one-per-resource", REG_09, MEDIUM, 1, ACCEPTED, each_registration,
		     .title = "Each resource registers exactly once",
		     .advice = "Register each resource once, after its socket serves.",
		     .judge = one_per_resource),
	REGISTRATION(
		"fresh-socket-name", REG_10, MEDIUM, 1, ACCEPTED, fresh_socket_name,
		.title = "Each run of the plugin uses a socket name of its own",
		.advice = "Put a time stamp or a random number into the socket's name, so that two "
			  "instances never fight for one path during an update. The process id "
			  "is often 1 in a container.",
		.needs = {.own_plugin = true}),
	REGISTRATION("no-repeat", REG_16, MEDIUM, 3, ACCEPTED, no_repeat,
		     .title = "A registered plugin does not register again without cause",
		     .advice =
			     "Register again only when kubelet.sock or the plugin's own socket was "
			     "removed; each repetition leaks a connection in kubelets up to 1.36."),
	REGISTRATION("options-prompt", REG_20, HIGH, 1, ACCEPTED, each_registration,
		     .title = "GetDevicePluginOptions is answered promptly",
		     .advice = "Answer from memory: the kubelet has no deadline for this call, so "
			       "a slow answer holds up the registration.",
		     .judge = options_prompt),
	REGISTRATION("optional-calls", REG_22, MEDIUM, 1, ACCEPTED, each_registration,
		     .title = "The plugin offers the optional calls that it is known for",
		     .advice =
			     "Set pre_start_required or get_preferred_allocation_available in the "
			     "answer to GetDevicePluginOptions: without it no kubelet calls.",
		     .needs = {.optional_calls = true}, .judge = optional_calls),
	REGISTRATION("refused", REG_11, MEDIUM, 2, ARRIVES, registration_refused,
		     .title = "A refused plugin ends with an error or tries again slowly",
		     .advice = "Wait at least a second between attempts, or end with an exit code "
			       "other than 0.",
		     .needs = {.own_plugin = true}),
	CHECK("registration.unavailable", REG_12, HIGH, 3, registration_unavailable,
	      .timeout_s = 420, .depends_on = ACCEPTED,
	      .title = "A plugin registers after a kubelet was unavailable at first",
	      .advice = "Call Register again after a failure, with a pause, or end with an "
			"error and let the supervisor start the plugin again.",
	      .needs = {.own_plugin = true}),
	REGISTRATION("answer-delayed", REG_13, MEDIUM, 2, ACCEPTED, registration_answer_delayed,
		     .title = "A slow answer to Register is waited for",
		     .advice =
			     "Give Register at least 10 seconds: the kubelet dials back inside it.",
		     .needs = {.own_plugin = true}),
	REGISTRATION("kubelet-late", REG_14, HIGH, 3, ACCEPTED, registration_before_kubelet,
		     .param = &(const enum restart_absence){RESTART_NO_SOCKET},
		     .title = "A plugin that starts before the kubelet registers later",
		     .advice = "Watch for kubelet.sock, without polling in a loop, or end with an "
			       "error.",
		     .needs = {.own_plugin = true}),
	REGISTRATION(
		"other-file", REG_15, MEDIUM, 2, ACCEPTED, registration_before_kubelet,
		.param = &(const enum restart_absence){RESTART_OTHER_FILE},
		.title = "A file at kubelet.sock that is not a socket is left alone",
		.advice =
			"Never remove kubelet.sock; wait until it can be connected to, and serve a new socket: a kubelet that starts removes the old one.",
		.needs = {.own_plugin = true}),
	REGISTRATION("no-directory", RES_15, LOW, 2, ACCEPTED, registration_before_kubelet,
		     .param = &(const enum restart_absence){RESTART_NO_DIRECTORY},
		     .title = "A plugin without its directory waits or ends with an error",
		     .advice = "Say that the plugin directory does not exist, and end with an exit "
			       "code other than 0, or wait for it.",
		     .needs = {.os = "linux", .own_plugin = true}),
	REGISTRATION("deprecation-file", REG_17, LOW, 2, ACCEPTED, registration_beside_file,
		     .param = "DEPRECATION", .title = "A file DEPRECATION is left alone",
		     .advice = "Ignore it: kubelets no longer write it, and none serves only "
			       "plugins_registry.",
		     .needs = {.own_plugin = true}),
	REGISTRATION("files-of-others", REG_21, HIGH, 1, ACCEPTED, registration_beside_file,
		     .param = "other-vendor.sock",
		     .title = "Files of others in the plugin directory are left alone",
		     .advice = "Remove only your own socket: other plugins serve theirs there, and "
			       "the kubelet keeps its checkpoint.",
		     .needs = {.own_plugin = true}),
	CHECK("registration.plugin-info", REG_18, MEDIUM, 1, registration_in_registry,
	      .timeout_s = 180, .title = "A plugin in plugins_registry answers the plugin watcher",
	      .advice = "Serve pluginregistration.Registration on the socket in plugins_registry: "
			"GetInfo with type DevicePlugin, the resource's name and version v1beta1, "
			"and NotifyRegistrationStatus.",
	      .needs = {.own_plugin = true, .registry = true}),
	CHECK("registration.notified-refusal", REG_19, MEDIUM, 1, registration_notified_refusal,
	      .timeout_s = 180, .depends_on = ACCEPTED,
	      .title = "A plugin in plugins_registry survives a refusal",
	      .advice = "Log the error of NotifyRegistrationStatus and keep serving: the kubelet "
			"asks again later.",
	      .needs = {.own_plugin = true, .registry = true}),
	{.id = NULL},
};
