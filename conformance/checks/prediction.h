/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Can a launch work, by the rules of containers/compat/, and did it? Both go into the report, side by
 * side: the rules are under test as well. What launches of a run were is kept in its folder
 * (predictions.json) for the checks that judge all of them (image.c).
 */

#include "conformance/runner/check.h"
#include "conformance/runner/facts.h"
#include "containers/launch/launch.h"

/* Of one launch; zeroed: nothing is predicted of it, and nothing recorded. */
struct prediction {
	const struct facts *facts;
	struct compat_answer answer;
	enum compat_verdict verdict;
	const struct compat_finding *worst; /* that decides; NULL: all that told something work */
	const char *program, *api;	    /* api: NULL for none */
	const char *node;		    /* that it opens; NULL: none that is known */
	bool devices;			    /* the container is given something */
};

void prediction_free(struct prediction *prediction);

/* `program` is a probe ("probe-vulkan"), `node` a device node in the container that it opens, which its
 * document tells of, or NULL; strings live as long as the check. False: recorded. */
bool prediction_make(struct check_run *run, const struct facts *facts, const char *program,
		     const char *node, const struct grant *grant, struct prediction *out);

/* How a launch ended. */
enum prediction_outcome {
	PREDICTION_WORKED,
	PREDICTION_NOT_RUN, /* the program did not start, or not run to its end */
	PREDICTION_FAILED,  /* it ran, and what it tried does not work */
	PREDICTION_STOPPED, /* killed, or made to fail, on purpose */
	PREDICTION_NOT_LAUNCHED,
};

/*
 * Do they agree? Of a launch that cannot work: did it fail? Of one that works: no rule's symptom was
 * told. 1: yes, 0: no, -1: it cannot be told. *wrong: the finding that is not true, of 0.
 */
int prediction_agrees(const struct compat_answer *answer, enum prediction_outcome outcome,
		      const char *told, const struct compat_finding **wrong);

/* Records both. `told`: what the launch said of its failure. */
void prediction_record(struct check_run *run, const struct prediction *prediction,
		       enum prediction_outcome outcome, const char *told);

/* The end of a launch; `document` NULL: it said nothing that counts. An end that tells nothing of the
 * image is not recorded. */
void prediction_record_end(struct check_run *run, const struct prediction *prediction,
			   const struct launch_result *result, const cJSON *document);

/* All of the run so far, as they are in the report, each with `api` (null for none) and `findings`
 * ([{rule, verdict, reason}]): an array, of which the caller frees it. NULL: recorded. */
cJSON *predictions_read(struct check_run *run);
