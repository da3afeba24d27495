/* SPDX-License-Identifier: MIT */
/* The codecs that a device encodes. */
#include "workloads/d3d12video/d3d12video.h"

#include "base/cleanup.h"

enum { RATIOS_MAX = 64 }; /* with more the sizes stay unknown */

/* The preferred ones first. The number is that of the codec's own list of profiles: 0 is the main one
 * of AV1. */
static const struct profile {
	enum video_codec codec;
	int number;
	const char *name;
	bool ten_bit;
} profiles[] = {
	{VIDEO_H264, D3D12_VIDEO_ENCODER_PROFILE_H264_MAIN, "main", false},
	{VIDEO_H264, D3D12_VIDEO_ENCODER_PROFILE_H264_HIGH, "high", false},
	{VIDEO_H264, D3D12_VIDEO_ENCODER_PROFILE_H264_HIGH_10, "high10", true},
	{VIDEO_HEVC, D3D12_VIDEO_ENCODER_PROFILE_HEVC_MAIN, "main", false},
	{VIDEO_HEVC, D3D12_VIDEO_ENCODER_PROFILE_HEVC_MAIN10, "main10", true},
	{VIDEO_AV1, 0, "main", true},
};

static void add_profiles(struct d3d12video *video, struct video_offer *offer)
{
	offer->ten_bit = 0;
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		const struct profile *profile = &profiles[i];
		int number = profile->number;
		D3D12_VIDEO_ENCODER_LEVEL_TIER_CONSTRAINTS_HEVC least = {0}, most = {0};
		/* A level of H.264 is one number, others are two. */
		const UINT size = offer->codec == VIDEO_H264 ? sizeof(least.Level) : sizeof(least);
		D3D12_FEATURE_DATA_VIDEO_ENCODER_PROFILE_LEVEL query = {
			.Codec = d3d12video_codec_of(offer->codec),
			.Profile = d3d12video_profile_of(&number),
			.MinSupportedLevel = {.DataSize = size, .pHEVCLevelSetting = &least},
			.MaxSupportedLevel = {.DataSize = size, .pHEVCLevelSetting = &most},
		};

		if (profile->codec != offer->codec ||
		    !D3D12VIDEO_ANSWERS(video, PROFILE_LEVEL, &query) || !query.IsSupported)
			continue;
		if (offer->profiles[0] == '\0')
			video->profiles[offer->codec] = profile->number;
		video_offer_add_profile(offer, profile->name);
		offer->ten_bit |= profile->ten_bit;
	}
}

static void add_sizes(struct d3d12video *video, struct video_offer *offer)
{
	D3D12_VIDEO_ENCODER_PICTURE_RESOLUTION_RATIO_DESC ratios[RATIOS_MAX] = {0};
	D3D12_FEATURE_DATA_VIDEO_ENCODER_OUTPUT_RESOLUTION_RATIOS_COUNT count = {
		.Codec = d3d12video_codec_of(offer->codec),
	};
	D3D12_FEATURE_DATA_VIDEO_ENCODER_OUTPUT_RESOLUTION query = {
		.Codec = d3d12video_codec_of(offer->codec),
		.pResolutionRatios = ratios,
	};

	if (!D3D12VIDEO_ANSWERS(video, OUTPUT_RESOLUTION_RATIOS_COUNT, &count) ||
	    count.ResolutionRatiosCount > RATIOS_MAX)
		return;
	query.ResolutionRatiosCount = count.ResolutionRatiosCount;
	if (!D3D12VIDEO_ANSWERS(video, OUTPUT_RESOLUTION, &query) || !query.IsSupported)
		return;
	offer->least.width = query.MinResolutionSupported.Width;
	offer->least.height = query.MinResolutionSupported.Height;
	offer->most.width = query.MaxResolutionSupported.Width;
	offer->most.height = query.MaxResolutionSupported.Height;
}

int d3d12video_list(void *session, const struct work_request *request, struct video_offers *offers,
		    struct error *err)
{
	struct d3d12video *video = session;
	struct call_failure *failure = &video->gpu.report->failure;
	(void)request;

	for (int codec = 0; codec < VIDEO_CODECS; codec++) {
		D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC query = {
			.Codec = d3d12video_codec_of((enum video_codec)codec),
		};

		/* A Direct3D 12 that does not know a codec rejects the query. */
		int rc = D3D12VIDEO_ASK(video, err, CODEC, &query);
		if (rc != 0 && failure->code != E_INVALIDARG)
			return rc;
		*failure = (struct call_failure){0};
		if (rc != 0 || !query.IsSupported)
			continue;
		struct video_offer *offer = video_offer_add(offers, (enum video_codec)codec);
		offer->hardware = true;
		add_profiles(video, offer);
		add_sizes(video, offer);

		/* The number of B frames in a row is unknown, unless there is no second list of
		 * references. AV1 has other lists. */
		int profile = video->profiles[codec];
		D3D12_VIDEO_ENCODER_CODEC_PICTURE_CONTROL_SUPPORT_H264 support = {0}; /* and HEVC */
		D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_PICTURE_CONTROL_SUPPORT pictures = {
			.Codec = query.Codec,
			.Profile = d3d12video_profile_of(&profile),
			.PictureSupport = {.DataSize = sizeof(support), .pH264Support = &support},
		};
		if (codec != VIDEO_AV1 &&
		    D3D12VIDEO_ANSWERS(video, CODEC_PICTURE_CONTROL_SUPPORT, &pictures) &&
		    pictures.IsSupported && support.MaxL1ReferencesForB == 0)
			offer->b_frames = 0;
	}
	return 0;
}
