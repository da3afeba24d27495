/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by help, man page, completion and parser. */

#include "base/options.h"

#include <stddef.h>

/* --help, --version: known everywhere, ended by {.name = NULL}. */
extern const struct option_spec options_builtin[];
enum { OPTIONS_BUILTIN_HELP, OPTIONS_BUILTIN_VERSION };

/* Walks a table that may be NULL. */
/* NOLINTBEGIN(bugprone-macro-parentheses): they declare what they are given */
#define OPTIONS_EACH(option, table)                                                                \
	for (const struct option_spec *option = (table);                                           \
	     (option) != NULL && (option)->name != NULL; (option)++)

#define OPTIONS_EACH_COMMAND(command, program)                                                     \
	for (const struct command_spec *command = (program)->commands;                             \
	     (command) != NULL && (command)->name != NULL; (command)++)
/* NOLINTEND(bugprone-macro-parentheses) */

bool options_takes_value(const struct option_spec *option);
/* "DIR"; "VALUE" by default. */
const char *options_value_name(const struct option_spec *option);

/* The length of the name of the command's group: 5 of "image build"; 0: it is in none. */
size_t options_group_length(const struct command_spec *command);
bool options_in_group(const struct command_spec *command, const char *group);

/* "[possible values: a, b] [default: x] [env: NAME]"; nothing when none applies. */
void options_add_details(struct text *out, const struct option_spec *option);

/* Positional arguments for the usage line: "FILE", "COMMAND ..."; "" for none. */
const char *options_arguments(const struct command_spec *shown);

/* The text up to an empty line; *rest moves past it, NULL at the end. NULL: no more paragraphs, or
 * out of memory. Caller frees. */
char *options_next_paragraph(const char **rest);

/* The nearest of the candidates, NULL when none is near enough. */
struct options_nearest {
	const char *wanted;
	const char *found;
	size_t distance;
};
void options_nearest_try(struct options_nearest *nearest, const char *candidate);

/* A parsed command line; no target has been touched. */
struct options_given {
	const struct option_spec *option;
	const char *value; /* NULL for a flag without "=" */
};

struct options_line {
	const struct command_spec *program;
	const struct command_spec *command; /* NULL until chosen, or without commands */
	const char *group; /* the first word of its name, where that has two; NULL: it has one */
	struct options_given *given;
	size_t count;
	struct text_list arguments;
	bool help, version;
	const char *generate;		       /* NULL: not asked for */
	bool ended;			       /* by "--": no options follow */
	const struct option_spec *lacks_value; /* whose value is missing; NULL: none */
};

/* By its name, or with no name by its letter. NULL: unknown. */
const struct option_spec *options_find(const struct options_line *line, const char *name,
				       size_t length, char letter);

/* Parses the command line. After --help errors are ignored. */
int options_line_read(struct options_line *line, int argc, char **argv, struct error *err);
/* Fills the targets from the line and the environment. */
int options_line_apply(const struct options_line *line, struct error *err);
void options_line_free(struct options_line *line);

/* ERROR_ARGUMENT when there are fewer or more arguments than the usage text says. */
int options_check_arguments(const char *usage, const struct text_list *arguments,
			    struct error *err);
