/* SPDX-License-Identifier: MIT */
/* The client with real registries, in front of which something breaks. */
#include "containers/registry/tests/rig.h"

#include "base/clock.h"
#include "base/json.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rig rig;

static void test_push(void)
{
	rig_push_tool(&rig);
}

/* A host of this machine is asked with TLS first, and without when it does not know it. */
static void test_local(void)
{
	struct error err = {0};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	char *tagged CLEANUP_FREE = text_format("%s/tool:1", host);
	char *exact CLEANUP_FREE = text_format("docker://%s/tool@%s", host, rig.digest);
	const struct image_source_options options = {.no_cache = true};
	UNIT_INT(rig_read_image(&rig, tagged, &options, &err), 0);
	UNIT_INT(rig_read_image(&rig, exact, &options, &err), 0);
	UNIT_STRING(err.text, "");
	char *missing CLEANUP_FREE = text_format("docker://%s/tool:2", host);
	UNIT_INT(rig_read_image(&rig, missing, &options, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/v2/tool/manifests/2: status 404 (MANIFEST_UNKNOWN)");
}

static const struct {
	const char *fault;
	int code; /* 0: the fault is overcome */
	const char *part;
	size_t waits; /* how often it was tried again */
} faults[] = {
	{"cut", 0, "", 4}, /* the configuration and the layer, twice each */
	{"cut-always", ERROR_IO, "", REGISTRY_RETRIES},
	{"no-range", 0, "", 2},
	{"wrong-range", ERROR_PROTOCOL, "another range than was asked for", 1},
	{"slow", ERROR_TIMEOUT, "less than 1024 bytes within 1.5 s", REGISTRY_RETRIES},
	{"busy", 0, "", 6}, /* the tag and both blobs, twice each */
	{"busy-long", ERROR_BUSY, "it asks to be left alone for 3600 s", 0},
	{"busy-always", ERROR_BUSY, "status 429 (TOOMANYREQUESTS)", REGISTRY_RETRIES},
	{"flaky", 0, "", 6},
	{"broken", ERROR_UNAVAILABLE, "status 500", REGISTRY_RETRIES},
	{"teapot", ERROR_REMOTE, "status 418", 0},
	{"digest", ERROR_PROTOCOL, "Docker-Content-Digest says sha256:", 0},
	{"header-digest", ERROR_PROTOCOL, "Docker-Content-Digest says sha256:0000", 0},
	{"huge", ERROR_LIMIT, "more than 4194304 bytes", 0},
	{"huge-told", ERROR_LIMIT, "1099511627776 bytes", 0},
	{"many", ERROR_LIMIT, "more than 200000 values", 0},
	{"long", ERROR_PROTOCOL, "is longer than", 0},
	{"short", ERROR_IO, "cut after 15 of", REGISTRY_RETRIES},
	{"length-lies", ERROR_PROTOCOL, "Content-Length 7 does not fit", 0},
	{"loop", ERROR_PROTOCOL, "more than 5 redirects", 0},
	{"nowhere", ERROR_PROTOCOL, "status 302 without a Location", 0},
	{"file", ERROR_PROTOCOL, "leads to what is not a URL of HTTP", 0},
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
		int rc = rig_read_from(&rig, "127.0.0.1", "proxy", name, false, &err);
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
	UNIT_INT(rig_read_from(&rig, "127.0.0.1", "proxy", "busy/tool:1", false, &err), 0);
	UNIT_INT(rig_read_from(&rig, "127.0.0.1", "proxy", "busy-date/tool:1", false, &err), 0);
	for (size_t i = 0; i < rig.time.count; i++)
		CU_ASSERT_TRUE(rig.time.waits[i] > 3000 && rig.time.waits[i] < 6000);
	CU_ASSERT_TRUE(rig.time.count > 0);
	UNIT_INT(rig_read_from(&rig, "127.0.0.1", "nothing", "tool:1", false, &err), ERROR_IO);
	UNIT_INT(rig.time.count, REGISTRY_RETRIES);
	for (size_t i = 0; i < rig.time.count; i++) {
		uint64_t most = (uint64_t)REGISTRY_WAIT_FIRST_MS << i;
		CU_ASSERT_TRUE(rig.time.waits[i] >= most / 2 && rig.time.waits[i] <= most);
	}
	UNIT_INT(rig_read_from(&rig, "nonexistent.invalid", "nothing", "tool:1", false, &err),
		 ERROR_UNAVAILABLE);
}

static void test_tags(void)
{
	struct error err = {0};
	struct registry_options options = rig_options(&rig, false);
	char *plain CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	char *proxy CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "proxy");
	struct registry *registry CLEANUP_REGISTRY = NULL;
	struct text_list tags CLEANUP_TEXT_LIST = {0};
	char digest[DIGEST_TEXT_SIZE] = "";
	struct text small CLEANUP_TEXT = {0};
	text_add(&small, "small");
	for (int i = 0; i < 5; i++) {
		char *tag CLEANUP_FREE = text_format("v%d", i);
		rig_push_image(&options, plain, "many", tag, &small, digest);
	}
	UNIT_INT(registry_open(proxy, &options, &registry, &err), 0);
	UNIT_INT(registry_list_tags(registry, "pages/many", &tags, &err), 0);
	UNIT_INT(tags.count, 5);
	for (size_t i = 0; i < tags.count; i++) {
		char *tag CLEANUP_FREE = text_format("v%zu", i);
		CU_ASSERT_TRUE(text_list_has(&tags, tag));
	}
	UNIT_INT(registry_list_tags(registry, "pages-loop/many", &tags, &err), ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "Link leads to itself");
	UNIT_INT(registry_list_tags(registry, "pages-away/many", &tags, &err), ERROR_PROTOCOL);
	UNIT_INT(registry_list_tags(registry, "pages-on/many", &tags, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "more than 1000 pages");
	UNIT_INT(registry_list_tags(registry, "nothing", &tags, &err), ERROR_NOT_FOUND);
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
	UNIT_INT(registry_open(host, &options, &registry, &err), 0);
	UNIT_INT(registry_list_referrers(registry, "tool", rig.digest, "", &index, &err), 0);
	UNIT_INT(index.count, 0);
	UNIT_INT(registry_push_blob(registry, "tool", "{}", 2, empty, &err), 0);
	for (int i = 0; i < 3; i++) { /* the third is the second again */
		char *manifest CLEANUP_FREE = text_format(
			"{\"schemaVersion\": 2, \"mediaType\": \"" OCI_MANIFEST
			"\", \"artifactType\": \"application/vnd.test%d\", \"config\": "
			"{\"mediaType\": \"application/vnd.oci.empty.v1+json\", \"digest\": \"%s\", "
			"\"size\": 2}, \"layers\": [], \"subject\": {\"mediaType\": \"" OCI_MANIFEST
			"\", \"digest\": \"%s\", \"size\": 7}, \"annotations\": {\"a\": \"b\"}}",
			i < 2 ? i : 1, empty, rig.digest);
		UNIT_INT(registry_push_manifest(registry, "tool", NULL, OCI_MANIFEST, manifest,
						strlen(manifest), digest, &err),
			 0);
	}
	UNIT_INT(registry_list_referrers(registry, "tool", rig.digest, "", &index, &err), 0);
	UNIT_INT(index.count, 2);
	image_index_free(&index);
	UNIT_INT(registry_list_referrers(registry, "tool", rig.digest, "application/vnd.test1",
					 &index, &err),
		 0);
	UNIT_STRING(err.text, "");
	UNIT_NEED(index.count == 1);
	UNIT_STRING(index.entries[0].descriptor.digest, digest);
	UNIT_STRING(image_pair_value(index.entries[0].annotations, 1, "a"), "b");
	struct registry_document document CLEANUP_REGISTRY_DOCUMENT = {0};
	UNIT_INT(registry_get_manifest(registry, "tool", digest, &document, &err), 0);
	UNIT_STRING(document.media_type, OCI_MANIFEST);
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
	char *there CLEANUP_FREE = text_format("docker://%s/tool@%s", host, rig.digest);
	char *exact CLEANUP_FREE = text_format("docker://%s/tool@%s", dead, rig.digest);
	UNIT_INT(rig_read_image(&rig, tagged, &options, &err), 0);
	expect_mode(cache, 0700);
	expect_mode(blobs, 0700);
	UNIT_INT(file_list(blobs, &names, &err), 0);
	UNIT_INT(names.count, 3); /* and nothing that was on its way */
	UNIT_INT(rig_read_image(&rig, exact, &options, &err), 0);
	UNIT_STRING(err.text, "");
	char *manifest CLEANUP_FREE = path_join(blobs, rig.digest + sizeof("sha256"));
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	expect_mode(manifest, 0600);
	UNIT_INT(file_read(manifest, 1 << 20, &data, &size, &err), 0);
	data[0] ^= 1;
	UNIT_INT(file_write_atomic(manifest, data, size, 0600, &err), 0);
	CU_ASSERT_TRUE(rig_read_image(&rig, exact, &options, &err) < 0);
	UNIT_INT(rig_read_image(&rig, there, &options, &err), 0);
	err = (struct error){0};
	UNIT_INT(rig_read_image(&rig, exact, &options, &err), 0);
	/* A layer is found wrong at its end, and is gone then. */
	char layer_digest[DIGEST_TEXT_SIZE] = "";
	digest_bytes(rig.layer.data, rig.layer.size, layer_digest);
	char *path CLEANUP_FREE = path_join(blobs, layer_digest + sizeof("sha256"));
	char *wrong CLEANUP_FREE = calloc(1, rig.layer.size);
	UNIT_INT(file_write_atomic(path, wrong, rig.layer.size, 0600, &err), 0);
	UNIT_INT(rig_read_image(&rig, exact, &options, &err), ERROR_PROTOCOL);
	CU_ASSERT_FALSE(file_exists(path));
	UNIT_INT(rig_read_image(&rig, there, &options, &err), 0);
	CU_ASSERT_TRUE(file_exists(path));
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
	UNIT_INT(rig_read_image(&rig, string, &options, &err), ERROR_PROTOCOL);
	UNIT_INT(file_list(blobs, &names, &err), 0);
	UNIT_INT(names.count, 1); /* the manifest */
}

/* However long a layer is, a buffer of it is in memory. */
static void test_memory(void)
{
	enum { MEBIBYTES = 300 };
	struct error err = {0};
	const struct image_source_options options = {.no_cache = true,
						     .registry = rig_options(&rig, false)};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "proxy");
	char *string CLEANUP_FREE = text_format("docker://%s/large/tool:1", host);
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	struct image_stream *stream CLEANUP_IMAGE_STREAM = NULL;
	const struct image_descriptor zeros = {"", rig.digest, (uint64_t)MEBIBYTES << 20};
	struct rusage before = {0};
	struct rusage after = {0};
	static char chunk[65536];
	uint64_t total = 0;
	size_t count = 0;
	(void)getrusage(RUSAGE_SELF, &before);
	UNIT_INT(image_source_open(string, &options, &source, &err), 0);
	UNIT_INT(image_source_open_layer(source, &zeros, &stream, &err), 0);
	while (image_stream_read(stream, chunk, sizeof(chunk), &count, &err) == 0 && count > 0)
		total += count;
	(void)getrusage(RUSAGE_SELF, &after);
	CU_ASSERT_TRUE(total > zeros.size - sizeof(chunk));
	UNIT_CONTAINS(err.text, "has the digest sha256:"); /* zeros are not what was promised */
	if (!UNIT_SANITIZED)
		CU_ASSERT_TRUE(after.ru_maxrss - before.ru_maxrss < 16L * 1024);
}

/* The usual variables decide whom is asked: here one who hangs up. */
static void test_proxy(void)
{
	struct error err = {0};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "nothing");
	char *proxy CLEANUP_FREE = text_format("http://%s", host);
	CU_ASSERT_EQUAL(setenv("http_proxy", proxy, 1), 0);
	UNIT_INT(rig_read_from(&rig, "registry.invalid", "plain", "tool:1", false, &err), ERROR_IO);
	CU_ASSERT_EQUAL(setenv("no_proxy", "registry.invalid", 1), 0);
	UNIT_INT(rig_read_from(&rig, "registry.invalid", "plain", "tool:1", false, &err),
		 ERROR_UNAVAILABLE);
	CU_ASSERT_EQUAL(unsetenv("http_proxy"), 0);
	CU_ASSERT_EQUAL(unsetenv("no_proxy"), 0);
}

