/* SPDX-License-Identifier: MIT */
#include "conformance/runner/runner_internal.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/path.h"
#include "conformance/runner/environment.h"
#include "conformance/runner/revision.h"

#include <stdlib.h>

/* Digest of the table of checks: two reports with the same one were judged by the same rules. */
static void runner_digest_table(const struct check_suite *const *suites, char out[DIGEST_SIZE])
{
	struct text table CLEANUP_TEXT = {0};

	for (; *suites != NULL; suites++) {
		for (const struct check *check = (*suites)->checks; check->id != NULL; check++)
			text_addf(&table, "%s %u %d\n", check->id, check->revision,
				  (int)check->requirement);
	}
	digest_bytes(text_string(&table), table.size, out);
}

int runner_open_journal(struct runner *runner, struct error *err)
{
	char table[DIGEST_SIZE] = "";
	char *path CLEANUP_FREE = path_join(runner->settings->out_directory, JOURNAL_FILE_NAME);
	struct journal_run run = {
		.id = runner->id,
		.commit = GPUCERT_REVISION,
		.table_digest = table,
		.argv = runner->settings->argv,
		.timeout_percent = (unsigned)runner->settings->timeout_percent,
		.min_run = (unsigned)runner->settings->min_run,
		.conformance_required = runner->settings->conformance_required,
	};

	if (path == NULL)
		return error_memory(err);
	runner_digest_table(runner->suites, table);
	return journal_create(path, &run, &runner->journal, err);
}

int runner_journal_environment(struct runner *runner, struct error *err)
{
	cJSON *environment CLEANUP_JSON = NULL;
	int rc = environment_describe(&runner->context, &runner->workplace, &environment, err);

	if (rc == 0)
		rc = journal_add_environment(runner->journal, environment, err);
	if (rc == 0 && runner->workplace.runtime_ms != 0)
		rc = journal_add_phase(runner->journal, REPORT_PHASE_CRI,
				       "container runtime started", runner->workplace.runtime_ms,
				       err);
	if (rc == 0 && runner->workplace.image_ms != 0)
		rc = journal_add_phase(runner->journal, REPORT_PHASE_SETUP,
				       "probe image composed and imported",
				       runner->workplace.image_ms, err);
	if (rc == 0 && runner->workplace.recovered.directories != 0)
		rc = journal_add_event(runner->journal, NULL, "recovered",
				       "what an earlier run left behind was removed", err);
	return rc;
}

int runner_journal_plan(struct runner *runner, struct error *err)
{
	struct journal_planned_check *checks CLEANUP_FREE =
		calloc(runner->plan.count + 1, sizeof(*checks));
	struct journal_requirement requirements[CHECK_REQUIREMENT_COUNT] = {0};
	struct journal_plan plan = {
		.checks = checks,
		.check_count = runner->plan.count,
		.requirements = requirements,
		.requirement_count = CHECK_REQUIREMENT_COUNT - 1,
		.filtered_out = runner->plan.filtered_out,
	};

	if (checks == NULL)
		return error_memory(err);
	for (size_t i = 0; i < plan.requirement_count; i++) {
		const struct requirement *r = requirement_get((enum check_requirement)(i + 1));

		requirements[i] = (struct journal_requirement){r->id, check_level_name(r->level),
							       r->sentence, r->source};
	}
	for (size_t i = 0; i < runner->plan.count; i++) {
		const struct plan_item *item = &runner->plan.items[i];
		const struct requirement *r = requirement_get(item->check->requirement);

		checks[i] = (struct journal_planned_check){
			.id = item->check->id,
			.variant = item->variant != NULL ? item->variant->name : NULL,
			.revision = item->check->revision,
			.requirement = r != NULL ? r->id : NULL,
			.severity = check_severity_name(item->check->severity),
			.title = item->check->title,
			.advice = item->check->advice,
			.outcome = item->unsupported != NULL ? REPORT_UNSUPPORTED : REPORT_PASS,
			.reason = item->unsupported,
		};
	}
	return journal_add_plan(runner->journal, &plan, err);
}
