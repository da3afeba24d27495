/* SPDX-License-Identifier: MIT */
#include "discovery/linux/linker_script.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <string.h>

#define SEPARATORS " \t\r\n,;"

/* The next "(", ")" or word; NULL at the end. */
static const char *next_token(const char **at, size_t *size)
{
	const char *token = *at + strspn(*at, SEPARATORS);

	while (text_starts_with(token, "/*")) {
		const char *end = strstr(token + 2, "*/");
		token = end != NULL ? end + 2 : "";
		token += strspn(token, SEPARATORS);
	}
	*size = *token == '(' || *token == ')' ? 1 : strcspn(token, SEPARATORS "()");
	*at = token + *size;
	return *token != '\0' ? token : NULL;
}

int linker_script_inputs(const char *data, size_t size, struct text_list *inputs, struct error *err)
{
	char *text CLEANUP_FREE = memory_copy_start(data, size);
	const char *at = text;
	const char *token = NULL;
	size_t length = 0;
	size_t depth = 0; /* parentheses open within a command that names files */
	bool command = false;

	if (text == NULL)
		return error_memory(err);
	while ((token = next_token(&at, &length)) != NULL) {
		bool names_files = text_is(token, length, "INPUT") ||
				   text_is(token, length, "GROUP") ||
				   text_is(token, length, "AS_NEEDED");

		if (text_is(token, length, "(")) {
			if (command || depth > 0)
				depth++;
		} else if (text_is(token, length, ")")) {
			if (depth > 0)
				depth--;
		} else if (depth > 0 && !names_files) {
			if (inputs->count >= LINKER_SCRIPT_INPUTS_MAX)
				return error_set(err, ERROR_LIMIT, "names more than %d files",
						 (int)LINKER_SCRIPT_INPUTS_MAX);
			text_list_take(inputs, memory_copy_start(token, length));
		}
		command = names_files;
	}
	return text_list_check(inputs, err);
}
