/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a check is, and what its body may do.
 *
 * A check is one row of a const table (conformance/checks/). Its body records verdicts, each with
 * the wanted and the observed value, and never returns one; a body that records nothing is `broken`.
 * Needs are data: the runner evaluates them before anything runs, the body never skips itself. Each
 * check runs in a process of its own.
 */

#include "base/error.h"
#include "base/json.h"
#include "base/members.h"
#include "reports/model.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order of report_level_names and report_severity_names. */
enum check_level { CHECK_MUST, CHECK_SHOULD, CHECK_MAY };
enum check_severity { CHECK_CRITICAL, CHECK_HIGH, CHECK_MEDIUM, CHECK_LOW };

/* One enumerator for each line of requirements.def. */
enum check_requirement {
	CHECK_REQUIREMENT_NONE = 0, /* of no check */
#define REQUIREMENT(symbol, id, level, sentence, source) CHECK_##symbol,
#include "conformance/runner/requirements.def"
#undef REQUIREMENT
	CHECK_REQUIREMENT_COUNT
};

struct requirement {
	const char *id; /* "REG-04" */
	enum check_level level;
	const char *sentence; /* what must hold */
	const char *source;   /* where that is written */
	long long limit;      /* the number in the sentence; 0: none */
};

const struct requirement *requirement_get(enum check_requirement requirement);

/* The limit that the requirement states, in its own unit, and one of seconds in milliseconds. Never
 * scaled: verdicts use it. */
long long requirement_limit(enum check_requirement requirement);
uint64_t requirement_limit_ms(enum check_requirement requirement);

/* Conditions without which the check means nothing; the reason names the one that is not met. If the
 * rule itself does not concern the node (another operating system, fewer devices than it concerns, a
 * recorded node, an API that no device offers) the check is not applicable, else unsupported. */
struct check_needs {
	const char *os;	  /* the node's: "windows"; NULL: any. A run that names no checks leaves out
			     those of another operating system */
	unsigned devices; /* devices that discovery finds on the node: known before the plugin's
			     resources are */
	bool own_plugin;  /* the plugin is a child of ours: it can be stopped and started again */
	bool live_node;	  /* the node itself, not a recorded one */
	bool containers;  /* probes run in containers, not on the host */
	bool launcher;	  /* probes can run at all */
	bool failing_device; /* --fail-device and --restore-device; a run that names no checks leaves it
				out without them */
	bool optional_calls; /* --optional-call; left out in the same way */
	bool registry;	     /* a plugin in plugins_registry; left out in the same way */
	const char *api;     /* a device that offers this API: "vulkan", "opencl" */
};

struct check_run; /* one execution of one check */
typedef void check_body(struct check_run *run);

/* Called by a body that several rows share, for each item that it goes through; see
 * conformance/checks/rig.h. */
struct rig;
struct rig_item;
typedef void check_judge(struct rig *rig, const struct rig_item *item);

struct check {
	const char *id;	    /* "registration.version": suite, dot, kebab-case; never reused */
	const char *title;  /* one sentence of at most 72 characters */
	const char *advice; /* what the person who sees it fail should do */
	enum check_requirement requirement;
	enum check_severity severity;
	unsigned revision; /* raised when the meaning changes; reports compare by it */
	unsigned timeout_s;
	const char *const *tags; /* NULL-ended; may be NULL */
	struct check_needs needs;
	bool provokes; /* it kills or hangs work on a device: faults that the kernel reports are no
			  failure */
	const char *depends_on; /* id of an earlier check on which this one depends: it does not run
				  if that one ends badly; NULL: none */
	bool each_kubelet; /* its rule differs between kubelets: where the run is for both, the body
			      runs once under each, in the order of report_kubelet_names */
	bool last; /* it judges the results of the run's other checks, and runs after them */
	const void *param; /* for `run`; NULL for none */
	check_body *run;
	check_judge *judge; /* for `run`; NULL if it uses none */
};

