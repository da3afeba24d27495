/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

#include "base/cleanup.h"
#include "workloads/directx/hresult.h"

#include <stdio.h>

/* Not in the headers of MinGW-w64 and vkd3d. */
enum { LEVEL_1_0_CORE = 0x1000 };

int d3d12_check(struct d3d12_device *gpu, HRESULT result, const char *call, struct error *err)
{
	int code = hresult_check((int32_t)result, call, &gpu->d3d->failure, err);

	if (code != 0 && hresult_is_removal((int32_t)result) && gpu->device != NULL)
		hresult_add_removal((int32_t)ID3D12Device_GetDeviceRemovedReason(gpu->device), err);
	return code;
}

static void tell_level(struct d3d12_device *gpu, struct work_report *report)
{
	static const D3D_FEATURE_LEVEL levels[] = {D3D_FEATURE_LEVEL_11_0, D3D_FEATURE_LEVEL_11_1,
						   D3D_FEATURE_LEVEL_12_0, D3D_FEATURE_LEVEL_12_1};
	D3D12_FEATURE_DATA_FEATURE_LEVELS query = {.NumFeatureLevels = ARRAY_SIZE(levels),
						   .pFeatureLevelsRequested = levels};

	if (!gpu->graphics) {
		(void)snprintf(report->feature_level, sizeof(report->feature_level), "1_0_core");
		return;
	}
	query.MaxSupportedFeatureLevel = D3D_FEATURE_LEVEL_11_0;
	(void)ID3D12Device_CheckFeatureSupport(gpu->device, D3D12_FEATURE_FEATURE_LEVELS, &query,
					       sizeof(query));
	(void)snprintf(report->feature_level, sizeof(report->feature_level), "%u_%u",
		       (unsigned)query.MaxSupportedFeatureLevel >> 12,
		       ((unsigned)query.MaxSupportedFeatureLevel >> 8) & 0xFu);
}

static int create_device(struct d3d12_device *gpu, size_t index, struct error *err)
{
	struct d3d12_platform *platform = gpu->d3d->platform;
	HRESULT result =
		d3d12_platform_create_device(platform, index, D3D_FEATURE_LEVEL_11_0, &gpu->device);

	gpu->graphics = result >= 0;
	if (result < 0) {
		HRESULT core = d3d12_platform_create_device(
			platform, index, (D3D_FEATURE_LEVEL)LEVEL_1_0_CORE, &gpu->device);

		if (core >= 0)
			result = core;
	}
	if (result >= 0 && gpu->device == NULL)
		return error_set(err, ERROR_REMOTE, "%s succeeded and made no device",
				 d3d12_platform_create_device_call);
	return d3d12_check(gpu, result, d3d12_platform_create_device_call, err);
}

static int create_commands(struct d3d12_device *gpu, struct error *err)
{
	const D3D12_COMMAND_LIST_TYPE type =
		gpu->graphics ? D3D12_COMMAND_LIST_TYPE_DIRECT : D3D12_COMMAND_LIST_TYPE_COMPUTE;
	const D3D12_COMMAND_QUEUE_DESC queue = {.Type = type};
	int code = d3d12_check(gpu,
			       ID3D12Device_CreateCommandQueue(gpu->device, &queue,
							       &IID_ID3D12CommandQueue,
							       (void **)&gpu->queue),
			       "ID3D12Device::CreateCommandQueue", err);

	if (code == 0)
		code = d3d12_check(gpu,
				   ID3D12Device_CreateCommandAllocator(gpu->device, type,
								       &IID_ID3D12CommandAllocator,
								       (void **)&gpu->allocator),
				   "ID3D12Device::CreateCommandAllocator", err);
	if (code == 0)
		code = d3d12_check(gpu,
				   ID3D12Device_CreateCommandList(
					   gpu->device, 0, type, gpu->allocator, NULL,
					   &IID_ID3D12GraphicsCommandList, (void **)&gpu->list),
				   "ID3D12Device::CreateCommandList", err);
	if (code == 0)
		code = d3d12_check(gpu,
				   ID3D12Device_CreateFence(gpu->device, 0, D3D12_FENCE_FLAG_NONE,
							    &IID_ID3D12Fence, (void **)&gpu->fence),
				   "ID3D12Device::CreateFence", err);
	return code;
}

int d3d12_device_open(struct d3d12 *d3d, const struct work_request *request,
		      struct d3d12_device *gpu, struct work_report *report, struct error *err)
{
	*gpu = (struct d3d12_device){.d3d = d3d, .timeout_ms = request->timeout_ms};
	int code = create_device(gpu, request->device, err);

	if (code != 0)
		return code;
	tell_level(gpu, report);
	return create_commands(gpu, err);
}

void d3d12_device_free(struct d3d12_device *gpu)
{
	if (gpu->d3d == NULL || gpu->d3d->abandoned)
		return;
	com_release(gpu->fence);
	com_release(gpu->list);
	com_release(gpu->allocator);
	com_release(gpu->queue);
	com_release(gpu->device);
}

/* The fence of a device that was removed tells the largest number. */
static int wait(struct d3d12_device *gpu, struct error *err)
{
	int code =
		d3d12_check(gpu, d3d12_platform_wait(gpu->fence, gpu->fence_value, gpu->timeout_ms),
			    "ID3D12Fence::SetEventOnCompletion", err);
	const uint64_t reached = ID3D12Fence_GetCompletedValue(gpu->fence);

	if (code != 0)
		return code;
	if (reached < gpu->fence_value) {
		gpu->d3d->abandoned = true;
		return error_set(
			err, ERROR_TIMEOUT,
			"the fence was not reached within %llu ms: the device did not finish",
			(unsigned long long)gpu->timeout_ms);
	}
	return d3d12_check(gpu, ID3D12Device_GetDeviceRemovedReason(gpu->device),
			   "ID3D12Device::GetDeviceRemovedReason", err);
}

int d3d12_device_run(struct d3d12_device *gpu, struct error *err)
{
	ID3D12CommandList *const lists[] = {(ID3D12CommandList *)gpu->list};
	int code = d3d12_check(gpu, ID3D12GraphicsCommandList_Close(gpu->list),
			       "ID3D12GraphicsCommandList::Close", err);

	if (code != 0)
		return code;
	ID3D12CommandQueue_ExecuteCommandLists(gpu->queue, 1, lists);
	code = d3d12_check(gpu,
			   ID3D12CommandQueue_Signal(gpu->queue, gpu->fence, ++gpu->fence_value),
			   "ID3D12CommandQueue::Signal", err);
	if (code == 0)
		code = wait(gpu, err);
	if (code == 0)
		code = d3d12_check(gpu, ID3D12CommandAllocator_Reset(gpu->allocator),
				   "ID3D12CommandAllocator::Reset", err);
	if (code == 0)
		code = d3d12_check(gpu,
				   ID3D12GraphicsCommandList_Reset(gpu->list, gpu->allocator, NULL),
				   "ID3D12GraphicsCommandList::Reset", err);
	return code;
}
