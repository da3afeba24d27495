/* SPDX-License-Identifier: MIT */
/* Registration with a kubelet that refuses, is slow, or does not exist yet. */
#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/restart.h"

#include <string.h>

enum {
	REFUSED_MS = 2000,
	REFUSED_THOROUGH_MS = 60000,
	ATTEMPTS_AT_ONCE = 2, /* for each resource, besides those that the time allows */
	REFUSALS = 4,	      /* some plugins give up after three attempts */
	REFUSALS_AGAIN = 3,
	TIDY_MS = 10000, /* a server that is replaced may end its calls first */
	SLOW_ATTEMPTS = 2,
	ABSENT_MS = 1000,
	ABSENT_THOROUGH_MS = 60000,
	SETTLED_MS = 300,
};

/* The plugin's present run did not crash. One may end with an error, also by Go's panic() and by an exception. */
static bool expect_no_crash(struct rig *rig, const char *when)
{
	const struct rig_run *plugin = &rig->run_of_plugin;
	bool crashed = plugin->end != NULL &&
		       (process_result(rig->plugin)->end == PROCESS_SIGNALLED ||
			(plugin->crashed && strstr(plugin->said[1], "runtime error") != NULL));
	if (plugin->end != NULL)
		check_note(rig->run, "%s the plugin ended, for its supervisor to start it again",
			   when);
	return check_expect(rig->run, !crashed, check_format(rig->run, "the plugin %s", when),
			    "still running, or ended without a crash", "%s",
			    crashed ? plugin->end : "as it should");
}

bool restart_expect_registered(struct rig *rig)
{
	struct error err = {0};
	if (process_has_ended(rig->plugin) && !rig_start_plugin(rig))
		return false;
	/* A plugin that ends again is started again. */
	if (rig_settle(rig, &err) == ERROR_CANCELLED && process_has_ended(rig->plugin)) {
		check_note(rig->run, "the plugin ended and was started again, as in a DaemonSet");
		if (!rig_start_plugin(rig))
			return false;
	}
	return rig_expect_registered(rig);
}

bool registration_is_by_watcher(struct rig *rig, const struct kubelet_registration *registration)
{
	if (registration == NULL || !registration->by_watcher)
		return false;
	check_not_applicable(rig->run, "the plugin is in plugins_registry, and calls no Register");
	return true;
}

void registration_refused(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);
	struct error err = {0};
	if (rig == NULL)
		return;
	rig->supervised = true;
	if (!rig_set_fault(
		    rig,
		    "register-status=UNKNOWN:requested API version is not supported by kubelet") ||
	    !rig_start_plugin(rig))
		return;
	int rc = rig_wait(rig, rig_has_tried_to_register, rig, rig_wait_ms(rig, CHECK_REG_01),
			  "a Register call", &err);
	if (!check_expect_ok(run, rc, "the plugin tries to register", &err) ||
	    registration_is_by_watcher(rig, kubelet_registration_at(rig->kubelet, 0)))
		return;

	uint64_t watched_ms = rig_watch(rig, REFUSED_MS, REFUSED_THOROUGH_MS);
	/* How many resources have tried to register so far. */
	struct text_list names CLEANUP_TEXT_LIST = {0};
	registration_each (r, rig->kubelet, 0) {
		if (!text_list_has(&names, r->resource))
			text_list_add(&names, r->resource);
	}
	long long allowed = (long long)(watched_ms / 1000) * requirement_limit(CHECK_REG_11);
	(void)check_expect_at_most_measured(run, "attempts of a refused plugin",
					    (long long)kubelet_registration_count(rig->kubelet),
					    (long long)names.count * (allowed + ATTEMPTS_AT_ONCE));
	if (expect_no_crash(rig, "when Register was refused") && process_has_ended(rig->plugin))
		(void)check_expect(run, process_result(rig->plugin)->code != 0,
				   "exit code of the refused plugin", "other than 0", "%d",
				   process_result(rig->plugin)->code);
}

/* The socket of an attempt that was refused, if it exists and serves no later one; NULL: there is none. */
static const char *find_litter(const struct rig *rig)
{
	registration_each (r, rig->kubelet, 0) {
		const struct kubelet_registration *last = rig_last_registration(rig, r->resource);
		char *path CLEANUP_FREE = path_join(kubelet_plugin_dir(rig->kubelet), r->endpoint);
		if (r->code == RPC_UNAVAILABLE && last != NULL &&
		    !text_equal(r->endpoint, last->endpoint) && file_exists(path))
			return r->endpoint;
	}
	return NULL;
}

