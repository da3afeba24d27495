/* SPDX-License-Identifier: MIT */
#include "reports/records.h"

#include "reports/model.h"

#include <string.h>

static const char *const schemas[] = {JOURNAL_SCHEMA, NULL};
static const char *const launchers[] = {"containerd", "process", "none", NULL};
static const char *const not_run[] = {"unsupported", "not-applicable", NULL};
static const char *const varying[] = {"saw", "both", NULL};

static const struct field harness[] = {
	{.key = "version"},  {.key = "commit", .presence = FIELD_OR_NULL},
	{.key = "compiler"}, {.key = "tableDigest", .presence = FIELD_OR_NULL},
	{.key = NULL},
};

static const struct field invocation[] = {
	{.key = "argv", .type = FIELD_STRINGS},
	{.key = "timeoutPercent", .type = FIELD_COUNT},
	{.key = "minRun", .type = FIELD_COUNT},
	{.key = "conformanceRequired", .type = FIELD_BOOL},
	{.key = NULL},
};

static const struct field run_begin[] = {
	{.key = "schema", .type = FIELD_WORD, .words = schemas},
	{.key = "id"},
	{.key = "harness", .type = FIELD_OBJECT, .fields = harness},
	{.key = "invocation", .type = FIELD_OBJECT, .fields = invocation},
	{.key = NULL},
};

static const struct field environment[] = {{.key = "environment", .type = FIELD_ANY},
					   {.key = NULL}};

const struct field record_settings[] = {
	{.key = "launcher", .type = FIELD_WORD, .words = launchers},
	{.key = "profile"},
	{.key = "thorough", .type = FIELD_BOOL},
	{.key = NULL},
};

#define REQUIREMENT                                                                                \
	{.key = "id"}, {.key = "level", .type = FIELD_WORD, .words = report_level_names},          \
		{.key = "sentence"},                                                               \
	{                                                                                          \
		.key = "source"                                                                    \
	}

const struct field record_requirement[] = {REQUIREMENT, {.key = NULL}};

static const struct field requirement[] = {
	REQUIREMENT,
	{.key = "leftOut", .type = FIELD_STRINGS, .presence = FIELD_OR_ABSENT},
	{.key = "notApplicable", .presence = FIELD_OR_ABSENT},
	{.key = NULL},
};

static const struct field expected[] = {
	{.key = "outcome", .type = FIELD_WORD, .words = report_outcome_names},
	{.key = "entry"},
	{.key = "flaky", .type = FIELD_BOOL, .presence = FIELD_OR_ABSENT},
	{.key = "reason", .presence = FIELD_OR_ABSENT},
	{.key = "why", .presence = FIELD_OR_ABSENT},
	{.key = "link", .presence = FIELD_OR_ABSENT},
	{.key = "reviewBy", .presence = FIELD_OR_ABSENT},
	{.key = NULL},
};

#define IDENTITY                                                                                   \
	{.key = "id"}, {.key = "revision", .type = FIELD_COUNT},                                   \
		{.key = "requirement", .presence = FIELD_OR_NULL},                                 \
		{.key = "severity", .type = FIELD_WORD, .words = report_severity_names},           \
		{.key = "title"}, {.key = "advice"},                                               \
		{.key = "unproven", .presence = FIELD_OR_NULL},                                    \
	{                                                                                          \
		.key = "expected", .type = FIELD_OBJECT, .presence = FIELD_OR_NULL,                \
		.fields = expected                                                                 \
	}

const struct field record_identity[] = {IDENTITY, {.key = NULL}};

static const struct field planned_check[] = {
	IDENTITY,
	{.key = "outcome", .type = FIELD_WORD, .presence = FIELD_OR_ABSENT, .words = not_run},
	{.key = "reason", .presence = FIELD_OR_ABSENT},
	{.key = NULL},
};

static const struct field plan[] = {
	{.key = "settings", .type = FIELD_OBJECT, .fields = record_settings},
	{.key = "filteredOut", .type = FIELD_COUNT},
	{.key = "flakeBudget", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "requirements", .type = FIELD_OBJECTS, .fields = requirement},
	{.key = "checks", .type = FIELD_OBJECTS, .fields = planned_check},
	{.key = NULL},
};

static const struct field phase[] = {
	{.key = "phase", .type = FIELD_WORD, .words = report_phase_names},
	{.key = "what"},
	{.key = "durationMs", .type = FIELD_COUNT},
	{.key = NULL},
};

static const struct field check_begin[] = {{.key = "timeoutMs", .type = FIELD_COUNT},
					   {.key = NULL}};

static const struct field assertion[] = {
	{.key = "what"},
	{.key = "wanted"},
	{.key = "saw"},
	{.key = "ok", .type = FIELD_BOOL},
	{.key = "at", .presence = FIELD_OR_NULL},
	{.key = "varies", .type = FIELD_WORD, .presence = FIELD_OR_ABSENT, .words = varying},
	{.key = NULL},
};

static const struct field note[] = {{.key = "text"}, {.key = NULL}};

static const struct field evidence[] = {
	{.key = "name"},
	{.key = "media"},
	{.key = "path"},
	{.key = "digest"},
	{.key = "bytes", .type = FIELD_COUNT},
	{.key = "truncated", .type = FIELD_BOOL},
	{.key = NULL},
};

