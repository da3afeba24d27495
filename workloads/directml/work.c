/* SPDX-License-Identifier: MIT */
#include "workloads/directml/work.h"

#include <stdio.h>
#include <string.h>

enum { BUFFERS = DIRECTML_INPUTS + 1 };

struct execution {
	struct directml_operator op;
	struct directml_task task;
	ID3D12Resource *upload, *readback; /* the inputs and the output, one behind the other */
	struct directml_buffers buffers;
	uint8_t *uploaded, *downloaded;
	size_t size; /* bytes of one buffer, guard included */
};

static int create_memory(struct execution *x, struct error *err)
{
	struct d3d12_device *gpu = x->op.gpu;
	ID3D12Resource **const buffers[BUFFERS] = {&x->buffers.inputs[0], &x->buffers.inputs[1],
						   &x->buffers.output};
	int code = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_UPLOAD, BUFFERS * x->size,
				       D3D12_RESOURCE_FLAG_NONE, &x->upload, err);

	if (code == 0)
		code = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_READBACK, x->size,
					   D3D12_RESOURCE_FLAG_NONE, &x->readback, err);
	for (size_t i = 0; code == 0 && i < BUFFERS; i++)
		code = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_DEFAULT, x->size,
					   D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS, buffers[i],
					   err);
	if (code == 0)
		code = d3d12_map(gpu, x->upload, &x->uploaded, err);
	if (code == 0)
		code = d3d12_map(gpu, x->readback, &x->downloaded, err);
	return code;
}

/* The output and the guards begin as poison. */
static void fill(const struct execution *x)
{
	for (size_t i = 0; i < BUFFERS; i++) {
		float *floats = (float *)(void *)(x->uploaded + i * x->size);

		for (size_t j = 0; j < x->task.elements + WORK_GUARD; j++)
			floats[j] = i < DIRECTML_INPUTS && j < x->task.elements
					    ? directml_input(&x->task, i, j)
					    : work_poison;
	}
}

static int upload(struct execution *x, struct error *err)
{
	ID3D12Resource *const buffers[BUFFERS] = {x->buffers.inputs[0], x->buffers.inputs[1],
						  x->buffers.output};

	for (size_t i = 0; i < BUFFERS; i++) {
		d3d12_record_transition(x->op.gpu, buffers[i], D3D12_RESOURCE_STATE_COMMON,
					D3D12_RESOURCE_STATE_COPY_DEST);
		ID3D12GraphicsCommandList_CopyBufferRegion(x->op.gpu->list, buffers[i], 0,
							   x->upload, i * x->size, x->size);
		d3d12_record_transition(x->op.gpu, buffers[i], D3D12_RESOURCE_STATE_COPY_DEST,
					D3D12_RESOURCE_STATE_COMMON);
	}
	return d3d12_device_run(x->op.gpu, err);
}

static int download(struct execution *x, struct error *err)
{
	memset(x->downloaded, 0xA5, x->size);
	d3d12_record_transition(x->op.gpu, x->buffers.output, D3D12_RESOURCE_STATE_COMMON,
				D3D12_RESOURCE_STATE_COPY_SOURCE);
	ID3D12GraphicsCommandList_CopyBufferRegion(x->op.gpu->list, x->readback, 0,
						   x->buffers.output, 0, x->size);
	d3d12_record_transition(x->op.gpu, x->buffers.output, D3D12_RESOURCE_STATE_COPY_SOURCE,
				D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(x->op.gpu, err);
}

static int execute(struct execution *x, struct work_report *report, struct error *err)
{
	int code = 0;

	work_stage_begin(report, WORK_STAGE_BUILD);
	code = directml_operator_build(&x->op, &x->task, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_MEMORY);
	code = create_memory(x, err);
	if (code != 0)
		return code;
	fill(x);
	work_stage_begin(report, WORK_STAGE_UPLOAD);
	code = upload(x, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_DISPATCH);
	code = directml_operator_record(&x->op, &x->task, &x->buffers, err);
	if (code == 0)
		code = d3d12_device_run(x->op.gpu, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_DOWNLOAD);
	code = download(x, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_VERIFY);
	directml_compare(&x->task, (const float *)(const void *)x->downloaded, report);
	return 0;
}

static int run_task(struct d3d12_device *gpu, IDMLDevice *device, struct directml_task task,
		    struct work_report *report, struct error *err)
{
	struct execution x = {
		.op = {.gpu = gpu, .device = device},
		.task = task,
		.size = (task.elements + WORK_GUARD) * sizeof(float),
	};
	int code = execute(&x, report, err);

	if (gpu->d3d->abandoned)
		return code;
	directml_operator_free(&x.op);
	for (size_t i = 0; i < DIRECTML_INPUTS; i++)
		com_release(x.buffers.inputs[i]);
	com_release(x.buffers.output);
	com_release(x.readback);
	com_release(x.upload);
	return code;
}

static void judge(struct work_report *report)
{
	report->status = report->mismatches == 0 ? WORK_OK : WORK_WRONG;
	if (report->mismatches != 0)
		(void)snprintf(report->reason, sizeof(report->reason),
			       "%zu results are wrong; first: %s[%zu]%s is %s, expected %s",
			       report->mismatches, report->first.array, report->first.index,
			       report->first.guard ? " (behind the end)" : "", report->first.actual,
			       report->first.expected);
}

static int run_tasks(struct directml *dml, struct d3d12_device *gpu,
		     const struct work_request *request, struct work_report *report,
		     struct error *err)
{
	IDMLDevice *device = NULL;
	int code = d3d12_device_open(dml->d3d, request, gpu, report, err);

	if (code == 0)
		code = d3d12_check(
			gpu, dml->create_device(gpu->device, 0, &dml_iid_device, (void **)&device),
			"DMLCreateDevice", err);
	if (code == 0)
		code = run_task(gpu, device, directml_sum(request), report, err);
	if (code == 0)
		code = run_task(gpu, device, directml_product(request), report, err);
	if (code == 0)
		code = d3d12_check(gpu, device->lpVtbl->GetDeviceRemovedReason(device),
				   "IDMLDevice::GetDeviceRemovedReason", err);
	if (code == 0)
		judge(report);
	if (!dml->d3d->abandoned)
		com_release(device);
	return code;
}

int directml_work(struct directml *dml, const struct work_request *request,
		  struct work_report *report, struct error *err)
{
	struct d3d12_device gpu = {0};

	work_stage_begin(report, WORK_STAGE_DEVICE);
	int code = run_tasks(dml, &gpu, request, report, err);

	work_stage_end(report);
	d3d12_device_free(&gpu);
	return code;
}
