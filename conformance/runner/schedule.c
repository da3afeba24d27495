/* SPDX-License-Identifier: MIT */
/* Runs the plan's checks, each in its own process: one at a time, or several where they do not disturb each other. */
#include "conformance/runner/runner_internal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "conformance/kubelet/plugin_directory.h"
#include "conformance/runner/execution.h"
#include "conformance/runner/keep.h"
#include "conformance/subject/plugin_process.h"
#include "containers/runtime/identity.h"
#include "rpc/loop.h"

#include <stdio.h>
#include <string.h>

enum { PULSE_MS = 1000 };

/* A check that runs. */
struct job {
	struct plan_item *item; /* NULL: this place is free */
	struct execution execution;
	char *directory;
	bool was_kept;
	struct keep *keep; /* it waits until somebody has looked at it */
};

struct schedule {
	struct runner *runner;
	struct job *jobs;
	size_t count; /* places */
	size_t running;
	uint64_t end_ms; /* of the run, by clock_monotonic_ms(); 0: no limit */
};

static int end_check(struct runner *runner, const struct check *check,
		     const struct execution *execution, struct error *err)
{
	struct journal_check_end end = {
		.check = check->id,
		.outcome = execution->outcome,
		.reason = execution->reason,
		.duration_ms = execution->duration_ms,
		.watched_ms = execution->result.watched_ms,
		.watched_thorough_ms = execution->result.watched_thorough_ms,
		.advice = execution->result.advice,
	};
	for (size_t i = 0; i < REPORT_PHASE_COUNT; i++)
		end.phases_ms[i] = execution->result.time_ns[i] / 1000000;
	int rc = journal_end_check(runner->journal, &end, err);
	return rc == 0 ? runner_journal_plugin(runner, err) : rc;
}

/* On failure the report says less about the plugin; no verdict depends on that. */
static void runner_on_plugin(const char *resource, int pid, void *user)
{
	struct runner *runner = user;
	runner->plugin_pid = pid;
	(void)plugin_identity_add(&runner->environment.plugin, resource, pid,
				  runner->environment.digests, &runner->plugin_news, NULL);
}

/* Its containers share the node's devices, and the kernel's log, with those of other checks. */
static bool launches(const struct check *check)
{
	return check->needs.launcher || check->needs.containers;
}

/* A check that was killed could not restore the devices that it had made to fail. */
static int restore_devices(struct runner *runner, const struct check *check,
			   const struct execution *execution, struct error *err)
{
	const char *command = runner->context.restore_device;
	int rc = 0;
	text_each (device, &execution->result.failing) {
		struct error why = {0};
		const bool works =
			command != NULL && device_command_run(command, device, &why) == 0;
		if (rc == 0)
			rc = journal_add_event(runner->journal, check->id,
					       works ? "restored" : "left-behind",
					       works ? device : why.text, err);
	}
	return rc;
}

/* Ends the check in the journal, after cleaning up what it left behind. */
static int conclude(struct runner *runner, const struct check *check, struct execution *execution,
		    struct error *err)
{
	const char *attached = runner->settings->asked.attach_directory;
	const struct expectation *row = NULL;
	struct report_known known = {0};
	size_t found = 0;
	bool restored = false;
	int rc = 0;

	/* A check that was killed could not put back the files that it had moved for the attached plugin. */
	if (attached != NULL)
		rc = plugin_directory_restore(attached, &restored, err);
	if (rc == 0 && restored)
		rc = journal_add_event(runner->journal, check->id, "restored", attached, err);
	int undone = restore_devices(runner, check, execution, rc == 0 ? err : NULL);
	rc = rc == 0 ? undone : rc;
	/* Containers that a check left behind: the check is broken, and the next one starts clean. */
	if (rc == 0 && runner->workplace.runtime != NULL && launches(check)) {
		rc = cri_sweep(runtime_cri(runner->workplace.runtime), runner->context.run_id,
			       check->id, &found, err);
		if (rc < 0) {
			execution_set(
				execution, REPORT_BROKEN,
				text_format("containers cannot be looked after: %s", err->text));
			(void)end_check(runner, check, execution, NULL);
			return error_wrap(err, rc, "containers that %s left behind", check->id);
		}
		if (found != 0 && execution->outcome == REPORT_PASS)
			execution_set(execution, REPORT_BROKEN,
				      memory_copy("the check left containers behind"));
	}
	/* The harness' own messages are evidence when a check's process died. */
	if (rc == 0 && execution->err.size != 0)
		rc = journal_add_event(runner->journal, check->id, "check-stderr",
				       text_string(&execution->err), err);
	if (rc == 0)
		rc = end_check(runner, check, execution, err);
	if (rc < 0)
		return rc;

	/* Notes a failure that --expect does not know. More flaky checks than the budget allows are unexpected. */
	rc = expectations_find(&runner->expectations, check->id, check->revision, runner->described,
			       &row, err);
	if (rc < 0 || !report_outcome_is_bad(execution->outcome))
		return rc;

