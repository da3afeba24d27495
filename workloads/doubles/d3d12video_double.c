/* SPDX-License-Identifier: MIT */
/* The device: its capabilities, and the objects that it creates. */
#include "workloads/doubles/d3d12video_double.h"

#include "workloads/doubles/d3d12video_double_commands.h"
#include "workloads/doubles/settings.h"

#include "base/cleanup.h"

#include <string.h>

enum { PITCH = 256 };

int d3d12video_double_alive;

static ID3D12DeviceVtbl *device_methods, device_original;
static ID3D12VideoDevice3 video_device;
static ID3D12VideoEncoder encoder;
static ID3D12VideoEncoderHeap heap;

static ULONG STDMETHODCALLTYPE release_device(ID3D12VideoDevice3 *object)
{
	(void)object;
	return (ULONG)--d3d12video_double_alive;
}

static ULONG STDMETHODCALLTYPE release_encoder(ID3D12VideoEncoder *object)
{
	(void)object;
	return (ULONG)--d3d12video_double_alive;
}

static ULONG STDMETHODCALLTYPE release_heap(ID3D12VideoEncoderHeap *object)
{
	(void)object;
	return (ULONG)--d3d12video_double_alive;
}

HRESULT d3d12video_double_give(void *object, void **out)
{
	*out = object;
	d3d12video_double_alive++;
	return S_OK;
}

static const struct double_codec *const codecs[] = {&double_h264, &double_hevc, &double_av1};

/* NULL: unknown. */
static const struct double_codec *find_codec(D3D12_VIDEO_ENCODER_CODEC number)
{
	for (size_t i = 0; i < ARRAY_SIZE(codecs); i++) {
		if (codecs[i]->number == number)
			return codecs[i];
	}
	return NULL;
}

static bool has_codec(D3D12_VIDEO_ENCODER_CODEC codec)
{
	return !setting_has("none") &&
	       (setting_has("all-codecs") ||
		(int)codec == (int)setting_number("codec", D3D12_VIDEO_ENCODER_CODEC_H264));
}

/* The first profile of each codec, or High. */
static bool is_profile(D3D12_VIDEO_ENCODER_CODEC codec,
		       const D3D12_VIDEO_ENCODER_PROFILE_DESC *profile)
{
	const bool high = codec == D3D12_VIDEO_ENCODER_CODEC_H264 && setting_has("high");
	return (int)*profile->pH264Profile == (high ? D3D12_VIDEO_ENCODER_PROFILE_H264_HIGH : 0);
}

static UINT level_size(D3D12_VIDEO_ENCODER_CODEC codec)
{
	return codec == D3D12_VIDEO_ENCODER_CODEC_H264 ? 4 : 8;
}

/* Suggests a level and, except for H.264, a tier. */
static void suggest(const struct double_codec *codec, int *level)
{
	level[0] = (int)setting_number("level", codec->level);
	if (level_size(codec->number) > sizeof(*level))
		level[1] = setting_has("high-tier");
}

static HRESULT report_codec(D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC *query)
{
	if ((int)query->Codec > D3D12_VIDEO_ENCODER_CODEC_HEVC && setting_has("new-codec"))
		return E_INVALIDARG;
	query->IsSupported = has_codec(query->Codec);
	return S_OK;
}

static HRESULT report_profile(D3D12_FEATURE_DATA_VIDEO_ENCODER_PROFILE_LEVEL *query)
{
	query->IsSupported = setting_has("all-codecs") || is_profile(query->Codec, &query->Profile);
	return query->MinSupportedLevel.DataSize == level_size(query->Codec) ? S_OK : E_INVALIDARG;
}

static HRESULT report_sizes(D3D12_FEATURE_DATA_VIDEO_ENCODER_OUTPUT_RESOLUTION *query)
{
	const D3D12_VIDEO_ENCODER_PICTURE_RESOLUTION_DESC least = {16, 16}, most = {64, 64};
	if (query->ResolutionRatiosCount != 1)
		return E_INVALIDARG;
	query->pResolutionRatios[0] = (D3D12_VIDEO_ENCODER_PICTURE_RESOLUTION_RATIO_DESC){1, 1};
	query->IsSupported = TRUE;
	query->MinResolutionSupported = least;
	query->MaxResolutionSupported = most;
	return S_OK;
}

static HRESULT
report_references(D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_PICTURE_CONTROL_SUPPORT *query)
{
	query->IsSupported = TRUE;
	query->PictureSupport.pH264Support->MaxL0ReferencesForP = 1;
	query->PictureSupport.pH264Support->MaxL1ReferencesForB = setting_has("all-codecs");
	return query->PictureSupport.DataSize == 20 ? S_OK : E_INVALIDARG;
}

