/* SPDX-License-Identifier: MIT */
#include "conformance/runner/expectations.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "conformance/runner/installed.h"
#include "conformance/runner/runner_internal.h"

#include <string.h>

bool expectations_forbid(const char *check, const struct check_suite *const *suites)
{
	bool is_needed = expectation_is_sentinel(check);
	for (; *suites != NULL; suites++) {
		for (const struct check *other = (*suites)->checks; other->id != NULL; other++)
			is_needed = is_needed || text_equal(other->depends_on, check);
	}
	return is_needed;
}

int expectations_open(const struct text_list *names, const struct check_suite *const *suites,
		      const char *today, struct expectations *out, struct text_list *overdue,
		      struct error *err)
{
	text_each (name, names) {
		char *path CLEANUP_FREE = NULL;
		int rc = installed_file("expectations", name, ".json", &path, err);
		if (rc == 0)
			rc = expectations_read(path, out, err);
		if (rc < 0)
			return rc;
	}

	/* A row must name a check, and must not be long overdue for review. */
	for (size_t i = 0; i < out->count; i++) {
		const struct expectation *row = &out->rows[i];
		const long days = expectation_overdue(row, today);
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
			return error_set(err, ERROR_FORMAT, "%s: %s " EXPECTATIONS_FORBIDDEN,
					 row->entry, row->check);
		if (days > EXPECTATION_GRACE_DAYS)
			return error_set(
				err, ERROR_FORMAT,
				"%s (%s) was to be reviewed by %s: see whether it still fails, "
				"and set reviewBy",
				row->entry, row->check, row->review_by);
		if (days > 0)
			text_list_addf(overdue, "%s (%s) was to be reviewed by %s", row->entry,
				       row->check, row->review_by);
	}
	return expectations_check_twins(out, err);
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
	text_each (row, &overdue)
		log_warning("%s", row);
	return rc < 0 ? error_wrap(err, rc, "--expect") : 0;
}
