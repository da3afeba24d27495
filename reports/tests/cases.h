/* SPDX-License-Identifier: MIT */
#pragma once

/* Files of the golden cases, and short ways to use the library, for tests. */

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "reports/journal.h"
#include "reports/render.h"
#include "reports/writer.h"

#define GOLDEN GPUCERT_SOURCE_DIR "/reports/tests/golden"

extern const char *const golden_cases[]; /* NULL-ended */

/* The path of a case's file. Caller frees. */
char *golden_path(const char *name, const char *file);

/* The report of a case's journal; NULL and a message on stderr when there is none. */
cJSON *golden_report(const char *name);

/* The report of a journal given as lines without seq, atMs and time, which are added; NULL fills
 * `err`. */
cJSON *report_of_lines(const char *const *lines, struct error *err);

/* Lines with which a journal of two checks, "a.one" and "a.two", begins. */
#define LINE_RUN_BEGIN                                                                             \
	"\"type\":\"run-begin\",\"schema\":\"gpucert-journal/2\",\"id\":\"r\","                    \
	"\"harness\":{\"version\":\"1\",\"compiler\":\"c\"},"                                      \
	"\"invocation\":{\"argv\":[],\"timeoutPercent\":100,\"minRun\":0,"                         \
	"\"conformanceRequired\":false}"
#define LINE_SETTINGS                                                                              \
	"\"settings\":{\"launcher\":\"none\",\"profile\":\"1.36\",\"thorough\":false},"
#define LINE_PLAN                                                                                  \
	"\"type\":\"plan\"," LINE_SETTINGS "\"filteredOut\":0,\"requirements\":[{\"id\":\"R-1\","  \
	"\"level\":\"must\",\"sentence\":\"s\",\"source\":\"s\"}],\"checks\":["                    \
	"{\"id\":\"a.one\",\"revision\":1,\"requirement\":\"R-1\",\"severity\":\"high\","          \
	"\"title\":\"t\",\"advice\":\"a\"},"                                                       \
	"{\"id\":\"a.two\",\"revision\":1,\"severity\":\"low\","                                   \
	"\"title\":\"t\",\"advice\":\"a\"}]"
#define LINE_BEGIN "\"type\":\"check-begin\",\"check\":\"a.one\",\"timeoutMs\":9"
#define LINE_END                                                                                   \
	"\"type\":\"check-end\",\"check\":\"a.one\",\"outcome\":\"unsupported\","                  \
	"\"reason\":\"r\",\"durationMs\":1,\"phasesMs\":{}"
#define LINE_FAIL                                                                                  \
	"\"type\":\"check-end\",\"check\":\"a.one\",\"outcome\":\"fail\","                         \
	"\"reason\":\"got a, expected b\",\"durationMs\":1,\"phasesMs\":{}"
#define LINE_HELD                                                                                  \
	"\"type\":\"check-held\",\"check\":\"a.two\",\"cause\":\"a.one\",\"reason\":\"a.one "      \
	"failed\""
#define LINE_ASSERTION(ok)                                                                         \
	"\"type\":\"assertion\",\"check\":\"a.one\",\"what\":\"w\",\"wanted\":\"x\",\"saw\":"      \
	"\"y\",\"ok\":" ok