/* The requested settings are used. */
static HRESULT report_support(D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT *query)
{
	const struct double_codec *codec = find_codec(query->Codec);
	const bool sound = query->InputFormat == DXGI_FORMAT_NV12 && codec != NULL &&
			   query->ResolutionsListCount == 1 &&
			   query->pResolutionList->Width == DOUBLE_SIDE &&
			   query->pResolutionList->Height == DOUBLE_SIDE &&
			   query->MaxReferenceFramesInDPB == 1 &&
			   double_keeps(&query->RateControl) && codec->is_sequence_right(query);
	const size_t refused = setting_number("refuse", sound ? 0 : 0x40);
	query->ValidationFlags = (D3D12_VIDEO_ENCODER_VALIDATION_FLAGS)refused;
	query->SupportFlags =
		(D3D12_VIDEO_ENCODER_SUPPORT_FLAGS)((refused == 0
							     ? D3D12_VIDEO_ENCODER_SUPPORT_FLAG_GENERAL_SUPPORT_OK
							     : 0) |
						    (setting_has("texture-array")
							     ? D3D12_VIDEO_ENCODER_SUPPORT_FLAG_RECONSTRUCTED_FRAMES_REQUIRE_TEXTURE_ARRAYS
							     : 0));
	if (!sound)
		return S_OK;
	suggest(codec, (int *)(void *)query->SuggestedLevel.pH264LevelSetting);
	query->pResolutionDependentSupport->SubregionBlockPixelsSize =
		(UINT)setting_number("region", DOUBLE_SIDE);
	memcpy(double_state.group, query->CodecGopSequence.pH264GroupOfPictures,
	       query->CodecGopSequence.DataSize);
	memcpy(double_state.tools, query->CodecConfiguration.pH264Config,
	       query->CodecConfiguration.DataSize);
	return S_OK;
}

static HRESULT
report_configuration(D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT *query)
{
	const struct double_codec *codec = find_codec(query->Codec);
	return codec != NULL && codec->report_configuration != NULL
		       ? codec->report_configuration(query)
		       : E_INVALIDARG;
}

static UINT support1_size(void)
{
	return setting_has("old-question") ? offsetof(struct d3d12video_support1, MaxQualityVsSpeed)
					   : sizeof(struct d3d12video_support1);
}

static HRESULT report_requirements(D3D12_FEATURE_DATA_VIDEO_ENCODER_RESOURCE_REQUIREMENTS *query)
{
	query->IsSupported = is_profile(query->Codec, &query->Profile);
	query->CompressedBitstreamBufferAccessAlignment = 4096;
	query->EncoderMetadataBufferAccessAlignment = 8;
	query->MaxEncoderOutputMetadataBufferSize = setting_has("greedy") ? UINT_MAX : 1000;
	return S_OK;
}

static HRESULT STDMETHODCALLTYPE check_feature(ID3D12VideoDevice3 *object,
					       D3D12_FEATURE_VIDEO feature, void *query, UINT size)
{
	const int failure = setting_enter("CheckFeatureSupport");
	D3D12_FEATURE_DATA_VIDEO_ENCODER_RATE_CONTROL_MODE *rate = query;
	(void)object;
	if (failure != 0)
		return failure;
	switch ((int)feature) {
	case D3D12_FEATURE_VIDEO_ENCODER_CODEC:
		return size == 12 ? report_codec(query) : E_INVALIDARG;
	case D3D12_FEATURE_VIDEO_ENCODER_PROFILE_LEVEL:
		return report_profile(query);
	case D3D12_FEATURE_VIDEO_ENCODER_OUTPUT_RESOLUTION_RATIOS_COUNT:
		((D3D12_FEATURE_DATA_VIDEO_ENCODER_OUTPUT_RESOLUTION_RATIOS_COUNT *)query)
			->ResolutionRatiosCount = 1;
		return S_OK;
	case D3D12_FEATURE_VIDEO_ENCODER_OUTPUT_RESOLUTION:
		return report_sizes(query);
	case D3D12_FEATURE_VIDEO_ENCODER_CODEC_CONFIGURATION_SUPPORT:
		return report_configuration(query);
	case D3D12_FEATURE_VIDEO_ENCODER_CODEC_PICTURE_CONTROL_SUPPORT:
		return report_references(query);
	case D3D12_FEATURE_VIDEO_ENCODER_RATE_CONTROL_MODE:
		rate->IsSupported =
			rate->RateControlMode == D3D12_VIDEO_ENCODER_RATE_CONTROL_MODE_CQP ||
			!setting_has("cqp");
		return S_OK;
	case D3D12_FEATURE_VIDEO_ENCODER_SUPPORT:
		return size == sizeof(D3D12_FEATURE_DATA_VIDEO_ENCODER_SUPPORT)
			       ? report_support(query)
			       : E_INVALIDARG;
	case D3D12VIDEO_SUPPORT1:
		return size == support1_size() ? report_support(query) : E_INVALIDARG;
	case D3D12_FEATURE_VIDEO_ENCODER_RESOURCE_REQUIREMENTS:
		return report_requirements(query);
	default:
		return E_INVALIDARG;
	}
}

