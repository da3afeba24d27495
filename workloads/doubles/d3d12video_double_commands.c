/* SPDX-License-Identifier: MIT */
/* Commands are checked when they are recorded and run when they are executed. */
#include "workloads/doubles/d3d12video_double_commands.h"

#include "workloads/doubles/d3d12video_double.h"
#include "workloads/doubles/settings.h"

#include <string.h>

enum { TEXTURES = 8, STATES = 32, PADDING = 16 };

/* A texture of NV12. */
struct texture {
	ID3D12Resource *resource;
	unsigned slices;
	bool reference; /* it can only be a reference */
};

struct state {
	ID3D12Resource *resource;
	unsigned subresource;
	D3D12_RESOURCE_STATES state;
};

struct double_state double_state;
ID3D12CommandQueue double_queue;
ID3D12CommandAllocator double_allocator;
ID3D12VideoEncodeCommandList2 double_list;

static ID3D12GraphicsCommandListVtbl list_original;
static struct texture textures[TEXTURES];
static size_t texture_count;
static struct state states[STATES]; /* the states of resources that are not in the common one */

/* The content of the list: a picture, and where its metadata goes. */
static struct {
	bool encodes, resolves, wrong, closed;
	uint64_t flags; /* of the picture */
	ID3D12Resource *input, *bitstream, *metadata, *resolved;
} commands;

/* The texture and slice to which the last picture was decoded. */
static ID3D12Resource *last_texture;
static unsigned last_slice;

void double_begin(const struct double_codec *codec)
{
	h264_pcm_free(&double_state.writer);
	double_state.writer = (struct h264_pcm){.put = codec->put};
	double_state.codec = codec;
	if (codec->begin != NULL)
		codec->begin(&double_state.writer, double_state.group);
	texture_count = 0;
	memset(states, 0, sizeof(states));
	memset(&commands, 0, sizeof(commands));
}

void d3d12video_double_reset(void)
{
	h264_pcm_free(&double_state.writer);
	double_state = (struct double_state){0};
}

void double_add_texture(ID3D12Resource *resource, const D3D12_RESOURCE_DESC *description)
{
	if (texture_count < TEXTURES)
		textures[texture_count++] = (struct texture){
			resource, description->DepthOrArraySize,
			((unsigned)description->Flags & D3D12VIDEO_REFERENCE_ONLY) != 0};
}

static const struct texture *find_texture(const ID3D12Resource *resource)
{
	for (size_t i = 0; i < texture_count; i++) {
		if (textures[i].resource == resource)
			return &textures[i];
	}
	return NULL;
}

bool double_keeps(const D3D12_VIDEO_ENCODER_RATE_CONTROL *rate)
{
	if (rate->TargetFrameRate.Numerator != VIDEO_RATE || rate->TargetFrameRate.Denominator != 1)
		return false;
	return setting_has("cqp") ? rate->Mode == D3D12_VIDEO_ENCODER_RATE_CONTROL_MODE_CQP &&
					    rate->ConfigParams.pConfiguration_CQP
							    ->ConstantQP_FullIntracodedFrame > 0
				  : rate->Mode == D3D12_VIDEO_ENCODER_RATE_CONTROL_MODE_CBR &&
					    rate->ConfigParams.pConfiguration_CBR->TargetBitRate ==
						    VIDEO_BIT_RATE;
}

/* Copies from the upload buffer to the planes, row by row, as the device copies buffers. */
static void STDMETHODCALLTYPE copy_texture(ID3D12GraphicsCommandList *list,
					   const D3D12_TEXTURE_COPY_LOCATION *to, UINT x, UINT y,
					   UINT z, const D3D12_TEXTURE_COPY_LOCATION *from,
					   const D3D12_BOX *box)
{
	const UINT plane = to->SubresourceIndex;
	const D3D12_PLACED_SUBRESOURCE_FOOTPRINT *layout = &from->PlacedFootprint;
	if (find_texture(to->pResource) == NULL) {
		list_original.CopyTextureRegion(list, to, x, y, z, from, box);
		return;
	}
	for (UINT64 row = 0; row < (UINT64)DOUBLE_SIDE >> plane; row++)
		list_original.CopyBufferRegion(
			list, to->pResource,
			(UINT64)plane * DOUBLE_SIDE * DOUBLE_SIDE + row * DOUBLE_SIDE,
			from->pResource, layout->Offset + row * layout->Footprint.RowPitch,
			DOUBLE_SIDE);
}

