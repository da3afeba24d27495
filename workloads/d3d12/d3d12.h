/* SPDX-License-Identifier: MIT */
#pragma once

/* Direct3D 12 as probes use it. Shared by the files of this folder and by DirectML, which works on a
 * device of Direct3D 12. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"
#include "workloads/directx/directx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* platform_windows.c (d3d12.dll), platform_vkd3d.c (Direct3D 12 on Vulkan, where the system is not
 * Windows): where the library comes from, and the adapters. */
#define D3D12_LIBRARY API_LIBRARY("d3d12.dll", "libvkd3d.so.1")

struct d3d12;
enum { D3D12_SESSION_SIZE = 16384 }; /* bytes; no platform's struct d3d12 has more */

/* Loads and enumerates; as the `open` and `close` of an api_driver. */
int d3d12_open(struct api_report *report, void *session, struct error *err);
void d3d12_close(void *session);

HRESULT d3d12_create_device(struct d3d12 *d3d, size_t index, D3D_FEATURE_LEVEL level,
			    ID3D12Device **out);
extern const char d3d12_create_device_call[]; /* its name in the API */

HRESULT d3d12_serialize(struct d3d12 *d3d, const D3D12_ROOT_SIGNATURE_DESC *signature,
			ID3DBlob **blob, ID3DBlob **messages);

/* d3d12.c: a queue, and a command list for it, which is being recorded or runs. */
struct d3d12_commands {
	ID3D12CommandQueue *queue;
	ID3D12CommandAllocator *allocator;
	void *list; /* of the interface that was asked for */
};

/* A device with one queue, and one command list that is recorded, run and waited for. */
struct d3d12_device {
	struct d3d12 *d3d;
	const struct work_request *request;
	struct work_report *report;
	ID3D12Device *device;
	bool graphics;	  /* false: only compute and copies (feature level 1_0_CORE) */
	int shader_model; /* the highest one, as a D3D_SHADER_MODEL */
	struct d3d12_commands commands;
	ID3D12GraphicsCommandList *list; /* theirs, being recorded */
	ID3D12Fence *fence;
	uint64_t fence_value;
};

/* Errors of hresult_check(), with the reason of the removal when the device is gone. */
int d3d12_check(struct d3d12_device *gpu, HRESULT result, const char *call, struct error *err);

/* d3d12_check() of a method. */
#define D3D12_CALL(gpu, err, interface, method, ...)                                               \
	d3d12_check(gpu, interface##_##method(__VA_ARGS__), #interface "::" #method, err)

/* Opens the requested device, at feature level 11_0 or as a compute-only one, and reports the level and
 * the shader model. */
int d3d12_device_open(struct d3d12_device *gpu, struct error *err);
void d3d12_device_free(struct d3d12_device *gpu);

/* Runs the recorded commands, waits for them, and starts recording again. ERROR_TIMEOUT: the device did
 * not finish, and nothing may be released any more. */
int d3d12_device_run(struct d3d12_device *gpu, struct error *err);

/* Commands of another kind: the caller closes their list, submits it, waits until
 * d3d12_has_finished(), which is a work_step for work_wait(), and asks how that went before it resets
 * the list and records anew. One list runs at a time. */
int d3d12_create_commands(struct d3d12_device *gpu, D3D12_COMMAND_LIST_TYPE type, REFIID id,
			  struct d3d12_commands *out, struct error *err);
void d3d12_commands_free(struct d3d12_commands *commands);
int d3d12_submit(struct d3d12_device *gpu, const struct d3d12_commands *commands,
		 struct error *err);
int d3d12_has_finished(void *device, struct error *err);
int d3d12_check_finished(struct d3d12_device *gpu, const struct d3d12_commands *commands,
			 struct error *err);

/* resources.c: a buffer: shaders write one of the default heap, any queue writes one of a custom heap,
 * which the processor reads. */
int d3d12_create_buffer(struct d3d12_device *gpu, D3D12_HEAP_TYPE heap, size_t size,
			ID3D12Resource **out, struct error *err);
/* The same of a heap that the processor sees; it stays mapped as long as it lives. */
int d3d12_create_mapped(struct d3d12_device *gpu, D3D12_HEAP_TYPE heap, size_t size,
			ID3D12Resource **out, uint8_t **bytes, struct error *err);
void d3d12_record_transition(struct d3d12_device *gpu, ID3D12Resource *resource,
			     D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after);

/* Arrays in the device's memory, and the buffers to copy to and from them. Between two runs of the
 * command list they are in the common state, from which commands move buffers to the state that they
 * need. */
struct d3d12_arrays {
	struct d3d12_device *gpu;
	size_t size; /* bytes of one */
	ID3D12Resource *arrays[WORK_ARRAYS];
	ID3D12Resource *upload, *readback; /* all arrays, one after the other */
	uint8_t *uploaded, *downloaded;	   /* mapped: to fill before the upload, to read back */
};

int d3d12_arrays_create(struct d3d12_arrays *arrays, struct error *err);
/* Steps of work that begins with the arrays. */
int d3d12_arrays_upload(void *work, struct error *err);
int d3d12_arrays_download(void *work, struct error *err);
void d3d12_arrays_free(struct d3d12_arrays *arrays);

/* `constants` 32-bit constants at b0, then `buffers`, up to WORK_ARRAYS, unordered access views from
 * u0 on. */
int d3d12_create_root_signature(struct d3d12_device *gpu, unsigned constants, unsigned buffers,
				ID3D12RootSignature **out, struct error *err);

/* work.c: errors as for the `work` of an api_driver. */
int d3d12_work(void *session, const struct work_request *request, struct work_report *report,
	       struct error *err);
