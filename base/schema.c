/* SPDX-License-Identifier: MIT */
#include "base/schema.h"

#include <stdlib.h>
#include <string.h>

/* The number behind the name that `today` has; 0: there is none. */
static unsigned version_of(const char *schema, const char *today)
{
	enum { DIGITS_MAX = 4 };
	const size_t name = (size_t)(strrchr(today, '/') - today) + 1;
	if (strncmp(schema, today, name) != 0)
		return 0;
	const size_t digits = strspn(schema + name, "0123456789");
	return digits <= DIGITS_MAX && schema[name] != '0' && schema[name + digits] == '\0'
		       ? (unsigned)strtoul(schema + name, NULL, 10)
		       : 0;
}

/* The version of a document, which is not older than `oldest`. */
static int read_version(const struct json_at *at, const char *today, unsigned oldest,
			unsigned *version, struct error *err)
{
	const char *schema = at->node->valuestring;
	*version = version_of(schema, today);
	if (*version == 0)
		return json_error(at, err, "expected \"%s\"", today);
	if (*version > version_of(today, today))
		return error_set(err, ERROR_UNSUPPORTED,
				 "schema: %s is of a newer gpucert, this one reads up to %s: "
				 "update gpucert",
				 schema, today);
	if (*version < oldest)
		return error_set(err, ERROR_UNSUPPORTED,
				 "schema: %s is older than what this gpucert reads, which begins "
				 "with version %u",
				 schema, oldest);
	return 0;
}

int schema_upgrade(const struct schema *schema, cJSON *head, cJSON *document, struct error *err)
{
	const struct json_at root = json_root(head);
	const unsigned newest = version_of(schema->today, schema->today);
	struct json_at at = {0};
	unsigned oldest = newest;
	unsigned version = 0;
	while (schema->steps[newest - oldest] != NULL)
		oldest--;
	int rc = json_need(&root, "schema", JSON_STRING, &at, err);
	if (rc == 0)
		rc = read_version(&at, schema->today, oldest, &version, err);
	if (rc < 0 || version == newest)
		return rc;
	for (; rc == 0 && version < newest; version++)
		rc = schema->steps[version - oldest](document, err);
	if (rc == 0 && cJSON_SetValuestring((cJSON *)(uintptr_t)at.node, schema->today) == NULL)
		rc = error_memory(err);
	return rc;
}
