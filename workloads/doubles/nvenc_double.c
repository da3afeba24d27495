/* SPDX-License-Identifier: MIT */

/*
 * The encode library of NVIDIA's driver for tests, found by its name through LD_LIBRARY_PATH, on
 * Windows loaded before the probe's own code asks for it. Its streams carry the caller's pixels
 * unchanged (h264_pcm.h, with its faults), so it encodes frames of at most 64 by 64.
 *
 * In addition to the words of settings.h:
 *
 *   api=N        the newest version, packed: 193 is 12.1 (default), 177 is 11.1
 *   codecs=all   it reports HEVC and AV1, too; their output is H.264
 *   hold=N       it needs N more frames before the first output
 *   partial      a lock that does not wait gives half a picture; otherwise it says once that it is
 *                busy
 *   hang         a lock that does not wait is busy for ever
 *   busy         every other frame is refused at first
 *   hole         a function is missing in the table
 *   null         opening a session succeeds without a session
 *   nowhere      locking an input succeeds without memory
 *   nowhere-out  so does locking an output
 *   long         a picture reports a length of 16 MB
 */

#include "workloads/doubles/h264_pcm.h"
#include "workloads/doubles/settings.h"
#include "workloads/video/frames.h"

#include <ffnvcodec/nvEncodeAPI.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __ELF__
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT __attribute__((dllexport))
#endif

#define API(major, minor) ((uint32_t)(major) | (uint32_t)(minor) << 24)
#define MARK		  (1u << 31)

enum { SIDE_MAX = 64, PITCH = 128, PICTURES = VIDEO_FRAMES };

struct picture {
	uint8_t samples[PITCH * SIDE_MAX * 3 / 2];
	struct text bytes;
	bool asked, locked;
};

struct session {
	uint32_t api;
	struct h264_pcm writer;
	unsigned inputs, outputs, taken;
	bool busy, ended;
	struct picture pictures[PICTURES];
};

static const GUID codec_av1 = {
	0x0a352289, 0x0aa7, 0x4759, {0x86, 0x2d, 0x5d, 0x15, 0xcd, 0x16, 0xd2, 0x54}};

EXPORT NVENCSTATUS NVENCAPI NvEncodeAPIGetMaxSupportedVersion(uint32_t *version);
EXPORT NVENCSTATUS NVENCAPI NvEncodeAPICreateInstance(NV_ENCODE_API_FUNCTION_LIST *list);

