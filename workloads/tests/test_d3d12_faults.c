/* SPDX-License-Identifier: MIT */

/* Direct3D 12 on a real device of which single methods are replaced: devices that are removed, hang, do
 * nothing or too much, refuse a call, or offer compute alone. */

#include "workloads/d3d12/d3d12.h"
#include "workloads/directx/directx.h"
#include "workloads/tests/method_faults.h"

static void *session;
static ID3D12DeviceVtbl *device_methods, device_original;
static ID3D12FenceVtbl *fence_methods, fence_original;
static ID3D12GraphicsCommandListVtbl *list_methods, list_original;

static bool find_methods(struct error *err)
{
	const struct work_request request = {.timeout_ms = 1000};
	struct work_report report = {0};
	struct d3d12_device gpu = {.d3d = session, .request = &request, .report = &report};
	if (d3d12_device_open(&gpu, err) != 0)
		return false;
	device_methods = methods_of(gpu.device, &device_original, sizeof(device_original));
	fence_methods = methods_of(gpu.fence, &fence_original, sizeof(fence_original));
	list_methods = methods_of(gpu.list, &list_original, sizeof(list_original));
	d3d12_device_free(&gpu);
	return device_methods != NULL && fence_methods != NULL && list_methods != NULL;
}

static struct work_report work(void)
{
	return methods_work(&d3d12_api, session, 1000, 20000);
}

static void test_a_sound_device_passes(void)
{
	struct work_report report = work();
	CU_ASSERT_EQUAL(report.status, WORK_OK);
	CU_ASSERT_TRUE(report.render.done);
}

static HRESULT STDMETHODCALLTYPE hung(ID3D12Device *device)
{
	(void)device;
	return (HRESULT)0x887A0006;
}

static void test_a_removed_device_tells_why(void)
{
	device_methods->GetDeviceRemovedReason = hung;
	struct work_report report = work();
	CU_ASSERT_EQUAL(report.status, WORK_FAILED);
	CU_ASSERT_EQUAL(report.stage, WORK_STAGE_UPLOAD);
	CU_ASSERT_STRING_EQUAL(report.failure.code_name, "DXGI_ERROR_DEVICE_HUNG");
	UNIT_CONTAINS(report.reason, "DXGI_ERROR_DEVICE_HUNG (0x887a0006)");
}

static HRESULT STDMETHODCALLTYPE removed(ID3D12Device *device,
					 const D3D12_COMPUTE_PIPELINE_STATE_DESC *description,
					 REFIID id, void **out)
{
	(void)device;
	(void)description;
	(void)id;
	(void)out;
	return (HRESULT)HRESULT_DXGI_DEVICE_REMOVED;
}

static void test_a_call_on_a_removed_device_tells_why(void)
{
	device_methods->CreateComputePipelineState = removed;
	device_methods->GetDeviceRemovedReason = hung;
	struct work_report report = work();
	CU_ASSERT_EQUAL(report.status, WORK_FAILED);
	CU_ASSERT_EQUAL(report.stage, WORK_STAGE_BUILD);
	CU_ASSERT_STRING_EQUAL(report.failure.call, "ID3D12Device::CreateComputePipelineState");
	CU_ASSERT_STRING_EQUAL(report.failure.code_name, "DXGI_ERROR_DEVICE_REMOVED");
	UNIT_CONTAINS(report.reason, "the device was removed: DXGI_ERROR_DEVICE_HUNG");
}

static HRESULT STDMETHODCALLTYPE refuse_fence(ID3D12Device *device, UINT64 value,
					      D3D12_FENCE_FLAGS flags, REFIID id, void **out)
{
	(void)device;
	(void)value;
	(void)flags;
	(void)id;
	(void)out;
	return (HRESULT)0x8007000E;
}

static void test_a_refused_call_is_named(void)
{
	device_methods->CreateFence = refuse_fence;
	struct work_report report = work();
	CU_ASSERT_EQUAL(report.status, WORK_FAILED);
	CU_ASSERT_EQUAL(report.stage, WORK_STAGE_DEVICE);
	CU_ASSERT_STRING_EQUAL(report.failure.call, "ID3D12Device::CreateFence");
	CU_ASSERT_STRING_EQUAL(report.failure.code_name, "E_OUTOFMEMORY");
}

static void STDMETHODCALLTYPE no_dispatch(ID3D12GraphicsCommandList *list, UINT x, UINT y, UINT z)
{
	(void)list;
	(void)x;
	(void)y;
	(void)z;
}

static void test_skipped_work_is_wrong(void)
{
	list_methods->Dispatch = no_dispatch;
	struct work_report report = work();
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	CU_ASSERT_TRUE(report.results.mismatches > report.elements);
	CU_ASSERT_EQUAL(report.render.mismatches, 0);
}

static void STDMETHODCALLTYPE dispatch_twice(ID3D12GraphicsCommandList *list, UINT x, UINT y,
					     UINT z)
{
	const D3D12_RESOURCE_BARRIER barrier = {.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV};
	list_original.Dispatch(list, x, y, z);
	list_original.ResourceBarrier(list, 1, &barrier);
	list_original.Dispatch(list, x, y, z);
}

static void test_work_done_twice_is_wrong(void)
{
	list_methods->Dispatch = dispatch_twice;
	struct work_report report = work();
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	CU_ASSERT_TRUE(report.results.mismatches > report.elements);
}

static void STDMETHODCALLTYPE no_draw(ID3D12GraphicsCommandList *list, UINT vertices,
				      UINT instances, UINT vertex, UINT instance)
{
	(void)list;
	(void)vertices;
	(void)instances;
	(void)vertex;
	(void)instance;
}

