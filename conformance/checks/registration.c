/* SPDX-License-Identifier: MIT */
/* Registration: from kubelet.sock to an answered Register call. */
#include "base/clock.h"
#include "base/path.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/suites.h"
#include "rpc/rpc.h"

#include <signal.h>
#include <string.h>

enum {
	IDLE_MS = 2500, /* REG-16, default */
	IDLE_THOROUGH_MS = 60000,
};

/* A rig whose plugin has registered; NULL: recorded. */
static struct rig *registration_rig(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);

	return rig != NULL && rig_start_plugin(rig, NULL) && rig_expect_registered(rig) ? rig
											: NULL;
}

/* Calls `judge` with the first registration of each resource of a plugin that has just started. */
static void registration_each(struct check_run *run,
			      void (*judge)(struct rig *rig, const struct kubelet_registration *r))
{
	struct rig *rig = registration_rig(run);

	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++) {
		const struct kubelet_registration *r =
			rig_registration(rig, rig->resources.items[i]);

		if (r != NULL)
			judge(rig, r);
	}
}

static void accepted(struct rig *rig, const struct kubelet_registration *r)
{
	(void)check_expect(rig->run, r->code == RPC_OK, r->resource, "registered", "%s",
			   rpc_code_name(r->code));
}

static void registration_accepted(struct check_run *run)
{
	registration_each(run, accepted);
}

/* Waits for the first attempt, however it ends. NULL: recorded. */
static const struct kubelet_registration *registration_expect_attempt(struct rig *rig)
{
	const struct kubelet_registration *first = NULL;
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_wait_registration(rig->kubelet, NULL, 0, rig_wait_ms(rig, CHECK_REG_01),
					   &first, &err);

	rig_waited(rig, start);
	rig_explain_harm(rig, rc, &err);
	return check_expect_ok(rig->run, rc, "the plugin tries to register", &err) ? first : NULL;
}

static void registration_arrives(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);
	const struct kubelet_registration *first = rig != NULL && rig_start_plugin(rig, NULL)
							   ? registration_expect_attempt(rig)
							   : NULL;

	if (first != NULL)
		(void)check_expect_at_most(run, "milliseconds from the start to the first Register",
					   (long long)(first->time_ms - rig->started_ms),
					   (long long)requirement_limit_ms(CHECK_REG_01));
}

/* Every attempt so far has been answered or given up. */
static bool registration_is_quiet(void *user)
{
	const struct rig *rig = user;

	for (size_t i = 0; i < kubelet_registration_count(rig->kubelet); i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);

		if (r->answered_ms == 0 && !r->abandoned)
			return false;
	}
	return true;
}

/* Looks at every attempt, because one that is refused never becomes a registration. NULL: there was
 * nothing to look at, recorded. */
static struct rig *registration_every_attempt(struct check_run *run,
					      void (*judge)(struct rig *rig,
							    const struct kubelet_registration *r))
{
	struct rig *rig = rig_with_kubelet(run);
	struct error err = {0};
	uint64_t start = 0;
	int rc = 0;

	if (rig == NULL || !rig_start_plugin(rig, NULL) || registration_expect_attempt(rig) == NULL)
		return NULL;
	rig_settle_attempts(rig);
	start = clock_monotonic_ns();
	rc = kubelet_wait(rig->kubelet, registration_is_quiet, rig, rig_wait_ms(rig, CHECK_REG_01),
			  "the end of every attempt", &err);
	rig_waited(rig, start);
	if (!check_expect_ok(run, rc, "every attempt ends", &err))
		return NULL;
	for (size_t i = 0; i < kubelet_registration_count(rig->kubelet); i++)
		judge(rig, kubelet_registration_at(rig->kubelet, i));
	return rig;
}

static void endpoint_accepts(struct rig *rig, const struct kubelet_registration *r)
{
	(void)check_expect(rig->run, r->socket_existed, "socket when Register arrived", "there",
			   "%s", r->socket_existed ? "there" : "missing");
	(void)check_expect(rig->run, r->connected_ms != 0 && r->dial_attempts == 1,
			   "connections tried until one was accepted", "1", "%u%s",
			   r->dial_attempts, r->connected_ms != 0 ? "" : ", none accepted");
}

static void registration_endpoint_accepts(struct check_run *run)
{
	(void)registration_every_attempt(run, endpoint_accepts);
}

/* An attempt that was refused before has not come to this question. */
static void options_during_register(struct rig *rig, const struct kubelet_registration *r)
{
	if (r->options_asked_ms == 0) {
		check_note(rig->run, "%s: refused before GetDevicePluginOptions", r->resource);
		return;
	}
	(void)check_expect(rig->run, r->options_code == RPC_OK, "GetDevicePluginOptions", "OK",
			   "%s", rpc_code_name(r->options_code));
	(void)check_expect(rig->run,
			   r->options_answered_ms != 0 && r->options_answered_ms <= r->answered_ms,
			   "GetDevicePluginOptions answered before Register", "yes", "%s",
			   r->options_answered_ms != 0 ? "yes" : "never");
}

