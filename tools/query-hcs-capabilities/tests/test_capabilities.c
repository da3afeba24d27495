/* SPDX-License-Identifier: MIT */
/* What is said of a host, from its service's answer and from the table. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/tests/unit.h"
#include "tools/query-hcs-capabilities/capabilities.h"

static struct capabilities host(unsigned build)
{
	return (struct capabilities){
		.os = "windows",
		.product = "",
		.display_version = "",
		.kernel = "",
		.wine = "",
		.problem = "",
		.version = {.major = 10, .build = build},
	};
}

static void expect(const struct capabilities *capabilities, enum capabilities_answer of_class,
		   enum capabilities_answer location_path)
{
	UNIT_INT(capabilities_allow(capabilities, HCS_DEVICE_CLASS), of_class);
	UNIT_INT(capabilities_allow(capabilities, HCS_DEVICE_LOCATION_PATH), location_path);
}

static void test_table(void)
{
	struct capabilities capabilities = host(17763);
	expect(&capabilities, CAPABILITIES_YES, CAPABILITIES_NO);
	capabilities = host(18362);
	expect(&capabilities, CAPABILITIES_YES, CAPABILITIES_YES);
	/* Nobody tells its schema, but that of an older build is enough. */
	capabilities = host(26100);
	expect(&capabilities, CAPABILITIES_YES, CAPABILITIES_YES);
	capabilities = host(14393);
	expect(&capabilities, CAPABILITIES_NO, CAPABILITIES_NO);
	/* Between two rows: at least what the older one has. */
	capabilities = host(18000);
	expect(&capabilities, CAPABILITIES_YES, CAPABILITIES_UNKNOWN);
	capabilities = host(9600);
	expect(&capabilities, CAPABILITIES_UNKNOWN, CAPABILITIES_UNKNOWN);
	capabilities.os = "linux";
	expect(&capabilities, CAPABILITIES_UNKNOWN, CAPABILITIES_UNKNOWN);
}

/* The service's word counts, not the table's. */
static void test_service(void)
{
	struct capabilities capabilities = host(26100);
	capabilities.asked = true;
	capabilities.service.versions = (struct hcs_versions){{{1, 0}, {2, 1}}, 2};
	expect(&capabilities, CAPABILITIES_YES, CAPABILITIES_NO);
	capabilities.service.versions = (struct hcs_versions){{{1, 0}}, 1};
	expect(&capabilities, CAPABILITIES_NO, CAPABILITIES_NO);
	capabilities.service.versions = (struct hcs_versions){{{2, 16}, {3, 0}}, 2};
	expect(&capabilities, CAPABILITIES_YES, CAPABILITIES_YES);
}

static void test_revisions(void)
{
	struct capabilities capabilities = host(20348);
	struct hcs_version at_least = {0};
	CU_ASSERT_PTR_NOT_NULL(capabilities_schema(&capabilities, &at_least));
	UNIT_INT(at_least.minor, 5);
	capabilities.version.revision_known = true;
	capabilities.version.revision = 168;
	CU_ASSERT_PTR_NULL(capabilities_schema(&capabilities, &at_least));
	UNIT_INT(at_least.minor, 3);
	capabilities.version.revision = 169;
	CU_ASSERT_PTR_NOT_NULL(capabilities_schema(&capabilities, &at_least));
}

static void test_text(void)
{
	struct text out CLEANUP_TEXT = {0};
	struct capabilities capabilities = host(20348);
	capabilities.product = "Windows Server 2022 Datacenter";
	capabilities.display_version = "21H2";
	capabilities.version.revision_known = true;
	capabilities.version.revision = 2582;
	capabilities.asked = true;
	capabilities.service = (struct hcs_service){
		.library = "computecore.dll",
		.library_version = "10.0.20348.1",
		.versions = {{{1, 0}, {2, 5}}, 2},
	};
	capabilities.image_given = true;
	capabilities.image = (struct windows_version){.major = 10, .build = 17763};
	capabilities_print(&capabilities, &out);
	UNIT_STRING(text_string(&out),
		    "Operating system version:\n"
		    "Windows Server 2022 Datacenter, version 21H2 (OS build 10.0.20348.2582)\n"
		    "\nSupported HCS schema versions (asked of computecore.dll 10.0.20348.1):\n"
		    "- 1.0\n- 2.5\n"
		    "\nDevices can be given to containers in process isolation:\n"
		    "- by class GUID (class/...): yes (since 2.1)\n"
		    "- by location path (vpci-location-path://...): yes (since 2.2)\n"
		    "\nImage of Windows 10.0.17763 on this host, in process isolation:\n"
		    "refused: the image is too old for the host\n");
}

static void test_text_of_unknown_schema(void)
{
	struct text out CLEANUP_TEXT = {0};
	struct capabilities capabilities = host(26200);
	capabilities.wine = "10.0";
	capabilities_print(&capabilities, &out);
	UNIT_CONTAINS(text_string(&out),
		      "Windows 11 25H2 (OS build 10.0.26200), as Wine 10.0 claims");
	UNIT_CONTAINS(text_string(&out),
		      "no source covers this build; it has at least):\n- 2.11\n");
}

static void test_json(void)
{
	struct capabilities capabilities = host(18000);
	cJSON *json CLEANUP_JSON = NULL;
	capabilities.problem = "no service";
	json = capabilities_to_json(&capabilities);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/system/version")), "10.0.18000");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/hcs/source")), "table");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/hcs/problem")), "no service");
	CU_ASSERT_TRUE(cJSON_IsNull(json_pointer(json, "/hcs/supportedSchemaVersions")));
	CU_ASSERT_TRUE(cJSON_IsNull(json_pointer(json, "/hcs/newest")));
	CU_ASSERT_TRUE(cJSON_IsTrue(json_pointer(json, "/allows/classGuid")));
	CU_ASSERT_TRUE(cJSON_IsNull(json_pointer(json, "/allows/locationPath")));
	CU_ASSERT_TRUE(cJSON_IsNull(json_pointer(json, "/image")));
}

UNIT_MAIN("capabilities", {"table", test_table}, {"service", test_service},
	  {"revisions", test_revisions}, {"text", test_text},
	  {"text of an unknown schema", test_text_of_unknown_schema}, {"json", test_json})
