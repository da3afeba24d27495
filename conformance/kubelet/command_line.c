/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/plugin_process.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Reads up to the closing quote and returns the place behind it; NULL when there is none. Within
 * double quotes a backslash quotes '"', '\\', '$' and '`' (POSIX.1-2017, 2.2.3). */
static const char *read_quoted(const char *at, char quote, struct text *word)
{
	for (; *at != '\0'; at++) {
		if (*at == quote)
			return at + 1;
		if (quote == '"' && *at == '\\' && at[1] != '\0' && strchr("\"\\$`", at[1]) != NULL)
			at++;
		text_append(word, at, 1);
	}
	return NULL;
}

static int read_word(const char **line, struct text *word, struct error *err)
{
	const char *at = *line;
	while (*at != '\0' && !is_blank(*at)) {
		if (*at == '\'' || *at == '"') {
			const char *end = read_quoted(at + 1, *at, word);
			if (end == NULL)
				return error_set(err, ERROR_ARGUMENT,
						 "the quote in %s is not closed", at);
			at = end;
			continue;
		}
		if (*at == '\\' && *++at == '\0')
			return error_set(err, ERROR_ARGUMENT, "nothing follows the last backslash");
		text_append(word, at++, 1);
	}
	*line = at;
	return 0;
}

int command_line_split(const char *line, struct text_list *words, struct error *err)
{
	const char *at = line;
	for (;;) {
		while (is_blank(*at))
			at++;
		if (*at == '\0')
			return 0;
		CLEANUP_TEXT struct text word = {0};
		text_append(&word, "", 0);
		int rc = read_word(&at, &word, err);
		if (rc == 0)
			rc = text_list_add(words, text_string(&word), err);
		if (rc == 0 && word.failed)
			rc = error_memory(err);
		if (rc != 0)
			return rc;
	}
}
