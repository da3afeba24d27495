/* SPDX-License-Identifier: MIT */
/*
 * Which resources of the plugin are under test, and the waits until they are there.
 *
 * What a plugin offers is not known before it has registered, and there is no sign that it has
 * registered all. So the first check of a run watches until nothing new comes, and leaves what it
 * saw to the later ones, which wait for just that: rig->known is {resource: healthy devices}, and
 * resources.json in the run's directory.
 */
#include "conformance/checks/rig.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "rpc/rpc.h"

#include <string.h>

enum {
	BACK_OFF_MS = 10000, /* of a kubelet, doubled each time */
	QUIET_MS = 5000,     /* nothing new for so long: the plugin offers what it has */
	LEARN_MAX_MS = 45000,
	LOOK_MS = 50,
	KNOWN_MAX = 1024, /* resources */
};

static const char file_name[] = "resources.json";

int rig_wait(struct rig *rig, loop_condition *done, void *user, uint64_t timeout_ms,
	     const char *what, struct error *err)
{
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_wait(rig->kubelet, done, user, timeout_ms, what, err);
	rig_waited(rig, start);
	return rc;
}

uint64_t rig_wait_ms(const struct rig *rig, enum check_requirement requirement)
{
	return context_wait_ms(rig->context, requirement_limit_ms(requirement));
}

static size_t count_healthy(const struct rig *rig, const char *resource)
{
	return kubelet_resource_status(rig->kubelet, resource).allocatable;
}

static void read_known(struct rig *rig)
{
	const char *path = check_run_path(rig->run, file_name);
	if (rig->known == NULL && file_exists(path))
		(void)json_read_file(path, &rig->known, NULL);
}

static void write_known(const struct rig *rig)
{
	struct error err = {0};
	if (cJSON_GetArraySize(rig->known) != 0 &&
	    json_write_file(check_run_path(rig->run, file_name), rig->known, &err) < 0)
		check_note(rig->run, "%s", err.text);
}

/* The healthy devices that the resource is known to have; one where nothing is known. */
static size_t known_healthy(const struct rig *rig, const char *resource)
{
	const cJSON *known = cJSON_GetObjectItemCaseSensitive(rig->known, resource);
	return cJSON_IsNumber(known) ? (size_t)known->valuedouble : 1;
}

static void set_known(struct rig *rig, const char *resource, size_t healthy)
{
	if (rig->known == NULL)
		rig->known = cJSON_CreateObject();
	cJSON *known = cJSON_GetObjectItemCaseSensitive(rig->known, resource);
	if (known != NULL)
		(void)cJSON_SetNumberValue(known, (double)healthy);
	else if (rig->known != NULL && cJSON_GetArraySize(rig->known) < KNOWN_MAX)
		(void)cJSON_AddNumberToObject(rig->known, resource, (double)healthy);
}

/* Adds what the kubelet knows by now. True when a resource or a healthy device is new. */
static bool update_known(struct rig *rig)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool news = false;
	if (kubelet_resource_names(rig->kubelet, &names, NULL) < 0)
		return false;
	text_each (name, &names) {
		size_t healthy = count_healthy(rig, name);
		if (cJSON_GetObjectItemCaseSensitive(rig->known, name) == NULL ||
		    healthy > known_healthy(rig, name)) {
			set_known(rig, name, healthy);
			news = true;
		}
	}
	return news;
}

/* Resources are known, and none with a healthy device. */
static bool lacks_devices(const struct rig *rig)
{
	json_each (each, rig->known) {
		if (each->valuedouble > 0)
			return false;
	}
	return cJSON_GetArraySize(rig->known) != 0;
}

/* Has a resource been tried to be registered that was not before? */
static bool has_new_attempt(const struct rig *rig, struct text_list *attempted, size_t *seen)
{
	bool found = false;
	for (; *seen < kubelet_registration_count(rig->kubelet); ++*seen) {
		const char *resource = kubelet_registration_at(rig->kubelet, *seen)->resource;
		if (resource != NULL && !text_list_has(attempted, resource))
			found = text_list_add(attempted, resource, NULL) == 0;
	}
	return found;
}

/* Watches, when nothing is known and the plugin has tried to register: until no attempt, resource
 * or healthy device has come for a while. A plugin without a healthy device is given more time. */
