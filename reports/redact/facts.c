/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/members.h"
#include "base/memory.h"
#include "base/path.h"

#include <string.h>
#include <strings.h>
#include <uv.h>

enum {
	NAME_MIN = 3,
	SERIAL_MIN = 6,
	SERIAL_LETTERS_MIN = 3,
	SECRET_MIN = 8,
	NETBIOS_MAX = 15,
	FACTS_MAX = 16384
};

const char *const redact_kind_names[] = {"host",      "user",	 "home",   "pod",    "namespace",
					 "container", "address", "serial", "secret", NULL};

/* Default or descriptive names of hosts and users, and folders that every system has. */
static const char nobody[] =
	"admin administrator agent all alpine amd amd64 app arm64 azureuser bin boot build builder bus centos container "
	"containeradministrator containerd containeruser daemon data debian default desktop dev docker drm ec2-user etc "
	"fedora github gitlab gpu guest home host hostname intel jenkins kubelet kubernetes kube-system laptop lib lib64 linux local "
	"localdomain localhost localhost.localdomain machine main master media microsoft mnt name node nobody none null nvidia "
	"opt proc public root run runc runner sbin secret serial server service srv sys system test tester tmp ubuntu "
	"unknown user users usr vagrant var windows wine worker workgroup workspace workstation x86";

static bool has_word(const char *words, const char *name, size_t size)
{
	for (size_t at = 0; words[at] != '\0'; at++) {
		if (strncasecmp(words + at, name, size) == 0 && redact_begins(words, at) &&
		    !redact_is_word(words[at + size]))
			return true;
	}
	return false;
}

bool redact_is_generic(const struct redactor *redactor, const char *name, size_t size)
{
	bool letter = false;
	for (size_t i = 0; i < size; i++)
		letter = letter || (redact_is_word(name[i]) && (name[i] < '0' || name[i] > '9'));
	return size < NAME_MIN || !letter || has_word(nobody, name, size) ||
	       (redactor != NULL && redactor->own_words != NULL &&
		has_word(redactor->own_words, name, size));
}

int redactor_new(bool keep_identity, const char *own_words, struct redactor **out,
		 struct error *err)
{
	struct redactor *redactor CLEANUP_REDACTOR = memory_allocate(1, sizeof(*redactor));
	unsigned char random[16] = {0};
	redactor->keep_identity = keep_identity;
	redactor->own_words = own_words != NULL ? memory_copy(own_words) : NULL;
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

char *redact_canonical(enum redact_kind kind, const char *value, size_t size)
{
	struct text text CLEANUP_TEXT = {0};
	for (const char *end = value + size; value < end; value++) {
		char letter = *value;
		if (kind != REDACT_SECRET)
			letter = redact_lower(letter);
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
	return text_take(&text);
}

/* Does it identify somebody? Firmware without a serial number says "0123456789", "00000001" or words. */
static bool identifies(const struct redactor *redactor, enum redact_kind kind, const char *value)
{
	const size_t size = strlen(value);
	const char *last = path_base(value);
	size_t letters = 0;
	for (size_t i = 0; i < size; i++)
		letters += memchr(value, value[i], i) == NULL;
	if (kind == REDACT_SERIAL)
		return size >= SERIAL_MIN && strpbrk(value, "0123456789") != NULL &&
		       letters >= SERIAL_LETTERS_MIN && strncmp(value, "0123456789", size) != 0 &&
		       strncmp(value, "123456789", 9) != 0;
	if ((kind == REDACT_HOME && last < value + 2) ||
	    (kind == REDACT_SECRET && size < SECRET_MIN))
		return false;
	last = kind == REDACT_HOME ? last : value;
	return kind == REDACT_ADDRESS || !redact_is_generic(redactor, last, strlen(last));
}

/* A fact of this kind whose value is these letters, or these letters and `end`; NULL: none. */
static const struct redact_fact *find(const struct redactor *redactor, enum redact_kind kind,
				      const char *value, size_t size, char end)
{
	for (size_t i = 0; i < redactor->count; i++) {
		const struct redact_fact *fact = &redactor->facts[i];
		if (fact->kind == kind && strncmp(fact->value, value, size) == 0 &&
		    (fact->value[size] == '\0' || fact->value[size] == end))
			return fact;
	}
	return NULL;
}

/* Inserts a new fact. */
static int insert(struct redactor *redactor, enum redact_kind kind, const char *value, size_t size,
		  const char *placeholder, struct error *err)
{
	if (redactor->count == FACTS_MAX)
		return error_set(err, ERROR_LIMIT,
				 "more than %d names and serial numbers of this host",
				 (int)FACTS_MAX);
	redactor->facts = array_grow(redactor->facts, redactor->count, sizeof(*redactor->facts));
	struct redact_fact *fact = &redactor->facts[redactor->count++];
	*fact = (struct redact_fact){.kind = kind, .value = memory_copy_start(value, size)};
	(void)snprintf(fact->placeholder, REDACT_PLACEHOLDER_SIZE, "%s", placeholder);
	redactor->first[(unsigned char)value[0]] = true;
	return 0;
}

int redactor_add(struct redactor *redactor, enum redact_kind kind, const char *value,
		 struct error *err)
{
	char placeholder[REDACT_PLACEHOLDER_SIZE] = "";
	char *own CLEANUP_FREE = redact_canonical(kind, value, strlen(value));
	const size_t label = strcspn(own, ".");
	if (own[0] == '\0' || find(redactor, kind, own, strlen(own), '\0') != NULL)
		return 0;
	if (!identifies(redactor, kind, own)) {
		const char *name = path_base(own);
		redactor->stays[kind] =
			redactor->stays[kind] || !has_word(nobody, name, strlen(name));
		return 0;
	}

	/* "<host>", "<host-2>". A host's name with its domain counts as the same host. */
	const struct redact_fact *same =
		kind == REDACT_HOST ? find(redactor, kind, own, label, '.') : NULL;
	const char *name = redact_kind_names[kind];
	if (kind == REDACT_SERIAL)
		redact_pseudonym(redactor, kind, own, strlen(own), placeholder);
	else if (same != NULL)
		(void)snprintf(placeholder, sizeof(placeholder), "%s", same->placeholder);
	else if (kind == REDACT_SECRET || ++redactor->names[kind] == 1)
		(void)snprintf(placeholder, sizeof(placeholder), "<%s>", name);
	else
		(void)snprintf(placeholder, sizeof(placeholder), "<%s-%u>", name,
			       redactor->names[kind]);
	int rc = insert(redactor, kind, own, strlen(own), placeholder, err);

	/* A host's name without its domain, and cut as by NetBIOS. */
	const size_t sizes[] = {label, label < NETBIOS_MAX ? label : NETBIOS_MAX};
	for (size_t i = 0; rc == 0 && kind == REDACT_HOST && i < ARRAY_SIZE(sizes); i++) {
		if (!redact_is_generic(redactor, own, sizes[i]) &&
		    find(redactor, REDACT_HOST, own, sizes[i], '\0') == NULL)
			rc = insert(redactor, REDACT_HOST, own, sizes[i], placeholder, err);
	}
	return rc;
}

cJSON *redactor_to_json(const struct redactor *redactor, bool all)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "hostIdentity", redactor->keep_identity ? "included" : "redacted");
	struct members stays = member_array(&json, "stays");
	for (size_t i = 0; i < REDACT_ADDRESS; i++) {
		if (redactor->stays[i])
			member_string(&stays, NULL, redact_kind_names[i]);
	}
	if (!all && !redactor->keep_identity)
		return members_take(&json);
	member_string(&json, "key", redactor->key);
	struct members facts = member_array(&json, "facts");
	for (size_t i = 0; i < redactor->count; i++) {
		const struct redact_fact *fact = &redactor->facts[i];
		if (fact->kind == REDACT_SECRET && !all)
			continue;
		struct members item = member_object(&facts, NULL);
		member_string(&item, "kind", redact_kind_names[fact->kind]);
		member_string(&item, "value", fact->value);
		member_string(&item, "placeholder", fact->placeholder);
	}
	return members_take(&json);
}

