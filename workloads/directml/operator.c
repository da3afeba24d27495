/* SPDX-License-Identifier: MIT */
#include "workloads/directml/directml.h"

#include "base/cleanup.h"

const GUID dml_iid_device = {
	0x6dbd6437, 0x96fd, 0x423f, {0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f}};
const GUID dml_iid_operator = {
	0x26caae7a, 0x3081, 0x4633, {0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d}};
const GUID dml_iid_compiled_operator = {
	0x6b15e56a, 0xbf5c, 0x4902, {0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4}};
const GUID dml_iid_operator_initializer = {
	0x427c1113, 0x435c, 0x469c, {0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13}};
const GUID dml_iid_binding_table = {
	0x29c687dc, 0xde74, 0x4e3b, {0xab, 0x00, 0x11, 0x68, 0xf2, 0xfc, 0x3c, 0xfc}};
const GUID dml_iid_command_recorder = {
	0xe6857a76, 0x2e3e, 0x4fdd, {0xbf, 0xf4, 0x5d, 0x2b, 0xa1, 0x0f, 0xb4, 0x53}};

static int compile(struct directml_operator *op, const struct directml_task *task,
		   struct error *err)
{
	const struct dml_buffer_tensor_desc buffer = {
		.data_type = DML_TENSOR_DATA_TYPE_FLOAT32,
		.dimension_count = 4,
		.sizes = task->sizes,
		.size = task->elements * sizeof(float),
	};
	const struct dml_desc tensor = {DML_TENSOR_TYPE_BUFFER, &buffer};
	const struct dml_add_desc add = {&tensor, &tensor, &tensor};
	const struct dml_gemm_desc gemm = {
		.a = &tensor, .b = &tensor, .output = &tensor, .alpha = 1};
	const struct dml_desc description = {task->type, task->type == DML_OPERATOR_GEMM
								 ? (const void *)&gemm
								 : (const void *)&add};
	IDMLOperator *operator= NULL;
	int rc = DIRECTML_CALL(op->gpu, err, IDMLDevice, op->device, CreateOperator, &description,
			       &dml_iid_operator, (void **)&operator);
	if (rc == 0)
		rc = DIRECTML_CALL(op->gpu, err, IDMLDevice, op->device, CompileOperator, operator,
				   0, &dml_iid_compiled_operator,
				   (void **)&op->compiled.dispatchable);
	com_release(operator);
	if (rc == 0)
		rc = DIRECTML_CALL(op->gpu, err, IDMLDevice, op->device, CreateOperatorInitializer,
				   1, &op->compiled.dispatchable, &dml_iid_operator_initializer,
				   (void **)&op->initializer.dispatchable);
	return rc;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct dml_binding_table_desc table_desc(const struct directml_operator *op,
						const struct directml_phase *phase)
{
	struct dml_binding_table_desc description = {
		.dispatchable = phase->dispatchable,
		.descriptor_count = phase->needs.descriptor_count,
	};
	(void)op->descriptors->lpVtbl->GetCPUDescriptorHandleForHeapStart(op->descriptors,
									  &description.cpu);
	(void)op->descriptors->lpVtbl->GetGPUDescriptorHandleForHeapStart(op->descriptors,
									  &description.gpu);
	return description;
}

/* A struct dml_desc of a buffer from its start on. */
#define BINDING(buffer, size)                                                                      \
	{                                                                                          \
		DML_BINDING_TYPE_BUFFER, &(struct dml_buffer_binding)                              \
		{                                                                                  \
			buffer, 0, size                                                            \
		}                                                                                  \
	}

static int run(struct directml_operator *op, const struct directml_phase *phase, struct error *err)
{
	ID3D12DescriptorHeap *const heaps[] = {op->descriptors};
	const struct dml_desc temporary = BINDING(op->temporary, phase->needs.temporary_size);
	if (phase->needs.temporary_size != 0)
		op->table->lpVtbl->BindTemporaryResource(op->table, &temporary);
	ID3D12GraphicsCommandList_SetDescriptorHeaps(op->gpu->list, 1, heaps);
	op->recorder->lpVtbl->RecordDispatch(op->recorder, (ID3D12CommandList *)op->gpu->list,
					     phase->dispatchable, op->table);
	return d3d12_device_run(op->gpu, err);
}

int directml_operator_build(struct directml_operator *op, const struct directml_task *task,
			    struct error *err)
{
	struct directml_phase *const phases[] = {&op->initializer, &op->compiled};
	uint64_t descriptors = 1;
	uint64_t temporary = 0;

