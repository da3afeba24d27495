/* SPDX-License-Identifier: MIT */
/* The codecs that a device encodes: profiles with an entry point for encoding. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

#include <stdio.h>

enum {
	COUNT_MAX = 1024
}; /* profiles or entry points; a driver that reports more is not believed */

/* The preferred ones first. */
static const struct vaapi_profile profiles[] = {
	{VAProfileH264ConstrainedBaseline,
	 VIDEO_H264,
	 "constrained-baseline",
	 false,
	 {H264_PROFILE_BASELINE, 0xC0, H264_LEVEL}},
	{VAProfileH264Main, VIDEO_H264, "main", false, {H264_PROFILE_MAIN, 0x40, H264_LEVEL}},
	{VAProfileH264High, VIDEO_H264, "high", false, {H264_PROFILE_HIGH, 0, H264_LEVEL}},
	{VAProfileHEVCMain, VIDEO_HEVC, "main", false, {0}},
	{VAProfileHEVCMain10, VIDEO_HEVC, "main10", true, {0}},
	{VAProfileAV1Profile0, VIDEO_AV1, "main", false, {0}},
};

static const struct entrypoint {
	VAEntrypoint entrypoint;
	const char *name;
} entrypoints[] = {
	{VAEntrypointEncSlice, "EncSlice"},
	{VAEntrypointEncSliceLP, "EncSliceLP"},
};

/* A driver's count, within its bounds. */
static int check_count(int count, int least, int most, const char *call, struct error *err)
{
	if (count >= least && count <= most)
		return 0;
	return error_set(err, ERROR_FORMAT, "%s reports %d, not %d to %d", call, count, least,
			 most);
}

/* Adds a profile to the offer of its codec by an entry point, which the first profile creates. */
static void add(struct vaapi *va, VADisplay display, const struct vaapi_profile *profile,
		const struct entrypoint *entrypoint, struct video_offers *offers)
{
	size_t id = 0;

	while (id < offers->count && (offers->items[id].codec != profile->codec ||
				      va->ways[id].entrypoint != entrypoint->entrypoint))
		id++;
	struct video_offer *offer =
		id < offers->count ? &offers->items[id] : video_offer_add(offers, profile->codec);
	if (offer == NULL)
		return;
	if (offer->name[0] == '\0') {
		offer->id = id;
		offer->hardware = true;
		offer->ten_bit = 0;
		va->ways[id] = (struct vaapi_way){profile, entrypoint->entrypoint};
		(void)snprintf(offer->name, sizeof(offer->name), "%s", entrypoint->name);

		VAConfigAttrib limits[] = {
			{VAConfigAttribMaxPictureWidth, VA_ATTRIB_NOT_SUPPORTED},
			{VAConfigAttribMaxPictureHeight, VA_ATTRIB_NOT_SUPPORTED},
			{VAConfigAttribEncMaxRefFrames, VA_ATTRIB_NOT_SUPPORTED},
			{VAConfigAttribRTFormat, VA_ATTRIB_NOT_SUPPORTED},
		};
		if (va->vaGetConfigAttributes(display, profile->profile, entrypoint->entrypoint,
					      limits, ARRAY_SIZE(limits)) != VA_STATUS_SUCCESS)
			for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
				limits[i].value = VA_ATTRIB_NOT_SUPPORTED;
		if (limits[0].value != VA_ATTRIB_NOT_SUPPORTED &&
		    limits[1].value != VA_ATTRIB_NOT_SUPPORTED)
			offer->most = (struct video_size){limits[0].value, limits[1].value};
		/* The number of B frames in a row is unknown, unless there is no second list of
		 * references. */
		if (limits[2].value != VA_ATTRIB_NOT_SUPPORTED && limits[2].value >> 16 == 0)
			offer->b_frames = 0;
		/* AV1 has one profile for both depths. */
		if (profile->codec == VIDEO_AV1 && limits[3].value != VA_ATTRIB_NOT_SUPPORTED)
			offer->ten_bit = (limits[3].value & VA_RT_FORMAT_YUV420_10) != 0;
	}
	video_offer_add_profile(offer, profile->name);
	offer->ten_bit |= profile->ten_bit;
}

static int list_profile(struct vaapi *va, VADisplay display, const struct vaapi_profile *profile,
			struct video_offers *offers, struct error *err)
{
	static const char call[] = "vaQueryConfigEntrypoints";
	VAEntrypoint found[COUNT_MAX] = {0};
	const int room = va->vaMaxNumEntrypoints(display);
	int count = 0;

	int rc = check_count(room, 1, COUNT_MAX, "vaMaxNumEntrypoints", err);
	if (rc == 0)
		rc = vaapi_check(
			&offers->failure,
			va->vaQueryConfigEntrypoints(display, profile->profile, found, &count),
			call, err);
	if (rc == 0)
		rc = check_count(count, 0, room, call, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(entrypoints); i++) {
		for (int j = 0; j < count; j++) {
			if (found[j] != entrypoints[i].entrypoint)
				continue;
			add(va, display, profile, &entrypoints[i], offers);
			break; /* an entry point may be listed repeatedly */
		}
	}
	return 0;
}

int vaapi_list(void *session, const struct work_request *request, struct video_offers *offers,
	       struct error *err)
{
	static const char call[] = "vaQueryConfigProfiles";
	struct vaapi *va = session;
	VADisplay display = va->nodes[request->device].display;
	VAProfile found[COUNT_MAX] = {0};
	const int room = va->vaMaxNumProfiles(display);
	int count = 0;

	int rc = check_count(room, 1, COUNT_MAX, "vaMaxNumProfiles", err);
	if (rc == 0)
		rc = vaapi_check(&offers->failure,
				 va->vaQueryConfigProfiles(display, found, &count), call, err);
	if (rc == 0)
		rc = check_count(count, 0, room, call, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(profiles); i++) {
		int at = 0;
		while (at < count && found[at] != profiles[i].profile)
			at++;
		if (at < count)
			rc = list_profile(va, display, &profiles[i], offers, err);
	}
	if (rc == 0 && offers->count == 0)
		rc = error_set(err, ERROR_UNSUPPORTED,
			       VIDEO_NOTHING
			       ": its driver reports %d profiles, and none "
			       "for H.264, HEVC or AV1 has the entry point EncSlice or EncSliceLP",
			       count);
	return rc;
}
