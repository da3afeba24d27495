/* SPDX-License-Identifier: MIT */
/* The plugin's resources under test, and the waits for their registration and devices. */
#include "conformance/checks/rig_known.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/checks/granted.h"

#include <string.h>

enum {
	BACK_OFF_MS = 10000, /* of a kubelet, doubled each time */
	MISNAMED_MS = 4000,  /* without a new attempt: the resource of --resource does not exist */
	AGAIN_MS = 10000,    /* for the plugin to register again after the end of a stream */
	STUCK_MS = 5000,     /* GetDevicePluginOptions, for which Register waits for ever */
	LOOK_MS = 50,
};

static void look(void *user)
{
	(void)user;
}

/* kubelet_wait() for conditions that also depend on the clock. */
static int poll_until(struct rig *rig, loop_condition *done, void *user, uint64_t timeout_ms,
		      const char *what, struct error *err)
{
	struct timer *timer = NULL;
	int rc = timer_start(&rig->loop, LOOK_MS, LOOK_MS, look, NULL, &timer, err);
	if (rc == 0)
		rc = kubelet_wait(rig->kubelet, done, user, timeout_ms, what, err);
	timer_cancel(&timer);
	return rc;
}

int rig_wait(struct rig *rig, loop_condition *done, void *user, uint64_t timeout_ms,
	     const char *what, struct error *err)
{
	uint64_t start = clock_monotonic_ns();
	int rc = poll_until(rig, done, user, timeout_ms, what, err);
	rig_waited(rig, start);
	return rc;
}

uint64_t rig_wait_ms(const struct rig *rig, enum check_requirement requirement)
{
	return context_wait_ms(rig->context, requirement_limit_ms(requirement));
}

/* The resources under test that are known before the plugin registers. */
static void name_resources(struct rig *rig)
{
	if (rig->resources.count != 0)
		return;
	if (rig->context->resource != NULL) {
		text_list_add(&rig->resources, rig->context->resource);
		return;
	}
	if (!rig->context->reference_plugin) {
		json_each (each, rig->known)
			text_list_add(&rig->resources, each->string);
		return;
	}

	/* The reference plugin's, by the node's devices; its WDDM plugin offers only displays. */
	bool compute = false;
	bool display = false;
	node_each (device, rig->context->node) {
		display |= device->display;
		compute |= !device->display;
	}
	if (display)
		text_list_add(&rig->resources, rig_is_windows(rig) ? "directx.microsoft.com/display"
								   : "gpucert.internal/display");
	if (compute && !rig_is_windows(rig))
		text_list_add(&rig->resources, "gpucert.internal/compute");
}

bool rig_attempt_is_over(const struct rig *rig, const struct kubelet_registration *attempt)
{
	return attempt->answered_ms != 0 || attempt->abandoned ||
	       (attempt->options_asked_ms != 0 && clock_monotonic_ms() - attempt->options_asked_ms >
							  context_wait_ms(rig->context, STUCK_MS));
}

/* The first attempt of the resource that was answered with OK; if `refused`, that is over. */
static const struct kubelet_registration *
find_registration(const struct rig *rig, const char *resource, size_t from, bool refused)
{
	registration_each (r, rig->kubelet, from) {
		if ((refused ? rig_attempt_is_over(rig, r)
			     : r->answered_ms != 0 && r->code == RPC_OK) &&
		    text_equal(r->resource, resource))
			return r;
	}
	return NULL;
}

const struct kubelet_registration *rig_registration(const struct rig *rig, const char *resource)
{
	return find_registration(rig, resource, rig->first_registration, false);
}

const struct kubelet_registration *rig_last_registration(const struct rig *rig,
							 const char *resource)
{
	const struct kubelet_registration *last = NULL;
	registration_each (r, rig->kubelet, 0) {
		if (r->code == RPC_OK && !r->deduplicated && text_equal(r->resource, resource))
			last = r;
	}
	return last;
}

struct kubelet_plugin_options rig_options(const struct rig *rig, const char *resource)
{
	const struct kubelet_registration *r = rig_registration(rig, resource);
	return r != NULL ? r->options : (struct kubelet_plugin_options){0};
}

long long rig_count_attempts(const struct rig *rig, const char *resource, size_t from)
{
	long long count = 0;
	for (size_t i = from; i < kubelet_registration_count(rig->kubelet); i++) {
		const char *found = kubelet_registration_at(rig->kubelet, i)->resource;
		count += resource != NULL ? text_equal(found, resource)
					  : text_list_has(&rig->resources, found);
	}
	return count;
}

bool rig_has_tried_to_register(void *rig)
{
	const struct rig *here = rig;
	return kubelet_registration_count(here->kubelet) > here->first_registration ||
	       process_has_ended(here->plugin);
}

