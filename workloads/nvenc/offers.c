/* SPDX-License-Identifier: MIT */
/* What a device encodes: a session is asked, and closed again. */
#include "workloads/nvenc/nvenc.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

enum { GUIDS_MAX = 32 };

struct profile {
	const GUID *guid;
	const char *name;
};

/* NV_ENC_AV1_PROFILE_MAIN_GUID, of 12.0. */
static const GUID av1_main = {
	0x5f2a39f5, 0xf14e, 0x4f95, {0x9a, 0x9e, 0xb7, 0x6d, 0x56, 0x8f, 0xcf, 0x97}};

static const struct profile profiles[] = {
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

static bool is_same(const GUID *one, const GUID *other)
{
	return memcmp(one, other, sizeof(*one)) == 0;
}

static int ask_limits(const struct nvenc *nvenc, void *encoder, struct video_offer *offer,
		      struct call_failure *failure, struct error *err)
{
	static const NV_ENC_CAPS caps[] = {
		NV_ENC_CAPS_WIDTH_MIN,	     NV_ENC_CAPS_HEIGHT_MIN,
		NV_ENC_CAPS_WIDTH_MAX,	     NV_ENC_CAPS_HEIGHT_MAX,
		NV_ENC_CAPS_NUM_MAX_BFRAMES, NV_ENC_CAPS_SUPPORT_10BIT_ENCODE,
	};
	unsigned values[ARRAY_SIZE(caps)] = {0};
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		NV_ENC_CAPS_PARAM params = {.version = nvenc->versions->other,
					    .capsToQuery = caps[i]};
		int value = 0;
		int rc = NVENC_CALL(nvenc, failure, err, nvEncGetEncodeCaps, encoder,
				    *nvenc_codecs[offer->codec], &params, &value);
		if (rc != 0)
			return rc;
		values[i] = value > 0 ? (unsigned)value : 0;
	}
	offer->least = (struct video_size){values[0], values[1]};
	offer->most = (struct video_size){values[2], values[3]};
	offer->b_frames = (int)values[4];
	offer->ten_bit = values[5] != 0;
	return 0;
}

static int ask_profiles(const struct nvenc *nvenc, void *encoder, struct video_offer *offer,
			struct call_failure *failure, struct error *err)
{
	GUID guids[GUIDS_MAX] = {0};
	uint32_t count = 0;
	int rc = NVENC_CALL(nvenc, failure, err, nvEncGetEncodeProfileGUIDs, encoder,
			    *nvenc_codecs[offer->codec], guids, GUIDS_MAX, &count);
	for (uint32_t i = 0; rc == 0 && i < count && i < GUIDS_MAX; i++) {
		for (size_t p = 0; p < ARRAY_SIZE(profiles); p++) {
			if (is_same(profiles[p].guid, &guids[i]))
				video_offer_add_profile(offer, profiles[p].name);
		}
	}
	return rc;
}

static int list_codec(const struct nvenc *nvenc, void *encoder, const GUID *guid,
		      struct video_offers *offers, struct error *err)
{
	struct video_offer *offer = NULL;
	for (int i = 0; i < VIDEO_CODECS && offer == NULL; i++) {
		if (is_same(guid, nvenc_codecs[i]))
			offer = video_offer_add(offers, (enum video_codec)i);
	}
	if (offer == NULL)
		return 0;
	offer->hardware = true;
	(void)snprintf(offer->name, sizeof(offer->name), "NVENC");
	int rc = ask_limits(nvenc, encoder, offer, &offers->failure, err);
	return rc == 0 ? ask_profiles(nvenc, encoder, offer, &offers->failure, err) : rc;
}

int nvenc_list(void *session, const struct work_request *request, struct video_offers *offers,
	       struct error *err)
{
	struct nvenc *nvenc = session;
	GUID guids[GUIDS_MAX] = {0};
	uint32_t count = 0;
	void *encoder = NULL;
	int rc = nvenc_device_open(nvenc, request->device, &offers->failure, err);
	if (rc == 0)
		rc = nvenc_open_session(nvenc, &encoder, &offers->failure, err);
	if (rc == 0)
		rc = NVENC_CALL(nvenc, &offers->failure, err, nvEncGetEncodeGUIDs, encoder, guids,
				GUIDS_MAX, &count);
	for (uint32_t i = 0; rc == 0 && i < count && i < GUIDS_MAX; i++)
		rc = list_codec(nvenc, encoder, &guids[i], offers, err);
	if (encoder != NULL)
		(void)nvenc->calls.nvEncDestroyEncoder(encoder);
	return rc;
}
