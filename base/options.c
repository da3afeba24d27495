/* SPDX-License-Identifier: MIT */
#include "base/options.h"

#include "base/cleanup.h"
#include "base/options_internal.h"
#include "base/program.h"
#include "base/style.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int usage_error(const struct options_line *line, const struct error *err)
{
	struct text text CLEANUP_TEXT = {0};
	const char *of = line->command != NULL ? line->command->name : line->group;
	text_addf(&text, "%s: ", line->program->name);
	text_add_escaped(&text, err->text, strlen(err->text));
	text_addf(&text, "\nTry '%s%s%s --help'.\n", line->program->name, of != NULL ? " " : "",
		  of != NULL ? of : "");
	(void)fputs(text_string(&text), stderr);
	return err->code == ERROR_MEMORY ? EXIT_FAILURE : OPTIONS_EXIT_USAGE;
}

int options_print(char *text, struct error *err)
{
	if (text == NULL)
		return error_memory(err);
	(void)fputs(text, stdout);
	free(text);
	return 0;
}

static int generate_text(const struct command_spec *program, const char *format, struct text *out,
			 struct error *err)
{
	static const struct {
		const char *name;
		void (*write)(const struct command_spec *program, struct text *out);
	} formats[] = {{"man", options_man}, {"bash", options_bash}, {"zsh", options_zsh}};
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (strcmp(formats[i].name, format) == 0) {
			formats[i].write(program, out);
			return 0;
		}
	}
	return error_set(err, ERROR_ARGUMENT,
			 "option '--generate': '%s' is not one of man, bash, zsh", format);
}

/* Prints help, version or a generated file. */
static int options_answer(const struct options_line *line)
{
	const struct command_spec *program = line->program;
	struct text text CLEANUP_TEXT = {0};
	struct error err = {0};
	int rc = 0;
	if (line->help && line->command == NULL && line->group != NULL)
		options_help_group(program, line->group, style_enabled(STDOUT_FILENO), &text);
	else if (line->help)
		options_help(program, line->command, style_enabled(STDOUT_FILENO), &text);
	else if (line->version)
		text_addf(&text, "%s %s\n", program->name, GPUCERT_VERSION);
	else
		rc = generate_text(program, line->generate, &text, &err);
	if (rc == 0)
		rc = options_print(text_take(&text), &err);
	return rc == 0 ? EXIT_SUCCESS : usage_error(line, &err);
}

static int options_run(struct options_line *line)
{
	const struct command_spec *program = line->program;
	const struct command_spec *command = line->command != NULL ? line->command : program;
	struct error err = {0};
	if (command->run == NULL) {
		(void)error_set(&err, ERROR_ARGUMENT, "%s%sa command is needed",
				line->group != NULL ? line->group : "",
				line->group != NULL ? ": " : "");
		return usage_error(line, &err);
	}
	int rc = options_check_arguments(command->arguments, &line->arguments, &err);
	if (rc == 0)
		rc = options_line_apply(line, &err);
	if (rc < 0)
		return usage_error(line, &err);
	return command->run(&line->arguments);
}

/* No message when the reader closed the pipe, as `head` does. */
static int check_output(const struct command_spec *program, int code)
{
	/* A write that failed earlier left only a flag: writing one more byte gets errno. */
	bool failed = ferror(stdout) != 0;
	if (failed) {
		clearerr(stdout);
		(void)putchar('\n');
	}
	bool flushed = fflush(stdout) == 0;
	int cause = flushed ? EIO : errno;
	if (flushed && !failed)
		return code;
	if (cause != EPIPE)
		(void)fprintf(stderr, "%s: standard output: %s\n", program->name, strerror(cause));
	if (code != EXIT_SUCCESS)
		return code;
	return program->exit_output != 0 ? program->exit_output : EXIT_FAILURE;
}

int options_main(const struct command_spec *program, int argc, char **argv)
{
	program_begin(&argc, &argv);
	return options_run_line(program, argc, argv);
}

int options_run_line(const struct command_spec *program, int argc, char **argv)
{
	struct options_line line CLEANUP(options_line_free) = {.program = program};
	struct error err = {0};
	if (argc > 1 && strcmp(argv[1], "--complete") == 0) {
		struct text text CLEANUP_TEXT = {0};
		options_complete(program, argc - 1, argv + 1, &text);
		return options_print(text_take(&text), &err) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	if (options_line_read(&line, argc, argv, &err) < 0)
		return usage_error(&line, &err);
	if (line.help || line.version || line.generate != NULL)
		return check_output(program, options_answer(&line));
	return check_output(program, options_run(&line));
}