static bool is_tidy(void *user)
{
	return find_litter(user) == NULL;
}

/* Each attempt that is refused is followed by another. False: recorded. `ended`: a refusal ended the plugin. */
static bool expect_attempts(struct rig *rig, bool *ended)
{
	const uint64_t wait_ms = rig_wait_ms(rig, CHECK_REG_12);
	struct error err = {0};
	for (unsigned i = 0; i <= 2 * REFUSALS; i++) {
		int rc = rig_wait(rig, rig_has_tried_to_register, rig, wait_ms, "a Register call",
				  &err);
		if (process_has_ended(rig->plugin)) {
			*ended = true;
			check_note(rig->run,
				   "the plugin ended and was started again, as in a DaemonSet");
			if (!expect_no_crash(rig, "when Register was refused") ||
			    !rig_start_plugin(rig))
				return false;
			continue;
		}
		if (rc < 0)
			return check_expect_ok(rig->run, rc,
					       check_format(rig->run,
							    i == 0 ? "the plugin tries to register"
								   : "an attempt after refusal %u",
							    i),
					       &err);
		if (registration_is_by_watcher(rig, kubelet_registration_at(rig->kubelet, 0)))
			return false;
		rig->first_registration = kubelet_registration_count(rig->kubelet);
		if (kubelet_registration_at(rig->kubelet, rig->first_registration - 1)->code !=
		    RPC_UNAVAILABLE)
			break;
	}
	/* Once: resources may be refused together, or one after the other. */
	return check_expect_ok(rig->run, 0, "attempts after refusals", &err);
}

/* The first attempts are refused, as by a kubelet that starts, and then those after its restart. */
void registration_unavailable(struct check_run *run)
{
	static const char refusals[] = "register-status=UNAVAILABLE:starting*";
	struct rig *rig = rig_with_kubelet(run);
	bool ended = false;
	if (rig == NULL)
		return;
	rig->supervised = true;
	if (!rig_set_fault(rig, check_format(run, "%s%d", refusals, REFUSALS)) ||
	    !rig_start_plugin(rig) || !expect_attempts(rig, &ended))
		return;
	rig->first_registration = 0;
	if (!restart_expect_registered(rig) || !rig_expect_listed(rig))
		return;

	/* One that does not return from any restart fails in the suite restart. */
	if (!rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE) || !rig_returns(rig) ||
	    !rig_set_fault(rig, check_format(run, "%s%d", refusals, REFUSALS_AGAIN)) ||
	    !rig_restart_kubelet(rig, KUBELET_RESTART_WHOLE))
		return;
	rig->first_registration = kubelet_registration_count(rig->kubelet);
	if (!expect_attempts(rig, &ended) ||
	    !rig_expect_return(rig, "a restart of the kubelet with refusals") ||
	    !rig_expect_listed(rig) || ended)
		return;
	(void)loop_wait(&rig->loop, is_tidy, rig, context_wait_ms(rig->context, TIDY_MS), "", NULL);
	const char *left = find_litter(rig);
	if (left != NULL)
		(void)check_expect_varying(run, false, "the socket of an attempt that was refused",
					   "removed, or registered by a later attempt",
					   "%s, which is left", left);
}

void registration_answer_delayed(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);
	if (rig == NULL)
		return;
	if (!rig_set_fault(rig, rig->context->thorough ? "register-delay=9000"
						       : "register-delay=1500") ||
	    !rig_start_plugin(rig) || !rig_expect_registered(rig) || !rig_expect_listed(rig))
		return;
	(void)rig_watch(rig, SETTLED_MS, SETTLED_MS);
	rig_each (resource, rig) {
		(void)check_expect_at_most(run,
					   check_format(run, "attempts to register %s", resource),
					   rig_count_attempts(rig, resource, 0), SLOW_ATTEMPTS);
		(void)check_expect_is(
			run, kubelet_stream_state(rig_stream(rig, resource)).open,
			check_format(run, "the stream of %s after the answer", resource), "open",
			"ended");
	}
}

/* A body: the plugin starts without a kubelet, in the state of the row's param, and must register when one
 * starts. */
