/* SPDX-License-Identifier: MIT */
#include "discovery/linux/linker_script.h"

#include "base/cleanup.h"

#include <string.h>

struct scanner {
	const char *at, *end;
};

static void skip_comment(struct scanner *scanner)
{
	scanner->at += 2;
	while (scanner->at < scanner->end &&
	       !(scanner->at[0] == '*' && scanner->at + 1 < scanner->end && scanner->at[1] == '/'))
		scanner->at++;
	scanner->at += scanner->at < scanner->end ? 2 : 0;
}

static bool is_comment(const struct scanner *scanner)
{
	return scanner->end - scanner->at >= 2 && scanner->at[0] == '/' && scanner->at[1] == '*';
}

static bool is_separator(char c)
{
	/* The end of the string counts: NUL separates too. */
	return strchr(" \t\r\n,;", c) != NULL;
}

/* The next "(", ")" or word; false at the end. */
static bool next(struct scanner *scanner, const char **token, size_t *size)
{
	while (scanner->at < scanner->end) {
		if (is_comment(scanner))
			skip_comment(scanner);
		else if (is_separator(*scanner->at))
			scanner->at++;
		else
			break;
	}
	if (scanner->at >= scanner->end)
		return false;
	*token = scanner->at++;
	if (**token != '(' && **token != ')') {
		while (scanner->at < scanner->end && !is_separator(*scanner->at) &&
		       *scanner->at != '(' && *scanner->at != ')')
			scanner->at++;
	}
	*size = (size_t)(scanner->at - *token);
	return true;
}

static bool token_is(const char *token, size_t size, const char *word)
{
	return size == strlen(word) && memcmp(token, word, size) == 0;
}

static int inputs_add(struct text_list *inputs, const char *token, size_t size, struct error *err)
{
	char *word CLEANUP_FREE = strndup(token, size);
	if (inputs->count >= LINKER_SCRIPT_INPUTS_MAX)
		return error_set(err, ERROR_LIMIT, "names more than %d files",
				 (int)LINKER_SCRIPT_INPUTS_MAX);
	return text_list_take(inputs, STEAL(word), err);
}

int linker_script_inputs(const char *data, size_t size, struct text_list *inputs, struct error *err)
{
	struct scanner scanner = {.at = data, .end = data + size};
	const char *token = NULL;
	size_t length = 0;
	size_t depth = 0; /* parentheses open within a command that names files */
	bool command = false;
	while (next(&scanner, &token, &length)) {
		bool names_files = token_is(token, length, "INPUT") ||
				   token_is(token, length, "GROUP") ||
				   token_is(token, length, "AS_NEEDED");
		if (token_is(token, length, "(")) {
			depth += command || depth > 0 ? 1 : 0;
		} else if (token_is(token, length, ")")) {
			depth -= depth > 0 ? 1 : 0;
		} else if (depth > 0 && !names_files) {
			int rc = inputs_add(inputs, token, length, err);
			if (rc < 0)
				return rc;
		}
		command = names_files;
	}
	return 0;
}
