/* SPDX-License-Identifier: MIT */
#include "conformance/runner/runner_internal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/runner/execution.h"
#include "conformance/runner/facts.h"
#include "conformance/runner/output.h"
#include "conformance/runner/plugin_command.h"
#include "containers/offers.h"
#include "containers/runtime/identity.h"
#include "reports/render.h"
#include "reports/writer.h"
#include "rpc/loop.h"
#include "rpc/socket.h"

#include <stdio.h>

enum {
	DRAIN_MS = 10000,
	HURRY_MS = 2000, /* for a runtime that hangs, when the run is asked to end */
};

static void asked_to_end(const char *what, void *user)
{
	struct runner *runner = user;
	(void)what;
	runner->interrupted = true;
	if (runner->workplace.runtime != NULL && runtime_cri(runner->workplace.runtime) != NULL)
		cri_limit_waits(runtime_cri(runner->workplace.runtime), HURRY_MS);
}

static bool is_wine(const struct runner *runner)
{
	return text_equal(runner->settings->asked.node_file, RUNNER_WINE_NODE);
}

/* Is the plugin under test the project's own? */
static bool tests_reference_plugin(const struct runner *runner)
{
	return runner->settings->asked.plugin_command == NULL &&
	       runner->settings->asked.attach_directory == NULL;
}

static int discover(struct runner *runner, const char *recorded, const struct wine_node *wine,
		    struct error *err)
{
	struct discovery_options options = {
		.recorded_node = recorded,
		.filter = {.include_integrated = true, .include_detachable = true},
	};
	int rc = discovery_take(&options, &runner->node, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s",
				  recorded != NULL && wine == NULL ? "--node"
								   : "devices of the node");
	return environment_open(&runner->environment, &runner->loop, runner->node, wine, err);
}

static void fill_context(struct runner *runner)
{
	const struct workplace *workplace = &runner->workplace;
	const struct runtime_description *runtime =
		workplace->runtime != NULL ? runtime_describe(workplace->runtime) : NULL;
	struct context *context = &runner->context;
	runner->context = runner->settings->asked;
	context->out_directory = runner->output;
	context->run_id = runtime != NULL ? runtime->run_id : runner->id;
	context->run_directory = workplace->run_directory;
	context->reference_plugin = runner->plugin_command != NULL;
	if (runner->plugin_command != NULL)
		context->plugin_command = runner->plugin_command;
	context->launcher = workplace->launcher;
	context->launcher_missing = workplace->missing;
	context->cri_address = runtime != NULL ? runtime->address : "";
	context->cgroup_parent = runtime != NULL ? runtime->cgroup_parent : "";
	context->probe_image = runtime != NULL ? workplace->images.probe.reference : "";
	context->image = workplace->images.probe.manifest;
	if (is_wine(runner))
		context->node_file = NULL;
	context->wine_directory = workplace->wine.directory;
	context->cdi_directories = runner->cdi_directories;
	context->node = runner->node;
	context->held = runner->held.items;
	context->held_count = runner->held.count;
	context->redactor = runner->redactor;
}

/* The report is already on disk: a failure to print it is only logged. */
static void print_report(const struct runner *runner, const cJSON *report)
{
	const struct runner_settings *settings = runner->settings;
	const char *directory = settings->asked.out_directory;
	struct error why = {0};
	int rc = 0;
	if (settings->ci != NULL)
		rc = ci_print(settings->ci, report, directory, settings->quiet, &why);
	else if (!settings->quiet)
		rc = writer_show("summary", report, directory, &why);
	if (rc < 0)
		log_error("the report is in %s; it cannot be printed: %s", directory, why.text);
}

