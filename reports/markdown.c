/* SPDX-License-Identifier: MIT */
#include "reports/markdown.h"

#include "base/cleanup.h"

#include <string.h>

/* Letters, and punctuation without a meaning in Markdown. A colon has none at a word's end; elsewhere it may belong to an
 * address or an emoji's name. */
static bool is_plain(const char *word, size_t size)
{
	static const char *const hosts[] = {"www.", "WWW.", "Www."};
	for (size_t i = 0; i < size; i++) {
		bool colon_ends = word[i] == ':' && i + 1 == size;
		if (!colon_ends && strchr("\\`*_{}[]<>#|~$^@&:", word[i]) != NULL)
			return false;
		/* Sites turn such words into links, even without a scheme. */
		for (size_t k = 0; i + 4 <= size && k < ARRAY_SIZE(hosts); k++) {
			if (memcmp(word + i, hosts[k], 4) == 0)
				return false;
		}
	}
	return true;
}

/* In a code span a bar would still end a table's cell, and a backtick the span: both are put outside. */
static void add_code(struct text *out, const char *word, size_t size)
{
	bool is_open = false;
	for (size_t i = 0; i < size; i++) {
		bool is_inside = word[i] != '|' && word[i] != '`';
		if (is_inside != is_open)
			text_add(out, "`");
		is_open = is_inside;
		text_add(out, is_inside ? "" : "\\");
		text_append(out, &word[i], 1);
	}
	text_add(out, is_open ? "`" : "");
}

void markdown_add(struct text *out, const char *string)
{
	const size_t shown = text_fit(string, strlen(string), MARKDOWN_STRING_MAX);
	struct text escaped CLEANUP_TEXT = {0};
	text_add_escaped(&escaped, string, shown);
	for (size_t i = 0; i < escaped.size;) {
		const char *word = escaped.data + i;
		size_t size = strcspn(word, " ");
		if (is_plain(word, size))
			text_append(out, word, size);
		else
			add_code(out, word, size);
		text_add(out, i + size < escaped.size ? " " : "");
		i += size + 1;
	}
	text_add(out, string[shown] != '\0' ? "…" : "");
}

void markdown_add_code(struct text *out, const char *string)
{
	struct text escaped CLEANUP_TEXT = {0};
	text_add_escaped(&escaped, string, text_fit(string, strlen(string), MARKDOWN_STRING_MAX));
	add_code(out, text_string(&escaped), escaped.size);
}