/* Processes that fill and read one cache at the same time. */
static void test_cache_is_shared(void)
{
	enum { PROCESSES = 4 };
	pid_t children[PROCESSES] = {0};
	char *cache CLEANUP_FREE = path_join(rig.directory, "shared-cache");
	char *blobs CLEANUP_FREE = path_join(cache, "sha256");
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	char *string CLEANUP_FREE = text_format("docker://%s/tool:1", host);
	for (size_t i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			const struct image_source_options options = {
				.cache_directory = cache, .registry = rig_options(&rig, false)};
			struct error err = {0};
			_exit(rig_read_image(&rig, string, &options, &err) == 0 ? 0 : 1);
		}
	}
	for (size_t i = 0; i < PROCESSES; i++) {
		int status = -1;
		CU_ASSERT_EQUAL(waitpid(children[i], &status, 0), children[i]);
		UNIT_INT(status, 0);
	}
	UNIT_INT(file_list(blobs, &names, NULL), 0);
	UNIT_INT(names.count, 3);
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
		{"cache", test_cache},
		{"memory", test_memory},
		{"a proxy", test_proxy},
		{"a cache of several", test_cache_is_shared},
		{"the cache keeps what is right", test_cache_keeps_right},
		CU_TEST_INFO_NULL,
	};
	int rc = rig_open(&rig);
	if (rc == 0)
		rc = unit_run("registry", tests);
	rig_close(&rig);
	return rc;
}
