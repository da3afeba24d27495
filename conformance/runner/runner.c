/* SPDX-License-Identifier: MIT */
#include "conformance/runner/runner_internal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/style.h"
#include "conformance/kubelet/plugin_directory.h"
#include "conformance/runner/execution.h"
#include "conformance/runner/output.h"
#include "conformance/runner/plugin_command.h"
#include "containers/offers.h"
#include "reports/render.h"
#include "reports/writer.h"
#include "rpc/loop.h"
#include "rpc/socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	DRAIN_MS = 10000,
	HURRY_MS = 2000, /* for a runtime that hangs, when the run is asked to end */
};

static void runner_asked_to_end(const char *what, void *user)
{
	struct runner *runner = user;

	(void)what;
	runner->interrupted = true;
	if (runner->workplace.runtime != NULL && runtime_cri(runner->workplace.runtime) != NULL)
		cri_hurry(runtime_cri(runner->workplace.runtime), HURRY_MS);
}

static bool runner_is_wine(const struct runner *runner)
{
	return text_equal(runner->settings->node_file, RUNNER_WINE_NODE);
}

static int runner_discover(struct runner *runner, const char *recorded,
			   const struct wine_node *wine, struct error *err)
{
	struct discovery_options options = {
		.recorded_node = recorded,
		.filter = {.include_integrated = true, .include_detachable = true},
	};
	int rc = discovery_take(&options, &runner->node, err);

	if (rc < 0)
		return error_wrap(err, rc, "devices of the node");
	return environment_open(&runner->environment, &runner->loop, runner->node, wine, err);
}

/* Discovery runs under Wine and writes a recorded node; what it says is the truth of the run. */
static int runner_discover_wine(struct runner *runner, struct error *err)
{
	const struct wine_node *wine = &runner->workplace.wine;
	char *path CLEANUP_FREE = path_join(wine->directory, "node.json");
	int rc = path != NULL ? wine_node_record(wine, path, err) : error_memory(err);

	return rc == 0 ? runner_discover(runner, path, wine, err) : rc;
}

static void runner_make_id(char *out, size_t size)
{
	char now[CLOCK_UTC_SIZE] = "";

	(void)clock_utc(now);
	(void)snprintf(out, size, "%.4s%.2s%.2sT%.2s%.2s%.2sZ-%04x", now, now + 5, now + 8,
		       now + 11, now + 14, now + 17,
		       (unsigned)(clock_monotonic_ns() ^ (uint64_t)uv_os_getpid()) & 0xffffU);
}

static void runner_fill_context(struct runner *runner)
{
	const struct runner_settings *settings = runner->settings;
	const struct runtime_description *runtime =
		runner->workplace.runtime != NULL ? runtime_describe(runner->workplace.runtime)
						  : NULL;

	runner->context = (struct context){
		.run_id = runtime != NULL ? runtime->run_id : runner->id,
		.run_directory = runner->workplace.run_directory,
		.out_directory = settings->out_directory,
		.plugin_command = runner->plugin_command != NULL ? runner->plugin_command
								 : settings->plugin_command,
		.reference_plugin = runner->plugin_command != NULL,
		.hidden_directory = settings->hidden_directory,
		.attach_directory = settings->attach_directory,
		.resource = settings->resource,
		.kubelet_profile = settings->kubelet_profile,
		.launcher = runner->workplace.launcher,
		.launcher_missing = runner->workplace.missing,
		.cri_address = runtime != NULL ? runtime->address : "",
		.runtime_handler = settings->runtime_handler,
		.cgroup_parent = runtime != NULL ? runtime->cgroup_parent : "",
		.probe_image = runtime != NULL ? runner->workplace.images.probe.reference : "",
		.image = runner->workplace.images.probe.manifest,
		.node_file = runner_is_wine(runner) ? NULL : settings->node_file,
		.wine_directory = runner->workplace.wine.directory,
		.thorough = settings->thorough,
		.timeout_percent = settings->timeout_percent,
		.node = runner->node,
	};
}

/* What the harness itself printed, when a check's process died: it belongs to the evidence. */
static int runner_keep_output(struct runner *runner, const char *check,
			      const struct execution *execution, struct error *err)
{
	if (execution->err.size == 0)
		return 0;
	return journal_add_event(runner->journal, check, "check-stderr",
				 text_string(&execution->err), err);
}

static int runner_end_check(struct runner *runner, const struct plan_item *item,
			    const struct execution *execution, struct error *err)
{
	struct journal_check_end end = {
		.check = item->name,
		.attempt = 1,
		.outcome = execution->outcome,
		.reason = execution->reason,
		.duration_ms = execution->duration_ms,
		.watched_ms = execution->result.watched_ms,
		.watched_thorough_ms = execution->result.watched_thorough_ms,
		.assertions = execution->result.assertions,
		.notes = execution->result.notes,
		.evidence = execution->result.evidence,
		.devices = execution->result.devices,
	};

	for (size_t i = 0; i < REPORT_PHASE_COUNT; i++)
		end.phases_ms[i] = execution->result.time_ns[i] / 1000000;
	int rc = journal_end_check(runner->journal, &end, err);

	return rc == 0 ? runner_journal_plugin(runner, err) : rc;
}

