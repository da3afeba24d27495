/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * For checks of what containers on one device do to each other, a probe can look for other work's
 * results in new memory, work again and again, wait before or after its work, or behave like a broken
 * program. All of that uses the steps of the work (work.h); an API adds one of its own, for the stage
 * WORK_STAGE_LOOK.
 */

#include "base/error.h"
#include "base/options.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

/* The command line: the targets of NEIGHBOUR_OPTIONS(). */
struct neighbour_options {
	int64_t look_for;	 /* seed; 0: nothing */
	int64_t rounds_ms;	 /* 0: one round */
	const char *fault;	 /* of neighbour_faults; NULL: none */
	const char *pause;	 /* NULL: none */
	const char *pause_after; /* NULL: none */
};

extern const char *const neighbour_faults[]; /* NULL-ended */

#define NEIGHBOUR_OPTIONS(given)                                                                      \
	{OPTION_ROW("look-for", OPTION_INT, (given).look_for), .value = "SEED",                       \
	 .help = "Look for the results of work with this seed in the new memory, before the work.",   \
	 .max = UINT32_MAX},                                                                          \
		{OPTION_ROW("rounds", OPTION_INT, (given).rounds_ms), .value = "MS",                  \
		 .help = "Work again and again for so long, and at least 9 times, with another seed " \
			 "each time; the last round has that of --seed.",                             \
		 .max = 600000},                                                                      \
		{OPTION_ROW("fault", OPTION_CHOICE, (given).fault), .choices = neighbour_faults,      \
		 .value = "FAULT",                                                                    \
		 .help = "endless: dispatch more than is ever finished. crash: write far beyond the " \
			 "end of the memory, and abort."},                                            \
		{OPTION_ROW("pause", OPTION_STRING, (given).pause), .value = "FILE",                  \
		 .help = "Before the first dispatch, with all of its memory on the device, "          \
			 "wait for a line from this file, usually a FIFO."},                          \
	{                                                                                             \
		OPTION_ROW("pause-after", OPTION_STRING, (given).pause_after),                        \
			.value = "FILE",                                                              \
			.help = "After the work, with everything that it used still open, wait for "  \
				"a line from this file, usually a FIFO.",                             \
	}

/* Puts them into a request. */
void neighbour_request(const struct neighbour_options *options, struct work_request *request);

/* api_work(), in as many rounds as are asked for: up to the first wrong one, or the last. */
void neighbour_work(const struct api_driver *api, void *session, size_t devices,
		    const struct neighbour_options *options, const struct work_request *request,
		    struct work_report *report);

/* Before a dispatch: waits for the line from request->pause, once in all the work. ERROR_NOT_FOUND,
 * ERROR_FORMAT, ... */
int neighbour_pause(struct work_report *report, struct error *err);

/* After the work, with everything that it used still open: waits for the line from
 * request->pause_after, once. `request` may be NULL. Errors of neighbour_pause(). */
int neighbour_pause_after(const struct work_request *request, struct work_report *report,
			  struct error *err);

/* Looks for results with the seed request->look_for in new memory that was read back. Only runs of
 * four elements in their order count: no other work makes one. */
void neighbour_look(const struct work_data *data, struct work_report *report);
