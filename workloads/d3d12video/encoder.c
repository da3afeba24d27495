/* SPDX-License-Identifier: MIT */
/* A stream: its settings, its resources, and the path of frames through it. */
#include "workloads/d3d12video/d3d12video.h"

#include "base/cleanup.h"

#include <stdio.h>

enum {
	BYTES_MAX = 64 * 1024 * 1024 /* of a buffer; a driver that asks for more is not believed */
};

/* D3D12_CALL() of the encoder's device. */
#define CALL(e, err, interface, method, ...)                                                       \
	D3D12_CALL(&(e)->video->gpu, err, interface, method, __VA_ARGS__)

static const struct d3d12video_codec *const codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = &d3d12video_h264,
	[VIDEO_HEVC] = &d3d12video_hevc,
	[VIDEO_AV1] = &d3d12video_av1,
};

static int choose_settings(struct d3d12video_encoder *e, struct error *err)
{
	static const D3D12_VIDEO_ENCODER_RATE_CONTROL_CBR bits = {.TargetBitRate = VIDEO_BIT_RATE};
	const enum video_codec codec = e->job->offer->codec;
	struct d3d12video_settings *s = &e->settings;
	D3D12_FEATURE_DATA_VIDEO_ENCODER_RATE_CONTROL_MODE constant = {
		.Codec = d3d12video_codec_of(codec),
		.RateControlMode = D3D12_VIDEO_ENCODER_RATE_CONTROL_MODE_CBR,
	};

	e->codec = codecs[codec];
	s->quantisers = (D3D12_VIDEO_ENCODER_RATE_CONTROL_CQP){e->codec->quality, e->codec->quality,
							       e->codec->quality};
	s->codec = constant.Codec;
	s->profile_number = e->video->profiles[codec];
	s->profile = d3d12video_profile_of(&s->profile_number);
	s->level.DataSize = (UINT)e->codec->level_size;
	s->level.pH264LevelSetting = &s->level_setting.h264;
	s->configuration.DataSize = (UINT)e->codec->tools_size;
	s->configuration.pH264Config = &s->tools.h264;
	s->group.DataSize = (UINT)e->codec->pictures_size;
	s->group.pH264GroupOfPictures = &s->pictures.h264;
	s->rate.Mode = D3D12_VIDEO_ENCODER_RATE_CONTROL_MODE_CQP;
	s->rate.ConfigParams.DataSize = sizeof(s->quantisers);
	s->rate.ConfigParams.pConfiguration_CQP = &s->quantisers;
	s->rate.TargetFrameRate = (DXGI_RATIONAL){VIDEO_RATE, 1};
	s->size.Width = e->job->source.width;
	s->size.Height = e->job->source.height;
	if (D3D12VIDEO_ANSWERS(e->video, RATE_CONTROL_MODE, &constant) && constant.IsSupported) {
		s->rate.Mode = constant.RateControlMode;
		s->rate.ConfigParams.DataSize = sizeof(bits);
		s->rate.ConfigParams.pConfiguration_CBR = &bits;
	}
	return e->codec->choose(e, err);
}

/* Names what an encoder does not accept, by D3D12_VIDEO_ENCODER_VALIDATION_FLAGS. */
static int refuse(unsigned flags, struct error *err)
{
	static const char *const names[] = {
		[0] = "the codec",
		[3] = "NV12",
		[4] = "the tools of the codec",
		[5] = "the kind of rate control",
		[6] = "the bit rate",
		[7] = "pictures without intra refresh",
		[8] = "whole pictures",
		[9] = "the size",
		[11] = "I and P pictures",
		[12] = "one tile",
	};
	char all[192] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if ((flags >> i & 1u) != 0 && names[i] != NULL)
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
						 used == 0 ? "" : ", ", names[i]);
	}
	return error_set(err, ERROR_UNSUPPORTED,
			 "the encoder does not accept %s (validation flags 0x%x)",
			 used != 0 ? all : "these settings", flags);
}

/* Asks about all settings at once: each may be accepted by itself, and the combination refused. */
static int check_settings(struct d3d12video_encoder *e, struct error *err)
{
	struct d3d12video_settings *s = &e->settings;
	int suggested = s->profile_number;
	struct d3d12video_support1 query = {
		.common = {.Codec = s->codec,
			   .InputFormat = DXGI_FORMAT_NV12,
			   .CodecConfiguration = s->configuration,
			   .CodecGopSequence = s->group,
			   .RateControl = s->rate,
			   .ResolutionsListCount = 1,
			   .pResolutionList = &s->size,
			   .MaxReferenceFramesInDPB = 1,
			   .SuggestedProfile = d3d12video_profile_of(&suggested),
			   .SuggestedLevel = s->level,
			   .pResolutionDependentSupport = &s->limits},
		.SubregionFrameEncodingData = s->layout,
	};

	/* The query for AV1 became longer with a newer version, and older ones refuse that. */
	const UINT sizes[] = {sizeof(query),
			      offsetof(struct d3d12video_support1, MaxQualityVsSpeed)};
	HRESULT result = E_INVALIDARG;
	int rc = 0;
	if (s->layout.DataSize == 0) {
		rc = D3D12VIDEO_ASK(e->video, err, SUPPORT, &query.common);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(sizes) && result == E_INVALIDARG; i++)
			result = ID3D12VideoDevice3_CheckFeatureSupport(
				e->video->device, (D3D12_FEATURE_VIDEO)D3D12VIDEO_SUPPORT1, &query,
				sizes[i]);
		rc = d3d12_check(&e->video->gpu, result, "ID3D12VideoDevice3::CheckFeatureSupport",
				 err);
	}
	if (rc != 0)
		return rc;
	if ((query.common.SupportFlags & D3D12_VIDEO_ENCODER_SUPPORT_FLAG_GENERAL_SUPPORT_OK) == 0)
		return refuse((unsigned)query.common.ValidationFlags, err);
	e->texture_array =
		(query.common.SupportFlags &
		 D3D12_VIDEO_ENCODER_SUPPORT_FLAG_RECONSTRUCTED_FRAMES_REQUIRE_TEXTURE_ARRAYS) != 0;
	return 0;
}

