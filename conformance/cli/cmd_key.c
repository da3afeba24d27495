/* SPDX-License-Identifier: MIT */
/* `key`: keys with which reports are attested. */
#include "conformance/cli/commands.h"
#include "reports/certificates/key.h"

#include <stdio.h>
#include <stdlib.h>

static int generate_run(const struct text_list *arguments)
{
	struct key key CLEANUP_KEY = {0};
	struct error err = {0};
	const char *path = arguments->items[0];
	int rc = key_generate(path, &key, &err);
	if (rc < 0)
		return command_failed("key generate", rc, &err);
	(void)printf("keyid %s\nprivate %s\npublic %s.pub\n", key.id, path, path);
	return EXIT_SUCCESS;
}

static int show_run(const struct text_list *arguments)
{
	char pem[KEY_PEM_SIZE] = "";
	struct key key CLEANUP_KEY = {0};
	struct error err = {0};
	int rc = key_read(arguments->items[0], KEY_PUBLIC, &key, &err);
	if (rc == ERROR_ARGUMENT)
		rc = key_read(arguments->items[0], KEY_PRIVATE, &key, &err);
	if (rc < 0)
		return command_failed("key show", rc, &err);
	key_public_pem(&key, pem);
	(void)printf("keyid %s\n%s", key.id, pem);
	return EXIT_SUCCESS;
}

const struct command_spec command_key_generate = {
	.name = "key generate",
	.summary = "Make a pair of keys to attest reports with",
	.arguments = "FILE",
	.description =
		"Writes an Ed25519 private key to FILE (PEM, PKCS #8, readable only by its owner) "
		"and its public key to FILE.pub (PEM). Nothing is overwritten. There is no "
		"passphrase: the folder's permissions protect the key. Prints the keyid, which is "
		"the SHA-256 of the public key's DER.",
	.examples = TEXTS(
		"gpucert key generate vendor.key",
		"Make vendor.key, which stays secret, and vendor.key.pub, which is published.",
		"openssl genpkey -algorithm ed25519 -out vendor.key && chmod 600 vendor.key && gpucert key "
		"show vendor.key > vendor.key.pub",
		"The same with OpenSSL."),
	.exit_codes = EXIT_CODES("done", "a file exists already or cannot be written"),
	.run = generate_run,
};

const struct command_spec command_key_show = {
	.name = "key show",
	.summary = "Print the keyid and the public key of a key file",
	.arguments = "FILE",
	.description = "FILE is a private or a public key. The output can be saved as FILE.pub.",
	.examples = TEXTS("gpucert key show vendor.key.pub",
			  "Print the keyid, which is in every attestation made with the key."),
	.exit_codes = EXIT_CODES(
		"done",
		"FILE cannot be read, is not an Ed25519 key, or is a private key that others may read"),
	.run = show_run,
};