static HRESULT STDMETHODCALLTYPE create_encoder(ID3D12VideoDevice3 *object,
						const D3D12_VIDEO_ENCODER_DESC *description,
						REFIID id, void **out)
{
	const int failure = setting_enter("CreateVideoEncoder");
	(void)object;
	if (failure != 0)
		return failure;
	const struct double_codec *codec = find_codec(description->EncodeCodec);
	if (!IsEqualGUID(id, &IID_ID3D12VideoEncoder) || codec == NULL ||
	    description->InputFormat != DXGI_FORMAT_NV12 ||
	    !is_profile(codec->number, &description->EncodeProfile) ||
	    memcmp(description->CodecConfiguration.pH264Config, double_state.tools,
		   description->CodecConfiguration.DataSize) != 0)
		return E_INVALIDARG;
	double_begin(codec);
	return d3d12video_double_give(&encoder, out);
}

static HRESULT STDMETHODCALLTYPE create_heap(ID3D12VideoDevice3 *object,
					     const D3D12_VIDEO_ENCODER_HEAP_DESC *description,
					     REFIID id, void **out)
{
	const int failure = setting_enter("CreateVideoEncoderHeap");
	int level[2] = {0, 0};
	(void)object;
	if (failure != 0)
		return failure;
	suggest(double_state.codec, level);
	return IsEqualGUID(id, &IID_ID3D12VideoEncoderHeap) &&
			       description->EncodeCodec == double_state.codec->number &&
			       memcmp(description->EncodeLevel.pH264LevelSetting, level,
				      level_size(description->EncodeCodec)) == 0 &&
			       description->pResolutionList->Width == DOUBLE_SIDE
		       ? d3d12video_double_give(&heap, out)
		       : E_INVALIDARG;
}

static HRESULT STDMETHODCALLTYPE query_device(ID3D12Device *device, REFIID id, void **out)
{
	return IsEqualGUID(id, &IID_ID3D12VideoDevice3) && !setting_has("no-video")
		       ? d3d12video_double_give(&video_device, out)
		       : device_original.QueryInterface(device, id, out);
}

static HRESULT STDMETHODCALLTYPE create_queue(ID3D12Device *device,
					      const D3D12_COMMAND_QUEUE_DESC *description,
					      REFIID id, void **out)
{
	const bool ours = (int)description->Type == D3D12VIDEO_LIST_TYPE;
	const int failure = ours ? setting_enter("CreateCommandQueue") : 0;
	if (failure != 0)
		return failure;
	return ours ? d3d12video_double_give(&double_queue, out)
		    : device_original.CreateCommandQueue(device, description, id, out);
}

static HRESULT STDMETHODCALLTYPE create_allocator(ID3D12Device *device,
						  D3D12_COMMAND_LIST_TYPE type, REFIID id,
						  void **out)
{
	return (int)type == D3D12VIDEO_LIST_TYPE
		       ? d3d12video_double_give(&double_allocator, out)
		       : device_original.CreateCommandAllocator(device, type, id, out);
}

static HRESULT STDMETHODCALLTYPE create_list(ID3D12Device *device, UINT node,
					     D3D12_COMMAND_LIST_TYPE type,
					     ID3D12CommandAllocator *allocator,
					     ID3D12PipelineState *state, REFIID id, void **out)
{
	if ((int)type != D3D12VIDEO_LIST_TYPE)
		return device_original.CreateCommandList(device, node, type, allocator, state, id,
							 out);
	return IsEqualGUID(id, &IID_ID3D12VideoEncodeCommandList2) && allocator == &double_allocator
		       ? d3d12video_double_give(&double_list, out)
		       : E_INVALIDARG;
}

