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

/* The value of a member: what its key says, or for "value" what the "name" beside it says. */
static enum redact_key says(const cJSON *item, const cJSON *parent)
{
	const char *name = NULL;
	if (!cJSON_IsObject(parent) || item->string == NULL)
		return REDACT_KEY_PLAIN;
	if (strcmp(item->string, "value") == 0)
		name = json_pointer_string(parent, "/name");
	if (strcmp(item->string, "value") == 0 && name == NULL)
		name = json_pointer_string(parent, "/key");
	name = name != NULL ? name : item->string;
	return redact_key_of(name, strlen(name));
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
	int rc = 0;
	if (redactor == NULL)
		return 0;
	if (!cJSON_IsObject(json) && !cJSON_IsArray(json))
		return cJSON_IsString(json) ? redact_value(redactor, json, NULL, err) : 0;
	for (cJSON *child = json->child; rc == 0 && child != NULL; child = child->next)
		rc = redact_item(redactor, child, json, without, err);
	return rc;
}

int redact_content(const struct redactor *redactor, const char *media, const char *data,
		   size_t size, struct text *out, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	if (redactor == NULL || strcmp(media, "application/json") != 0 ||
	    json_parse(data, size, &json, NULL) < 0) {
		redact_text(redactor, data, size, out);
		return out->failed ? error_memory(err) : 0;
	}
	int rc = redact_json(redactor, json, NULL, err);
	char *text CLEANUP_FREE = rc == 0 ? json_print(json) : NULL;
	if (rc < 0)
		return rc;
	text_add(out, text != NULL ? text : "");
	return text != NULL && !out->failed ? 0 : error_memory(err);
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
