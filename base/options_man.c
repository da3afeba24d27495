/* SPDX-License-Identifier: MIT */
/* The manual page, in the classic man macros. */
#include "base/cleanup.h"
#include "base/options_internal.h"

#include <ctype.h>

/* Text escaped so that nothing in it is a macro, an escape or a typographic hyphen. */
static void man_add(struct text *out, const char *string)
{
	bool line_start = true;
	for (const char *p = string; *p != '\0'; p++) {
		if (line_start && (*p == '.' || *p == '\''))
			text_add(out, "\\&");
		if (*p == '\\')
			text_add(out, "\\e");
		else if (*p == '-')
			text_add(out, "\\-");
		else if (*p == '\'')
			text_add(out, "\\(aq");
		else
			text_append(out, p, 1);
		line_start = *p == '\n';
	}
}

static void add_font(struct text *out, char font, const char *string)
{
	text_addf(out, "\\f%c", font);
	man_add(out, string);
	text_add(out, "\\fR");
}

/* A space and a placeholder; nothing for "". */
static void add_word(struct text *out, const char *word)
{
	if (word[0] == '\0')
		return;
	text_add(out, " ");
	add_font(out, 'I', word);
}

static void man_paragraphs(struct text *out, const char *string)
{
	while (string != NULL) {
		char *paragraph CLEANUP_FREE = options_next_paragraph(&string);
		text_add(out, ".PP\n");
		if (paragraph != NULL)
			man_add(out, paragraph);
		text_add(out, "\n");
		out->failed |= paragraph == NULL;
	}
}

static void man_options(struct text *out, const struct option_spec *options)
{
	OPTIONS_EACH(option, options)
	{
		struct text details CLEANUP_TEXT = {0};
		char letter[] = {'-', option->letter, '\0'};
		text_add(out, ".TP\n");
		if (option->letter != '\0') {
			add_font(out, 'B', letter);
			text_add(out, ", ");
		}
		text_add(out, "\\fB\\-\\-");
		man_add(out, option->name);
		text_add(out, "\\fR");
		if (options_takes_value(option))
			add_word(out, options_value_name(option));
		text_add(out, "\n");
		text_add(&details, option->help);
		options_add_details(&details, option);
		man_add(out, text_string(&details));
		text_add(out, "\n");
	}
}

static void man_pairs(struct text *out, const char *heading, const char *const *pairs)
{
	if (pairs != NULL)
		text_add(out, heading);
	for (size_t i = 0; pairs != NULL && pairs[i] != NULL && pairs[i + 1] != NULL; i += 2) {
		text_add(out, ".TP\n");
		add_font(out, 'B', pairs[i]);
		text_add(out, "\n");
		man_add(out, pairs[i + 1]);
		text_add(out, "\n");
	}
}

static void synopsis(struct text *out, const struct command_spec *program,
		     const struct command_spec *command)
{
	const struct command_spec *shown = command != NULL ? command : program;
	add_font(out, 'B', program->name);
	if (command != NULL) {
		text_add(out, " ");
		add_font(out, 'B', command->name);
	}
	text_add(out, " [\\fIOPTIONS\\fR]");
	add_word(out, options_arguments(shown));
	text_add(out, "\n");
}

static void man_commands(struct text *out, const struct command_spec *program)
{
	if (program->commands == NULL)
		return;
	text_add(out, ".SH COMMANDS\n");
	OPTIONS_EACH_COMMAND(command, program)
	{
		text_add(out, ".SS ");
		man_add(out, command->name);
		text_add(out, "\n");
		synopsis(out, program, command);
		text_add(out, ".PP\n");
		man_add(out, command->summary);
		text_add(out, "\n");
		man_paragraphs(out, command->description);
		man_options(out, command->options);
		man_pairs(out, ".PP\nExamples:\n", command->examples);
		man_pairs(out, ".PP\nExit codes:\n", command->exit_codes);
	}
}

static void environment_of(struct text *out, const struct option_spec *options,
			   struct text_list *named)
{
	OPTIONS_EACH(option, options)
	{
		if (option->env == NULL || text_list_has(named, option->env))
			continue;
		text_list_add(named, option->env);
		text_add(out, named->count == 1 ? ".SH ENVIRONMENT\n.TP\n" : ".TP\n");
		add_font(out, 'B', option->env);
		text_add(out, "\nWhat holds when ");
		add_font(out, 'B', "--");
		add_font(out, 'B', option->name);
		text_add(out, " is not given.\n");
	}
}

void options_man(const struct command_spec *program, struct text *out)
{
	text_add(out, ".TH ");
	for (const char *p = program->name; *p != '\0'; p++)
		text_addf(out, "%s%c", *p == '-' ? "\\" : "", toupper((unsigned char)*p));
	text_addf(out, " 1 \"\" \"gpucert %s\" \"User Commands\"\n", GPUCERT_VERSION);
	text_add(out, ".SH NAME\n");
	man_add(out, program->name);
	text_add(out, " \\- ");
	man_add(out, program->summary);
	text_add(out, "\n.SH SYNOPSIS\n");
	synopsis(out, program, NULL);
	if (program->description != NULL)
		text_add(out, ".SH DESCRIPTION\n");
	man_paragraphs(out, program->description);
	text_add(out, ".SH OPTIONS\n");
	man_options(out, program->options);
	man_options(out, options_builtin);
	man_commands(out, program);

	struct text_list named CLEANUP_TEXT_LIST = {0};
	environment_of(out, program->options, &named);
	OPTIONS_EACH_COMMAND(command, program)
	environment_of(out, command->options, &named);
	man_pairs(out, ".SH EXAMPLES\n", program->examples);
	man_pairs(out, ".SH EXIT STATUS\n", program->exit_codes);
}