struct registered_wait {
	struct rig *rig;
	size_t from;
	bool refused;	     /* an attempt that was refused will do */
	const char *missing; /* a resource under test that has not registered */
	size_t attempts;     /* seen so far, the last of them at news_ms */
	uint64_t news_ms;
	bool misnamed; /* the plugin offers other resources */
};

static bool all_are_registered(void *user)
{
	struct registered_wait *wait = user;
	wait->missing = NULL;
	rig_each (resource, wait->rig) {
		if (find_registration(wait->rig, resource, wait->from, wait->refused) == NULL) {
			wait->missing = resource;
			return false;
		}
	}
	return true;
}

/* Why the resource's last attempt, finished or under way, did not register it; NULL: there was none. */
static char *attempt_fault(const struct rig *rig, const char *resource)
{
	const struct kubelet_registration *last = NULL;
	registration_each (r, rig->kubelet, rig->first_registration) {
		if (text_equal(r->resource, resource) &&
		    (last == NULL || rig_attempt_is_over(rig, r)))
			last = r;
	}
	if (last == NULL || last->code == RPC_OK)
		return NULL;
	if (last->answered_ms != 0 && last->socket != NULL && !last->socket_existed) {
		bool has_folder = strchr(last->endpoint, '/') != NULL;
		return text_format(
			"the last attempt was refused: %s: there was no %s when Register came (a "
			"kubelet %s)",
			last->message, has_folder ? last->socket : path_base(last->socket),
			has_folder ? "appends the endpoint to its folder's path"
				   : "that starts removes the sockets in its folder");
	}
	if (last->answered_ms != 0)
		return text_format("the last attempt was refused: %s", last->message);
	if (last->options_asked_ms != 0)
		return memory_copy(
			"Register waits for GetDevicePluginOptions, which the plugin does not answer");
	return memory_copy("the kubelet has not reached the plugin's socket yet");
}

/* Names the resources that the plugin offers instead of the requested one. */
static int refuse_name(const struct rig *rig, struct error *err)
{
	const char *wanted = rig->context->resource;
	const char *nearest = NULL;
	struct text offered CLEANUP_TEXT = {0};
	json_each (each, rig->known) {
		text_addf(&offered, "%s%s", offered.size != 0 ? ", " : "", each->string);
		if (nearest == NULL ||
		    text_distance(wanted, each->string) < text_distance(wanted, nearest))
			nearest = each->string;
	}
	const bool is_near = nearest != NULL && text_is_near(wanted, nearest);
	return error_set(err, ERROR_NOT_FOUND,
			 "the plugin does not offer '%s' (--resource); it offers %s%s%s%s", wanted,
			 text_string(&offered), is_near ? "; did you mean '" : "",
			 is_near ? nearest : "", is_near ? "'?" : "");
}

/* Misnamed: the plugin listed the devices of another resource, and for a while has tried to register
 * nothing new. */
static bool is_registered_or_misnamed(void *user)
{
	struct registered_wait *wait = user;
	const struct rig *rig = wait->rig;
	size_t attempts = kubelet_registration_count(rig->kubelet);
	uint64_t now = clock_monotonic_ms();
	if (all_are_registered(wait))
		return true;
	char *fault CLEANUP_FREE = attempt_fault(rig, wait->missing);
	if (wait->attempts != attempts || fault != NULL) {
		wait->attempts = attempts;
		wait->news_ms = now;
	}
	bool listed = false;
	registration_each (r, rig->kubelet, rig->first_registration)
		listed = listed || kubelet_resource_status(rig->kubelet, r->resource).listed;
	wait->misnamed =
		listed && now - wait->news_ms >= context_limit_ms(rig->context, MISNAMED_MS);
	return wait->misnamed;
}

/* Waits for all resources under test at the same time. */
static int wait_registered(struct registered_wait *wait, loop_condition *done, uint64_t timeout_ms,
			   struct error *err)
{
	int rc = poll_until(wait->rig, done, wait, timeout_ms, "a registration of each resource",
			    err);
	if (rc == 0 || wait->missing == NULL)
		return rc;
	char *fault CLEANUP_FREE = attempt_fault(wait->rig, wait->missing);
	/* It may have registered a resource that is not under test. */
	const struct rig *rig = wait->rig;
	registration_each (r, rig->kubelet, wait->from) {
		if (fault == NULL && !text_list_has(&rig->resources, r->resource))
			fault = text_format("it registered %s instead", r->resource);
	}
	rc = error_wrap(err, err->code, "%s", wait->missing);
	return fault != NULL ? error_wrap(err, rc, "%s", fault) : rc;
}

