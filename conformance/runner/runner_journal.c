/* SPDX-License-Identifier: MIT */
#include "conformance/runner/runner_internal.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/path.h"
#include "conformance/runner/revision.h"
#include "reports/redact/redact.h"

#include <string.h>

int runner_open_redactor(struct runner *runner, struct error *err)
{
	const struct discovery_snapshot *node = runner->node;
	const size_t devices = node != NULL ? node->device_count : 0;
	struct text words CLEANUP_TEXT = {0};

	/* Reports are full of these words, so that they identify nobody. */
	for (const struct check_suite *const *suite = runner->suites; *suite != NULL; suite++) {
		text_addf(&words, "%s %s\n", (*suite)->name, (*suite)->title);
		for (const struct check *check = (*suite)->checks; check->id != NULL; check++)
			text_addf(&words, "%s %s %s\n", check->id, check->title, check->advice);
	}
	for (int i = 1; i < CHECK_REQUIREMENT_COUNT; i++)
		text_addf(&words, "%s\n", requirement_get((enum check_requirement)i)->sentence);

	/* The names of system, devices and drivers are kept, even if the host has such a name. */
	for (size_t i = 0; i < devices; i++)
		text_addf(&words, "%s %s %s %s\n", node->system.product, node->devices[i].vendor,
			  node->devices[i].description, node->devices[i].driver_name);

	int rc = redactor_new(runner->settings->include_identity, text_string(&words),
			      &runner->redactor, err);
	if (rc == 0)
		rc = redactor_add_this_host(runner->redactor, err);

	/* A PnP instance without '&' ends with the serial number that the device reports. */
	for (size_t i = 0; rc == 0 && i < devices; i++) {
		const char *last = strrchr(node->devices[i].pnp_instance_id, '\\');
		if (last != NULL && strchr(last, '&') == NULL)
			rc = redactor_add(runner->redactor, REDACT_SERIAL, last + 1, err);
	}
	return rc;
}

/* Adds one section of the environment, which it owns. */
static int add_section(struct runner *runner, const char *key, cJSON *section, struct error *err)
{
	struct members environment CLEANUP_MEMBERS = members_new();
	member_item(&environment, key, section);
	cJSON *json CLEANUP_JSON = members_take(&environment);
	return journal_add_environment(runner->journal, json, err);
}

int runner_open_journal(struct runner *runner, struct error *err)
{
	const struct runner_settings *settings = runner->settings;
	char *path CLEANUP_FREE = path_join(runner->output, JOURNAL_FILE_NAME);
	struct text rows CLEANUP_TEXT = {0};
	char table[DIGEST_SIZE] = "";

	/* Two reports with the same digest were judged by the same checks. */
	for (const struct check_suite *const *suite = runner->suites; *suite != NULL; suite++) {
		for (const struct check *check = (*suite)->checks; check->id != NULL; check++)
			text_addf(&rows, "%s %u %d\n", check->id, check->revision,
				  (int)check->requirement);
	}
	digest_bytes(text_string(&rows), rows.size, table);

	const struct journal_run run = {
		.id = runner->id,
		.commit = GPUCERT_REVISION,
		.table_digest = table,
		.argv = settings->argv,
		.timeout_percent = (unsigned)settings->asked.timeout_percent,
		.min_run = (unsigned)settings->min_run,
		.conformance_required = settings->conformance_required,
		.redactor = runner->redactor,
	};
	int rc = journal_create(path, &run, &runner->journal, err);
	if (rc < 0)
		return rc;
	rc = add_section(runner, "redaction", redactor_to_json(runner->redactor, false), err);
	if (rc == 0 && settings->pod_resources != NULL)
		rc = add_section(runner, "pods", runner_describe_pods(runner), err);
	return rc;
}

