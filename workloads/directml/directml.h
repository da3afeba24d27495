/* SPDX-License-Identifier: MIT */
#pragma once

/* DirectML as probes use it: an element-wise addition and a matrix product on a device of
 * Direct3D 12. directml_api is what programs need; the rest is shared by the files of this
 * folder. */

#include "workloads/d3d12/d3d12.h"
#include "workloads/directml/directml_abi.h"

#define DIRECTML_LIBRARY "DirectML.dll"

enum { DIRECTML_OUTPUT = 2 }; /* of the arrays; the others are inputs */

/* One of the two operators. The tensors are floats that are small whole numbers: sums and products
 * are exact in whatever order they are made. */
struct directml_task {
	const char *name; /* "sum", "product": of the array (reference.h) */
	uint32_t type;	  /* DML_OPERATOR_... */
	uint32_t sizes[4];
	size_t elements; /* of each tensor */
};

/* The initializer of an operator, or the operator itself, and its needs. */
struct directml_phase {
	IDMLDispatchable *dispatchable;
	struct dml_binding_properties needs;
};

/* operator.c: one operator, compiled, initialised and run. ERROR_REMOTE, ERROR_TIMEOUT. */
struct directml_operator {
	struct d3d12_device *gpu;
	IDMLDevice *device;
	IDMLCommandRecorder *recorder;
	struct directml_phase initializer, compiled;
	IDMLBindingTable *table;
	ID3D12DescriptorHeap *descriptors;
	ID3D12Resource *temporary, *persistent;
};

int directml_operator_build(struct directml_operator *op, const struct directml_task *task,
			    struct error *err);
/* Works on the arrays. */
int directml_operator_run(struct directml_operator *op, const struct directml_task *task,
			  const struct d3d12_arrays *arrays, struct error *err);
void directml_operator_free(struct directml_operator *op);

/* d3d12_check() of a method. */
#define DIRECTML_CALL(gpu, err, interface, object, method, ...)                                    \
	d3d12_check(gpu, (object)->lpVtbl->method(object, __VA_ARGS__), #interface "::" #method,   \
		    err)
