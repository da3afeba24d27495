/* SPDX-License-Identifier: MIT */
/* The client with real registries, in front of which something breaks. */
#include "containers/registry/tests/rig.h"

#include "base/clock.h"
#include "base/json.h"

#include <sys/stat.h>

static struct rig rig;
static struct text layer; /* of the image "tool:1" in the registry without authentication */
static char tool_digest[DIGEST_TEXT_SIZE];

static void test_push(void)
{
	enum { LAYER_SIZE = 6000000 };
	uint32_t state = 1;
	char *bytes = text_extend(&layer, LAYER_SIZE);
	for (size_t i = 0; i < LAYER_SIZE; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (char)(state >> 24);
	}
	struct registry_options options = rig_options(&rig, false);
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	rig_credentials(&rig, NULL);
	rig_push_image(&options, host, "tool", "1", &layer, tool_digest);
}

/* Nothing that is secret is in an error. */
static void expect_no_secret(const char *text)
{
	static const char *const secrets[] = {"sesame", "YWxpY2U6b3BlbjpzZXNhbWU=", "refresh me",
					      "signature"};
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		CU_ASSERT_PTR_NULL(strstr(text, secrets[i]));
}

/* Loads the image and reads its layer, as far as that goes. */
static int read_image(const char *string, const struct image_source_options *options,
		      struct error *err)
{
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image image CLEANUP_IMAGE = {0};
	struct blob_reader *stream CLEANUP_BLOB_READER = NULL;
	struct text all CLEANUP_TEXT = {0};
	char chunk[65536];
	size_t count = 0;
	int rc = image_source_open(string, options, &source, err);
	if (rc == 0)
		rc = image_source_load(source, NULL, &image, err);
	if (rc == 0)
		rc = image_source_open_layer(source, &image.layers[0], &stream, err);
	while (rc == 0 && (rc = stream->read(stream, chunk, sizeof(chunk), &count, err)) == 0 &&
	       count > 0)
		text_append(&all, chunk, count);
	if (rc == 0) {
		UNIT_STRING(image.platform.os, "linux");
		UNIT_INT(all.size, layer.size);
		CU_ASSERT_EQUAL(memcmp(all.data, layer.data, layer.size), 0);
	}
	expect_no_secret(err->text);
	return rc;
}

static int read_from(const char *host, const char *port, const char *name, bool tls,
		     struct error *err)
{
	const struct image_source_options options = {.no_cache = true,
						     .registry = rig_options(&rig, tls)};
	char *place CLEANUP_FREE = rig_host(&rig, host, port);
	char *string CLEANUP_FREE = text_format("docker://%s/%s", place, name);
	*err = (struct error){0};
	return read_image(string, &options, err);
}

