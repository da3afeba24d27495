/* SPDX-License-Identifier: MIT */
/* What a device encodes. */
#include "workloads/d3d12video/d3d12video.h"

#include "base/cleanup.h"

enum { RATIOS_MAX = 64 }; /* a driver that tells more tells no sizes */

/* In the order in which they are preferred. The number is that of the codec's own list of profiles:
 * of AV1, 0 is the main one. */
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

static bool has_profile(struct d3d12video *video, const struct video_offer *offer, int number)
{
	D3D12_VIDEO_ENCODER_LEVEL_TIER_CONSTRAINTS_HEVC least = {0}, most = {0};
	/* Of H.264 a level is one number, of others two. */
	const UINT size = offer->codec == VIDEO_H264 ? sizeof(least.Level) : sizeof(least);
	D3D12_FEATURE_DATA_VIDEO_ENCODER_PROFILE_LEVEL query = {
		.Codec = d3d12video_codec_of(offer->codec),
		.Profile = d3d12video_profile_of(&number),
		.MinSupportedLevel = {.DataSize = size, .pHEVCLevelSetting = &least},
		.MaxSupportedLevel = {.DataSize = size, .pHEVCLevelSetting = &most},
	};
	return D3D12VIDEO_TELLS(video, PROFILE_LEVEL, &query) && query.IsSupported;
}

static void add_profiles(struct d3d12video *video, struct video_offer *offer)
{
	offer->ten_bit = 0;
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		const struct profile *profile = &profiles[i];
		if (profile->codec != offer->codec || !has_profile(video, offer, profile->number))
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
	if (!D3D12VIDEO_TELLS(video, OUTPUT_RESOLUTION_RATIOS_COUNT, &count) ||
	    count.ResolutionRatiosCount > RATIOS_MAX)
		return;
	query.ResolutionRatiosCount = count.ResolutionRatiosCount;
	if (!D3D12VIDEO_TELLS(video, OUTPUT_RESOLUTION, &query) || !query.IsSupported)
		return;
	offer->least.width = query.MinResolutionSupported.Width;
	offer->least.height = query.MinResolutionSupported.Height;
	offer->most.width = query.MaxResolutionSupported.Width;
	offer->most.height = query.MaxResolutionSupported.Height;
}

/* How many in a row is not told, but that there is no second list of references is. AV1 has other
 * lists. */
static void add_b_frames(struct d3d12video *video, struct video_offer *offer)
{
	int profile = video->profiles[offer->codec];
	D3D12_VIDEO_ENCODER_CODEC_PICTURE_CONTROL_SUPPORT_H264 told = {0}; /* HEVC: the same */
	D3D12_FEATURE_DATA_VIDEO_ENCODER_CODEC_PICTURE_CONTROL_SUPPORT query = {
		.Codec = d3d12video_codec_of(offer->codec),
		.Profile = d3d12video_profile_of(&profile),
		.PictureSupport = {.DataSize = sizeof(told), .pH264Support = &told},
	};
	if (offer->codec != VIDEO_AV1 &&
	    D3D12VIDEO_TELLS(video, CODEC_PICTURE_CONTROL_SUPPORT, &query) && query.IsSupported &&
	    told.MaxL1ReferencesForB == 0)
		offer->b_frames = 0;
}

/* A Direct3D 12 that does not know a codec refuses the question. */
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
		int rc = D3D12VIDEO_ASK(video, err, CODEC, &query);
		if (rc != 0 && failure->code != E_INVALIDARG)
			return rc;
		*failure = (struct call_failure){0};
		struct video_offer *offer =
			rc == 0 && query.IsSupported
				? video_offer_add(offers, (enum video_codec)codec)
				: NULL;
		if (offer == NULL)
			continue;
		offer->hardware = true;
		add_profiles(video, offer);
		add_sizes(video, offer);
		add_b_frames(video, offer);
	}
	return 0;
}
