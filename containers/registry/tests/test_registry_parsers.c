/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "containers/registry/challenge.h"
#include "containers/registry/credentials.h"
#include "containers/registry/http.h"
#include "containers/registry/reference.h"
#include "containers/registry/tests/layout_maker.h"

#include "containers/registry/image.h"

#define DIGEST "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

/* What is right, as "HOST NAME TAG DIGEST"; those of distribution/reference's own tests among them. */
static const struct {
	const char *string, *host, *name, *tag, *digest;
} references[] = {
	{"debian", "docker.io", "library/debian", "latest", NULL},
	{"debian:12", "docker.io", "library/debian", "12", NULL},
	{"index.docker.io/nvidia/cuda", "docker.io", "nvidia/cuda", "latest", NULL},
	{"docker.io/debian", "docker.io", "library/debian", "latest", NULL},
	{"localhost/a", "localhost", "a", "latest", NULL},
	{"localhost:5000/a:b", "localhost:5000", "a", "b", NULL},
	{"[::1]:5000/a", "[::1]:5000", "a", "latest", NULL},
	{"mcr.microsoft.com/windows/servercore:ltsc2022", "mcr.microsoft.com", "windows/servercore",
	 "ltsc2022", NULL},
	{"Registry.Example.com/a", "Registry.Example.com", "a", "latest", NULL},
	{"a@" DIGEST, "docker.io", "library/a", NULL, DIGEST},
	{"b.c/a__b/c---d/e.f_g:T_-.1@" DIGEST, "b.c", "a__b/c---d/e.f_g", "T_-.1", DIGEST},
};

static const struct {
	const char *string, *part;
} wrong_references[] = {
	{"", "is not the name"},
	{"Debian", "lower case"},
	{"a//b", "is not the name"},
	{"a/", "is not the name"},
	{"a___b", "is not the name"},
	{"-a", "is not the name"},
	{"a:", "is not a tag"},
	{"a:b:c", "is not a tag"},
	{"a:-b", "is not a tag"},
	{"a:b/c", "is not a host with a port"},
	{"a@sha256:12", "is not a digest"},
	{"a@" DIGEST "@" DIGEST, "is not a digest"},
	{"host:999999/a", "is not a host with a port"},
	{"host:/a", "is not a host with a port"},
	{"user@host/a", "is not a digest"},
	{"[::1/a", "is not a host with a port"},
	{"a.b\r\nX: y/a", "is not a host with a port"},
	{"a b", "is not the name"},
	{"http://a.b/c", "is not a host with a port"},
};

static void test_references(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		struct image_reference seen CLEANUP_IMAGE_REFERENCE = {0};
		struct error err = {0};
		UNIT_INT(image_reference_parse(references[i].string, &seen, &err), 0);
		UNIT_STRING(err.text, "");
		UNIT_STRING(seen.host, references[i].host);
		UNIT_STRING(seen.name, references[i].name);
		CU_ASSERT_TRUE(text_equal(seen.tag, references[i].tag));
		CU_ASSERT_TRUE(text_equal(seen.digest, references[i].digest));
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong_references); i++) {
		struct image_reference seen CLEANUP_IMAGE_REFERENCE = {0};
		struct error err = {0};
		UNIT_INT(image_reference_parse(wrong_references[i].string, &seen, &err),
			 ERROR_ARGUMENT);
		UNIT_CONTAINS(err.text, wrong_references[i].part);
		CU_ASSERT_PTR_NULL(seen.name);
	}
	char longest[300] = "";
	memset(longest, 'a', sizeof(longest) - 1);
	struct image_reference seen CLEANUP_IMAGE_REFERENCE = {0};
	UNIT_INT(image_reference_parse(longest, &seen, NULL), ERROR_ARGUMENT);
}