static const struct field device[] = {
	{.key = "ref"},
	{.key = "outcome",
	 .type = FIELD_WORD,
	 .presence = FIELD_OR_ABSENT,
	 .words = report_outcome_names},
	{.key = NULL},
};

static const struct field observation[] = {
	{.key = "container"},
	{.key = "granted", .type = FIELD_STRINGS},
	{.key = "saw", .type = FIELD_STRINGS},
	{.key = "others", .type = FIELD_COUNT},
	{.key = NULL},
};

static const char *const origins[] = {"answer", "runtime", "image", NULL};

static const struct field ran_file[] = {
	{.key = "path"},
	{.key = "digest"},
	{.key = "origin", .type = FIELD_WORD, .words = origins},
	{.key = "discovered", .type = FIELD_BOOL},
	{.key = NULL},
};

static const struct field ran_drm[] = {
	{.key = "driver"},
	{.key = "pdev", .presence = FIELD_OR_NULL},
	{.key = "engines", .type = FIELD_STRINGS},
	{.key = NULL},
};

static const struct field ran[] = {
	{.key = "ref"},
	{.key = "api"},
	{.key = "files", .type = FIELD_OBJECTS, .fields = ran_file},
	{.key = "nodes", .type = FIELD_STRINGS},
	{.key = "drm", .type = FIELD_OBJECTS, .fields = ran_drm},
	{.key = NULL},
};

static const char *const verdicts[] = {"works", "unknown", "hyper-v-only", "cannot-work", NULL};
static const char *const outcomes[] = {"worked", "failed", "stopped", "not-launched", NULL};

static const struct field prediction[] = {
	{.key = "image"},
	{.key = "digest"},
	{.key = "program"},
	{.key = "devices", .type = FIELD_BOOL},
	{.key = "verdict", .type = FIELD_WORD, .words = verdicts},
	{.key = "rule", .presence = FIELD_OR_NULL},
	{.key = "reason"},
	{.key = "outcome", .type = FIELD_WORD, .words = outcomes},
	{.key = "symptom"},
	{.key = "agrees", .type = FIELD_BOOL, .presence = FIELD_OR_NULL},
	{.key = NULL},
};

static const struct field event[] = {{.key = "kind"}, {.key = "text"}, {.key = NULL}};
static const struct field check_held[] = {{.key = "cause"}, {.key = "reason"}, {.key = NULL}};

static const struct field phases[] = {
	{.key = "setup", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "cri", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "probe", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "plugin", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "wait", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "cleanup", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = NULL},
};

static const struct field watched[] = {
	{.key = "ms", .type = FIELD_COUNT},
	{.key = "thoroughMs", .type = FIELD_COUNT},
	{.key = NULL},
};

static const struct field check_end[] = {
	{.key = "outcome", .type = FIELD_WORD, .words = report_outcome_names},
	{.key = "reason"},
	{.key = "durationMs", .type = FIELD_COUNT},
	{.key = "phasesMs", .type = FIELD_OBJECT, .fields = phases},
	{.key = "watched", .type = FIELD_OBJECT, .presence = FIELD_OR_NULL, .fields = watched},
	{.key = "leftOut", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "advice", .presence = FIELD_OR_ABSENT},
	{.key = NULL},
};

static const struct field abort_record[] = {
	{.key = "kind", .type = FIELD_WORD, .words = report_abort_names},
	{.key = "reason"},
	{.key = NULL},
};

static const struct field run_end[] = {{.key = NULL}};

const struct journal_shape journal_shapes[JOURNAL_TYPE_COUNT] = {
	[JOURNAL_RUN_BEGIN] = {.name = "run-begin", .fields = run_begin, .durable = true},
	[JOURNAL_ENVIRONMENT] = {.name = "environment", .fields = environment},
	[JOURNAL_PLAN] = {.name = "plan", .fields = plan},
	[JOURNAL_PHASE] = {.name = "phase", .fields = phase},
	[JOURNAL_CHECK_BEGIN] = {.name = "check-begin", .fields = check_begin, .durable = true},
	[JOURNAL_ASSERTION] = {.name = "assertion", .fields = assertion, .seen = true},
	[JOURNAL_NOTE] = {.name = "note", .fields = note, .seen = true},
	[JOURNAL_EVIDENCE] = {.name = "evidence", .fields = evidence, .seen = true},
	[JOURNAL_DEVICE] = {.name = "device", .fields = device, .seen = true},
	[JOURNAL_OBSERVATION] = {.name = "observation", .fields = observation, .seen = true},
	[JOURNAL_RAN] = {.name = "ran", .fields = ran, .seen = true},
	[JOURNAL_PREDICTION] = {.name = "prediction", .fields = prediction, .seen = true},
	[JOURNAL_EVENT] = {.name = "event", .fields = event},
	[JOURNAL_CHECK_HELD] = {.name = "check-held", .fields = check_held},
	[JOURNAL_CHECK_END] = {.name = "check-end", .fields = check_end, .durable = true},
	[JOURNAL_ABORT] = {.name = "abort", .fields = abort_record, .durable = true},
	[JOURNAL_RUN_END] = {.name = "run-end", .fields = run_end, .durable = true},
};

enum journal_type journal_type_of(const char *name)
{
	int type = 0;
	while (type < JOURNAL_TYPE_COUNT && strcmp(journal_shapes[type].name, name) != 0)
		type++;
	return (enum journal_type)type;
}
