/* SPDX-License-Identifier: MIT */
/* Which resources of the plugin are under test, and the waits until they are there. */
#include "conformance/checks/rig.h"
#include "conformance/checks/rig_known.h"

#include "base/clock.h"
#include "rpc/rpc.h"

#include <string.h>

enum {
	RIG_BACK_OFF_MS = 10000, /* of a kubelet, doubled each time */
};

uint64_t rig_wait_ms(const struct rig *rig, enum check_requirement requirement)
{
	return context_wait_ms(rig->context, requirement_limit_ms(requirement));
}

/* The resources that the reference plugin offers for the node's devices. */
static int rig_reference_resources(const struct rig *rig, struct text_list *out, struct error *err)
{
	static const char *const own_names[] = {"gpucert.internal/display",
						"gpucert.internal/compute"};
	/* The WDDM plugin offers the adapters that display. */
	static const char *const directx_names[] = {"directx.microsoft.com/display", NULL};
	const char *const *names = rig_is_windows(rig) ? directx_names : own_names;
	bool has[2] = {false, false};
	int rc = 0;

	for (size_t i = 0; i < rig->context->node->device_count; i++)
		has[rig->context->node->devices[i].display ? 0 : 1] = true;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(has); i++) {
		if (has[i] && names[i] != NULL)
			rc = text_list_add(out, names[i], err);
	}
	return rc;
}

/* The resources under test as far as they are known before the plugin registers. */
static int rig_name_resources(struct rig *rig, struct error *err)
{
	const cJSON *each = NULL;
	int rc = 0;

	if (rig->resources.count != 0)
		return 0;
	if (rig->context->resource != NULL)
		return text_list_add(&rig->resources, rig->context->resource, err);
	if (rig->context->reference_plugin)
		return rig_reference_resources(rig, &rig->resources, err);
	cJSON_ArrayForEach (each, rig->known) {
		if (rc == 0)
			rc = text_list_add(&rig->resources, each->string, err);
	}
	return rc;
}

/* The last attempt to register the resource in the plugin's present run; NULL without one. */
static const struct kubelet_registration *rig_last_attempt(const struct rig *rig,
							   const char *resource)
{
	for (size_t i = kubelet_registration_count(rig->kubelet); i > rig->first_registration;
	     i--) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i - 1);

		if (text_equal(r->resource, resource))
			return r;
	}
	return NULL;
}

struct registered_wait {
	const struct rig *rig;
	size_t from;
	bool refused;	     /* an attempt that was refused will do */
	const char *missing; /* a resource under test that has not registered */
};

/* The first attempt of the resource that was answered; unless `refused`, with OK. */
static const struct kubelet_registration *
rig_find_registration(const struct rig *rig, const char *resource, size_t from, bool refused)
{
	for (size_t i = from; i < kubelet_registration_count(rig->kubelet); i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);

		if (r->answered_ms != 0 && (refused || r->code == RPC_OK) &&
		    text_equal(r->resource, resource))
			return r;
	}
	return NULL;
}

static bool rig_all_are_registered(void *user)
{
	struct registered_wait *wait = user;

	wait->missing = NULL;
	for (size_t i = 0; wait->missing == NULL && i < wait->rig->resources.count; i++) {
		const char *resource = wait->rig->resources.items[i];

		if (rig_find_registration(wait->rig, resource, wait->from, wait->refused) == NULL)
			wait->missing = resource;
	}
	return wait->missing == NULL;
}

/* Why a resource is not there: its refusal, or what registers in its place. */
static int rig_explain_missing(const struct rig *rig, const char *missing, struct error *err)
{
	const struct kubelet_registration *last = rig_last_attempt(rig, missing);
	struct text others CLEANUP_TEXT = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = error_wrap(err, err->code, "%s", missing);

	if (last != NULL && last->answered_ms != 0 && last->code != RPC_OK)
		return error_wrap(err, rc, "the last attempt was refused: %s", last->message);
	if (kubelet_resource_names(rig->kubelet, &names, NULL) < 0 || names.count == 0)
		return rc;
	for (size_t i = 0; i < names.count; i++)
		text_addf(&others, "%s%s", i != 0 ? ", " : "", names.items[i]);
	return error_wrap(err, rc, "the plugin offers %s", text_string(&others));
}

/* Waits for all resources under test side by side. */
static int rig_wait_registered(struct rig *rig, size_t from, uint64_t timeout_ms, struct error *err)
{
	struct registered_wait wait = {.rig = rig, .from = from};
	int rc = kubelet_wait(rig->kubelet, rig_all_are_registered, &wait, timeout_ms,
			      "a registration of each resource", err);

	return rc == 0 || wait.missing == NULL ? rc : rig_explain_missing(rig, wait.missing, err);
}

