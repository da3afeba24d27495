/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What one check recorded. The check's process writes it as JSON lines to its result pipe while it
 * runs, so nothing is lost when the process dies; the runner reads the lines here.
 */

#include "base/json.h"
#include "conformance/runner/check.h"
#include "reports/model.h"

enum {
	RESULT_LINE_MAX = 64 * 1024, /* bytes of one record; a longer one makes the check broken */
	RESULT_RECORDS_MAX = 4096,   /* assertions, notes and evidence of one check */
};

/* A plugin registered `resource`; process `pid` serves its socket, 0: not told. */
typedef void result_plugin(const char *resource, int pid, void *user);

struct result {
	cJSON *assertions; /* array, as in the report */
	cJSON *evidence;   /* array, as in the report */
	cJSON *notes;	   /* array of strings */
	cJSON *devices;	   /* array of device ids, each once */
	uint64_t time_ns[REPORT_PHASE_COUNT];
	uint64_t watched_ms;	      /* the shortest that the check watched something; */
	uint64_t watched_thorough_ms; /* what a thorough run watches; 0: nothing was watched */
	size_t records;
	bool finished;	      /* the body returned and its clean-ups ran */
	char *failed;	      /* the first assertion that did not hold: "what: saw X, wanted Y" */
	char *broken;	      /* the first reason why the harness could not tell */
	char *unsupported;    /* the first optional thing that was absent */
	char *not_applicable; /* the first reason why the rule is not about this plugin or node */
	result_plugin *on_plugin; /* called as the record comes; may be NULL */
	void *user;
};

#define CLEANUP_RESULT __attribute__((cleanup(result_free)))

int result_new(struct result *result, struct error *err);
void result_free(struct result *result);

/* Takes in one line of the result pipe. ERROR_FORMAT, ERROR_LIMIT: the check broke the protocol. */
int result_add_line(struct result *result, const char *line, size_t size, struct error *err);

/* The outcome of a body that ended by itself: broken before fail before unsupported before
 * not-applicable before pass; nothing recorded is broken. `reason` is borrowed from the result, ""
 * for a pass. */
enum report_outcome result_outcome(const struct result *result, const char **reason);
