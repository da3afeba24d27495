/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "workloads/directx/directx.h"

#include <string.h>

static void test_success_is_no_error(void)
{
	struct call_failure failure = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL(hresult_check(0, "Map", &failure, &err), 0);
	CU_ASSERT_EQUAL(hresult_check(1, "Map", &failure, &err), 0); /* S_FALSE */
	CU_ASSERT_PTR_NULL(failure.call);
}

static void test_failures_are_named(void)
{
	struct call_failure failure = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL(hresult_check((int32_t)0x8007000E, "Map", &failure, &err), ERROR_REMOTE);
	CU_ASSERT_STRING_EQUAL(failure.call, "Map");
	CU_ASSERT_STRING_EQUAL(failure.code_name, "E_OUTOFMEMORY");
	CU_ASSERT_EQUAL(failure.code, (int32_t)0x8007000E);
	CU_ASSERT_STRING_EQUAL(err.text, "Map: E_OUTOFMEMORY (0x8007000e)");
	CU_ASSERT_EQUAL(hresult_check(HRESULT_DXGI_UNSUPPORTED, "Map", &failure, &err),
			ERROR_UNSUPPORTED);
	CU_ASSERT_EQUAL(hresult_check((int32_t)0x81234567, "Map", &failure, &err), ERROR_REMOTE);
	CU_ASSERT_PTR_NULL(failure.code_name);
}

static void test_removals_have_reasons(void)
{
	struct call_failure failure = {0};
	struct error err = {0};
	CU_ASSERT_TRUE(hresult_is_removal(HRESULT_DXGI_DEVICE_REMOVED));
	CU_ASSERT_FALSE(hresult_is_removal(HRESULT_DXGI_UNSUPPORTED));
	(void)hresult_check(HRESULT_DXGI_DEVICE_REMOVED, "Map", &failure, &err);
	hresult_add_removal((int32_t)0x887A0006, &err);
	CU_ASSERT_EQUAL(err.code, ERROR_REMOTE);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "removed: DXGI_ERROR_DEVICE_HUNG (0x887a0006)"));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"success is no error", test_success_is_no_error},
		{"failures are named", test_failures_are_named},
		{"removals have reasons", test_removals_have_reasons},
		CU_TEST_INFO_NULL,
	};
	return unit_run("hresult", tests);
}
