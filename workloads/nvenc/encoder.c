/* SPDX-License-Identifier: MIT */
/* The codecs that a device encodes, which a session of its own reports; then one stream of one
 * session: each frame has buffers of its own, so that none has to wait. */
#include "workloads/nvenc/nvenc.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

/* NV_ENC_CODEC_AV1_GUID, of 12.0. */
static const GUID codec_av1 = {
	0x0a352289, 0x0aa7, 0x4759, {0x86, 0x2d, 0x5d, 0x15, 0xcd, 0x16, 0xd2, 0x54}};

static const GUID *const codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = &NV_ENC_CODEC_H264_GUID,
	[VIDEO_HEVC] = &NV_ENC_CODEC_HEVC_GUID,
	[VIDEO_AV1] = &codec_av1,
};

enum { GUIDS_MAX = 32 };

/* NV_ENC_AV1_PROFILE_MAIN_GUID, of 12.0. */
static const GUID av1_main = {
	0x5f2a39f5, 0xf14e, 0x4f95, {0x9a, 0x9e, 0xb7, 0x6d, 0x56, 0x8f, 0xcf, 0x97}};

static const struct {
	const GUID *guid;
	const char *name;
} profiles[] = {
	{&NV_ENC_H264_PROFILE_BASELINE_GUID, "baseline"},
	{&NV_ENC_H264_PROFILE_MAIN_GUID, "main"},
	{&NV_ENC_H264_PROFILE_HIGH_GUID, "high"},
	{&NV_ENC_H264_PROFILE_HIGH_444_GUID, "high444"},
	{&NV_ENC_H264_PROFILE_STEREO_GUID, "stereo"},
	{&NV_ENC_H264_PROFILE_PROGRESSIVE_HIGH_GUID, "progressive-high"},
	{&NV_ENC_H264_PROFILE_CONSTRAINED_HIGH_GUID, "constrained-high"},
	{&NV_ENC_HEVC_PROFILE_MAIN_GUID, "main"},
	{&NV_ENC_HEVC_PROFILE_MAIN10_GUID, "main10"},
	{&NV_ENC_HEVC_PROFILE_FREXT_GUID, "rext"},
	{&av1_main, "main"},
};

/* *encoder, NULL before the call, may be set although this fails. */
static int open_session(const struct nvenc *nvenc, void **encoder, struct call_failure *failure,
			struct error *err)
{
	NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS params = {
		.version = nvenc->versions->other,
		.deviceType = nvenc_device_type,
		.device = nvenc->device,
		.apiVersion = nvenc->versions->api,
	};

	int rc = NVENC_CALL(nvenc, failure, err, nvEncOpenEncodeSessionEx, &params, encoder);
	if (rc == 0 && *encoder == NULL)
		return error_set(err, ERROR_REMOTE,
				 "nvEncOpenEncodeSessionEx succeeded and opened no session");
	return rc;
}

static bool is_same(const GUID *one, const GUID *other)
{
	return memcmp(one, other, sizeof(*one)) == 0;
}

/* Adds the offer of a codec, unless the codec is unknown here. */
static int list_codec(const struct nvenc *nvenc, void *encoder, const GUID *guid,
		      struct video_offers *offers, struct error *err)
{
	static const NV_ENC_CAPS caps[] = {
		NV_ENC_CAPS_WIDTH_MIN,	     NV_ENC_CAPS_HEIGHT_MIN,
		NV_ENC_CAPS_WIDTH_MAX,	     NV_ENC_CAPS_HEIGHT_MAX,
		NV_ENC_CAPS_NUM_MAX_BFRAMES, NV_ENC_CAPS_SUPPORT_10BIT_ENCODE,
	};
	unsigned values[ARRAY_SIZE(caps)] = {0};
	struct video_offer *offer = NULL;
	GUID guids[GUIDS_MAX] = {0};
	uint32_t count = 0;

	for (int i = 0; i < VIDEO_CODECS && offer == NULL; i++) {
		if (is_same(guid, codecs[i]))
			offer = video_offer_add(offers, (enum video_codec)i);
	}
	if (offer == NULL)
		return 0;
	offer->hardware = true;
	(void)snprintf(offer->name, sizeof(offer->name), "NVENC");

	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		NV_ENC_CAPS_PARAM params = {.version = nvenc->versions->other,
					    .capsToQuery = caps[i]};
		int value = 0;
		int rc = NVENC_CALL(nvenc, &offers->failure, err, nvEncGetEncodeCaps, encoder,
				    *codecs[offer->codec], &params, &value);
		if (rc != 0)
			return rc;
		values[i] = value > 0 ? (unsigned)value : 0;
	}
	offer->least = (struct video_size){values[0], values[1]};
	offer->most = (struct video_size){values[2], values[3]};
	offer->b_frames = (int)values[4];
	offer->ten_bit = values[5] != 0;

	int rc = NVENC_CALL(nvenc, &offers->failure, err, nvEncGetEncodeProfileGUIDs, encoder,
			    *codecs[offer->codec], guids, GUIDS_MAX, &count);
	for (uint32_t i = 0; rc == 0 && i < count && i < GUIDS_MAX; i++) {
		for (size_t p = 0; p < ARRAY_SIZE(profiles); p++) {
			if (is_same(profiles[p].guid, &guids[i]))
				video_offer_add_profile(offer, profiles[p].name);
		}
	}
	return rc;
}