struct check_suite {
	const char *name;
	const char *title;
	const struct check *checks; /* ended by {.id = NULL} */
};

/*
 * Verdicts. `what` names the observed thing ("/devices/count", "RegisterRequest.version"). They
 * return whether it held, so that a body can stop when it makes no sense to continue. The place of
 * the call is recorded. The macro itself returns `held`, so that compilers and analysers see it.
 */
#define check_expect(run, held, what, wanted, ...)                                                 \
	check_expect_that(run, held, NULL, what, wanted, __VA_ARGS__)
/* As check_expect(), for a value that differs from run to run without a different meaning: a name
 * that the plugin invents, a measure. A reproducible report leaves out the observed value. */
#define check_expect_varying(run, held, what, wanted, ...)                                         \
	check_expect_that(run, held, "saw", what, wanted, __VA_ARGS__)
#define check_expect_that(run, held, varies, what, wanted, ...)                                    \
	__extension__({                                                                            \
		bool held_ = (held);                                                               \
		check_expect_at(run, __FILE__, __LINE__, held_, varies, what, wanted,              \
				__VA_ARGS__);                                                      \
		held_;                                                                             \
	})
#define check_expect_int(run, what, saw, wanted)                                                   \
	check_expect_int_at(run, __FILE__, __LINE__, what, saw, wanted)
/* A measure: the observed value differs from run to run. */
#define check_expect_at_most(run, what, saw, most)                                                 \
	check_expect_at_most_at(run, __FILE__, __LINE__, "saw", what, saw, most)
/* The limit is a measure, too: what the plugin used before, or how long it was watched. */
#define check_expect_at_most_measured(run, what, saw, most)                                        \
	check_expect_at_most_at(run, __FILE__, __LINE__, "both", what, saw, most)
/* NULL is shown as "(none)". */
#define check_expect_text(run, what, saw, wanted)                                                  \
	check_expect_text_at(run, __FILE__, __LINE__, NULL, what, saw, wanted)
/* As check_expect_text(), for a text that this run invented, such as a nonce. */
#define check_expect_random(run, what, saw, wanted)                                                \
	check_expect_text_at(run, __FILE__, __LINE__, "both", what, saw, wanted)
/* As check_expect(); the observed value is `wanted` or `otherwise`. */
#define check_expect_is(run, held, what, wanted, otherwise)                                        \
	__extension__({                                                                            \
		bool is_ = (held);                                                                 \
		check_expect_at(run, __FILE__, __LINE__, is_, NULL, what, wanted, "%s",            \
				is_ ? (wanted) : (otherwise));                                     \
		is_;                                                                               \
	})
/* As check_expect_at_most(), for milliseconds and the limit of the row's requirement. */
#define check_expect_in_time(run, what, saw_ms)                                                    \
	check_expect_at_most_at(run, __FILE__, __LINE__, "saw", what, (long long)(saw_ms),         \
				requirement_limit(check_row(run)->requirement) * 1000)
/* An operation that must succeed: holds when `rc` is 0, else the observed value is the error's text. */
#define check_expect_ok(run, rc, what, err)                                                        \
	__extension__({                                                                            \
		int rc_ = (rc);                                                                    \
		check_expect_ok_at(run, __FILE__, __LINE__, rc_, what, err);                       \
		rc_ == 0;                                                                          \
	})

/* `wanted` and the printf-formatted `saw` are kept as text, so that reports compare without parsing
 * prose. `varies`: which of them differs from run to run: "saw", "both", or NULL. */
void check_expect_at(struct check_run *run, const char *file, int line, bool held,
		     const char *varies, const char *what, const char *wanted,
		     const char *saw_format, ...) PRINTF_LIKE(8, 9);
bool check_expect_int_at(struct check_run *run, const char *file, int line, const char *what,
			 long long saw, long long wanted);
bool check_expect_at_most_at(struct check_run *run, const char *file, int line, const char *varies,
			     const char *what, long long saw, long long most);
bool check_expect_text_at(struct check_run *run, const char *file, int line, const char *varies,
			  const char *what, const char *saw, const char *wanted);
