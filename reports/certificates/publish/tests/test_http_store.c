/* SPDX-License-Identifier: MIT */
/* Reports on a web server that breaks, and reports that a stranger has put there. */
#include "base/json.h"
#include "containers/registry/tests/rig.h"
#include "reports/certificates/publish/publish.h"
#include "reports/certificates/publish/tests/folder_maker.h"

#include <sys/stat.h>
#include <unistd.h>

static struct rig rig;
static char *report; /* the folder of one */
static const char *token;

static char *place(const char *fault, const char *name)
{
	char *host CLEANUP_FREE = rig_host(&rig, "127.0.0.1", "store");
	return text_format("http://%s/%s/%s", host, fault, name);
}

static struct publish_options options(void)
{
	return (struct publish_options){.registry = rig_options(&rig, false), .token = token};
}

static int publish(const char *folder, const char *fault, const char *name,
		   struct publish_result *out, struct error *err)
{
	const struct publish_options given = options();
	char *where CLEANUP_FREE = place(fault, name);
	*err = (struct error){0};
	return report_publish(folder, where, &given, out, err);
}

static int pull(const char *fault, const char *name, const char *folder, struct publish_result *out,
		struct error *err)
{
	const struct publish_options given = options();
	char *where CLEANUP_FREE = place(fault, name);
	*err = (struct error){0};
	return report_pull(where, folder, &given, out, err);
}

static char *below(const char *name)
{
	return path_join(rig.directory, name);
}

/* How many requests of a kind were recorded: "PUT ". Forgets them. */
static size_t requests(const char *kind)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char *all CLEANUP_FREE = rig_recorded(&rig);
	size_t count = 0;
	text_list_split(&lines, all, '\n');
	text_each (line, &lines)
		count += strstr(line, kind) != NULL;
	return count;
}

static size_t partials(const char *folder)
{
	unsigned long long size = 0;
	return sample_partials(folder, &size);
}