/* Containers that a check left behind: the check is broken, and the next one starts clean. */
static int runner_sweep(struct runner *runner, const struct plan_item *item,
			struct execution *execution, struct error *err)
{
	size_t found = 0;

	if (runner->workplace.runtime == NULL ||
	    !(item->check->needs.containers || item->check->needs.launcher))
		return 0;
	int rc = cri_sweep(runtime_cri(runner->workplace.runtime), runner->context.run_id,
			   item->name, &found, err);

	if (rc < 0) {
		struct error lost = *err;

		free(execution->reason);
		execution->outcome = REPORT_BROKEN;
		execution->reason = text_format("containers cannot be looked after: %s", lost.text);
		if (execution->reason != NULL)
			(void)runner_end_check(runner, item, execution, NULL);
		return error_wrap(err, rc, "containers that %s left behind", item->name);
	}
	if (found == 0 || execution->outcome != REPORT_PASS)
		return 0;
	free(execution->reason);
	execution->outcome = REPORT_BROKEN;
	execution->reason = strdup("the check left containers behind");
	return execution->reason != NULL ? 0 : error_memory(err);
}

/* A check that was killed could not put back what it had moved aside for the attached plugin. */
static int runner_restore_directory(struct runner *runner, const char *check, struct error *err)
{
	const char *directory = runner->settings->attach_directory;
	bool restored = false;
	int rc = 0;

	if (directory == NULL)
		return 0;
	rc = plugin_directory_restore(directory, &restored, err);
	if (rc == 0 && restored)
		rc = journal_add_event(runner->journal, check, "restored", directory, err);
	return rc;
}

/* What a plugin left may resist. It stays then, for the end of the run to try again, and is told.
 */
static int runner_remove_directory(struct runner *runner, const char *check, const char *directory,
				   struct error *err)
{
	struct error why = {0};
	size_t undone = 0;
	int removed = runtime_remove_directory(directory, &undone, &why);
	int rc = 0;

	if (undone != 0)
		rc = journal_add_event(runner->journal, check, "mounts-undone",
				       "the check left mounts in its directory", err);
	return rc == 0 && removed < 0
		       ? journal_add_event(runner->journal, check, "left-behind", why.text, err)
		       : rc;
}

static void runner_on_plugin(const char *resource, int pid, void *user)
{
	/* Out of memory: the report knows less of the plugin, and the verdict does not depend on
	 * it. */
	(void)runner_learn_plugin(user, resource, pid, NULL);
}

static int runner_run_check(struct runner *runner, size_t index, struct error *err)
{
	struct plan_item *item = &runner->plan.items[index];
	struct execution execution CLEANUP_EXECUTION = {0};
	char *directory CLEANUP_FREE = text_format("%s/%zu", runner->context.run_directory, index);
	struct execution_spec spec = {
		.loop = &runner->loop,
		.program = runner->program,
		.context = &runner->context,
		.item = item,
		.directory = directory,
		.interrupted = &runner->interrupted,
		.on_plugin = runner_on_plugin,
		.user = runner,
	};
	int rc =
		directory != NULL ? file_make_directories(directory, 0700, err) : error_memory(err);

	progress_begin(runner->progress, item->name);
	if (rc == 0)
		rc = journal_begin_check(
			runner->journal, item->name, 1,
			context_wait_ms(&runner->context, (uint64_t)item->check->timeout_s * 1000),
			err);
	rc = rc == 0 ? execution_run(&spec, &execution, err) : rc;
	rc = rc == 0 ? runner_restore_directory(runner, item->name, err) : rc;
	rc = rc == 0 ? runner_sweep(runner, item, &execution, err) : rc;
	rc = rc == 0 ? runner_keep_output(runner, item->name, &execution, err) : rc;
	rc = rc == 0 ? runner_end_check(runner, item, &execution, err) : rc;
	if (rc == 0) {
		progress_end(runner->progress, item->name, execution.outcome, execution.reason,
			     execution.duration_ms);
		rc = runner_remove_directory(runner, item->name, directory, err);
		item->outcome = execution.outcome;
	}
	return rc;
}

