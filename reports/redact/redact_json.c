/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include <string.h>

/* Takes ownership of `value`. */
static int replace(cJSON *string, char *value, struct error *err)
{
	bool done = value != NULL && (strcmp(value, string->valuestring) == 0 ||
				      cJSON_SetValuestring(string, value) != NULL);
	free(value);
	return done ? 0 : error_memory(err);
}

static int redact_key(const struct redactor *redactor, cJSON *item, struct error *err)
{
	char *key CLEANUP_FREE = redact_string(redactor, item->string);
	if (key == NULL)
		return error_memory(err);
	if (strcmp(key, item->string) == 0)
		return 0;
	if ((item->type & cJSON_StringIsConst) == 0)
		cJSON_free(item->string);
	item->string = STEAL(key);
	item->type &= ~cJSON_StringIsConst;
	return 0;
}

/* What is said of a string: by its key, for "value" by the "name" beside it, in a list by the option before it. */
static enum redact_key says(const cJSON *item, const cJSON *parent)
{
	const char *name = item->string;
	if (name != NULL && strcmp(name, "value") == 0) {
		name = json_pointer_string(parent, "/name");
		name = name != NULL ? name : json_pointer_string(parent, "/key");
	}
	if (cJSON_IsArray(parent) && item != parent->child) {
		name = cJSON_GetStringValue(item->prev);
		if (name == NULL || !text_starts_with(name, "--") || strchr(name, '=') != NULL ||
		    item->valuestring[0] == '-')
			return REDACT_KEY_PLAIN;
	}
	return name != NULL ? redact_key_of(name, strlen(name)) : REDACT_KEY_PLAIN;
}

static int redact_value(const struct redactor *redactor, cJSON *item, const cJSON *parent,
			struct error *err)
{
	char placeholder[REDACT_PLACEHOLDER_SIZE] = "<secret>";
	const char *value = item->valuestring;
	enum redact_key key = says(item, parent);
	if (key == REDACT_KEY_SECRET && value[0] != '\0')
		return replace(item, strdup(placeholder), err);
	if (key != REDACT_KEY_SERIAL || redactor->keep_identity || strchr(value, '<') != NULL ||
	    text_starts_with(value, "GPU-") || text_starts_with(value, "MIG-") ||
	    strpbrk(value, "0123456789") == NULL)
		return replace(item, redact_string(redactor, value), err);
	redact_pseudonym(redactor, REDACT_SERIAL, value, strlen(value), placeholder);
	return replace(item, strdup(placeholder), err);
}

static int redact_item(const struct redactor *redactor, cJSON *item, const cJSON *parent,
		       const char *const *without, struct error *err)
{
	int rc = 0;
	if (item->string != NULL && without != NULL &&
	    without[text_position(without, item->string)] != NULL)
		return 0;
	if (cJSON_IsString(item))
		rc = redact_value(redactor, item, parent, err);
	for (cJSON *child = item->child; rc == 0 && child != NULL; child = child->next)
		rc = redact_item(redactor, child, item, without, err);
	if (rc == 0 && item->string != NULL && without == NULL)
		rc = redact_key(redactor, item, err);
	return rc;
}

int redact_json(const struct redactor *redactor, cJSON *json, const char *const *without,
		struct error *err)
{
	return redactor != NULL ? redact_item(redactor, json, NULL, without, err) : 0;
}

/* Adds a document without what is known, in its own form when nothing in it is. */
static int add_document(const struct redactor *redactor, const char *data, size_t size,
			char *(*print)(const cJSON *json), struct text *out, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	if (json_parse(data, size, &json, NULL) < 0) {
		redact_text(redactor, data, size, out);
		return 0;
	}
	char *before CLEANUP_FREE = print(json);
	int rc = redact_json(redactor, json, NULL, err);
	char *after CLEANUP_FREE = rc == 0 ? print(json) : NULL;
	if (before == NULL || after == NULL)
		return rc < 0 ? rc : error_memory(err);
	if (strcmp(before, after) == 0)
		text_append(out, data, size);
	else
		text_add(out, after);
	return 0;
}

/* Documents say more of their strings than text does: which "name" a "value" has. */
static int add_lines(const struct redactor *redactor, const char *data, size_t size,
		     struct text *out, struct error *err)
{
	const char *const end = data + size;
	int rc = 0;
	while (rc == 0 && data < end) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));
		const char *next = newline != NULL ? newline : end;
		if (*data == '{')
			rc = add_document(redactor, data, (size_t)(next - data), json_print_compact,
					  out, err);
		else
			text_append(out, data, (size_t)(next - data));
		text_append(out, "\n", newline != NULL ? 1 : 0);
		data = newline != NULL ? next + 1 : end;
	}
	return rc;
}

int redact_content(const struct redactor *redactor, const char *media, const char *data,
		   size_t size, struct text *out, struct error *err)
{
	struct text lines CLEANUP_TEXT = {0};
	int rc = 0;
	if (redactor == NULL)
		text_append(out, data, size);
	else if (strcmp(media, "application/json") == 0)
		rc = add_document(redactor, data, size, json_print, out, err);
	else
		rc = add_lines(redactor, data, size, &lines, err);
	redact_text(redactor, text_string(&lines), lines.size, out);
	return rc == 0 && (lines.failed || out->failed) ? error_memory(err) : rc;
}

int redact_record(const struct redactor *redactor, cJSON *record, struct error *err)
{
	/* The harness' own words, ids that name a check, digests and paths. */
	static const char *const own[] = {
		"type",	       "schema",      "check",	 "cause",	"id",	   "level",
		"sentence",    "source",      "leftOut", "title",	"advice",  "severity",
		"requirement", "outcome",     "phase",	 "kind",	"at",	   "varies",
		"digest",      "path",	      "media",	 "verdict",	"rule",	   "commit",
		"compiler",    "tableDigest", "version", "environment", "profile", "launcher",
		"prev",	       "time",	      NULL,
	};
	static const char *const sections[] = {
		"redaction",	"kind",		"model",      "digest",
		"binaryDigest", "storeDigest",	"shimDigest", "ociDigest",
		"fileDigests",	"architecture", "vendor",     NULL,
	};
	cJSON *environment = cJSON_GetObjectItemCaseSensitive(record, "environment");
	int rc = redact_json(redactor, record, own, err);
	if (rc == 0 && environment != NULL)
		rc = redact_json(redactor, environment, sections, err);
	return rc;
}