	int rc = DIRECTML_CALL(op->gpu, err, IDMLDevice, op->device, CreateCommandRecorder,
			       &dml_iid_command_recorder, (void **)&op->recorder);
	if (rc == 0)
		rc = compile(op, task, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		const struct dml_binding_properties *needs = &phases[i]->needs;
		(void)phases[i]->dispatchable->lpVtbl->GetBindingProperties(phases[i]->dispatchable,
									    &phases[i]->needs);
		descriptors = larger(descriptors, needs->descriptor_count);
		temporary = larger(temporary, needs->temporary_size);
	}

	const uint64_t persistent_size = op->compiled.needs.persistent_size;
	const D3D12_DESCRIPTOR_HEAP_DESC heap = {
		.Type = D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
		.NumDescriptors = (UINT)descriptors,
		.Flags = D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
	};
	rc = D3D12_CALL(op->gpu, err, ID3D12Device, CreateDescriptorHeap, op->gpu->device, &heap,
			&IID_ID3D12DescriptorHeap, (void **)&op->descriptors);
	if (rc == 0 && temporary != 0)
		rc = d3d12_create_buffer(op->gpu, D3D12_HEAP_TYPE_DEFAULT, (size_t)temporary,
					 &op->temporary, err);
	if (rc == 0 && persistent_size != 0)
		rc = d3d12_create_buffer(op->gpu, D3D12_HEAP_TYPE_DEFAULT, (size_t)persistent_size,
					 &op->persistent, err);
	if (rc != 0)
		return rc;

	/* The initializer's output is the persistent resource of the operator. */
	const struct dml_binding_table_desc description = table_desc(op, &op->initializer);
	const struct dml_desc none = {DML_BINDING_TYPE_NONE, NULL};
	const struct dml_desc persistent = BINDING(op->persistent, persistent_size);
	rc = DIRECTML_CALL(op->gpu, err, IDMLDevice, op->device, CreateBindingTable, &description,
			   &dml_iid_binding_table, (void **)&op->table);
	if (rc != 0)
		return rc;
	op->table->lpVtbl->BindOutputs(op->table, 1, op->persistent != NULL ? &persistent : &none);
	return run(op, &op->initializer, err);
}

int directml_operator_run(struct directml_operator *op, const struct directml_task *task,
			  const struct d3d12_arrays *arrays, struct error *err)
{
	const struct dml_binding_table_desc description = table_desc(op, &op->compiled);
	const uint64_t size = task->elements * sizeof(float);
	const struct dml_desc inputs[] = {BINDING(arrays->arrays[0], size),
					  BINDING(arrays->arrays[1], size),
					  {DML_BINDING_TYPE_NONE, NULL}};
	const struct dml_desc output = BINDING(arrays->arrays[DIRECTML_OUTPUT], size);
	const struct dml_desc persistent =
		BINDING(op->persistent, op->compiled.needs.persistent_size);
	int rc = DIRECTML_CALL(op->gpu, err, IDMLBindingTable, op->table, Reset, &description);
	if (rc != 0)
		return rc;
	/* The optional third matrix of GEMM is bound to nothing. */
	op->table->lpVtbl->BindInputs(op->table, task->type == DML_OPERATOR_GEMM ? 3 : 2, inputs);
	op->table->lpVtbl->BindOutputs(op->table, 1, &output);
	if (op->persistent != NULL)
		op->table->lpVtbl->BindPersistentResource(op->table, &persistent);
	return run(op, &op->compiled, err);
}

void directml_operator_free(struct directml_operator *op)
{
	COM_RELEASE(op->persistent, op->temporary, op->descriptors, op->table,
		    op->initializer.dispatchable, op->compiled.dispatchable, op->recorder);
}
