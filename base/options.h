/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Command lines from one table: parsing, --help, --version, the man page and the completions all
 * come from it, so they cannot disagree.
 *
 * Long options with "--name VALUE" and "--name=VALUE", short options ("-n VALUE", "-nVALUE", "-ab"
 * for flags), "--" ends options, options and positional arguments may be mixed. A flag also takes
 * "--name=false". The last value wins. An unknown option, command or choice is answered with the
 * nearest known one. Every program has -h, --help and --version.
 *
 * An option missing from the command line comes from its environment variable (an empty one counts
 * as unset), and otherwise keeps the value of its target: the default, which --help shows.
 */

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { OPTIONS_EXIT_USAGE = 2 }; /* exit code of a command line that makes no sense */

enum option_type {
	OPTION_FLAG,   /* bool * */
	OPTION_STRING, /* const char ** : borrowed from argv or the environment */
	OPTION_INT,    /* int64_t * */
	OPTION_LIST,   /* struct text_list * : may be repeated; in the environment with commas */
	OPTION_CHOICE, /* const char ** : one of `choices` */
};

struct option_spec {
	const char *name; /* "plugin-dir" */
	char letter;	  /* 'd' for -d, 0 for none */
	enum option_type type;
	void *target;
	const char *value; /* what --help shows for the value: "DIR"; DIR, FILE, PATH and COMMAND
			      tell completions what to offer */
	const char *help;  /* one sentence or two, no newline */
	int64_t min, max;  /* OPTION_INT; both 0: any. A default out of range is not shown */
	const char *const *choices; /* OPTION_CHOICE: NULL-ended */
	const char *env;	    /* environment variable; may be NULL */
};

/* The beginning of a row in a table of options. */
#define OPTION_ROW(name_, type_, target_) .name = (name_), .type = (type_), .target = &(target_)

/* Words that completions offer, in addition to files, for values and arguments whose name contains `value`
 * ("PATTERN"). */
struct options_words {
	const char *value;	  /* NULL ends a table */
	const char *const *words; /* NULL-ended; without blanks and quotes */
};

/* A program, or one of its commands ("gpucert run"). */
struct command_spec {
	const char *name;	 /* "device-plugin-gpu", or "run" for a command; "image build" for
				  one of a group, which are shown together by "image --help" */
	const char *summary;	 /* one line */
	const char *arguments;	 /* positional arguments for the usage line, which also say how many
				  there may be: "FILE", "[CHECK...]", "OLD NEW"; NULL: none */
	const char *description; /* paragraphs separated by "\n\n"; may be NULL */
	const struct option_spec *options;   /* ended by {.name = NULL}; may be NULL. A program's
					      * options are accepted before and after the command */
	const struct command_spec *commands; /* ended by {.name = NULL}; may be NULL */
	const struct options_words *words;   /* of a program; may be NULL */
	const char *const *examples; /* NULL-ended pairs: command line, what it does; may be NULL */
	const char *const *exit_codes; /* NULL-ended pairs: code, meaning; may be NULL */
	int exit_output;	       /* of a program: the exit code when standard output cannot be
				        * written; 0: EXIT_FAILURE */
	int (*run)(const struct text_list
			   *arguments); /* exit code; NULL for a program with commands */
};

/*
 * The whole of main(): parses, answers --help, --version, --generate man|bash|zsh (which the build uses) and --complete
 * (which the completions use), finds the command, runs it and returns its exit code. A usage error is printed to stderr
 * with a hint at --help, and the exit code is OPTIONS_EXIT_USAGE. If standard output could not be written, an error is
 * printed to stderr, and an exit code of 0 becomes the program's `exit_output`.
 *
 * Begins with program_begin(), so on Windows the command line is that of the process.
 */
int options_main(const struct command_spec *program, int argc, char **argv);

/* As options_main() for any arguments, which are UTF-8. */
int options_run_line(const struct command_spec *program, int argc, char **argv);

/* Writes a command's output to standard output and frees it. ERROR_MEMORY: it is NULL. */
int options_print(char *text, struct error *err);

/* Texts; appended to `out`. `command` is one of the program's, or NULL for the program itself.
 * `color` adds terminal styles to the help, which is as wide as the terminal on standard output. */
void options_help(const struct command_spec *program, const struct command_spec *command,
		  bool color, struct text *out);
/* Help for a group of commands ("image"). */
void options_help_group(const struct command_spec *program, const char *group, bool color,
			struct text *out);
void options_man(const struct command_spec *program, struct text *out);
/* Scripts that run "PROGRAM --complete WORD..." for each completion. */
void options_bash(const struct command_spec *program, struct text *out);
void options_zsh(const struct command_spec *program, struct text *out);

/* The answer to "PROGRAM --complete WORD...": what can replace the last word. The first line names what the shell
 * offers itself (files, directories, commands; empty: nothing), each other line is a candidate, and its help after a
 * tab. argv[0] is ignored. */
void options_complete(const struct command_spec *program, int argc, char **argv, struct text *out);
