/* SPDX-License-Identifier: MIT */
/* `-hwaccel auto` exits with 0 whatever decoded. The frames tell: what comes from a device's memory is
 * NV12, what the decoder for processors makes of 8 bits and 4:2:0 is planar. */
#include "workloads/ffmpeg/ffmpeg.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* Are these the frames of the source, in planes or with U beside V? */
static int are_like(const struct ffmpeg *ffmpeg, const struct text *decoded, bool beside,
		    bool *like, struct error *err)
{
	const struct video_source *source = &ffmpeg->source;
	const size_t size = video_frame_size(source, VIDEO_I420);
	const size_t luma = (size_t)source->width * source->height;
	uint8_t *frame CLEANUP_FREE = malloc(size);
	*like = decoded->size == VIDEO_FRAMES * size;
	if (frame == NULL)
		return error_memory(err);
	for (unsigned i = 0; *like && i < VIDEO_FRAMES; i++) {
		const char *told = text_string(decoded) + i * size;
		const struct video_planes planes = video_planes_of(source, VIDEO_I420, frame);
		double psnr[VIDEO_PLANES] = {0};
		memcpy(frame, told, size);
		for (size_t c = 0; beside && c < luma / 2; c++)
			frame[luma + c / 2 + c % 2 * (luma / 4)] = (uint8_t)told[luma + c];
		video_psnr(source, i, &planes, psnr);
		for (size_t p = 0; p < VIDEO_PLANES; p++)
			*like = *like && psnr[p] >= VIDEO_LIKE_DB;
	}
	return 0;
}

/* The line on the choice; NULL without. */
static const char *find_choice(const struct text_list *messages)
{
	for (size_t i = 0; i < messages->count; i++) {
		if (strstr(messages->items[i], "hwaccel") != NULL)
			return messages->items[i];
	}
	return messages->count > 0 ? messages->items[0] : NULL;
}

static int add_decoding(const struct ffmpeg *ffmpeg, const struct process_result *result,
			const struct text_list *messages, cJSON *video, struct error *err)
{
	struct members decoding CLEANUP_MEMBERS = members_new();
	bool planar = false, beside = false;
	int rc = are_like(ffmpeg, &result->out, false, &planar, err);
	if (rc == 0 && !planar)
		rc = are_like(ffmpeg, &result->out, true, &beside, err);
	if (rc != 0)
		return rc;
	member_string(&decoding, "hwaccel", "auto");
	if (result->end == PROCESS_EXITED)
		member_number(&decoding, "exitCode", result->code);
	else
		member_null(&decoding, "exitCode");
	member_string(&decoding, "pixelFormat", planar ? "yuv420p" : beside ? "nv12" : NULL);
	if (planar || beside)
		member_bool(&decoding, "hardware", beside);
	else
		member_null(&decoding, "hardware");
	member_string(&decoding, "message", find_choice(messages));
	cJSON *item = members_take(&decoding);
	return item != NULL && cJSON_AddItemToObject(video, "decoding", item) ? 0
									      : error_memory(err);
}

int ffmpeg_decode(const struct ffmpeg *ffmpeg, cJSON *video, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0}, messages CLEANUP_TEXT_LIST = {0};
	struct process_result result = {0};
	struct error ignored = {0};
	int rc = ffmpeg_words(&words, err, ffmpeg->program, "-nostdin", "-hide_banner", "-nostats",
			      "-loglevel", "info", "-hwaccel", "auto", "-f", "h264", "-i", "pipe:0",
			      "-f", "rawvideo", "pipe:1", NULL);
	if (rc != 0)
		return rc;
	rc = ffmpeg_run(ffmpeg, &words, &ffmpeg->stream, &result, &messages, &ignored);
	if (rc == 0)
		rc = add_decoding(ffmpeg, &result, &messages, video, err);
	else
		rc = rc == ERROR_MEMORY ? error_memory(err) : 0;
	process_result_free(&result);
	return rc;
}