static void registration_options_during_register(struct check_run *run)
{
	struct rig *rig = registration_every_attempt(run, options_during_register);
	bool asked = false;

	for (size_t i = 0; rig != NULL && i < kubelet_registration_count(rig->kubelet); i++)
		asked = asked || kubelet_registration_at(rig->kubelet, i)->options_asked_ms != 0;
	if (rig != NULL && !asked)
		check_unsupported(run, "no attempt to register came to GetDevicePluginOptions");
}

static void version(struct rig *rig, const struct kubelet_registration *r)
{
	(void)check_expect_text(rig->run, "RegisterRequest.version", r->version,
				DEVICE_PLUGIN_VERSION);
}

static void registration_version(struct check_run *run)
{
	(void)registration_every_attempt(run, version);
}

static void resource_name(struct rig *rig, const struct kubelet_registration *r)
{
	struct error err = {0};
	bool valid = kubelet_resource_name_is_valid(r->resource, &err);

	(void)check_expect(rig->run, valid, "RegisterRequest.resource_name",
			   "an extended resource name", "%s%s%s", r->resource, valid ? "" : ": ",
			   valid ? "" : err.text);
}

static void registration_resource_name(struct check_run *run)
{
	(void)registration_every_attempt(run, resource_name);
}

static void endpoint_name(struct rig *rig, const struct kubelet_registration *r)
{
	(void)check_expect_varying(rig->run, path_is_bare_name(r->endpoint),
				   "RegisterRequest.endpoint", "a bare file name", "%s",
				   r->endpoint);
}

static void registration_endpoint_name(struct check_run *run)
{
	(void)registration_every_attempt(run, endpoint_name);
}

static void endpoint_length(struct rig *rig, const struct kubelet_registration *r)
{
	size_t length = strlen(KUBELET_STANDARD_PLUGIN_DIR "/") + strlen(r->endpoint);

	(void)check_expect_at_most(rig->run,
				   "bytes of the endpoint in " KUBELET_STANDARD_PLUGIN_DIR,
				   (long long)length, requirement_limit(CHECK_REG_07));
}

static void registration_endpoint_length(struct check_run *run)
{
	(void)registration_every_attempt(run, endpoint_length);
}

static void options_agree(struct rig *rig, const struct kubelet_registration *r)
{
	if (!r->has_options) {
		(void)check_expect(rig->run,
				   !r->options.pre_start_required &&
					   !r->options.get_preferred_allocation_available,
				   "RegisterRequest.options", "as GetDevicePluginOptions answers",
				   "absent, which reads as all false");
		return;
	}
	(void)check_expect_int(rig->run, "RegisterRequest.options.pre_start_required",
			       r->sent_options.pre_start_required, r->options.pre_start_required);
	(void)check_expect_int(rig->run,
			       "RegisterRequest.options.get_preferred_allocation_available",
			       r->sent_options.get_preferred_allocation_available,
			       r->options.get_preferred_allocation_available);
}

static void registration_options_agree(struct check_run *run)
{
	registration_each(run, options_agree);
}

static void registration_one_per_resource(struct check_run *run)
{
	struct rig *rig = registration_rig(run);

	if (rig == NULL)
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];
		long long count = 0;

		for (size_t j = 0; j < kubelet_registration_count(rig->kubelet); j++)
			count += text_equal(kubelet_registration_at(rig->kubelet, j)->resource,
					    resource);
		(void)check_expect_int(run, resource, count, 1);
	}
}

static void registration_fresh_socket_name(struct check_run *run)
{
	struct rig *rig = registration_rig(run);
	struct text_list endpoints CLEANUP_TEXT_LIST = {0};

	if (rig == NULL)
		return;
	for (size_t i = 0; i < kubelet_registration_count(rig->kubelet); i++)
		(void)text_list_add(&endpoints, kubelet_registration_at(rig->kubelet, i)->endpoint,
				    NULL);
	if (!rig_end_plugin(rig, SIGTERM, RIG_END_MS)) {
		check_broken(run, "the plugin did not end after SIGTERM");
		return;
	}
	rig_leave_second(rig);
	if (!rig_start_plugin(rig, NULL) || !rig_expect_registered(rig))
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		const struct kubelet_registration *r =
			rig_registration(rig, rig->resources.items[i]);

		(void)check_expect_varying(
			run, r != NULL && !text_list_has(&endpoints, r->endpoint),
			"endpoint of the second run", "another than in the first", "%s",
			r != NULL ? r->endpoint : "(none)");
	}
}

static void registration_no_repeat(struct check_run *run)
{
	struct rig *rig = registration_rig(run);
	size_t before = 0;
	uint64_t waited_ms = 0;

	if (rig == NULL)
		return;
	before = kubelet_registration_count(rig->kubelet);
	waited_ms = rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS);
	check_note(run, "watched for %llu ms", (unsigned long long)waited_ms);
	(void)check_expect_int(run, "further Register calls",
			       (long long)(kubelet_registration_count(rig->kubelet) - before), 0);
}