static size_t align(size_t size, size_t alignment)
{
	return alignment > 1 ? (size + alignment - 1) / alignment * alignment : size;
}

static int create_outputs(struct d3d12video_encoder *e, struct error *err)
{
	struct d3d12_device *gpu = &e->video->gpu;
	D3D12_FEATURE_DATA_VIDEO_ENCODER_RESOURCE_REQUIREMENTS needs = {
		.Codec = e->settings.codec,
		.Profile = e->settings.profile,
		.InputFormat = DXGI_FORMAT_NV12,
		.PictureTargetResolution = e->settings.size,
	};

	int rc = D3D12VIDEO_ASK(e->video, err, RESOURCE_REQUIREMENTS, &needs);
	if (rc != 0)
		return rc;
	const size_t stream = needs.CompressedBitstreamBufferAccessAlignment;
	const size_t metadata = needs.EncoderMetadataBufferAccessAlignment;
	const size_t size = needs.MaxEncoderOutputMetadataBufferSize;
	if (!needs.IsSupported || stream > BYTES_MAX || metadata > BYTES_MAX || size == 0 ||
	    size > BYTES_MAX)
		return error_set(
			err, ERROR_FORMAT,
			"what the driver requires of buffers makes no sense: metadata of %zu "
			"bytes, alignments %zu and %zu",
			size, stream, metadata);
	const size_t resolved = sizeof(struct d3d12video_metadata) + e->codec->values_size;
	e->coded_size = align(video_frame_size(&e->job->source) * 2 + 65536, stream);
	rc = d3d12_create_mapped(gpu, D3D12_HEAP_TYPE_CUSTOM, e->coded_size, &e->bitstream,
				 &e->coded, err);
	if (rc == 0)
		rc = d3d12_create_mapped(gpu, D3D12_HEAP_TYPE_CUSTOM,
					 align(resolved > size ? resolved : size, metadata),
					 &e->resolved, &e->reported, err);
	if (rc == 0)
		rc = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_DEFAULT, align(size, metadata),
					 &e->metadata, err);
	return rc;
}

static int create_texture(struct d3d12video_encoder *e, const D3D12_RESOURCE_DESC *description,
			  ID3D12Resource **out, struct error *err)
{
	const D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};

	return CALL(e, err, ID3D12Device, CreateCommittedResource, e->video->gpu.device, &heap,
		    D3D12_HEAP_FLAG_NONE, description, D3D12_RESOURCE_STATE_COMMON, NULL,
		    &IID_ID3D12Resource, (void **)out);
}

