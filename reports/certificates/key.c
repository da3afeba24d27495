/* SPDX-License-Identifier: MIT */
#include "reports/certificates/key.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/file.h"
#include "reports/certificates/key_file.h"

#include <sodium.h>
#include <string.h>

/* The bytes before the 32 bytes of a key: RFC 8410, section 10. */
struct key_form {
	const char *label;
	unsigned char head[16];
	size_t head_size;
	const char *what; /* for errors */
};

static const struct key_form forms[] = {
	[KEY_PUBLIC] =
		{"PUBLIC KEY",
		 {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00},
		 12,
		 "a public key of Ed25519, as 'gpucert key generate' or 'openssl pkey -pubout' "
		 "make it"},
	[KEY_PRIVATE] =
		{"PRIVATE KEY",
		 {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04,
		  0x22, 0x04, 0x20},
		 16,
		 "a private key of Ed25519 in PKCS #8, as 'gpucert key generate' or 'openssl "
		 "genpkey -algorithm ed25519' make it"},
};

enum { KEY_DER_SIZE = 48 };

/* Memory of libsodium: locked, between guards, and zeroed when it is freed. NULL: out of memory. */
static void *secret_allocate(size_t size)
{
	return sodium_init() >= 0 ? sodium_malloc(size) : NULL;
}

static void secret_free(void *pointer)
{
	sodium_free(*(void **)pointer);
}

/* Finds the base64 text of the only block. Text around the block is allowed (RFC 7468, section 2). */
static int find_block(const char *pem, const struct key_form *form, const char **begin,
		      const char **end, struct error *err)
{
	static const char opening[] = "-----BEGIN ";
	const char *label = strstr(pem, opening);
	if (label == NULL || (label != pem && label[-1] != '\n'))
		return error_set(err, ERROR_FORMAT,
				 "not a PEM file: it has no line -----BEGIN %s-----", form->label);
	label += strlen(opening);
	const char *dashes = strstr(label, "-----");
	const size_t size = dashes != NULL ? (size_t)(dashes - label) : 0;
	const bool is_private = size >= 11 && memcmp(label + size - 11, "PRIVATE KEY", 11) == 0;
	if (form == &forms[KEY_PUBLIC] && is_private)
		return error_set(err, ERROR_ARGUMENT,
				 "this is a private key: verify with the public one (FILE.pub)");
	if (form == &forms[KEY_PRIVATE] && size == 10 && memcmp(label, "PUBLIC KEY", 10) == 0)
		return error_set(err, ERROR_ARGUMENT,
				 "this is a public key: sign with the private one");
	if (is_private && size >= 21 && memcmp(label, "ENCRYPTED ", 10) == 0)
		return error_set(
			err, ERROR_FORMAT,
			"the key is encrypted, and passphrases are not read: 'openssl pkey -in FILE "
			"-out NEW' decrypts it");
	if (size != strlen(form->label) || memcmp(label, form->label, size) != 0)
		return error_set(err, ERROR_FORMAT, "not %s", form->what);
	*begin = dashes + strlen("-----");
	*end = strstr(*begin, "-----END ");
	if (*end == NULL || !text_starts_with(*end + strlen("-----END "), form->label))
		return error_set(err, ERROR_FORMAT, "the line -----END %s----- is missing",
				 form->label);
	if (strstr(*end, opening) != NULL)
		return error_set(err, ERROR_FORMAT, "more than one key is in the file");
	return 0;
}

static size_t to_der(const unsigned char *key, const struct key_form *form,
		     unsigned char der[KEY_DER_SIZE])
{
	memcpy(der, form->head, form->head_size);
	memcpy(der + form->head_size, key, KEY_PUBLIC_SIZE);
	return form->head_size + KEY_PUBLIC_SIZE;
}

/* The PEM file of a key, into KEY_PEM_SIZE bytes. */
static void encode(const unsigned char *key, const struct key_form *form, char *pem)
{
	unsigned char der[KEY_DER_SIZE] = {0};
	char base64[2 * KEY_DER_SIZE] = "";
	const size_t size = to_der(key, form, der);
	(void)sodium_bin2base64(base64, sizeof(base64), der, size, sodium_base64_VARIANT_ORIGINAL);
	sodium_memzero(der, sizeof(der));
	(void)snprintf(pem, KEY_PEM_SIZE, "-----BEGIN %s-----\n%s\n-----END %s-----\n", form->label,
		       base64, form->label);
	sodium_memzero(base64, sizeof(base64));
}

void key_public_pem(const struct key *key, char out[KEY_PEM_SIZE])
{
	encode(key->bytes, &forms[KEY_PUBLIC], out);
}

static void name_key(struct key *key)
{
	unsigned char der[KEY_DER_SIZE] = {0};
	char digest[DIGEST_SIZE] = "";
	digest_bytes(der, to_der(key->bytes, &forms[KEY_PUBLIC], der), digest);
	memcpy(key->id, digest + strlen("sha256:"), KEY_ID_SIZE);
}

