/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One verdict about many items: a plugin may list 100,000 devices, and people read reports. The first
 * failing items are recorded one by one, and all passing ones in one line.
 */

#include "conformance/runner/check.h"

struct tally {
	struct check_run *run; /* NULL: nothing is recorded */
	const char *file;
	int line;
	const char *what;   /* "id" */
	const char *wanted; /* "sent once" */
	size_t count;	    /* items judged */
	size_t wrong;	    /* items that did not hold */
};

#define TALLY_OF(run, what, wanted)                                                                \
	{                                                                                          \
		run, __FILE__, __LINE__, what, wanted, 0, 0                                        \
	}

/* Declares one that ends with its block; the last of several ends first. */
#define TALLY(name, run, what, wanted)                                                             \
	struct tally name __attribute__((cleanup(tally_end))) = TALLY_OF(run, what, wanted)

/* Counts one item, and records it if it is one of the first that did not hold. */
void tally_add(struct tally *tally, bool held, const char *saw_format, ...) PRINTF_LIKE(3, 4);

/* The same for untrusted text, which is shown escaped. */
void tally_add_text(struct tally *tally, bool held, const char *text);

/* Records the sum. Nothing when there was no item. */
void tally_end(struct tally *tally);
