/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/options_internal.h"
#include "base/style.h"

#include <string.h>
#include <unistd.h>

enum {
	HELP_WIDTH_MIN = 40,
	HELP_WIDTH_MAX = 100,
	HELP_COLUMN_MAX = 34, /* a longer left side gets a line of its own */
};

struct help {
	struct text *out;
	bool color;
	size_t width;
};

/* Adds words from column `indent` on, and a newline. The cursor is at `column`. */
static void wrap(const struct help *help, const char *string, size_t indent, size_t column)
{
	bool first = true;
	for (const char *p = string; *p != '\0';) {
		/* The next unbreakable piece: a word, or brackets with everything in them, if they fit. */
		size_t length = strcspn(p, " \n");
		const char *end = p[0] == '[' ? strchr(p, ']') : NULL;
		if (end != NULL) {
			size_t whole = (size_t)(end - p) + 1 + strcspn(end + 1, " \n");
			if (whole > length && text_columns(p, whole) <= help->width - indent)
				length = whole;
		}
		size_t columns = text_columns(p, length);
		if (length != 0) {
			if (!first && column + 1 + columns > help->width) {
				text_addf(help->out, "\n%*s", (int)indent, "");
				column = indent;
				first = true;
			}
			text_addf(help->out, "%s%.*s", first ? "" : " ", (int)length, p);
			column += columns + (first ? 0 : 1);
			first = false;
		}
		p += length + (p[length] != '\0' ? 1 : 0);
	}
	text_add(help->out, "\n");
}

static void help_heading(const struct help *help, const char *heading)
{
	text_addf(help->out, "\n%s%s%s\n", style(help->color, STYLE_BOLD), heading,
		  style(help->color, STYLE_RESET));
}

/* A row of two columns: the left one bold, the right one wrapped. */
static void help_row(const struct help *help, const char *left, const char *right, size_t column)
{
	size_t used = 2 + text_columns(left, strlen(left));
	text_addf(help->out, "  %s%s%s", style(help->color, STYLE_BOLD), left,
		  style(help->color, STYLE_RESET));
	if (used + 2 > column) {
		text_add(help->out, "\n");
		used = 0;
	}
	text_addf(help->out, "%*s", (int)(column - used), "");
	wrap(help, right, column, column);
}

static void add_option_left(struct text *out, const struct option_spec *option)
{
	if (option->letter != '\0')
		text_addf(out, "-%c, ", option->letter);
	else
		text_add(out, "    ");
	text_addf(out, "--%s", option->name);
	if (options_takes_value(option))
		text_addf(out, " %s", options_value_name(option));
}

static size_t help_options_column(const struct option_spec *options, size_t column)
{
	OPTIONS_EACH(option, options)
	{
		struct text left CLEANUP_TEXT = {0};
		add_option_left(&left, option);
		size_t needed = text_columns(text_string(&left), left.size) + 4;
		if (needed > column && needed <= HELP_COLUMN_MAX)
			column = needed;
	}
	return column;
}

static void help_options(const struct help *help, const struct option_spec *options, size_t column)
{
	OPTIONS_EACH(option, options)
	{
		struct text left CLEANUP_TEXT = {0};
		struct text right CLEANUP_TEXT = {0};
		add_option_left(&left, option);
		text_add(&right, option->help);
		options_add_details(&right, option);
		help_row(help, text_string(&left), text_string(&right), column);
	}
}

/* All, or those of a group. */
static void help_commands(const struct help *help, const struct command_spec *program,
			  const char *group)
{
	size_t column = 0;
	if (program->commands == NULL)
		return;
	help_heading(help, "Commands:");
	OPTIONS_EACH_COMMAND(command, program)
	{
		size_t needed = strlen(command->name) + 4;
		column = needed > column ? needed : column;
	}
	OPTIONS_EACH_COMMAND(command, program)
	{
		if (group == NULL || options_in_group(command, group))
			help_row(help, command->name, command->summary, column);
	}
}

static void help_pairs(const struct help *help, const char *heading, const char *const *pairs,
		       bool examples)
{
	if (pairs == NULL || pairs[0] == NULL)
		return;
	help_heading(help, heading);
	for (size_t i = 0; pairs[i] != NULL && pairs[i + 1] != NULL; i += 2) {
		if (!examples) {
			help_row(help, pairs[i], pairs[i + 1], 6);
			continue;
		}
		text_addf(help->out, "  %s%s%s\n      ", style(help->color, STYLE_BOLD), pairs[i],
			  style(help->color, STYLE_RESET));
		wrap(help, pairs[i + 1], 6, 6);
	}
}

static size_t help_width(void)
{
	int columns = style_columns(STDOUT_FILENO);
	if (columns > HELP_WIDTH_MAX)
		return HELP_WIDTH_MAX;
	return columns < HELP_WIDTH_MIN ? HELP_WIDTH_MIN : (size_t)columns;
}

static void help_end(const struct help *help, const struct command_spec *program, const char *group)
{
	text_addf(help->out, "\n'%s %s%sCOMMAND --help' shows the help of a command.\n",
		  program->name, group != NULL ? group : "", group != NULL ? " " : "");
}

void options_help(const struct command_spec *program, const struct command_spec *command,
		  bool color, struct text *out)
{
	struct help help = {.out = out, .color = color, .width = help_width()};
	const struct command_spec *shown = command != NULL ? command : program;
	size_t column = help_options_column(options_builtin, 0);
	column = help_options_column(program->options, column);
	column = help_options_column(shown->options, column);
	const char *arguments = options_arguments(shown);
	text_addf(out, "%sUsage:%s %s%s%s [OPTIONS]%s%s\n\n", style(color, STYLE_BOLD),
		  style(color, STYLE_RESET), program->name, command != NULL ? " " : "",
		  command != NULL ? command->name : "", arguments[0] != '\0' ? " " : "", arguments);
	wrap(&help, shown->summary, 0, 0);
	for (const char *rest = shown->description; rest != NULL;) {
		char *paragraph CLEANUP_FREE = options_next_paragraph(&rest);
		text_add(out, "\n");
		if (paragraph != NULL)
			wrap(&help, paragraph, 0, 0);
		out->failed |= paragraph == NULL;
	}
	if (command == NULL)
		help_commands(&help, program, NULL);
	if (command != NULL && command->options != NULL) {
		help_heading(&help, "Options:");
		help_options(&help, command->options, column);
	}
	help_heading(&help, command != NULL ? "Options of every command:" : "Options:");
	help_options(&help, program->options, column);
	help_options(&help, options_builtin, column);
	help_pairs(&help, "Examples:", shown->examples, true);
	help_pairs(&help, "Exit codes:",
		   shown->exit_codes != NULL ? shown->exit_codes : program->exit_codes, false);
	if (command == NULL && program->commands != NULL)
		help_end(&help, program, NULL);
}

void options_help_group(const struct command_spec *program, const char *group, bool color,
			struct text *out)
{
	struct help help = {.out = out, .color = color, .width = help_width()};
	text_addf(out, "%sUsage:%s %s %s COMMAND ...\n", style(color, STYLE_BOLD),
		  style(color, STYLE_RESET), program->name, group);
	help_commands(&help, program, group);
	help_end(&help, program, group);
}