/* The check cannot tell anything of its own: what it stands on did not pass. */
static int runner_hold_check(struct runner *runner, const char *check,
			     const struct plan_item *cause, struct error *err)
{
	static const char *const verbs[REPORT_OUTCOME_COUNT] = {
		[REPORT_FAIL] = "failed",
		[REPORT_CRASH] = "crashed",
		[REPORT_TIMEOUT] = "timed out",
		[REPORT_BROKEN] = "was broken",
	};
	char *reason CLEANUP_FREE = text_format("%s %s", cause->name, verbs[cause->outcome]);

	if (reason == NULL)
		return error_memory(err);
	progress_end(runner->progress, check, REPORT_NOTRUN, reason, 0);
	return journal_hold_check(runner->journal, check, cause->name, reason, err);
}

/* Runs the check, unless something that it needs or stands on is missing. */
static int runner_take_check(struct runner *runner, size_t index, struct error *err)
{
	const struct plan_item *item = &runner->plan.items[index];
	const struct plan_item *cause = plan_cause(&runner->plan, runner->suites, index);

	if (item->outcome != REPORT_PASS) {
		progress_end(runner->progress, item->name, item->outcome, item->reason, 0);
		return 0;
	}
	if (cause != NULL)
		return runner_hold_check(runner, item->name, cause, err);
	return runner_run_check(runner, index, err);
}

static int runner_run_checks(struct runner *runner, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < runner->plan.count && !runner->interrupted; i++) {
		rc = runner_take_check(runner, i, err);
		if (report_outcome_is_bad(runner->plan.items[i].outcome) &&
		    runner->settings->fail_fast)
			break;
	}
	if (rc == 0 && runner->interrupted)
		rc = journal_abort(runner->journal, REPORT_ABORT_INTERRUPTED,
				   "interrupted: the run was asked to end", err);
	return rc;
}

static void runner_print_plan(const struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_item *item = &plan->items[i];

		bool runs = item->outcome == REPORT_PASS;

		(void)printf("%-15s %s%s%s\n", runs ? "run" : report_outcome_name(item->outcome),
			     item->name, runs ? "" : ": ", runs ? "" : item->reason);
	}
}

/* Renders the report and prints its summary; the exit code is the report's. */
static int runner_report(struct runner *runner, int *exit_code, struct error *err)
{
	struct report_options options = {.reproducible = runner->settings->reproducible};
	struct writer_options summary_options = {
		.color = style_enabled(STDOUT_FILENO),
		.columns = isatty(STDOUT_FILENO) == 1 ? style_columns(STDOUT_FILENO) : 0,
		.location = runner->settings->out_directory,
	};
	const struct writer *summary = NULL;
	cJSON *report CLEANUP_JSON = NULL;
	char *text CLEANUP_FREE = NULL;
	const char *directory = runner->settings->out_directory;
	int rc = report_read_directory(directory, &options, &report, err);

	if (rc == 0)
		rc = report_write_directory(directory, report, err);
	if (rc == 0)
		rc = writer_find("summary", &summary, err);
	if (rc == 0)
		rc = writer_print(summary, report, &summary_options, &text, err);
	if (rc < 0)
		return rc;
	if (!runner->settings->quiet && (fputs(text, stdout) == EOF || fflush(stdout) != 0))
		log_error("the report is in %s; its summary cannot be printed: %s",
			  runner->settings->out_directory, strerror(errno));
	*exit_code = report_exit_code(report);
	return 0;
}

/* What the run consists of and runs in, and then the checks. */
static int runner_record(struct runner *runner, struct error *err)
{
	int rc = runner_journal_environment(runner, err);

	rc = rc == 0 ? runner_journal_plan(runner, err) : rc;
	rc = rc == 0 ? progress_open(&runner->loop, runner->plan.count, runner->settings->quiet,
				     runner->settings->verbose, &runner->progress, err)
		     : rc;
	rc = rc == 0 ? runner_run_checks(runner, err) : rc;
	progress_close(runner->progress);
	runner->progress = NULL;
	return rc;
}

/* Is the plugin under test the project's own? */
static bool runner_has_own_plugin(const struct runner *runner)
{
	return runner->settings->plugin_command == NULL &&
	       runner->settings->attach_directory == NULL;
}

/* What can be wrong about the request itself is told before anything is written or started. */
static int runner_prepare(struct runner *runner, struct error *err)
{
	const struct runner_settings *settings = runner->settings;
	bool wine = runner_is_wine(runner); /* whose devices and plugin need a workplace first */
	int rc = path_of_program(&runner->program, err);

	rc = rc == 0 && !wine ? runner_discover(runner, settings->node_file, NULL, err) : rc;
	if (rc == 0 && !wine && runner_has_own_plugin(runner))
		rc = plugin_command_reference(runner->node, settings->node_file,
					      &runner->plugin_command, err);
	rc = rc == 0 ? plan_make(runner->suites, &settings->filter, NULL, &runner->plan, err) : rc;
	plan_free(&runner->plan);
	if (rc == 0 && !settings->dry_run) {
		rc = output_open(settings->out_directory, &runner->output_lock, err);
		rc = rc == 0 ? runner_open_journal(runner, err) : rc;
	}
	return rc;
}