/* Returns the configured failure. */
#define ENTER(name)                                                                                \
	do {                                                                                       \
		const NVENCSTATUS failure_ = (NVENCSTATUS)setting_enter(#name);                    \
		if (failure_ != NV_ENC_SUCCESS)                                                    \
			return failure_;                                                           \
	} while (0)

static bool is_newest(const struct session *s)
{
	return s->api == API(12, 1);
}

/* The version word that the session's version requires in a structure; 11.1 and 12.1 number some differently. */
static bool is_version(const struct session *s, uint32_t word, uint32_t old, uint32_t new,
		       uint32_t mark)
{
	return word == (s->api | (is_newest(s) ? new : old) << 16 | 7u << 28 | mark);
}

static NVENCSTATUS NVENCAPI open_session(NV_ENC_OPEN_ENCODE_SESSION_EX_PARAMS *params, void **out)
{
	ENTER(nvEncOpenEncodeSessionEx);
	struct session *s = calloc(1, sizeof(*s));
	if (s == NULL || params->device == NULL) {
		free(s);
		return NV_ENC_ERR_INVALID_ENCODERDEVICE;
	}
	s->api = params->apiVersion;
	if ((s->api != API(12, 1) && s->api != API(11, 1)) ||
	    !is_version(s, params->version, 1, 1, 0)) {
		free(s);
		return NV_ENC_ERR_INVALID_VERSION;
	}
	if (setting_has("null"))
		free(s);
	*out = setting_has("null") ? NULL : s;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI get_codecs(void *encoder, GUID *guids, uint32_t size, uint32_t *count)
{
	const GUID *const known[] = {&NV_ENC_CODEC_H264_GUID, &NV_ENC_CODEC_HEVC_GUID, &codec_av1};
	const struct session *s = encoder;
	ENTER(nvEncGetEncodeGUIDs);
	*count = 0;
	for (uint32_t i = 0; i < (setting_has("codecs=all") ? 3u : 1u) && *count < size; i++) {
		if (i < 2 || is_newest(s))
			guids[(*count)++] = *known[i];
	}
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI get_profiles(void *encoder, GUID codec, GUID *guids, uint32_t size,
					 uint32_t *count)
{
	const bool h264 = memcmp(&codec, &NV_ENC_CODEC_H264_GUID, sizeof(codec)) == 0;
	(void)encoder;
	ENTER(nvEncGetEncodeProfileGUIDs);
	if (size < 2)
		return NV_ENC_ERR_NOT_ENOUGH_BUFFER;
	guids[0] = h264 ? NV_ENC_H264_PROFILE_BASELINE_GUID : NV_ENC_HEVC_PROFILE_MAIN_GUID;
	guids[1] = h264 ? NV_ENC_H264_PROFILE_HIGH_GUID : NV_ENC_HEVC_PROFILE_MAIN10_GUID;
	*count = 2;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI get_caps(void *encoder, GUID codec, NV_ENC_CAPS_PARAM *params,
				     int *value)
{
	static const struct {
		NV_ENC_CAPS what;
		int value;
	} capabilities[] = {
		{NV_ENC_CAPS_WIDTH_MAX, SIDE_MAX}, {NV_ENC_CAPS_HEIGHT_MAX, SIDE_MAX},
		{NV_ENC_CAPS_WIDTH_MIN, 32},	   {NV_ENC_CAPS_HEIGHT_MIN, 32},
		{NV_ENC_CAPS_NUM_MAX_BFRAMES, 4},
	};
	ENTER(nvEncGetEncodeCaps);
	if (!is_version(encoder, params->version, 1, 1, 0))
		return NV_ENC_ERR_INVALID_VERSION;
	*value = params->capsToQuery == NV_ENC_CAPS_SUPPORT_10BIT_ENCODE &&
		 memcmp(&codec, &NV_ENC_CODEC_HEVC_GUID, sizeof(codec)) == 0;
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
		if (capabilities[i].what == params->capsToQuery)
			*value = capabilities[i].value;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI get_preset(void *encoder, GUID codec, GUID preset,
				       NV_ENC_TUNING_INFO tuning, NV_ENC_PRESET_CONFIG *params)
{
	(void)codec;
	ENTER(nvEncGetEncodePresetConfigEx);
	if (!is_version(encoder, params->version, 4, 4, MARK) ||
	    !is_version(encoder, params->presetCfg.version, 7, 8, MARK))
		return NV_ENC_ERR_INVALID_VERSION;
	if (memcmp(&preset, &NV_ENC_PRESET_P4_GUID, sizeof(preset)) != 0 ||
	    tuning != NV_ENC_TUNING_INFO_LOW_LATENCY)
		return NV_ENC_ERR_UNSUPPORTED_PARAM;
	params->presetCfg.frameIntervalP = 1;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI initialize(void *encoder, NV_ENC_INITIALIZE_PARAMS *params)
{
	struct session *s = encoder;
	ENTER(nvEncInitializeEncoder);
	if (!is_version(s, params->version, 5, 6, MARK) ||
	    !is_version(s, params->encodeConfig->version, 7, 8, MARK))
		return NV_ENC_ERR_INVALID_VERSION;
	if (params->encodeWidth == 0 || params->encodeWidth > SIDE_MAX ||
	    params->encodeHeight > SIDE_MAX || params->frameRateNum != VIDEO_RATE ||
	    params->enableEncodeAsync != 0 || params->enablePTD != 1 ||
	    params->encodeConfig->frameIntervalP != 1 ||
	    params->encodeConfig->rcParams.averageBitRate == 0)
		return NV_ENC_ERR_INVALID_PARAM;
	s->writer.source.width = params->encodeWidth;
	s->writer.source.height = params->encodeHeight;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI create_input(void *encoder, NV_ENC_CREATE_INPUT_BUFFER *params)
{
	struct session *s = encoder;
	ENTER(nvEncCreateInputBuffer);
	if (!is_version(s, params->version, 1, 1, 0))
		return NV_ENC_ERR_INVALID_VERSION;
	if (s->writer.source.width == 0)
		return NV_ENC_ERR_ENCODER_NOT_INITIALIZED;
	if (params->bufferFmt != NV_ENC_BUFFER_FORMAT_NV12 || s->inputs == PICTURES)
		return NV_ENC_ERR_INVALID_PARAM;
	params->inputBuffer = &s->pictures[s->inputs++];
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI destroy_input(void *encoder, NV_ENC_INPUT_PTR input)
{
	struct session *s = encoder;
	(void)input;
	s->inputs--;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI lock_input(void *encoder, NV_ENC_LOCK_INPUT_BUFFER *params)
{
	struct picture *picture = params->inputBuffer;
	ENTER(nvEncLockInputBuffer);
	if (!is_version(encoder, params->version, 1, 1, 0))
		return NV_ENC_ERR_INVALID_VERSION;
	params->bufferDataPtr = setting_has("nowhere") ? NULL : picture->samples;
	params->pitch = PITCH;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI unlock_input(void *encoder, NV_ENC_INPUT_PTR input)
{
	(void)encoder;
	(void)input;
	ENTER(nvEncUnlockInputBuffer);
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI create_output(void *encoder, NV_ENC_CREATE_BITSTREAM_BUFFER *params)
{
	struct session *s = encoder;
	ENTER(nvEncCreateBitstreamBuffer);
	if (!is_version(s, params->version, 1, 1, 0))
		return NV_ENC_ERR_INVALID_VERSION;
	params->bitstreamBuffer = &s->pictures[s->outputs++];
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI destroy_output(void *encoder, NV_ENC_OUTPUT_PTR output)
{
	struct session *s = encoder;
	(void)output;
	s->outputs--;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI encode(void *encoder, NV_ENC_PIC_PARAMS *params)
{
	struct session *s = encoder;
	struct picture *input = params->inputBuffer, *output = params->outputBitstream;
	ENTER(nvEncEncodePicture);
	if (!is_version(s, params->version, 4, 6, MARK))
		return NV_ENC_ERR_INVALID_VERSION;
	s->ended = (params->encodePicFlags & NV_ENC_PIC_FLAG_EOS) != 0;
	s->busy = !s->busy && setting_has("busy");
	if (s->ended)
		return NV_ENC_SUCCESS;
	if (s->busy)
		return NV_ENC_ERR_ENCODER_BUSY;
	if (params->pictureStruct != NV_ENC_PIC_STRUCT_FRAME || params->inputPitch != PITCH)
		return NV_ENC_ERR_INVALID_PARAM;
	const struct video_planes planes = {
		{input->samples, input->samples + (size_t)PITCH * s->writer.source.height, NULL},
		{PITCH, PITCH, 0},
	};
	h264_pcm_add(&s->writer, VIDEO_NV12, &planes, &output->bytes);
	return s->taken++ < setting_number("hold", 0) ? NV_ENC_ERR_NEED_MORE_INPUT : NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI lock_output(void *encoder, NV_ENC_LOCK_BITSTREAM *params)
{
	struct session *s = encoder;
	struct picture *picture = params->outputBitstream;
	const bool asked = picture->asked;
	ENTER(nvEncLockBitstream);
	if (!is_version(s, params->version, 1, 1, is_newest(s) ? MARK : 0))
		return NV_ENC_ERR_INVALID_VERSION;
	if (picture->locked || (!s->ended && s->taken <= setting_number("hold", 0)))
		return NV_ENC_ERR_INVALID_CALL;
	picture->asked = true;
	if (params->doNotWait && (setting_has("hang") || (!asked && !setting_has("partial"))))
		return NV_ENC_ERR_LOCK_BUSY;
	picture->locked = true;
	params->bitstreamBufferPtr = setting_has("nowhere-out") ? NULL : picture->bytes.data;
	params->bitstreamSizeInBytes = (uint32_t)picture->bytes.size;
	if (params->doNotWait && setting_has("partial"))
		params->bitstreamSizeInBytes /= 2;
	if (setting_has("long"))
		params->bitstreamSizeInBytes = 16u << 20;
	return NV_ENC_SUCCESS;
}

static NVENCSTATUS NVENCAPI unlock_output(void *encoder, NV_ENC_OUTPUT_PTR output)
{
	struct picture *picture = output;
	(void)encoder;
	ENTER(nvEncUnlockBitstream);
	if (!picture->locked)
		return NV_ENC_ERR_INVALID_CALL;
	picture->locked = false;
	return NV_ENC_SUCCESS;
}

/* Reports remaining objects on stderr, where the probe's tests look for it. */
static NVENCSTATUS NVENCAPI destroy(void *encoder)
{
	struct session *s = encoder;
	if (s->inputs != 0 || s->outputs != 0)
		(void)fprintf(stderr, "nvenc double: %u inputs and %u outputs are left\n",
			      s->inputs, s->outputs);
	for (size_t i = 0; i < PICTURES; i++)
		text_free(&s->pictures[i].bytes);
	h264_pcm_free(&s->writer);
	free(s);
	return NV_ENC_SUCCESS;
}

NVENCSTATUS NVENCAPI NvEncodeAPIGetMaxSupportedVersion(uint32_t *version)
{
	ENTER(NvEncodeAPIGetMaxSupportedVersion);
	*version = (uint32_t)setting_number("api", 12 << 4 | 1);
	return NV_ENC_SUCCESS;
}

NVENCSTATUS NVENCAPI NvEncodeAPICreateInstance(NV_ENCODE_API_FUNCTION_LIST *list)
{
	const uint32_t version = list->version;
	ENTER(NvEncodeAPICreateInstance);
	if (version != (API(12, 1) | 2u << 16 | 7u << 28) &&
	    version != (API(11, 1) | 2u << 16 | 7u << 28))
		return NV_ENC_ERR_INVALID_VERSION;
	*list = (NV_ENCODE_API_FUNCTION_LIST){
		.version = version,
		.nvEncOpenEncodeSessionEx = open_session,
		.nvEncGetEncodeGUIDs = get_codecs,
		.nvEncGetEncodeProfileGUIDs = get_profiles,
		.nvEncGetEncodeCaps = get_caps,
		.nvEncGetEncodePresetConfigEx = get_preset,
		.nvEncInitializeEncoder = initialize,
		.nvEncCreateInputBuffer = create_input,
		.nvEncDestroyInputBuffer = destroy_input,
		.nvEncLockInputBuffer = lock_input,
		.nvEncUnlockInputBuffer = unlock_input,
		.nvEncCreateBitstreamBuffer = create_output,
		.nvEncDestroyBitstreamBuffer = destroy_output,
		.nvEncEncodePicture = setting_has("hole") ? NULL : encode,
		.nvEncLockBitstream = lock_output,
		.nvEncUnlockBitstream = unlock_output,
		.nvEncDestroyEncoder = destroy,
	};
	return NV_ENC_SUCCESS;
}