static D3D12_RESOURCE_STATES *state_of(ID3D12Resource *resource, unsigned subresource)
{
	struct state *free_one = NULL;
	for (size_t i = 0; i < STATES; i++) {
		if (states[i].resource == resource && states[i].subresource == subresource)
			return &states[i].state;
		if (states[i].resource == NULL && free_one == NULL)
			free_one = &states[i];
	}
	*free_one = (struct state){resource, subresource, D3D12_RESOURCE_STATE_COMMON};
	return &free_one->state;
}

static void move_state(const D3D12_RESOURCE_TRANSITION_BARRIER *barrier, unsigned subresource)
{
	D3D12_RESOURCE_STATES *state = state_of(barrier->pResource, subresource);
	commands.wrong = commands.wrong || *state != barrier->StateBefore;
	*state = barrier->StateAfter;
}

/* A texture has as many subresources as planes and slices, plane by plane. */
static unsigned count_subresources(ID3D12Resource *resource)
{
	const struct texture *texture = find_texture(resource);
	return texture != NULL ? 2 * texture->slices : 1;
}

static void STDMETHODCALLTYPE set_barriers(ID3D12VideoEncodeCommandList2 *list, UINT count,
					   const D3D12_RESOURCE_BARRIER *barriers)
{
	(void)list;
	for (UINT i = 0; i < count; i++) {
		const D3D12_RESOURCE_TRANSITION_BARRIER *barrier = &barriers[i].Transition;
		const unsigned subresources = count_subresources(barrier->pResource);
		if (barrier->Subresource != D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES) {
			commands.wrong = commands.wrong || barrier->Subresource >= subresources;
			move_state(barrier, barrier->Subresource);
			continue;
		}
		for (unsigned j = 0; j < subresources; j++)
			move_state(barrier, j);
	}
}

static bool is_in(ID3D12Resource *resource, unsigned subresource, D3D12_RESOURCE_STATES state)
{
	return *state_of(resource, subresource) == state;
}

/* Are both planes of the slice in the state? */
static bool is_slice_in(ID3D12Resource *resource, unsigned slice, D3D12_RESOURCE_STATES state)
{
	const struct texture *texture = find_texture(resource);
	return texture != NULL && texture->reference && slice < texture->slices &&
	       texture->slices == (setting_has("texture-array") ? 2u : 1u) &&
	       is_in(resource, slice, state) && is_in(resource, slice + texture->slices, state);
}

/* Is it a key frame, or a picture that refers to the decoded previous one? */
static bool are_references_right(const D3D12_VIDEO_ENCODER_PICTURE_CONTROL_DESC *control,
				 const D3D12_VIDEO_ENCODER_RECONSTRUCTED_PICTURE *decoded)
{
	const D3D12_VIDEO_ENCODE_REFERENCE_FRAMES *references = &control->ReferenceFrames;
	const unsigned index = double_state.writer.count;
	const unsigned slice = references->NumTexture2Ds > 0 && references->pSubresources != NULL
				       ? references->pSubresources[0]
				       : 0;
	if (control->Flags != D3D12_VIDEO_ENCODER_PICTURE_CONTROL_FLAG_USED_AS_REFERENCE_PICTURE ||
	    (decoded->pReconstructedPicture == last_texture &&
	     decoded->ReconstructedPictureSubresource == last_slice && index > 0) ||
	    !is_slice_in(decoded->pReconstructedPicture, decoded->ReconstructedPictureSubresource,
			 D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE))
		return false;
	return index == 0 ? references->NumTexture2Ds == 0
			  : references->NumTexture2Ds == 1 &&
				    references->ppTexture2Ds[0] == last_texture &&
				    slice == last_slice &&
				    is_slice_in(last_texture, last_slice,
						D3D12_RESOURCE_STATE_VIDEO_ENCODE_READ);
}

static bool is_picture_right(const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS *input)
{
	const D3D12_VIDEO_ENCODER_SEQUENCE_CONTROL_DESC *sequence = &input->SequenceControlDesc;
	const unsigned index = double_state.writer.count;
	return sequence->Flags == D3D12_VIDEO_ENCODER_SEQUENCE_CONTROL_FLAG_NONE &&
	       double_keeps(&sequence->RateControl) &&
	       sequence->PictureTargetResolution.Width == DOUBLE_SIDE &&
	       memcmp(sequence->CodecGopSequence.pH264GroupOfPictures, double_state.group,
		      sequence->CodecGopSequence.DataSize) == 0 &&
	       double_state.codec->is_picture_right(input, index) &&
	       (input->CurrentFrameBitstreamMetadataSize > 0) == (index == 0);
}

