/* SPDX-License-Identifier: MIT */
#include "reports/records.h"

#include "reports/model.h"

static const char *const schemas[] = {JOURNAL_SCHEMA, NULL};
static const char *const launchers[] = {"containerd", "process", "none", NULL};
static const char *const not_run[] = {"unsupported", "not-applicable", NULL};
static const char *const varying[] = {"saw", "both", NULL};

/* Rows; `presence`: NEEDED, OR_NULL or OR_ABSENT. */
#define NEEDED	  .presence = JSON_REQUIRED
#define OR_NULL	  .presence = JSON_NULL
#define OR_ABSENT .presence = JSON_OPTIONAL
#define STRING(key_, presence)                                                                     \
	{                                                                                          \
		.key = (key_), presence                                                            \
	}
#define FLAG(key_, presence)                                                                       \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_BOOL, presence                                  \
	}
#define ANY(key_)                                                                                  \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_ANY, NEEDED                                     \
	}
#define COUNT(key_, presence)                                                                      \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_INT, presence, .max = INT32_MAX                 \
	}
#define STRINGS(key_, presence)                                                                    \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_STRINGS, presence, .max = INT32_MAX             \
	}
#define WORD(key_, presence, names_)                                                               \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_CHOICE, presence, .names = (names_)             \
	}
#define OBJECT(key_, presence, members_)                                                           \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_OBJECT, presence, .members = (members_)         \
	}
#define OBJECTS(key_, members_)                                                                    \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_OBJECTS, NEEDED, .max = INT32_MAX,              \
		.members = (members_)                                                              \
	}

static const struct json_member harness[] = {
	STRING("version", NEEDED),
	STRING("commit", OR_NULL),
	STRING("compiler", NEEDED),
	STRING("tableDigest", OR_NULL),
	{0},
};

static const struct json_member invocation[] = {
	STRINGS("argv", NEEDED),
	COUNT("timeoutPercent", NEEDED),
	COUNT("minRun", NEEDED),
	FLAG("conformanceRequired", NEEDED),
	{0},
};

static const struct json_member run_begin[] = {
	WORD("schema", NEEDED, schemas),
	STRING("id", NEEDED),
	OBJECT("harness", NEEDED, harness),
	OBJECT("invocation", NEEDED, invocation),
	{0},
};

static const struct json_member environment[] = {ANY("environment"), {0}};

static const struct json_member settings[] = {
	WORD("launcher", NEEDED, launchers),
	STRING("profile", NEEDED),
	FLAG("thorough", NEEDED),
	{0},
};

#define REQUIREMENT                                                                                \
	STRING("id", NEEDED), WORD("level", NEEDED, report_level_names),                           \
		STRING("sentence", NEEDED), STRING("source", NEEDED)

const struct json_member record_requirement[] = {REQUIREMENT, {0}};

static const struct json_member requirement[] = {
	REQUIREMENT,
	STRINGS("leftOut", OR_ABSENT),
	STRING("notApplicable", OR_ABSENT),
	{0},
};

static const struct json_member expected[] = {
	WORD("outcome", NEEDED, report_outcome_names),
	STRING("entry", NEEDED),
	FLAG("flaky", OR_ABSENT),
	STRING("reason", OR_ABSENT),
	STRING("why", OR_ABSENT),
	STRING("link", OR_ABSENT),
	STRING("reviewBy", OR_ABSENT),
	{0},
};

#define IDENTITY                                                                                   \
	STRING("id", NEEDED), COUNT("revision", NEEDED), STRING("requirement", OR_NULL),           \
		WORD("severity", NEEDED, report_severity_names), STRING("title", NEEDED),          \
		STRING("advice", NEEDED), STRING("unproven", OR_NULL),                             \
		OBJECT("expected", OR_NULL, expected)

const struct json_member record_identity[] = {IDENTITY, {0}};

static const struct json_member planned_check[] = {
	IDENTITY,
	WORD("outcome", OR_ABSENT, not_run),
	STRING("reason", OR_ABSENT),
	{0},
};

static const struct json_member plan[] = {
	OBJECT("settings", NEEDED, settings), COUNT("filteredOut", NEEDED),
	COUNT("flakeBudget", OR_ABSENT),      OBJECTS("requirements", requirement),
	OBJECTS("checks", planned_check),     {0},
};

static const struct json_member phase[] = {
	WORD("phase", NEEDED, report_phase_names),
	STRING("what", NEEDED),
	COUNT("durationMs", NEEDED),
	{0},
};

static const struct json_member check_begin[] = {COUNT("timeoutMs", NEEDED), {0}};

static const struct json_member assertion[] = {
	STRING("what", NEEDED),
	STRING("wanted", NEEDED),
	STRING("saw", NEEDED),
	FLAG("ok", NEEDED),
	STRING("at", OR_NULL),
	WORD("varies", OR_ABSENT, varying),
	WORD("kubelet", OR_ABSENT, report_kubelet_names),
	{0},
};

static const struct json_member note[] = {STRING("text", NEEDED), {0}};

static const struct json_member evidence[] = {
	STRING("name", NEEDED),
	STRING("media", NEEDED),
	STRING("path", NEEDED),
	STRING("digest", NEEDED),
	COUNT("bytes", NEEDED),
	FLAG("truncated", NEEDED),
	{0},
};