int redactor_from_json(const cJSON *json, bool may_keep, struct redactor **out, struct error *err)
{
	struct redactor *redactor CLEANUP_REDACTOR = NULL;
	const struct json_at root = json_root(json);
	struct json_at facts = {0};
	const char *key = "";
	const bool keep = text_equal(json_pointer_string(json, "/hostIdentity"), "included");
	int rc = redactor_new(may_keep && keep, NULL, &redactor, err);
	if (rc == 0)
		rc = json_need_string(&root, "key", &key, err);
	if (rc == 0 && strlen(key) >= sizeof(redactor->key))
		rc = json_error(&root, err, "the key is too long");
	if (rc == 0)
		rc = json_need(&root, "facts", JSON_ARRAY, &facts, err);
	if (rc < 0)
		return rc;

	for (size_t i = 0; i < json_count(&facts); i++) {
		struct json_at fact = {0};
		rc = json_element(&facts, i, JSON_OBJECT, &fact, err);
		if (rc < 0)
			return rc;
		const char *stated = json_pointer_string(fact.node, "/value");
		const char *placeholder = json_pointer_string(fact.node, "/placeholder");
		const size_t kind =
			text_position(redact_kind_names, json_pointer_string(fact.node, "/kind"));
		if (kind == REDACT_KIND_COUNT || stated == NULL || stated[0] == '\0' ||
		    placeholder == NULL || placeholder[0] != '<' ||
		    strlen(placeholder) >= REDACT_PLACEHOLDER_SIZE)
			return json_error(&fact, err,
					  "not a known kind, a value and its placeholder");
		char *value CLEANUP_FREE =
			redact_canonical((enum redact_kind)kind, stated, strlen(stated));
		rc = insert(redactor, (enum redact_kind)kind, value, strlen(value), placeholder,
			    err);
		if (rc < 0)
			return rc;
	}

	(void)snprintf(redactor->key, sizeof(redactor->key), "%s", key);
	json_each (name, json_pointer(json, "/stays")) {
		size_t kind = text_position(redact_kind_names, cJSON_GetStringValue(name));
		if (kind < REDACT_KIND_COUNT)
			redactor->stays[kind] = true;
	}
	*out = STEAL(redactor);
	return 0;
}
