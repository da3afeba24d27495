/* SPDX-License-Identifier: MIT */
/* A document counts for its own launch alone. */
#include "base/gpu_apis.h"
#include "base/json.h"
#include "conformance/checks/authenticity.h"
#include "conformance/checks/tests/recorder.h"
#include "workloads/common/reference.h"

/* What of each API proves its work; every other one that computes: the last row. A new API that
 * proves more has a row here, the attacks are those of all. */
static const struct proof {
	const char *api, *arrays[5];
} proofs[] = {
	{"cuda", {"values", "y", "hits"}},	{"hip", {"fill", "values", "y"}},
	{"levelzero", {"fill", "values", "y"}}, {"opengl", {"values", "y", "pixels"}},
	{"d3d11", {"values", "y", "pixels"}},	{"d3d12", {"values", "y", "dxilValues", "dxilY"}},
	{"directml", {"sum", "product"}},	{NULL, {"values", "y"}},
};

static struct document_launch launch = {
	.nonce = "00112233445566778899aabbccddeeff",
	.seed = 77,
};

/* A right document, with one member replaced. */
static const char *changed_member, *changed_value, *render = "null", *model = "6.0";

/* Made once: those of "hits" take long. */
static void add_digests(cJSON *digests)
{
	static const char *const all[] = {"values",  "y",      "fill",	     "hits", "sum",
					  "product", "pixels", "dxilValues", "dxilY"};
	static char known[ARRAY_SIZE(all)][DIGEST_SIZE];
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (known[i][0] == '\0')
			CU_ASSERT_EQUAL_FATAL(
				work_expected_digest(all[i], launch.seed, 1000, known[i], NULL), 0);
		(void)cJSON_AddStringToObject(digests, all[i], known[i]);
	}
}

static cJSON *make_document(void)
{
	char *text CLEANUP_FREE = text_format(
		"{\"schema\": \"gpucert-probe/1\", \"probe\": \"%s\", \"version\": \"%s\", "
		"\"nonce\": \"%s\", \"work\": {\"status\": \"ok\", \"seed\": 77, \"elements\": "
		"1000, \"render\": %s, \"shaderModel\": \"%s\", \"digests\": {}}}",
		launch.probe + strlen("probe-"), GPUCERT_VERSION, launch.nonce, render, model);
	cJSON *document = NULL;
	CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &document, NULL), 0);
	add_digests(cJSON_GetObjectItem(cJSON_GetObjectItem(document, "work"), "digests"));
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

static void expect(const char *member, const char *value, enum report_outcome outcome,
		   const char *why)
{
	changed_member = member;
	changed_value = value;
	recorder_expect(body, outcome, why);
}

/* What is wrong whatever the API is; of its work, where there is some. */
static const struct attack {
	const char *member, *value, *reason;
} attacks_on_any[] =
	{
		{"schema", "\"gpucert-probe/2\"", "/schema"},
		{"probe", "\"toy\"", "/probe"}, /* another API's */
		{"version", "\"0.0.1\"", "/version"},
		{"nonce", "\"ffeeddccbbaa99887766554433221100\"", "/nonce"}, /* replayed */
		{"nonce", "null", "/nonce"},
		{"nonce", NULL, "/nonce"},
},
  attacks_on_work[] = {
	  {"seed", "78", "/work/seed"}, /* right results of another seed */
	  {"seed", NULL, "/work/seed"},
	  {"elements", "1e300", "/work/elements"},
	  {"elements", NULL, "/work/elements"},
};

static const struct proof *proof_of(const char *api)
{
	const struct proof *proof = proofs;
	while (proof->api != NULL && strcmp(proof->api, api) != 0)
		proof++;
	return proof;
}

/* Each array alone: made up, and left out; fewer elements are other digests. */
static void attack_arrays(const struct proof *proof)
{
	for (const char *const *array = proof->arrays; *array != NULL; array++) {
		char *why CLEANUP_FREE = text_format("/work/digests/%s", *array);
		expect(*array, "\"sha256:00\"", REPORT_FAIL, why);
		expect(*array, NULL, REPORT_FAIL, why);
	}
	expect("elements", "999", REPORT_FAIL, proof->arrays[0]);
}

static void attack(const struct gpu_api *api)
{
	char *probe CLEANUP_FREE = text_format("probe-%s", api->name);
	launch.probe = probe;
	for (size_t i = 0; i < ARRAY_SIZE(attacks_on_any); i++)
		expect(attacks_on_any[i].member, attacks_on_any[i].value, REPORT_FAIL,
		       attacks_on_any[i].reason);
	if (!api->encodes) /* test_video_streams.c */
		expect(NULL, NULL, REPORT_PASS, "");
	if (api->encodes || api->enumerates)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(attacks_on_work); i++)
		expect(attacks_on_work[i].member, attacks_on_work[i].value, REPORT_FAIL,
		       attacks_on_work[i].reason);
	attack_arrays(proof_of(api->name));
}

/* A new API has all attacks at once. */
static void test_each_attack_on_each_api(void)
{
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++)
		attack(api);
	launch.probe = "probe-vulkan";
}

/* What an API need not prove is not asked of it, unless its document says that it drew. */
static void test_what_is_optional(void)
{
	launch.probe = "probe-vulkan";
	expect("hits", "\"sha256:00\"", REPORT_PASS, "");
	expect("pixels", "\"sha256:00\"", REPORT_PASS, "");
	render = "{}";
	expect("hits", NULL, REPORT_PASS, "");
	expect("pixels", "\"sha256:00\"", REPORT_FAIL, "/work/digests/pixels");
	expect("pixels", NULL, REPORT_FAIL, "/work/digests/pixels");
	render = "null";
}

/* Direct3D 12 without Shader Model 6 runs the other shader alone. */
static void test_shader_model_5(void)
{
	launch.probe = "probe-d3d12";
	model = "5.1";
	expect("dxilY", NULL, REPORT_PASS, "");
	model = "6.9";
	expect("dxilY", NULL, REPORT_FAIL, "/work/digests/dxilY");
	model = "6.0";
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

UNIT_MAIN("documents", {"each attack on each API", test_each_attack_on_each_api},
	  {"what is optional", test_what_is_optional}, {"Shader Model 5", test_shader_model_5},
	  {"work that failed", test_work_that_failed}, {"launches differ", test_launches_differ})
