/* SPDX-License-Identifier: MIT */
/* Who we are, and whom that is told: real registries with a password and with tokens. */
#include "containers/registry/tests/rig.h"

static struct rig rig;

static void test_push(void)
{
	rig_push_tool(&rig);
}

#define ALICE "{\"auths\": {\"%s\": {\"auth\": \"YWxpY2U6b3BlbjpzZXNhbWU=\"}}}"

static void login(const char *format, const char *port)
{
	char *host CLEANUP_FREE = rig_host(&rig, "localhost", port);
	struct text config CLEANUP_TEXT = {0};
	const char *mark = strstr(format, "%s");
	text_append(&config, format, (size_t)(mark - format));
	text_add(&config, host);
	text_add(&config, mark + 2);
	rig_credentials(&rig, text_string(&config));
}

/* "~/.config/containers/certs.d/HOST:PORT", as Podman has it. */
static void expect_trust_by_folder(const char *string, const struct image_source_options *options)
{
	struct error err = {0};
	char *old_home CLEANUP_FREE = text_format("%s", getenv("HOME") ? getenv("HOME") : "/");
	char *host CLEANUP_FREE = rig_host(&rig, "localhost", "password");
	char *folder CLEANUP_FREE =
		text_format("%s/.config/containers/certs.d/%s", rig.directory, host);
	char *path CLEANUP_FREE = path_join(folder, "ca.crt");
	char *pem CLEANUP_FREE = NULL;
	UNIT_INT(file_read(rig.ca_certificate, 1 << 20, &pem, NULL, &err), 0);
	UNIT_INT(file_make_directories(folder, 0755, &err), 0);
	UNIT_INT(file_write_atomic(path, pem, strlen(pem), 0644, &err), 0);
	CU_ASSERT_EQUAL(setenv("HOME", rig.directory, 1), 0);
	UNIT_INT(rig_read_image(&rig, string, options, &err), 0);
	UNIT_STRING(err.text, "");
	CU_ASSERT_EQUAL(setenv("HOME", old_home, 1), 0);
}