static void test_local_hosts(void)
{
	static const char *const local[] = {"localhost",    "localhost:5000", "127.0.0.1",
					    "127.1.2.3:80", "[::1]",	      "[::1]:80"};
	static const char *const others[] = {
		"localhost.example.com", "127.0.0.1.example.com", "docker.io", "[::2]", "10.0.0.1",
		"notlocalhost"};
	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		CU_ASSERT_TRUE(registry_host_is_local(local[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CU_ASSERT_FALSE(registry_host_is_local(others[i]));
}

static const struct {
	const char *header;
	enum challenge_scheme scheme;
	const char *realm, *service, *scope;
} challenges[] = {
	{"Bearer realm=\"https://auth.docker.io/token\",service=\"registry.docker.io\","
	 "scope=\"repository:library/debian:pull,push\"",
	 CHALLENGE_BEARER, "https://auth.docker.io/token", "registry.docker.io",
	 "repository:library/debian:pull,push"},
	{"Basic realm=\"a\\\"b\"", CHALLENGE_BASIC, "a\"b", NULL, NULL},
	{"basic", CHALLENGE_BASIC, NULL, NULL, NULL},
	{"BEARER Realm = https://x/y , error=\"invalid_token\"", CHALLENGE_BEARER, "https://x/y",
	 NULL, NULL},
	{"Negotiate YII==, Basic realm=x, Bearer realm=y", CHALLENGE_BEARER, "y", NULL, NULL},
	{"Basic realm=\"one\", Basic realm=\"two\"", CHALLENGE_BASIC, "one", NULL, NULL},
	{"Digest realm=\"a, Bearer realm=b\", nonce=\"c\"", CHALLENGE_NONE, NULL, NULL, NULL},
	{",, ,Bearer realm=\"\"", CHALLENGE_BEARER, "", NULL, NULL},
	{"Bearer realm=a, realm=b", CHALLENGE_BEARER, "a", NULL, NULL},
	{"", CHALLENGE_NONE, NULL, NULL, NULL},
};

static const char *const wrong_challenges[] = {
	"Bearer realm=\"x",
	"Bearer realm=\"x\\",
	"Bearer a=b,realm=,",
	"Bearer realm=\"a\nb\"",
	"=x",
	"Bearer;realm=x",
	"Bearer realm=a b=c",
	"Bearer realm=\"a\"b",
};

static void test_challenges(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(challenges); i++) {
		struct challenge seen CLEANUP_CHALLENGE = {0};
		struct error err = {0};
		UNIT_INT(challenge_add(&seen, challenges[i].header, strlen(challenges[i].header),
				       &err),
			 0);
		UNIT_STRING(err.text, "");
		UNIT_INT(seen.scheme, challenges[i].scheme);
		CU_ASSERT_TRUE(text_equal(seen.realm, challenges[i].realm));
		CU_ASSERT_TRUE(text_equal(seen.service, challenges[i].service));
		CU_ASSERT_TRUE(text_equal(seen.scope, challenges[i].scope));
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong_challenges); i++) {
		struct challenge seen CLEANUP_CHALLENGE = {0};
		UNIT_INT(challenge_add(&seen, wrong_challenges[i], strlen(wrong_challenges[i]),
				       NULL),
			 ERROR_FORMAT);
	}
	char *longest CLEANUP_FREE = calloc(1, CHALLENGE_HEADER_MAX + 1);
	struct challenge seen CLEANUP_CHALLENGE = {0};
	UNIT_INT(challenge_add(&seen, longest, CHALLENGE_HEADER_MAX + 1, NULL), ERROR_LIMIT);
}

/* "user:pass" is dXNlcjpwYXNz, "other:word" b3RoZXI6d29yZA==. */
static const struct {
	const char *file, *host, *name;
	const char *username, *password, *helper;
} logins[] = {
	{"{\"auths\": {\"a.b\": {\"auth\": \"dXNlcjpwYXNz\"}}}", "a.b", "x", "user", "pass", ""},
	{"{\"auths\": {\"https://a.b/v1/\": {\"auth\": \"dXNlcjpwYXNz\"}}}", "a.b", "x", "user",
	 "pass", ""},
	{"{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"dXNlcjpwYXNz\"}}}",
	 "docker.io", "library/x", "user", "pass", ""},
	{"{\"auths\": {\"a.b\": {\"auth\": \"dXNlcjpwYXNz\"}, \"a.b/x\": {\"auth\": "
	 "\"b3RoZXI6d29yZA==\"}}}",
	 "a.b", "x/y", "other", "word", ""},
	{"{\"auths\": {\"a.b/x\": {\"auth\": \"dXNlcjpwYXNz\"}}}", "a.b", "xy", NULL, NULL, ""},
	{"{\"auths\": {\"a.b\": {\"auth\": \"dXNlcjpwYXNz\"}}}", "a.b.c", "x", NULL, NULL, ""},
	{"{\"auths\": {\"a.b\": {\"auth\": \"dXNlcjpwYXNz\"}}}", "a.b:5000", "x", NULL, NULL, ""},
	{"{\"auths\": {\"a.b\": {}}}", "a.b", "x", NULL, NULL, ""},
	{"{\"auths\": {\"a.b\": {}}, \"credsStore\": \"desktop\"}", "a.b", "x", NULL, NULL,
	 "desktop"},
	{"{\"credHelpers\": {\"a.b\": \"one\"}, \"credsStore\": \"two\"}", "a.b", "x", NULL, NULL,
	 "one"},
	{"{\"auths\": [1], \"credHelpers\": 7}", "a.b", "x", NULL, NULL, ""},
	{"[]", "a.b", "x", NULL, NULL, ""},
};

static void test_logins(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(logins); i++) {
		struct credentials seen CLEANUP(credentials_free) = {0};
		cJSON *file CLEANUP_JSON = NULL;
		const char *helper = NULL;
		UNIT_INT(json_parse(logins[i].file, strlen(logins[i].file), &file, NULL), 0);
		UNIT_INT(credentials_read(file, logins[i].host, logins[i].name, &seen, &helper,
					  NULL),
			 0);
		CU_ASSERT_TRUE(text_equal(seen.username, logins[i].username));
		CU_ASSERT_TRUE(text_equal(seen.password, logins[i].password));
		UNIT_STRING(helper, logins[i].helper);
	}
	static const char *const wrong[] = {"dXNlcg==", "n@t-base64", "dXNlcjpwYX", "dXMAZXI6cA=="};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct credentials seen CLEANUP(credentials_free) = {0};
		struct error err = {0};
		const char *helper = NULL;
		char *text CLEANUP_FREE =
			text_format("{\"auths\": {\"a.b\": {\"auth\": \"%s\"}}}", wrong[i]);
		cJSON *file CLEANUP_JSON = NULL;
		UNIT_INT(json_parse(text, strlen(text), &file, NULL), 0);
		UNIT_INT(credentials_read(file, "a.b", "x", &seen, &helper, &err), ERROR_FORMAT);
		CU_ASSERT_PTR_NULL(strstr(err.text, wrong[i]));
	}
}