static int list(void *session, const struct work_request *request, struct video_offers *offers,
		struct error *err)
{
	struct nvenc *nvenc = session;
	GUID guids[GUIDS_MAX] = {0};
	uint32_t count = 0;
	void *encoder = NULL;

	int rc = nvenc_device_open(nvenc, request->device, &offers->failure, err);
	if (rc == 0)
		rc = open_session(nvenc, &encoder, &offers->failure, err);
	if (rc == 0)
		rc = NVENC_CALL(nvenc, &offers->failure, err, nvEncGetEncodeGUIDs, encoder, guids,
				GUIDS_MAX, &count);
	for (uint32_t i = 0; rc == 0 && i < count && i < GUIDS_MAX; i++)
		rc = list_codec(nvenc, encoder, &guids[i], offers, err);
	if (encoder != NULL)
		(void)nvenc->calls.nvEncDestroyEncoder(encoder);
	return rc;
}

struct encoder {
	struct nvenc *nvenc;
	const struct video_job *job;
	void *session;
	NV_ENC_INPUT_PTR inputs[VIDEO_FRAMES];
	NV_ENC_OUTPUT_PTR outputs[VIDEO_FRAMES];
	unsigned put;	/* frames that it accepted */
	unsigned ready; /* frames among these whose outputs may be locked */
	unsigned got;
	bool flushed;
};

#define CALL(e, err, function, ...)                                                                \
	NVENC_CALL((e)->nvenc, (e)->job->failure, err, function, (e)->session, __VA_ARGS__)

/* A preset that does not reorder frames, with a rate that is kept over half a second. */
static int initialize(struct encoder *e, struct error *err)
{
	const struct nvenc_versions *versions = e->nvenc->versions;
	const struct video_source *source = &e->job->source;
	const GUID *codec = codecs[e->job->offer->codec];
	NV_ENC_PRESET_CONFIG preset = {.version = versions->preset,
				       .presetCfg = {.version = versions->config}};
	NV_ENC_INITIALIZE_PARAMS params = {
		.version = versions->initialize,
		.encodeGUID = *codec,
		.presetGUID = NV_ENC_PRESET_P4_GUID,
		.tuningInfo = NV_ENC_TUNING_INFO_LOW_LATENCY,
		.encodeWidth = source->width,
		.encodeHeight = source->height,
		.darWidth = source->width,
		.darHeight = source->height,
		.frameRateNum = VIDEO_RATE,
		.frameRateDen = 1,
		.enablePTD = 1,
		.encodeConfig = &preset.presetCfg,
	};

	int rc = CALL(e, err, nvEncGetEncodePresetConfigEx, *codec, params.presetGUID,
		      params.tuningInfo, &preset);
	if (rc != 0)
		return rc;
	NV_ENC_RC_PARAMS *rate = &preset.presetCfg.rcParams;
	preset.presetCfg.version = versions->config;
	rate->rateControlMode = NV_ENC_PARAMS_RC_CBR;
	rate->averageBitRate = VIDEO_BIT_RATE;
	rate->maxBitRate = VIDEO_BIT_RATE;
	rate->vbvBufferSize = VIDEO_BIT_RATE / 2;
	rate->vbvInitialDelay = VIDEO_BIT_RATE / 2;
	return CALL(e, err, nvEncInitializeEncoder, &params);
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct encoder *e = encoder;

	e->nvenc = session;
	e->job = job;
	int rc = open_session(e->nvenc, &e->session, job->failure, err);
	if (rc == 0)
		rc = initialize(e, err);
	for (unsigned i = 0; rc == 0 && i < VIDEO_FRAMES; i++) {
		NV_ENC_CREATE_INPUT_BUFFER input = {
			.version = e->nvenc->versions->other,
			.width = job->source.width,
			.height = job->source.height,
			.bufferFmt = NV_ENC_BUFFER_FORMAT_NV12,
		};
		NV_ENC_CREATE_BITSTREAM_BUFFER output = {.version = e->nvenc->versions->other};

		rc = CALL(e, err, nvEncCreateInputBuffer, &input);
		if (rc != 0)
			return rc;
		e->inputs[i] = input.inputBuffer;
		rc = CALL(e, err, nvEncCreateBitstreamBuffer, &output);
		if (rc == 0)
			e->outputs[i] = output.bitstreamBuffer;
	}
	return rc;
}