/* A recorded node has no devices to give to a probe. */
static const char *runner_launcher(const struct runner *runner)
{
	const struct runner_settings *settings = runner->settings;
	bool recorded = settings->node_file != NULL && !runner_is_wine(runner);

	return settings->launcher == NULL && settings->cri_address == NULL && recorded
		       ? "none"
		       : settings->launcher;
}

static int runner_open_workplace(struct runner *runner, struct error *err)
{
	const struct runner_settings *settings = runner->settings;
	const struct workplace_options options = {
		.launcher = runner_launcher(runner),
		.cri_address = settings->cri_address,
		.image = settings->image,
		.wine = runner_is_wine(runner),
		.windows_programs = settings->windows_programs,
	};
	int rc = workplace_open(&runner->loop, &options, &runner->workplace, err);

	if (OFFERS_WINE_NODE && rc == 0 && options.wine)
		rc = runner_discover_wine(runner, err);
	if (rc == 0 && options.wine && runner_has_own_plugin(runner))
		rc = plugin_command_wine(&runner->workplace.wine, &runner->plugin_command, err);
	if (rc < 0)
		return rc;
	runner_fill_context(runner);
	rc = context_write(&runner->context, err);
	return rc == 0 ? plan_make(runner->suites, &settings->filter, &runner->context,
				   &runner->plan, err)
		       : rc;
}

static void runner_close(struct runner *runner)
{
	journal_close(runner->journal);
	environment_close(&runner->environment);
	plan_free(&runner->plan);
	discovery_free(runner->node);
	free(runner->program);
	free(runner->plugin_command);
	termination_close(runner->termination);
	(void)loop_drain(&runner->loop, DRAIN_MS, NULL);
	cleanup_fd_(&runner->output_lock);
}

/* Stops the workplace and writes the journal's last records. */
static int runner_finish(struct runner *runner, struct error *err)
{
	struct error reason = {0};
	uint64_t start = clock_monotonic_ms();
	int stopped = workplace_close(&runner->workplace, &reason);
	int rc = 0;

	if (runner->journal == NULL)
		return stopped < 0 ? error_copy(err, &reason) : 0;
	rc = journal_add_phase(runner->journal, REPORT_PHASE_CLEANUP, "container runtime stopped",
			       clock_monotonic_ms() - start, err);
	if (stopped < 0)
		log_warning("left behind: %s", reason.text);
	if (rc == 0 && stopped < 0)
		rc = journal_add_event(runner->journal, NULL, "left-behind", reason.text, err);
	return rc == 0 ? journal_end(runner->journal, err) : rc;
}

/* What happened so far is kept: a run that breaks has a journal and a report that say why. */
static int runner_give_up(struct runner *runner, const struct error *failure, struct error *err)
{
	static const struct report_options plain;
	const char *directory = runner->settings->out_directory;
	cJSON *report CLEANUP_JSON = NULL;

	if (runner->journal != NULL)
		(void)journal_abort(runner->journal, REPORT_ABORT_BROKEN, failure->text, NULL);
	(void)runner_finish(runner, NULL);
	if (runner->journal != NULL && report_read_directory(directory, &plain, &report, NULL) == 0)
		(void)report_write_directory(directory, report, NULL);
	return error_copy(err, failure);
}

/* The run proper, with its journal from the first record to the last. */
static int runner_work(struct runner *runner, int *exit_code, struct error *err)
{
	struct error failure = {0};
	int rc = runner_open_workplace(runner, &failure);

	if (rc == 0 && runner->settings->dry_run) {
		runner_print_plan(&runner->plan);
		*exit_code = REPORT_EXIT_EXPECTED;
		return workplace_close(&runner->workplace, err);
	}
	rc = rc == 0 ? runner_record(runner, &failure) : rc;
	if (rc < 0)
		return runner_give_up(runner, &failure, err);
	rc = runner_finish(runner, err);
	return rc == 0 ? runner_report(runner, exit_code, err) : rc;
}

int runner_run(const struct runner_settings *settings, const struct check_suite *const *suites,
	       int *exit_code, struct error *err)
{
	struct runner runner = {.settings = settings, .suites = suites, .output_lock = -1};
	int rc = loop_open(&runner.loop, err);

	if (rc < 0)
		return rc;
	socket_ignore_sigpipe(); /* whoever reads our output may go: the report is still written */
	runner_make_id(runner.id, sizeof(runner.id));
	rc = termination_open(&runner.loop, runner_asked_to_end, &runner, &runner.termination, err);
	rc = rc == 0 ? runner_prepare(&runner, err) : rc;
	rc = rc == 0 ? runner_work(&runner, exit_code, err) : rc;
	runner_close(&runner);
	return rc;
}
