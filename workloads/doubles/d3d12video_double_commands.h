/* SPDX-License-Identifier: MIT */
#pragma once

/* The queue of the double, its command list and their state. */

#include "workloads/d3d12video/d3d12video.h"
#include "workloads/doubles/h264_pcm.h"

enum { DOUBLE_SIDE = 64, DOUBLE_FRAME = DOUBLE_SIDE * DOUBLE_SIDE * 3 / 2 };

/* How a codec must be described. */
struct double_codec {
	D3D12_VIDEO_ENCODER_CODEC number;
	unsigned level; /* suggested level */
	/* NULL: not queried. */
	HRESULT(*report_configuration)
	(D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT *query);
	/* Is it one key frame and pictures that refer to it, with supported tools? */
	bool (*is_sequence_right)(const D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT *query);
	/* Is picture `index` correct, apart from its textures? */
	bool (*is_picture_right)(const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS *input,
				 unsigned index);
	/* Takes the settings that slices depend on. NULL: none. */
	void (*begin)(struct h264_pcm *writer, const void *group);
	/* As in h264_pcm.h. */
	void (*put)(const struct h264_pcm *writer, const struct video_planes *frame,
		    struct text *stream);
	/* Writes the values that follow the parts of a picture in its metadata. NULL: none. */
	void (*report_values)(void *out);
};

extern const struct double_codec double_h264, double_hevc, double_av1;

struct double_state {
	const struct double_codec *codec; /* of the stream */
	/* Its settings, from the query for all of them: the targets of configuration and group. */
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

/* Is the rate the requested one, or the quantiser if no rate is kept? */
bool double_keeps(const D3D12_VIDEO_ENCODER_RATE_CONTROL *rate);

/* Adds a buffer that stands for an NV12 texture. */
void double_add_texture(ID3D12Resource *resource, const D3D12_RESOURCE_DESC *description);

void double_install_commands(ID3D12GraphicsCommandListVtbl *list_methods);
