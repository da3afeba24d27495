/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The part of DirectML's binary interface that the probe calls, for C: Microsoft's header is only for
 * C++. Order of methods, GUIDs and numbers are those of DirectML.h (DirectX-Headers 1.614). Methods
 * that are not called are void *, to keep the order. A method that returns a structure gets a pointer
 * to it after the object.
 */

#include "workloads/directx/directx.h"

#include <stdint.h>

typedef struct IDMLDevice IDMLDevice;
typedef struct IDMLOperator IDMLOperator;
typedef struct IDMLDispatchable IDMLDispatchable; /* a compiled operator or an initializer */
typedef struct IDMLBindingTable IDMLBindingTable;
typedef struct IDMLCommandRecorder IDMLCommandRecorder;

enum {
	DML_TENSOR_DATA_TYPE_FLOAT32 = 1,
	DML_TENSOR_TYPE_BUFFER = 1,
	DML_OPERATOR_ELEMENT_WISE_ADD = 4,
	DML_OPERATOR_GEMM = 54,
	DML_MATRIX_TRANSFORM_NONE = 0,
	DML_BINDING_TYPE_NONE = 0,
	DML_BINDING_TYPE_BUFFER = 1,
};

struct dml_buffer_tensor_desc {
	uint32_t data_type;
	uint32_t flags;
	uint32_t dimension_count;
	const uint32_t *sizes;
	const uint32_t *strides; /* NULL: packed */
	uint64_t size;		 /* bytes, a multiple of 4 */
	uint32_t alignment;	 /* that the offset is known to have; 0: none */
};

/* A tensor, an operator or a binding: DML_..._TYPE_ and the description of that type. */
struct dml_desc {
	uint32_t type;
	const void *desc;
};

struct dml_add_desc {
	const struct dml_desc *a, *b, *output;
};

struct dml_gemm_desc {
	const struct dml_desc *a, *b, *c, *output; /* c may be NULL */
	uint32_t transform_a, transform_b;
	float alpha, beta;
	const struct dml_desc *activation; /* may be NULL */
};

struct dml_binding_properties {
	uint32_t descriptor_count;
	uint64_t temporary_size;
	uint64_t persistent_size;
};

struct dml_binding_table_desc {
	IDMLDispatchable *dispatchable;
	D3D12_CPU_DESCRIPTOR_HANDLE cpu;
	D3D12_GPU_DESCRIPTOR_HANDLE gpu;
	uint32_t descriptor_count;
};

struct dml_buffer_binding {
	ID3D12Resource *buffer;
	uint64_t offset, size;
};

#define DML_UNKNOWN(interface)                                                                     \
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(interface *, REFIID, void **);                  \
	ULONG(STDMETHODCALLTYPE *AddRef)(interface *);                                             \
	ULONG(STDMETHODCALLTYPE *Release)(interface *)

#define DML_OBJECT(interface)                                                                      \
	DML_UNKNOWN(interface);                                                                    \
	void *GetPrivateData, *SetPrivateData, *SetPrivateDataInterface, *SetName

struct IDMLDevice {
	const struct IDMLDeviceVtbl {
		DML_OBJECT(IDMLDevice);
		void *CheckFeatureSupport;
		HRESULT(STDMETHODCALLTYPE *CreateOperator)
		(IDMLDevice *, const struct dml_desc *, REFIID, void **);
		HRESULT(STDMETHODCALLTYPE *CompileOperator)
		(IDMLDevice *, IDMLOperator *, uint32_t flags, REFIID, void **);
		HRESULT(STDMETHODCALLTYPE *CreateOperatorInitializer)
		(IDMLDevice *, uint32_t count, IDMLDispatchable *const *operators, REFIID, void **);
		HRESULT(STDMETHODCALLTYPE *CreateCommandRecorder)(IDMLDevice *, REFIID, void **);
		HRESULT(STDMETHODCALLTYPE *CreateBindingTable)
		(IDMLDevice *, const struct dml_binding_table_desc *, REFIID, void **);
		void *Evict, *MakeResident;
		HRESULT(STDMETHODCALLTYPE *GetDeviceRemovedReason)(IDMLDevice *);
		void *GetParentDevice;
	} * lpVtbl;
};

struct IDMLDispatchable {
	const struct IDMLDispatchableVtbl {
		DML_OBJECT(IDMLDispatchable);
		void *GetDevice;
		struct dml_binding_properties *(STDMETHODCALLTYPE *GetBindingProperties)(
			IDMLDispatchable *, struct dml_binding_properties *out);
		void *Reset; /* only of an initializer */
	} * lpVtbl;
};

struct IDMLBindingTable {
	const struct IDMLBindingTableVtbl {
		DML_OBJECT(IDMLBindingTable);
		void *GetDevice;
		void(STDMETHODCALLTYPE *BindInputs)(IDMLBindingTable *, uint32_t count,
						    const struct dml_desc *);
		void(STDMETHODCALLTYPE *BindOutputs)(IDMLBindingTable *, uint32_t count,
						     const struct dml_desc *);
		void(STDMETHODCALLTYPE *BindTemporaryResource)(IDMLBindingTable *,
							       const struct dml_desc *);
		void(STDMETHODCALLTYPE *BindPersistentResource)(IDMLBindingTable *,
								const struct dml_desc *);
		HRESULT(STDMETHODCALLTYPE *Reset)
		(IDMLBindingTable *, const struct dml_binding_table_desc *);
	} * lpVtbl;
};

struct IDMLCommandRecorder {
	const struct IDMLCommandRecorderVtbl {
		DML_OBJECT(IDMLCommandRecorder);
		void *GetDevice;
		void(STDMETHODCALLTYPE *RecordDispatch)(IDMLCommandRecorder *, ID3D12CommandList *,
							IDMLDispatchable *, IDMLBindingTable *);
	} * lpVtbl;
};

typedef HRESULT(STDMETHODCALLTYPE *dml_create_device)(ID3D12Device *, uint32_t flags, REFIID,
						      void **);

extern const GUID dml_iid_device, dml_iid_operator, dml_iid_compiled_operator,
	dml_iid_operator_initializer, dml_iid_binding_table, dml_iid_command_recorder;