/* A host of this machine is asked with TLS first, and without when it does not know it. */
static void test_local(void)
{
	struct error err = {0};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	char *tagged CLEANUP_FREE = text_format("%s/tool:1", host);
	char *exact CLEANUP_FREE = text_format("docker://%s/tool@%s", host, tool_digest);
	const struct image_source_options options = {.no_cache = true};
	UNIT_INT(read_image(tagged, &options, &err), 0);
	UNIT_INT(read_image(exact, &options, &err), 0);
	UNIT_STRING(err.text, "");
	char *missing CLEANUP_FREE = text_format("docker://%s/tool:2", host);
	UNIT_INT(read_image(missing, &options, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/v2/tool/manifests/2: status 404 (MANIFEST_UNKNOWN)");
}

static const struct {
	const char *fault;
	int code; /* 0: the fault is overcome */
	const char *part;
	size_t waits; /* how often it was tried again */
} faults[] = {
	{"cut", 0, "", 4}, /* the configuration and the layer, twice each */
	{"cut-always", ERROR_IO, "", HTTP_RETRIES},
	{"no-range", 0, "", 2},
	{"wrong-range", ERROR_PROTOCOL, "another range than was asked for", 1},
	{"slow", ERROR_TIMEOUT, "Operation too slow", HTTP_RETRIES},
	{"busy", 0, "", 6}, /* the tag and both blobs, twice each */
	{"busy-long", ERROR_BUSY, "Retry-After asks for 3600 s", 0},
	{"busy-always", ERROR_BUSY, "status 429 (TOOMANYREQUESTS)", HTTP_RETRIES},
	{"flaky", 0, "", 6},
	{"broken", ERROR_UNAVAILABLE, "status 500", HTTP_RETRIES},
	{"teapot", ERROR_REMOTE, "status 418", 0},
	{"digest", ERROR_PROTOCOL, "Docker-Content-Digest says sha256:", 0},
	{"header-digest", ERROR_PROTOCOL, "Docker-Content-Digest says sha256:0000", 0},
	{"huge", ERROR_LIMIT, "more than 4194304 bytes", 0},
	{"huge-told", ERROR_LIMIT, "1099511627776 bytes", 0},
	{"many", ERROR_LIMIT, "more than 200000 values", 0},
	{"long", ERROR_PROTOCOL, "is longer than", 0},
	{"short", ERROR_IO, "cut after 15 of", HTTP_RETRIES},
	{"length-lies", ERROR_PROTOCOL, "Content-Length 7 does not fit", 0},
	{"loop", ERROR_PROTOCOL, "more than 5 redirects", 0},
	{"nowhere", ERROR_PROTOCOL, "status 302 without a Location", 0},
	{"file", ERROR_PROTOCOL, "leads to a URL that is not HTTP", 0},
	{"away", 0, "", 0},
	{"head", ERROR_LIMIT, "a head of more than 262144 bytes", 0},
	{"garbage", ERROR_PROTOCOL, "", 0},
	{"no-challenge", ERROR_UNSUPPORTED, "neither for Basic nor for Bearer", 0},
	{"bad-challenge", ERROR_FORMAT, "a quote that does not end", 0},
	{"realm-file", ERROR_PROTOCOL, "without the URL of a realm", 0},
};

static void test_faults(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct error err = {0};
		char *name CLEANUP_FREE = text_format("%s/tool:1", faults[i].fault);
		int rc = read_from("127.0.0.1", "proxy", name, false, &err);
		if (rc != faults[i].code || rig.time.count != faults[i].waits)
			(void)printf("\n%s: %d after %zu waits: %s\n", faults[i].fault, rc,
				     rig.time.count, err.text);
		UNIT_INT(rc, faults[i].code);
		UNIT_INT(rig.time.count, faults[i].waits);
		UNIT_CONTAINS(err.text, faults[i].part);
	}
}

/* As long as was asked for, and longer from time to time. */
static void test_waits(void)
{
	struct error err = {0};
	UNIT_INT(read_from("127.0.0.1", "proxy", "busy/tool:1", false, &err), 0);
	UNIT_INT(read_from("127.0.0.1", "proxy", "busy-date/tool:1", false, &err), 0);
	for (size_t i = 0; i < rig.time.count; i++)
		CU_ASSERT_TRUE(rig.time.waits[i] > 3000 && rig.time.waits[i] < 6000);
	CU_ASSERT_TRUE(rig.time.count > 0);
	UNIT_INT(read_from("127.0.0.1", "nothing", "tool:1", false, &err), ERROR_IO);
	UNIT_INT(rig.time.count, HTTP_RETRIES);
	for (size_t i = 0; i < rig.time.count; i++) {
		uint64_t most = (uint64_t)HTTP_WAIT_FIRST_MS << i;
		CU_ASSERT_TRUE(rig.time.waits[i] >= most / 2 && rig.time.waits[i] <= most);
	}
	UNIT_INT(read_from("nonexistent.invalid", "nothing", "tool:1", false, &err),
		 ERROR_UNAVAILABLE);
}

static int list_tags(const char *host, const char *name, struct text_list *tags, struct error *err)
{
	struct registry_options options = rig_options(&rig, false);
	struct registry *registry CLEANUP_REGISTRY = NULL;
	int rc = registry_open(host, name, false, &options, &registry, err);
	return rc == 0 ? registry_list_tags(registry, tags, err) : rc;
}

static void test_tags(void)
{
	struct error err = {0};
	struct registry_options options = rig_options(&rig, false);
	char *plain CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	char *proxy CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "proxy");
	struct text_list tags CLEANUP_TEXT_LIST = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	struct text small CLEANUP_TEXT = {0};
	text_add(&small, "small");
	for (int i = 0; i < 5; i++) {
		char *tag CLEANUP_FREE = text_format("v%d", i);
		rig_push_image(&options, plain, "many", tag, &small, digest);
	}
	UNIT_INT(list_tags(proxy, "pages/many", &tags, &err), 0);
	UNIT_INT(tags.count, 5);
	for (size_t i = 0; i < tags.count; i++) {
		char *tag CLEANUP_FREE = text_format("v%zu", i);
		CU_ASSERT_TRUE(text_list_has(&tags, tag));
	}
	UNIT_INT(list_tags(proxy, "pages-loop/many", &tags, &err), ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "Link leads to itself");
	UNIT_INT(list_tags(proxy, "pages-away/many", &tags, &err), ERROR_PROTOCOL);
	UNIT_INT(list_tags(proxy, "pages-on/many", &tags, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "more than 1000 pages");
	UNIT_INT(list_tags(proxy, "nothing", &tags, &err), ERROR_NOT_FOUND);
}

/* Debian's registry does not keep referrers: the tag does. */
static void test_referrers(void)
{
	struct error err = {0};
	struct registry_options options = rig_options(&rig, false);
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	struct registry *registry CLEANUP_REGISTRY = NULL;
	struct image_index index CLEANUP_IMAGE_INDEX = {0};
	char empty[DIGEST_TEXT_SIZE] = "";
	char digest[DIGEST_TEXT_SIZE] = "";
	UNIT_INT(registry_open(host, "tool", true, &options, &registry, &err), 0);
	UNIT_INT(registry_list_referrers(registry, tool_digest, "", &index, &err), 0);
	UNIT_INT(index.count, 0);
	UNIT_INT(registry_push_blob(registry, "{}", 2, empty, NULL, &err), 0);
	for (int i = 0; i < 3; i++) { /* the third is the second again */
		char *manifest CLEANUP_FREE = text_format(
			"{\"schemaVersion\": 2, \"mediaType\": \"" OCI_MANIFEST
			"\", \"artifactType\": \"application/vnd.test%d\", \"config\": "
			"{\"mediaType\": \"application/vnd.oci.empty.v1+json\", \"digest\": \"%s\", "
			"\"size\": 2}, \"layers\": [], \"subject\": {\"mediaType\": \"" OCI_MANIFEST
			"\", \"digest\": \"%s\", \"size\": 7}, \"annotations\": {\"a\": \"b\"}}",
			i < 2 ? i : 1, empty, tool_digest);
		UNIT_INT(registry_push_manifest(registry, NULL, OCI_MANIFEST, manifest,
						strlen(manifest), digest, &err),
			 0);
	}
	UNIT_INT(registry_list_referrers(registry, tool_digest, "", &index, &err), 0);
	UNIT_INT(index.count, 2);
	image_index_free(&index);
	UNIT_INT(registry_list_referrers(registry, tool_digest, "application/vnd.test1", &index,
					 &err),
		 0);
	UNIT_STRING(err.text, "");
	UNIT_NEED(index.count == 1);
	UNIT_STRING(index.entries[0].descriptor.digest, digest);
	UNIT_STRING(image_pair_value(index.entries[0].annotations, 1, "a"), "b");
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	UNIT_INT(registry_get_manifest(registry, digest, &document, &err), 0);
	UNIT_STRING(document.media_type, OCI_MANIFEST);
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

/* TLS with an authority of its own, and a password. */
static void test_password(void)
{
	struct error err = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	char *host CLEANUP_FREE = rig_host(&rig, "localhost", "password");
	rig_credentials(&rig, NULL);
	UNIT_INT(read_from("localhost", "password", "tool:1", true, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "docker login localhost:");
	login("{\"auths\": {\"%s\": {\"username\": \"alice\", \"password\": \"sesame\"}}}",
	      "password");
	UNIT_INT(read_from("localhost", "password", "tool:1", true, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "does not accept the credentials of ");
	login(ALICE, "password");
	struct registry_options options = rig_options(&rig, true);
	rig_push_image(&options, host, "tool", "1", &layer, digest);
	UNIT_INT(read_from("localhost", "password", "tool:1", true, &err), 0);
	UNIT_STRING(err.text, "");
	options.ca_certificate = NULL;
	const struct image_source_options untrusting = {.no_cache = true, .registry = options};
	char *string CLEANUP_FREE = text_format("docker://%s/tool:1", host);
	UNIT_INT(read_image(string, &untrusting, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "--ca-certificate trusts an authority of your own");
	CU_ASSERT_EQUAL(setenv("SSL_CERT_FILE", rig.ca_certificate, 1), 0);
	UNIT_INT(read_image(string, &untrusting, &err), 0);
	CU_ASSERT_EQUAL(unsetenv("SSL_CERT_FILE"), 0);
	options.ca_certificate = "/nonexistent";
	const struct image_source_options missing = {.no_cache = true, .registry = options};
	UNIT_INT(read_image(string, &missing, &err), ERROR_NOT_FOUND);
	rig_credentials(&rig, "{\"auths\": {\"x\": \n{]}");
	UNIT_INT(read_from("localhost", "password", "tool:1", true, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "config.json");
}

/* The authority that plain HTTP has no use for is trusted where a redirect leads to TLS. */
static void test_upgrade(void)
{
	struct error err = {0};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "proxy");
	char *string CLEANUP_FREE = text_format("docker://%s/upgrade/tool:1", host);
	struct image_source_options options = {.no_cache = true,
					       .registry = rig_options(&rig, false)};
	rig_credentials(&rig, NULL);
	UNIT_INT(read_image(string, &options, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "--ca-certificate trusts an authority of your own");
	options.registry.ca_certificate = rig.ca_certificate;
	UNIT_INT(read_image(string, &options, &err), 0);
	options.registry.ca_certificate = NULL;
	CU_ASSERT_EQUAL(setenv("SSL_CERT_FILE", rig.ca_certificate, 1), 0);
	UNIT_INT(read_image(string, &options, &err), 0);
	CU_ASSERT_EQUAL(unsetenv("SSL_CERT_FILE"), 0);
}

static void write_helper(const char *name, const char *body)
{
	char *path CLEANUP_FREE = path_join(rig.directory, name);
	CU_ASSERT_EQUAL(file_write_atomic(path, body, strlen(body), 0755, NULL), 0);
}

/* What has expired is not sent again. */
static void expect_new_token(const char *host)
{
	struct registry_options options = rig_options(&rig, true);
	struct registry *registry CLEANUP_REGISTRY = NULL;
	struct error err = {0};
	UNIT_INT(registry_open(host, "tool", false, &options, &registry, &err), 0);
	for (int i = 0; i < 4; i++) {
		struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
		rig.time.now_ms += i == 2 ? 61000 : 1;
		UNIT_INT(registry_get_manifest(registry, "1", &document, &err), 0);
		UNIT_STRING(err.text, "");
	}
	char *seen CLEANUP_FREE = rig_recorded(&rig);
	UNIT_STRING(seen, "token GET repository:tool:pull true\n"
			  "token GET repository:tool:pull true\n");
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
	UNIT_INT(read_from("localhost", "token", "tool:1", true, &err), ERROR_PERMISSION);
	login(ALICE, "token");
	struct registry_options options = rig_options(&rig, true);
	rig_push_image(&options, host, "tool", "1", &layer, digest);
	free(rig_recorded(&rig));
	UNIT_INT(read_from("localhost", "token", "tool:1", true, &err), 0);
	char *seen CLEANUP_FREE = rig_recorded(&rig);
	/* One token is enough for the manifest, the configuration and the layer. */
	UNIT_STRING(seen, "token GET repository:tool:pull true\n");
	expect_new_token(host);
	login("{\"auths\": {\"%s\": {\"identitytoken\": \"refresh me\"}}}", "token");
	UNIT_INT(read_from("localhost", "token", "tool:1", true, &err), 0);
	char *posted CLEANUP_FREE = rig_recorded(&rig);
	UNIT_STRING(posted, "token POST repository:tool:pull true\n");
	write_helper("docker-credential-rig",
		     "#!/bin/sh\nread -r host\n[ \"$1\" = get ] || exit 1\n"
		     "echo '{\"Username\": \"alice\", \"Secret\": \"open:sesame\"}'\n");
	login("{\"credHelpers\": {\"%s\": \"rig\"}}", "token");
	UNIT_INT(read_from("localhost", "token", "tool:1", true, &err), 0);
	UNIT_STRING(err.text, "");
	write_helper("docker-credential-none",
		     "#!/bin/sh\necho credentials not found in native keychain\nexit 1\n");
	rig_credentials(&rig, "{\"credsStore\": \"none\"}");
	UNIT_INT(read_from("localhost", "token", "tool:1", true, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "docker login");
	write_helper("docker-credential-fails", "#!/bin/sh\necho open:sesame\nexit 3\n");
	rig_credentials(&rig, "{\"credsStore\": \"fails\"}");
	UNIT_INT(read_from("localhost", "token", "tool:1", true, &err), ERROR_IO);
	UNIT_CONTAINS(err.text, "docker-credential-fails (credential helper): exited with code 3");
	rig_credentials(&rig, "{\"credsStore\": \"missing\"}");
	UNIT_INT(read_from("localhost", "token", "tool:1", true, &err), ERROR_NOT_FOUND);
	rig_credentials(&rig, "{\"credsStore\": \"../../bin/sh\"}");
	UNIT_INT(read_from("localhost", "token", "tool:1", true, &err), ERROR_FORMAT);
	CU_ASSERT_EQUAL(setenv("PATH", old_path, 1), 0);
}

/* Credentials stay with the host that they are for, and with TLS. */
static void test_secrets(void)
{
	struct error err = {0};
	login(ALICE, "proxyTls");
	free(rig_recorded(&rig));
	UNIT_INT(read_from("localhost", "proxyTls", "basic/tool:1", true, &err), 0);
	char *own CLEANUP_FREE = rig_recorded(&rig);
	/* The rig leads to "localhost", which is this host. */
	UNIT_CONTAINS(own, "away Basic YWxpY2U6b3BlbjpzZXNhbWU=");
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "proxyTls");
	char *config CLEANUP_FREE = text_format(ALICE, host);
	rig_credentials(&rig, config);
	UNIT_INT(read_from("127.0.0.1", "proxyTls", "basic/tool:1", true, &err), 0);
	char *seen CLEANUP_FREE = rig_recorded(&rig);
	UNIT_CONTAINS(seen, "away nobody");
	CU_ASSERT_PTR_NULL(strstr(seen, "Basic"));
	UNIT_INT(read_from("127.0.0.1", "proxyTls", "away-denied/tool:1", true, &err),
		 ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "/denied: status 401");
	char *asked CLEANUP_FREE = rig_recorded(&rig);
	UNIT_STRING(asked, ""); /* no token, for which the password would be sent */
	UNIT_INT(read_from("127.0.0.1", "proxyTls", "downgrade/tool:1", true, &err),
		 ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "leads from HTTPS to plain HTTP");
	UNIT_INT(read_from("127.0.0.1", "proxyTls", "realm-plain/tool:1", true, &err),
		 ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "a realm of plain HTTP for a registry of HTTPS");
	UNIT_INT(read_from("127.0.0.1", "proxyTls", "realm-bad/tool:1", true, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "/bad: the answer has no token");
}

static void expect_mode(const char *path, unsigned mode)
{
	struct stat status = {0};
	CU_ASSERT_EQUAL(stat(path, &status), 0);
	UNIT_INT(status.st_mode & 0777, mode);
}

/* What was read once is not asked for again; what is damaged, is. */
static void test_cache(void)
{
	struct error err = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *cache CLEANUP_FREE = path_join(rig.directory, "cache");
	char *blobs CLEANUP_FREE = path_join(cache, "sha256");
	const struct image_source_options options = {.cache_directory = cache,
						     .registry = rig_options(&rig, false)};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	char *dead CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "nothing");
	char *tagged CLEANUP_FREE = text_format("docker://%s/tool:1", host);
	char *there CLEANUP_FREE = text_format("docker://%s/tool@%s", host, tool_digest);
	char *exact CLEANUP_FREE = text_format("docker://%s/tool@%s", dead, tool_digest);
	UNIT_INT(read_image(tagged, &options, &err), 0);
	expect_mode(cache, 0700);
	expect_mode(blobs, 0700);
	UNIT_INT(file_list(blobs, &names, &err), 0);
	UNIT_INT(names.count, 3); /* and nothing that was on its way */
	UNIT_INT(read_image(exact, &options, &err), 0);
	UNIT_STRING(err.text, "");
	char *manifest CLEANUP_FREE = path_join(blobs, tool_digest + sizeof("sha256"));
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	expect_mode(manifest, 0600);
	UNIT_INT(file_read(manifest, 1 << 20, &data, &size, &err), 0);
	data[0] ^= 1;
	UNIT_INT(file_write_atomic(manifest, data, size, 0600, &err), 0);
	CU_ASSERT_TRUE(read_image(exact, &options, &err) < 0);
	UNIT_INT(read_image(there, &options, &err), 0);
	err = (struct error){0};
	UNIT_INT(read_image(exact, &options, &err), 0);
	/* A layer is found wrong at its end, and is gone then. */
	char layer_digest[DIGEST_TEXT_SIZE] = "";
	digest_bytes(layer.data, layer.size, layer_digest);
	char *path CLEANUP_FREE = path_join(blobs, layer_digest + sizeof("sha256"));
	char *wrong CLEANUP_FREE = calloc(1, layer.size);
	UNIT_INT(file_write_atomic(path, wrong, layer.size, 0600, &err), 0);
	UNIT_INT(read_image(exact, &options, &err), ERROR_PROTOCOL);
	CU_ASSERT_FALSE(file_exists(path));
	char *dead_writer CLEANUP_FREE = path_join(blobs, ".incoming-dead");
	uv_fs_t request = {0};
	UNIT_INT(file_write_atomic(dead_writer, "x", 1, 0600, &err), 0);
	UNIT_INT(uv_fs_utime(NULL, &request, dead_writer, 0, 0, NULL), 0);
	uv_fs_req_cleanup(&request);
	UNIT_INT(read_image(there, &options, &err), 0);
	CU_ASSERT_TRUE(file_exists(path));
	CU_ASSERT_FALSE(file_exists(dead_writer)); /* what is kept has its bounds */
}

/* A blob that was wrong is not kept. */
static void test_cache_keeps_right(void)
{
	struct error err = {0};
	char *cache CLEANUP_FREE = path_join(rig.directory, "other-cache");
	char *blobs CLEANUP_FREE = path_join(cache, "sha256");
	struct text_list names CLEANUP_TEXT_LIST = {0};
	const struct image_source_options options = {.cache_directory = cache,
						     .registry = rig_options(&rig, false)};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "proxy");
	char *string CLEANUP_FREE = text_format("docker://%s/long/tool:1", host);
	UNIT_INT(read_image(string, &options, &err), ERROR_PROTOCOL);
	UNIT_INT(file_list(blobs, &names, &err), 0);
	UNIT_INT(names.count, 1); /* the manifest */
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"push", test_push},
		{"a local registry", test_local},
		{"faults", test_faults},
		{"waits", test_waits},
		{"tags", test_tags},
		{"referrers", test_referrers},
		{"password", test_password},
		{"redirect to TLS", test_upgrade},
		{"token", test_token},
		{"secrets", test_secrets},
		{"cache", test_cache},
		{"the cache keeps what is right", test_cache_keeps_right},
		CU_TEST_INFO_NULL,
	};
	int rc = rig_open(&rig);
	if (rc == 0)
		rc = unit_run("registry", tests);
	text_free(&layer);
	rig_close(&rig);
	return rc;
}
