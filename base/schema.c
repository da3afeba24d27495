/* SPDX-License-Identifier: MIT */
#include "base/schema.h"

#include <stdlib.h>
#include <string.h>

/* The version number after the name in `today`; 0: none. */
static unsigned version_of(const char *schema, const char *today)
{
	enum { DIGITS_MAX = 4 };
	const size_t name = (size_t)(strrchr(today, '/') - today) + 1;
	if (strncmp(schema, today, name) != 0)
		return 0;

	const size_t digits = strspn(schema + name, "0123456789");
	if (digits > DIGITS_MAX || schema[name] == '0' || schema[name + digits] != '\0')
		return 0;
	return (unsigned)strtoul(schema + name, NULL, 10);
}

int schema_check(const cJSON *document, const char *today, struct error *err)
{
	const struct json_at root = json_root(document);
	struct json_at at = {0};
	int rc = json_need(&root, "schema", JSON_STRING, &at, err);
	if (rc < 0)
		return rc;

	const char *schema = at.node->valuestring;
	const unsigned version = version_of(schema, today);
	const unsigned newest = version_of(today, today);
	if (version == 0)
		return json_error(&at, err, "expected \"%s\"", today);
	if (version > newest)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"schema: %s was written by a newer gpucert, this one reads %s: update gpucert",
			schema, today);
	if (version < newest)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"schema: %s was written by an older gpucert, this one reads only %s",
			schema, today);
	return 0;
}