static void test_there_and_back(void)
{
	struct publish_result sent = {0};
	struct publish_result result = {0};
	struct error err = {0};
	char *folder CLEANUP_FREE = below("back");
	report = below("report");
	sample_make(report, "run-1");
	UNIT_INT(publish(report, "plain", "good", &sent, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(sent.files, sample_files());
	UNIT_INT(sent.moved_files, sample_files());
	CU_ASSERT_TRUE(sent.bytes > FOLDER_LARGE_SIZE && sent.bytes == sent.moved_bytes);
	UNIT_INT(requests("PUT "), sample_files() + 1);
	UNIT_INT(publish(report, "plain", "good/", &result, &err), 0);
	UNIT_INT(result.moved_files, 0);
	UNIT_STRING(result.digest, sent.digest);
	UNIT_INT(requests("PUT "), 0);
	UNIT_INT(pull("plain", "good", folder, &result, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(result.digest, sent.digest);
	UNIT_INT(result.moved_files, sample_files());
	sample_expect_same(report, folder);
	UNIT_INT(partials(folder), 0);
	UNIT_INT(requests("GET "), sample_files()); /* the manifest, and nothing for nothing */
	UNIT_INT(pull("plain", "good", folder, &result, &err), 0);
	UNIT_INT(result.moved_files, 0);
	UNIT_INT(requests("GET "), 1); /* the manifest */
	struct stat status = {0};
	char *journal CLEANUP_FREE = path_join(folder, "journal.ndjson");
	UNIT_INT(stat(journal, &status), 0);
	UNIT_INT(status.st_mode & 0137, 0);
}

/* What is wrong there is sent again, and nothing else. */
static void test_damage_is_mended(void)
{
	struct publish_result result = {0};
	struct error err = {0};
	char *stored CLEANUP_FREE = below("store/good");
	UNIT_INT(publish(report, "plain", "good", &result, &err), 0);
	sample_put(stored, FOLDER_JSON, "[]", 2);
	sample_put(stored, FOLDER_TEXT, "of another length", 17);
	char *folder CLEANUP_FREE = below("damaged");
	UNIT_INT(pull("plain", "good", folder, &result, &err), ERROR_PROTOCOL);
	UNIT_INT(publish(report, "plain", "good", &result, &err), 0);
	UNIT_INT(result.moved_files, 2);
	UNIT_INT(pull("plain", "good", folder, &result, &err), 0);
	UNIT_STRING(err.text, "");
}

static const struct {
	const char *fault;
	int code; /* 0: it is overcome */
	const char *part;
} sending[] = {
	{"put-cut", 0, ""},
	{"put-busy", 0, ""},
	{"no-get", 0, ""},
	{"dav", 0, ""}, /* makes no folders by itself */
	{"put-broken", ERROR_UNAVAILABLE, "report.json: PUT "},
	{"put-full", ERROR_REMOTE, "status 507: the server's storage is full"},
	{"put-large", ERROR_REMOTE, "status 413: the server accepts no file of this size"},
	{"put-denied", ERROR_PERMISSION, "a token is required: GPUCERT_TOKEN or --token-file"},
	{"put-away", ERROR_PROTOCOL, "status 307, which leads to http://localhost:"},
	{"get-loop", 0, ""},
	{"put-void", ERROR_PROTOCOL, "PUT is accepted, and GET does not give it back"},
	{"put-page", ERROR_PROTOCOL, "PUT is accepted, and GET does not give it back"},
	{"put-part", ERROR_PROTOCOL, "PUT is accepted, and GET does not give it back"},
};

static void test_faults_of_sending(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(sending); i++) {
		struct publish_result result = {0};
		struct error err = {0};
		char *name CLEANUP_FREE = text_format("in/sent-%s", sending[i].fault);
		char *folder CLEANUP_FREE = below(name);
		int rc = publish(report, sending[i].fault, name, &result, &err);
		UNIT_INT(rc, sending[i].code);
		UNIT_CONTAINS(err.text, sending[i].part);
		CU_ASSERT_PTR_NULL(strstr(err.text, "signature"));
		int pulled = pull("plain", name, folder, &result, &err);
		UNIT_INT(pulled, rc == 0 ? 0 : ERROR_NOT_FOUND);
	}
	UNIT_INT(requests("elsewhere PUT"), 0);
}

/* A server that is down is asked until the time is over, and not for longer. */
static void test_within(void)
{
	enum { WITHIN_MS = 200000 };
	struct publish_options given = options();
	struct publish_result result = {0};
	struct error err = {0};
	char *where CLEANUP_FREE = place("put-broken", "within");
	const uint64_t before = rig.clock.now_ms(rig.clock.user);
	(void)requests("");
	given.registry.within_ms = WITHIN_MS;
	UNIT_INT(report_publish(report, where, &given, &result, &err), ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, "status 500");
	CU_ASSERT_TRUE(requests("PUT ") > HTTP_RETRIES + 1);
	const uint64_t took = rig.clock.now_ms(rig.clock.user) - before;
	CU_ASSERT_TRUE(took > WITHIN_MS / 2 && took < WITHIN_MS);
}

static const struct {
	const char *fault;
	int code;
	const char *part;
	size_t partials; /* that are left */
} fetching[] = {
	{"get-cut", 0, "", 0},
	{"get-crumbs", 0, "", 0},
	{"get-no-range", 0, "", 0},
	{"get-away", 0, "", 0},
	{"get-die", ERROR_UNAVAILABLE, "status 503", 1},
	{"get-die", 0, "", 0}, /* goes on */
	{"get-flip", ERROR_PROTOCOL, "its content has the digest sha256:", 0},
	{"get-long", ERROR_PROTOCOL, "longer than the", 0},
	{"get-short", ERROR_IO, "cut after", 1},
	{"get-slow", ERROR_TIMEOUT, "Operation too slow", 1},
	{"get-lies", ERROR_PROTOCOL, "Content-Length 7 does not fit", 0},
	{"get-loop", ERROR_PROTOCOL, "more than 5 redirects", 0},
	{"get-huge", ERROR_LIMIT, "manifest.json: an answer of more than", 0},
};

static void test_faults_of_fetching(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(fetching); i++) {
		struct publish_result result = {0};
		struct error err = {0};
		char *folder CLEANUP_FREE = below(fetching[i].fault);
		char *large CLEANUP_FREE = path_join(folder, FOLDER_LARGE);
		unsigned long long had = 0;
		size_t left = sample_partials(folder, &had);
		char *range CLEANUP_FREE = text_format(" bytes=%llu-", had);
		(void)requests("");
		int rc = pull(fetching[i].fault, "good", folder, &result, &err);
		if (rc != fetching[i].code)
			(void)printf("\n%s: %d %s\n", fetching[i].fault, rc, err.text);
		UNIT_INT(rc, fetching[i].code);
		UNIT_CONTAINS(err.text, fetching[i].part);
		UNIT_INT(file_exists(large), rc == 0);
		UNIT_INT(partials(folder), fetching[i].partials);
		if (rc == 0)
			sample_expect_same(report, folder);
		/* The second pull asks for what the first did not get, and not for the rest. */
		if (left > 0)
			UNIT_INT(requests(range), 1);
	}
}

/* What an earlier pull left is verified with the rest. */
static void test_wrong_partials(void)
{
	struct publish_result result = {0};
	struct error err = {0};
	char *folder CLEANUP_FREE = below("partials");
	char *large CLEANUP_FREE = path_join(report, FOLDER_LARGE);
	char *zeros CLEANUP_FREE = calloc(1, FOLDER_LARGE_SIZE + 1);
	static const size_t sizes[] = {0, 1, 5000000, FOLDER_LARGE_SIZE, FOLDER_LARGE_SIZE + 1};
	char digest[DIGEST_SIZE] = "";
	UNIT_INT(digest_file(large, digest, NULL, &err), 0);
	char *name CLEANUP_FREE = text_format(".pull-%s", digest + strlen("sha256:"));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		sample_put(folder, name, zeros, sizes[i]);
		UNIT_INT(pull("plain", "good", folder, &result, &err), 0);
		UNIT_STRING(err.text, "");
		sample_expect_same(report, folder);
		UNIT_INT(partials(folder), 0);
		UNIT_INT(file_remove_tree(folder, &err), 0);
	}
}

/* Nobody's file is replaced, and nothing is written outside. */
static void test_what_is_in_the_way(void)
{
	struct publish_result result = {0};
	struct error err = {0};
	char *folder CLEANUP_FREE = below("way");
	char *outside CLEANUP_FREE = below("outside");
	char *evidence CLEANUP_FREE = path_join(folder, "evidence");
	char *journal CLEANUP_FREE = path_join(folder, "journal.ndjson");
	struct text_list names CLEANUP_TEXT_LIST = {0};
	sample_put(folder, "journal.ndjson", "mine", 4);
	UNIT_INT(pull("plain", "good", folder, &result, &err), ERROR_EXISTS);
	UNIT_CONTAINS(err.text, "another file of that name");
	UNIT_INT(file_remove_tree(journal, &err), 0);
	UNIT_INT(file_make_directories(outside, 0755, &err), 0);
	UNIT_INT(symlink(outside, evidence), 0);
	UNIT_INT(pull("plain", "good", folder, &result, &err), ERROR_EXISTS);
	UNIT_CONTAINS(err.text, "/evidence is a link or a file");
	UNIT_INT(file_list(outside, &names, &err), 0);
	UNIT_INT(names.count, 0);
	UNIT_INT(unlink(evidence), 0);
	UNIT_INT(file_remove_tree(journal, &err), 0);
	UNIT_INT(symlink("../report/journal.ndjson", journal), 0);
	UNIT_INT(pull("plain", "good", folder, &result, &err), ERROR_EXISTS);
	UNIT_INT(unlink(journal), 0);
	UNIT_INT(pull("plain", "good", folder, &result, &err), 0);
	int lock = -1;
	UNIT_INT(file_lock_directory(folder, &lock, &err), 0);
	UNIT_INT(pull("plain", "good", folder, &result, &err), ERROR_BUSY);
	(void)close(lock);
}

/* Puts a manifest there whose words are others. */
static void forge(const char *name, const char *from, const char *to)
{
	char *path CLEANUP_FREE = below("store/good/manifest.json");
	char *folder CLEANUP_FREE = path_join(rig.directory, name);
	char *data CLEANUP_FREE = NULL;
	struct text forged CLEANUP_TEXT = {0};
	UNIT_INT(file_read(path, 1 << 20, &data, NULL, NULL), 0);
	char *at = strstr(data, from);
	UNIT_NEED(at != NULL);
	text_append(&forged, data, (size_t)(at - data));
	text_addf(&forged, "%s%s", to, at + strlen(from));
	sample_put(folder, "manifest.json", forged.data, forged.size);
}

/* Nothing has a name before all of it was verified. */
static void expect_empty(const char *folder)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	UNIT_INT(file_list(folder, &names, NULL), 0);
	text_each (name, &names)
		CU_ASSERT_STRING_EQUAL(name, ".lock");
}

