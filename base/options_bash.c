/* SPDX-License-Identifier: MIT */
/* The completion for bash; it needs nothing but bash. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/options_internal.h"

#include <string.h>

static void add_names(struct text *out, const struct option_spec *options)
{
	OPTIONS_EACH(option, options)
	{
		text_addf(out, " --%s", option->name);
		if (option->letter != '\0')
			text_addf(out, " -%c", option->letter);
	}
}

static void add_offer(struct text *out, const struct command_spec *program, const char *value)
{
	static const char *const words[] = {
		[OFFER_NOTHING] = ":",
		[OFFER_FILES] = "files=1 words=$(compgen -f -- \"$cur\")",
		[OFFER_DIRECTORIES] = "files=1 words=$(compgen -d -- \"$cur\")",
		[OFFER_COMMANDS] = "words=$(compgen -c -- \"$cur\")",
	};
	const char *const *own = options_words_of(program, value);
	const enum options_offer offer = options_offer(value);
	if (own == NULL) {
		text_add(out, words[offer]);
		return;
	}
	text_add(out,
		 offer == OFFER_FILES ? "files=1 words=$(compgen -f -W '" : "words=$(compgen -W '");
	options_add_joined(out, own, " ");
	text_add(out, "' -- \"$cur\")");
}

/* A command's name as one word: "image\ build". */
static void add_command(struct text *out, const char *command)
{
	int group = (int)strcspn(command, " ");
	text_addf(out, "%.*s%s%s", group, command, command[group] != '\0' ? "\\" : "",
		  command + group);
}

/* A case "COMMAND:--plugin | COMMAND:-p)" for each option with a value: its choices, or with `skip` only that the next word
 * is the value. */
static void add_cases(struct text *out, const struct command_spec *program, const char *command,
		      const struct option_spec *options, bool skip)
{
	OPTIONS_EACH(option, options)
	{
		if (!options_takes_value(option))
			continue;
		text_add(out, skip ? "\t\t" : "\t");
		add_command(out, command);
		text_addf(out, ":--%s", option->name);
		if (option->letter != '\0') {
			text_add(out, " | ");
			add_command(out, command);
			text_addf(out, ":-%c", option->letter);
		}
		text_add(out, ")");
		text_add(out, skip ? " ((i++))" : "\n\t\t");
		if (!skip && option->type == OPTION_CHOICE) {
			text_add(out, "words=$(compgen -W '");
			options_add_joined(out, option->choices, " ");
			text_add(out, "' -- \"$cur\")");
		} else if (!skip) {
			add_offer(out, program, option->value);
		}
		text_add(out, skip ? " ;;\n" : "\n\t\t;;\n");
	}
}

static void add_command_search(struct text *out, const struct command_spec *program)
{
	text_add(out, "\tlocal i command= ended=\n"
		      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		      "\t\t# --name=value is three words here\n"
		      "\t\tif [[ ${COMP_WORDS[i + 1]} == = ]]; then ((i += 2)); continue; fi\n"
		      "\t\tcase $command:${COMP_WORDS[i]} in\n");
	OPTIONS_EACH_COMMAND(command, program)
	add_cases(out, program, command->name, command->options, true);
	add_cases(out, program, "*", program->options, true);
	text_add(out, "\t\t*:--) ended=1; break ;;\n\t\t*:-*) ;;\n");
	OPTIONS_EACH_COMMAND(command, program)
	{
		int group = (int)options_group_length(command);
		if (group != 0)
			text_addf(out, "\t\t:%.*s) command=%.*s ;;\n", group, command->name, group,
				  command->name);
		text_addf(out, "\t\t%.*s:%s) command=", group, command->name,
			  command->name + (group != 0 ? group + 1 : 0));
		add_command(out, command->name);
		text_add(out, " ;;\n");
	}
	text_add(out, "\t\tesac\n\tdone\n");
}

/* The words that may follow: the commands and groups of the program, or those after a group. The shell drops
 * duplicates. */
static void add_choice(struct text *out, const struct command_spec *program, const char *group)
{
	text_add(out, "words=$(compgen -W '");
	OPTIONS_EACH_COMMAND(command, program)
	{
		size_t length = options_group_length(command);
		if (group != NULL && options_in_group(command, group))
			text_addf(out, " %s", command->name + length + 1);
		else if (group == NULL)
			text_addf(out, " %.*s", (int)strcspn(command->name, " "), command->name);
	}
	text_add(out, "' -- \"$cur\")");
}

/* Option names after a "-", else commands or arguments. */
static void add_words(struct text *out, const struct command_spec *program)
{
	text_add(out, "\t*)\n\t\tcase $ended$command in\n");
	OPTIONS_EACH_COMMAND(command, program)
	{
		text_add(out, "\t\t");
		add_command(out, command->name);
		text_add(out, ") options='");
		add_names(out, command->options);
		add_names(out, program->options);
		add_names(out, options_builtin);
		text_add(out, "'; ");
		add_offer(out, program, command->arguments);
		text_add(out, " ;;\n");
	}
	OPTIONS_EACH_COMMAND(command, program)
	{
		char *group CLEANUP_FREE =
			memory_copy_start(command->name, options_group_length(command));
		if (group == NULL || group[0] == '\0')
			continue;
		text_addf(out, "\t\t%s) options=--help; ", group);
		add_choice(out, program, group);
		text_add(out, " ;;\n");
	}
	text_add(out, "\t\t1*) ");
	add_offer(out, program, "FILE");
	text_add(out, " ;;\n\t\t*) options='");
	add_names(out, program->options);
	add_names(out, options_builtin);
	text_add(out, "'; ");
	if (program->commands == NULL)
		add_offer(out, program, program->arguments);
	else
		add_choice(out, program, NULL);
	text_add(out,
		 " ;;\n\t\tesac\n"
		 "\t\t[[ $cur == -* ]] && files= words=$(compgen -W \"$options\" -- \"$cur\")\n"
		 "\t\t;;\n");
}

void options_bash(const struct command_spec *program, struct text *out)
{
	text_addf(out, "# bash completion for %s, written by '%s --generate bash'\n", program->name,
		  program->name);
	options_add_identifier(out, "_", program->name);
	text_add(out,
		 "()\n{\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		 "\tlocal options= words= files=\n"
		 "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
		 "\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n");
	add_command_search(out, program);
	text_add(out, "\tcase $command:$prev in\n");
	OPTIONS_EACH_COMMAND(command, program)
	add_cases(out, program, command->name, command->options, false);
	add_cases(out, program, "*", program->options, false);
	add_words(out, program);
	text_add(out, "\tesac\n"
		      "\tCOMPREPLY=()\n"
		      "\t[[ -n $words ]] && mapfile -t COMPREPLY <<<\"$words\"\n"
		      "\t[[ -n $files ]] && compopt -o filenames 2>/dev/null\n"
		      "\treturn 0\n}\ncomplete -F ");
	options_add_identifier(out, "_", program->name);
	text_addf(out, " %s\n", program->name);
}