static void STDMETHODCALLTYPE encode_frame(
	ID3D12VideoEncodeCommandList2 *list, ID3D12VideoEncoder *encoder,
	ID3D12VideoEncoderHeap *heap, const D3D12_VIDEO_ENCODER_ENCODEFRAME_INPUT_ARGUMENTS *input,
	const D3D12_VIDEO_ENCODER_ENCODEFRAME_OUTPUT_ARGUMENTS *output)
{
	const D3D12_VIDEO_ENCODER_RECONSTRUCTED_PICTURE *decoded = &output->ReconstructedPicture;
	const struct texture *texture = find_texture(input->pInputFrame);
	(void)list;
	commands.wrong =
		commands.wrong || encoder == NULL || heap == NULL || commands.encodes ||
		texture == NULL || texture->reference ||
		!is_in(input->pInputFrame, 0, D3D12_RESOURCE_STATE_VIDEO_ENCODE_READ) ||
		!is_in(input->pInputFrame, 1, D3D12_RESOURCE_STATE_VIDEO_ENCODE_READ) ||
		!is_in(output->Bitstream.pBuffer, 0, D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE) ||
		!is_in(output->EncoderOutputMetadata.pBuffer, 0,
		       D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE);
	commands.flags =
		!are_references_right(&input->PictureControlDesc, decoded)
			? D3D12_VIDEO_ENCODER_ENCODE_ERROR_FLAG_INVALID_REFERENCE_PICTURES
		: !is_picture_right(input)
			? D3D12_VIDEO_ENCODER_ENCODE_ERROR_FLAG_CODEC_PICTURE_CONTROL_NOT_SUPPORTED
			: setting_number("flags", 0);
	commands.encodes = true;
	commands.input = input->pInputFrame;
	commands.bitstream = output->Bitstream.pBuffer;
	commands.metadata = output->EncoderOutputMetadata.pBuffer;
	last_texture = decoded->pReconstructedPicture;
	last_slice = decoded->ReconstructedPictureSubresource;
}

static void STDMETHODCALLTYPE
resolve_metadata(ID3D12VideoEncodeCommandList2 *list,
		 const D3D12_VIDEO_ENCODER_RESOLVE_METADATA_INPUT_ARGUMENTS *input,
		 const D3D12_VIDEO_ENCODER_RESOLVE_METADATA_OUTPUT_ARGUMENTS *output)
{
	(void)list;
	commands.resolves = true;
	commands.resolved = output->ResolvedLayoutMetadata.pBuffer;
	commands.wrong = commands.wrong || input->HWLayoutMetadata.pBuffer != commands.metadata ||
			 input->EncodedPictureEffectiveResolution.Width != DOUBLE_SIDE ||
			 input->EncoderCodec != double_state.codec->number ||
			 input->EncoderInputFormat != DXGI_FORMAT_NV12 ||
			 !is_in(commands.metadata, 0, D3D12_RESOURCE_STATE_VIDEO_ENCODE_READ) ||
			 !is_in(commands.resolved, 0, D3D12_RESOURCE_STATE_VIDEO_ENCODE_WRITE);
}

/* Between lists everything is in the common state. */
static HRESULT STDMETHODCALLTYPE close_list(ID3D12VideoEncodeCommandList2 *list)
{
	const int failure = setting_enter("Close");
	(void)list;
	for (size_t i = 0; i < STATES; i++)
		commands.wrong = commands.wrong || states[i].state != D3D12_RESOURCE_STATE_COMMON;
	commands.closed = true;
	return failure != 0						   ? failure
	       : commands.wrong || !commands.encodes || !commands.resolves ? E_INVALIDARG
									   : S_OK;
}

static HRESULT STDMETHODCALLTYPE reset_list(ID3D12VideoEncodeCommandList2 *list,
					    ID3D12CommandAllocator *allocator)
{
	const int failure = setting_enter("Reset");
	(void)list;
	(void)allocator;
	memset(&commands, 0, sizeof(commands));
	return failure;
}

static HRESULT STDMETHODCALLTYPE reset_allocator(ID3D12CommandAllocator *allocator)
{
	(void)allocator;
	return S_OK;
}

static uint8_t *map(ID3D12Resource *resource)
{
	void *memory = NULL;
	(void)ID3D12Resource_Map(resource, 0, NULL, &memory);
	return memory;
}

