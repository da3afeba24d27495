/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One verdict about many things: a plugin may list 100,000 devices, and a report is read by people.
 * What did not hold is recorded thing by thing, up to a number, and what held in one line.
 */

#include "conformance/runner/check.h"

struct tally {
	struct check_run *run;
	const char *file;
	int line;
	const char *what;   /* "id" */
	const char *wanted; /* "sent once" */
	size_t count;	    /* of things looked at */
	size_t wrong;	    /* of those that did not hold */
};

#define TALLY_OF(run, what, wanted)                                                                \
	{                                                                                          \
		run, __FILE__, __LINE__, what, wanted, 0, 0                                        \
	}

/* Declares one that ends with its block; of several the last one first. */
#define TALLY(name, run, what, wanted)                                                             \
	struct tally name __attribute__((cleanup(tally_end))) = TALLY_OF(run, what, wanted)

/* Counts one thing, and records it if it is one of the first that did not hold. */
void tally_add(struct tally *tally, bool held, const char *saw_format, ...) PRINTF_LIKE(3, 4);

/* The same for untrusted text, which is shown escaped; `text` is what was seen. */
void tally_add_text(struct tally *tally, bool held, const char *text);

/* Records what the whole is. Nothing when nothing was looked at. */
void tally_end(struct tally *tally);