/* The environment and the plan, and then the checks. */
static int record(struct runner *runner, struct error *err)
{
	struct error why = {0};
	int rc = runner_journal_environment(runner, err);
	if (rc == 0)
		rc = runner_journal_plan(runner, err);
	if (rc < 0)
		return rc;

	/* Checks need not read again what the description of the environment has read. */
	if (runner->environment.digest_cache != NULL) {
		char *digests CLEANUP_FREE =
			path_join(runner->context.run_directory, CONTEXT_DIGESTS_FILE);
		(void)digest_cache_copy(runner->environment.digest_cache, digests, NULL);
	}

	const struct progress_options options = {
		.planned = runner->plan.count,
		.quiet = runner->settings->quiet,
		.verbose = runner->settings->verbose,
		.ci = runner->settings->ci,
		.redactor = runner->redactor,
	};
	runner->progress = progress_open(&runner->loop, &options);

	/* Reported once, not by each check. */
	if (!text_equal(runner->context.launcher, "none") &&
	    system_log_open("/dev/kmsg", &runner->log, &why) < 0)
		rc = journal_add_event(runner->journal, NULL, "system-log-unread", why.text, err);
	if (rc == 0)
		rc = schedule_run(runner, err);
	progress_close(runner->progress);
	runner->progress = NULL;
	return rc;
}

/* A faulty request is reported before anything is written or started. */
static int prepare(struct runner *runner, struct error *err)
{
	const struct runner_settings *settings = runner->settings;
	bool wine = is_wine(runner); /* whose devices and plugin need a workplace first */
	int rc = path_of_helper(RUN_CHECK, &runner->program, err);
	if (rc == 0 && !file_exists(runner->program))
		rc = error_set(err, ERROR_NOT_FOUND,
			       "%s: this part of gpucert is missing; install gpucert again",
			       runner->program);
	if (rc == 0 && !wine)
		rc = discover(runner, settings->asked.node_file, NULL, err);
	if (rc == 0 && !wine && tests_reference_plugin(runner))
		rc = plugin_command_reference(runner->node, settings->asked.node_file,
					      &runner->plugin_command, err);
	/* Only to refuse patterns: open_workplace() makes the plan of the run. */
	if (rc == 0)
		rc = plan_make(runner->suites, &settings->filter, NULL, &runner->plan, err);
	plan_free(&runner->plan);
	if (rc == 0)
		rc = workplace_check(&settings->workplace, err);
	if (rc == 0)
		rc = runner_open_expectations(runner, err);
	if (rc == 0)
		rc = runner_open_redactor(runner, err);
	if (rc == 0)
		rc = runner_ask_pods(runner, err);
	if (rc == 0 && settings->on_plan == NULL) {
		rc = output_open(settings->asked.out_directory, &runner->output_lock,
				 &runner->output, err);
		if (rc == 0)
			rc = runner_open_journal(runner, err);
	}
	return rc;
}

static int open_workplace(struct runner *runner, struct error *err)
{
	const struct runner_settings *settings = runner->settings;
	const struct text_list *cdi = settings->workplace.cdi_directories;
	struct workplace *workplace = &runner->workplace;
	struct workplace_options options = settings->workplace;
	options.wine = is_wine(runner);
	options.start_timeout_ms = context_wait_ms(&settings->asked, RUNTIME_START_MS);
	/* Probes cannot use the devices of a recorded node. */
	if (options.launcher == NULL && options.cri_address == NULL && !options.wine &&
	    settings->asked.node_file != NULL)
		options.launcher = "none";

	int rc = workplace_open(&runner->loop, &options, workplace, err);
	/* Discovery runs under Wine and writes a recorded node, which the run relies on. */
	if (OFFERS_WINE_NODE && rc == 0 && options.wine) {
		char *path CLEANUP_FREE = path_join(workplace->wine.directory, "node.json");
		rc = wine_node_record(&workplace->wine, path, err);
		if (rc == 0)
			rc = discover(runner, path, &workplace->wine, err);
	}
	if (rc == 0 && options.wine && tests_reference_plugin(runner))
		rc = plugin_command_wine(&workplace->wine, &runner->plugin_command, err);
	if (rc < 0)
		return rc;

	if (settings->asked.node_file == NULL) {
		for (size_t i = 0; cdi != NULL && i < cdi->count; i++)
			text_list_add(&runner->cdi_directories, cdi->items[i]);
		if (runner->cdi_directories.count == 0)
			runtime_cdi_directories(workplace->runtime, &runner->cdi_directories);
	}

	fill_context(runner);
	rc = context_write(&runner->context, err);
	if (rc == 0 && OFFERS_PREDICTIONS)
		rc = facts_write(workplace, runner->node, err);
	return rc == 0 ? plan_make(runner->suites, &settings->filter, &runner->context,
				   &runner->plan, err)
		       : rc;
}

