/* SPDX-License-Identifier: MIT */
/* `-hwaccel auto` exits with 0 whatever decoded. The frames tell: what comes from a device's memory is
 * NV12, what the decoder for processors makes of 8 bits and 4:2:0 is planar. */
#include "workloads/ffmpeg/ffmpeg.h"

#include <string.h>

enum { CHROMA_MAX = 320 * 240 / 2 }; /* bytes of the largest of video_sizes[] */

/* Are these the frames of the stream, in planes? */
static bool is_like(const struct ffmpeg *ffmpeg, struct text *decoded)
{
	const size_t size = video_frame_size(&ffmpeg->source);
	bool like = decoded->size == VIDEO_FRAMES * size;
	for (unsigned i = 0; like && i < VIDEO_FRAMES; i++) {
		const struct video_planes planes = video_planes_of(
			&ffmpeg->source, VIDEO_I420, (uint8_t *)decoded->data + i * size);
		double psnr[VIDEO_PLANES] = {0};
		video_psnr(&ffmpeg->source, i, &planes, psnr);
		for (size_t p = 0; p < VIDEO_PLANES; p++)
			like = like && psnr[p] >= VIDEO_LIKE_DB;
	}
	return like;
}

/* Makes two planes of U beside V. */
static void split_chroma(const struct ffmpeg *ffmpeg, struct text *decoded)
{
	const size_t size = video_frame_size(&ffmpeg->source);
	const size_t count = size / 3; /* of U and V together */
	char chroma[CHROMA_MAX] = "";
	for (size_t at = size - count; at + count <= decoded->size; at += size) {
		memcpy(chroma, decoded->data + at, count);
		for (size_t i = 0; i < count; i++)
			decoded->data[at + i / 2 + i % 2 * (count / 2)] = chroma[i];
	}
}

static cJSON *decoding_json(const struct ffmpeg *ffmpeg, struct process_result *result,
			    const struct text_list *messages)
{
	struct members decoding CLEANUP_MEMBERS = members_new();
	const char *message = messages->count > 0 ? messages->items[0] : NULL;
	const bool planar = is_like(ffmpeg, &result->out);
	split_chroma(ffmpeg, &result->out);
	const bool beside = !planar && is_like(ffmpeg, &result->out);
	for (size_t i = 0; i < messages->count; i++)
		message = strstr(messages->items[i], "hwaccel") != NULL ? messages->items[i]
									: message;
	member_string(&decoding, "hwaccel", "auto");
	member_item(&decoding, "exitCode",
		    result->end == PROCESS_EXITED ? cJSON_CreateNumber(result->code)
						  : cJSON_CreateNull());
	member_string(&decoding, "pixelFormat", planar ? "yuv420p" : beside ? "nv12" : NULL);
	member_item(&decoding, "hardware",
		    planar || beside ? cJSON_CreateBool(beside) : cJSON_CreateNull());
	member_string(&decoding, "message", message);
	return members_take(&decoding);
}

int ffmpeg_decode(const struct ffmpeg *ffmpeg, cJSON *video, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0}, messages CLEANUP_TEXT_LIST = {0};
	struct process_result result = {0};
	int rc = ffmpeg_words(&words,
			      FFMPEG_WORDS(ffmpeg->program, "-nostdin", "-hide_banner", "-nostats",
					   "-loglevel", "info", "-hwaccel", "auto", "-f", "h264",
					   "-i", "pipe:0", "-f", "rawvideo", "pipe:1"),
			      err);
	if (rc != 0)
		return rc;
	rc = ffmpeg_run(ffmpeg, &words, &ffmpeg->stream, &result, &messages, NULL);
	if (rc == 0 &&
	    !cJSON_AddItemToObject(video, "decoding", decoding_json(ffmpeg, &result, &messages)))
		rc = ERROR_MEMORY;
	process_result_free(&result);
	return rc == ERROR_MEMORY ? error_memory(err) : 0;
}
