/* SPDX-License-Identifier: MIT */
#include "reports/certificates/dsse.h"

#include "base/cleanup.h"
#include "base/members.h"
#include "base/memory.h"

#include <sodium.h>
#include <string.h>

void dsse_add_pae(const char *type, const void *payload, size_t size, struct text *out)
{
	text_addf(out, "DSSEv1 %zu %s %zu ", strlen(type), type, size);
	text_append(out, payload, size);
}

/* Caller frees. */
static char *to_base64(const void *data, size_t size)
{
	const size_t room = sodium_base64_encoded_len(size, sodium_base64_VARIANT_ORIGINAL);
	return sodium_bin2base64(memory_allocate(1, room), room, data, size,
				 sodium_base64_VARIANT_ORIGINAL);
}

cJSON *dsse_sign(const char *type, const void *payload, size_t size, const struct key *key)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct text signed_bytes CLEANUP_TEXT = {0};
	unsigned char bytes[KEY_SIGNATURE_SIZE] = {0};
	dsse_add_pae(type, payload, size, &signed_bytes);
	key_sign(key, signed_bytes.data, signed_bytes.size, bytes);
	member_string(&json, "payloadType", type);
	member_taken(&json, "payload", to_base64(payload, size));
	struct members signatures = member_array(&json, "signatures");
	struct members signature = member_object(&signatures, NULL);
	member_string(&signature, "keyid", key->id);
	member_taken(&signature, "sig", to_base64(bytes, sizeof(bytes)));
	return members_take(&json);
}

/* At most `room` bytes; false: it is not base64 in either alphabet, or is more. */
static bool from_base64(const char *text, void *out, size_t room, size_t *size)
{
	static const int variants[] = {sodium_base64_VARIANT_ORIGINAL,
				       sodium_base64_VARIANT_URLSAFE};
	const char *end = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		if (sodium_base642bin(out, room, text, strlen(text), NULL, size, &end,
				      variants[i]) == 0 &&
		    *end == '\0')
			return true;
	}
	return false;
}

static int open_signature(const struct json_at *at, const struct text *signed_bytes,
			  const struct key *key, struct dsse *out, struct error *err)
{
	unsigned char bytes[1024] = {0};
	const char *keyid = "", *text = NULL;
	size_t size = 0;
	int rc = json_have_string(at, "keyid", &keyid, err);
	if (rc == 0)
		rc = json_need_string(at, "sig", &text, err);
	if (rc < 0)
		return rc;
	if (!from_base64(text, bytes, sizeof(bytes), &size))
		return json_error(at, err, "sig: not base64 of at most %zu bytes", sizeof(bytes));
	out->keyid = out->keyid != NULL ? out->keyid : keyid;
	if (size == KEY_SIGNATURE_SIZE &&
	    key_verifies(key, signed_bytes->data, signed_bytes->size, bytes))
		out->trust = DSSE_TRUSTED;
	else if (out->trust == DSSE_OTHER_KEY && (*keyid == '\0' || text_equal(keyid, key->id)))
		out->trust = DSSE_BAD_SIGNATURE;
	return 0;
}

int dsse_open(const cJSON *envelope, const struct key *key, struct dsse *out, struct error *err)
{
	struct json_at root = json_root(envelope);
	struct json_at signatures = {0};
	struct text signed_bytes CLEANUP_TEXT = {0};
	const char *payload = NULL;
	*out = (struct dsse){0};
	if (!cJSON_IsObject(envelope))
		return error_set(err, ERROR_FORMAT, "expected object");
	int rc = json_need_string(&root, "payloadType", &out->type, err);
	if (rc == 0)
		rc = json_need(&root, "signatures", JSON_ARRAY, &signatures, err);
	if (rc == 0)
		rc = json_need_string(&root, "payload", &payload, err);
	if (rc < 0)
		return rc;

	const size_t room = strlen(payload) / 4 * 3 + 1;
	out->payload = memory_allocate(room + 1, 1);
	if (!from_base64(payload, out->payload, room, &out->size))
		rc = json_error(&root, err, "payload: not base64");
	else if (json_count(&signatures) == 0)
		rc = json_error(&signatures, err, "nobody signed it");
	else if (json_count(&signatures) > DSSE_SIGNATURES_MAX)
		rc = error_set(err, ERROR_LIMIT, "signatures: more than %d", DSSE_SIGNATURES_MAX);
	dsse_add_pae(out->type, out->payload, out->size, &signed_bytes);
	for (size_t i = 0; rc == 0 && i < json_count(&signatures); i++) {
		struct json_at at = {0};
		rc = json_element(&signatures, i, JSON_OBJECT, &at, err);
		if (rc == 0)
			rc = open_signature(&at, &signed_bytes, key, out, err);
	}
	if (rc < 0)
		dsse_free(out);
	return rc;
}

void dsse_free(struct dsse *dsse)
{
	free(dsse->payload);
	*dsse = (struct dsse){0};
}
