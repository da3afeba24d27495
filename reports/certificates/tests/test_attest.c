/* SPDX-License-Identifier: MIT */
/* Keys, envelopes, claims and products as texts; what they do to folders is tested by conformance/cli/tests. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "reports/certificates/certify.h"
#include "reports/certificates/claims.h"
#include "reports/certificates/dsse.h"
#include "reports/certificates/product.h"
#include "reports/certificates/statement.h"

#include <sodium.h>

#define HERE GPUCERT_SOURCE_DIR "/reports/certificates/"

static char *corpus(const char *name, size_t *size)
{
	char *path CLEANUP_FREE = text_format(HERE "fuzz/%s", name);
	char *data = NULL;
	UNIT_INT(file_read(path, JSON_FILE_MAX, &data, size, NULL), 0);
	return data;
}

/* `openssl pkey -pubin -outform DER | sha256sum` of it. */
#define VECTOR_ID "06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9"

static struct key vector_key(void)
{
	struct key key = {0};
	size_t size = 0;
	char *pem CLEANUP_FREE = corpus("corpus-key/private", &size);
	UNIT_INT(key_parse(pem, size, KEY_PRIVATE, &key, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(key.secret);
	return key;
}

/* RFC 8032, section 7.1, TEST 1: the empty message. */
static void test_a_key_of_the_rfc_signs_as_the_rfc_says(void)
{
	static const char wanted[] =
		"e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39"
		"701cf9b46bd25bf5f0595bbe24655141438e7a100b";
	struct key key CLEANUP_KEY = vector_key();
	unsigned char signature[KEY_SIGNATURE_SIZE] = {0};
	char hex[2 * KEY_SIGNATURE_SIZE + 1] = "";
	key_sign(&key, "", 0, signature);
	text_hex(hex, signature, sizeof(signature));
	UNIT_STRING(hex, wanted);
	CU_ASSERT_TRUE(key_verifies(&key, "", 0, signature));
	CU_ASSERT_FALSE(key_verifies(&key, "x", 1, signature));
	text_hex(hex, key.bytes, KEY_PUBLIC_SIZE);
	UNIT_STRING(hex, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
}

static void test_key_files_are_told_apart(void)
{
	static const struct {
		const char *file, *as_private, *as_public; /* NULL: it is one */
	} rows[] = {
		{"private", NULL, "this is a private key"},
		{"public", "this is a public key", NULL},
		{"wrapped", NULL, "this is a private key"},
		{"explained", "this is a public key", NULL},
		{"two", "this is a public key", "more than one key is in the file"},
		{"encrypted", "passphrases are not read", "this is a private key"},
		{"openssh", "not a private key of Ed25519", "this is a private key"},
		{"ed448", "not a private key of Ed25519", "this is a private key"},
		{"no-end", "-----END PRIVATE KEY----- is missing", "this is a private key"},
		{"nul-byte", "holds a NUL", "holds a NUL"},
		{"long", "this is a public key", "not a public key of Ed25519"},
		{"empty-block", "this is a public key", "not a public key of Ed25519"},
		{"in-text", "not a PEM file", "not a PEM file"},
		{"none", "not a PEM file", "not a PEM file"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *name CLEANUP_FREE = text_format("corpus-key/%s", rows[i].file);
		size_t size = 0;
		char *pem CLEANUP_FREE = corpus(name, &size);
		struct key key CLEANUP_KEY = {0};
		struct key public_key CLEANUP_KEY = {0};
		struct error as_private = {0}, as_public = {0};
		(void)key_parse(pem, size, KEY_PRIVATE, &key, &as_private);
		(void)key_parse(pem, size, KEY_PUBLIC, &public_key, &as_public);
		CU_ASSERT_EQUAL(key.secret != NULL, rows[i].as_private == NULL);
		if (rows[i].as_private != NULL)
			UNIT_CONTAINS(as_private.text, rows[i].as_private);
		if (rows[i].as_public != NULL)
			UNIT_CONTAINS(as_public.text, rows[i].as_public);
		else
			UNIT_STRING(public_key.id, VECTOR_ID);
	}
}

/* The example of DSSE's protocol.md. */
static void test_the_encoding_is_that_of_the_protocol(void)
{
	struct text out CLEANUP_TEXT = {0};
	dsse_add_pae("http://example.com/HelloWorld", "hello world", 11, &out);
	UNIT_STRING(text_string(&out), "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

static enum dsse_trust trust_of(const cJSON *envelope, const struct key *key)
{
	struct dsse dsse CLEANUP_DSSE = {0};
	UNIT_INT(dsse_open(envelope, key, &dsse, NULL), 0);
	CU_ASSERT_EQUAL(dsse.size, 2);
	return dsse.trust;
}

static void test_an_envelope_is_trusted_by_its_key_alone(void)
{
	struct key key CLEANUP_KEY = vector_key();
	cJSON *envelope CLEANUP_JSON = dsse_sign("a/b", "\0\xff", 2, &key);
	struct key other = key; /* of the same name: a keyid decides nothing */
	UNIT_INT(trust_of(envelope, &key), DSSE_TRUSTED);
	other.bytes[5] ^= 1;
	UNIT_INT(trust_of(envelope, &other), DSSE_BAD_SIGNATURE);
	other.id[0] = 'x';
	UNIT_INT(trust_of(envelope, &other), DSSE_OTHER_KEY);
	cJSON_SetValuestring(cJSON_GetObjectItem(envelope, "payload"), "Af8=");
	UNIT_INT(trust_of(envelope, &key), DSSE_BAD_SIGNATURE);
}

/* Every bit of the signature counts. */
static void test_a_changed_signature_is_none(void)
{
	struct key key CLEANUP_KEY = vector_key();
	unsigned char signature[KEY_SIGNATURE_SIZE] = {0};
	key_sign(&key, "text", 4, signature);
	for (size_t bit = 0; bit < 8 * sizeof(signature); bit++) {
		signature[bit / 8] ^= (unsigned char)(1U << bit % 8);
		CU_ASSERT_FALSE(key_verifies(&key, "text", 4, signature));
		signature[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
	CU_ASSERT_TRUE(key_verifies(&key, "text", 4, signature));
}

static void test_broken_envelopes_name_the_place(void)
{
	static const struct {
		const char *json, *says;
	} rows[] = {
		{"[]", "expected object"},
		{"{}", "payloadType: missing"},
		{"{\"payloadType\":\"a\",\"payload\":\"\",\"signatures\":[]}", "nobody signed it"},
		{"{\"payloadType\":\"a\",\"payload\":\"A\",\"signatures\":[{\"sig\":\"AAAA\"}]}",
		 "payload: not base64"},
		{"{\"payloadType\":\"a\",\"payload\":\"AA==\",\"signatures\":[{\"sig\":\"=\"}]}",
		 "signatures[0]: sig: not base64"},
		{"{\"payloadType\":\"a\",\"payload\":\"\",\"signatures\":[7]}", "signatures[0]"},
	};
	const struct key nobody = {.id = "0"};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cJSON *envelope CLEANUP_JSON = cJSON_Parse(rows[i].json);
		struct dsse dsse CLEANUP_DSSE = {0};
		struct error err = {0};
		UNIT_INT(dsse_open(envelope, &nobody, &dsse, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, rows[i].says);
	}
}

static void test_the_samples_are_read(void)
{
	struct claims claims CLEANUP(claims_free) = {0};
	struct product product CLEANUP_PRODUCT = {0};
	size_t size = 0;
	char *json CLEANUP_FREE = corpus("../tests/claims.json", &size);
	UNIT_INT(claims_parse(json, size, &claims, NULL), 0);
	UNIT_NEED(claims.count == 2);
	UNIT_STRING(claims.items[0].check, "api.nvenc");
	UNIT_STRING(claims.items[1].requirement, "WIN-01");
	UNIT_STRING(claims.items[1].review_by, "2027-05-22");
	char *yaml CLEANUP_FREE = corpus("../tests/product.yaml", &size);
	UNIT_INT(product_parse(yaml, size, &product, NULL), 0);
	UNIT_STRING(product.version, "1.10");
	UNIT_STRING(product.type, "device plugin");
}

static void test_all_faults_of_a_product_are_named(void)
{
	static const char yaml[] = "vendor: a\nname: b\nversion: c\nwebsite_url: nowhere\n"
				   "type: toaster\ndescription: d\n"
				   "contact_email_address: a@b.c\n";
	struct product product CLEANUP_PRODUCT = {0};
	struct error err = {0};
	UNIT_INT(product_parse(yaml, strlen(yaml), &product, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "website_url: 'nowhere' is not a URL");
	UNIT_CONTAINS(err.text, "; documentation_url: missing");
	UNIT_CONTAINS(err.text, "; type: 'toaster' is not");
}

/* One file at a time: it is overwritten by nobody, and half a pair is never there. */
static void test_a_pair_is_made_once(void)
{
	char *folder CLEANUP_FREE = NULL;
	struct key read CLEANUP_KEY = {0}, made CLEANUP_KEY = {0};
	struct key again CLEANUP_KEY = {0}, from_file CLEANUP_KEY = {0};
	struct error err = {0};
	UNIT_INT(file_make_temporary(NULL, "key-", &folder, NULL), 0);
	char *path CLEANUP_FREE = path_join(folder, "vendor.key");
	char *public_path CLEANUP_FREE = text_format("%s.pub", path);
	UNIT_INT(key_generate(path, &made, &err), 0);
	UNIT_INT(key_read(path, KEY_PRIVATE, &read, &err), 0);
	UNIT_INT(key_read(public_path, KEY_PUBLIC, &from_file, &err), 0);
	UNIT_STRING(read.id, made.id);
	UNIT_STRING(from_file.id, made.id);
	UNIT_INT(key_generate(path, &again, &err), ERROR_EXISTS);
	UNIT_INT(key_read(path, KEY_PUBLIC, &again, &err), ERROR_ARGUMENT);
	CU_ASSERT_TRUE(key_read(folder, KEY_PUBLIC, &again, &err) < 0);
	UNIT_INT(file_remove_tree(path, NULL), 0);
	UNIT_INT(key_generate(path, &again, &err), ERROR_EXISTS);
	CU_ASSERT_FALSE(file_exists(path));
	UNIT_INT(key_read(public_path, KEY_PUBLIC, &again, &err), 0);
	UNIT_STRING(again.id, made.id);
	UNIT_INT(file_remove_tree(folder, NULL), 0);
}

/* What every user may read is not a private key any more. */
static void test_an_open_key_is_refused(void)
{
	struct key read CLEANUP_KEY = {0};
	char *folder CLEANUP_FREE = NULL;
	struct error err = {0};
	size_t size = 0;
	char *pem CLEANUP_FREE = corpus("corpus-key/private", &size);
	UNIT_INT(file_make_temporary(NULL, "key-", &folder, NULL), 0);
	char *path CLEANUP_FREE = path_join(folder, "open.key");
	UNIT_INT(file_write_atomic(path, pem, size, 0600, NULL), 0);
	UNIT_INT(key_read(path, KEY_PRIVATE, &read, &err), 0);
	key_free(&read);
	UNIT_INT(file_remove_tree(folder, NULL), 0);
	UNIT_INT(key_read(HERE "fuzz/corpus-key/private", KEY_PRIVATE, &read, &err),
		 ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "others may use this private key");
}

/* The first line says when no device on which a check passed is hardware. */
static void test_a_product_without_hardware_says_so(void)
{
	static const struct {
		const char *passed, *first;
	} rows[] = {{"soft", CERTIFY_SOFTWARE_ONLY},
		    {"virtual", CERTIFY_VIRTUAL_ONLY},
		    {"hard", "devices: "}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text_list lines CLEANUP_TEXT_LIST = {0};
		char *json CLEANUP_FREE = text_format(
			"{\"environment\": {\"drivers\": ["
			"{\"key\": \"soft\", \"name\": \"soft\", \"model\": \"software\", \"software\": true},"
			"{\"key\": \"virtual\", \"name\": \"virtual\", \"model\": \"virtual\", \"software\": false},"
			"{\"key\": \"hard\", \"name\": \"hard\", \"model\": \"kernel\", \"software\": false}],"
			"\"devices\": [{\"ref\": \"soft\", \"name\": \"s\", \"driver\": \"soft\"},"
			"{\"ref\": \"virtual\", \"name\": \"v\", \"driver\": \"virtual\"},"
			"{\"ref\": \"hard\", \"name\": \"h\", \"driver\": \"hard\"}]},"
			"\"checks\": [{\"deviceOutcomes\": [{\"ref\": \"%s\", \"outcome\": \"pass\"}]}]}",
			rows[i].passed);
		cJSON *report CLEANUP_JSON = cJSON_Parse(json);
		CU_ASSERT_PTR_NOT_NULL_FATAL(report);
		certify_subject(report, &lines);
		UNIT_NEED(lines.count > 0);
		UNIT_CONTAINS(lines.items[0], rows[i].first);
	}
}

UNIT_MAIN("attest",
	  {"a key of the RFC signs as the RFC says", test_a_key_of_the_rfc_signs_as_the_rfc_says},
	  {"key files are told apart", test_key_files_are_told_apart},
	  {"the encoding is that of the protocol", test_the_encoding_is_that_of_the_protocol},
	  {"an envelope is trusted by its key alone", test_an_envelope_is_trusted_by_its_key_alone},
	  {"a changed signature is none", test_a_changed_signature_is_none},
	  {"broken envelopes name the place", test_broken_envelopes_name_the_place},
	  {"the samples are read", test_the_samples_are_read},
	  {"all faults of a product are named", test_all_faults_of_a_product_are_named},
	  {"a pair is made once", test_a_pair_is_made_once},
	  {"an open key is refused", test_an_open_key_is_refused},
	  {"a product without hardware says so", test_a_product_without_hardware_says_so})
