/* SPDX-License-Identifier: MIT */
#pragma once

/* The queue of the double, its command list and what they work on. */

#include "workloads/d3d12video/d3d12video.h"
#include "workloads/doubles/h264_pcm.h"

enum { DOUBLE_SIDE = 64, DOUBLE_FRAME = DOUBLE_SIDE * DOUBLE_SIDE * 3 / 2 };

struct double_state {
	D3D12_VIDEO_ENCODER_SEQUENCE_GOP_STRUCTURE_H264 group;
	bool removed;
	struct h264_pcm writer;
};

extern struct double_state double_state;
extern ID3D12CommandQueue double_queue;
extern ID3D12CommandAllocator double_allocator;
extern ID3D12VideoEncodeCommandList2 double_list;

HRESULT d3d12video_double_give(void *object, void **out);

/* The rate is what is asked of encoders, or the quantiser where none is kept. */
bool double_keeps(const D3D12_VIDEO_ENCODER_RATE_CONTROL *rate);

/* A buffer that stands for a texture of NV12. */
void double_add_texture(ID3D12Resource *resource, const D3D12_RESOURCE_DESC *description);

void double_install_commands(ID3D12GraphicsCommandListVtbl *list_methods);