static void learn(struct rig *rig)
{
	uint64_t quiet_ms = context_limit_ms(rig->context, QUIET_MS);
	uint64_t healthy_ms = context_limit_ms(rig->context, RIG_HEALTHY_MS);
	uint64_t start = clock_monotonic_ms();
	uint64_t news = start;
	struct text_list attempted CLEANUP_TEXT_LIST = {0};
	size_t seen = rig->first_registration;
	if (rig->known != NULL || rig->context->reference_plugin ||
	    kubelet_registration_count(rig->kubelet) == seen)
		return;
	while (rig->plugin == NULL || !process_has_ended(rig->plugin)) {
		uint64_t now = clock_monotonic_ms();
		bool waits = lacks_devices(rig);
		if (update_known(rig) || has_new_attempt(rig, &attempted, &seen))
			news = now;
		if (now - start >= LEARN_MAX_MS ||
		    (now - news >= quiet_ms && (!waits || now - start >= healthy_ms)))
			break;
		loop_run_for(&rig->loop, LOOK_MS);
	}
	write_known(rig);
}

/* The resources that the reference plugin offers for the node's devices; its WDDM plugin those
 * that display. */
static int name_reference_resources(struct rig *rig, struct error *err)
{
	static const char *const names[2][2] = {
		{"gpucert.internal/compute", "gpucert.internal/display"},
		{NULL, "directx.microsoft.com/display"},
	};
	bool has[2] = {false, false};
	int rc = 0;
	for (size_t i = 0; i < rig->context->node->device_count; i++)
		has[rig->context->node->devices[i].display] = true;
	for (int i = 1; rc == 0 && i >= 0; i--) {
		const char *name = names[rig_is_windows(rig)][i];
		if (has[i] && name != NULL)
			rc = text_list_add(&rig->resources, name, err);
	}
	return rc;
}

/* The resources under test as far as they are known before the plugin registers. */
static int name_resources(struct rig *rig, struct error *err)
{
	int rc = 0;
	if (rig->resources.count != 0)
		return 0;
	if (rig->context->resource != NULL)
		return text_list_add(&rig->resources, rig->context->resource, err);
	if (rig->context->reference_plugin)
		return name_reference_resources(rig, err);
	json_each (each, rig->known) {
		if (rc == 0)
			rc = text_list_add(&rig->resources, each->string, err);
	}
	return rc;
}

/* The first attempt of the resource that was answered; unless `refused`, with OK. */
static const struct kubelet_registration *
find_registration(const struct rig *rig, const char *resource, size_t from, bool refused)
{
	for (size_t i = from; i < kubelet_registration_count(rig->kubelet); i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);
		if (r->answered_ms != 0 && (refused || r->code == RPC_OK) &&
		    text_equal(r->resource, resource))
			return r;
	}
	return NULL;
}

const struct kubelet_registration *rig_registration(const struct rig *rig, const char *resource)
{
	return find_registration(rig, resource, rig->first_registration, false);
}

struct registered_wait {
	struct rig *rig;
	size_t from;
	bool refused;	     /* an attempt that was refused will do */
	const char *missing; /* a resource under test that has not registered */
};

static bool all_are_registered(void *user)
{
	struct registered_wait *wait = user;
	wait->missing = NULL;
	for (size_t i = 0; wait->missing == NULL && i < wait->rig->resources.count; i++) {
		const char *resource = wait->rig->resources.items[i];
		if (find_registration(wait->rig, resource, wait->from, wait->refused) == NULL)
			wait->missing = resource;
	}
	return wait->missing == NULL;
}

/* Why a resource is not there: its refusal, or what registers in its place. */
static int explain_missing(const struct rig *rig, const char *missing, struct error *err)
{
	const struct kubelet_registration *last = NULL;
	struct text others CLEANUP_TEXT = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = error_wrap(err, err->code, "%s", missing);
	for (size_t i = rig->first_registration; i < kubelet_registration_count(rig->kubelet);
	     i++) {
		const struct kubelet_registration *r = kubelet_registration_at(rig->kubelet, i);
		last = text_equal(r->resource, missing) ? r : last;
	}
	if (last != NULL && last->answered_ms != 0 && last->code != RPC_OK)
		return error_wrap(err, rc, "the last attempt was refused: %s", last->message);
	if (kubelet_resource_names(rig->kubelet, &names, NULL) < 0 || names.count == 0)
		return rc;
	for (size_t i = 0; i < names.count; i++)
		text_addf(&others, "%s%s", i != 0 ? ", " : "", names.items[i]);
	return error_wrap(err, rc, "the plugin offers %s", text_string(&others));
}

