/* SPDX-License-Identifier: MIT */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

/*
 * Command lines from one table: parsing, --help, --version, the man page and the completions all come
 * from it, so they cannot disagree. Long options with "--name VALUE" and "--name=value", short options,
 * "--" ends options, options and positional arguments may be mixed. An unknown option is answered with
 * the nearest known one.
 */

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum option_type {
	OPTION_FLAG,   /* bool * */
	OPTION_STRING, /* const char ** : borrowed from argv */
	OPTION_INT,    /* int64_t * */
	OPTION_LIST,   /* struct text_list * : may be repeated */
	OPTION_CHOICE, /* const char ** : one of `choices` */
};

struct option_spec {
	const char *name;    /* "plugin-dir" */
	char letter;         /* 'd' for -d, 0 for none */
	enum option_type type;
	void *target;
	const char *value;   /* what --help shows for the value: "DIR"; also tells completions DIR and FILE */
	const char *help;    /* one sentence or two, no newline */
	int64_t min, max;    /* OPTION_INT */
	const char *const *choices; /* OPTION_CHOICE: NULL-ended */
	const char *env;     /* environment variable that sets it when the option is not given; may be NULL */
};

/* A program, or one of its commands ("gpucert run"). */
struct command_spec {
	const char *name;       /* "device-plugin-gpu", or "run" for a command */
	const char *summary;    /* one line */
	const char *arguments;  /* positional arguments for the usage line: "[CHECK...]"; may be NULL */
	const char *description;/* paragraphs separated by "\n\n"; may be NULL */
	const struct option_spec *options;   /* ended by {.name = NULL}; may be NULL */
	const struct command_spec *commands; /* ended by {.name = NULL}; may be NULL */
	const char *const *examples;         /* NULL-ended pairs: command line, what it does; may be NULL */
	const char *const *exit_codes;       /* NULL-ended pairs: code, meaning; may be NULL */
	int (*run)(const struct text_list *arguments); /* exit code; NULL for a program with commands */
};

/*
 * The whole of main(): parses, answers --help, --version and --generate man|bash|zsh (which the build
 * uses), finds the command, runs it and returns its exit code. A usage error is printed to stderr with
 * the way to --help, and is exit code 2.
 */
int options_main(const struct command_spec *program, int argc, char **argv);

/* Parsing alone: fills the targets, puts positional arguments into `arguments`. ERROR_ARGUMENT. */
int options_parse(const struct command_spec *command, int argc, char **argv,
		  struct text_list *arguments, struct error *err);

/* Texts; appended to `out`. `color` adds terminal styles to the help. */
void options_help(const struct command_spec *program, const struct command_spec *command, bool color,
		  struct text *out);
void options_man(const struct command_spec *program, struct text *out);
void options_bash(const struct command_spec *program, struct text *out);
void options_zsh(const struct command_spec *program, struct text *out);

#endif
