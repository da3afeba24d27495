/* SPDX-License-Identifier: MIT */
/* Uploads to a real registry, in front of which something breaks. */
#include "containers/registry/tests/rig.h"

enum { DATA_SIZE = 10 * 1024 * 1024 + 7 }; /* three pieces */

static struct rig rig;
static struct text data;

static void make_data(void)
{
	uint32_t state = 7;
	char *bytes = text_extend(&data, DATA_SIZE);
	for (size_t i = 0; i < DATA_SIZE; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (char)(state >> 24);
	}
}

static int push_to(const char *port, const char *name, size_t size, bool *sent, struct error *err)
{
	struct registry_options options = rig_options(&rig, strcmp(port, "proxyTls") == 0);
	struct registry *registry CLEANUP_REGISTRY = NULL;
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", port);
	char digest[DIGEST_TEXT_SIZE] = "";
	*err = (struct error){0};
	UNIT_INT(registry_open(host, name, true, &options, &registry, err), 0);
	return registry_push_blob(registry, data.data, size, digest, sent, err);
}

/* What the registry itself has of it, from an offset on. */
static void expect_there(const char *name, size_t size, size_t offset)
{
	struct registry_options options = rig_options(&rig, false);
	struct registry *registry CLEANUP_REGISTRY = NULL;
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	struct text all CLEANUP_TEXT = {0};
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "plain");
	char digest[DIGEST_TEXT_SIZE] = "";
	char chunk[65536];
	size_t count = 0;
	struct error err = {0};
	digest_bytes(data.data, size, digest);
	UNIT_INT(registry_open(host, name, false, &options, &registry, &err), 0);
	registry_open_blob(registry, digest, size, offset, &reader);
	while (reader->read(reader, chunk, sizeof(chunk), &count, &err) == 0 && count > 0)
		text_append(&all, chunk, count);
	UNIT_STRING(err.text, "");
	UNIT_NEED(all.size == size - offset);
	CU_ASSERT_EQUAL(memcmp(text_string(&all), data.data + offset, all.size), 0);
}

static void test_sizes(void)
{
	static const size_t sizes[] = {0,
				       1,
				       REGISTRY_PIECE_SIZE - 1,
				       REGISTRY_PIECE_SIZE,
				       REGISTRY_PIECE_SIZE + 1,
				       (size_t)2 * REGISTRY_PIECE_SIZE,
				       DATA_SIZE};
	make_data();
	rig_credentials(&rig, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct error err = {0};
		bool sent = false;
		UNIT_INT(push_to("plain", "sizes", sizes[i], &sent, &err), 0);
		UNIT_STRING(err.text, "");
		CU_ASSERT_TRUE(sent);
		expect_there("sizes", sizes[i], 0);
		expect_there("sizes", sizes[i], sizes[i] / 2);
		UNIT_INT(push_to("plain", "sizes", sizes[i], &sent, &err), 0);
		CU_ASSERT_FALSE(sent);
	}
}

static const struct {
	const char *fault;
	size_t size;
	int code; /* 0: the fault is overcome */
	const char *part;
	size_t waits;
	const char *requests; /* of uploads */
} faults[] = {
	{"cut", DATA_SIZE, 0, "", 1, "HEAD POST PATCH PATCH GET PATCH PATCH PUT"},
	{"cut-piece", 1000, 0, "", 1, "HEAD POST PUT POST PUT"},
	{"busy", DATA_SIZE, 0, "", 1, "HEAD POST PATCH GET PATCH PATCH PATCH PUT"},
	{"slow", DATA_SIZE, 0, "", 1, "HEAD POST PATCH GET PATCH PATCH PATCH PUT"},
	{"forget", DATA_SIZE, 0, "", 1, "HEAD POST PATCH PATCH GET POST PATCH PATCH PATCH PUT"},
	{"forget-always", DATA_SIZE, ERROR_IO, "", HTTP_RETRIES, NULL},
	{"broken", DATA_SIZE, ERROR_UNAVAILABLE, "status 500", HTTP_RETRIES, NULL},
	{"range", DATA_SIZE, ERROR_PROTOCOL, "is answered with Range up to 6", 0, NULL},
	{"nowhere", 1000, ERROR_PROTOCOL, "leads to a URL that is not HTTP", 0, NULL},
	{"flip", 1000, ERROR_REMOTE, "status 400 (DIGEST_INVALID)", 0, NULL},
	{"no-head", 1000, 0, "", 0, "HEAD POST PUT"},
};