	if (row != NULL)
		known = expectation_known(row);
	known.may = requirement_get(check->requirement)->level == CHECK_MAY;
	if (known.flaky && !known.may && report_is_known(&known, execution->reason))
		runner->flakes++;
	if (runner->flakes > runner->expectations.flake_budget ||
	    report_disposition_known(execution->outcome, execution->reason, &known) ==
		    REPORT_UNEXPECTED_FAIL)
		runner->unexpected = true;
	return 0;
}

/* Must it run alone? An attached plugin exists once, and others need what the first check learns of the plugin. Calls
 * of another vendor's plugin may reset the devices that a container uses; those of the project's own do not. Under Wine
 * all programs share one server, which is slow. */
static bool is_alone(const struct schedule *schedule, const struct check *check)
{
	const struct context *context = &schedule->runner->context;
	return schedule->count == 1 || check->depends_on == NULL || check->last ||
	       check->needs.failing_device ||
	       schedule->runner->settings->asked.attach_directory != NULL ||
	       (launches(check) && (!context->reference_plugin || context->wine_directory != NULL));
}

/* The item that begins next; NULL: none can before another one ends. Items that can run next to others go first, and
 * among these the ones that launch, which take longest, or else the item that the next of those waits for. */
static struct plan_item *next_item(const struct schedule *schedule)
{
	struct plan *plan = &schedule->runner->plan;
	struct plan_item *first = NULL;
	struct plan_item *urgent = NULL;
	bool launched = false;
	if (schedule->running == schedule->count)
		return NULL;
	for (size_t i = 0; i < schedule->count; i++) {
		const struct plan_item *running = schedule->jobs[i].item;
		if (running != NULL && is_alone(schedule, running->check))
			return NULL;
		launched = launched || (running != NULL && launches(running->check));
	}
	for (size_t i = 0; i < plan->count && (first == NULL || !launched); i++) {
		struct plan_item *item = &plan->items[i];
		const bool may_launch = launches(item->check) && !launched;
		if (item->begun)
			continue;
		if (item->outcome != REPORT_PASS)
			return item;
		const bool alone = is_alone(schedule, item->check);
		if (alone && first == NULL && schedule->running == 0)
			return item;
		if (alone)
			continue;
		struct plan_item *awaited =
			plan_awaited(plan, schedule->runner->suites, item->check);
		if (may_launch && awaited == NULL)
			return item;
		if (may_launch && urgent == NULL && !awaited->begun &&
		    !is_alone(schedule, awaited->check) && !launches(awaited->check))
			urgent = awaited;
		if (first == NULL && awaited == NULL && !launches(item->check))
			first = item;
	}
	return urgent != NULL ? urgent : first;
}

static int start_check(struct schedule *schedule, struct plan_item *item, struct error *err)
{
	struct runner *runner = schedule->runner;
	const struct check *check = item->check;
	struct job *job = schedule->jobs;
	while (job->item != NULL)
		job++;

	/* The plugin sees the name, which must not show which check runs. */
	do {
		uint16_t name = 0;
		free(job->directory);
		(void)uv_random(NULL, NULL, &name, sizeof(name), 0, NULL);
		job->directory = text_format("%s/%04x", runner->context.run_directory, name);
	} while (file_exists(job->directory));
	const struct execution_spec spec = {
		.loop = &runner->loop,
		.program = runner->program,
		.context = &runner->context,
		.check = check,
		/* Only one check at a time knows whose lines they are. */
		.log = is_alone(schedule, check) || launches(check) ? runner->log : NULL,
		.journal = runner->journal,
		.directory = job->directory,
		.interrupted = &runner->interrupted,
		.on_plugin = runner_on_plugin,
		.user = runner,
		.silence_ms = (uint64_t)runner->settings->silence_limit_s * 1000,
	};

	int rc = file_make_directories(job->directory, 0700, err);
	progress_begin(runner->progress, check->id);
	if (rc == 0)
		rc = journal_begin_check(runner->journal, check->id,
					 execution_limit_ms(check, &runner->context), err);
	if (rc == 0)
		rc = execution_start(&spec, &job->execution, err);
	if (rc < 0)
		return rc;
	job->item = item;
	schedule->running++;
	return 0;
}

static void job_free(struct schedule *schedule, struct job *job)
{
	keep_close(&job->keep);
	schedule->running -= job->item != NULL ? 1 : 0;
	execution_free(&job->execution);
	free(job->directory);
	*job = (struct job){0};
}

static int end_job(struct schedule *schedule, struct job *job, struct error *err)
{
	struct runner *runner = schedule->runner;
	struct execution *execution = &job->execution;
	const struct check *check = job->item->check;
	int rc = execution_end(execution, err);
	if (rc == 0)
		rc = conclude(runner, check, execution, err);
	if (rc < 0)
		return rc;
	progress_end(runner->progress, check->id, execution->outcome, execution->reason,
		     execution->duration_ms);
	job->item->outcome = execution->outcome;
	job->item->ended = true;

	/* Remains that cannot be removed are tried again at the end of the run, and reported. */
	struct error why = {0};
	size_t undone = 0;
	int removed = runtime_remove_directory(job->directory, &undone, &why);
	if (undone != 0)
		rc = journal_add_event(runner->journal, check->id, "mounts-undone",
				       "the check left mounts in its directory", err);
	if (rc == 0 && removed < 0)
		rc = journal_add_event(runner->journal, check->id, "left-behind", why.text, err);
	job_free(schedule, job);
	return rc;
}

