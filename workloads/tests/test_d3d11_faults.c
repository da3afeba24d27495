/* SPDX-License-Identifier: MIT */

/* DXGI and Direct3D 11 on a real device of which single methods are replaced. */

#include "workloads/d3d11/d3d11.h"
#include "workloads/directx/directx.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/method_faults.h"

#include "base/cleanup.h"

static void *session;
static IDXGIFactory1Vtbl *factory_methods, factory_original;
static IDXGIAdapter1Vtbl *adapter_methods, adapter_original;
static ID3D11DeviceVtbl *device_methods, device_original;
static ID3D11DeviceContextVtbl *context_methods, context_original;

static bool find_methods(struct error *err)
{
	const struct d3d11 *d3d = session;
	const struct work_request request = {.timeout_ms = 1000};
	struct work_report report = {0};
	struct d3d11_device gpu = {.d3d = session, .request = &request, .report = &report};
	if (d3d11_device_open(&gpu, err) != 0)
		return false;
	factory_methods =
		methods_of(d3d->dxgi.factory, &factory_original, sizeof(factory_original));
	adapter_methods =
		methods_of(d3d->dxgi.adapters[0], &adapter_original, sizeof(adapter_original));
	device_methods = methods_of(gpu.device, &device_original, sizeof(device_original));
	context_methods = methods_of(gpu.context, &context_original, sizeof(context_original));
	d3d11_device_free(&gpu);
	return factory_methods != NULL && adapter_methods != NULL && device_methods != NULL &&
	       context_methods != NULL;
}

static struct work_report work(uint64_t timeout_ms)
{
	return methods_work(&d3d11_api, session, 1000, timeout_ms);
}

static void test_a_sound_device_passes(void)
{
	struct work_report report = work(20000);
	CU_ASSERT_EQUAL(report.status, WORK_OK);
	CU_ASSERT_TRUE(report.render.done);
}

static HRESULT STDMETHODCALLTYPE hung(ID3D11Device *device)
{
	(void)device;
	return (HRESULT)0x887A0006;
}

static void test_a_removed_device_tells_why(void)
{
	device_methods->GetDeviceRemovedReason = hung;
	struct work_report report = work(20000);
	CU_ASSERT_EQUAL(report.status, WORK_FAILED);
	CU_ASSERT_EQUAL(report.stage, WORK_STAGE_UPLOAD);
	CU_ASSERT_STRING_EQUAL(report.failure.code_name, "DXGI_ERROR_DEVICE_HUNG");
}

static HRESULT STDMETHODCALLTYPE refuse_shader(ID3D11Device *device, const void *bytecode,
					       SIZE_T size, ID3D11ClassLinkage *linkage,
					       ID3D11ComputeShader **out)
{
	(void)device;
	(void)bytecode;
	(void)size;
	(void)linkage;
	(void)out;
	return (HRESULT)HRESULT_DXGI_DEVICE_REMOVED;
}

static void test_a_call_on_a_removed_device_tells_why(void)
{
	device_methods->CreateComputeShader = refuse_shader;
	device_methods->GetDeviceRemovedReason = hung;
	struct work_report report = work(20000);
	CU_ASSERT_EQUAL(report.status, WORK_FAILED);
	CU_ASSERT_EQUAL(report.stage, WORK_STAGE_BUILD);
	CU_ASSERT_STRING_EQUAL(report.failure.call, "ID3D11Device::CreateComputeShader");
	UNIT_CONTAINS(report.reason, "the device was removed: DXGI_ERROR_DEVICE_HUNG");
}

static void STDMETHODCALLTYPE no_dispatch(ID3D11DeviceContext *context, UINT x, UINT y, UINT z)
{
	(void)context;
	(void)x;
	(void)y;
	(void)z;
}

static void test_skipped_work_is_wrong(void)
{
	context_methods->Dispatch = no_dispatch;
	struct work_report report = work(20000);
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	CU_ASSERT_TRUE(report.results.mismatches > report.elements);
	CU_ASSERT_EQUAL(report.render.mismatches, 0);
}

static void STDMETHODCALLTYPE no_draw(ID3D11DeviceContext *context, UINT vertices, UINT first)
{
	(void)context;
	(void)vertices;
	(void)first;
}

static void test_a_picture_that_was_not_drawn_is_wrong(void)
{
	context_methods->Draw = no_draw;
	struct work_report report = work(20000);
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	CU_ASSERT_EQUAL(report.results.mismatches, 0);
	UNIT_CONTAINS(report.reason, "pixels are wrong");
}