/* TLS with an authority of its own, and a password. */
static void test_password(void)
{
	struct error err = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	char *host CLEANUP_FREE = rig_host(&rig, "localhost", "password");
	rig_credentials(&rig, NULL);
	UNIT_INT(rig_read_from(&rig, "localhost", "password", "tool:1", true, &err),
		 ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "docker login localhost:");
	login("{\"auths\": {\"%s\": {\"username\": \"alice\", \"password\": \"sesame\"}}}",
	      "password");
	UNIT_INT(rig_read_from(&rig, "localhost", "password", "tool:1", true, &err),
		 ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "does not accept the credentials of ");
	login(ALICE, "password");
	struct registry_options options = rig_options(&rig, true);
	rig_push_image(&options, host, "tool", "1", &rig.layer, digest);
	UNIT_INT(rig_read_from(&rig, "localhost", "password", "tool:1", true, &err), 0);
	UNIT_STRING(err.text, "");
	options.ca_certificate = NULL;
	const struct image_source_options untrusting = {.no_cache = true, .registry = options};
	char *string CLEANUP_FREE = text_format("docker://%s/tool:1", host);
	UNIT_INT(rig_read_image(&rig, string, &untrusting, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "trust its authority with --ca-certificate");
	CU_ASSERT_EQUAL(setenv("SSL_CERT_FILE", rig.ca_certificate, 1), 0);
	UNIT_INT(rig_read_image(&rig, string, &untrusting, &err), 0);
	CU_ASSERT_EQUAL(unsetenv("SSL_CERT_FILE"), 0);
	expect_trust_by_folder(string, &untrusting);
	options.ca_certificate = "/nonexistent";
	const struct image_source_options missing = {.no_cache = true, .registry = options};
	UNIT_INT(rig_read_image(&rig, string, &missing, &err), ERROR_NOT_FOUND);
	rig_credentials(&rig, "{\"auths\": {\"x\": \n{]}");
	UNIT_INT(rig_read_from(&rig, "localhost", "password", "tool:1", true, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "config.json");
}

static void write_helper(const char *name, const char *body)
{
	char *path CLEANUP_FREE = path_join(rig.directory, name);
	CU_ASSERT_EQUAL(file_write_atomic(path, body, strlen(body), 0755, NULL), 0);
}

/* Bearer tokens: with a password, with a refresh token, from helpers. */
static void test_token(void)
{
	struct error err = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	char *host CLEANUP_FREE = rig_host(&rig, "localhost", "token");
	char *old_path CLEANUP_FREE = text_format("%s", getenv("PATH"));
	char *new_path CLEANUP_FREE = text_format("%s:%s", rig.directory, old_path);
	CU_ASSERT_EQUAL(setenv("PATH", new_path, 1), 0);
	rig_credentials(&rig, NULL);
	UNIT_INT(rig_read_from(&rig, "localhost", "token", "tool:1", true, &err), ERROR_PERMISSION);
	login(ALICE, "token");
	struct registry_options options = rig_options(&rig, true);
	rig_push_image(&options, host, "tool", "1", &rig.layer, digest);
	free(rig_recorded(&rig));
	UNIT_INT(rig_read_from(&rig, "localhost", "token", "tool:1", true, &err), 0);
	char *seen CLEANUP_FREE = rig_recorded(&rig);
	/* One token is enough for the manifest, the configuration and the layer. */
	UNIT_STRING(seen, "token GET repository:tool:pull true\n");
	login("{\"auths\": {\"%s\": {\"identitytoken\": \"refresh me\"}}}", "token");
	UNIT_INT(rig_read_from(&rig, "localhost", "token", "tool:1", true, &err), 0);
	char *posted CLEANUP_FREE = rig_recorded(&rig);
	UNIT_STRING(posted, "token POST repository:tool:pull true\n");
	write_helper("docker-credential-rig",
		     "#!/bin/sh\nread -r host\n[ \"$1\" = get ] || exit 1\n"
		     "echo '{\"Username\": \"alice\", \"Secret\": \"open:sesame\"}'\n");
	login("{\"credHelpers\": {\"%s\": \"rig\"}}", "token");
	UNIT_INT(rig_read_from(&rig, "localhost", "token", "tool:1", true, &err), 0);
	UNIT_STRING(err.text, "");
	write_helper("docker-credential-none",
		     "#!/bin/sh\necho credentials not found in native keychain\nexit 1\n");
	rig_credentials(&rig, "{\"credsStore\": \"none\"}");
	UNIT_INT(rig_read_from(&rig, "localhost", "token", "tool:1", true, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "docker login");
	write_helper("docker-credential-fails", "#!/bin/sh\necho open:sesame\nexit 3\n");
	rig_credentials(&rig, "{\"credsStore\": \"fails\"}");
	UNIT_INT(rig_read_from(&rig, "localhost", "token", "tool:1", true, &err), ERROR_IO);
	UNIT_CONTAINS(err.text, "docker-credential-fails (credential helper): exited with code 3");
	rig_credentials(&rig, "{\"credsStore\": \"missing\"}");
	UNIT_INT(rig_read_from(&rig, "localhost", "token", "tool:1", true, &err), ERROR_NOT_FOUND);
	rig_credentials(&rig, "{\"credsStore\": \"../../bin/sh\"}");
	UNIT_INT(rig_read_from(&rig, "localhost", "token", "tool:1", true, &err), ERROR_FORMAT);
	CU_ASSERT_EQUAL(setenv("PATH", old_path, 1), 0);
}

/* Credentials stay with the host that they are for, and with TLS. */
static void test_secrets(void)
{
	struct error err = {0};
	login(ALICE, "proxyTls");
	free(rig_recorded(&rig));
	UNIT_INT(rig_read_from(&rig, "localhost", "proxyTls", "basic/tool:1", true, &err), 0);
	char *own CLEANUP_FREE = rig_recorded(&rig);
	/* The rig leads to "localhost", which is this host. */
	UNIT_CONTAINS(own, "away Basic YWxpY2U6b3BlbjpzZXNhbWU=");
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "proxyTls");
	char *config CLEANUP_FREE = text_format(ALICE, host);
	rig_credentials(&rig, config);
	UNIT_INT(rig_read_from(&rig, "127.0.0.1", "proxyTls", "basic/tool:1", true, &err), 0);
	char *seen CLEANUP_FREE = rig_recorded(&rig);
	UNIT_CONTAINS(seen, "away nobody");
	CU_ASSERT_PTR_NULL(strstr(seen, "Basic"));
	UNIT_INT(rig_read_from(&rig, "127.0.0.1", "proxyTls", "downgrade/tool:1", true, &err),
		 ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "leads from HTTPS to plain HTTP");
	UNIT_INT(rig_read_from(&rig, "127.0.0.1", "proxyTls", "realm-plain/tool:1", true, &err),
		 ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "a realm of plain HTTP for a registry of HTTPS");
	UNIT_INT(rig_read_from(&rig, "127.0.0.1", "proxyTls", "realm-bad/tool:1", true, &err),
		 ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "/bad: the answer has no token");
}

/* Podman's file, and Docker's in the home folder, which DOCKER_CONFIG replaces. */
static void test_places(void)
{
	struct error err = {0};
	char *old_home CLEANUP_FREE = text_format("%s", getenv("HOME") ? getenv("HOME") : "/");
	char *file CLEANUP_FREE = path_join(rig.directory, "docker/config.json");
	char *home CLEANUP_FREE = path_join(rig.directory, "home");
	char *below CLEANUP_FREE = path_join(home, ".docker");
	char *copy CLEANUP_FREE = path_join(below, "config.json");
	login(ALICE, "password");
	CU_ASSERT_EQUAL(unsetenv("DOCKER_CONFIG"), 0);
	CU_ASSERT_EQUAL(setenv("HOME", home, 1), 0);
	UNIT_INT(rig_read_from(&rig, "localhost", "password", "tool:1", true, &err),
		 ERROR_PERMISSION);
	CU_ASSERT_EQUAL(setenv("REGISTRY_AUTH_FILE", file, 1), 0);
	UNIT_INT(rig_read_from(&rig, "localhost", "password", "tool:1", true, &err), 0);
	CU_ASSERT_EQUAL(unsetenv("REGISTRY_AUTH_FILE"), 0);
	UNIT_INT(file_make_directories(below, 0755, &err), 0);
	UNIT_INT(rename(file, copy), 0);
	UNIT_INT(rig_read_from(&rig, "localhost", "password", "tool:1", true, &err), 0);
	CU_ASSERT_EQUAL(setenv("HOME", old_home, 1), 0);
	rig_credentials(&rig, NULL);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"push", test_push},   {"password", test_password}, {"places", test_places},
		{"token", test_token}, {"secrets", test_secrets},   CU_TEST_INFO_NULL,
	};
	int rc = rig_open(&rig);
	if (rc == 0)
		rc = unit_run("registry login", tests);
	rig_close(&rig);
	return rc;
}
