/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/quote.h"

#include <string.h>

static bool only_holds(const char *string, const char *others)
{
	for (; *string != '\0'; string++) {
		bool letter =
			(*string >= 'A' && *string <= 'Z') || (*string >= 'a' && *string <= 'z');
		bool digit = *string >= '0' && *string <= '9';

		if (!letter && !digit && strchr(others, *string) == NULL)
			return false;
	}
	return true;
}

static void add_sh(struct text *out, const char *argument)
{
	if (argument[0] != '\0' && only_holds(argument, "_@%+=:,./-")) {
		text_add(out, argument);
		return;
	}
	text_add(out, "'");
	for (; *argument != '\0'; argument++) {
		if (*argument == '\'')
			text_add(out, "'\\''");
		else
			text_append(out, argument, 1);
	}
	text_add(out, "'");
}

/* Quotes and backslashes as the C runtime of Windows reads them (Microsoft, "Parsing C command-line
 * arguments"): backslashes count as escapes before a quote alone. */
static void add_runtime_quoted(struct text *out, const char *argument)
{
	size_t backslashes = 0;

	text_add(out, "\"");
	for (; *argument != '\0'; argument++) {
		if (*argument == '"') {
			for (size_t i = 0; i <= backslashes; i++)
				text_add(out, "\\");
		}
		backslashes = *argument == '\\' ? backslashes + 1 : 0;
		text_append(out, argument, 1);
	}
	for (size_t i = 0; i < backslashes; i++)
		text_add(out, "\\");
	text_add(out, "\"");
}

/* Between quotes cmd takes everything as it is, but for the quote that ends it and variables. So
 * with one of these in it nothing is left between quotes as cmd sees it: each special character is
 * escaped by itself, and what looks like a variable has a name that none has. */
static void add_cmd_escaped(struct text *out, const char *argument)
{
	struct text quoted CLEANUP_TEXT = {0};

	add_runtime_quoted(&quoted, argument);
	for (const char *at = text_string(&quoted); *at != '\0'; at++) {
		if (strchr("()%!^\"<>&|", *at) != NULL)
			text_add(out, "^");
		text_append(out, at, 1);
	}
	out->failed = out->failed || quoted.failed;
}

static int add_cmd(struct text *out, const char *argument, struct error *err)
{
	if (strpbrk(argument, "\r\n") != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "cmd cannot pass an argument with a line break in it");
	if (argument[0] != '\0' && only_holds(argument, "_@+:./\\#-"))
		text_add(out, argument);
	else if (strpbrk(argument, "\"%") != NULL)
		add_cmd_escaped(out, argument);
	else
		add_runtime_quoted(out, argument);
	return 0;
}

/* PowerShell ends a string also at typographic quotes, U+2018 to U+201B. */
static size_t powershell_quote(const char *at)
{
	bool typographic = (unsigned char)at[0] == 0xe2 && (unsigned char)at[1] == 0x80 &&
			   (unsigned char)at[2] >= 0x98 && (unsigned char)at[2] <= 0x9b;

	return *at == '\'' ? 1 : typographic ? 3 : 0;
}

/* Windows PowerShell puts quotes around an argument with blanks, without a thought for backslashes
 * and quotes in it, and leaves an empty one out. */
static const char *powershell_objection(const char *argument)
{
	size_t size = strlen(argument);

	if (size == 0)
		return "nothing in it";
	if (strchr(argument, '"') != NULL)
		return "a double quote in it";
	if (strpbrk(argument, " \t") != NULL && argument[size - 1] == '\\')
		return "a blank in it and a backslash at its end";
	return NULL;
}

static bool powershell_bare(const char *argument)
{
	if (text_starts_with(argument, "--"))
		return only_holds(argument + 2, "-");
	return argument[0] != '-' && only_holds(argument, "_./\\:-");
}

static int add_powershell(struct text *out, const char *argument, struct error *err)
{
	const char *objection = powershell_objection(argument);

	if (objection != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "Windows PowerShell cannot pass an argument with %s: %s",
				 objection, argument);
	if (powershell_bare(argument)) {
		text_add(out, argument);
		return 0;
	}
	text_add(out, "'");
	while (*argument != '\0') {
		size_t quote = powershell_quote(argument);
		size_t size = quote > 0 ? quote : 1;

		if (quote > 0)
			text_append(out, argument, size);
		text_append(out, argument, size);
		argument += size;
	}
	text_add(out, "'");
	return 0;
}

int quote_add(struct text *out, enum quote_shell shell, const char *argument, struct error *err)
{
	switch (shell) {
	case QUOTE_CMD:
		return add_cmd(out, argument, err);
	case QUOTE_POWERSHELL:
		return add_powershell(out, argument, err);
	case QUOTE_SH:
	default:
		add_sh(out, argument);
		return 0;
	}
}

int quote_add_all(struct text *out, enum quote_shell shell, const struct text_list *arguments,
		  struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < arguments->count; i++) {
		text_add(out, i > 0 ? " " : "");
		rc = quote_add(out, shell, arguments->items[i], err);
	}
	return rc;
}
