/* SPDX-License-Identifier: MIT */
#include "workloads/directml/directml.h"

#include "base/cleanup.h"

struct directml {
	dml_create_device create_device;
	void *d3d; /* session of d3d12_api, whose adapters these are */
};

struct execution {
	struct d3d12_arrays arrays; /* the inputs and the output, guards included */
	struct directml_operator op;
	const struct directml_task *task;
};

static int build(void *work, struct error *err)
{
	struct execution *x = work;
	return directml_operator_build(&x->op, x->task, err);
}

/* The output and the guards begin as poison. */
static int create_memory(void *work, struct error *err)
{
	struct execution *x = work;
	int rc = d3d12_arrays_create(&x->arrays, err);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++) {
		float *floats = (float *)(void *)(x->arrays.uploaded + i * x->arrays.size);
		for (size_t j = 0; j < x->task->elements + WORK_GUARD; j++)
			floats[j] = i < DIRECTML_OUTPUT && j < x->task->elements
					    ? (float)work_operand(x->op.gpu->request->seed, i, j)
					    : work_poison;
	}
	return rc;
}

static int dispatch(void *work, struct error *err)
{
	struct execution *x = work;
	return directml_operator_run(&x->op, x->task, &x->arrays, err);
}

static int verify(void *work, struct error *err)
{
	struct execution *x = work;
	(void)err;
	work_compare(x->op.gpu->report, x->task->name,
		     x->arrays.downloaded + DIRECTML_OUTPUT * x->arrays.size);
	return 0;
}

static int run_task(struct d3d12_device *gpu, IDMLDevice *device, const struct directml_task *task,
		    struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory,
		[WORK_STAGE_UPLOAD] = d3d12_arrays_upload,
		[WORK_STAGE_DISPATCH] = dispatch,
		[WORK_STAGE_DOWNLOAD] = d3d12_arrays_download,
		[WORK_STAGE_VERIFY] = verify,
	};
	struct execution x = {
		.arrays = {.gpu = gpu, .size = (task->elements + WORK_GUARD) * WORK_ELEMENT_SIZE},
		.op = {.gpu = gpu, .device = device},
		.task = task,
	};
	int rc = work_run(steps, &x, NULL, gpu->report, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	directml_operator_free(&x.op);
	d3d12_arrays_free(&x.arrays);
	return rc;
}

static int directml_work(void *session, const struct work_request *request,
			 struct work_report *report, struct error *err)
{
	struct directml *dml = session;
	struct d3d12_device gpu = {.d3d = dml->d3d, .request = request, .report = report};
	const struct directml_task tasks[] = {
		{"sum",
		 DML_OPERATOR_ELEMENT_WISE_ADD,
		 {1, 1, 1, (uint32_t)request->elements},
		 request->elements},
		{"product",
		 DML_OPERATOR_GEMM,
		 {1, 1, WORK_MATRIX, WORK_MATRIX},
		 WORK_MATRIX * WORK_MATRIX},
	};
	IDMLDevice *device = NULL;

	work_stage_begin(report, WORK_STAGE_DEVICE);
	int rc = d3d12_device_open(&gpu, err);
	if (rc == 0)
		rc = d3d12_check(
			&gpu, dml->create_device(gpu.device, 0, &dml_iid_device, (void **)&device),
			"DMLCreateDevice", err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(tasks); i++)
		rc = run_task(&gpu, device, &tasks[i], err);
	if (rc == 0)
		rc = d3d12_check(&gpu, device->lpVtbl->GetDeviceRemovedReason(device),
				 "IDMLDevice::GetDeviceRemovedReason", err);
	if (rc == 0)
		work_judge(report);
	work_stage_end(report);
	if (rc != ERROR_TIMEOUT) {
		com_release(device);
		d3d12_device_free(&gpu);
	}
	return rc;
}

static int directml_open(struct api_report *report, void *session, struct error *err)
{
	struct directml *dml = session;
	wine_name(report->emulator, sizeof(report->emulator));
	int rc =
		api_load_one(report, DIRECTML_LIBRARY, "DMLCreateDevice", &dml->create_device, err);
	if (rc == 0)
		rc = api_open_devices(&d3d12_api, report, &dml->d3d, err);
	return rc;
}

static void directml_close(void *session)
{
	struct directml *dml = session;
	api_close(&d3d12_api, dml->d3d);
}

const struct api_driver directml_api = {
	.name = "directml",
	.library = DIRECTML_LIBRARY,
	.summary = "Run verified work on a DirectML device and report what happened",
	.description =
		"Opens DirectML on a device of Direct3D 12, adds two tensors and multiplies two matrices of 64 by 64, and "
		"verifies every element on the CPU.",
	.session_size = sizeof(struct directml),
	.open = directml_open,
	.work = directml_work,
	.close = directml_close,
};