static void options_prompt(struct rig *rig, const struct kubelet_registration *r)
{
	(void)check_expect_at_most(rig->run, "milliseconds for GetDevicePluginOptions",
				   (long long)(r->options_answered_ms - r->options_asked_ms),
				   (long long)requirement_limit_ms(CHECK_REG_20));
}

static void registration_options_prompt(struct check_run *run)
{
	registration_each(run, options_prompt);
}

static const struct check checks[] = {
	{
		.id = "registration.arrives",
		.title = "A plugin that finds kubelet.sock calls Register",
		.advice = "Look at the plugin's output in the evidence; it must dial kubelet.sock "
			  "in the "
			  "directory that it was given and call Register once it serves.",
		.requirement = CHECK_REG_01,
		.severity = CHECK_CRITICAL,
		.revision = 2,
		.timeout_s = 120,
		.run = registration_arrives,
	},
	{
		.id = "registration.accepted",
		.title = "The kubelet accepts the plugin's registration",
		.advice = "The reason tells what the kubelet answered; the checks of the request "
			  "itself (version, resource-name, endpoint-name) say more.",
		.requirement = CHECK_REG_01,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.arrives",
		.run = registration_accepted,
	},
	{
		.id = "registration.endpoint-accepts",
		.title = "The plugin's socket accepts connections when it registers",
		.advice = "Listen and serve before calling Register: the kubelet dials back inside "
			  "it.",
		.requirement = CHECK_REG_02,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.arrives",
		.run = registration_endpoint_accepts,
	},
	{
		.id = "registration.options-during-register",
		.title = "GetDevicePluginOptions is answered while Register is under way",
		.advice =
			"Do not hold a lock or the only thread during Register: the kubelet calls "
			"GetDevicePluginOptions before it answers.",
		.requirement = CHECK_REG_03,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.arrives",
		.run = registration_options_during_register,
	},
	{
		.id = "registration.version",
		.title = "The API version in Register is v1beta1",
		.advice = "Send \"v1beta1\" in RegisterRequest.version; kubelets refuse all else.",
		.requirement = CHECK_REG_04,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.arrives",
		.run = registration_version,
	},
	{
		.id = "registration.resource-name",
		.title = "The resource name is a valid extended resource name",
		.advice = "Use vendor-domain/name with a DNS subdomain of your own; not "
			  "kubernetes.io/.",
		.requirement = CHECK_REG_05,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.arrives",
		.run = registration_resource_name,
	},
	{
		.id = "registration.endpoint-name",
		.title = "The endpoint is a bare file name",
		.advice =
			"Send only the socket's file name; the kubelet joins it to its directory.",
		.requirement = CHECK_REG_06,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.arrives",
		.run = registration_endpoint_name,
	},
	{
		.id = "registration.endpoint-length",
		.title = "The endpoint's full path fits into a socket address",
		.advice = "Shorten the socket's name: the limit holds for directory and name "
			  "together.",
		.requirement = CHECK_REG_07,
		.severity = CHECK_HIGH,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.arrives",
		.run = registration_endpoint_length,
	},
	{
		.id = "registration.options-agree",
		.title = "The options in Register equal those of GetDevicePluginOptions",
		.advice = "Fill RegisterRequest.options from the same place as the answer of "
			  "GetDevicePluginOptions; the kubelet uses the latter.",
		.requirement = CHECK_REG_08,
		.severity = CHECK_LOW,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.accepted",
		.run = registration_options_agree,
	},
	{
		.id = "registration.one-per-resource",
		.title = "Each resource registers exactly once",
		.advice = "Register each resource once, after its socket serves.",
		.requirement = CHECK_REG_09,
		.severity = CHECK_MEDIUM,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.accepted",
		.run = registration_one_per_resource,
	},
	{
		.id = "registration.fresh-socket-name",
		.title = "Each run of the plugin uses a socket name of its own",
		.advice = "Put a time stamp or the process id into the socket's name, so that two "
			  "instances "
			  "never fight for one path during an update.",
		.requirement = CHECK_REG_10,
		.severity = CHECK_MEDIUM,
		.revision = 1,
		.timeout_s = 180,
		.needs = {.own_plugin = true},
		.stands_on = "registration.accepted",
		.run = registration_fresh_socket_name,
	},
	{
		.id = "registration.no-repeat",
		.title = "A registered plugin that is left alone does not register again",
		.advice =
			"Register again only when kubelet.sock or the own socket was removed; each "
			"repetition leaks a connection in kubelets up to 1.36.",
		.requirement = CHECK_REG_16,
		.severity = CHECK_MEDIUM,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.accepted",
		.run = registration_no_repeat,
	},
	{
		.id = "registration.options-prompt",
		.title = "GetDevicePluginOptions is answered promptly",
		.advice = "Answer from memory: the kubelet has no deadline for this call, so a "
			  "slow answer "
			  "holds up the registration.",
		.requirement = CHECK_REG_20,
		.severity = CHECK_HIGH,
		.revision = 1,
		.timeout_s = 120,
		.stands_on = "registration.accepted",
		.run = registration_options_prompt,
	},
	{.id = NULL},
};

const struct check_suite suite_registration = {
	.name = "registration",
	.title = "Registration with the kubelet",
	.checks = checks,
};
