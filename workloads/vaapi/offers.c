/* SPDX-License-Identifier: MIT */
/* What a device encodes: profiles that have an entry point for it. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD_MAX = 1024 }; /* profiles or entry points; a driver that tells more is not believed */

/* In the order in which they are preferred. */
static const struct profile {
	VAProfile profile;
	enum video_codec codec;
	const char *name;
	bool ten_bit;
} profiles[] = {
	{VAProfileH264ConstrainedBaseline, VIDEO_H264, "constrained-baseline", false},
	{VAProfileH264Main, VIDEO_H264, "main", false},
	{VAProfileH264High, VIDEO_H264, "high", false},
	{VAProfileHEVCMain, VIDEO_HEVC, "main", false},
	{VAProfileHEVCMain10, VIDEO_HEVC, "main10", true},
	{VAProfileAV1Profile0, VIDEO_AV1, "main", false},
};

static const struct entrypoint {
	VAEntrypoint entrypoint;
	const char *name;
} entrypoints[] = {
	{VAEntrypointEncSlice, "EncSlice"},
	{VAEntrypointEncSliceLP, "EncSliceLP"},
};

/* Room for `room` numbers, all of which stand for none. Profiles and entry points are numbers of
 * one size. */
static int make_room(int room, const char *call, int **out, struct error *err)
{
	if (room < 1 || room > TOLD_MAX)
		return error_set(err, ERROR_FORMAT, "%s tells %d, not 1 to %d", call, room,
				 TOLD_MAX);
	*out = malloc((size_t)room * sizeof(**out));
	if (*out == NULL)
		return error_memory(err);
	for (int i = 0; i < room; i++)
		(*out)[i] = -1;
	return 0;
}

static int check_count(int count, int room, const char *call, struct error *err)
{
	return count >= 0 && count <= room
		       ? 0
		       : error_set(err, ERROR_FORMAT, "%s tells %d where there is room for %d",
				   call, count, room);
}

static bool has(const int *told, int count, int wanted)
{
	for (int i = 0; told != NULL && i < count; i++) {
		if (told[i] == wanted)
			return true;
	}
	return false;
}

static void ask_limits(struct vaapi *va, VADisplay display, const struct vaapi_way *way,
		       struct video_offer *offer)
{
	VAConfigAttrib told[] = {
		{VAConfigAttribMaxPictureWidth, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribMaxPictureHeight, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncMaxRefFrames, VA_ATTRIB_NOT_SUPPORTED},
	};
	if (va->vaGetConfigAttributes(display, way->profile, way->entrypoint, told,
				      ARRAY_SIZE(told)) != VA_STATUS_SUCCESS)
		return;
	if (told[0].value != VA_ATTRIB_NOT_SUPPORTED && told[1].value != VA_ATTRIB_NOT_SUPPORTED)
		offer->most = (struct video_size){told[0].value, told[1].value};
	/* How many in a row is not told, but that there is no second list of references is. */
	if (told[2].value != VA_ATTRIB_NOT_SUPPORTED && told[2].value >> 16 == 0)
		offer->b_frames = 0;
}

/* The offer of a codec by an entry point: the first of its profiles makes it. */
static void add(struct vaapi *va, VADisplay display, const struct profile *profile,
		const struct entrypoint *entrypoint, struct video_offers *offers)
{
	struct video_offer *offer = NULL;
	for (size_t i = 0; i < offers->count && offer == NULL; i++) {
		if (offers->items[i].codec == profile->codec &&
		    va->ways[i].entrypoint == entrypoint->entrypoint)
			offer = &offers->items[i];
	}
	const bool first = offer == NULL;
	if (first)
		offer = video_offer_add(offers, profile->codec);
	if (offer == NULL)
		return;
	const size_t used = strlen(offer->profiles);
	(void)snprintf(offer->profiles + used, sizeof(offer->profiles) - used, "%s%s",
		       first ? "" : " ", profile->name);
	offer->ten_bit = offer->ten_bit == 1 || profile->ten_bit;
	if (!first)
		return;
	offer->id = offers->count - 1;
	offer->hardware = true;
	va->ways[offer->id] = (struct vaapi_way){profile->profile, entrypoint->entrypoint};
	(void)snprintf(offer->name, sizeof(offer->name), "%s", entrypoint->name);
	ask_limits(va, display, &va->ways[offer->id], offer);
}

static int list_profile(struct vaapi *va, VADisplay display, const struct profile *profile,
			struct call_failure *failure, struct video_offers *offers,
			struct error *err)
{
	int *told CLEANUP_FREE = NULL;
	const int room = va->vaMaxNumEntrypoints(display);
	int count = 0;
	int rc = make_room(room, "vaMaxNumEntrypoints", &told, err);
	if (rc == 0)
		rc = vaapi_check(failure,
				 va->vaQueryConfigEntrypoints(display, profile->profile,
							      (VAEntrypoint *)(void *)told, &count),
				 "vaQueryConfigEntrypoints", err);
	if (rc == 0)
		rc = check_count(count, room, "vaQueryConfigEntrypoints", err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(entrypoints); i++) {
		if (has(told, count, (int)entrypoints[i].entrypoint))
			add(va, display, profile, &entrypoints[i], offers);
	}
	return rc;
}

int vaapi_list(void *session, const struct work_request *request, struct video_offers *offers,
	       struct error *err)
{
	struct vaapi *va = session;
	struct vaapi_node *node = &va->nodes[request->device];
	int *told CLEANUP_FREE = NULL;
	const int room = va->vaMaxNumProfiles(node->display);
	int count = 0;
	int rc = make_room(room, "vaMaxNumProfiles", &told, err);
	if (rc == 0)
		rc = vaapi_check(
			&node->failure,
			va->vaQueryConfigProfiles(node->display, (VAProfile *)(void *)told, &count),
			"vaQueryConfigProfiles", err);
	if (rc == 0)
		rc = check_count(count, room, "vaQueryConfigProfiles", err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(profiles); i++) {
		if (has(told, count, (int)profiles[i].profile))
			rc = list_profile(va, node->display, &profiles[i], &node->failure, offers,
					  err);
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