int runner_journal_environment(struct runner *runner, struct error *err)
{
	const struct workplace *workplace = &runner->workplace;
	cJSON *environment = NULL;
	int rc = environment_describe(&runner->environment, &runner->context, workplace,
				      &environment, err);
	if (rc < 0)
		return rc;
	runner->described = environment;
	rc = journal_add_environment(runner->journal, environment, err);
	if (rc == 0 && workplace->runtime_ms != 0)
		rc = journal_add_phase(runner->journal, REPORT_PHASE_CRI,
				       "container runtime started", workplace->runtime_ms, err);
	if (rc == 0 && workplace->image_ms != 0)
		rc = journal_add_phase(runner->journal, REPORT_PHASE_SETUP,
				       "probe image composed and imported", workplace->image_ms,
				       err);

	/* Reports what was cleaned up after earlier runs that died, and what could not be. */
	if (rc == 0 && workplace->recovered != 0)
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

int runner_journal_plugin(struct runner *runner, struct error *err)
{
	if (!runner->plugin_news)
		return 0;
	int rc = add_section(runner, "plugin",
			     environment_describe_plugin(&runner->environment, &runner->context),
			     err);
	runner->plugin_news = rc < 0;
	return rc;
}

/* `row` NULL: the check is expected to pass. */
static void add_check(struct members *checks, const struct plan_item *item,
		      const struct expectation *row)
{
	const struct check *check = item->check;
	struct members json = member_object(checks, NULL);
	member_string(&json, "id", check->id);
	member_int(&json, "revision", check->revision);
	member_string(&json, "requirement", requirement_get(check->requirement)->id);
	member_string(&json, "severity", report_severity_names[check->severity]);
	member_string(&json, "title", check->title);
	member_string(&json, "advice", check->advice);
	member_string(&json, "unproven", item->unproven);

	if (row != NULL) {
		const struct report_known known = expectation_known(row);
		struct members expected = member_object(&json, "expected");
		member_string(&expected, "outcome", report_outcome_names[known.outcome]);
		member_string(&expected, "entry", row->entry);
		if (known.flaky)
			member_bool(&expected, "flaky", true);
		if (known.reason[0] != '\0')
			member_string(&expected, "reason", known.reason);
		member_string(&expected, "why", row->why);
		member_string(&expected, "link", row->link);
		member_string(&expected, "reviewBy", row->review_by);
	}

	if (item->outcome != REPORT_PASS) {
		member_string(&json, "outcome", report_outcome_names[item->outcome]);
		member_string(&json, "reason", item->reason);
	}
}

int runner_journal_plan(struct runner *runner, struct error *err)
{
	const struct plan *plan = &runner->plan;
	struct members json CLEANUP_MEMBERS = members_new();
	struct members settings = member_object(&json, "settings");
	member_string(&settings, "launcher", runner->context.launcher);
	member_string(&settings, "profile", runner->context.kubelet_profile);
	member_bool(&settings, "thorough", runner->context.thorough);
	member_int(&json, "filteredOut", (int64_t)plan->left_out_count);
	if (runner->expectations.count > 0)
		member_int(&json, "flakeBudget", runner->expectations.flake_budget);

	/* Each requirement, and its checks that the plan leaves out. */
	struct members requirements = member_array(&json, "requirements");
	for (int i = 1; i < CHECK_REQUIREMENT_COUNT; i++) {
		const struct requirement *requirement = requirement_get((enum check_requirement)i);
		struct members about = member_object(&requirements, NULL);
		const char *not_applicable = NULL;
		member_string(&about, "id", requirement->id);
		member_string(&about, "level", report_level_names[requirement->level]);
		member_string(&about, "sentence", requirement->sentence);
		member_string(&about, "source", requirement->source);
		struct members left_out = member_array(&about, "leftOut");
		for (size_t k = 0; k < plan->left_out_count; k++) {
			const struct plan_item *item = &plan->items[plan->count + k];
			if (item->check->requirement != (enum check_requirement)i)
				continue;
			if (item->outcome == REPORT_NOT_APPLICABLE)
				not_applicable = item->reason;
			else
				member_string(&left_out, NULL, item->check->id);
		}
		member_string(&about, "notApplicable", not_applicable);
	}

	struct members checks = member_array(&json, "checks");
	for (size_t i = 0; i < plan->count; i++) {
		const struct check *check = plan->items[i].check;
		const struct expectation *row = NULL;
		int rc = expectations_find(&runner->expectations, check->id, check->revision,
					   runner->described, &row, err);
		if (rc < 0)
			return rc;
		add_check(&checks, &plan->items[i], row);
	}
	return journal_add_plan(runner->journal, &json, err);
}