static int settle(struct rig *rig, bool refused, struct error *err)
{
	struct registered_wait wait = {
		.rig = rig, .from = rig->first_registration, .refused = refused};
	const char *wanted = rig->context->resource;
	uint64_t timeout_ms = rig_wait_ms(rig, CHECK_REG_01);
	uint64_t start = clock_monotonic_ns();
	int rc = 0;
	rig_read_known(rig);
	name_resources(rig);
	if (wanted != NULL && cJSON_GetArraySize(rig->known) != 0 &&
	    cJSON_GetObjectItemCaseSensitive(rig->known, wanted) == NULL) {
		rc = refuse_name(rig, err);
	} else if (wanted != NULL) {
		rc = wait_registered(&wait, is_registered_or_misnamed, timeout_ms, err);
		if (rc == 0 && wait.misnamed) {
			(void)rig_update_known(rig);
			rig_write_known(rig); /* later checks need not wait */
			rc = refuse_name(rig, err);
		}
	} else if (rig->resources.count != 0) {
		rc = wait_registered(&wait, all_are_registered, timeout_ms, err);
	} else if (!refused) {
		rc = kubelet_wait_registration(rig->kubelet, rig->first_registration, timeout_ms,
					       err);
	}
	if (rc == 0 || wanted == NULL)
		rig_learn(rig);
	rig_waited(rig, start);
	return rc;
}

int rig_settle(struct rig *rig, struct error *err)
{
	int rc = settle(rig, false, err);
	if (rc == 0 && rig->resources.count == 0)
		kubelet_resource_names(rig->kubelet, &rig->resources);
	return rc;
}

void rig_settle_attempts(struct rig *rig)
{
	struct error err = {0};
	(void)settle(rig, true, &err); /* it needs an error to read */
}

bool rig_expect_registered(struct rig *rig)
{
	struct error err = {0};
	int rc = rig_settle(rig, &err);
	if (rc == ERROR_NOT_FOUND) { /* the user's mistake, not the plugin's */
		check_advise(rig->run,
			     "Correct --resource, or leave it out to test all that the plugin "
			     "offers.");
		check_broken(rig->run, "%s", err.text);
		return false;
	}
	return rig_expect_ok(rig, rc, "the plugin registers", &err);
}

/* wait_registered(), and as in a DaemonSet a plugin that ends meanwhile is started again. */
static int wait_supervised(struct registered_wait *wait, loop_condition *done, uint64_t timeout_ms,
			   struct error *err)
{
	struct rig *rig = wait->rig;
	uint64_t end_ms = clock_monotonic_ms() + timeout_ms;
	uint64_t pause_ms = 0;
	int rc = wait_registered(wait, done, timeout_ms, err);
	while (rc == ERROR_CANCELLED && rig->supervised && rig->plugin != NULL &&
	       process_has_ended(rig->plugin) && clock_monotonic_ms() + pause_ms < end_ms) {
		/* The kubelet pauses before it restarts a container. */
		loop_run_for(&rig->loop, pause_ms);
		pause_ms = pause_ms == 0 ? BACK_OFF_MS : pause_ms * 2;
		check_note(rig->run, "the plugin ended and was started again, as in a DaemonSet");
		if (!rig_start_plugin(rig))
			return error_set(err, ERROR_CANCELLED, "the plugin could not be started");
		rc = wait_registered(wait, done, end_ms - clock_monotonic_ms(), err);
	}
	return rc;
}

static bool is_attempted(void *user)
{
	const struct registered_wait *wait = user;
	return kubelet_registration_count(wait->rig->kubelet) > wait->from;
}

bool rig_expect_attempt(struct rig *rig)
{
	struct registered_wait wait = {.rig = rig, .from = rig->before_restart};
	struct error err = {0};
	uint64_t timeout_ms = rig_wait_ms(rig, check_row(rig->run)->requirement);
	uint64_t start = clock_monotonic_ns();
	int rc = wait_supervised(&wait, is_attempted, timeout_ms, &err);
	rig_waited(rig, start);
	return check_expect_ok(rig->run, rc, "a Register call after a restart of the kubelet",
			       &err);
}

int rig_wait_return(struct rig *rig, uint64_t timeout_ms, struct error *err)
{
	struct registered_wait wait = {.rig = rig, .from = rig->before_restart};
	uint64_t start = clock_monotonic_ns();
	int rc = wait_supervised(&wait, all_are_registered, timeout_ms, err);
	rig_waited(rig, start);
	return rig_explain(rig, rc, err);
}

