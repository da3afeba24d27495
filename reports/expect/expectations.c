/* SPDX-License-Identifier: MIT */
#include "reports/expect/expectations.h"

#include "base/cleanup.h"
#include "base/json_members.h"
#include "base/path.h"
#include "base/version.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {"fail", "crash", "timeout", "flaky", NULL};

/* A run without these proves nothing: a failure of theirs is never a known, harmless one. */
static const char *const sentinels[] = {"environment.*", "registration.arrives"};

static int check_text(const struct json_at *at, struct error *err)
{
	return strlen(at->node->valuestring) <= EXPECTATION_TEXT_MAX
		       ? 0
		       : json_error(at, err, "longer than %d bytes", (int)EXPECTATION_TEXT_MAX);
}

int expectation_check_text(const struct json_at *at, struct error *err)
{
	return at->node->valuestring[0] != '\0' ? check_text(at, err)
						: json_error(at, err, "is empty");
}

static int check_range(const struct json_at *at, struct error *err)
{
	return version_range_is_valid(at->node->valuestring)
		       ? check_text(at, err)
		       : json_error(at, err,
				    "'%.64s' is not a range of versions such as \">=31.0.15.5100 "
				    "<31.0.15.5600\"",
				    at->node->valuestring);
}

bool expectation_is_sentinel(const char *check)
{
	size_t i = 0;
	while (i < ARRAY_SIZE(sentinels) && !text_glob(sentinels[i], check))
		i++;
	return i < ARRAY_SIZE(sentinels);
}

static int check_name(const struct json_at *at, struct error *err)
{
	if (expectation_is_sentinel(at->node->valuestring))
		return json_error(at, err,
				  "%.64s can never be expected to fail: everything depends on it",
				  at->node->valuestring);
	return expectation_check_text(at, err);
}

long expectation_day(const char *day)
{
	static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = 0, month = 0, of_month = 0, end = 0;
	if (strlen(day) < 10 || sscanf(day, "%4d-%2d-%2d%n", &year, &month, &of_month, &end) != 3 ||
	    end != 10 || year < 2000 || month < 1 || month > 12 || of_month < 1 ||
	    of_month > lengths[month - 1])
		return -1;
	const long shifted = month <= 2 ? year - 1 : year;
	const long from_march = (month + 9) % 12;
	return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 +
	       (from_march * 306 + 5) / 10 + of_month - 1;
}

int expectation_check_day(const struct json_at *at, struct error *err)
{
	return strlen(at->node->valuestring) == 10 && expectation_day(at->node->valuestring) >= 0
		       ? 0
		       : json_error(at, err, "'%.32s' is not a day such as 2026-11-22",
				    at->node->valuestring);
}

#define TEXT(key, member, check)   JSON_TEXT(struct expectation, key, member, JSON_OPTIONAL, check)
#define NEEDED(key, member, check) JSON_TEXT(struct expectation, key, member, JSON_REQUIRED, check)

static const struct json_member match_members[] = {
	TEXT("os", match.os, expectation_check_text),
	TEXT("osBuild", match.os_build, check_range),
	TEXT("driver", match.driver, expectation_check_text),
	TEXT("driverVersion", match.driver_version, check_range),
	TEXT("runtime", match.runtime, expectation_check_text),
	TEXT("runtimeVersion", match.runtime_version, check_range),
	TEXT("device", match.device, expectation_check_text),
	TEXT("node", match.node, expectation_check_text),
	{0},
};

static const struct json_member row_members[] = {
	NEEDED("check", check, check_name),
	JSON_NUMBER(struct expectation, "revision", revision, JSON_OPTIONAL, 0, INT32_MAX),
	{.key = "expect",
	 .type = JSON_MEMBER_CHOICE,
	 .presence = JSON_REQUIRED,
	 JSON_AT(struct expectation, expect),
	 .names = kinds},
	TEXT("reason", reason, expectation_check_text),
	{.key = "match",
	 .type = JSON_MEMBER_OBJECT,
	 .presence = JSON_REQUIRED,
	 .members = match_members},
	NEEDED("why", why, expectation_check_text),
	NEEDED("link", link, expectation_check_text),
	NEEDED("added", added, expectation_check_day),
	NEEDED("seenWith", seen_with, expectation_check_text),
	NEEDED("reviewBy", review_by, expectation_check_day),
	{0},
};

struct file {
	struct expectation *rows;
	size_t count;
	unsigned flake_budget;
};

static const struct json_member file_members[] = {
	{.key = "schema",
	 .type = JSON_MEMBER_SCHEMA,
	 .presence = JSON_REQUIRED,
	 .what = "gpucert-expectations/1"},
	JSON_NUMBER(struct file, "flakeBudget", flake_budget, JSON_OPTIONAL, 0,
		    EXPECTATIONS_ROWS_MAX),
	JSON_LIST(struct file, "rows", rows, count, JSON_REQUIRED, EXPECTATIONS_ROWS_MAX,
		  row_members),
	{0},
};

int expectations_parse(const char *name, const cJSON *document, struct expectations *out,
		       struct error *err)
{
	struct json_at root = json_root(document);
	struct file file = {0};
	int rc = json_check_names(&root, err);
	if (rc == 0)
		rc = json_members_read(&root, file_members, &file, &out->arena, err);
	for (size_t i = 0; rc == 0 && i < file.count; i++) {
		out->rows = arena_grow(&out->arena, out->rows, out->count, sizeof(*out->rows));
		out->rows[out->count] = file.rows[i];
		out->rows[out->count++].entry = arena_format(&out->arena, "%s#%zu", name, i + 1);
	}
	out->flake_budget += file.flake_budget;
	return rc;
}

int expectations_check_twins(const struct expectations *expectations, struct error *err)
{
	for (size_t i = 0; i < expectations->count; i++) {
		const struct expectation *row = &expectations->rows[i];
		for (size_t k = 0; k < i; k++) {
			const struct expectation *other = &expectations->rows[k];
			if (text_equal(other->check, row->check) &&
			    (other->revision == row->revision || other->revision == 0 ||
			     row->revision == 0) &&
			    json_members_equal(match_members, other, row))
				return error_set(err, ERROR_FORMAT,
						 "%s and %s are about %s in the same environments: "
						 "remove one of them",
						 other->entry, row->entry, row->check);
		}
	}
	return 0;
}

/* "windows-gpus" of "share/windows-gpus.json". */
int expectations_read(const char *path, struct expectations *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	const char *base = path_base(path);
	const size_t size = strlen(base) - (text_ends_with(base, ".json") ? strlen(".json") : 0);
	char *name CLEANUP_FREE = text_format("%.*s", (int)size, base);
	int rc = json_read_file(path, &document, err);
	if (rc < 0)
		return rc;
	rc = expectations_parse(name, document, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

struct report_known expectation_known(const struct expectation *row)
{
	static const enum report_outcome outcomes[] = {[EXPECT_FAIL] = REPORT_FAIL,
						       [EXPECT_CRASH] = REPORT_CRASH,
						       [EXPECT_TIMEOUT] = REPORT_TIMEOUT,
						       [EXPECT_FLAKY] = REPORT_FAIL};
	return (struct report_known){.outcome = outcomes[row->expect],
				     .flaky = row->expect == EXPECT_FLAKY,
				     .reason = row->reason};
}

long expectation_overdue(const struct expectation *row, const char *today)
{
	return expectation_day(today) - expectation_day(row->review_by);
}

void expectations_free(struct expectations *expectations)
{
	arena_free(&expectations->arena);
	*expectations = (struct expectations){0};
}