void registration_before_kubelet(struct check_run *run)
{
	static const char content[] = "not a socket\n";
	enum restart_absence absence = *(const enum restart_absence *)check_row(run)->param;
	struct rig *rig = rig_with_kubelet(run);
	struct error err = {0};
	if (rig == NULL)
		return;
	const char *directory = kubelet_plugin_dir(rig->kubelet);
	const char *socket = kubelet_socket(rig->kubelet);
	rig->supervised = true;
	kubelet_stop(rig->kubelet);
	int rc = 0;
	if (absence == RESTART_OTHER_FILE)
		rc = file_write_atomic(socket, content, sizeof(content) - 1, 0600, &err);
	if (absence == RESTART_NO_DIRECTORY)
		rc = file_remove_tree(directory, &err);
	if (!check_works(run, rc, "fake kubelet", &err) || !rig_start_plugin(rig))
		return;
	rig_expect_idle(rig, ABSENT_MS, ABSENT_THOROUGH_MS, "before the kubelet came");
	if (!expect_no_crash(rig, "before the kubelet came"))
		return;
	if (absence == RESTART_OTHER_FILE) {
		if (!check_expect_is(run, file_exists(socket), "the file at kubelet.sock",
				     "left alone", "removed") ||
		    !check_works(run, file_remove_tree(socket, &err), "fake kubelet", &err))
			return;
	}
	if (rig_start_kubelet(rig) && restart_expect_registered(rig))
		(void)rig_expect_listed(rig);
}

/* A body: the plugin must register next to the file that the row names, and not touch it. */
void registration_beside_file(struct check_run *run)
{
	const char *name = check_row(run)->param;
	struct rig *rig = rig_with_kubelet(run);
	struct error err = {0};
	if (rig == NULL)
		return;
	char *path CLEANUP_FREE = path_join(kubelet_plugin_dir(rig->kubelet), name);
	if (!check_works(run, file_write_atomic(path, "", 0, 0600, &err), "fake kubelet", &err) ||
	    !rig_start_plugin(rig))
		return;
	/* The upstream stub still does this. */
	if (check_row(run)->requirement == CHECK_REG_17 && rig_settle(rig, &err) < 0 &&
	    kubelet_registration_count(rig->kubelet) == 0 && !process_has_ended(rig->plugin))
		check_note(run,
			   "the plugin does not register while there is a file %s, which no "
			   "kubelet writes any more",
			   name);
	else if (!rig_expect_registered(rig))
		return;
	(void)check_expect_is(run, file_exists(path), check_format(run, "the file %s", name),
			      "left alone", "removed");
}

static bool is_known(void *user)
{
	const struct rig *rig = user;
	registration_each (r, rig->kubelet, 0) {
		if (!r->by_watcher)
			return true;
	}
	return rig_is_notified(user);
}

/* Waits for the first notification. False: recorded. */
static bool expect_notified(struct rig *rig)
{
	struct error err = {0};
	int rc = rig_wait(rig, is_known, rig, rig_wait_ms(rig, CHECK_REG_01),
			  "a plugin in plugins_registry", &err);
	if (rc == 0 && !rig_is_notified(rig)) {
		check_not_applicable(rig->run, "the plugin calls Register instead");
		return false;
	}
	return rig_expect_ok(rig, rc, "a plugin in plugins_registry", &err);
}

void registration_in_registry(struct check_run *run)
{
	struct rig *rig = rig_with_kubelet(run);
	if (rig != NULL && rig_start_plugin(rig) && expect_notified(rig))
		(void)check_expect_is(run, rig->registry.problem == NULL,
				      "GetInfo and NotifyRegistrationStatus", "answered",
				      rig->registry.problem);
}

void registration_notified_refusal(struct check_run *run)
{
	static const char refusal[] = "refused by the test";
	struct rig *rig = rig_with_kubelet(run);
	if (rig == NULL)
		return;
	rig->supervised = true;
	if (!rig_set_fault(rig, check_format(run, "watcher-status=UNKNOWN:%s*1", refusal)) ||
	    !rig_start_plugin(rig) || !expect_notified(rig))
		return;
	/* The next attempt may succeed at any time. */
	char *problem CLEANUP_FREE = STEAL(rig->registry.problem);
	(void)rig_watch(rig, SETTLED_MS, SETTLED_MS);
	if (!expect_no_crash(rig, "when it was notified of a refusal"))
		return;
	const char *got = problem != NULL ? problem : "never called";
	if (check_expect_is(run, strstr(got, refusal) != NULL,
			    "NotifyRegistrationStatus with the error", "answered", got) &&
	    restart_expect_registered(rig))
		(void)rig_expect_listed(rig);
}
