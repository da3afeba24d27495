/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/members.h"
#include "base/path.h"

#include <string.h>
#include <uv.h>

enum { NAME_MIN = 3, SERIAL_MIN = 6, SECRET_MIN = 8, FACTS_MAX = 4096 };

const char *const redact_kind_names[] = {"host", "user", "home", "serial", "secret", NULL};

/* Names of hosts and users that machines have by default, or that say what they are for. */
static const char *const nobody[] = {
	"admin",      "administrator", "agent",	    "all",
	"alpine",     "amd",	       "azureuser", "build",
	"builder",    "centos",	       "container", "containeradministrator",
	"containerd", "containeruser", "daemon",    "debian",
	"default",    "desktop",       "docker",    "ec2-user",
	"fedora",     "github",	       "gitlab",    "gpu",
	"guest",      "home",	       "host",	    "hostname",
	"intel",      "jenkins",       "kubelet",   "kubernetes",
	"laptop",     "linux",	       "local",	    "localdomain",
	"localhost",  "machine",       "master",    "microsoft",
	"name",	      "node",	       "nobody",    "none",
	"null",	      "nvidia",	       "public",    "root",
	"runner",     "secret",	       "serial",    "server",
	"service",    "system",	       "test",	    "tester",
	"ubuntu",     "unknown",       "user",	    "users",
	"vagrant",    "windows",       "wine",	    "worker",
	"workgroup",  "workstation",   NULL,
};

static bool is_nobody(const char *name, size_t size)
{
	for (size_t i = 0; nobody[i] != NULL; i++) {
		size_t at = 0;
		while (at < size && redact_lower(name[at]) == nobody[i][at])
			at++;
		if (at == size && nobody[i][at] == '\0')
			return true;
	}
	return false;
}

bool redact_is_generic(const struct redactor *redactor, const char *name, size_t size)
{
	bool letter = false;
	for (size_t i = 0; i < size; i++)
		letter = letter ||
			 (redact_is_word(name[i]) && strchr("0123456789", name[i]) == NULL);
	if (size < NAME_MIN || !letter || is_nobody(name, size))
		return true;
	if (redactor == NULL || redactor->own_words == NULL)
		return false;
	for (size_t at = 0; redactor->own_words[at] != '\0'; at++) {
		size_t same = 0;
		while (same < size &&
		       redact_lower(name[same]) == redact_lower(redactor->own_words[at + same]))
			same++;
		if (same == size && redact_begins(redactor->own_words, at) &&
		    !redact_is_word(redactor->own_words[at + same]))
			return true;
	}
	return false;
}

int redactor_new(bool keep_identity, const char *own_words, struct redactor **out,
		 struct error *err)
{
	struct redactor *redactor CLEANUP_REDACTOR = calloc(1, sizeof(*redactor));
	unsigned char random[16] = {0};
	if (redactor == NULL)
		return error_memory(err);
	redactor->keep_identity = keep_identity;
	redactor->own_words = own_words != NULL ? strdup(own_words) : NULL;
	if (own_words != NULL && redactor->own_words == NULL)
		return error_memory(err);
	int rc = uv_random(NULL, NULL, random, sizeof(random), 0, NULL);
	if (rc < 0)
		return error_uv(err, rc, "random bytes");
	digest_bytes(random, sizeof(random), redactor->key);
	*out = STEAL(redactor);
	return 0;
}

void redactor_free(struct redactor **redactor)
{
	if (*redactor == NULL)
		return;
	for (size_t i = 0; i < (*redactor)->count; i++)
		free((*redactor)->facts[i].value);
	free((*redactor)->facts);
	free((*redactor)->own_words);
	free(*redactor);
	*redactor = NULL;
}

void redactor_set_key(struct redactor *redactor, const char *secret)
{
	digest_bytes(secret, strlen(secret), redactor->key);
}

/* In lower case; a path with '/' alone, a serial number without separators. */
static char *canonical(enum redact_kind kind, const char *value)
{
	struct text text CLEANUP_TEXT = {0};
	for (; *value != '\0'; value++) {
		char letter = kind == REDACT_SECRET ? *value : redact_lower(*value);
		if (kind == REDACT_SERIAL && !redact_is_word(letter))
			continue;
		if (kind == REDACT_HOME && letter == '\\')
			letter = '/';
		if (kind != REDACT_HOME || letter != '/' || text.size == 0 ||
		    text.data[text.size - 1] != '/')
			text_append(&text, &letter, 1);
	}
	if (kind == REDACT_HOME && text.size > 1 && text.data[text.size - 1] == '/')
		text.data[--text.size] = '\0';
	return text.size != 0 || text.failed ? text_take(&text) : strdup("");
}

