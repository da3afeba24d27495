/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

#include "base/cleanup.h"

#include <stdio.h>

/* Not in the headers of MinGW-w64 and vkd3d. */
enum { LEVEL_1_0_CORE = 0x1000, SHADER_MODEL_6_9 = 0x69 };

int d3d12_check(struct d3d12_device *gpu, HRESULT result, const char *call, struct error *err)
{
	int rc = hresult_check(result, call, &gpu->report->failure, err);
	if (rc != 0 && hresult_is_removal(result) && gpu->device != NULL)
		hresult_add_removal(ID3D12Device_GetDeviceRemovedReason(gpu->device), err);
	return rc;
}

int d3d12_create_commands(struct d3d12_device *gpu, D3D12_COMMAND_LIST_TYPE type, REFIID id,
			  struct d3d12_commands *out, struct error *err)
{
	const D3D12_COMMAND_QUEUE_DESC queue = {.Type = type};
	int rc = D3D12_CALL(gpu, err, ID3D12Device, CreateCommandQueue, gpu->device, &queue,
			    &IID_ID3D12CommandQueue, (void **)&out->queue);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Device, CreateCommandAllocator, gpu->device, type,
				&IID_ID3D12CommandAllocator, (void **)&out->allocator);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Device, CreateCommandList, gpu->device, 0, type,
				out->allocator, NULL, id, &out->list);
	return rc;
}

void d3d12_commands_free(struct d3d12_commands *commands)
{
	COM_RELEASE(commands->list, commands->allocator, commands->queue);
}

int d3d12_device_open(struct d3d12_device *gpu, struct error *err)
{
	struct work_report *report = gpu->report;

	const size_t index = gpu->request->device;
	HRESULT result = d3d12_create_device(gpu->d3d, index, D3D_FEATURE_LEVEL_11_0, &gpu->device);
	gpu->graphics = result >= 0;
	if (result < 0) {
		HRESULT core = d3d12_create_device(gpu->d3d, index,
						   (D3D_FEATURE_LEVEL)LEVEL_1_0_CORE, &gpu->device);
		if (core >= 0)
			result = core;
	}
	if (result >= 0 && gpu->device == NULL)
		return error_set(err, ERROR_REMOTE, "%s succeeded and made no device",
				 d3d12_create_device_call);
	int rc = d3d12_check(gpu, result, d3d12_create_device_call, err);

	if (rc != 0)
		return rc;

	static const D3D_FEATURE_LEVEL levels[] = {D3D_FEATURE_LEVEL_11_0, D3D_FEATURE_LEVEL_11_1,
						   D3D_FEATURE_LEVEL_12_0, D3D_FEATURE_LEVEL_12_1};
	D3D12_FEATURE_DATA_FEATURE_LEVELS level = {.NumFeatureLevels = ARRAY_SIZE(levels),
						   .pFeatureLevelsRequested = levels};
	if (gpu->graphics) {
		level.MaxSupportedFeatureLevel = D3D_FEATURE_LEVEL_11_0;
		(void)ID3D12Device_CheckFeatureSupport(gpu->device, D3D12_FEATURE_FEATURE_LEVELS,
						       &level, sizeof(level));
		(void)snprintf(report->feature_level, sizeof(report->feature_level), "%u_%u",
			       (unsigned)level.MaxSupportedFeatureLevel >> 12,
			       ((unsigned)level.MaxSupportedFeatureLevel >> 8) & 0xFu);
	} else {
		(void)snprintf(report->feature_level, sizeof(report->feature_level), "1_0_core");
	}

	/* A runtime refuses unknown models; one that refuses all only knows DXBC. */
	gpu->shader_model = D3D_SHADER_MODEL_5_1;
	for (int model = SHADER_MODEL_6_9; model >= D3D_SHADER_MODEL_6_0; model--) {
		D3D12_FEATURE_DATA_SHADER_MODEL query = {(D3D_SHADER_MODEL)model};
		if (ID3D12Device_CheckFeatureSupport(gpu->device, D3D12_FEATURE_SHADER_MODEL,
						     &query, sizeof(query)) >= 0) {
			gpu->shader_model = (int)query.HighestShaderModel;
			break;
		}
	}
	(void)snprintf(report->shader_model, sizeof(report->shader_model), "%d.%d",
		       (gpu->shader_model >> 4) & 0xF, gpu->shader_model & 0xF);

	const D3D12_COMMAND_LIST_TYPE type =
		gpu->graphics ? D3D12_COMMAND_LIST_TYPE_DIRECT : D3D12_COMMAND_LIST_TYPE_COMPUTE;
	rc = d3d12_create_commands(gpu, type, &IID_ID3D12GraphicsCommandList, &gpu->commands, err);
	gpu->list = gpu->commands.list;
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Device, CreateFence, gpu->device, 0,
				D3D12_FENCE_FLAG_NONE, &IID_ID3D12Fence, (void **)&gpu->fence);
	return rc;
}

void d3d12_device_free(struct d3d12_device *gpu)
{
	com_release(gpu->fence);
	d3d12_commands_free(&gpu->commands);
	com_release(gpu->device);
}

int d3d12_submit(struct d3d12_device *gpu, const struct d3d12_commands *commands, struct error *err)
{
	ID3D12CommandList *const lists[] = {commands->list};
	ID3D12CommandQueue_ExecuteCommandLists(commands->queue, 1, lists);
	return D3D12_CALL(gpu, err, ID3D12CommandQueue, Signal, commands->queue, gpu->fence,
			  ++gpu->fence_value);
}

/* The fence of a device that was removed reports the largest number. */
int d3d12_has_finished(void *device, struct error *err)
{
	struct d3d12_device *gpu = device;
	(void)err;
	return ID3D12Fence_GetCompletedValue(gpu->fence) >= gpu->fence_value;
}

int d3d12_check_finished(struct d3d12_device *gpu, const struct d3d12_commands *commands,
			 struct error *err)
{
	int rc = D3D12_CALL(gpu, err, ID3D12Device, GetDeviceRemovedReason, gpu->device);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12CommandAllocator, Reset, commands->allocator);
	return rc;
}

int d3d12_device_run(struct d3d12_device *gpu, struct error *err)
{
	int rc = D3D12_CALL(gpu, err, ID3D12GraphicsCommandList, Close, gpu->list);
	if (rc == 0)
		rc = d3d12_submit(gpu, &gpu->commands, err);
	if (rc == 0)
		rc = work_wait(gpu->request, d3d12_has_finished, gpu, err);
	if (rc == 0)
		rc = d3d12_check_finished(gpu, &gpu->commands, err);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12GraphicsCommandList, Reset, gpu->list,
				gpu->commands.allocator, NULL);
	return rc;
}

const struct api_driver d3d12_api = {
	.name = "d3d12",
	.library = D3D12_LIBRARY,
	.summary = "Run verified work on a Direct3D 12 device and report what happened",
	.description =
		"Opens Direct3D 12 (d3d12.dll, or vkd3d where the system is not Windows), enumerates the adapters, runs a "
		"compute pipeline on one of them and draws a triangle off-screen, and verifies every element and every "
		"pixel on the CPU. Compute-only devices draw nothing.",
	.session_size = D3D12_SESSION_SIZE,
	.open = d3d12_open,
	.work = d3d12_work,
	.close = d3d12_close,
};