bool rig_expect_return(struct rig *rig, const char *event)
{
	struct error err = {0};
	uint64_t start = clock_monotonic_ms();
	int rc = rig_wait_return(rig, rig_wait_ms(rig, check_row(rig->run)->requirement), &err);
	uint64_t duration_ms = clock_monotonic_ms() - start;
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
	return kubelet_plugin_stream(kubelet_resource_plugin(rig->kubelet, resource));
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

/* A list longer than the limit of a message ends its stream, and no other one will come. */
static bool list_is_too_long(const struct rig *rig, const char *resource)
{
	return kubelet_stream_state(rig_stream(rig, resource)).code == RPC_RESOURCE_EXHAUSTED;
}

struct listing {
	struct rig *rig;
	uint64_t ended_ms; /* a stream without a list; 0: none has ended */
	size_t attempts;   /* attempts to register at that time */
	bool abandoned;	   /* nothing followed */
};

static bool listing_is_over(void *user)
{
	struct listing *listing = user;
	struct rig *rig = listing->rig;
	const char *unlisted = first_unlisted(rig);
	if (unlisted == NULL || list_is_too_long(rig, unlisted))
		return true;
	const struct kubelet_stream *stream = rig_stream(rig, unlisted);
	size_t attempts = kubelet_registration_count(rig->kubelet);
	bool ended = stream != NULL && !kubelet_stream_state(stream).open;
	uint64_t now = clock_monotonic_ms();
	if (!ended || attempts != listing->attempts || listing->ended_ms == 0)
		listing->ended_ms = ended ? now : 0;
	listing->attempts = attempts;
	listing->abandoned =
		ended && now - listing->ended_ms >= context_limit_ms(rig->context, AGAIN_MS);
	return listing->abandoned;
}

static bool all_are_healthy(void *user)
{
	const struct rig *rig = user;
	rig_each (resource, rig) {
		if (rig_count_healthy(rig, resource) < rig_known_healthy(rig, resource))
			return false;
	}
	return true;
}

bool rig_expect_lists(struct rig *rig)
{
	struct error err = {0};
	struct listing listing = {.rig = rig};
	int rc =
		rig_wait(rig, listing_is_over, &listing, context_wait_ms(rig->context, RIG_CALL_MS),
			 "a device list of each resource", &err);
	const char *unlisted = first_unlisted(rig);
	if (unlisted != NULL) {
		/* The end of the stream explains more than the wait. */
		const struct kubelet_stream *stream = rig_stream(rig, unlisted);
		if (rc == 0)
			rc = error_set(&err, ERROR_UNAVAILABLE,
				       listing.abandoned ? "the plugin did not register again"
							 : "no device list");
		if (stream == NULL || kubelet_stream_state(stream).open)
			rc = error_wrap(&err, rc, "%s", unlisted);
		else
			rc = error_wrap(&err, rc, "%s: ListAndWatch ended with %s (%s)", unlisted,
					rpc_code_name(kubelet_stream_state(stream).code),
					kubelet_stream_state(stream).text);
	}
	/* Another check judges the length of lists. */
	if (unlisted != NULL && list_is_too_long(rig, unlisted) &&
	    check_row(rig->run)->requirement != CHECK_LAW_05) {
		check_unsupported(rig->run, "%s; see list-and-watch.message-size", err.text);
		return false;
	}
	return rig_expect_ok(rig, rc, "the plugin lists its devices", &err);
}

bool rig_expect_listed(struct rig *rig)
{
	if (!rig_expect_lists(rig))
		return false;
	if (rig_wait(rig, all_are_healthy, rig, context_limit_ms(rig->context, RIG_HEALTHY_MS),
		     "healthy devices", NULL) != ERROR_TIMEOUT)
		return true;

	/* Fewer are expected from now on: a device may turn unhealthy, but on a stable node none
	 * vanishes. */
	rig_each (resource, rig) {
		const cJSON *known = cJSON_GetObjectItemCaseSensitive(rig->known, resource);
		size_t listed = kubelet_resource_status(rig->kubelet, resource).capacity;
		if (cJSON_IsNumber(known) && (double)listed < known->valuedouble)
			(void)check_expect(
				rig->run, false, check_format(rig->run, "devices of %s", resource),
				check_format(rig->run, "%.0f, as before", known->valuedouble),
				"%zu", listed);
		rig_set_known(rig, resource, rig_count_healthy(rig, resource));
	}
	rig_write_known(rig);
	return true;
}

void rig_note_untested(struct rig *rig)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (rig->resources.count == 0 || rig->context->reference_plugin)
		return;
	kubelet_resource_names(rig->kubelet, &names);
	text_each (name, &names) {
		if (rig->context->resource == NULL && !text_list_has(&rig->resources, name) &&
		    !text_list_has(&rig->left_out, name))
			check_note(rig->run, "%s registered later and was not tested", name);
	}
	if (rig_update_known(rig))
		rig_write_known(rig);
}