int rig_settle(struct rig *rig, struct error *err)
{
	uint64_t timeout_ms = rig_wait_ms(rig, CHECK_REG_01);
	int rc = 0;

	rig_known_read(rig);
	rc = rig_name_resources(rig, err);
	if (rc == 0 && rig->resources.count != 0)
		rc = rig_wait_registered(rig, rig->first_registration, timeout_ms, err);
	else if (rc == 0)
		rc = kubelet_wait_registered(rig->kubelet, NULL, rig->first_registration,
					     timeout_ms, NULL, err);
	rig_known_learn(rig);
	if (rc == 0 && rig->resources.count == 0)
		rc = kubelet_resource_names(rig->kubelet, &rig->resources, err);
	return rc;
}

void rig_settle_attempts(struct rig *rig)
{
	struct registered_wait wait = {
		.rig = rig, .from = rig->first_registration, .refused = true};
	uint64_t start = clock_monotonic_ns();

	rig_known_read(rig);
	if (rig_name_resources(rig, NULL) == 0 && rig->resources.count != 0)
		(void)kubelet_wait(rig->kubelet, rig_all_are_registered, &wait,
				   rig_wait_ms(rig, CHECK_REG_01), "attempts to register", NULL);
	rig_known_learn(rig);
	rig_waited(rig, start);
}

bool rig_expect_registered(struct rig *rig)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = rig_settle(rig, &err);

	rig_waited(rig, start);
	rig_explain_harm(rig, rc, &err);
	return check_expect_ok(rig->run, rc, "the plugin registers", &err);
}

const struct kubelet_registration *rig_registration(const struct rig *rig, const char *resource)
{
	return rig_find_registration(rig, resource, rig->first_registration, false);
}

/* Waits for the resources to come back; a plugin that ends is started again, the second time after
 * the kubelet's pause. */
static int rig_wait_return(struct rig *rig, size_t from, uint64_t timeout_ms, struct error *err)
{
	uint64_t end = clock_monotonic_ms() + timeout_ms;
	uint64_t pause_ms = 0;
	int rc = rig_wait_registered(rig, from, timeout_ms, err);

	while (rc == ERROR_CANCELLED && rig->supervised && rig->plugin != NULL &&
	       plugin_process_has_ended(rig->plugin) && clock_monotonic_ms() + pause_ms < end) {
		loop_run_for(&rig->loop, pause_ms);
		pause_ms = pause_ms == 0 ? RIG_BACK_OFF_MS : pause_ms * 2;
		check_note(rig->run, "the plugin ended and was started again, as in a DaemonSet");
		if (!rig_start_plugin(rig, NULL))
			return error_set(err, ERROR_CANCELLED, "the plugin could not be started");
		rc = rig_wait_registered(rig, from, end - clock_monotonic_ms(), err);
	}
	return rc;
}

bool rig_expect_return(struct rig *rig, size_t from, enum check_requirement requirement,
		       const char *event)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	char *what CLEANUP_FREE = text_format("a registration after %s", event);
	char *duration CLEANUP_FREE =
		text_format("milliseconds from %s to the last registration", event);
	int rc = rig_wait_return(rig, from, rig_wait_ms(rig, requirement), &err);
	uint64_t duration_ns = clock_monotonic_ns() - start;

	rig_waited(rig, start);
	rig_explain_harm(rig, rc, &err);
	if (what == NULL || duration == NULL) {
		check_broken(rig->run, "out of memory");
		return false;
	}
	return check_expect_ok(rig->run, rc, what, &err) &&
	       check_expect_at_most(rig->run, duration, (long long)(duration_ns / 1000000),
				    (long long)requirement_limit_ms(requirement));
}

/* The stream that brings the resource's list; NULL when there is none. */
static struct kubelet_stream *rig_stream(const struct rig *rig, const char *resource)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);

	return plugin != NULL ? kubelet_plugin_stream(plugin) : NULL;
}

static const char *rig_first_unlisted(const struct rig *rig)
{
	for (size_t i = 0; i < rig->resources.count; i++) {
		struct kubelet_resource_status status =
			kubelet_resource_status(rig->kubelet, rig->resources.items[i]);

		if (!status.connected || !status.listed)
			return rig->resources.items[i];
	}
	return NULL;
}

/* A list that is longer than a message may be ends its stream, and waiting brings no other. */
static bool rig_list_is_too_long(const struct rig *rig, const char *resource)
{
	const struct kubelet_stream *stream = rig_stream(rig, resource);

	return stream != NULL && !kubelet_stream_is_open(stream) &&
	       kubelet_stream_code(stream) == RPC_RESOURCE_EXHAUSTED;
}

static bool rig_listing_is_over(void *user)
{
	const char *unlisted = rig_first_unlisted(user);

	return unlisted == NULL || rig_list_is_too_long(user, unlisted);
}

static bool rig_all_are_healthy(void *user)
{
	const struct rig *rig = user;

	for (size_t i = 0; i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];

		if (rig_healthy(rig, resource) < rig_known_healthy(rig, resource))
			return false;
	}
	return true;
}

/* Waits until the devices are healthy that are known to become so. Where they do not, less is
 * expected from now on. */
