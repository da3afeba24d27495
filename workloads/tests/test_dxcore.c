/* SPDX-License-Identifier: MIT */

/* DXCore on a double of dxcore.dll, which is loaded first and is therefore the library of that
 * name. */

#include "base/tests/unit.h"
#include "workloads/dxcore/dxcore.h"
#include "workloads/tests/expect.h"

#include "base/cleanup.h"
#include "base/library.h"

#define DOUBLE GPUCERT_BINARY_DIR "/tests/doubles/dxcore.dll"

/* The members that the report becomes. The API is closed. */
static cJSON *document_with(const char *setting)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct members members CLEANUP_MEMBERS = members_new();
	void *session = NULL;
	CU_ASSERT_EQUAL_FATAL(_putenv_s("GPUCERT_DOUBLE", setting), 0);
	api_open(&dxcore_api, &report, &session);
	api_close(&dxcore_api, session);
	api_report_members(&report, &members);
	return members_take(&members);
}

static void test_adapters_are_listed_once(void)
{
	cJSON *document CLEANUP_JSON = document_with("");
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 3);
	expect_string(document, "/devices/0/name", "Card \xe2\x84\xa2");
	expect_string(document, "/devices/0/type", "discrete-gpu");
	expect_string(document, "/devices/0/vendorId", "0x10de");
	expect_string(document, "/devices/0/subSystemId", "0x12a210de");
	expect_string(document, "/devices/0/deviceLuid", "0110000000000000");
	expect_string(document, "/devices/0/driver/version", "31.0.15.3640");
	expect_number(document, "/devices/0/memoryBytes", 17179869184.0);
	expect_count(document, "/devices/0/attributes", 4);
	expect_string(document, "/devices/0/attributes/2", "d3d12-core-compute");
}

/* The order is that of the lists: the accelerator is in the last of them alone. */
static void test_kinds_are_told_apart(void)
{
	cJSON *document CLEANUP_JSON = document_with("");
	expect_string(document, "/devices/1/type", "cpu");
	expect_bool(document, "/devices/1/software", true);
	expect_string(document, "/devices/2/type", "accelerator");
	expect_bool(document, "/devices/2/software", false);
	expect_string(document, "/devices/2/attributes/0", "d3d12-core-compute");
	expect_string(document, "/devices/2/attributes/1", "hardware-compute-accelerator");
}

static void test_a_stub_is_unsupported(void)
{
	cJSON *document CLEANUP_JSON = document_with("stub");
	expect_string(document, "/api/status", "unsupported");
	expect_string(document, "/api/missing", "DXCore");
	CU_ASSERT_PTR_NOT_NULL(strstr(string_at(document, "/api/reason"), "E_NOINTERFACE"));
}

static void test_a_failing_list_is_told(void)
{
	cJSON *document CLEANUP_JSON = document_with("lists");
	expect_string(document, "/api/status", "failed");
	expect_string(document, "/api/reason",
		      "IDXCoreAdapterFactory::CreateAdapterList: DXGI_ERROR_DEVICE_REMOVED "
		      "(0x887a0005)");
}

static void test_layouts_are_those_of_the_interface(void)
{
	/* Places counted in dxcore_interface.h, IUnknown's three included. */
	CU_ASSERT_EQUAL(offsetof(struct IDXCoreAdapterVtbl, IsAttributeSupported), 4 * 8);
	CU_ASSERT_EQUAL(offsetof(struct IDXCoreAdapterVtbl, GetProperty), 6 * 8);
	CU_ASSERT_EQUAL(offsetof(struct IDXCoreAdapterVtbl, GetPropertySize), 7 * 8);
	CU_ASSERT_EQUAL(sizeof(struct IDXCoreAdapterVtbl), 13 * 8);
	CU_ASSERT_EQUAL(offsetof(struct IDXCoreAdapterListVtbl, GetAdapterCount), 4 * 8);
	CU_ASSERT_EQUAL(sizeof(struct IDXCoreAdapterListVtbl), 9 * 8);
	CU_ASSERT_EQUAL(offsetof(struct IDXCoreAdapterFactoryVtbl, CreateAdapterList), 3 * 8);
	CU_ASSERT_EQUAL(sizeof(struct IDXCoreAdapterFactoryVtbl), 8 * 8);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"adapters are listed once", test_adapters_are_listed_once},
		{"kinds are told apart", test_kinds_are_told_apart},
		{"a stub is unsupported", test_a_stub_is_unsupported},
		{"a failing list is told", test_a_failing_list_is_told},
		{"layouts are those of the interface", test_layouts_are_those_of_the_interface},
		CU_TEST_INFO_NULL,
	};
	struct error err = {0};
	void *library = NULL;
	if (library_open(DOUBLE, &library, &err) != 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return unit_run("DXCore", tests);
}