/* Writes one part, or two that each begin with padding. */
static void write_parts(const struct text *stream, uint8_t *out,
			struct d3d12video_metadata *reported)
{
	const size_t parts = setting_has("parts") ? 2 : 1;
	const size_t padding = parts > 1 ? PADDING : 0;
	size_t at = 0;
	for (size_t i = 0; i < parts && stream->size > 0; i++) {
		const size_t from = i * stream->size / parts;
		const size_t size = (i + 1) * stream->size / parts - from;
		memset(out + at, 0xEE, padding);
		memcpy(out + at + padding, stream->data + from, size);
		reported->parts[i].bSize = padding + size;
		reported->parts[i].bStartOffset = padding;
		at += padding + size;
	}
	reported->head.EncodedBitstreamWrittenBytesCount = at;
	reported->head.WrittenSubregionsCount = stream->size > 0 ? parts : 0;
}

static void report(const struct d3d12video_metadata *reported)
{
	uint8_t *out = map(commands.resolved);
	const size_t parts = (size_t)reported->head.WrittenSubregionsCount;
	memcpy(out, reported, sizeof(*reported));
	if (double_state.codec->report_values != NULL && parts <= D3D12VIDEO_PARTS_MAX)
		double_state.codec->report_values(out + sizeof(reported->head) +
						  parts * sizeof(reported->parts[0]));
}

static void run_commands(void)
{
	static const struct text nothing;
	struct h264_pcm *writer = &double_state.writer;
	struct d3d12video_metadata reported = {.head.EncodeErrorFlags = commands.flags};
	struct text stream = {0};
	writer->source = (struct video_source){.width = DOUBLE_SIDE, .height = DOUBLE_SIDE};
	writer->given = &nothing; /* the caller writes the parameter sets */
	double_state.removed = setting_number("removed", SIZE_MAX) == writer->count;
	const struct video_planes planes =
		video_planes_of(&writer->source, VIDEO_NV12, map(commands.input));
	h264_pcm_add(writer, VIDEO_NV12, &planes, &stream);
	write_parts(&stream, map(commands.bitstream), &reported);
	if (setting_has("overfull"))
		reported.parts[0].bSize = UINT64_MAX;
	if (setting_has("crowded"))
		reported.head.WrittenSubregionsCount = UINT64_MAX;
	if (!setting_has("silent"))
		report(&reported);
	text_free(&stream);
}

static void STDMETHODCALLTYPE execute(ID3D12CommandQueue *queue, UINT count,
				      ID3D12CommandList *const *lists)
{
	(void)queue;
	if (count == 1 && (const void *)lists[0] == &double_list && commands.closed)
		run_commands();
}

static HRESULT STDMETHODCALLTYPE signal(ID3D12CommandQueue *queue, ID3D12Fence *fence, UINT64 value)
{
	const int failure = setting_enter("Signal");
	(void)queue;
	if (failure != 0)
		return failure;
	return setting_has("hang") ? S_OK : ID3D12Fence_Signal(fence, value);
}

static ULONG STDMETHODCALLTYPE release_queue(ID3D12CommandQueue *object)
{
	(void)object;
	return (ULONG)--d3d12video_double_alive;
}

static ULONG STDMETHODCALLTYPE release_allocator(ID3D12CommandAllocator *object)
{
	(void)object;
	return (ULONG)--d3d12video_double_alive;
}

static ULONG STDMETHODCALLTYPE release_list(ID3D12VideoEncodeCommandList2 *object)
{
	(void)object;
	return (ULONG)--d3d12video_double_alive;
}

void double_install_commands(ID3D12GraphicsCommandListVtbl *list_methods)
{
	static ID3D12CommandQueueVtbl queue_table = {
		.Release = release_queue,
		.ExecuteCommandLists = execute,
		.Signal = signal,
	};
	static ID3D12CommandAllocatorVtbl allocator_table = {
		.Release = release_allocator,
		.Reset = reset_allocator,
	};
	static ID3D12VideoEncodeCommandList2Vtbl list_table = {
		.Release = release_list,
		.Close = close_list,
		.Reset = reset_list,
		.ResourceBarrier = set_barriers,
		.EncodeFrame = encode_frame,
		.ResolveEncoderOutputMetadata = resolve_metadata,
	};
	double_queue.lpVtbl = &queue_table;
	double_allocator.lpVtbl = &allocator_table;
	double_list.lpVtbl = &list_table;
	list_original = *list_methods;
	list_methods->CopyTextureRegion = copy_texture;
}