static void rig_wait_healthy(struct rig *rig)
{
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_wait(rig->kubelet, rig_all_are_healthy, rig,
			      context_limit_ms(rig->context, RIG_HEALTHY_MS), "healthy devices",
			      NULL);

	rig_waited(rig, start);
	if (rc != ERROR_TIMEOUT)
		return;
	for (size_t i = 0; i < rig->resources.count; i++)
		(void)rig_known_set(rig, rig->resources.items[i],
				    rig_healthy(rig, rig->resources.items[i]));
	rig_known_write(rig);
}

/* Why a resource has no list: the end of its stream says more than the wait. */
static int rig_explain_unlisted(const struct rig *rig, const char *unlisted, int rc,
				struct error *err)
{
	const struct kubelet_stream *stream = rig_stream(rig, unlisted);

	if (rc == 0)
		rc = error_set(err, ERROR_UNAVAILABLE, "no device list");
	return stream == NULL || kubelet_stream_is_open(stream)
		       ? error_wrap(err, rc, "%s", unlisted)
		       : error_wrap(err, rc, "%s: ListAndWatch ended with %s (%s)", unlisted,
				    rpc_code_name(kubelet_stream_code(stream)),
				    kubelet_stream_status(stream));
}

bool rig_expect_listed(struct rig *rig)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_wait(rig->kubelet, rig_listing_is_over, rig,
			      context_wait_ms(rig->context, RIG_CALL_MS),
			      "a device list of each resource", &err);
	const char *unlisted = rig_first_unlisted(rig);

	rig_waited(rig, start);
	if (unlisted != NULL)
		rc = rig_explain_unlisted(rig, unlisted, rc, &err);
	/* A list that is too long is one fault, and has a check of its own. */
	if (unlisted != NULL && rig_list_is_too_long(rig, unlisted) &&
	    strcmp(check_name(rig->run), "list-and-watch.message-size") != 0) {
		check_unsupported(rig->run, "%s; see list-and-watch.message-size", err.text);
		return false;
	}
	if (!check_expect_ok(rig->run, rc, "the plugin lists its devices", &err))
		return false;
	rig_wait_healthy(rig);
	return true;
}

/* Leaves the resources with a healthy device under test: a plugin may offer resources that this
 * node has no device for. */
static bool rig_leave_out_empty(struct rig *rig)
{
	struct text_list offering CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];
		bool empty = rig_healthy(rig, resource) == 0;

		rc = text_list_add(empty ? &rig->left_out : &offering, resource, &err);
		if (empty)
			check_note(rig->run, "%s lists no healthy device and is left out",
				   resource);
	}
	if (rc < 0) {
		check_broken(rig->run, "%s", err.text);
		return false;
	}
	text_list_free(&rig->resources);
	rig->resources = offering;
	offering = (struct text_list){0};
	if (rig->resources.count == 0)
		check_unsupported(rig->run, "the plugin lists no healthy device; see "
					    "list-and-watch.devices-present");
	return rig->resources.count != 0;
}

struct rig *rig_listed(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);

	return rig != NULL && rig_start_plugin(rig, NULL) && rig_expect_registered(rig) &&
			       rig_expect_listed(rig)
		       ? rig
		       : NULL;
}

struct rig *rig_ready_with(struct check_run *run, const char *const *env)
{
	struct rig *rig = rig_with_kubelet(run);

	return rig != NULL && rig_start_plugin(rig, env) && rig_expect_registered(rig) &&
			       rig_expect_listed(rig) && rig_leave_out_empty(rig)
		       ? rig
		       : NULL;
}

struct rig *rig_ready(struct check_run *run)
{
	return rig_ready_with(run, NULL);
}

bool rig_healthy_ids(struct rig *rig, const char *resource, struct text_list *ids)
{
	const struct kubelet_device_list *list = kubelet_resource_devices(rig->kubelet, resource);
	struct text_list healthy CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && list != NULL && i < list->count; i++) {
		if (kubelet_device_is_healthy(&list->items[i]))
			rc = text_list_add(&healthy, list->items[i].id, &err);
	}
	text_list_sort(&healthy);
	/* An id that was sent twice is one device for the kubelet. */
	for (size_t i = 0; rc == 0 && i < healthy.count; i++) {
		if (i == 0 || strcmp(healthy.items[i], healthy.items[i - 1]) != 0)
			rc = text_list_add(ids, healthy.items[i], &err);
	}
	if (rc < 0) {
		check_broken(rig->run, "%s", err.text);
		return false;
	}
	return healthy.count != 0 || check_expect(rig->run, false, "healthy devices",
						  "at least one", "none of %s", resource);
}

void rig_tell_untested(struct rig *rig)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};

	if (rig->resources.count == 0 || rig->context->reference_plugin ||
	    kubelet_resource_names(rig->kubelet, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		if (rig->context->resource == NULL &&
		    !text_list_has(&rig->resources, names.items[i]) &&
		    !text_list_has(&rig->left_out, names.items[i]))
			check_note(rig->run, "%s registered later and was not tested",
				   names.items[i]);
	}
	if (rig_known_update(rig))
		rig_known_write(rig);
}
