/* SPDX-License-Identifier: MIT */
/* The completion for zsh, in terms of _arguments and _describe. */
#include "base/options_internal.h"

#include <string.h>

/* Text within single quotes in which none of the characters means anything to _arguments. */
static void add_quoted(struct text *out, const char *string)
{
	for (const char *p = string; *p != '\0'; p++) {
		if (*p == '\'')
			text_add(out, "'\\''");
		else if (strchr("[]:\\", *p) != NULL)
			text_addf(out, "\\%c", *p);
		else
			text_append(out, *p == '\n' ? " " : p, 1);
	}
}

static const char *const zsh_offers[] = {
	[OFFER_NOTHING] = " ",
	[OFFER_FILES] = "_files",
	[OFFER_DIRECTORIES] = "_files -/",
	[OFFER_COMMANDS] = "_command_names -e",
};

static void add_offer(struct text *out, const struct command_spec *program, const char *value)
{
	const char *const *own = options_words_of(program, value);
	const enum options_offer offer = options_offer(value);
	if (own == NULL) {
		text_add(out, zsh_offers[offer]);
		return;
	}
	text_addf(out, "{%scompadd -- ", offer == OFFER_FILES ? "_files; " : "");
	options_add_joined(out, own, " ");
	text_add(out, "}");
}

static void add_value(struct text *out, const struct command_spec *program,
		      const struct option_spec *option)
{
	text_add(out, ":");
	add_quoted(out, options_value_name(option));
	text_add(out, ":");
	if (option->type != OPTION_CHOICE) {
		add_offer(out, program, option->value);
		return;
	}
	text_add(out, "(");
	for (size_t i = 0; option->choices[i] != NULL; i++) {
		text_add(out, i != 0 ? " " : "");
		add_quoted(out, option->choices[i]);
	}
	text_add(out, ")");
}

/* `joint` precedes a value in the same word. */
static void add_spec(struct text *out, const struct command_spec *program,
		     const struct option_spec *option, const char *dashes, const char *name,
		     const char *joint)
{
	text_addf(out, "\t\t'%s%s%s%s[", option->type == OPTION_LIST ? "*" : "", dashes, name,
		  options_takes_value(option) ? joint : "");
	add_quoted(out, option->help);
	text_add(out, "]");
	if (options_takes_value(option))
		add_value(out, program, option);
	text_add(out, "'\n");
}

static void add_specs(struct text *out, const struct command_spec *program,
		      const struct option_spec *options)
{
	OPTIONS_EACH(option, options)
	{
		const char letter[] = {option->letter, '\0'};
		if (option->letter != '\0')
			add_spec(out, program, option, "-", letter, "+");
		add_spec(out, program, option, "--", option->name, "=");
	}
}

static void add_arguments(struct text *out, const struct command_spec *program,
			  const char *arguments)
{
	if (arguments == NULL)
		return;
	text_add(out, "\t\t'*:");
	add_quoted(out, arguments);
	text_add(out, ":");
	add_offer(out, program, arguments);
	text_add(out, "'\n");
}

/* Names and summaries; `grouped`: of the commands in groups, by both words, else by the first. */
static void add_names(struct text *out, const struct command_spec *program, bool grouped)
{
	text_addf(out, "\tlocal -a %s=(\n", grouped ? "grouped" : "commands");
	OPTIONS_EACH_COMMAND(command, program)
	{
		size_t group = options_group_length(command);
		if (grouped && group == 0)
			continue;
		int length = (int)(grouped || group == 0 ? strlen(command->name) : group);
		text_addf(out, "\t\t'%.*s:", length, command->name);
		add_quoted(out, grouped || group == 0 ? command->summary : "...");
		text_add(out, "'\n");
	}
	text_add(out, "\t)\n");
}

/* The words before the cursor select the command; after a group's name come the commands of the group. */
static void add_commands(struct text *out, const struct command_spec *program)
{
	add_names(out, program, false);
	add_names(out, program, true);
	text_add(out, "\t_arguments -C -s -S \"${common[@]}\" '1:command:->command' "
		      "'*::argument:->argument' && return\n"
		      "\tcase $state in\n"
		      "\tcommand)\n\t\t_describe command commands\n\t\t;;\n"
		      "\targument)\n\t\tcase \"$words[1] ${words[2,CURRENT-1]} \" in\n");
	OPTIONS_EACH_COMMAND(command, program)
	{
		text_addf(out, "\t\t'%s '*)\n\t\t%s_arguments -s -S \"${common[@]}\" \\\n",
			  command->name,
			  options_group_length(command) != 0 ? "shift words; ((CURRENT--)); " : "");
		options_add_identifier(out, "\t\t\t\"${(@)specs_", command->name);
		text_add(out, "}\"\n\t\t;;\n");
	}
	text_add(out, "\t\t*)\n\t\tcommands=(\"${(@)${(@M)grouped:#$words[1] *}#$words[1] }\")\n"
		      "\t\t_describe command commands\n\t\t;;\n"
		      "\t\tesac\n\t\t;;\n\tesac\n");
}

void options_zsh(const struct command_spec *program, struct text *out)
{
	text_addf(out, "#compdef %s\n# Written by '%s --generate zsh'.\n", program->name,
		  program->name);
	options_add_identifier(out, "_", program->name);
	text_add(out, "() {\n\tlocal curcontext=$curcontext state line\n\ttypeset -A opt_args\n");
	text_add(out, "\tlocal -a common=(\n");
	add_specs(out, program, program->options);
	add_specs(out, program, options_builtin);
	text_add(out, "\t)\n");
	OPTIONS_EACH_COMMAND(command, program)
	{
		options_add_identifier(out, "\tlocal -a specs_", command->name);
		text_add(out, "=(\n");
		add_specs(out, program, command->options);
		add_arguments(out, program, command->arguments);
		text_add(out, "\t)\n");
	}
	if (program->commands != NULL) {
		add_commands(out, program);
	} else {
		text_add(out, "\tlocal -a arguments=(\n");
		add_arguments(out, program, program->arguments);
		text_add(out, "\t)\n\t_arguments -s -S \"${common[@]}\" \"${arguments[@]}\"\n");
	}
	text_add(out, "}\nif [[ $funcstack[1] == ");
	text_addf(out, "_%s ]]; then\n\t", program->name);
	options_add_identifier(out, "_", program->name);
	text_add(out, " \"$@\"\nelse\n\tcompdef ");
	options_add_identifier(out, "_", program->name);
	text_addf(out, " %s\nfi\n", program->name);
}