static cJSON *dxgi_document(void)
{
	struct api_report report CLEANUP_API_REPORT = {0};
	struct members members CLEANUP_MEMBERS = members_new();
	void *dxgi = NULL;
	api_open(&dxgi_api, &report, &dxgi);
	methods_restore();
	api_close(&dxgi_api, dxgi);
	api_report_members(&report, &members);
	return members_take(&members);
}

static HRESULT STDMETHODCALLTYPE no_adapter(IDXGIFactory1 *factory, UINT index, IDXGIAdapter1 **out)
{
	(void)factory;
	(void)index;
	(void)out;
	return (HRESULT)HRESULT_DXGI_NOT_FOUND;
}

static void test_no_adapter_is_no_device(void)
{
	factory_methods->EnumAdapters1 = no_adapter;
	cJSON *document CLEANUP_JSON = dxgi_document();
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 0);
}

static HRESULT STDMETHODCALLTYPE lost(IDXGIFactory1 *factory, UINT index, IDXGIAdapter1 **out)
{
	(void)factory;
	(void)index;
	(void)out;
	return (HRESULT)0x887A0020;
}

static void test_a_failing_enumeration_is_told(void)
{
	factory_methods->EnumAdapters1 = lost;
	cJSON *document CLEANUP_JSON = dxgi_document();
	expect_string(document, "/api/status", "failed");
	expect_string(
		document, "/api/reason",
		"IDXGIFactory1::EnumAdapters1: DXGI_ERROR_DRIVER_INTERNAL_ERROR (0x887a0020)");
}

/* WARP, which takes the place of a driver that is missing in the container. */
static HRESULT STDMETHODCALLTYPE basic_render(IDXGIAdapter1 *adapter, DXGI_ADAPTER_DESC1 *out)
{
	HRESULT result = adapter_original.GetDesc1(adapter, out);
	out->VendorId = 0x1414;
	out->DeviceId = 0x8c;
	memcpy(out->Description, L"Microsoft Basic Render Driver",
	       sizeof(L"Microsoft Basic Render Driver"));
	return result;
}

/* As on Windows itself: what Wine draws with is not known. */
static cJSON *describe_as_windows(void)
{
	struct d3d11 *d3d = session;
	const struct dxgi told = d3d->dxgi;
	d3d->dxgi.emulated = false;
	d3d->dxgi.renderer[0] = '\0';
	cJSON *device = dxgi_describe(&d3d->dxgi, 0);
	methods_restore();
	d3d->dxgi = told;
	return device;
}

static void test_the_basic_render_driver_is_software(void)
{
	cJSON *card CLEANUP_JSON = describe_as_windows();
	adapter_methods->GetDesc1 = basic_render;
	cJSON *basic CLEANUP_JSON = describe_as_windows();
	expect_bool(card, "/software", false);
	expect_null(card, "/type");
	expect_string(basic, "/name", "Microsoft Basic Render Driver");
	expect_string(basic, "/type", "cpu");
	expect_bool(basic, "/software", true);
}

static HRESULT STDMETHODCALLTYPE never(ID3D11DeviceContext *context, ID3D11Asynchronous *query,
				       void *data, UINT size, UINT flags)
{
	(void)context;
	(void)query;
	(void)data;
	(void)size;
	(void)flags;
	return S_FALSE;
}

/* The last one: nothing is released after it. */
static void test_a_query_that_is_never_answered_times_out(void)
{
	context_methods->GetData = never;
	struct work_report report = work(50);
	CU_ASSERT_EQUAL(report.status, WORK_TIMED_OUT);
	CU_ASSERT_EQUAL(report.stage, WORK_STAGE_UPLOAD);
	UNIT_CONTAINS(report.reason, "within 50 ms");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a sound device passes", test_a_sound_device_passes},
		{"a removed device tells why", test_a_removed_device_tells_why},
		{"a call on a removed device tells why", test_a_call_on_a_removed_device_tells_why},
		{"skipped work is wrong", test_skipped_work_is_wrong},
		{"a picture that was not drawn is wrong",
		 test_a_picture_that_was_not_drawn_is_wrong},
		{"no adapter is no device", test_no_adapter_is_no_device},
		{"a failing enumeration is told", test_a_failing_enumeration_is_told},
		{"the basic render driver is software", test_the_basic_render_driver_is_software},
		{"a query that is never answered times out",
		 test_a_query_that_is_never_answered_times_out},
		CU_TEST_INFO_NULL,
	};
	return methods_main("Direct3D 11 faults", &d3d11_api, &session, find_methods, tests, false);
}