/* Makes the private key of a seed; NULL: a random one of the system. */
static int make_private(const unsigned char *seed, struct key *out, struct error *err)
{
	out->secret = secret_allocate(crypto_sign_SECRETKEYBYTES);
	if (out->secret == NULL)
		return error_memory(err);
	if (seed != NULL)
		(void)crypto_sign_seed_keypair(out->bytes, out->secret, seed);
	else
		(void)crypto_sign_keypair(out->bytes, out->secret);
	name_key(out);
	return 0;
}

int key_parse(const char *pem, size_t size, enum key_kind kind, struct key *out, struct error *err)
{
	const struct key_form *form = &forms[kind];
	const char *begin = NULL, *end = NULL, *stopped = NULL;
	size_t length = 0;
	unsigned char *der CLEANUP(secret_free) = secret_allocate(KEY_DER_SIZE);
	*out = (struct key){0};
	if (der == NULL)
		return error_memory(err);
	if (strlen(pem) != size)
		return error_set(err, ERROR_FORMAT, "not a PEM file: it holds a NUL");
	int rc = find_block(pem, form, &begin, &end, err);
	if (rc < 0)
		return rc;
	if (sodium_base642bin(der, KEY_DER_SIZE, begin, (size_t)(end - begin), "\r\n\t ", &length,
			      &stopped, sodium_base64_VARIANT_ORIGINAL) < 0 ||
	    stopped != end || length != form->head_size + KEY_PUBLIC_SIZE ||
	    memcmp(der, form->head, form->head_size) != 0)
		return error_set(err, ERROR_FORMAT, "not %s", form->what);

	if (kind == KEY_PRIVATE)
		return make_private(der + form->head_size, out, err);
	memcpy(out->bytes, der + form->head_size, KEY_PUBLIC_SIZE);
	name_key(out);
	return 0;
}

/* The file may contain a private key, whichever kind was requested. */
int key_read(const char *path, enum key_kind kind, struct key *out, struct error *err)
{
	char *pem CLEANUP(secret_free) = secret_allocate(KEY_FILE_MAX + 1);
	int fd CLEANUP_FD = -1;
	size_t size = 0, count = 0;
	*out = (struct key){0};
	int rc = pem != NULL ? file_open_to_read(path, &fd, err) : error_memory(err);
	if (rc < 0)
		return rc;
	do {
		rc = file_read_some(fd, path, pem + size, KEY_FILE_MAX - size, &count, err);
		size += count;
	} while (rc == 0 && count > 0 && size < KEY_FILE_MAX);
	if (rc < 0)
		return rc;
	pem[size] = '\0';
	rc = size < KEY_FILE_MAX ? key_parse(pem, size, kind, out, err)
				 : error_set(err, ERROR_LIMIT, "not a key: longer than %d bytes",
					     KEY_FILE_MAX - 1);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	rc = kind == KEY_PRIVATE ? key_file_check(fd, path, err) : 0;
	if (rc < 0)
		key_free(out);
	return rc;
}

static int write_new(const char *path, const char *pem, unsigned mode, struct error *err)
{
	int rc = file_create(path, pem, strlen(pem), mode, err);
	return rc == ERROR_EXISTS
		       ? error_set(err, rc, "%s: exists, and no key is overwritten", path)
		       : rc;
}

int key_generate(const char *path, struct key *out, struct error *err)
{
	char *pem CLEANUP(secret_free) = secret_allocate(KEY_PEM_SIZE);
	char *public_path CLEANUP_FREE = text_format("%s.pub", path);
	struct key key CLEANUP_KEY = {0};
	int rc = pem != NULL ? make_private(NULL, &key, err) : error_memory(err);
	if (rc < 0)
		return rc;
	encode(key.secret, &forms[KEY_PRIVATE], pem);
	rc = write_new(path, pem, 0600, err);
	if (rc < 0)
		return rc;
	key_public_pem(&key, pem);
	rc = write_new(public_path, pem, 0644, err);
	if (rc < 0) {
		(void)file_remove_tree(path, NULL);
		return rc;
	}
	*out = key;
	key.secret = NULL;
	return 0;
}

void key_sign(const struct key *key, const void *data, size_t size,
	      unsigned char signature[KEY_SIGNATURE_SIZE])
{
	(void)crypto_sign_detached(signature, NULL, data, size, key->secret);
}

bool key_verifies(const struct key *key, const void *data, size_t size,
		  const unsigned char signature[KEY_SIGNATURE_SIZE])
{
	return crypto_sign_verify_detached(signature, data, size, key->bytes) == 0;
}

void key_free(struct key *key)
{
	sodium_free(key->secret);
	*key = (struct key){0};
}