static bool is_serial(const char *value)
{
	size_t size = strlen(value);
	return size >= SERIAL_MIN && strpbrk(value, "0123456789") != NULL &&
	       strspn(value, (char[]){value[0], '\0'}) != size &&
	       strncmp(value, "0123456789", size) != 0 && strncmp(value, "123456789", 9) != 0;
}

/* Does it identify somebody? */
static bool identifies(const struct redactor *redactor, enum redact_kind kind, const char *value)
{
	const char *last = strrchr(value, '/');
	if (kind == REDACT_SECRET)
		return strlen(value) >= SECRET_MIN &&
		       !redact_is_generic(redactor, value, strlen(value));
	if (kind == REDACT_SERIAL)
		return is_serial(value);
	if (kind == REDACT_HOME)
		return last != NULL && last != value &&
		       !redact_is_generic(redactor, last + 1, strlen(last + 1));
	return !redact_is_generic(redactor, value, strlen(value));
}

static bool is_known(const struct redactor *redactor, enum redact_kind kind, const char *value)
{
	for (size_t i = 0; i < redactor->count; i++) {
		if (redactor->facts[i].kind == kind && strcmp(redactor->facts[i].value, value) == 0)
			return true;
	}
	return false;
}

/* Takes ownership of `value`. */
static int insert(struct redactor *redactor, enum redact_kind kind, char *value,
		  const char *placeholder, struct error *err)
{
	struct redact_fact fact = {.kind = kind, .value = value, .size = strlen(value)};
	size_t at = 0;
	struct redact_fact *facts = array_grow(redactor->facts, redactor->count, sizeof(*facts));
	if (facts == NULL || redactor->count == FACTS_MAX) {
		redactor->facts = facts != NULL ? facts : redactor->facts;
		free(value);
		return facts == NULL
			       ? error_memory(err)
			       : error_set(err, ERROR_LIMIT,
					   "more than %d names and serial numbers of this host",
					   (int)FACTS_MAX);
	}
	redactor->facts = facts;
	(void)snprintf(fact.placeholder, sizeof(fact.placeholder), "%s", placeholder);
	while (at < redactor->count && facts[at].size >= fact.size)
		at++;
	memmove(facts + at + 1, facts + at, (redactor->count - at) * sizeof(*facts));
	facts[at] = fact;
	redactor->count++;
	redactor->first[(unsigned char)value[0]] = true;
	return 0;
}

/* "<host>", "<host-2>". */
static void number(struct redactor *redactor, enum redact_kind kind,
		   char out[REDACT_PLACEHOLDER_SIZE])
{
	unsigned count = ++redactor->names[kind];
	if (count == 1)
		(void)snprintf(out, REDACT_PLACEHOLDER_SIZE, "<%s>", redact_kind_names[kind]);
	else
		(void)snprintf(out, REDACT_PLACEHOLDER_SIZE, "<%s-%u>", redact_kind_names[kind],
			       count);
}

/* What a host is called without its domain is the same host. */
static int add_short_name(struct redactor *redactor, const char *value, const char *placeholder,
			  struct error *err)
{
	const char *dot = strchr(value, '.');
	char *name = dot != NULL ? strndup(value, (size_t)(dot - value)) : NULL;
	if (dot == NULL)
		return 0;
	if (name == NULL)
		return error_memory(err);
	if (identifies(redactor, REDACT_HOST, name) && !is_known(redactor, REDACT_HOST, name))
		return insert(redactor, REDACT_HOST, name, placeholder, err);
	free(name);
	return 0;
}

int redactor_add(struct redactor *redactor, enum redact_kind kind, const char *value,
		 struct error *err)
{
	char placeholder[REDACT_PLACEHOLDER_SIZE] = "<secret>";
	char *own CLEANUP_FREE = canonical(kind, value);
	if (own == NULL)
		return error_memory(err);
	if (own[0] == '\0' || is_known(redactor, kind, own))
		return 0;
	if (!identifies(redactor, kind, own)) {
		redactor->stays[kind] =
			!is_nobody(path_base(own), strlen(path_base(own))) || redactor->stays[kind];
		return 0;
	}
	if (kind == REDACT_SERIAL)
		redact_pseudonym(redactor, kind, own, strlen(own), placeholder);
	else if (kind != REDACT_SECRET)
		number(redactor, kind, placeholder);
	char *copy = strdup(own);
	int rc = copy != NULL ? insert(redactor, kind, copy, placeholder, err) : error_memory(err);
	return rc == 0 && kind == REDACT_HOST ? add_short_name(redactor, own, placeholder, err)
					      : rc;
}