static int fill(struct encoder *e, unsigned index, const struct video_planes *frame,
		NV_ENC_PIC_PARAMS *picture, struct error *err)
{
	const struct video_source *source = &e->job->source;
	NV_ENC_LOCK_INPUT_BUFFER lock = {
		.version = e->nvenc->versions->other,
		.inputBuffer = e->inputs[index],
	};

	int rc = CALL(e, err, nvEncLockInputBuffer, &lock);
	if (rc != 0)
		return rc;
	if (lock.bufferDataPtr == NULL || lock.pitch < source->width)
		return error_set(err, ERROR_REMOTE,
				 "nvEncLockInputBuffer succeeded and gave no buffer of %u by %u",
				 source->width, source->height);
	/* U and V directly follow the rows of Y. */
	uint8_t *memory = lock.bufferDataPtr;
	const struct video_planes planes = {
		{memory, memory + (size_t)lock.pitch * source->height, NULL},
		{lock.pitch, lock.pitch, 0},
	};
	video_copy(source, frame, &planes);
	picture->inputPitch = lock.pitch;
	picture->inputBuffer = e->inputs[index];
	picture->outputBitstream = e->outputs[index];
	return CALL(e, err, nvEncUnlockInputBuffer, e->inputs[index]);
}

/* An encoder that needs more frames first (NEED_MORE_INPUT) has accepted this one; when it returns
 * success again, as after the last one, all accepted frames are ready. */
static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = encoder;
	union nvenc_picture picture = {
		.params = {.version = e->nvenc->versions->picture,
			   .inputWidth = e->job->source.width,
			   .inputHeight = e->job->source.height,
			   .bufferFmt = NV_ENC_BUFFER_FORMAT_NV12,
			   .pictureStruct = NV_ENC_PIC_STRUCT_FRAME,
			   .frameIdx = index,
			   .inputTimeStamp = index,
			   .inputDuration = 1},
	};

	if (frame == NULL)
		picture.params.encodePicFlags = NV_ENC_PIC_FLAG_EOS;
	if (frame != NULL) {
		int rc = fill(e, index, frame, &picture.params, err);
		if (rc != 0)
			return rc;
	}

	const NVENCSTATUS result = e->nvenc->calls.nvEncEncodePicture(e->session, &picture.params);
	if (result == NV_ENC_ERR_ENCODER_BUSY)
		return error_set(err, ERROR_BUSY, "the encoder accepts no frame now");
	if (frame == NULL || result != NV_ENC_ERR_NEED_MORE_INPUT) {
		int rc = nvenc_check(result, "nvEncEncodePicture", e->job->failure, err);
		if (rc != 0)
			return rc;
	}
	e->flushed = frame == NULL;
	if (frame != NULL)
		e->put++;
	if (result == NV_ENC_SUCCESS)
		e->ready = e->put;
	return 0;
}

static int lock(struct encoder *e, bool wait, union nvenc_bitstream *bitstream, struct error *err)
{
	*bitstream = (union nvenc_bitstream){
		.params = {.version = e->nvenc->versions->bitstream,
			   .doNotWait = !wait,
			   .outputBitstream = e->outputs[e->got]},
	};

	const NVENCSTATUS result =
		e->nvenc->calls.nvEncLockBitstream(e->session, &bitstream->params);
	if (!wait && result == NV_ENC_ERR_LOCK_BUSY)
		return error_set(err, ERROR_BUSY, "the encoder is not done");
	return nvenc_check(result, "nvEncLockBitstream", e->job->failure, err);
}

/* The first call does not wait, because with a device that hangs a waiting call would never return.
 * Without waiting it may return a part of the picture: a call that waits returns the whole. */
static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct encoder *e = encoder;
	union nvenc_bitstream bitstream = {0};

	*ended = e->got == e->ready && e->flushed;
	if (*ended)
		return 0;
	if (e->got == e->ready)
		return error_set(err, ERROR_BUSY, "nothing is ready yet");
	NV_ENC_OUTPUT_PTR output = e->outputs[e->got];
	int rc = lock(e, false, &bitstream, err);
	if (rc == 0)
		rc = CALL(e, err, nvEncUnlockBitstream, output);
	if (rc == 0)
		rc = lock(e, true, &bitstream, err);
	if (rc == 0)
		rc = video_append(stream, bitstream.params.bitstreamBufferPtr,
				  bitstream.params.bitstreamSizeInBytes, "nvEncLockBitstream", err);
	if (rc == 0)
		rc = CALL(e, err, nvEncUnlockBitstream, output);
	if (rc == 0)
		e->got++;
	return rc;
}

static void close_encoder(void *encoder)
{
	struct encoder *e = encoder;
	const NV_ENCODE_API_FUNCTION_LIST *calls = &e->nvenc->calls;

	for (unsigned i = 0; i < VIDEO_FRAMES; i++) {
		if (e->inputs[i] != NULL)
			(void)calls->nvEncDestroyInputBuffer(e->session, e->inputs[i]);
		if (e->outputs[i] != NULL)
			(void)calls->nvEncDestroyBitstreamBuffer(e->session, e->outputs[i]);
	}
	if (e->session != NULL)
		(void)calls->nvEncDestroyEncoder(e->session);
}

static void end(void *session)
{
	nvenc_device_close(session);
}

const struct video_encoder nvenc_encoder = {
	.layout = VIDEO_NV12,
	.list = list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
	.end = end,
};
