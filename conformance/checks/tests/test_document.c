/* SPDX-License-Identifier: MIT */
/* A document counts for its own launch alone. */
#include "base/json.h"
#include "conformance/checks/authenticity.h"
#include "conformance/checks/tests/recorder.h"
#include "workloads/common/reference.h"

static struct document_launch launch = {
	.probe = "probe-vulkan",
	.nonce = "00112233445566778899aabbccddeeff",
	.seed = 77,
};

/* A right document, with one member replaced. */
static const char *changed_member, *changed_value;

static char *digest_of(const char *array)
{
	char digest[DIGEST_SIZE] = "";
	CU_ASSERT_EQUAL_FATAL(work_expected_digest(array, launch.seed, 1000, digest, NULL), 0);
	return strdup(digest);
}

static cJSON *make_document(void)
{
	char *values CLEANUP_FREE = digest_of("values");
	char *y CLEANUP_FREE = digest_of("y");
	char *hits CLEANUP_FREE = digest_of("hits");
	char *text CLEANUP_FREE = text_format(
		"{\"schema\": \"gpucert-probe/1\", \"probe\": \"%s\", \"version\": \"%s\", "
		"\"nonce\": \"%s\", \"work\": {\"status\": \"ok\", \"seed\": 77, \"elements\": "
		"1000, "
		"\"render\": null, \"digests\": {\"values\": \"%s\", \"y\": \"%s\", "
		"\"hits\": \"%s\"}}}",
		launch.probe + strlen("probe-"), GPUCERT_VERSION, launch.nonce, values, y, hits);
	cJSON *document = NULL;
	CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &document, NULL), 0);
	return document;
}

static void body(struct check_run *run)
{
	cJSON *document CLEANUP_JSON = make_document();
	cJSON *work = cJSON_GetObjectItem(document, "work");
	cJSON *digests = cJSON_GetObjectItem(work, "digests");
	cJSON *const objects[] = {document, work, digests};
	for (size_t i = 0; changed_member != NULL && i < ARRAY_SIZE(objects); i++) {
		if (!cJSON_HasObjectItem(objects[i], changed_member))
			continue;
		cJSON_DeleteItemFromObject(objects[i], changed_member);
		if (changed_value != NULL)
			(void)cJSON_AddItemToObject(objects[i], changed_member,
						    cJSON_Parse(changed_value));
	}
	(void)document_expect_launch(run, "probe", document, &launch);
}

static void test_the_right_document(void)
{
	changed_member = NULL;
	recorder_expect(body, REPORT_PASS, "");
}

static void test_other_documents(void)
{
	static const struct {
		const char *member, *value, *reason;
	} cases[] = {
		{"schema", "\"gpucert-probe/2\"", "/schema"},
		{"probe", "\"opencl\"", "/probe"},
		{"version", "\"0.0.1\"", "/version"},
		{"nonce", "\"ffeeddccbbaa99887766554433221100\"", "/nonce"}, /* replayed */
		{"nonce", "null", "/nonce"},
		{"nonce", NULL, "/nonce"},
		{"seed", "78", "/work/seed"},
		{"seed", NULL, "/work/seed"},
		{"elements", "999", "/work/digests/values"},
		{"elements", "1e300", "/work/elements"},
		{"values", "\"sha256:00\"", "/work/digests/values"},
		{"y", NULL, "/work/digests/y"},
		{"render", "{}", "/work/digests/pixels"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		changed_member = cases[i].member;
		changed_value = cases[i].value;
		recorder_expect(body, REPORT_FAIL, cases[i].reason);
	}
}

/* CUDA proves its Monte Carlo as well; of the others nobody asks it. */
static void test_cuda_has_one_more(void)
{
	changed_member = "hits";
	changed_value = "\"sha256:00\"";
	recorder_expect(body, REPORT_PASS, "");
	launch.probe = "probe-cuda";
	recorder_expect(body, REPORT_FAIL, "/work/digests/hits");
	changed_member = NULL;
	recorder_expect(body, REPORT_PASS, "");
	launch.probe = "probe-vulkan";
}

/* Work that failed says so; what it did not read back is nobody's proof. */
static void test_work_that_failed(void)
{
	changed_member = "status";
	changed_value = "\"failed\"";
	recorder_expect(body, REPORT_PASS, "");
}

static void test_launches_differ(void)
{
	struct document_launch first = {0}, second = {0};
	UNIT_INT(document_new_launch("probe-vulkan", &first, NULL), 0);
	UNIT_INT(document_new_launch("probe-vulkan", &second, NULL), 0);
	UNIT_INT(strlen(first.nonce), DOCUMENT_NONCE_SIZE - 1);
	CU_ASSERT_STRING_NOT_EQUAL(first.nonce, second.nonce);
	CU_ASSERT_TRUE(first.seed != 0 && second.seed != 0);
}

UNIT_MAIN("documents", {"the right document", test_the_right_document},
	  {"other documents", test_other_documents}, {"CUDA has one more", test_cuda_has_one_more},
	  {"work that failed", test_work_that_failed}, {"launches differ", test_launches_differ})
