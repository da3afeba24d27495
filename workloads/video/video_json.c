/* SPDX-License-Identifier: MIT */
#include "workloads/video/video_internal.h"

#include "base/members.h"
#include "base/memory.h"

#include <math.h>
#include <sodium.h>

static cJSON *size_json(const struct video_size *size)
{
	struct members members CLEANUP_MEMBERS = members_new();

	if (size->width == 0)
		return cJSON_CreateNull();
	member_number(&members, "width", size->width);
	member_number(&members, "height", size->height);
	return members_take(&members);
}

static cJSON *number_or_null(int number)
{
	return number == VIDEO_UNKNOWN ? cJSON_CreateNull() : cJSON_CreateNumber(number);
}

cJSON *video_json(const struct video_offers *offers, bool tries)
{
	struct members video CLEANUP_MEMBERS = members_new();
	cJSON *encoders = cJSON_CreateArray();

	for (size_t i = 0; i < offers->count && !tries; i++) {
		const struct video_offer *offer = &offers->items[i];
		struct members members CLEANUP_MEMBERS = members_new();

		member_string(&members, "codec", video_codec_names[offer->codec]);
		member_optional(&members, "name", offer->name);
		member_bool(&members, "hardware", offer->hardware);
		member_optional(&members, "profiles", offer->profiles);
		member_item(&members, "least", size_json(&offer->least));
		member_item(&members, "most", size_json(&offer->most));
		member_item(&members, "tenBit",
			    offer->ten_bit == VIDEO_UNKNOWN ? cJSON_CreateNull()
							    : cJSON_CreateBool(offer->ten_bit));
		member_item(&members, "bFrames", number_or_null(offer->b_frames));
		array_add(encoders, members_take(&members));
	}
	member_number(&video, "frames", VIDEO_FRAMES);
	member_number(&video, "rate", VIDEO_RATE);
	member_item(&video, "encoders", encoders);
	member_item(&video, "streams", cJSON_CreateArray());
	if (tries)
		member_item(&video, "attempts", cJSON_CreateArray());
	return members_take(&video);
}

cJSON *video_stream_json(const struct video_stream *stream)
{
	struct members members CLEANUP_MEMBERS = members_new();

	member_string(&members, "codec", video_codec_names[stream->job.offer->codec]);
	member_optional(&members, "encoder", stream->job.offer->name);
	member_bool(&members, "hardware", stream->job.offer->hardware);
	member_string(&members, "status", work_status_name(stream->status));
	member_optional(&members, "reason", stream->reason);
	member_number(&members, "width", stream->job.source.width);
	member_number(&members, "height", stream->job.source.height);
	member_number(&members, "profile", stream->walk.profile);
	member_number(&members, "units", (double)stream->walk.units);
	member_number(&members, "pictures", (double)stream->walk.pictures);
	member_number(&members, "keys", (double)stream->walk.keys);
	member_number(&members, "bytes", (double)stream->data.size);

	const uint64_t whole_ns = stream->ended_ns - stream->first_put_ns;
	if (stream->first_got_ns == 0)
		member_null(&members, "latencyMs");
	else
		member_milliseconds(&members, "latencyMs",
				    stream->first_got_ns - stream->first_put_ns);
	if (stream->ended_ns == 0 || whole_ns == 0)
		member_null(&members, "framesPerSecond");
	else
		member_number(&members, "framesPerSecond",
			      round(VIDEO_FRAMES * 1e10 / (double)whole_ns) / 10);

	if (stream->data.size > VIDEO_STREAM_MAX) {
		member_null(&members, "stream");
	} else {
		const size_t room = sodium_base64_encoded_len(stream->data.size,
							      sodium_base64_VARIANT_ORIGINAL);
		char *base64 = memory_allocate(room, 1);
		(void)sodium_bin2base64(base64, room,
					(const unsigned char *)text_string(&stream->data),
					stream->data.size, sodium_base64_VARIANT_ORIGINAL);
		member_taken(&members, "stream", base64);
	}
	return members_take(&members);
}

cJSON *video_attempt_json(const struct video_stream *stream)
{
	struct members members CLEANUP_MEMBERS = members_new();

	member_optional(&members, "encoder", stream->job.offer->name);
	member_string(&members, "api", stream->job.offer->api);
	member_bool(&members, "hardware", stream->job.offer->hardware);
	member_string(&members, "status", work_status_name(stream->status));
	member_optional(&members, "reason", stream->reason);
	member_item(&members, "exitCode", number_or_null(stream->exit_code));
	member_item(&members, "messages", json_new_strings(&stream->messages));
	return members_take(&members);
}
