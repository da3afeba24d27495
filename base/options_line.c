/* SPDX-License-Identifier: MIT */
/* Parses a command line by the tables of options. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/options_internal.h"

#include <stdlib.h>
#include <string.h>

struct options_reader {
	struct options_line *line;
	int argc;
	char **argv;
	int next; /* index of the next word */
	struct error *err;
};

static const struct option_spec options_generate[] = {
	{.name = "generate", .type = OPTION_STRING, .value = "FORMAT"},
};

/* The tables that have options. */
enum { TABLES = 3 };

static void options_tables(const struct options_line *line,
			   const struct option_spec *tables[TABLES])
{
	tables[0] = line->command != NULL ? line->command->options : NULL;
	tables[1] = line->program->options;
	tables[2] = options_builtin;
}

const struct option_spec *options_find(const struct options_line *line, const char *name,
				       size_t length, char letter)
{
	const struct option_spec *tables[TABLES] = {NULL};
	options_tables(line, tables);
	for (size_t i = 0; i < TABLES; i++) {
		OPTIONS_EACH(option, tables[i])
		{
			if (name != NULL ? text_is(name, length, option->name)
					 : option->letter == letter)
				return option;
		}
	}
	return name != NULL && text_is(name, length, options_generate->name) ? options_generate
									     : NULL;
}

static int options_unknown(const struct options_reader *reader, const char *word, size_t length)
{
	const struct options_line *line = reader->line;
	char *name CLEANUP_FREE = memory_copy_start(word, length);
	struct options_nearest nearest = {.wanted = name};
	const struct option_spec *tables[TABLES] = {NULL};
	if (name == NULL)
		return error_memory(reader->err);
	/* Options of a command before the command itself, or without one. */
	const struct command_spec *commands =
		line->command == NULL ? line->program->commands : NULL;
	for (; commands != NULL && commands->name != NULL; commands++) {
		OPTIONS_EACH(option, commands->options)
		{
			if (strcmp(option->name, name) == 0)
				return error_set(reader->err, ERROR_ARGUMENT,
						 "option '--%s' belongs to '%s' and goes behind it",
						 name, commands->name);
		}
	}
	options_tables(line, tables);
	for (size_t i = 0; i < TABLES; i++) {
		OPTIONS_EACH(option, tables[i])
		{
			options_nearest_try(&nearest, option->name);
		}
	}
	if (nearest.found == NULL)
		return error_set(reader->err, ERROR_ARGUMENT, "unknown option '--%s'", name);
	return error_set(reader->err, ERROR_ARGUMENT, "unknown option '--%s'; did you mean '--%s'?",
			 name, nearest.found);
}

static int note(const struct options_reader *reader, const struct option_spec *option,
		const char *value)
{
	struct options_line *line = reader->line;
	if (option == &options_builtin[OPTIONS_BUILTIN_HELP])
		line->help = true;
	else if (option == &options_builtin[OPTIONS_BUILTIN_VERSION])
		line->version = true;
	else if (option == options_generate)
		line->generate = value;
	if (option == options_generate || option->target == NULL)
		return 0;
	struct options_given *grown = array_grow(line->given, line->count, sizeof(*grown));
	if (grown == NULL)
		return error_memory(reader->err);
	line->given = grown;
	line->given[line->count++] = (struct options_given){.option = option, .value = value};
	return 0;
}

/* The value of an option: the rest of the same word, or the next word. */
static int take_value(struct options_reader *reader, const struct option_spec *option,
		      const char *attached)
{
	if (attached != NULL)
		return note(reader, option, attached);
	if (reader->next >= reader->argc) {
		reader->line->lacks_value = option;
		return error_set(reader->err, ERROR_ARGUMENT, "option '--%s' needs a value: %s",
				 option->name, options_value_name(option));
	}
	return note(reader, option, reader->argv[reader->next++]);
}

static int read_long(struct options_reader *reader, const char *word)
{
	size_t length = strcspn(word, "=");
	const char *attached = word[length] == '=' ? word + length + 1 : NULL;
	const struct option_spec *option = options_find(reader->line, word, length, 0);
	if (option == NULL)
		return options_unknown(reader, word, length);
	if (options_takes_value(option))
		return take_value(reader, option, attached);
	if (attached != NULL && option->target == NULL)
		return error_set(reader->err, ERROR_ARGUMENT, "option '--%s' takes no value",
				 option->name);
	return note(reader, option, attached);
}

static int read_letters(struct options_reader *reader, const char *letters)
{
	for (const char *p = letters; *p != '\0'; p++) {
		const struct option_spec *option = options_find(reader->line, NULL, 0, *p);
		if (option == NULL)
			return error_set(reader->err, ERROR_ARGUMENT, "unknown option '-%c'", *p);
		if (options_takes_value(option))
			return take_value(reader, option, p[1] != '\0' ? p + 1 : NULL);
		int rc = note(reader, option, NULL);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_word(struct options_reader *reader, const char *word)
{
	struct options_line *line = reader->line;
	if (line->program->commands == NULL || line->command != NULL) {
		text_list_add(&line->arguments, word);
		return text_list_check(&line->arguments, reader->err);
	}
	if (line->group == NULL && strcmp(word, "help") == 0) {
		line->help = true;
		return 0;
	}
	char *name CLEANUP_FREE =
		line->group != NULL ? text_format("%s %s", line->group, word) : memory_copy(word);
	struct options_nearest nearest = {.wanted = name};
	if (name == NULL)
		return error_memory(reader->err);
	OPTIONS_EACH_COMMAND(command, line->program)
	{
		if (strcmp(command->name, name) == 0) {
			line->command = command;
			return 0;
		}
		if (line->group == NULL && options_in_group(command, word)) {
			line->group = word;
			return 0;
		}
		options_nearest_try(&nearest, command->name);
	}
	if (line->program->run != NULL) {
		text_list_add(&line->arguments, word);
		return text_list_check(&line->arguments, reader->err);
	}
	if (nearest.found != NULL)
		return error_set(reader->err, ERROR_ARGUMENT,
				 "unknown command '%s'; did you mean '%s'?", name, nearest.found);
	return error_set(reader->err, ERROR_ARGUMENT, "unknown command '%s'", name);
}

int options_line_read(struct options_line *line, int argc, char **argv, struct error *err)
{
	struct options_reader reader = {
		.line = line, .argc = argc, .argv = argv, .next = 1, .err = err};
	while (reader.next < argc) {
		const char *word = argv[reader.next++];
		int rc = 0;
		if (line->ended || word[0] != '-' || word[1] == '\0')
			rc = read_word(&reader, word);
		else if (strcmp(word, "--") == 0)
			line->ended = true;
		else if (word[1] == '-')
			rc = read_long(&reader, word + 2);
		else
			rc = read_letters(&reader, word + 1);
		if (rc < 0 && !line->help)
			return rc;
	}
	return 0;
}

void options_line_free(struct options_line *line)
{
	free(line->given);
	text_list_free(&line->arguments);
	*line = (struct options_line){0};
}