/* This Direct3D 12 has no NV12 textures, so they are memory that the processor can access. */
static HRESULT STDMETHODCALLTYPE
create_resource(ID3D12Device *device, const D3D12_HEAP_PROPERTIES *properties,
		D3D12_HEAP_FLAGS flags, const D3D12_RESOURCE_DESC *description,
		D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE *clear, REFIID id, void **out)
{
	const D3D12_HEAP_PROPERTIES seen = {
		.Type = D3D12_HEAP_TYPE_CUSTOM,
		.CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK,
		.MemoryPoolPreference = D3D12_MEMORY_POOL_L0,
	};
	const D3D12_RESOURCE_DESC buffer = {
		.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
		.Width = (UINT64)DOUBLE_FRAME * description->DepthOrArraySize,
		.Height = 1,
		.DepthOrArraySize = 1,
		.MipLevels = 1,
		.SampleDesc = {.Count = 1},
		.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
	};
	if (description->Format != DXGI_FORMAT_NV12)
		return device_original.CreateCommittedResource(device, properties, flags,
							       description, state, clear, id, out);
	const int failure = setting_enter("CreateCommittedResource");
	if (failure != 0)
		return failure;
	const HRESULT result = device_original.CreateCommittedResource(
		device, &seen, flags, &buffer, state, clear, id, out);
	if (SUCCEEDED(result))
		double_add_texture(*out, description);
	return result;
}

static void STDMETHODCALLTYPE get_layout(ID3D12Device *device,
					 const D3D12_RESOURCE_DESC *description, UINT first,
					 UINT count, UINT64 offset,
					 D3D12_PLACED_SUBRESOURCE_FOOTPRINT *layouts, UINT *rows,
					 UINT64 *row_size, UINT64 *total)
{
	if (description->Format != DXGI_FORMAT_NV12) {
		device_original.GetCopyableFootprints(device, description, first, count, offset,
						      layouts, rows, row_size, total);
		return;
	}
	for (UINT plane = 0; plane < 2; plane++) {
		layouts[plane].Offset = (UINT64)plane * PITCH * DOUBLE_SIDE;
		layouts[plane].Footprint = (D3D12_SUBRESOURCE_FOOTPRINT){
			plane == 0 ? DXGI_FORMAT_R8_TYPELESS : DXGI_FORMAT_R8G8_TYPELESS,
			DOUBLE_SIDE >> plane, DOUBLE_SIDE >> plane, 1, PITCH};
	}
	*total = (UINT64)PITCH * DOUBLE_SIDE * (setting_has("small-layout") ? 1 : 2);
}

static HRESULT STDMETHODCALLTYPE get_removed_reason(ID3D12Device *device)
{
	return double_state.removed ? (HRESULT)0x887A0006
				    : device_original.GetDeviceRemovedReason(device);
}

static bool make_writable(void *memory, size_t size)
{
	DWORD before = 0;
	return VirtualProtect(memory, size, PAGE_READWRITE, &before) != 0;
}

bool d3d12video_double_install(const struct d3d12_device *gpu)
{
	static ID3D12VideoDevice3Vtbl device_table = {
		.Release = release_device,
		.CheckFeatureSupport = check_feature,
		.CreateVideoEncoder = create_encoder,
		.CreateVideoEncoderHeap = create_heap,
	};
	static ID3D12VideoEncoderVtbl encoder_table = {.Release = release_encoder};
	static ID3D12VideoEncoderHeapVtbl heap_table = {.Release = release_heap};
	ID3D12GraphicsCommandListVtbl *list_methods = NULL;
	/* The headers declare the tables const. */
	memcpy(&device_methods, &gpu->device->lpVtbl, sizeof(void *));
	memcpy(&list_methods, &gpu->list->lpVtbl, sizeof(void *));
	if (!make_writable(device_methods, sizeof(*device_methods)) ||
	    !make_writable(list_methods, sizeof(*list_methods)))
		return false;
	video_device.lpVtbl = &device_table;
	encoder.lpVtbl = &encoder_table;
	heap.lpVtbl = &heap_table;
	device_original = *device_methods;
	device_methods->QueryInterface = query_device;
	device_methods->CreateCommandQueue = create_queue;
	device_methods->CreateCommandAllocator = create_allocator;
	device_methods->CreateCommandList = create_list;
	device_methods->CreateCommittedResource = create_resource;
	device_methods->GetCopyableFootprints = get_layout;
	device_methods->GetDeviceRemovedReason = get_removed_reason;
	double_install_commands(list_methods);
	return true;
}