/* Waits for all resources under test side by side. */
static int wait_registered(struct registered_wait *wait, uint64_t timeout_ms, struct error *err)
{
	int rc = kubelet_wait(wait->rig->kubelet, all_are_registered, wait, timeout_ms,
			      "a registration of each resource", err);
	return rc == 0 || wait->missing == NULL ? rc
						: explain_missing(wait->rig, wait->missing, err);
}

static int settle(struct rig *rig, bool refused, struct error *err)
{
	struct registered_wait wait = {rig, rig->first_registration, refused, NULL};
	uint64_t timeout_ms = rig_wait_ms(rig, CHECK_REG_01);
	uint64_t start = clock_monotonic_ns();
	read_known(rig);
	int rc = name_resources(rig, err);
	if (rc == 0 && rig->resources.count != 0)
		rc = wait_registered(&wait, timeout_ms, err);
	else if (rc == 0 && !refused)
		rc = kubelet_wait_registration(rig->kubelet, NULL, rig->first_registration, true,
					       timeout_ms, NULL, err);
	learn(rig);
	rig_waited(rig, start);
	return rc;
}

int rig_settle(struct rig *rig, struct error *err)
{
	int rc = settle(rig, false, err);
	if (rc == 0 && rig->resources.count == 0)
		rc = kubelet_resource_names(rig->kubelet, &rig->resources, err);
	return rc;
}

void rig_settle_attempts(struct rig *rig)
{
	struct error err = {0};
	(void)settle(rig, true, &err);
}

bool rig_expect_registered(struct rig *rig)
{
	struct error err = {0};
	int rc = rig_settle(rig, &err);
	rig_explain_harm(rig, rc, &err);
	return check_expect_ok(rig->run, rc, "the plugin registers", &err);
}

/* Waits for the resources to come back; a plugin that ends is started again, the second time after
 * the kubelet's pause. */
static int wait_return(struct rig *rig, size_t from, uint64_t timeout_ms, struct error *err)
{
	struct registered_wait wait = {.rig = rig, .from = from};
	uint64_t end = clock_monotonic_ms() + timeout_ms;
	uint64_t pause_ms = 0;
	int rc = wait_registered(&wait, timeout_ms, err);
	while (rc == ERROR_CANCELLED && rig->supervised && rig->plugin != NULL &&
	       process_has_ended(rig->plugin) && clock_monotonic_ms() + pause_ms < end) {
		loop_run_for(&rig->loop, pause_ms);
		pause_ms = pause_ms == 0 ? BACK_OFF_MS : pause_ms * 2;
		check_note(rig->run, "the plugin ended and was started again, as in a DaemonSet");
		if (!rig_start_plugin(rig, NULL))
			return error_set(err, ERROR_CANCELLED, "the plugin could not be started");
		rc = wait_registered(&wait, end - clock_monotonic_ms(), err);
	}
	return rc;
}

bool rig_expect_return(struct rig *rig, size_t from, const char *event)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ms();
	int rc = wait_return(rig, from, rig_wait_ms(rig, check_row(rig->run)->requirement), &err);
	uint64_t duration_ms = clock_monotonic_ms() - start;
	rig_waited(rig, clock_monotonic_ns() - duration_ms * 1000000);
	rig_explain_harm(rig, rc, &err);
	return check_expect_ok(rig->run, rc,
			       check_format(rig->run, "a registration after %s", event), &err) &&
	       check_expect_in_time(rig->run,
				    check_format(rig->run,
						 "milliseconds from %s to the last registration",
						 event),
				    duration_ms);
}

struct kubelet_stream *rig_stream(const struct rig *rig, const char *resource)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
	return plugin != NULL ? kubelet_plugin_stream(plugin) : NULL;
}

