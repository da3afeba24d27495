/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Can a launch work, by the rules of containers/judging/compat/, and did it? Both go into the report: the rules
 * are under test as well. A run's folder keeps all of its launches (predictions.ndjson) for the checks that
 * judge all of them (image.c).
 */

#include "conformance/runner/check.h"
#include "conformance/runner/facts.h"
#include "containers/launch/launch.h"

/* The prediction for one launch; zeroed: none, and nothing is recorded. */
struct prediction {
	const struct facts *facts;
	struct compat_answer answer;
	enum compat_verdict verdict;
	const struct compat_finding *worst; /* decides the verdict; NULL: COMPAT_WORKS */
	const char *program, *api;	    /* api: NULL for none */
	const char *node;		    /* that it opens; NULL: none known */
	bool devices;			    /* the container has a grant */
};

void prediction_free(struct prediction *prediction);

/* `program` is a probe ("probe-vulkan"), `node` a device node of the container that it opens and reports in
 * its document, or NULL; strings live as long as the check. */
void prediction_make(struct check_run *run, const struct facts *facts, const char *program,
		     const char *node, const struct grant *grant, struct prediction *out);

/* How a launch ended. */
enum prediction_outcome {
	PREDICTION_WORKED,
	PREDICTION_NOT_RUN, /* the program did not start, or did not run to its end */
	PREDICTION_FAILED,  /* it ran, and its work failed */
	PREDICTION_STOPPED, /* killed or made to fail on purpose */
	PREDICTION_NOT_LAUNCHED,
};

/*
 * Do prediction and outcome agree? A launch predicted to fail must fail; one predicted to work must not
 * show a rule's symptom. 1: yes, 0: no, -1: unknown. *wrong: for 0 the wrong finding.
 */
int prediction_agrees(const struct compat_answer *answer, enum prediction_outcome outcome,
		      const char *symptom, const struct compat_finding **wrong);

/* Records both. `symptom`: the text of its failure. */
void prediction_record(struct check_run *run, const struct prediction *prediction,
		       enum prediction_outcome outcome, const char *symptom);

/* Records how a launch ended; `document` NULL: it printed none that counts. An end that does not depend on
 * the image is not recorded. */
void prediction_record_end(struct check_run *run, const struct prediction *prediction,
			   const struct launch_result *result, const cJSON *document);

/* An array of the run's predictions so far, as they are in the report, each with `api` (null for none) and
 * `findings` ([{rule, verdict, reason}]). Caller owns it. NULL: recorded. */
cJSON *predictions_read(struct check_run *run);