/* The methods of what was recorded, separated by blanks. */
static char *requests(void)
{
	struct text methods CLEANUP_TEXT = {0};
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char *all CLEANUP_FREE = rig_recorded(&rig);
	text_list_split(&lines, all, '\n');
	text_each (line, &lines) {
		const char *method = strrchr(line, ' ');
		text_add(&methods, method == NULL ? "" : methods.size == 0 ? method + 1 : method);
	}
	return text_take(&methods);
}

static void test_faults(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct error err = {0};
		bool sent = false;
		char *name CLEANUP_FREE = text_format("push-%s/fault%zu", faults[i].fault, i);
		free(rig_recorded(&rig));
		int rc = push_to("proxy", name, faults[i].size, &sent, &err);
		char *seen CLEANUP_FREE = requests();
		if (rc != faults[i].code || rig.time.count != faults[i].waits)
			(void)printf("\n%s: %d after %zu waits: %s\n%s\n", faults[i].fault, rc,
				     rig.time.count, err.text, seen);
		UNIT_INT(rc, faults[i].code);
		UNIT_INT(rig.time.count, faults[i].waits);
		UNIT_CONTAINS(err.text, faults[i].part);
		if (faults[i].requests != NULL)
			UNIT_STRING(seen, faults[i].requests);
		if (rc == 0)
			expect_there(strchr(name, '/') + 1, faults[i].size, 0);
	}
}

/* Whatever the registry makes of pieces whose answers were lost: in the end it has the whole. */
static void test_lost_answers(void)
{
	static const char *const names[] = {"push-half/half", "push-lost/lost", "push-flaky/flaky"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct error err = {0};
		bool sent = false;
		UNIT_INT(push_to("proxy", names[i], DATA_SIZE, &sent, &err), 0);
		UNIT_STRING(err.text, "");
		expect_there(strchr(names[i], '/') + 1, DATA_SIZE, 0);
	}
}

/* A place on another host gets the content, and no credentials. */
static void test_secrets(void)
{
	struct error err = {0};
	bool sent = false;
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "proxy");
	char *config CLEANUP_FREE = text_format(
		"{\"auths\": {\"%s\": {\"auth\": \"YWxpY2U6b3BlbjpzZXNhbWU=\"}}}", host);
	rig_credentials(&rig, config);
	free(rig_recorded(&rig));
	UNIT_INT(push_to("proxy", "push-away/away", 1000, &sent, &err), 0);
	UNIT_STRING(err.text, "");
	char *seen CLEANUP_FREE = rig_recorded(&rig);
	UNIT_CONTAINS(seen, "away nobody");
	CU_ASSERT_PTR_NULL(strstr(seen, "Basic"));
	rig_credentials(&rig, NULL);
	expect_there("away", 1000, 0);
	/* What is sent by TLS is not sent on without it. */
	UNIT_INT(push_to("proxyTls", "push-downgrade/downgrade", 1000, &sent, &err),
		 ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "leads from HTTPS to plain HTTP");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"sizes", test_sizes},
		{"faults", test_faults},
		{"lost answers", test_lost_answers},
		{"secrets", test_secrets},
		CU_TEST_INFO_NULL,
	};
	int rc = rig_open(&rig);
	if (rc == 0)
		rc = unit_run("push", tests);
	text_free(&data);
	rig_close(&rig);
	return rc;
}