static int create_textures(struct d3d12video_encoder *e, struct error *err)
{
	D3D12_RESOURCE_DESC description = {
		.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D,
		.Width = e->job->source.width,
		.Height = e->job->source.height,
		.DepthOrArraySize = 1,
		.MipLevels = 1,
		.Format = DXGI_FORMAT_NV12,
		.SampleDesc = {.Count = 1},
	};
	UINT64 size = 0;

	int rc = create_texture(e, &description, &e->input, err);
	if (rc != 0)
		return rc;

	/* The buffer through which frames are copied to the texture. */
	ID3D12Device_GetCopyableFootprints(e->video->gpu.device, &description, 0, D3D12VIDEO_PLANES,
					   0, e->layout, NULL, NULL, &size);
	bool fits = size <= BYTES_MAX;
	for (size_t i = 0; fits && i < D3D12VIDEO_PLANES; i++) {
		const UINT64 pitch = e->layout[i].Footprint.RowPitch;
		const UINT64 rows = description.Height >> i; /* the last one may end early */
		fits = pitch >= description.Width && e->layout[i].Offset <= size &&
		       (rows - 1) * pitch + description.Width <= size - e->layout[i].Offset;
	}
	if (!fits)
		return error_set(
			err, ERROR_FORMAT,
			"ID3D12Device::GetCopyableFootprints: there is no room for a frame "
			"of NV12");
	rc = d3d12_create_mapped(&e->video->gpu, D3D12_HEAP_TYPE_UPLOAD, (size_t)size, &e->upload,
				 &e->uploaded, err);

	description.Flags = (D3D12_RESOURCE_FLAGS)(D3D12VIDEO_REFERENCE_ONLY |
						   D3D12_RESOURCE_FLAG_DENY_SHADER_RESOURCE);
	description.DepthOrArraySize = e->texture_array ? D3D12VIDEO_REFERENCES : 1;
	for (size_t i = 0; rc == 0 && i < (e->texture_array ? 1 : D3D12VIDEO_REFERENCES); i++)
		rc = create_texture(e, &description, &e->references[i], err);
	return rc;
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct d3d12video_encoder *e = encoder;
	const struct d3d12video_settings *s = &e->settings;

	e->video = session;
	e->job = job;
	int rc = choose_settings(e, err);
	if (rc == 0)
		rc = check_settings(e, err);
	if (rc == 0)
		rc = e->codec->write_headers(e, err);
	if (rc != 0)
		return rc;

	const D3D12_VIDEO_ENCODER_DESC encoder_description = {
		.EncodeCodec = s->codec,
		.EncodeProfile = s->profile,
		.InputFormat = DXGI_FORMAT_NV12,
		.CodecConfiguration = s->configuration,
	};
	const D3D12_VIDEO_ENCODER_HEAP_DESC heap = {
		.EncodeCodec = s->codec,
		.EncodeProfile = s->profile,
		.EncodeLevel = s->level,
		.ResolutionsListCount = 1,
		.pResolutionList = &s->size,
	};
	rc = CALL(e, err, ID3D12VideoDevice3, CreateVideoEncoder, e->video->device,
		  &encoder_description, &IID_ID3D12VideoEncoder, (void **)&e->encoder);
	if (rc == 0)
		rc = CALL(e, err, ID3D12VideoDevice3, CreateVideoEncoderHeap, e->video->device,
			  &heap, &IID_ID3D12VideoEncoderHeap, (void **)&e->heap);
	if (rc == 0)
		rc = create_outputs(e, err);
	if (rc == 0)
		rc = create_textures(e, err);
	if (rc == 0)
		rc = d3d12_create_commands(&e->video->gpu,
					   (D3D12_COMMAND_LIST_TYPE)D3D12VIDEO_LIST_TYPE,
					   &IID_ID3D12VideoEncodeCommandList2, &e->commands, err);
	e->list = e->commands.list;
	return rc;
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct d3d12video_encoder *e = encoder;
	struct d3d12_device *gpu = &e->video->gpu;
	struct video_planes planes = {0};

	e->index = index;
	d3d12_record_transition(gpu, e->input, D3D12_RESOURCE_STATE_COMMON,
				D3D12_RESOURCE_STATE_COPY_DEST);
	for (unsigned i = 0; i < D3D12VIDEO_PLANES; i++) {
		const D3D12_TEXTURE_COPY_LOCATION from = {
			.pResource = e->upload,
			.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT,
			.PlacedFootprint = e->layout[i],
		};
		const D3D12_TEXTURE_COPY_LOCATION to = {
			.pResource = e->input,
			.Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX,
			.SubresourceIndex = i,
		};
		planes.data[i] = e->uploaded + e->layout[i].Offset;
		planes.pitch[i] = e->layout[i].Footprint.RowPitch;
		ID3D12GraphicsCommandList_CopyTextureRegion(gpu->list, &to, 0, 0, 0, &from, NULL);
	}
	d3d12_record_transition(gpu, e->input, D3D12_RESOURCE_STATE_COPY_DEST,
				D3D12_RESOURCE_STATE_COMMON);
	video_copy(&e->job->source, frame, &planes);
	int rc = d3d12_device_run(gpu, err);
	if (rc != 0)
		return rc;

	d3d12video_record(e);
	rc = CALL(e, err, ID3D12VideoEncodeCommandList2, Close, e->list);
	if (rc == 0)
		rc = d3d12_submit(gpu, &e->commands, err);
	return rc;
}

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct d3d12video_encoder *e = encoder;
	(void)ended;

	if (d3d12_has_finished(&e->video->gpu, err) == 0)
		return error_set(err, ERROR_BUSY, "the picture is not coded yet");
	int rc = d3d12_check_finished(&e->video->gpu, &e->commands, err);
	if (rc == 0)
		rc = CALL(e, err, ID3D12VideoEncodeCommandList2, Reset, e->list,
			  e->commands.allocator);
	if (rc == 0)
		rc = d3d12video_append(e, stream, err);
	return rc;
}

static void close_encoder(void *encoder)
{
	struct d3d12video_encoder *e = encoder;
	void *const objects[] = {e->encoder,	   e->heap,	e->references[0],
				 e->references[1], e->input,	e->upload,
				 e->bitstream,	   e->metadata, e->resolved};

	d3d12_commands_free(&e->commands);
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		com_release(objects[i]);
	text_free(&e->headers);
}

const struct video_encoder d3d12video_encoder = {
	.single = true,
	.layout = VIDEO_NV12,
	.list = d3d12video_list,
	.size = sizeof(struct d3d12video_encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};
