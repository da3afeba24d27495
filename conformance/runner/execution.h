/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One check, run in a process of its own: started, read, bounded, judged.
 */

#include "base/path.h"
#include "base/text.h"
#include "conformance/runner/plan.h"
#include "conformance/runner/result.h"
#include "conformance/system_log/system_log.h"

#include <uv.h>

struct execution_spec {
	uv_loop_t *loop;
	const char *program;	       /* of the check's process: libexec/gpucert/run-check */
	const struct context *context; /* written to its run directory already */
	const struct check *check;
	struct system_log *log;	 /* its new lines are recorded; NULL: it cannot be read */
	struct journal *journal; /* in which the check has begun; receives what it sees */
	const char *directory;	 /* the check's private folder; exists */
	const volatile bool
		*interrupted;	  /* the run is to end: the check is stopped and ends as notrun */
	result_plugin *on_plugin; /* while the check runs; may be NULL */
	void *user;
	uint64_t
		silence_ms; /* the check is stopped when it has recorded nothing for so long; 0: never */
};

struct execution {
	struct execution_spec spec;
	struct process *process;
	struct error protocol; /* the first way in which the check broke the result protocol */
	bool interrupted, silent;
	uint64_t heard_ms; /* clock_monotonic_ms() of its last record */

	/* After execution_end(). */
	enum report_outcome outcome;
	char *reason;	      /* one sentence; "" for a pass */
	struct result result; /* what the check's process reported until it ended */
	struct text err;      /* its process' stderr: the harness' own words */
	uint64_t duration_ms;
	uint64_t timeout_ms;
};

#define CLEANUP_EXECUTION __attribute__((cleanup(execution_free)))

/* The check's own limit in this run. */
uint64_t execution_limit_ms(const struct check *check, const struct context *context);

/* Starts the check on spec->loop; the loop keeps the address of `execution`. Errors: ERROR_IO, ERROR_NOT_FOUND: no process can
 * be made. */
int execution_start(const struct execution_spec *spec, struct execution *execution,
		    struct error *err);

/* To be called after each round of the loop, and once a second: stops a check that is to end. True: it has ended. */
bool execution_has_ended(struct execution *execution);

/* Judges a check that has ended. A check that crashes, hangs or breaks the result protocol is an outcome, not an error.
 * Errors of the journal. */
int execution_end(struct execution *execution, struct error *err);

/* A check that still runs is killed. */
void execution_free(struct execution *execution);

/* Another outcome; takes ownership of `reason`. */
void execution_set(struct execution *execution, enum report_outcome outcome, char *reason);

/* The child's side: runs `check`. Its records go to `result_fd` (runner/result.h). `directory` is an
 * existing private folder. Returns when the body and its clean-ups have ended. ERROR_IO: standard
 * output cannot be written, so records are lost. */
int check_run_execute(const struct check *check, const struct context *context,
		      const char *directory, int result_fd, struct error *err);

/* The runner's side: `record` adds to the check's records, once its process has ended. ERROR_IO: one
 * could not be kept. */
int check_run_add(const struct check *check, const struct context *context, struct result *result,
		  void (*record)(struct check_run *run, void *user), void *user, struct error *err);

/* Records the system log's lines since system_log_skip(): lines about devices of the run are evidence,
 * a reset or a fault of one fails a check that launches probes (system_log.h). */
int log_watch_record(const struct execution_spec *spec, struct execution *execution,
		     struct error *err);

/* The program of libexec/gpucert that is a check's process. */
#define RUN_CHECK "run-check" PATH_PROGRAM_SUFFIX

/* Its main(), `PROGRAM ID RUN-DIRECTORY CHECK-DIRECTORY`. Returns the exit code. */
int execution_child(const struct check_suite *const *suites, int argc, char **argv);