static const struct json_member device[] = {
	STRING("ref", NEEDED),
	WORD("outcome", OR_ABSENT, report_outcome_names),
	{0},
};

static const struct json_member observation[] = {
	STRING("container", NEEDED),
	STRINGS("granted", NEEDED),
	STRINGS("saw", NEEDED),
	COUNT("others", NEEDED),
	{0},
};

static const char *const origins[] = {"answer", "runtime", "image", NULL};

static const struct json_member ran_file[] = {
	STRING("path", NEEDED),
	STRING("digest", NEEDED),
	WORD("origin", NEEDED, origins),
	FLAG("discovered", NEEDED),
	{0},
};

static const struct json_member ran_drm[] = {
	STRING("driver", NEEDED),
	STRING("pdev", OR_NULL),
	STRINGS("engines", NEEDED),
	{0},
};

static const struct json_member ran[] = {
	STRING("ref", NEEDED),	  STRING("api", NEEDED),   OBJECTS("files", ran_file),
	STRINGS("nodes", NEEDED), OBJECTS("drm", ran_drm), {0},
};

static const char *const verdicts[] = {"works", "unknown", "hyper-v-only", "cannot-work", NULL};
static const char *const outcomes[] = {"worked", "failed", "stopped", "not-launched", NULL};

static const struct json_member prediction[] = {
	STRING("image", NEEDED),
	STRING("digest", NEEDED),
	STRING("program", NEEDED),
	FLAG("devices", NEEDED),
	WORD("verdict", NEEDED, verdicts),
	STRING("rule", OR_NULL),
	STRING("reason", NEEDED),
	WORD("outcome", NEEDED, outcomes),
	STRING("symptom", NEEDED),
	FLAG("agrees", OR_NULL),
	{0},
};

static const struct json_member event[] = {STRING("kind", NEEDED), STRING("text", NEEDED), {0}};
static const struct json_member check_held[] = {
	STRING("cause", NEEDED), STRING("reason", NEEDED), {0}};

static const struct json_member phases[] = {
	COUNT("setup", OR_ABSENT),
	COUNT("cri", OR_ABSENT),
	COUNT("probe", OR_ABSENT),
	COUNT("plugin", OR_ABSENT),
	COUNT("wait", OR_ABSENT),
	COUNT("cleanup", OR_ABSENT),
	{0},
};

static const struct json_member watched[] = {
	COUNT("ms", NEEDED),
	COUNT("thoroughMs", NEEDED),
	{0},
};

static const struct json_member check_end[] = {
	WORD("outcome", NEEDED, report_outcome_names),
	STRING("reason", NEEDED),
	COUNT("durationMs", NEEDED),
	OBJECT("phasesMs", NEEDED, phases),
	OBJECT("watched", OR_NULL, watched),
	COUNT("leftOut", OR_ABSENT),
	STRING("advice", OR_ABSENT),
	{0},
};

static const struct json_member abort_record[] = {
	WORD("kind", NEEDED, report_abort_names),
	STRING("reason", NEEDED),
	{0},
};

static const struct json_member run_end[] = {{0}};

const struct journal_shape journal_shapes[JOURNAL_TYPE_COUNT] = {
	[JOURNAL_RUN_BEGIN] = {.name = "run-begin", .members = run_begin, .durable = true},
	[JOURNAL_ENVIRONMENT] = {.name = "environment", .members = environment},
	[JOURNAL_PLAN] = {.name = "plan", .members = plan},
	[JOURNAL_PHASE] = {.name = "phase", .members = phase},
	[JOURNAL_CHECK_BEGIN] = {.name = "check-begin", .members = check_begin, .durable = true},
	[JOURNAL_ASSERTION] = {.name = "assertion", .members = assertion, .seen = true},
	[JOURNAL_NOTE] = {.name = "note", .members = note, .seen = true},
	[JOURNAL_EVIDENCE] = {.name = "evidence", .members = evidence, .seen = true},
	[JOURNAL_DEVICE] = {.name = "device", .members = device, .seen = true},
	[JOURNAL_OBSERVATION] = {.name = "observation", .members = observation, .seen = true},
	[JOURNAL_RAN] = {.name = "ran", .members = ran, .seen = true},
	[JOURNAL_PREDICTION] = {.name = "prediction", .members = prediction, .seen = true},
	[JOURNAL_EVENT] = {.name = "event", .members = event},
	[JOURNAL_CHECK_HELD] = {.name = "check-held", .members = check_held},
	[JOURNAL_CHECK_END] = {.name = "check-end", .members = check_end, .durable = true},
	[JOURNAL_ABORT] = {.name = "abort", .members = abort_record, .durable = true},
	[JOURNAL_RUN_END] = {.name = "run-end", .members = run_end, .durable = true},
};

enum journal_type journal_type_of(const char *name)
{
	int type = 0;
	while (type < JOURNAL_TYPE_COUNT && !text_equal(journal_shapes[type].name, name))
		type++;
	return (enum journal_type)type;
}

const cJSON *field_get(const cJSON *object, const char *key)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
	return cJSON_IsNull(member) ? NULL : member;
}

const char *field_string(const cJSON *object, const char *key)
{
	return cJSON_GetStringValue(field_get(object, key));
}

int64_t field_count(const cJSON *object, const char *key)
{
	const cJSON *member = field_get(object, key);
	return member != NULL ? (int64_t)member->valuedouble : 0;
}
