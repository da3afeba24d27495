/* SPDX-License-Identifier: MIT */
/* From a command line and the environment to the targets. */
#include "base/cleanup.h"
#include "base/options_internal.h"
#include "base/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int set_choice(const struct option_spec *option, const char *value, const char *what,
		      struct error *err)
{
	struct options_nearest nearest = {.wanted = value};
	struct text known CLEANUP_TEXT = {0};
	for (size_t i = 0; option->choices[i] != NULL; i++) {
		if (strcmp(option->choices[i], value) == 0) {
			*(const char **)option->target = option->choices[i];
			return 0;
		}
		options_nearest_try(&nearest, option->choices[i]);
		text_add_item(&known, ", ", option->choices[i]);
	}
	if (nearest.found != NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "%s: '%s' is not one of %s; did you mean '%s'?", what, value,
				 text_string(&known), nearest.found);
	return error_set(err, ERROR_ARGUMENT, "%s: '%s' is not one of %s", what, value,
			 text_string(&known));
}

static int options_set(const struct option_spec *option, const char *value, const char *what,
		       struct error *err)
{
	const bool any = option->min == 0 && option->max == 0;
	long long number = 0;
	int rc = 0;
	switch (option->type) {
	case OPTION_FLAG:
		if (value != NULL)
			return text_to_bool(value, what, option->target, err);
		*(bool *)option->target = true;
		return 0;
	case OPTION_STRING:
		*(const char **)option->target = value;
		return 0;
	case OPTION_INT:
		rc = text_to_int64(value, what, any ? INT64_MIN : option->min,
				   any ? INT64_MAX : option->max, &number, err);
		if (rc == 0)
			*(int64_t *)option->target = number;
		return rc;
	case OPTION_LIST:
		text_list_add(option->target, value);
		return text_list_check(option->target, err);
	case OPTION_CHOICE:
		return set_choice(option, value, what, err);
	}
	return 0;
}

/* Whatever is wrong with a value, the argument makes no sense. */
static int as_argument_error(int rc, struct error *err)
{
	if (rc == 0 || rc == ERROR_MEMORY)
		return rc;
	if (err != NULL)
		err->code = ERROR_ARGUMENT;
	return ERROR_ARGUMENT;
}

static int apply_environment(const struct option_spec *option, struct error *err)
{
	const char *value = option->env != NULL ? program_variable(option->env) : NULL;
	if (value == NULL || value[0] == '\0')
		return 0;
	if (option->type == OPTION_LIST) {
		text_list_free(option->target);
		text_list_split(option->target, value, ',');
		return text_list_check(option->target, err);
	}
	char *what = text_format("environment variable %s", option->env);
	if (what == NULL)
		return error_memory(err);
	int rc = as_argument_error(options_set(option, value, what, err), err);
	free(what);
	return rc;
}

static int apply_one(const struct options_line *line, const struct option_spec *option,
		     struct error *err)
{
	char what[128] = "";
	bool given = false;
	(void)snprintf(what, sizeof(what), "option '--%s'", option->name);
	for (size_t i = 0; i < line->count; i++) {
		if (line->given[i].option != option)
			continue;
		if (!given && option->type == OPTION_LIST)
			text_list_free(option->target); /* the values given replace the default */
		given = true;
		int rc = options_set(option, line->given[i].value, what, err);
		if (rc < 0)
			return as_argument_error(rc, err);
	}
	return given ? 0 : apply_environment(option, err);
}

int options_line_apply(const struct options_line *line, struct error *err)
{
	const struct option_spec *const tables[] = {
		line->program->options,
		line->command != NULL ? line->command->options : NULL,
	};
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		OPTIONS_EACH(option, tables[i])
		{
			int rc = apply_one(line, option, err);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int options_check_arguments(const char *usage, const struct text_list *arguments, struct error *err)
{
	size_t least = 0;
	size_t most = 0;
	bool endless = false;
	for (const char *p = usage != NULL ? usage : ""; *p != '\0';) {
		size_t length = strcspn(p, " ");
		bool optional = p[0] == '[';
		if (length > 0 && p[0] != '-') {
			const char *dots = strstr(p, "...");
			endless |= dots != NULL && dots < p + length;
			most++;
			if (!optional && ++least > arguments->count)
				return error_set(err, ERROR_ARGUMENT, "missing argument: %.*s",
						 (int)strcspn(p, " ."), p);
		}
		p += length + (p[length] == ' ' ? 1 : 0);
	}
	if (!endless && arguments->count > most)
		return error_set(err, ERROR_ARGUMENT, "unexpected argument '%s'",
				 arguments->items[most]);
	return 0;
}
