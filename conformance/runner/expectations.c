/* SPDX-License-Identifier: MIT */
#include "conformance/runner/expectations.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "conformance/runner/runner_internal.h"

#include <string.h>

#define INSTALLED "../share/gpucert/expectations"

/* The path of a name. Caller frees. */
static int find_file(const char *name, char **path, struct error *err)
{
	if (strpbrk(name, "/\\") != NULL || file_exists(name)) {
		*path = strdup(name);
		return *path != NULL ? 0 : error_memory(err);
	}
	char *relative CLEANUP_FREE = text_format(INSTALLED "/%s.json", name);
	int rc = relative != NULL ? path_beside_program(relative, path, err) : error_memory(err);
	if (rc == 0 && !file_exists(*path))
		return error_set(
			err, ERROR_NOT_FOUND,
			"%s: there is no such file, and none of that name is installed (%s)", name,
			*path);
	return rc;
}

bool expectations_forbid(const char *check, const struct check_suite *const *suites)
{
	bool is_needed = expectation_is_sentinel(check);
	for (; *suites != NULL; suites++) {
		for (const struct check *other = (*suites)->checks; other->id != NULL; other++)
			is_needed = is_needed || text_equal(other->stands_on, check);
	}
	return is_needed;
}

static int verify_row(const struct expectation *row, const struct check_suite *const *suites,
		      struct error *err)
{
	const struct check_suite *suite = NULL;
	const struct check *check = NULL;
	struct error why = {0};
	if (plan_find(suites, row->check, &suite, &check, &why) < 0)
		return error_set(err, ERROR_FORMAT, "%s: %s", row->entry, why.text);
	if (row->revision != 0 && row->revision != check->revision)
		return error_set(
			err, ERROR_FORMAT,
			"%s: %s has the revision %u now and not %u: see whether the row still "
			"holds",
			row->entry, row->check, check->revision, row->revision);
	if (expectations_forbid(row->check, suites))
		return error_set(err, ERROR_FORMAT, "%s: %s " EXPECTATIONS_FORBIDDEN, row->entry,
				 row->check);
	return 0;
}

static int review_row(const struct expectation *row, const char *today, struct text_list *overdue,
		      struct error *err)
{
	const long days = expectation_overdue(row, today);
	if (days > EXPECTATION_GRACE_DAYS)
		return error_set(
			err, ERROR_FORMAT,
			"%s (%s) was to be looked at again by %s: see whether it still fails, "
			"and set reviewBy",
			row->entry, row->check, row->review_by);
	return days <= 0 ? 0
			 : text_list_addf(overdue, err, "%s (%s) was to be looked at again by %s",
					  row->entry, row->check, row->review_by);
}

int expectations_open(const struct text_list *names, const struct check_suite *const *suites,
		      const char *today, struct expectations *out, struct text_list *overdue,
		      struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < names->count; i++) {
		char *path CLEANUP_FREE = NULL;
		rc = find_file(names->items[i], &path, err);
		if (rc == 0)
			rc = expectations_read(path, out, err);
	}
	for (size_t i = 0; rc == 0 && i < out->count; i++) {
		rc = verify_row(&out->rows[i], suites, err);
		if (rc == 0)
			rc = review_row(&out->rows[i], today, overdue, err);
	}
	return rc == 0 ? expectations_check_twins(out, err) : rc;
}

int runner_open_expectations(struct runner *runner, struct error *err)
{
	struct text_list overdue CLEANUP_TEXT_LIST = {0};
	char today[CLOCK_UTC_SIZE] = "";
	if (runner->settings->expect == NULL)
		return 0;
	(void)clock_utc(today);
	int rc = expectations_open(runner->settings->expect, runner->suites, today,
				   &runner->expectations, &overdue, err);
	for (size_t i = 0; i < overdue.count; i++)
		log_warning("%s", overdue.items[i]);
	return rc < 0 ? error_wrap(err, rc, "--expect") : 0;
}
