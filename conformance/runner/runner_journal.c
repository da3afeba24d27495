/* SPDX-License-Identifier: MIT */
#include "conformance/runner/runner_internal.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/path.h"
#include "conformance/runner/revision.h"

#include <stdlib.h>

/* Digest of the table of checks: two reports with the same one were judged by the same rules. */
static int runner_digest_table(const struct check_suite *const *suites, char out[DIGEST_SIZE],
			       struct error *err)
{
	struct text table CLEANUP_TEXT = {0};

	for (; *suites != NULL; suites++) {
		for (const struct check *check = (*suites)->checks; check->id != NULL; check++)
			text_addf(&table, "%s %u %d\n", check->id, check->revision,
				  (int)check->requirement);
	}
	if (table.failed)
		return error_memory(err);
	digest_bytes(text_string(&table), table.size, out);
	return 0;
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

	int rc = path != NULL ? runner_digest_table(runner->suites, table, err) : error_memory(err);

	return rc == 0 ? journal_create(path, &run, &runner->journal, err) : rc;
}

/* What earlier runs that died had left behind, and what of it stays. */
static int runner_journal_recovery(struct runner *runner, struct error *err)
{
	const struct workplace *workplace = &runner->workplace;
	int rc = 0;

	if (workplace->recovered.directories != 0)
		rc = journal_add_event(runner->journal, NULL, "recovered",
				       "what an earlier run left behind was removed", err);
	for (size_t i = 0; rc == 0 && i < workplace->restored.count; i++) {
		log_warning("%s: what an earlier run had moved aside was put back",
			    workplace->restored.items[i]);
		rc = journal_add_event(runner->journal, NULL, "restored",
				       workplace->restored.items[i], err);
	}
	for (size_t i = 0; rc == 0 && i < workplace->resisted.count; i++) {
		log_warning("left behind by an earlier run: %s", workplace->resisted.items[i]);
		rc = journal_add_event(runner->journal, NULL, "left-behind",
				       workplace->resisted.items[i], err);
	}
	return rc;
}

int runner_journal_environment(struct runner *runner, struct error *err)
{
	cJSON *environment CLEANUP_JSON = NULL;
	int rc = environment_describe(&runner->environment, &runner->context, &runner->workplace,
				      &environment, err);

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
	return rc == 0 ? runner_journal_recovery(runner, err) : rc;
}

/* The journal's words for the requirements, with the checks of each that the plan leaves out. */
struct journal_words {
	struct journal_requirement requirements[CHECK_REQUIREMENT_COUNT];
	const char **left_out; /* of all requirements, each list NULL-ended */
};

static void journal_words_free(struct journal_words *words)
{
	free(words->left_out);
}

static int runner_list_left_out(const struct plan *plan, struct journal_words *words,
				struct error *err)
{
	size_t used = 0;

	words->left_out =
		calloc(plan->left_out_count + CHECK_REQUIREMENT_COUNT, sizeof(*words->left_out));
	if (words->left_out == NULL)
		return error_memory(err);
	for (size_t i = 0; i < CHECK_REQUIREMENT_COUNT - 1; i++) {
		struct journal_requirement *requirement = &words->requirements[i];

		requirement->left_out = &words->left_out[used];
		for (size_t k = 0; k < plan->left_out_count; k++) {
			const struct plan_item *item = &plan->left_out[k];

			if ((size_t)item->check->requirement != i + 1)
				continue;
			if (item->outcome == REPORT_NOT_APPLICABLE)
				requirement->not_applicable = item->reason;
			else
				words->left_out[used++] = item->name;
		}
		used++; /* the list's end */
	}
	return 0;
}

static struct journal_planned_check runner_planned_check(const struct plan_item *item)
{
	const struct requirement *r = requirement_get(item->check->requirement);

	return (struct journal_planned_check){
		.id = item->check->id,
		.variant = item->variant != NULL ? item->variant->name : NULL,
		.revision = item->check->revision,
		.requirement = r != NULL ? r->id : NULL,
		.severity = check_severity_name(item->check->severity),
		.title = item->check->title,
		.advice = item->check->advice,
		.outcome = item->outcome,
		.reason = item->reason,
		.unproven = item->unproven,
	};
}

int runner_learn_plugin(struct runner *runner, const char *resource, int pid, struct error *err)
{
	bool news = false;
	int rc = plugin_identity_add(&runner->environment.plugin, resource, pid,
				     runner->environment.digests, &news, err);

	runner->plugin_news = runner->plugin_news || news;
	return rc;
}

int runner_journal_plugin(struct runner *runner, struct error *err)
{
	cJSON *environment CLEANUP_JSON = cJSON_CreateObject();
	cJSON *plugin = NULL;
	int rc = environment != NULL ? 0 : error_memory(err);

	if (!runner->plugin_news)
		return 0;
	rc = rc == 0 ? environment_describe_plugin(&runner->environment, &runner->context, &plugin,
						   err)
		     : rc;
	if (rc == 0 && !cJSON_AddItemToObject(environment, "plugin", plugin)) {
		cJSON_Delete(plugin);
		rc = error_memory(err);
	}
	rc = rc == 0 ? journal_add_environment(runner->journal, environment, err) : rc;
	runner->plugin_news = rc < 0;
	return rc;
}

int runner_journal_plan(struct runner *runner, struct error *err)
{
	struct journal_planned_check *checks CLEANUP_FREE =
		calloc(runner->plan.count + 1, sizeof(*checks));
	struct journal_words words CLEANUP(journal_words_free) = {0};
	struct journal_plan plan = {
		.settings = {.launcher = runner->context.launcher,
			     .profile = runner->context.kubelet_profile,
			     .thorough = runner->context.thorough},
		.checks = checks,
		.check_count = runner->plan.count,
		.requirements = words.requirements,
		.requirement_count = CHECK_REQUIREMENT_COUNT - 1,
		.filtered_out = runner->plan.left_out_count,
	};
	int rc = 0;

	if (checks == NULL)
		return error_memory(err);
	for (size_t i = 0; i < plan.requirement_count; i++) {
		const struct requirement *r = requirement_get((enum check_requirement)(i + 1));

		words.requirements[i] = (struct journal_requirement){
			.id = r->id,
			.level = check_level_name(r->level),
			.sentence = r->sentence,
			.source = r->source,
		};
	}
	rc = runner_list_left_out(&runner->plan, &words, err);
	for (size_t i = 0; i < runner->plan.count; i++)
		checks[i] = runner_planned_check(&runner->plan.items[i]);
	return rc == 0 ? journal_add_plan(runner->journal, &plan, err) : rc;
}