void check_expect_ok_at(struct check_run *run, const char *file, int line, int rc, const char *what,
			const struct error *err);

/* The harness could not find out: outcome `broken`, whatever else was recorded. */
#define check_broken(run, ...) check_remark(run, "broken", __VA_ARGS__)

/* An operation of the harness itself: true when `rc` is 0, else the check is broken for the error's
 * reason, after `what` (may be NULL). */
bool check_works(struct check_run *run, int rc, const char *what, const struct error *err);

/* Formatted text that lives as long as the check, for example for `what` of a verdict. */
const char *check_format(struct check_run *run, const char *format, ...) PRINTF_LIKE(2, 3);

/* An optional feature turned out to be absent: outcome `unsupported` unless something failed. */
#define check_unsupported(run, ...) check_remark(run, "unsupported", __VA_ARGS__)

/* The rule does not concern this plugin or this node ("the plugin offers no preferred allocation"):
 * outcome `not-applicable` unless something failed or was unsupported. */
#define check_not_applicable(run, ...) check_remark(run, "not-applicable", __VA_ARGS__)

/* A remark for the report that changes no outcome. */
#define check_note(run, ...) check_remark(run, NULL, __VA_ARGS__)

/* Advice in place of the row's, when that does not fit the reason of a failure. The first one wins. */
void check_advise(struct check_run *run, const char *advice);

void check_remark(struct check_run *run, const char *outcome, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* Evidence: stored in the run's evidence folder, digested and linked from the report. Text is cut
 * at 256 KiB (head and tail kept). The JSON stays the caller's. */
void check_evidence_text(struct check_run *run, const char *name, const char *data, size_t size);
void check_evidence_json(struct check_run *run, const char *name, const cJSON *json);

/* The check concerns this device of the environment: checks[].devices of the report. */
void check_add_device(struct check_run *run, const char *id);

/* Records between the two concern only this device, and decide its own outcome:
 * checks[].deviceOutcomes of the report. They do not nest. */
void check_begin_device(struct check_run *run, const char *id);
void check_end_device(struct check_run *run, const char *id);

/* A record of the journal, which it consumes. Types: "observation", of a container, an item of checks[].observations of the
 * report; "ran", a program on a device: environment.devices[].ran; "prediction", with a launch: predictions[]. */
void check_add_record(struct check_run *run, const char *type, struct members *record);

/* Clean-ups run last in, first out after the body, however it ended. */
void check_defer(struct check_run *run, void (*cleanup)(void *argument), void *argument);

/* The report's environment.plugin: `resource` registered, and process `pid` serves its socket (0:
 * unknown). */
void check_add_plugin(struct check_run *run, const char *resource, int pid);

/*
 * Time accounting, for the report's run.time. Phases do not nest; the time outside every phase is the
 * harness' own.
 */
void check_add_time(struct check_run *run, enum report_phase phase, uint64_t duration_ns);

/* The device is about to be made to fail, or works again. If the check is killed, the run restores the device. */
void check_add_failing(struct check_run *run, const char *device, bool fails);

/* The check watched something for `ms`; a thorough run watches it for `thorough_ms`. */
void check_add_watched(struct check_run *run, uint64_t ms, uint64_t thorough_ms);

/* What the whole run shares with its checks. */
const struct context *check_context(const struct check_run *run);

/* The path of a file in the check's private folder for sockets and temporary files, which the runner
 * removes, and of one in the run's (context.h), which later checks see too. As check_format(). */
const char *check_path(struct check_run *run, const char *name);
const char *check_run_path(struct check_run *run, const char *name);

/* Digests of files that checks of the run have read: one file in the run's directory. NULL: it cannot be kept. */
struct digest_cache *check_digests(struct check_run *run);

/* The kubelet to behave as: one of report_kubelet_names. */
const char *check_kubelet(const struct check_run *run);

/* The row that runs. */
const struct check *check_row(const struct check_run *run);
