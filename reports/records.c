/* SPDX-License-Identifier: MIT */
#include "reports/records.h"

#include "reports/model.h"

#include <string.h>

#define TYPED(name, kind)                                                                          \
	{                                                                                          \
		.key = (name), .type = (kind)                                                      \
	}
#define STRING(name) TYPED(name, FIELD_STRING)
#define OPTIONAL(name, when)                                                                       \
	{                                                                                          \
		.key = (name), .presence = (when)                                                  \
	}
#define WORD(name, list)                                                                           \
	{                                                                                          \
		.key = (name), .type = FIELD_WORD, .words = (list)                                 \
	}
#define NESTED(name, kind, table)                                                                  \
	{                                                                                          \
		.key = (name), .type = (kind), .fields = (table)                                   \
	}
#define END                                                                                        \
	{                                                                                          \
		.key = NULL                                                                        \
	}

static const char *const schemas[] = {JOURNAL_SCHEMA, NULL};
static const char *const levels[] = {"must", "should", "may", NULL};
static const char *const severities[] = {"critical", "high", "medium", "low", NULL};
static const char *const launchers[] = {"containerd", "process", "none", NULL};
static const char *const not_run[] = {"unsupported", "not-applicable", NULL};
static const char *const varying[] = {"saw", "both", NULL};

static const struct field harness[] = {
	STRING("version"),
	OPTIONAL("commit", FIELD_OR_NULL),
	STRING("compiler"),
	OPTIONAL("tableDigest", FIELD_OR_NULL),
	END,
};

static const struct field invocation[] = {
	TYPED("argv", FIELD_STRINGS),
	TYPED("timeoutPercent", FIELD_COUNT),
	TYPED("minRun", FIELD_COUNT),
	TYPED("conformanceRequired", FIELD_BOOL),
	END,
};

static const struct field run_begin[] = {
	WORD("schema", schemas),
	STRING("id"),
	NESTED("harness", FIELD_OBJECT, harness),
	NESTED("invocation", FIELD_OBJECT, invocation),
	END,
};

static const struct field environment[] = {TYPED("environment", FIELD_ANY), END};

const struct field record_settings[] = {
	WORD("launcher", launchers),
	STRING("profile"),
	TYPED("thorough", FIELD_BOOL),
	END,
};

#define REQUIREMENT STRING("id"), WORD("level", levels), STRING("sentence"), STRING("source")

const struct field record_requirement[] = {REQUIREMENT, END};

static const struct field requirement[] = {
	REQUIREMENT,
	{.key = "leftOut", .type = FIELD_STRINGS, .presence = FIELD_OR_ABSENT},
	OPTIONAL("notApplicable", FIELD_OR_ABSENT),
	END,
};

static const struct field expected[] = {
	WORD("outcome", report_outcome_names),
	STRING("entry"),
	END,
};

#define IDENTITY                                                                                   \
	STRING("id"), TYPED("revision", FIELD_COUNT), OPTIONAL("requirement", FIELD_OR_NULL),      \
		WORD("severity", severities), STRING("title"), STRING("advice"),                   \
		OPTIONAL("unproven", FIELD_OR_NULL),                                               \
	{                                                                                          \
		.key = "expected", .type = FIELD_OBJECT, .presence = FIELD_OR_NULL,                \
		.fields = expected                                                                 \
	}

const struct field record_identity[] = {IDENTITY, END};

static const struct field planned_check[] = {
	IDENTITY,
	{.key = "outcome", .type = FIELD_WORD, .presence = FIELD_OR_ABSENT, .words = not_run},
	OPTIONAL("reason", FIELD_OR_ABSENT),
	END,
};

static const struct field plan[] = {
	NESTED("settings", FIELD_OBJECT, record_settings),
	TYPED("filteredOut", FIELD_COUNT),
	NESTED("requirements", FIELD_OBJECTS, requirement),
	NESTED("checks", FIELD_OBJECTS, planned_check),
	END,
};

static const struct field phase[] = {
	WORD("phase", report_phase_names),
	STRING("what"),
	TYPED("durationMs", FIELD_COUNT),
	END,
};

static const struct field check_begin[] = {TYPED("timeoutMs", FIELD_COUNT), END};

static const struct field assertion[] = {
	STRING("what"),
	STRING("wanted"),
	STRING("saw"),
	TYPED("ok", FIELD_BOOL),
	OPTIONAL("at", FIELD_OR_NULL),
	{.key = "varies", .type = FIELD_WORD, .presence = FIELD_OR_ABSENT, .words = varying},
	END,
};

static const struct field note[] = {STRING("text"), END};

static const struct field evidence[] = {
	STRING("name"),
	STRING("media"),
	STRING("path"),
	STRING("digest"),
	TYPED("bytes", FIELD_COUNT),
	TYPED("truncated", FIELD_BOOL),
	END,
};

static const struct field device[] = {STRING("ref"), END};
static const struct field event[] = {STRING("kind"), STRING("text"), END};
static const struct field check_held[] = {STRING("cause"), STRING("reason"), END};

static const struct field phases[] = {
	{.key = "setup", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "cri", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "probe", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "plugin", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "wait", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	{.key = "cleanup", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	END,
};

static const struct field watched[] = {
	TYPED("ms", FIELD_COUNT),
	TYPED("thoroughMs", FIELD_COUNT),
	END,
};

static const struct field check_end[] = {
	WORD("outcome", report_outcome_names),
	STRING("reason"),
	TYPED("durationMs", FIELD_COUNT),
	NESTED("phasesMs", FIELD_OBJECT, phases),
	{.key = "watched", .type = FIELD_OBJECT, .presence = FIELD_OR_NULL, .fields = watched},
	{.key = "leftOut", .type = FIELD_COUNT, .presence = FIELD_OR_ABSENT},
	END,
};

static const struct field abort_record[] = {
	WORD("kind", report_abort_names),
	STRING("reason"),
	END,
};

static const struct field run_end[] = {END};

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
