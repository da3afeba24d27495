/* SPDX-License-Identifier: MIT */
/* One picture: the commands that code it, and its result. */
#include "workloads/d3d12video/d3d12video.h"

#include "base/cleanup.h"

#include <string.h>

enum { POISON = 0xA5, USES_MAX = 8 };

/* A resource that a command uses in a state; between commands each is in the common one. */
struct use {
	ID3D12Resource *resource;
	unsigned subresource;
	D3D12_RESOURCE_STATES state;
};

static void transition(struct d3d12video_encoder *e, const struct use *uses, size_t count,
		       bool begin)
{
	D3D12_RESOURCE_BARRIER barriers[USES_MAX] = {0};

	for (size_t i = 0; i < count; i++) {
		const D3D12_RESOURCE_STATES common = D3D12_RESOURCE_STATE_COMMON;
		barriers[i].Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
		barriers[i].Transition.pResource = uses[i].resource;
		barriers[i].Transition.Subresource = uses[i].subresource;
		barriers[i].Transition.StateBefore = begin ? common : uses[i].state;
		barriers[i].Transition.StateAfter = begin ? uses[i].state : common;
	}
	ID3D12VideoEncodeCommandList2_ResourceBarrier(e->list, (UINT)count, barriers);
}

/* The texture of a decoded picture, and its slice. */
static ID3D12Resource *texture_of(const struct d3d12video_encoder *e, unsigned index)
{
	return e->references[e->texture_array ? 0 : index % D3D12VIDEO_REFERENCES];
}

static unsigned slice_of(const struct d3d12video_encoder *e, unsigned index)
{
	return e->texture_array ? index % D3D12VIDEO_REFERENCES : 0;
}

/* The key frame refers to none, each other picture to the one before. */
static void encode(struct d3d12video_encoder *e)
{
	const unsigned index = e->index, count = index > 0 ? 1 : 0;
	ID3D12Resource *before = texture_of(e, index + 1);
	UINT slice = slice_of(e, index + 1);
	struct d3d12video_picture picture = {.first = 0};

	e->codec->describe(e, &picture);
	const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS input = {
		.SequenceControlDesc = {.RateControl = e->settings.rate,
					.PictureTargetResolution = e->settings.size,
					.FrameSubregionsLayoutData = e->settings.layout,
					.CodecGopSequence = e->settings.group},
		.PictureControlDesc =
			{.Flags =
				 D3D12_VIDEO_ENCODER_PICTURE_CONTROL_FLAG_USED_AS_REFERENCE_PICTURE,
			 .PictureControlCodecData = {.DataSize = (UINT)e->codec->data_size,
						     .pH264PicData = &picture.data.h264},
			 .ReferenceFrames = {.NumTexture2Ds = count,
					     .ppTexture2Ds = &before,
					     .pSubresources = e->texture_array ? &slice : NULL}},
		.pInputFrame = e->input,
		.CurrentFrameBitstreamMetadataSize = index == 0 ? (UINT)e->headers.size : 0,
	};
	const D3D12_VIDEO_ENCODER_ENCODEFRAME_OUTPUT_ARGUMENTS output = {
		.Bitstream = {.pBuffer = e->bitstream},
		.ReconstructedPicture = {texture_of(e, index), slice_of(e, index)},
		.EncoderOutputMetadata = {.pBuffer = e->metadata},
	};
	ID3D12VideoEncodeCommandList2_EncodeFrame(e->list, e->encoder, e->heap, &input, &output);
}

