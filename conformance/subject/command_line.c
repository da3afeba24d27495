/* SPDX-License-Identifier: MIT */
#include "conformance/subject/plugin_process.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Adds the meaning of a backslash at `at` to the word, and returns the place after it; NULL: nothing
 * follows it that it could quote. */
typedef const char *read_backslash(const char *at, bool in_double_quotes, struct text *word);

/* Within double quotes a backslash quotes '"', '\\', '$' and '`' (POSIX.1-2017, 2.2.3). */
static const char *read_posix_backslash(const char *at, bool in_double_quotes, struct text *word)
{
	if (in_double_quotes && (at[1] == '\0' || strchr("\"\\$`", at[1]) == NULL)) {
		text_append(word, at, 1);
		return at + 1;
	}
	if (at[1] == '\0')
		return NULL;
	text_append(word, at + 1, 1);
	return at + 2;
}

/* As CommandLineToArgvW: before '"', two backslashes are one, and an odd one quotes it. */
static const char *read_windows_backslash(const char *at, bool in_double_quotes, struct text *word)
{
	size_t count = strspn(at, "\\");
	bool before_quote = at[count] == '"';
	(void)in_double_quotes;
	text_append(word, at, before_quote ? count / 2 : count);
	if (!before_quote || count % 2 == 0)
		return at + count;
	text_append(word, "\"", 1);
	return at + count + 1;
}

/* Reads up to the closing quote and returns the place after it; NULL when there is none. */
static const char *read_quoted(const char *at, char quote, read_backslash *backslash,
			       struct text *word)
{
	while (*at != '\0') {
		if (*at == quote)
			return at + 1;
		if (quote == '"' && *at == '\\')
			at = backslash(at, true, word);
		else
			text_append(word, at++, 1);
	}
	return NULL;
}

int command_line_split(enum command_line_rules rules, const char *line, struct text_list *words,
		       struct error *err)
{
	read_backslash *backslash =
		rules == COMMAND_LINE_WINDOWS ? read_windows_backslash : read_posix_backslash;
	const char *at = line;
	for (;;) {
		while (is_blank(*at))
			at++;
		if (*at == '\0')
			return 0;
		struct text word CLEANUP_TEXT = {0};
		while (*at != '\0' && !is_blank(*at)) {
			const char *begin = at;
			if (*at == '\'' || *at == '"') {
				at = read_quoted(at + 1, *at, backslash, &word);
				if (at == NULL)
					return error_set(err, ERROR_ARGUMENT,
							 "the quote in %s is not closed", begin);
			} else if (*at == '\\') {
				at = backslash(at, false, &word);
				if (at == NULL)
					return error_set(err, ERROR_ARGUMENT,
							 "nothing follows the last backslash");
			} else {
				text_append(&word, at++, 1);
			}
		}
		text_list_add(words, text_string(&word));
	}
}
