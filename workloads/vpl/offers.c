/* SPDX-License-Identifier: MIT */
#include "workloads/vpl/vpl.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

typedef struct encoder encoder_told;
typedef struct encprofile profile_told;
typedef struct encmemdesc memory_told;

static const mfxU32 codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = MFX_CODEC_AVC,
	[VIDEO_HEVC] = MFX_CODEC_HEVC,
	[VIDEO_AV1] = MFX_CODEC_AV1,
};

static const struct profile_name {
	mfxU32 codec, profile;
	const char *name;
} profile_names[] = {
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_CONSTRAINED_BASELINE, "constrained-baseline"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_BASELINE, "baseline"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_MAIN, "main"},
	{MFX_CODEC_AVC, MFX_PROFILE_AVC_HIGH, "high"},
	{MFX_CODEC_HEVC, MFX_PROFILE_HEVC_MAIN, "main"},
	{MFX_CODEC_HEVC, MFX_PROFILE_HEVC_MAIN10, "main10"},
	{MFX_CODEC_AV1, MFX_PROFILE_AV1_MAIN, "main"},
};

mfxU32 vpl_codec_id(enum video_codec codec)
{
	return codecs[codec];
}

static void add_name(struct video_offer *offer, mfxU32 codec, mfxU32 profile)
{
	const size_t used = strlen(offer->profiles);
	for (size_t i = 0; i < ARRAY_SIZE(profile_names); i++) {
		if (profile_names[i].codec == codec && profile_names[i].profile == profile)
			(void)snprintf(offer->profiles + used, sizeof(offer->profiles) - used,
				       "%s%s", used > 0 ? " " : "", profile_names[i].name);
	}
}

/* Of frames of 8 bits in NV12, and whether there are any of 10 bits. */
static void add_memory(struct video_offer *offer, const memory_told *memory)
{
	for (size_t i = 0; memory->ColorFormats != NULL && i < memory->NumColorFormats; i++) {
		if (memory->ColorFormats[i] == MFX_FOURCC_P010)
			offer->ten_bit = 1;
		if (memory->ColorFormats[i] != MFX_FOURCC_NV12 || offer->most.width != 0)
			continue;
		offer->least = (struct video_size){memory->Width.Min, memory->Height.Min};
		offer->most = (struct video_size){memory->Width.Max, memory->Height.Max};
	}
}

static void add_codec(struct video_offer *offer, const encoder_told *told)
{
	offer->hardware = true;
	offer->ten_bit = 0;
	if (!told->BiDirectionalPrediction)
		offer->b_frames = 0;
	for (size_t i = 0; told->Profiles != NULL && i < told->NumProfiles; i++) {
		const profile_told *profile = &told->Profiles[i];
		add_name(offer, told->CodecID, profile->Profile);
		for (size_t j = 0; profile->MemDesc != NULL && j < profile->NumMemTypes; j++)
			add_memory(offer, &profile->MemDesc[j]);
	}
}

void vpl_add_offers(const mfxEncoderDescription *told, const char *name,
		    struct video_offers *offers)
{
	for (int codec = 0; codec < VIDEO_CODECS; codec++) {
		for (size_t i = 0; told->Codecs != NULL && i < told->NumCodecs; i++) {
			struct video_offer *offer =
				told->Codecs[i].CodecID == codecs[codec]
					? video_offer_add(offers, (enum video_codec)codec)
					: NULL;
			if (offer == NULL)
				continue;
			(void)snprintf(offer->name, sizeof(offer->name), "%s", name);
			add_codec(offer, &told->Codecs[i]);
		}
	}
}
