/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The words of a report and the rules that derive one from another. Outcome (what happened),
 * expectation (what was known before) and disposition (what follows) are three fields, never one;
 * conformance looks at outcomes only and expectation at dispositions only, so an expected failure
 * never becomes conformance.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* What happened. */
enum report_outcome {
	REPORT_PASS,
	REPORT_FAIL,	       /* the observation differs from the requirement */
	REPORT_UNSUPPORTED,    /* something that the check needs is missing */
	REPORT_NOT_APPLICABLE, /* the rule is not about this node or this plugin */
	REPORT_CRASH,	       /* the check, the runner or the machine died during it */
	REPORT_TIMEOUT,	       /* it did not end within its limit */
	REPORT_BROKEN,	       /* the harness could not decide */
	REPORT_NOTRUN,	       /* planned, but never finished */
	REPORT_OUTCOME_COUNT
};

/* Names by enumerator, NULL-ended: "pass", "fail", "unsupported", "not-applicable", "crash",
 * "timeout", "broken", "notrun". */
extern const char *const report_outcome_names[REPORT_OUTCOME_COUNT + 1];

/* The outcome with that name; REPORT_OUTCOME_COUNT when there is none. */
enum report_outcome report_outcome_of(const char *name);

/* The decisive one of all recorded outcomes: broken, fail, unsupported, not-applicable, pass. Nothing recorded is
 * broken. */
enum report_outcome report_outcome_decided(const bool recorded[REPORT_OUTCOME_COUNT]);

/* Fail, crash, timeout or broken. */
bool report_outcome_is_bad(enum report_outcome outcome);

/* Levels of requirements and severities of checks, the gravest first; NULL-ended: "must", "should",
 * "may", and "critical", "high", "medium", "low". */
extern const char *const report_level_names[];
#define REPORT_LEVEL_MAY "may" /* obliges nobody */
/* Generations of the kubelet between which rules differ. */
extern const char *const report_kubelet_names[];
extern const char *const report_severity_names[];

/* What follows from outcome and expectation. */
enum report_disposition {
	REPORT_AS_EXPECTED,
	REPORT_EXPECTED_FAIL,	       /* as bad as its expectation entry says */
	REPORT_UNEXPECTED_FAIL,	       /* bad without an entry, or worse than its entry */
	REPORT_UNEXPECTED_IMPROVEMENT, /* better than its entry: remove the entry */
	REPORT_DISPOSITION_COUNT,
	REPORT_UNDECIDED = REPORT_DISPOSITION_COUNT, /* not run: nothing follows */
};

/* "as-expected", "expected-fail", "unexpected-fail", "unexpected-improvement"; NULL for
 * REPORT_UNDECIDED. */
extern const char *const report_disposition_names[REPORT_DISPOSITION_COUNT + 1];

/* `expected` is the outcome of the expectation entry, REPORT_PASS without one. Order, best first:
 * pass, fail, timeout, crash. */
enum report_disposition report_disposition_of(enum report_outcome outcome,
					      enum report_outcome expected);

/* How a check is known to end. */
struct report_known {
	enum report_outcome outcome;
	bool flaky; /* it may also pass */
	bool may;   /* its requirement is at this level: a failure is expected */
	const char
		*reason; /* pattern (text_glob()) of the known failure's reason; NULL or "": any */
};

/* Is a bad outcome the known failure, judging by its reason? */
bool report_is_known(const struct report_known *known, const char *reason);

/* The disposition given what is known: a failure for another reason is unexpected. */
enum report_disposition report_disposition_known(enum report_outcome outcome, const char *reason,
						 const struct report_known *known);

/* What a check's time goes into. Phases do not overlap; time outside all of them is the harness'
 * own. */
enum report_phase {
	REPORT_PHASE_SETUP,   /* the harness prepares */
	REPORT_PHASE_CRI,     /* calls of the container runtime */
	REPORT_PHASE_PROBE,   /* a probe runs */
	REPORT_PHASE_PLUGIN,  /* a declared wait for the plugin under test */
	REPORT_PHASE_WAIT,    /* any other wait that a check declares */
	REPORT_PHASE_CLEANUP, /* the harness tidies up */
	REPORT_PHASE_COUNT
};