static void test_strangers(void)
{
	struct publish_result result = {0};
	struct publish_result good = {0};
	struct error err = {0};
	char *folder CLEANUP_FREE = below("stranger");
	char *escaped CLEANUP_FREE = below("escaped");
	char *other CLEANUP_FREE = below("other");
	forge("store/forged", FOLDER_JSON, "evidence/../../escaped");
	UNIT_INT(pull("plain", "forged", folder, &result, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "'evidence/../../escaped' is not the name of a file of a report");
	CU_ASSERT_FALSE(file_exists(folder));
	CU_ASSERT_FALSE(file_exists(escaped));
	/* Another run's evidence, whose name and digest the manifest has right. */
	UNIT_INT(publish(report, "plain", "mixed", &good, &err), 0);
	char *stored CLEANUP_FREE = below("store/mixed");
	forge("store/mixed", FOLDER_JSON, "evidence/a.one/09-evil.json");
	sample_put(stored, "evidence/a.one/09-evil.json", "{}", 2);
	UNIT_INT(pull("plain", "mixed", folder, &result, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "what was pulled is not to be believed: ");
	UNIT_CONTAINS(err.text, FOLDER_JSON);
	expect_empty(folder);
	/* Evidence that no run stored, beside all that one did. */
	UNIT_INT(file_remove_tree(folder, &err), 0);
	forge("store/mixed", "\"layers\":[",
	      "\"layers\":[{\"mediaType\":\"text/plain\",\"digest\":\"sha256:"
	      "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\"size\":2,"
	      "\"annotations\":{\"org.opencontainers.image.title\":\"evidence/a.one/09-evil.json\"}},");
	UNIT_INT(pull("plain", "mixed", folder, &result, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "evidence/a.one/09-evil.json is not of this run");
	expect_empty(folder);
	/* The report that was asked for, and no other. */
	char *exact CLEANUP_FREE = text_format("good@%s", good.digest);
	UNIT_INT(pull("plain", exact, other, &result, &err), 0);
	sample_expect_same(report, other);
	forge("store/good", "gpucert.internal/run", "gpucert.internal/ran");
	UNIT_INT(pull("plain", exact, other, &result, &err), ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "manifest.json has the digest");
	UNIT_INT(publish(report, "plain", "good", &result, &err), 0);
}

static void expect_place(const char *where, const char *part)
{
	const struct publish_options given = options();
	struct publish_result result = {0};
	struct error err = {0};
	UNIT_INT(report_publish(report, where, &given, &result, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, part);
	CU_ASSERT_PTR_NULL(strstr(err.text, "sesame"));
}

/* The token goes to its host, and nowhere else. */
static void test_token(void)
{
	struct publish_result result = {0};
	struct error err = {0};
	char *folder CLEANUP_FREE = below("token");
	struct publish_options given = options();
	given.registry.plain_http = false;
	UNIT_INT(publish(report, "token", "t", &result, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "a token is required");
	token = "sesame-street";
	UNIT_INT(publish(report, "token", "t", &result, &err), ERROR_PERMISSION);
	UNIT_CONTAINS(err.text, "the token is not accepted");
	CU_ASSERT_PTR_NULL(strstr(err.text, "sesame"));
	token = "open-sesame";
	UNIT_INT(publish(report, "token", "t", &result, &err), 0);
	(void)requests("");
	UNIT_INT(pull("get-away", "t", folder, &result, &err), 0);
	char *seen CLEANUP_FREE = rig_recorded(&rig);
	UNIT_CONTAINS(seen, "get-away GET t/manifest.json - Bearer open-sesame");
	UNIT_CONTAINS(seen, "elsewhere GET t/manifest.json - nobody");
	for (const char *at = seen; (at = strstr(at, "\nelsewhere ")) != NULL; at++) {
		const char *end = strchr(at + 1, '\n');
		UNIT_NEED(end != NULL && end - at > 6);
		CU_ASSERT_EQUAL(strncmp(end - 6, "nobody", 6), 0);
	}
	token = "open\r\nX-Injected: sesame";
	expect_place("https://localhost:1/a", "characters that tokens cannot have");
	token = "";
	expect_place("https://localhost:1/a", "the token is empty");
	token = "sesame";
	expect_place("oci://localhost:1/a:1", "credentials of `docker login`");
	token = "sesame-street";
	expect_place("https://me:sesame@localhost/a", "without user");
	expect_place("https://localhost/a?sesame=1", "without user, query");
	expect_place("file:///tmp/a", "not a place for reports");
	/* The first part of a path is not a host that gets the token. */
	expect_place("https:///", "not a URL with a host");
	expect_place("https://", "not a URL with a host");
	expect_place("https:///localhost/a", "not a URL with a host");
	expect_place("https://[::1", "not a URL with a host");
	expect_place("https://local host/a", "not a URL with a host");
	char *hostless CLEANUP_FREE = text_format("https://@sha256:%064d", 0);
	expect_place(hostless, "not a URL with a host");
	token = NULL;
	expect_place("oci://localhost:1/a", "name a tag");
	UNIT_INT(report_publish(report, "http://reports.example.com/a", &given, &result, &err),
		 ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, "--plain-http");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"there and back", test_there_and_back},
		{"damage is mended", test_damage_is_mended},
		{"faults of sending", test_faults_of_sending},
		{"a limit of time", test_within},
		{"faults of fetching", test_faults_of_fetching},
		{"wrong partials", test_wrong_partials},
		{"what is in the way", test_what_is_in_the_way},
		{"strangers", test_strangers},
		{"token", test_token},
		CU_TEST_INFO_NULL,
	};
	int rc = rig_open_script(&rig, "reports/certificates/publish/doubles/http_store.mjs");
	if (rc == 0)
		rc = unit_run("http store", tests);
	free(report);
	rig_close(&rig);
	return rc;
}
