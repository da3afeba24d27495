/* SPDX-License-Identifier: MIT */
/* What a device encodes: profiles that have an entry point for it. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

#include <stdio.h>

enum { TOLD_MAX = 1024 }; /* profiles or entry points; a driver that tells more is not believed */

/* In the order in which they are preferred. */
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

static int check_told(int told, int least, int most, const char *call, struct error *err)
{
	return told >= least && told <= most
		       ? 0
		       : error_set(err, ERROR_FORMAT, "%s tells %d, not %d to %d", call, told,
				   least, most);
}

static void ask_limits(struct vaapi *va, VADisplay display, const struct vaapi_way *way,
		       struct video_offer *offer)
{
	VAConfigAttrib told[] = {
		{VAConfigAttribMaxPictureWidth, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribMaxPictureHeight, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncMaxRefFrames, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribRTFormat, VA_ATTRIB_NOT_SUPPORTED},
	};
	if (va->vaGetConfigAttributes(display, way->profile->profile, way->entrypoint, told,
				      ARRAY_SIZE(told)) != VA_STATUS_SUCCESS)
		return;
	if (told[0].value != VA_ATTRIB_NOT_SUPPORTED && told[1].value != VA_ATTRIB_NOT_SUPPORTED)
		offer->most = (struct video_size){told[0].value, told[1].value};
	/* How many in a row is not told, but that there is no second list of references is. */
	if (told[2].value != VA_ATTRIB_NOT_SUPPORTED && told[2].value >> 16 == 0)
		offer->b_frames = 0;
	/* AV1 has one profile for both depths. */
	if (way->profile->codec == VIDEO_AV1 && told[3].value != VA_ATTRIB_NOT_SUPPORTED)
		offer->ten_bit = (told[3].value & VA_RT_FORMAT_YUV420_10) != 0;
}

/* The offer of a codec by an entry point: the first of its profiles makes it. */
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
		ask_limits(va, display, &va->ways[id], offer);
	}
	video_offer_add_profile(offer, profile->name);
	offer->ten_bit |= profile->ten_bit;
}

static int list_profile(struct vaapi *va, VADisplay display, const struct vaapi_profile *profile,
			struct video_offers *offers, struct error *err)
{
	static const char call[] = "vaQueryConfigEntrypoints";
	VAEntrypoint told[TOLD_MAX] = {0};
	const int room = va->vaMaxNumEntrypoints(display);
	int count = 0;
	int rc = check_told(room, 1, TOLD_MAX, "vaMaxNumEntrypoints", err);
	if (rc == 0)
		rc = vaapi_check(
			&offers->failure,
			va->vaQueryConfigEntrypoints(display, profile->profile, told, &count), call,
			err);
	if (rc == 0)
		rc = check_told(count, 0, room, call, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(entrypoints); i++) {
		for (int j = 0; j < count; j++) {
			if (told[j] != entrypoints[i].entrypoint)
				continue;
			add(va, display, profile, &entrypoints[i], offers);
			break; /* however often it is told */
		}
	}
	return rc;
}

static bool has(const VAProfile *told, int count, VAProfile wanted)
{
	int i = 0;
	while (i < count && told[i] != wanted)
		i++;
	return i < count;
}

int vaapi_list(void *session, const struct work_request *request, struct video_offers *offers,
	       struct error *err)
{
	static const char call[] = "vaQueryConfigProfiles";
	struct vaapi *va = session;
	VADisplay display = va->nodes[request->device].display;
	VAProfile told[TOLD_MAX] = {0};
	const int room = va->vaMaxNumProfiles(display);
	int count = 0;
	int rc = check_told(room, 1, TOLD_MAX, "vaMaxNumProfiles", err);
	if (rc == 0)
		rc = vaapi_check(&offers->failure, va->vaQueryConfigProfiles(display, told, &count),
				 call, err);
	if (rc == 0)
		rc = check_told(count, 0, room, call, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(profiles); i++) {
		if (has(told, count, profiles[i].profile))
			rc = list_profile(va, display, &profiles[i], offers, err);
	}
	return rc != 0 || offers->count > 0
		       ? rc
		       : error_set(
				 err, ERROR_UNSUPPORTED,
				 "the device encodes nothing: of %d profiles that its driver "
				 "tells none for H.264, HEVC or AV1 has the entry point EncSlice or "
				 "EncSliceLP",
				 count);
}