static const char *first_unlisted(const struct rig *rig)
{
	rig_each (resource, rig) {
		struct kubelet_resource_status status =
			kubelet_resource_status(rig->kubelet, resource);
		if (!status.connected || !status.listed)
			return resource;
	}
	return NULL;
}

/* A list that is longer than a message may be ends its stream, and waiting brings no other. */
static bool list_is_too_long(const struct rig *rig, const char *resource)
{
	const struct kubelet_stream *stream = rig_stream(rig, resource);
	return stream != NULL && kubelet_stream_state(stream).code == RPC_RESOURCE_EXHAUSTED;
}

static bool listing_is_over(void *user)
{
	const char *unlisted = first_unlisted(user);
	return unlisted == NULL || list_is_too_long(user, unlisted);
}

static bool all_are_healthy(void *user)
{
	const struct rig *rig = user;
	rig_each (resource, rig) {
		if (count_healthy(rig, resource) < known_healthy(rig, resource))
			return false;
	}
	return true;
}

/* A device may turn unhealthy; one of a stable node does not vanish. */
static void expect_kept(struct rig *rig, const char *resource)
{
	const cJSON *known = cJSON_GetObjectItemCaseSensitive(rig->known, resource);
	size_t listed = kubelet_resource_status(rig->kubelet, resource).capacity;
	if (cJSON_IsNumber(known) && (double)listed < known->valuedouble)
		(void)check_expect(rig->run, false,
				   check_format(rig->run, "devices of %s", resource),
				   check_format(rig->run, "%.0f, as before", known->valuedouble),
				   "%zu", listed);
}

/* Waits until the devices are healthy that are known to become so. Where they do not, less is
 * expected from now on, and devices that are no longer listed are recorded. */
static void wait_healthy(struct rig *rig)
{
	if (rig_wait(rig, all_are_healthy, rig, context_limit_ms(rig->context, RIG_HEALTHY_MS),
		     "healthy devices", NULL) != ERROR_TIMEOUT)
		return;
	rig_each (resource, rig) {
		expect_kept(rig, resource);
		set_known(rig, resource, count_healthy(rig, resource));
	}
	write_known(rig);
}

/* Why a resource has no list: the end of its stream says more than the wait. */
static int explain_unlisted(const struct rig *rig, const char *unlisted, int rc, struct error *err)
{
	const struct kubelet_stream *stream = rig_stream(rig, unlisted);
	if (rc == 0)
		rc = error_set(err, ERROR_UNAVAILABLE, "no device list");
	return stream == NULL || kubelet_stream_state(stream).open
		       ? error_wrap(err, rc, "%s", unlisted)
		       : error_wrap(err, rc, "%s: ListAndWatch ended with %s (%s)", unlisted,
				    rpc_code_name(kubelet_stream_state(stream).code),
				    kubelet_stream_state(stream).text);
}

bool rig_expect_listed(struct rig *rig)
{
	struct error err = {0};
	int rc = rig_wait(rig, listing_is_over, rig, context_wait_ms(rig->context, RIG_CALL_MS),
			  "a device list of each resource", &err);
	const char *unlisted = first_unlisted(rig);
	if (unlisted != NULL)
		rc = explain_unlisted(rig, unlisted, rc, &err);
	/* A list that is too long is one fault, and has a check of its own. */
	if (unlisted != NULL && list_is_too_long(rig, unlisted) &&
	    check_row(rig->run)->requirement != CHECK_LAW_05) {
		check_unsupported(rig->run, "%s; see list-and-watch.message-size", err.text);
		return false;
	}
	if (!check_expect_ok(rig->run, rc, "the plugin lists its devices", &err))
		return false;
	wait_healthy(rig);
	return true;
}

void rig_tell_untested(struct rig *rig)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (rig->resources.count == 0 || rig->context->reference_plugin ||
	    kubelet_resource_names(rig->kubelet, &names, NULL) < 0)
		return;
	text_each (name, &names) {
		if (rig->context->resource == NULL && !text_list_has(&rig->resources, name) &&
		    !text_list_has(&rig->left_out, name))
			check_note(rig->run, "%s registered later and was not tested", name);
	}
	if (update_known(rig))
		write_known(rig);
}