/* A check that waits at a failure is shown, unless the failure is a known one. */
static int show_kept(struct runner *runner, struct job *job, struct error *err)
{
	const struct expectation *row = NULL;
	if (job->was_kept || !job->execution.result.kept)
		return 0;
	job->was_kept = true;
	int rc = expectations_find(&runner->expectations, job->item->check->id,
				   job->item->check->revision, runner->described, &row, err);
	if (rc == 0 && row != NULL)
		keep_release(&job->execution);
	else if (rc == 0)
		job->keep = keep_open(&job->execution, runner->plugin_pid);
	return rc;
}

/* Waits until at least one check has ended, and concludes those that have. */
static int wait_for_one(struct schedule *schedule, struct error *err)
{
	const size_t before = schedule->running;
	int rc = 0;
	while (rc == 0 && schedule->running == before) {
		for (size_t i = 0; rc == 0 && i < schedule->count; i++) {
			struct job *job = &schedule->jobs[i];
			if (job->item == NULL)
				continue;
			rc = show_kept(schedule->runner, job, err);
			if (rc == 0 && execution_has_ended(&job->execution))
				rc = end_job(schedule, job, err);
		}
		if (rc == 0 && schedule->running == before)
			(void)uv_run(&schedule->runner->loop, UV_RUN_ONCE);
	}
	return rc;
}

/* Begins to run the item, or records why it does not run. */
static int begin_item(struct schedule *schedule, struct plan_item *item, struct error *err)
{
	static const char *const verbs[REPORT_OUTCOME_COUNT] = {
		[REPORT_FAIL] = "failed",
		[REPORT_CRASH] = "crashed",
		[REPORT_TIMEOUT] = "timed out",
		[REPORT_BROKEN] = "was broken",
	};
	struct runner *runner = schedule->runner;
	const char *id = item->check->id;

	item->begun = true;
	if (item->outcome != REPORT_PASS) {
		item->ended = true;
		progress_end(runner->progress, id, item->outcome, item->reason, 0);
		return 0;
	}
	const struct plan_item *cause =
		plan_cause(&runner->plan, runner->suites, (size_t)(item - runner->plan.items));
	if (cause == NULL)
		return start_check(schedule, item, err);
	item->ended = true;
	char *reason CLEANUP_FREE = text_format("%s %s", cause->check->id, verbs[cause->outcome]);
	progress_end(runner->progress, id, REPORT_NOTRUN, reason, 0);
	return journal_hold_check(runner->journal, id, cause->check->id, reason, err);
}

/* Wakes the loop, for limits that no event announces. */
static void on_pulse(void *user)
{
	struct schedule *schedule = user;
	if (schedule->end_ms != 0 && clock_monotonic_ms() >= schedule->end_ms)
		schedule->runner->interrupted = true;
}

int schedule_run(struct runner *runner, struct error *err)
{
	const struct runner_settings *settings = runner->settings;
	struct schedule schedule = {
		.runner = runner,
		.count = (size_t)settings->jobs,
		.jobs = memory_allocate((size_t)settings->jobs, sizeof(*schedule.jobs)),
	};
	struct timer *pulse = NULL;
	int rc = 0;

	if (settings->time_limit_s != 0)
		schedule.end_ms = runner->started_ms + (uint64_t)settings->time_limit_s * 1000;
	rc = timer_start(&runner->loop, 0, PULSE_MS, on_pulse, &schedule, &pulse, err);
	while (rc == 0) {
		const bool stops =
			runner->interrupted || (runner->unexpected && settings->fail_fast);
		struct plan_item *item = stops ? NULL : next_item(&schedule);
		if (item == NULL && schedule.running == 0)
			break;
		rc = item != NULL ? begin_item(&schedule, item, err) : wait_for_one(&schedule, err);
	}

	for (size_t i = 0; i < schedule.count; i++)
		job_free(&schedule, &schedule.jobs[i]);
	/* After an error nobody concluded the checks that ran. */
	if (rc < 0 && settings->asked.attach_directory != NULL)
		(void)plugin_directory_restore(settings->asked.attach_directory, NULL, NULL);
	free(schedule.jobs);
	timer_cancel(&pulse);
	if (rc == 0 && runner->interrupted && schedule.end_ms != 0 &&
	    clock_monotonic_ms() >= schedule.end_ms)
		return journal_abort(runner->journal, REPORT_ABORT_INTERRUPTED,
				     "the run took longer than --time-limit allows", err);
	if (rc == 0 && runner->interrupted)
		rc = journal_abort(runner->journal, REPORT_ABORT_INTERRUPTED,
				   "interrupted: the run was asked to end", err);
	return rc;
}
