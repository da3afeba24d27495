/* SPDX-License-Identifier: MIT */
/* What a device encodes: a session is asked, and closed again. */
#include "workloads/nvenc/nvenc.h"

#include "base/cleanup.h"

#include <stdio.h>

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

static int ask(struct nvenc *nvenc, void *encoder, enum video_codec codec, NV_ENC_CAPS what,
	       int *value, struct error *err)
{
	NV_ENC_CAPS_PARAM params = {.version = nvenc_version(nvenc), .capsToQuery = what};
	*value = 0;
	return NVENC_CALL(nvenc, &nvenc->failure, err, nvEncGetEncodeCaps, encoder,
			  *nvenc_codec(codec), &params, value);
}

static unsigned side(int value)
{
	return value > 0 ? (unsigned)value : 0;
}

static int ask_limits(struct nvenc *nvenc, void *encoder, struct video_offer *offer,
		      struct error *err)
{
	int values[6] = {0};
	static const NV_ENC_CAPS caps[] = {
		NV_ENC_CAPS_WIDTH_MIN,	     NV_ENC_CAPS_HEIGHT_MIN,
		NV_ENC_CAPS_WIDTH_MAX,	     NV_ENC_CAPS_HEIGHT_MAX,
		NV_ENC_CAPS_NUM_MAX_BFRAMES, NV_ENC_CAPS_SUPPORT_10BIT_ENCODE,
	};
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++) {
		int rc = ask(nvenc, encoder, offer->codec, caps[i], &values[i], err);
		if (rc != 0)
			return rc;
	}
	offer->least = (struct video_size){side(values[0]), side(values[1])};
	offer->most = (struct video_size){side(values[2]), side(values[3])};
	offer->b_frames = values[4] > 0 ? values[4] : 0;
	offer->ten_bit = values[5] != 0;
	return 0;
}

static void add_name(struct video_offer *offer, const GUID *guid)
{
	char *name CLEANUP_FREE = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(profiles) && name == NULL; i++) {
		if (nvenc_is_same(profiles[i].guid, guid))
			name = text_format("%s%s%s", offer->profiles,
					   offer->profiles[0] != '\0' ? " " : "", profiles[i].name);
	}
	if (name != NULL)
		(void)snprintf(offer->profiles, sizeof(offer->profiles), "%s", name);
}

static int ask_profiles(struct nvenc *nvenc, void *encoder, struct video_offer *offer,
			struct error *err)
{
	GUID guids[GUIDS_MAX] = {0};
	uint32_t count = 0;
	int rc = NVENC_CALL(nvenc, &nvenc->failure, err, nvEncGetEncodeProfileGUIDs, encoder,
			    *nvenc_codec(offer->codec), guids, GUIDS_MAX, &count);
	for (uint32_t i = 0; rc == 0 && i < count && i < GUIDS_MAX; i++)
		add_name(offer, &guids[i]);
	return rc;
}

static int list_codec(struct nvenc *nvenc, void *encoder, const GUID *guid,
		      struct video_offers *offers, struct error *err)
{
	struct video_offer *offer = NULL;
	for (int i = 0; i < VIDEO_CODECS && offer == NULL; i++) {
		if (nvenc_is_same(guid, nvenc_codec((enum video_codec)i)))
			offer = video_offer_add(offers, (enum video_codec)i);
	}
	if (offer == NULL)
		return 0;
	offer->hardware = true;
	(void)snprintf(offer->name, sizeof(offer->name), "NVENC");
	int rc = ask_limits(nvenc, encoder, offer, err);
	return rc == 0 ? ask_profiles(nvenc, encoder, offer, err) : rc;
}

int nvenc_list(void *session, const struct work_request *request, struct video_offers *offers,
	       struct error *err)
{
	struct nvenc *nvenc = session;
	GUID guids[GUIDS_MAX] = {0};
	uint32_t count = 0;
	void *encoder = NULL;
	int rc = nvenc_device_open(nvenc, request->device, err);
	if (rc == 0)
		rc = nvenc_open_session(nvenc, &encoder, &nvenc->failure, err);
	if (rc == 0)
		rc = NVENC_CALL(nvenc, &nvenc->failure, err, nvEncGetEncodeGUIDs, encoder, guids,
				GUIDS_MAX, &count);
	for (uint32_t i = 0; rc == 0 && i < count && i < GUIDS_MAX; i++)
		rc = list_codec(nvenc, encoder, &guids[i], offers, err);
	if (encoder != NULL)
		(void)nvenc->calls.nvEncDestroyEncoder(encoder);
	return rc;
}