static void test_helpers(void)
{
	static const char *const wrong[] = {"", "{", "{\"Username\": \"a\"}",
					    "{\"Username\": 1, \"Secret\": \"b\"}"};
	static const char password[] =
		"{\"ServerURL\": \"x\", \"Username\": \"a\", \"Secret\": \"b\"}";
	static const char token[] = "{\"Username\": \"<token>\", \"Secret\": \"b\"}";
	struct credentials seen CLEANUP(credentials_free) = {0};
	struct credentials second CLEANUP(credentials_free) = {0};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		UNIT_INT(credentials_read_helper(wrong[i], strlen(wrong[i]), &seen, NULL),
			 ERROR_FORMAT);
	UNIT_INT(credentials_read_helper(password, strlen(password), &seen, NULL), 0);
	UNIT_STRING(seen.password, "b");
	UNIT_INT(credentials_read_helper(token, strlen(token), &second, NULL), 0);
	UNIT_STRING(second.identity_token, "b");
	CU_ASSERT_PTR_NULL(second.password);
}

static void test_urls(void)
{
	static const char *const cases[][3] = {
		{"https://a/v2/x?y=1", "/z", "https://a/z"},
		{"https://a/v2/x", "//b/z", "https://b/z"},
		{"https://a/v2/x/y", "?n=2", "https://a/v2/x/y?n=2"},
		{"http://a/v2/x", "http://c:80/d#e", "http://c:80/d"},
		{"http://a/v2/x", "https://c/d", "https://c/d"},
		{"https://a/v2/x", "http://c:80/d", NULL},
		{"https://a/v2/x", "ftp://c/d", NULL},
		{"https://a/v2/x", "file:///etc/passwd", NULL},
		{"https://a/v2/x", "https://", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *seen CLEANUP_FREE = NULL;
		int rc = http_resolve(cases[i][0], cases[i][1], &seen, NULL);
		UNIT_INT(rc, cases[i][2] != NULL ? 0 : ERROR_PROTOCOL);
		CU_ASSERT_TRUE(text_equal(seen, cases[i][2]));
	}
	CU_ASSERT_TRUE(http_same_origin("https://A/x", "https://a:443/y"));
	CU_ASSERT_FALSE(http_same_origin("https://a/x", "http://a/x"));
	CU_ASSERT_FALSE(http_same_origin("https://a/x", "https://a:444/x"));
	CU_ASSERT_FALSE(http_same_origin("https://a/x", "https://a.b/x"));
	CU_ASSERT_FALSE(http_same_origin("https://a/x", "https://a@b/x"));
	char *shown CLEANUP_FREE = http_shown("https://user:secret@a/b?signature=secret#secret");
	CU_ASSERT_PTR_NULL(strstr(shown, "secret"));
	UNIT_CONTAINS(shown, "a/b");
}

#define ENTRY(os, architecture, more)                                                              \
	"{\"mediaType\": \"" OCI_MANIFEST "\", \"digest\": \"" DIGEST "\", \"size\": 1, "          \
	"\"platform\": {\"os\": \"" os "\", \"architecture\": \"" architecture "\"" more "}}"

/* Every wrong document says where. */
static void test_documents(void)
{
	static const struct {
		const char *text;
		int code;
		const char *part;
	} wrong[] = {
		{"", ERROR_FORMAT, "line 1"},
		{"[]", ERROR_FORMAT, "not a JSON object"},
		{"{}", ERROR_UNSUPPORTED, "neither an index nor a manifest"},
		{"{\"schemaVersion\": 1, \"fsLayers\": []}", ERROR_UNSUPPORTED, "schema 1"},
		{"{\"mediaType\": \"text/plain\"}", ERROR_UNSUPPORTED, "text/plain"},
		{"{\"mediaType\": 1, \"layers\": []}", ERROR_FORMAT, "mediaType: expected string"},
		{"{\"mediaType\": \"" OCI_INDEX "\", \"layers\": []}", ERROR_FORMAT,
		 "contradicts its media type"},
		{"{\"manifests\": [{\"mediaType\": \"x\", \"digest\": \"sha256:0\", \"size\": 1}]}",
		 ERROR_FORMAT, "manifests[0].digest: the digest is not one"},
		{"{\"manifests\": [{\"mediaType\": \"x\", \"digest\": \"" DIGEST
		 "\", \"size\": -1}]}",
		 ERROR_FORMAT, "manifests[0].size"},
		{"{\"manifests\": [1]}", ERROR_FORMAT, "manifests[0]: expected object"},
		{"{\"manifests\": {}}", ERROR_FORMAT, "manifests: expected array"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct image_index index CLEANUP_IMAGE_INDEX = {0};
		struct error err = {0};
		cJSON *json CLEANUP_JSON = NULL;
		const char *type = NULL;
		int rc = image_document_parse(wrong[i].text, strlen(wrong[i].text), &json, &err);
		if (rc == 0)
			rc = image_document_type(json, NULL, &type, &err);
		if (rc == 0)
			rc = image_index_read(json, &index, &err);
		UNIT_CONTAINS(err.text, wrong[i].part);
		CU_ASSERT_TRUE(rc == wrong[i].code || rc == ERROR_LIMIT);
	}
}

static const char *choose(const char *entries, const struct image_platform *wanted)
{
	static char seen[256];
	struct image_index index CLEANUP_IMAGE_INDEX = {0};
	const struct image_index_entry *entry = NULL;
	char *text CLEANUP_FREE = text_format("{\"manifests\": [%s]}", entries);
	cJSON *json CLEANUP_JSON = NULL;
	struct error err = {0};
	UNIT_INT(image_document_parse(text, strlen(text), &json, &err), 0);
	UNIT_INT(image_index_read(json, &index, &err), 0);
	int rc = image_index_choose(&index, wanted, &entry, &err);
	(void)snprintf(seen, sizeof(seen), "%s",
		       rc < 0 ? error_code_name(rc)
			      : image_platform_name(&entry->platform, &index.arena));
	return seen;
}

static void test_choice(void)
{
	static const char levels[] =
		ENTRY("linux", "amd64", "") "," ENTRY("linux", "amd64", ", \"variant\": \"v3\"") "," ENTRY("linux", "amd64", ", \"variant\": \"v4\"") "," ENTRY(
			"linux", "arm",
			", \"variant\": \"v6\"") "," ENTRY("linux", "arm",
							   ", \"variant\": \"v7\"") "," ENTRY("unknown",
											      "unknown",
											      "");
	static const char windows[] =
		ENTRY("windows", "amd64", ", \"os.version\": \"10.0.17763.1\"") "," ENTRY(
			"windows", "amd64",
			", \"os.version\": \"10.0.20348.1\"") "," ENTRY("windows", "amd64",
									", \"os.version\": \"10.0.20348.2\"");
	struct image_platform wanted = {"linux", "amd64", "", ""};
	UNIT_STRING(choose(levels, &wanted), "linux/amd64");
	wanted.variant = "v3";
	UNIT_STRING(choose(levels, &wanted), "linux/amd64/v3");
	wanted.variant = "v2";
	UNIT_STRING(choose(levels, &wanted), "linux/amd64");
	wanted.architecture = "arm";
	wanted.variant = "v6";
	UNIT_STRING(choose(levels, &wanted), "linux/arm/v6");
	wanted.variant = "";
	UNIT_STRING(choose(levels, &wanted), "linux/arm/v7");
	wanted.architecture = "riscv64";
	UNIT_STRING(choose(levels, &wanted), "not-found");
	wanted = (struct image_platform){"windows", "amd64", "", "10.0.20348.9"};
	UNIT_STRING(choose(windows, &wanted), "windows/amd64 10.0.20348.1");
	wanted.os_version = "10.0.2034";
	UNIT_STRING(choose(windows, &wanted), "not-found");
	wanted.os_version = "";
	UNIT_STRING(choose(windows, &wanted), "windows/amd64 10.0.17763.1");
	UNIT_STRING(choose(windows, NULL), "argument");
	UNIT_STRING(choose(ENTRY("linux", "amd64", ""), NULL), "linux/amd64");
	UNIT_STRING(choose("", NULL), "not-found");
}

UNIT_MAIN("registry parsers", {"references", test_references}, {"local hosts", test_local_hosts},
	  {"challenges", test_challenges}, {"logins", test_logins}, {"helpers", test_helpers},
	  {"URLs", test_urls}, {"documents", test_documents}, {"choice", test_choice})
