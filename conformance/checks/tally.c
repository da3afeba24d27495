/* SPDX-License-Identifier: MIT */
#include "conformance/checks/tally.h"

#include <stdarg.h>
#include <string.h>

enum { TALLY_SHOWN = 8 };

static void tally_count(struct tally *tally, bool held, const char *saw)
{
	tally->count++;
	if (held)
		return;
	tally->wrong++;
	if (tally->run != NULL && tally->wrong <= TALLY_SHOWN)
		check_expect_at(tally->run, tally->file, tally->line, false, NULL, tally->what,
				tally->wanted, "%s", saw);
}

void tally_add(struct tally *tally, bool held, const char *saw_format, ...)
{
	struct text saw CLEANUP_TEXT = {0};
	va_list args;
	if (!held && tally->wrong < TALLY_SHOWN) {
		va_start(args, saw_format);
		text_vaddf(&saw, saw_format, args);
		va_end(args);
	}
	tally_count(tally, held, text_string(&saw));
}

void tally_add_text(struct tally *tally, bool held, const char *text)
{
	struct text saw CLEANUP_TEXT = {0};
	if (!held && tally->wrong < TALLY_SHOWN)
		text_add_escaped(&saw, text, strlen(text));
	tally_count(tally, held, text_string(&saw));
}

void tally_end(struct tally *tally)
{
	if (tally->run == NULL)
		return;
	if (tally->wrong > TALLY_SHOWN)
		check_note(tally->run, "%s: %zu of %zu are wrong, %d are shown", tally->what,
			   tally->wrong, tally->count, TALLY_SHOWN);
	if (tally->count != 0 && tally->wrong == 0)
		check_expect_at(tally->run, tally->file, tally->line, true, NULL, tally->what,
				tally->wanted, "%zu of %zu", tally->count, tally->count);
}