static void test_a_picture_that_was_not_drawn_is_wrong(void)
{
	list_methods->DrawInstanced = no_draw;
	struct work_report report = work();
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	CU_ASSERT_EQUAL(report.results.mismatches, 0);
	CU_ASSERT_EQUAL(report.render.index % RENDER_SIZE, 8);
	CU_ASSERT_EQUAL(report.render.index / RENDER_SIZE, 8);
	UNIT_CONTAINS(report.reason, "pixels are wrong");
}

/* In place of the function that probes call, by the linker's --wrap. */
static bool compute_only;

HRESULT __real_d3d12_create_device(struct d3d12 *d3d12, size_t index, D3D_FEATURE_LEVEL level,
				   ID3D12Device **out);
HRESULT __wrap_d3d12_create_device(struct d3d12 *d3d12, size_t index, D3D_FEATURE_LEVEL level,
				   ID3D12Device **out);

HRESULT __wrap_d3d12_create_device(struct d3d12 *d3d12, size_t index, D3D_FEATURE_LEVEL level,
				   ID3D12Device **out)
{
	if (compute_only && level != (D3D_FEATURE_LEVEL)0x1000)
		return (HRESULT)HRESULT_DXGI_UNSUPPORTED;
	return __real_d3d12_create_device(d3d12, index, D3D_FEATURE_LEVEL_11_0, out);
}

/* A device that offers compute alone has no graphics queue, and is not asked to draw. */
static HRESULT STDMETHODCALLTYPE no_graphics(ID3D12Device *device,
					     const D3D12_COMMAND_QUEUE_DESC *description, REFIID id,
					     void **out)
{
	return description->Type == D3D12_COMMAND_LIST_TYPE_DIRECT
		       ? (HRESULT)0x80070057
		       : device_original.CreateCommandQueue(device, description, id, out);
}

static void test_compute_alone_is_enough(void)
{
	device_methods->CreateCommandQueue = no_graphics;
	compute_only = true;
	struct work_report report = work();
	compute_only = false;
	CU_ASSERT_STRING_EQUAL(report.reason, "");
	CU_ASSERT_EQUAL(report.status, WORK_OK);
	CU_ASSERT_FALSE(report.render.done);
	CU_ASSERT_STRING_EQUAL(report.feature_level, "1_0_core");
}

static HRESULT STDMETHODCALLTYPE claim_shader_model_6(ID3D12Device *device, D3D12_FEATURE feature,
						      void *data, UINT size)
{
	D3D12_FEATURE_DATA_SHADER_MODEL *model = data;
	if (feature != D3D12_FEATURE_SHADER_MODEL)
		return device_original.CheckFeatureSupport(device, feature, data, size);
	if ((int)model->HighestShaderModel > 0x65) /* a runtime that knows no more */
		return (HRESULT)0x80070057;
	model->HighestShaderModel = D3D_SHADER_MODEL_6_0;
	return 0;
}

/* vkd3d as distributions build it takes no DXIL. */
static void test_a_claimed_shader_model_is_tried(void)
{
	device_methods->CheckFeatureSupport = claim_shader_model_6;
	struct work_report report = work();
	CU_ASSERT_STRING_EQUAL(report.shader_model, "6.0");
	CU_ASSERT_EQUAL(report.status, WORK_FAILED);
	CU_ASSERT_EQUAL(report.stage, WORK_STAGE_BUILD);
	CU_ASSERT_STRING_EQUAL(report.failure.call, "ID3D12Device::CreateComputePipelineState");
	UNIT_CONTAINS(report.reason, "Shader Model 6.0");
}

static HRESULT STDMETHODCALLTYPE know_no_shader_model(ID3D12Device *device, D3D12_FEATURE feature,
						      void *data, UINT size)
{
	return feature == D3D12_FEATURE_SHADER_MODEL
		       ? (HRESULT)0x80070057
		       : device_original.CheckFeatureSupport(device, feature, data, size);
}

static void test_an_old_runtime_knows_no_shader_models(void)
{
	device_methods->CheckFeatureSupport = know_no_shader_model;
	struct work_report report = work();
	CU_ASSERT_STRING_EQUAL(report.shader_model, "5.1");
	CU_ASSERT_EQUAL(report.status, WORK_OK);
}

static UINT64 STDMETHODCALLTYPE never(ID3D12Fence *fence)
{
	(void)fence;
	return 0;
}

/* The last one: nothing is released after it. */
static void test_a_fence_that_is_never_reached_times_out(void)
{
	fence_methods->GetCompletedValue = never;
	struct work_report report = methods_work(&d3d12_api, session, 1000, 50);
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
		{"a refused call is named", test_a_refused_call_is_named},
		{"skipped work is wrong", test_skipped_work_is_wrong},
		{"work done twice is wrong", test_work_done_twice_is_wrong},
		{"a picture that was not drawn is wrong",
		 test_a_picture_that_was_not_drawn_is_wrong},
		{"compute alone is enough", test_compute_alone_is_enough},
		{"a claimed shader model is tried", test_a_claimed_shader_model_is_tried},
		{"an old runtime knows no shader models",
		 test_an_old_runtime_knows_no_shader_models},
		{"a fence that is never reached times out",
		 test_a_fence_that_is_never_reached_times_out},
		CU_TEST_INFO_NULL,
	};
	return methods_main("Direct3D 12 faults", &d3d12_api, &session, find_methods, tests, false);
}
