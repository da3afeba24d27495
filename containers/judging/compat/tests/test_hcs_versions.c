/* SPDX-License-Identifier: MIT */
/* What the Host Compute Service answers, and what it must not break. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "containers/judging/compat/hcs_service.h"

static struct hcs_versions parse(const char *json)
{
	struct hcs_versions versions = {0};
	struct error err = {0};
	if (hcs_versions_parse(json, strlen(json), &versions, &err) < 0)
		(void)printf("\n%s\n", err.text);
	return versions;
}

static void expect_error(const char *json, int code, const char *text)
{
	struct hcs_versions versions = {0};
	struct error err = {0};
	UNIT_INT(hcs_versions_parse(json, strlen(json), &versions, &err), code);
	UNIT_CONTAINS(err.text, text);
}

static void test_answer_of_2022(void)
{
	struct hcs_versions versions =
		parse("{\"Properties\":[{\"SupportedSchemaVersions\":[{\"Major\":1,\"Minor\":0},"
		      "{\"Major\":2,\"Minor\":5}]}]}");
	UNIT_INT(versions.count, 2);
	UNIT_INT(versions.items[0].major, 1);
	UNIT_INT(versions.items[1].minor, 5);
	UNIT_INT(hcs_versions_newest(&versions)->minor, 5);
}

static void test_answer_to_property_queries(void)
{
	struct hcs_versions versions = parse(
		"{\"PropertyResponses\":{\"Basic\":{\"Response\":{\"SupportedSchemaVersions\":"
		"[{\"Major\":2,\"Minor\":11}]}},\"Other\":{\"Error\":{}}}}");
	UNIT_INT(versions.count, 1);
	UNIT_INT(hcs_versions_newest(&versions)->minor, 11);
}

/* Order is not promised, elements may be null, members unknown, and an entry may come twice. */
static void test_odd_answers(void)
{
	struct hcs_versions versions =
		parse("{\"New\":1,\"Properties\":[null,{},{\"SupportedSchemaVersions\":[{\"Major\":"
		      "3,\"Minor\":0},"
		      "null,{\"Major\":2,\"Minor\":10,\"Patch\":1},{\"Major\":2,\"Minor\":9},{"
		      "\"Major\":2,"
		      "\"Minor\":10},{\"Major\":1}]}]}");
	UNIT_INT(versions.count, 4);
	UNIT_INT(versions.items[0].major, 1);
	UNIT_INT(versions.items[0].minor, 0);
	UNIT_INT(versions.items[3].major, 3);
	UNIT_INT(hcs_versions_newest(&versions)->major, 2);
	UNIT_INT(hcs_versions_newest(&versions)->minor, 10);
}

static void test_no_version_of_containers(void)
{
	struct hcs_versions versions =
		parse("{\"Properties\":[{\"SupportedSchemaVersions\":[{\"Major\":1,\"Minor\":0},"
		      "{\"Major\":9,\"Minor\":9}]}]}");
	UNIT_INT(versions.count, 2);
	CU_ASSERT_PTR_NULL(hcs_versions_newest(&versions));
}

static void test_bad_answers(void)
{
	struct text many CLEANUP_TEXT = {0};
	expect_error("", ERROR_FORMAT, "line 1");
	expect_error("{\"Properties\":[{\"SupportedSch", ERROR_FORMAT, "line 1");
	expect_error("[]", ERROR_FORMAT, "expected object");
	expect_error("null", ERROR_FORMAT, "expected object");
	expect_error("{}", ERROR_NOT_FOUND, "no schema version");
	expect_error("{\"Properties\":[]}", ERROR_NOT_FOUND, "no schema version");
	expect_error("{\"Properties\":[null]}", ERROR_NOT_FOUND, "no schema version");
	expect_error("{\"Properties\":{}}", ERROR_FORMAT, "Properties");
	expect_error("{\"Properties\":[7]}", ERROR_FORMAT, "Properties[0]");
	expect_error("{\"Properties\":[{\"SupportedSchemaVersions\":[{\"Major\":-1}]}]}",
		     ERROR_FORMAT, "SupportedSchemaVersions[0].Major");
	expect_error(
		"{\"Properties\":[{\"SupportedSchemaVersions\":[{\"Major\":2,\"Minor\":1e9}]}]}",
		ERROR_FORMAT, "SupportedSchemaVersions[0].Minor");
	expect_error("{\"Properties\":[{\"SupportedSchemaVersions\":[{\"Major\":\"2\"}]}]}",
		     ERROR_FORMAT, "Major");
	text_add(&many, "{\"Properties\":[{\"SupportedSchemaVersions\":[null");
	for (int i = 0; i <= HCS_VERSIONS_MAX; i++)
		text_addf(&many, ",{\"Major\":2,\"Minor\":%d}", i);
	text_add(&many, "]}]}");
	expect_error(text_string(&many), ERROR_LIMIT, "64");
}

static void test_what_versions_allow(void)
{
	struct hcs_version location = hcs_device_since(HCS_DEVICE_LOCATION_PATH);
	struct hcs_version of_class = hcs_device_since(HCS_DEVICE_CLASS);
	CU_ASSERT_TRUE(hcs_version_compare((struct hcs_version){2, 1}, of_class) >= 0);
	CU_ASSERT_TRUE(hcs_version_compare((struct hcs_version){2, 1}, location) < 0);
	CU_ASSERT_TRUE(hcs_version_compare((struct hcs_version){2, 10}, location) > 0);
	CU_ASSERT_TRUE(hcs_version_compare((struct hcs_version){1, 99}, of_class) < 0);
}

static void test_errors_have_names(void)
{
	struct error err = {0};
	UNIT_STRING(hcs_error_name(0x8037010dU), "HCS_E_INVALID_JSON");
	CU_ASSERT_PTR_NULL(hcs_error_name(0x80004005U));
	UNIT_INT(hcs_error_set(&err, "asking", 0x80370114U), ERROR_UNSUPPORTED);
	UNIT_STRING(err.text, "asking: 0x80370114 (HCS_E_SERVICE_NOT_AVAILABLE)");
	UNIT_INT(hcs_error_set(&err, "asking", 0x80070005U), ERROR_PERMISSION);
	UNIT_INT(hcs_error_set(&err, "asking", 0x80070424U), ERROR_UNSUPPORTED);
	UNIT_INT(hcs_error_set(&err, "asking", 0x80004005U), ERROR_UNAVAILABLE);
	UNIT_STRING(err.text, "asking: 0x80004005");
}

UNIT_MAIN("hcs versions", {"answer of Windows Server 2022", test_answer_of_2022},
	  {"answer to property queries", test_answer_to_property_queries},
	  {"odd answers", test_odd_answers},
	  {"no version of containers", test_no_version_of_containers},
	  {"bad answers", test_bad_answers}, {"what versions allow", test_what_versions_allow},
	  {"errors have names", test_errors_have_names})
