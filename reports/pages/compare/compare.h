/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The changes from one report to another: in the environments that the reports are about, and in the outcomes of the
 * checks. Whether an outcome was expected is another question (reports/model.h).
 */

#include "reports/document.h"
#include "reports/view.h"

/* The parts of a report's environment. */
enum compare_part {
	COMPARE_OS,
	COMPARE_DRIVER, /* with the driver's files that containers get */
	COMPARE_DEVICE,
	COMPARE_RUNTIME,
	COMPARE_PLUGIN,
	COMPARE_IMAGE,
	COMPARE_HARNESS,
	COMPARE_NODE, /* live, recorded or emulated, and the machine that ran it */
	COMPARE_PART_COUNT
};

extern const char *const compare_part_names[]; /* NULL-ended: "OS", "driver", "device", ... */

struct compare_difference {
	bool is;
	bool follows; /* a consequence of another part: Windows images of the OS build, the machine
		       * of a live node of the OS, a recording of its content */
	char *from, *to; /* "Windows Server 2022 20348.1547"; equal if only digests differ */
};

enum compare_kind {
	COMPARE_REGRESSION, /* passed, and no longer does; but not where a rule does not apply to another system or device */
	COMPARE_FIX,		/* was bad, and passes */
	COMPARE_CHANGED,	/* any other pair of outcomes */
	COMPARE_NEW,		/* only in the second report */
	COMPARE_GONE,		/* only in the first */
	COMPARE_NOT_COMPARABLE, /* another revision of the check; or it did not pass, and one of the runs got no answer (broken, notrun) */
	COMPARE_SAME,
	COMPARE_KIND_COUNT
};

extern const char *const compare_kind_names[]; /* NULL-ended: "regression", "changed", "fix", ... */

struct compare_change {
	enum compare_kind kind;
	const struct view_check *from, *to; /* NULL: absent */
};

/* Empty when zeroed. Borrows the reports. */
struct comparison {
	const cJSON *from, *to;
	const char *from_path,
		*to_path; /* "", unless the caller sets them for comparison_write() */
	struct view from_view, to_view;
	struct compare_difference differences[COMPARE_PART_COUNT];
	struct compare_difference conformance; /* view_add_conformance() */
	struct compare_change *changes;	       /* by kind, then in the order of the second report */
	size_t count;
	size_t kinds[COMPARE_KIND_COUNT];
};

#define CLEANUP_COMPARISON __attribute__((cleanup(comparison_free)))

/* Errors of view_open(). Free with comparison_free(). */
int comparison_make(const cJSON *from, const cJSON *to, struct comparison *out, struct error *err);
void comparison_free(struct comparison *comparison);

/* The only part that changed independently; COMPARE_PART_COUNT: none or several. */
enum compare_part comparison_only_part(const struct comparison *comparison);

/* How many checks changed in the same way, with the same reason, because of the same other check, or as checks of one
 * suite that only one report has: they are shown as one. 0: an earlier change represents this one. */
size_t comparison_alike(const struct comparison *comparison, size_t index);

/* "driver nvidia 552.12 → nvidia 553.01: 2 regressions, 1 fix". Not escaped. */
void comparison_add_headline(const struct comparison *comparison, struct text *out);

/* Adds headline, changes with their reasons, and environment, with links to the reports (report_add_link()). Markdown has at
 * most 300 changes and the number of the rest. `number`: 0, or which of several comparisons it is: on a page each is
 * a section. */
void comparison_write(const struct comparison *comparison, size_t number, struct doc *doc);

/* Adds the document that comparison_write() made, as a page if it is HTML. */
void comparison_print(const struct doc *doc, struct text *out);

/* reports/schema/comparison.schema.json. */
cJSON *comparison_to_json(const struct comparison *comparison);
