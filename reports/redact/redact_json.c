/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/cleanup.h"

#include <string.h>

static void redact_value(const struct redactor *redactor, cJSON *item, const cJSON *parent)
{
	char placeholder[REDACT_PLACEHOLDER_SIZE] = "<secret>";
	char *redacted CLEANUP_FREE = NULL;
	const char *value = item->valuestring;
	const char *name = item->string;

	/* A string's name is its key; that of a "value" is the "name" next to it; that of a list item is the option
	 * before it. */
	if (name != NULL && text_equal(name, "value")) {
		name = json_pointer_string(parent, "/name");
		name = name != NULL ? name : json_pointer_string(parent, "/key");
	}
	if (cJSON_IsArray(parent) && item != parent->child) {
		name = cJSON_GetStringValue(item->prev);
		if (name == NULL || !text_starts_with(name, "--") || strchr(name, '=') != NULL ||
		    value[0] == '-')
			name = NULL;
	}
	const enum redact_key key =
		name != NULL ? redact_key_of(name, strlen(name)) : REDACT_KEY_PLAIN;
	const bool is_serial = key == REDACT_KEY_SERIAL && !redactor->keep_identity &&
			       strchr(value, '<') == NULL &&
			       !redact_is_device(value, strlen(value), 0) &&
			       strpbrk(value, "0123456789") != NULL;
	if (is_serial)
		redact_pseudonym(redactor, REDACT_SERIAL, value, strlen(value), placeholder);
	else if (key != REDACT_KEY_SECRET || value[0] == '\0')
		redacted = redact_string(redactor, value);
	if (redacted == NULL || !text_equal(redacted, value))
		(void)cJSON_SetValuestring(item, redacted != NULL ? redacted : placeholder);
}

static void redact_item(const struct redactor *redactor, cJSON *item, const cJSON *parent,
			const char *const *without)
{
	if (item->string != NULL && without != NULL &&
	    without[text_position(without, item->string)] != NULL)
		return;
	if (cJSON_IsString(item))
		redact_value(redactor, item, parent);
	for (cJSON *child = item->child; child != NULL; child = child->next)
		redact_item(redactor, child, item, without);
	if (item->string == NULL || without != NULL)
		return;

	char *key CLEANUP_FREE = redact_string(redactor, item->string);
	if (text_equal(key, item->string))
		return;
	if ((item->type & cJSON_StringIsConst) == 0)
		cJSON_free(item->string);
	item->string = STEAL(key);
	item->type &= ~cJSON_StringIsConst;
}

void redact_json(const struct redactor *redactor, cJSON *json, const char *const *without)
{
	if (redactor != NULL)
		redact_item(redactor, json, NULL, without);
}

/* Adds a document, redacted, or unchanged when it contains nothing to redact. */
static void add_document(const struct redactor *redactor, const char *data, size_t size,
			 char *(*print)(const cJSON *json), struct text *out)
{
	cJSON *json CLEANUP_JSON = NULL;
	if (json_parse(data, size, &json, NULL) < 0) {
		redact_text(redactor, data, size, out);
		return;
	}
	char *before CLEANUP_FREE = print(json);
	redact_json(redactor, json, NULL);
	char *after CLEANUP_FREE = print(json);
	if (text_equal(before, after))
		text_append(out, data, size);
	else
		text_add(out, after);
}

void redact_content(const struct redactor *redactor, const char *media, const char *data,
		    size_t size, struct text *out)
{
	const char *const end = data + size;
	struct text lines CLEANUP_TEXT = {0};
	if (redactor == NULL) {
		text_append(out, data, size);
		return;
	}
	if (text_equal(media, "application/json")) {
		add_document(redactor, data, size, json_print, out);
		return;
	}

	/* Documents say more about their strings than text does: which "name" a "value" has. */
	while (data < end) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));
		const char *next = newline != NULL ? newline : end;
		if (*data == '{')
			add_document(redactor, data, (size_t)(next - data), json_print_compact,
				     &lines);
		else
			text_append(&lines, data, (size_t)(next - data));
		text_append(&lines, "\n", newline != NULL ? 1 : 0);
		data = newline != NULL ? next + 1 : end;
	}
	redact_text(redactor, text_string(&lines), lines.size, out);
}

void redact_record(const struct redactor *redactor, cJSON *record)
{
	/* The harness' own words, ids of checks, digests and paths. */
	static const char *const own[] = {
		"type",	       "schema",   "check",	  "cause",   "id",	    "level",
		"sentence",    "source",   "leftOut",	  "title",   "advice",	    "severity",
		"requirement", "outcome",  "phase",	  "kind",    "at",	    "varies",
		"kubelet",     "digest",   "path",	  "media",   "verdict",	    "rule",
		"commit",      "compiler", "tableDigest", "version", "environment", "profile",
		"launcher",    "prev",	   "time",	  NULL,
	};
	static const char *const sections[] = {
		"redaction",	"kind",	       "model",	     "digest",	  "binaryDigest",
		"checksDigest", "storeDigest", "shimDigest", "ociDigest", "fileDigests",
		"architecture", "vendor",      NULL,
	};
	cJSON *environment = cJSON_GetObjectItemCaseSensitive(record, "environment");
	redact_json(redactor, record, own);
	if (environment != NULL)
		redact_json(redactor, environment, sections);
}