/* Stops the workplace and writes the journal's last records. */
static int finish(struct runner *runner, struct error *err)
{
	struct error reason = {0};
	uint64_t start = clock_monotonic_ms();
	int stopped = workplace_close(&runner->workplace, &reason);
	if (runner->journal == NULL)
		return stopped < 0 ? error_copy(err, &reason) : 0;
	int rc = journal_add_phase(runner->journal, REPORT_PHASE_CLEANUP,
				   "container runtime stopped", clock_monotonic_ms() - start, err);
	if (stopped < 0)
		log_warning("left behind: %s", reason.text);
	if (rc == 0 && stopped < 0)
		rc = journal_add_event(runner->journal, NULL, "left-behind", reason.text, err);
	return rc == 0 ? journal_end(runner->journal, err) : rc;
}

/* The run itself, with its journal from the first record to the last. */
static int work(struct runner *runner, int *exit_code, struct error *err)
{
	cJSON *report CLEANUP_JSON = NULL;
	struct error failure = {0};
	int rc = open_workplace(runner, &failure);

	if (rc == 0 && runner->settings->on_plan != NULL) {
		runner->settings->on_plan(&runner->plan, &runner->context, &runner->workplace);
		*exit_code = REPORT_EXIT_EXPECTED;
		return workplace_close(&runner->workplace, err);
	}

	if (rc == 0)
		rc = record(runner, &failure);
	if (rc < 0) {
		/* A run that breaks keeps its journal, and a report that says why. */
		file_name_held(runner->output, runner->settings->asked.out_directory, &failure);
		if (runner->journal != NULL)
			(void)journal_abort(runner->journal, REPORT_ABORT_BROKEN, failure.text,
					    NULL);
		(void)finish(runner, NULL);
		if (runner->journal != NULL &&
		    report_read_directory(runner->output, &report, NULL) == 0 &&
		    report_write_directory(runner->output, report, NULL) == 0 &&
		    runner->settings->ci != NULL)
			print_report(runner, report);
		return error_copy(err, &failure);
	}

	rc = finish(runner, err);
	if (rc == 0)
		rc = report_read_directory(runner->output, &report, err);
	if (rc == 0 && runner->settings->reproducible)
		report_make_reproducible(report);
	if (rc == 0)
		rc = report_write_directory(runner->output, report, err);
	if (rc < 0)
		return rc;
	print_report(runner, report);
	*exit_code = report_exit_code(report);
	return 0;
}

int runner_run(const struct runner_settings *settings, const struct check_suite *const *suites,
	       int *exit_code, struct error *err)
{
	struct runner runner = {.settings = settings,
				.suites = suites,
				.output_lock = -1,
				.started_ms = clock_monotonic_ms()};
	char now[CLOCK_UTC_SIZE] = "";
	int rc = loop_open(&runner.loop, err);
	if (rc < 0)
		return rc;

	socket_ignore_sigpipe(); /* our reader may go away: the report is still written */
	(void)clock_utc(now);
	(void)snprintf(runner.id, sizeof(runner.id), "%.4s%.2s%.2sT%.2s%.2s%.2sZ-%04x", now,
		       now + 5, now + 8, now + 11, now + 14, now + 17,
		       (unsigned)(clock_monotonic_ns() ^ (uint64_t)uv_os_getpid()) & 0xffffU);
	rc = termination_open(&runner.loop, asked_to_end, &runner, &runner.termination, err);
	if (rc == 0)
		rc = prepare(&runner, err);
	if (rc == 0)
		rc = work(&runner, exit_code, err);
	file_name_held(runner.output, settings->asked.out_directory, err);

	journal_close(&runner.journal);
	redactor_free(&runner.redactor);
	system_log_close(&runner.log);
	environment_close(&runner.environment);
	plan_free(&runner.plan);
	expectations_free(&runner.expectations);
	cJSON_Delete(runner.described);
	discovery_free(runner.node);
	free(runner.program);
	free(runner.plugin_command);
	text_list_free(&runner.cdi_directories);
	held_devices_free(&runner.held);
	termination_close(runner.termination);
	(void)loop_drain(&runner.loop, DRAIN_MS, NULL);
	cleanup_fd_(&runner.output_lock);
	free(runner.output);
	return rc;
}
