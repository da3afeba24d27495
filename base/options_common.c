/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "base/options_internal.h"

#include <string.h>

const struct option_spec options_builtin[] = {
	[OPTIONS_BUILTIN_HELP] = {.name = "help", .letter = 'h', .help = "Show this help."},
	[OPTIONS_BUILTIN_VERSION] = {.name = "version", .help = "Show the version."},
	{.name = NULL},
};

bool options_takes_value(const struct option_spec *option)
{
	return option->type != OPTION_FLAG;
}

const char *options_value_name(const struct option_spec *option)
{
	if (option->value != NULL)
		return option->value;
	return option->type == OPTION_INT ? "NUMBER" : "VALUE";
}

const char *options_arguments(const struct command_spec *shown)
{
	if (shown->arguments != NULL)
		return shown->arguments;
	if (shown->commands == NULL)
		return "";
	return shown->run != NULL ? "[COMMAND] ..." : "COMMAND ...";
}

size_t options_group_length(const struct command_spec *command)
{
	const char *space = strchr(command->name, ' ');
	return space != NULL ? (size_t)(space - command->name) : 0;
}

bool options_in_group(const struct command_spec *command, const char *group)
{
	size_t length = options_group_length(command);
	return length != 0 && text_is(command->name, length, group);
}

static void add_default(struct text *out, const struct option_spec *option)
{
	const char *string = NULL;
	const struct text_list *list = NULL;
	int64_t value = 0;
	if (option->target == NULL)
		return;
	switch (option->type) {
	case OPTION_FLAG:
		if (*(const bool *)option->target)
			text_add(out, " [default: true]");
		return;
	case OPTION_INT:
		value = *(const int64_t *)option->target;
		if ((option->min == 0 && option->max == 0) ||
		    (value >= option->min && value <= option->max))
			text_addf(out, " [default: %lld]", (long long)value);
		return;
	case OPTION_LIST:
		list = option->target;
		if (list->count == 0)
			return;
		text_add(out, " [default: ");
		text_add_joined(out, ",", (const char *const *)list->items);
		text_add(out, "]");
		return;
	case OPTION_STRING:
	case OPTION_CHOICE:
		string = *(const char *const *)option->target;
		if (string != NULL && string[0] != '\0')
			text_addf(out, " [default: %s]", string);
		return;
	}
}

void options_add_details(struct text *out, const struct option_spec *option)
{
	if (option->type == OPTION_LIST)
		text_add(out, " May be repeated.");
	if (option->type == OPTION_CHOICE) {
		text_add(out, " [one of: ");
		text_add_joined(out, ", ", option->choices);
		text_add(out, "]");
	}
	if (option->type == OPTION_INT && (option->min != 0 || option->max != 0)) {
		const long long min = option->min;
		const long long max = option->max;
		if (min != INT64_MIN && max != INT64_MAX)
			text_addf(out, " [%lld to %lld]", min, max);
		else if (min != INT64_MIN)
			text_addf(out, " [at least %lld]", min);
		else if (max != INT64_MAX)
			text_addf(out, " [at most %lld]", max);
	}
	add_default(out, option);
	if (option->env != NULL)
		text_addf(out, " [env: %s]", option->env);
}

char *options_next_paragraph(const char **rest)
{
	const char *start = *rest;
	const char *end = start != NULL ? strstr(start, "\n\n") : NULL;
	*rest = end != NULL ? end + 2 : NULL;
	if (start == NULL)
		return NULL;
	return end != NULL ? memory_copy_start(start, (size_t)(end - start)) : memory_copy(start);
}

enum { NEAREST_LENGTH_MAX = 63 };

void options_nearest_try(struct options_nearest *nearest, const char *candidate)
{
	size_t wanted = strlen(nearest->wanted);
	size_t known = strlen(candidate);
	if (wanted == 0 || wanted > NEAREST_LENGTH_MAX || known > NEAREST_LENGTH_MAX)
		return;
	/* A prefix counts as one typing error. */
	size_t distance = wanted >= 3 && text_starts_with(candidate, nearest->wanted)
				  ? 1
				  : text_distance(nearest->wanted, candidate);
	if (distance > (known < 6 ? 1 + (known > 3 ? 1 : 0) : known / 3))
		return;
	if (nearest->found == NULL || distance < nearest->distance) {
		nearest->found = candidate;
		nearest->distance = distance;
	}
}