void d3d12video_record(struct d3d12video_encoder *e)
{
	const unsigned index = e->index;
	const unsigned slices = e->texture_array ? D3D12VIDEO_REFERENCES : 1;
	struct use uses[USES_MAX] = {
		{e->input, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
		 D3D12_RESOURCE_STATE_VIDEO_ENCODE_READ},
		{e->bitstream, 0, D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE},
		{e->metadata, 0, D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE},
	};
	size_t count = 3;

	for (unsigned plane = 0; plane < D3D12VIDEO_PLANES; plane++) {
		uses[count++] =
			(struct use){texture_of(e, index), slice_of(e, index) + plane * slices,
				     D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE};
		if (index > 0)
			uses[count++] = (struct use){texture_of(e, index - 1),
						     slice_of(e, index - 1) + plane * slices,
						     D3D12_RESOURCE_STATE_VIDEO_ENCODE_READ};
	}

	/* The bytes read back must come from the driver. */
	memset(e->coded, POISON, e->coded_size);
	memset(e->reported, POISON, sizeof(struct d3d12video_metadata) + e->codec->values_size);
	transition(e, uses, count, true);
	encode(e);
	transition(e, uses, count, false);

	/* Resolve the metadata. */
	const struct use resolving[] = {
		{e->metadata, 0, D3D12_RESOURCE_STATE_VIDEO_ENCODE_READ},
		{e->resolved, 0, D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE},
	};
	const D3D12_VIDEO_ENCODER_RESOLVE_METADATA_INPUT_ARGUMENTS input = {
		.EncoderCodec = e->settings.codec,
		.EncoderProfile = e->settings.profile,
		.EncoderInputFormat = DXGI_FORMAT_NV12,
		.EncodedPictureEffectiveResolution = e->settings.size,
		.HWLayoutMetadata = {.pBuffer = e->metadata},
	};
	const D3D12_VIDEO_ENCODER_RESOLVE_METADATA_OUTPUT_ARGUMENTS output = {
		.ResolvedLayoutMetadata = {.pBuffer = e->resolved},
	};
	transition(e, resolving, ARRAY_SIZE(resolving), true);
	ID3D12VideoEncodeCommandList2_ResolveEncoderOutputMetadata(e->list, &input, &output);
	transition(e, resolving, ARRAY_SIZE(resolving), false);
}

/* Each subregion begins with padding. */
static int append_regions(struct d3d12video_encoder *e, const struct d3d12video_metadata *metadata,
			  struct text *out, struct error *err)
{
	size_t at = 0;

	for (size_t i = 0; i < metadata->head.WrittenSubregionsCount; i++) {
		const uint64_t size = metadata->parts[i].bSize;
		const uint64_t padding = metadata->parts[i].bStartOffset;

		if (size > e->coded_size - at || padding > size)
			return error_set(err, ERROR_FORMAT,
					 "the driver reports a picture that is larger than the "
					 "memory for it");
		text_append(out, (const char *)e->coded + at + padding, (size_t)(size - padding));
		at += (size_t)size;
	}
	return 0;
}

int d3d12video_append(struct d3d12video_encoder *e, struct text *stream, struct error *err)
{
	static const struct code_advice names[] = {
#include "workloads/d3d12video/errors.h" /* generated from the specification's header */
	};
	struct text coded CLEANUP_TEXT = {0};
	struct d3d12video_metadata metadata = {0}; /* a copy that the driver cannot change */
	uint64_t poison = 0;

	memcpy(&metadata, e->reported, sizeof(metadata));
	memset(&poison, POISON, sizeof(poison));
	const uint64_t flags = metadata.head.EncodeErrorFlags;
	if (flags == poison)
		return error_set(
			err, ERROR_FORMAT,
			"the driver reported nothing about the picture that it had to code");
	if (flags != 0)
		return call_failed(&e->video->gpu.report->failure,
				   "ID3D12VideoEncodeCommandList2::EncodeFrame", (int)flags,
				   code_name(names, ARRAY_SIZE(names), (int64_t)flags), err);
	const uint64_t parts = metadata.head.WrittenSubregionsCount;
	if (parts > D3D12VIDEO_PARTS_MAX)
		return error_set(err, ERROR_FORMAT,
				 "the driver reports more than %d parts of one picture",
				 D3D12VIDEO_PARTS_MAX);

	if (e->codec->add_picture == NULL) {
		if (e->index == 0)
			text_add_all(stream, &e->headers);
		return append_regions(e, &metadata, stream, err);
	}
	int rc = append_regions(e, &metadata, &coded, err);
	if (rc != 0)
		return rc;
	const uint8_t *values =
		e->reported + sizeof(metadata.head) + (size_t)parts * sizeof(metadata.parts[0]);
	return e->codec->add_picture(e, values, &coded, stream, err);
}