/* NULL-ended: "setup", "cri", "probe", "plugin", "wait", "cleanup". */
extern const char *const report_phase_names[REPORT_PHASE_COUNT + 1];

/* How a run ended. */
enum report_state {
	REPORT_COMPLETE,   /* to its end */
	REPORT_INCOMPLETE, /* the runner or the machine died */
	REPORT_ABORTED,	   /* the runner gave up and said why */
};

extern const char *const report_state_names[]; /* "complete", "incomplete", "aborted" */

/* Why a runner gave up. */
enum report_abort {
	REPORT_ABORT_INTERRUPTED, /* a person or a time limit for the whole run */
	REPORT_ABORT_BROKEN, /* the environment or the harness does not work: nothing is proven */
	REPORT_ABORT_COUNT
};

/* NULL-ended: "interrupted", "broken". */
extern const char *const report_abort_names[REPORT_ABORT_COUNT + 1];

/* Whether a requirement holds, from the outcomes of all checks that test it. */
enum report_requirement_verdict {
	REPORT_SATISFIED,  /* every check that applies passed, and one did */
	REPORT_VIOLATED,   /* a check failed, timed out or crashed */
	REPORT_NOT_TESTED, /* nothing ran, or something is open: an applicable check did not pass,
			    * was left out, or passed without proving anything */
	REPORT_REQUIREMENT_NOT_APPLICABLE, /* no check applies to this node or this plugin */
};

/* NULL-ended: "satisfied", "violated", "not-tested", "not-applicable". */
extern const char *const report_requirement_verdict_names[];

/* How the checks of a run or of a requirement ended. */
struct report_tally {
	size_t outcomes[REPORT_OUTCOME_COUNT];
	size_t dispositions[REPORT_DISPOSITION_COUNT +
			    1]; /* the last one counts REPORT_UNDECIDED */
	size_t cut_off;		/* crashes that only mean that runner or machine stopped */
	size_t unproven;	/* passes that do not prove the requirement */
	size_t left_out;	/* of a requirement: applicable checks that are not in the plan */
};

size_t report_tally_total(const struct report_tally *tally);

/* Those that are not unsupported, not-applicable or notrun. */
size_t report_tally_ran(const struct report_tally *tally);

enum report_requirement_verdict report_requirement_verdict_of(const struct report_tally *tally);

/* What a run says about the MUST requirements together. */
enum report_conformance {
	REPORT_CONFORMANT, /* the run is complete, on a live node, every MUST satisfied or not
			      applicable */
	REPORT_CONFORMANCE_VIOLATED,   /* one MUST is violated: that decides */
	REPORT_CONFORMANCE_INCOMPLETE, /* everything else: undecided */
};

extern const char *const report_conformance_names[]; /* its names, NULL-ended */

/* The program's exit codes. */
enum report_exit {
	REPORT_EXIT_EXPECTED = 0,
	REPORT_EXIT_UNEXPECTED = 1, /* something unexpected, or not conformant and required to be */
	REPORT_EXIT_USAGE = 2,	    /* never for a report */
	REPORT_EXIT_BROKEN = 3,	    /* environment or harness; nothing is proven */
	REPORT_EXIT_INCOMPLETE = 4,
	REPORT_EXIT_TOO_FEW = 5, /* fewer checks ran than asked for, or none was selected */
};

struct report_facts {
	enum report_state state;
	bool broken_abort; /* aborted with REPORT_ABORT_BROKEN */
	const struct report_tally *tally;
	size_t min_run; /* checks that must run; at least 1 counts */
	bool conformance_required;
	enum report_conformance conformance;
};

/* The first that applies: broken (aborted as broken, or every check that ran is broken), incomplete
 * (it did not come to its end), unexpected, incomplete (a check is notrun), not conformant and
 * required to be (unexpected), too few, expected. */
enum report_exit report_exit_of(const struct report_facts *facts);
