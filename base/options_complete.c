/* SPDX-License-Identifier: MIT */
/* Completions of a command line, and the scripts with which bash and zsh request them. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/options_internal.h"

#include <string.h>

/* A line "NAME" or "NAME<tab>HELP" for a name that begins as the word does. */
static void offer(struct text *out, const char *word, const char *name, const char *help)
{
	if (text_starts_with(name, word))
		text_addf(out, "%s%s%s\n", name, help != NULL ? "\t" : "",
			  help != NULL ? help : "");
}

static void offer_words(struct text *out, const char *word, const char *const *words)
{
	for (; words != NULL && *words != NULL; words++)
		offer(out, word, *words, NULL);
}

static void offer_options(struct text *out, const char *word, const struct option_spec *options)
{
	OPTIONS_EACH(option, options)
	{
		const char letter[] = {'-', option->letter, '\0'};
		char *name CLEANUP_FREE = text_format("--%s", option->name);
		offer(out, word, name, option->help);
		if (option->letter != '\0')
			offer(out, word, letter, option->help);
	}
}

/* Commands and the names of groups, or the commands of a group. */
static void offer_commands(struct text *out, const char *word, const struct options_line *line)
{
	const struct command_spec *previous = NULL;
	OPTIONS_EACH_COMMAND(command, line->program)
	{
		size_t length = options_group_length(command);
		char *group CLEANUP_FREE = memory_copy_start(command->name, length);
		if (line->group != NULL && options_in_group(command, line->group))
			offer(out, word, command->name + length + 1, command->summary);
		else if (line->group == NULL && length == 0)
			offer(out, word, command->name, command->summary);
		else if (line->group == NULL &&
			 (previous == NULL || !options_in_group(previous, group)))
			offer(out, word, group, NULL);
		previous = command;
	}
}

/* For a value or argument of this name: the shell's own offers, and the program's words. */
static void offer_value(struct text *out, const char *word, const struct command_spec *program,
			const char *value)
{
	const struct options_words *row = value != NULL ? program->words : NULL;
	while (row != NULL && row->value != NULL && strstr(value, row->value) == NULL)
		row++;
	if (value == NULL)
		text_add(out, "\n");
	else if (strstr(value, "FILE") != NULL || strstr(value, "PATH") != NULL)
		text_add(out, "files\n");
	else if (strstr(value, "DIR") != NULL)
		text_add(out, "directories\n");
	else
		text_add(out, strstr(value, "COMMAND") != NULL ? "commands\n" : "\n");
	if (row != NULL)
		offer_words(out, word, row->words);
}

static void offer_option_value(struct text *out, const char *word,
			       const struct command_spec *program, const struct option_spec *option)
{
	if (option->type == OPTION_CHOICE) {
		text_add(out, "\n");
		offer_words(out, word, option->choices);
	} else {
		offer_value(out, word, program, option->value);
	}
}

void options_complete(const struct command_spec *program, int argc, char **argv, struct text *out)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	for (int i = 0; i < argc; i++) {
		struct text word CLEANUP_TEXT = {0};
		text_add(&word, argv[i]);
		/* bash makes three words of --name=value. */
		if (i + 1 < argc && strcmp(argv[i + 1], "=") == 0 &&
		    text_starts_with(argv[i], "--")) {
			text_add(&word, argv[++i]);
			text_add(&word, i + 1 < argc ? argv[++i] : "");
		}
		text_list_take(&words, text_take(&word));
	}
	if (words.count < 2)
		return;
	const char *word = words.items[words.count - 1];
	struct options_line line CLEANUP(options_line_free) = {
		.program = program, .help = true /* errors are ignored */};
	(void)options_line_read(&line, (int)words.count - 1, words.items, NULL);
	const char *value = strchr(word, '=');
	const struct option_spec *option =
		value != NULL && text_starts_with(word, "--")
			? options_find(&line, word + 2, (size_t)(value - word) - 2, '\0')
			: NULL;
	if (line.lacks_value != NULL) {
		offer_option_value(out, word, program, line.lacks_value);
	} else if (option != NULL && !line.ended) {
		offer_option_value(out, value + 1, program, option);
	} else if (word[0] == '-' && !line.ended) {
		text_add(out, "\n");
		if (line.command != NULL)
			offer_options(out, word, line.command->options);
		if (line.command != NULL || line.group == NULL)
			offer_options(out, word, program->options);
		offer_options(out, word, options_builtin);
	} else if (line.command != NULL || program->commands == NULL) {
		offer_value(out, word, program,
			    (line.command != NULL ? line.command : program)->arguments);
	} else {
		text_add(out, "\n");
		offer_commands(out, word, &line);
	}
}

/* "!" is replaced by the program's name. The first line of the answer selects the shell's own offers. */
static const char bash_script[] =
	"# bash completion for !, written by '! --generate bash'\n"
	"_gpucert_complete_!()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} answer=()\n"
	"\tmapfile -t answer < <(\"$1\" --complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	"\tCOMPREPLY=(\"${answer[@]:1}\")\n"
	"\tCOMPREPLY=(\"${COMPREPLY[@]%%$'\\t'*}\")\n"
	"\t[[ $cur == = ]] && cur=\n"
	"\tcase ${answer[0]-} in\n"
	"\tfiles) answer=(-f) ;;\n"
	"\tdirectories) answer=(-d) ;;\n"
	"\tcommands) answer=(-c) ;;\n"
	"\t*) return 0 ;;\n"
	"\tesac\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen \"${answer[0]}\" -- \"$cur\")\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _gpucert_complete_! !\n";

static const char zsh_script[] =
	"#compdef !\n"
	"# Written by '! --generate zsh'.\n"
	"local -a answer offers\n"
	"local ret=1\n"
	"answer=(\"${(@f)$(${(Q)~words[1]} --complete \"${(@Q)words[2,CURRENT-1]}\" \"$PREFIX\" "
	"2>/dev/null)}\")\n"
	"[[ $PREFIX == --*=* ]] && compset -P 1 '*='\n"
	"case $answer[1] in\n"
	"files) _files && ret=0 ;;\n"
	"directories) _files -/ && ret=0 ;;\n"
	"commands) _command_names -e && ret=0 ;;\n"
	"esac\n"
	"offers=(\"${(@)answer[2,-1]/$'\\t'/:}\")\n"
	"(( $#offers )) && _describe ! offers && ret=0\n"
	"return ret\n";

static void add_script(struct text *out, const char *script, const char *name)
{
	for (; *script != '\0'; script++)
		text_append(out, *script == '!' ? name : script, *script == '!' ? strlen(name) : 1);
}

void options_bash(const struct command_spec *program, struct text *out)
{
	add_script(out, bash_script, program->name);
}

void options_zsh(const struct command_spec *program, struct text *out)
{
	add_script(out, zsh_script, program->name);
}
