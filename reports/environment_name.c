/* SPDX-License-Identifier: MIT */
#include "reports/environment_name.h"

#include <string.h>

/* The members that make the name. */
static const struct naming {
	const char *section;
	const char *members[4]; /* JSON pointers */
} namings[] = {
	{"os", {"/product", "/build", "/revision", "/kernel"}},
	{"drivers", {"/key", "/version"}},
	{"devices", {"/name"}},
	{"runtime", {"/name", "/version"}},
	{"plugin", {"/name", "/version"}},
	{"images", {"/ref"}},
	{"harness", {"/version"}},
	{"node", {"/kind", "/file", "/machine/product"}},
};

static void add_members(const struct naming *naming, const cJSON *item, struct text *out)
{
	const char *separator = "";
	for (size_t i = 0; i < ARRAY_SIZE(naming->members) && naming->members[i] != NULL; i++) {
		const cJSON *value = json_pointer(item, naming->members[i]);
		const char *string = cJSON_GetStringValue(value);
		if (cJSON_IsNumber(value))
			text_addf(out, "%s%.0f", separator, value->valuedouble);
		else if (string != NULL && string[0] != '\0')
			text_addf(out, "%s%s", separator, string);
		else
			continue;
		separator = strcmp(naming->members[i], "/build") == 0 ? "." : " ";
	}
}

void environment_add_name(const char *section, const cJSON *item, struct text *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(namings); i++) {
		if (strcmp(namings[i].section, section) == 0)
			add_members(&namings[i], item, out);
	}
}