static cJSON *facts_json(const struct redactor *redactor, bool secrets)
{
	struct members facts CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < redactor->count; i++) {
		const struct redact_fact *fact = &redactor->facts[i];
		struct members json CLEANUP_MEMBERS = members_new();
		if (fact->kind == REDACT_SECRET && !secrets)
			continue;
		member_string(&json, "kind", redact_kind_names[fact->kind]);
		member_string(&json, "value", fact->value);
		member_string(&json, "placeholder", fact->placeholder);
		member_item(&facts, NULL, members_take(&json));
	}
	return members_take(&facts);
}

static cJSON *description(const struct redactor *redactor, bool facts, bool secrets)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members stays CLEANUP_MEMBERS = members_new_array();
	member_string(&json, "hostIdentity", redactor->keep_identity ? "included" : "redacted");
	for (size_t i = 0; i < REDACT_SERIAL; i++) {
		if (redactor->stays[i])
			member_string(&stays, NULL, redact_kind_names[i]);
	}
	member_item(&json, "stays", members_take(&stays));
	if (facts) {
		member_string(&json, "key", redactor->key);
		member_item(&json, "facts", facts_json(redactor, secrets));
	}
	return members_take(&json);
}

cJSON *redactor_describe(const struct redactor *redactor)
{
	return description(redactor, redactor->keep_identity, false);
}

int redactor_write(const struct redactor *redactor, const char *path, struct error *err)
{
	cJSON *json CLEANUP_JSON = description(redactor, true, true);
	char *text CLEANUP_FREE = json != NULL ? json_print(json) : NULL;
	return text != NULL ? file_write_atomic(path, text, strlen(text), 0600, err)
			    : error_memory(err);
}

static int read_fact(struct redactor *redactor, const struct json_at *from, struct error *err)
{
	const char *kind = "";
	const char *value = "";
	const char *placeholder = "";
	int rc = json_need_string(from, "kind", &kind, err);
	if (rc == 0)
		rc = json_need_string(from, "value", &value, err);
	if (rc == 0)
		rc = json_need_string(from, "placeholder", &placeholder, err);
	if (rc < 0)
		return rc;
	size_t known = text_position(redact_kind_names, kind);
	if (known == REDACT_KIND_COUNT)
		return json_error(from, err, "unknown kind '%.32s'", kind);
	if (value[0] == '\0' || placeholder[0] != '<' ||
	    strlen(placeholder) >= REDACT_PLACEHOLDER_SIZE)
		return json_error(from, err, "not a value and its placeholder");
	char *copy = canonical((enum redact_kind)known, value);
	return copy != NULL ? insert(redactor, (enum redact_kind)known, copy, placeholder, err)
			    : error_memory(err);
}

static int read_facts(struct redactor *redactor, const struct json_at *root, struct error *err)
{
	struct json_at facts = {0};
	const char *key = "";
	int rc = json_need_string(root, "key", &key, err);
	if (rc == 0 && strlen(key) >= sizeof(redactor->key))
		rc = json_error(root, err, "the key is too long");
	if (rc == 0)
		(void)snprintf(redactor->key, sizeof(redactor->key), "%s", key);
	if (rc == 0)
		rc = json_need(root, "facts", JSON_ARRAY, &facts, err);
	for (size_t i = 0; rc == 0 && i < json_count(&facts); i++) {
		struct json_at fact = {0};
		rc = json_element(&facts, i, JSON_OBJECT, &fact, err);
		if (rc == 0)
			rc = read_fact(redactor, &fact, err);
	}
	json_each (kind, json_pointer(root->node, "/stays")) {
		if (cJSON_IsString(kind) &&
		    text_position(redact_kind_names, kind->valuestring) < REDACT_KIND_COUNT)
			redactor->stays[text_position(redact_kind_names, kind->valuestring)] = true;
	}
	return rc;
}

static int from_json(const cJSON *json, bool keep_identity, struct redactor **out,
		     struct error *err)
{
	struct redactor *redactor CLEANUP_REDACTOR = NULL;
	struct json_at root = json_root(json);
	int rc = redactor_new(keep_identity, NULL, &redactor, err);
	if (rc == 0)
		rc = read_facts(redactor, &root, err);
	if (rc == 0)
		*out = STEAL(redactor);
	return rc;
}

int redactor_from_description(const cJSON *redaction, struct redactor **out, struct error *err)
{
	return from_json(redaction, false, out, err);
}

int redactor_read(const char *path, struct redactor **out, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	int rc = json_read_file(path, &json, err);
	return rc == 0 ? from_json(
				 json,
				 text_equal(json_pointer_string(json, "/hostIdentity"), "included"),
				 out, err)
		       : rc;
}
