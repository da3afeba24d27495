/* SPDX-License-Identifier: MIT */
#pragma once

/* The queue of the double, its command list and what they work on. */

#include "workloads/d3d12video/d3d12video.h"
#include "workloads/doubles/h264_pcm.h"

enum { DOUBLE_SIDE = 64, DOUBLE_FRAME = DOUBLE_SIDE * DOUBLE_SIDE * 3 / 2 };

/* What a codec has to be described as. */
struct double_codec {
	D3D12_VIDEO_ENCODER_CODEC number;
	unsigned level; /* that it suggests */
	/* NULL: that is not to be asked. */
	HRESULT(*tell_configuration)
	(D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT *query);
	/* Pictures of one key frame and what refers to it, of tools that it has. */
	bool (*is_sequence_right)(const D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT *query);
	/* Picture `index`, but for its textures. */
	bool (*is_picture_right)(const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS *input,
				 unsigned index);
	/* Takes of the settings what slices depend on. NULL: nothing. */
	void (*begin)(struct h264_pcm *writer, const void *group);
	/* As h264_pcm.h has it. */
	void (*put)(const struct h264_pcm *writer, const struct video_planes *frame,
		    struct text *stream);
	/* What follows the parts of a picture in its metadata. NULL: nothing. */
	void (*tell)(void *out);
};

extern const struct double_codec double_h264, double_hevc, double_av1;

struct double_state {
	const struct double_codec *codec; /* of the stream */
	/* Its settings, by the question for them all: what configuration and group point to. */
	uint8_t tools[64], group[64];
	bool removed;
	struct h264_pcm writer;
};

extern struct double_state double_state;
extern ID3D12CommandQueue double_queue;
extern ID3D12CommandAllocator double_allocator;
extern ID3D12VideoEncodeCommandList2 double_list;

/* Begins a stream. */
void double_begin(const struct double_codec *codec);

HRESULT d3d12video_double_give(void *object, void **out);

/* The rate is what is asked of encoders, or the quantiser where none is kept. */
bool double_keeps(const D3D12_VIDEO_ENCODER_RATE_CONTROL *rate);

/* A buffer that stands for a texture of NV12. */
void double_add_texture(ID3D12Resource *resource, const D3D12_RESOURCE_DESC *description);

void double_install_commands(ID3D12GraphicsCommandListVtbl *list_methods);
