/* SPDX-License-Identifier: MIT */
#include "base/process_internal.h"

#include <string.h>

/* Backslashes count only in front of a quote: there each is doubled, and the quote gets one of its
 * own (Microsoft: parsing C command-line arguments). */
static void command_line_add(struct text *out, const char *word)
{
	size_t backslashes = 0;
	if (word[0] != '\0' && strpbrk(word, " \t\n\v\"") == NULL) {
		text_add(out, word);
		return;
	}
	text_add(out, "\"");
	for (; *word != '\0'; word++) {
		if (*word == '\\') {
			backslashes++;
			continue;
		}
		for (size_t i = 0; i < (*word == '"' ? 2 * backslashes + 1 : backslashes); i++)
			text_add(out, "\\");
		text_append(out, word, 1);
		backslashes = 0;
	}
	for (size_t i = 0; i < 2 * backslashes; i++)
		text_add(out, "\\");
	text_add(out, "\"");
}

char *process_command_line(const char *const *argv)
{
	struct text out CLEANUP_TEXT = {0};
	for (size_t i = 0; argv[i] != NULL; i++) {
		if (i != 0)
			text_add(&out, " ");
		command_line_add(&out, argv[i]);
	}
	return text_take(&out);
}
