/* SPDX-License-Identifier: MIT */
#include "tools/verify-video/judge.h"

#include "tools/verify-video/decode.h"

#include <stdarg.h>
#include <stdio.h>

const char *const judge_status_names[] = {
	[JUDGE_OK] = "ok",
	[JUDGE_WRONG] = "wrong",
	[JUDGE_UNDECODABLE] = "undecodable",
};

struct comparison {
	const struct video_source *source;
	struct video_source other;
	struct judgement *judgement;
};

/* Keeps the first defect as the reason. */
static void PRINTF_LIKE(3, 4)
	find(struct judgement *judgement, enum judge_status status, const char *format, ...)
{
	va_list args;
	if (judgement->status != JUDGE_OK)
		return;
	judgement->status = status;
	va_start(args, format);
	(void)vsnprintf(judgement->reason, sizeof(judgement->reason), format, args);
	va_end(args);
}

static double least(const double psnr[VIDEO_PLANES])
{
	const double chroma = psnr[1] < psnr[2] ? psnr[1] : psnr[2];
	return psnr[0] < chroma ? psnr[0] : chroma;
}

static bool is_flat(const struct decoded_frame *frame)
{
	const struct video_planes *planes = &frame->planes;
	for (unsigned y = 0; y < frame->height; y++) {
		for (unsigned x = 0; x < frame->width; x++) {
			const int difference =
				planes->data[0][y * planes->pitch[0] + x] - planes->data[0][0];
			if (difference > 2 || difference < -2)
				return false;
		}
	}
	return true;
}

static int compare(void *user, const struct decoded_frame *frame, struct error *err)
{
	struct comparison *comparison = user;
	struct judgement *judgement = comparison->judgement;
	const struct video_source *source = comparison->source;
	double psnr[VIDEO_PLANES] = {0};
	const size_t index = judgement->frames;

	if (!frame->usual)
		return error_set(err, ERROR_FORMAT, "the samples are not of 8 bits and 4:2:0");
	if (frame->width != source->width || frame->height != source->height)
		return error_set(err, ERROR_FORMAT, "frame %zu is %u by %u, not %u by %u", index,
				 frame->width, frame->height, source->width, source->height);
	if (index == VIDEO_FRAMES)
		return error_set(err, ERROR_FORMAT, "more than %d frames come out", VIDEO_FRAMES);

	judgement->frames++;
	video_psnr(&comparison->other, (unsigned)index, &frame->planes, psnr);
	judgement->psnr_other[index] = psnr[0];
	video_psnr(source, (unsigned)index, &frame->planes, psnr);
	judgement->psnr[index] = least(psnr);
	if (judgement->psnr[index] >= VIDEO_LIKE_DB) {
		if (judgement->psnr_other[index] >= VIDEO_UNLIKE_DB)
			find(judgement, JUDGE_WRONG,
			     "frame %zu is like one of another seed: %.1f dB", index,
			     judgement->psnr_other[index]);
		return 0;
	}

	/* Another frame: which one? */
	if (is_flat(frame))
		find(judgement, JUDGE_WRONG,
		     "frame %zu is of one colour: nothing of what was to be encoded", index);
	for (unsigned i = 0; judgement->status == JUDGE_OK && i < VIDEO_FRAMES; i++) {
		video_psnr(source, i, &frame->planes, psnr);
		if (least(psnr) >= VIDEO_LIKE_DB)
			find(judgement, JUDGE_WRONG, "frame %zu shows frame %u", index, i);
	}
	find(judgement, JUDGE_WRONG,
	     "frame %zu is unlike what was to be encoded: %.1f dB, at least %.0f are needed", index,
	     judgement->psnr[index], VIDEO_LIKE_DB);
	return 0;
}

int judge_stream(enum video_codec codec, const uint8_t *data, size_t size,
		 const struct video_source *source, struct judgement *judgement, struct error *err)
{
	static decode_function *const decoders[VIDEO_CODECS] = {
		[VIDEO_H264] = decode_h264,
		[VIDEO_HEVC] = decode_hevc,
		[VIDEO_AV1] = decode_av1,
	};
	struct comparison comparison = {.source = source, .other = *source, .judgement = judgement};
	const struct frame_sink sink = {compare, &comparison};
	struct error reason = {0};
	*judgement = (struct judgement){0};
	/* Without decoding: size and number bound the work of a decoder. */
	int rc = video_walk_frames(codec, data, size, source, &judgement->walk, &reason);
	const bool other = rc == ERROR_LIMIT;
	if (rc == 0) {
		comparison.other.seed = video_other_seed(source);
		rc = decoders[codec](data, size, &sink, &reason);
	}
	if (rc == ERROR_MEMORY)
		return error_memory(err);
	if (rc != 0)
		find(judgement, other ? JUDGE_WRONG : JUDGE_UNDECODABLE, "%s", reason.text);
	else if (judgement->frames != VIDEO_FRAMES)
		find(judgement, JUDGE_UNDECODABLE, "%zu frames come out, not %d", judgement->frames,
		     VIDEO_FRAMES);
	return 0;
}
