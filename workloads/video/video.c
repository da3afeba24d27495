/* SPDX-License-Identifier: MIT */
#include "workloads/video/video_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NS_IN_MS = 1000000 };

struct video_offer *video_offer_add(struct video_offers *offers, enum video_codec codec)
{
	if (offers->count == VIDEO_OFFERS_MAX)
		return NULL;
	struct video_offer *offer = &offers->items[offers->count++];
	*offer = (struct video_offer){
		.codec = codec,
		.ten_bit = VIDEO_NOT_TOLD,
		.b_frames = VIDEO_NOT_TOLD,
	};
	return offer;
}

void video_offer_add_profile(struct video_offer *offer, const char *name)
{
	const size_t used = strlen(offer->profiles);
	(void)snprintf(offer->profiles + used, sizeof(offer->profiles) - used, "%s%s",
		       used != 0 ? " " : "", name);
}

int video_append(struct text *stream, const void *bytes, size_t size, const char *call,
		 struct error *err)
{
	if (size > VIDEO_STREAM_MAX)
		return error_set(err, ERROR_LIMIT,
				 "a picture of %zu bytes, more than the %d of a stream", size,
				 VIDEO_STREAM_MAX);
	if (size > 0 && bytes == NULL)
		return error_set(err, ERROR_REMOTE, "%s succeeded and gave no buffer", call);
	if (size > 0)
		text_append(stream, bytes, size);
	return 0;
}

static bool fits(const struct video_offer *offer, const struct video_size *size)
{
	return (offer->least.width == 0 ||
		(size->width >= offer->least.width && size->height >= offer->least.height)) &&
	       (offer->most.width == 0 ||
		(size->width <= offer->most.width && size->height <= offer->most.height));
}

static int choose_size(const struct video_offer *offer, struct video_source *source,
		       struct error *err)
{
	for (const struct video_size *size = video_sizes; size->width != 0; size++) {
		source->width = size->width;
		source->height = size->height;
		if (fits(offer, size))
			return 0;
	}
	return error_set(err, ERROR_UNSUPPORTED,
			 "%s encodes frames of %u by %u to %u by %u, and none of the streams is "
			 "within",
			 video_codec_names[offer->codec], offer->least.width, offer->least.height,
			 offer->most.width, offer->most.height);
}

/* All frames before the first is put in: making them is no part of what is timed. */
static int make_frames(const struct video_source *source, enum video_layout layout, uint8_t **out,
		       struct error *err)
{
	const size_t size = video_frame_size(source);
	*out = malloc(VIDEO_FRAMES * size);
	if (*out == NULL)
		return error_memory(err);
	for (unsigned i = 0; i < VIDEO_FRAMES; i++) {
		const struct video_planes planes = video_planes_of(source, layout, *out + i * size);
		video_fill(source, i, layout, &planes);
	}
	return 0;
}

/* Gets all there is. *moved: something came. */
static int take(const struct video_encoder *encoder, void *session, struct video_stream *stream,
		bool *ended, bool *moved, struct error *err)
{
	int rc = 0;
	while (rc == 0 && !*ended) {
		const size_t before = stream->data.size;
		rc = encoder->get(session, &stream->data, ended, err);
		if (stream->data.failed)
			return error_memory(err);
		if (rc != 0 || (stream->data.size == before && !*ended))
			break;
		*moved = true;
		if (stream->first_got_ns == 0)
			stream->first_got_ns = clock_monotonic_ns();
		if (stream->data.size > VIDEO_STREAM_MAX)
			return error_set(err, ERROR_LIMIT, "the stream is longer than %d bytes",
					 VIDEO_STREAM_MAX);
	}
	return rc == ERROR_BUSY ? 0 : rc;
}

/* Puts the next frame in, if the encoder takes it. */
static int offer_frame(const struct video_encoder *encoder, void *session,
		       struct video_stream *stream, uint8_t *frames, unsigned *next, bool *moved,
		       struct error *err)
{
	const struct video_source *source = &stream->job.source;
	const size_t size = video_frame_size(source);
	if (*next > VIDEO_FRAMES)
		return 0;
	const struct video_planes planes = video_planes_of(
		source, encoder->layout, frames + (*next < VIDEO_FRAMES ? *next : 0) * size);
	if (stream->first_put_ns == 0)
		stream->first_put_ns = clock_monotonic_ns();
	int rc = encoder->put(session, *next, *next < VIDEO_FRAMES ? &planes : NULL, err);
	if (rc == 0) {
		*moved = true;
		++*next;
	}
	return rc == ERROR_BUSY ? 0 : rc;
}

static int encode(const struct video_encoder *encoder, void *session, struct video_stream *stream,
		  uint8_t *frames, struct error *err)
{
	const uint64_t patience_ns = stream->job.request->timeout_ms * NS_IN_MS;
	uint64_t moved_ns = clock_monotonic_ns();
	unsigned next = 0;
	bool ended = false;
	int rc = 0;
	while (rc == 0 && !ended) {
		bool moved = false;
		rc = offer_frame(encoder, session, stream, frames, &next, &moved, err);
		if (rc == 0)
			rc = take(encoder, session, stream, &ended, &moved, err);
		const uint64_t now_ns = clock_monotonic_ns();
		if (moved)
			moved_ns = now_ns;
		else if (rc == 0 && !ended && now_ns - moved_ns > patience_ns)
			return error_set(err, ERROR_TIMEOUT,
					 "the encoder took %u of %d frames and then did nothing "
					 "for %llu ms",
					 next < VIDEO_FRAMES ? next : VIDEO_FRAMES, VIDEO_FRAMES,
					 (unsigned long long)stream->job.request->timeout_ms);
		else if (rc == 0 && !ended)
			clock_sleep_ms(1);
	}
	if (rc == 0)
		stream->ended_ns = clock_monotonic_ns();
	return rc;
}

/* What can be said without decoding. */
static int walk(struct video_stream *stream, struct error *err)
{
	const struct video_source *source = &stream->job.source;
	struct video_walk *walk = &stream->walk;
	int rc = video_walk(stream->job.offer->codec, (const uint8_t *)text_string(&stream->data),
			    stream->data.size, walk, err);
	if (rc != 0)
		return rc;
	if (walk->width != source->width || walk->height != source->height)
		return error_set(err, ERROR_FORMAT, "the stream is %u by %u, not %u by %u",
				 walk->width, walk->height, source->width, source->height);
	return walk->pictures == VIDEO_FRAMES
		       ? 0
		       : error_set(err, ERROR_FORMAT, "the stream holds %zu pictures, not %d",
				   walk->pictures, VIDEO_FRAMES);
}

static int make_stream(const struct video_encoder *encoder, void *session,
		       struct video_stream *stream, struct work_report *report, struct error *err)
{
	uint8_t *frames CLEANUP_FREE = NULL;
	int rc = choose_size(stream->job.offer, &stream->job.source, err);
	if (rc == 0)
		rc = make_frames(&stream->job.source, encoder->layout, &frames, err);
	if (rc != 0)
		return rc;
	void *state = calloc(1, encoder->size);
	if (state == NULL)
		return error_memory(err);
	work_stage_begin(report, WORK_STAGE_BUILD);
	rc = encoder->open(session, &stream->job, state, err);
	if (rc == 0) {
		work_stage_begin(report, WORK_STAGE_DISPATCH);
		rc = encode(encoder, state, stream, frames, err);
	}
	if (rc != ERROR_TIMEOUT) {
		encoder->close(state);
		free(state);
	}
	if (rc != 0)
		return rc;
	work_stage_begin(report, WORK_STAGE_VERIFY);
	return walk(stream, err);
}

static void judge(struct video_stream *stream, int rc, struct error *reason)
{
	static const struct {
		int rc;
		enum work_status status;
	} rows[] = {
		{0, WORK_ENCODED},
		{ERROR_FORMAT, WORK_WRONG},
		{ERROR_LIMIT, WORK_WRONG},
		{ERROR_TIMEOUT, WORK_TIMED_OUT},
		{ERROR_CANCELLED, WORK_TIMED_OUT},
		{ERROR_UNSUPPORTED, WORK_UNSUPPORTED},
	};
	stream->status = WORK_FAILED;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].rc == rc)
			stream->status = rows[i].status;
	}
	if (rc == 0)
		return;
	(void)error_wrap(reason, rc, "%s", video_codec_names[stream->job.offer->codec]);
	memcpy(stream->reason, reason->text, sizeof(stream->reason));
}

/* The work is as good as its worst stream, but that a codec may be unsupported where another one
 * was encoded. */
static void add_up(struct work_report *report, const struct video_stream *stream, bool *any)
{
	const bool encoded = stream->status == WORK_ENCODED;
	const bool worse = *any ? report->status == WORK_ENCODED && !encoded &&
					   stream->status != WORK_UNSUPPORTED
				: true;
	const bool better = *any && report->status == WORK_UNSUPPORTED;
	*any = true;
	if (!worse && !better)
		return;
	report->status = stream->status;
	report->failure = stream->failure;
	memcpy(report->reason, stream->reason, sizeof(report->reason));
}

static void stream_free(struct video_stream *stream)
{
	text_free(&stream->data);
	text_list_free(&stream->messages);
}

static int try_offer(const struct video_encoder *encoder, void *session,
		     const struct video_offer *offer, const struct work_request *request,
		     struct work_report *report, struct video_stream *stream, struct error *err)
{
	struct error reason = {0};
	stream_free(stream);
	*stream = (struct video_stream){
		.job = {.offer = offer, .request = request, .source = {.seed = request->seed}},
		.exit_code = VIDEO_NOT_TOLD,
	};
	stream->job.failure = &stream->failure;
	stream->job.messages = &stream->messages;
	stream->job.exit_code = &stream->exit_code;
	int rc = make_stream(encoder, session, stream, report, &reason);
	judge(stream, rc, &reason);
	if (rc == ERROR_MEMORY ||
	    (encoder->tries && !array_add(cJSON_GetObjectItem(report->video, "attempts"),
					  video_attempt_json(stream))))
		return error_memory(err);
	return rc == ERROR_TIMEOUT ? error_copy(err, &reason) : 0;
}

/* The stream of a codec, by the first encoder that counts, or that encodes. */
static int run_codec(const struct video_encoder *encoder, void *session, bool software,
		     const struct video_offers *offers, enum video_codec codec,
		     const struct work_request *request, struct work_report *report, bool *any,
		     struct error *err)
{
	struct video_stream stream CLEANUP(stream_free) = {0};
	const struct video_offer *offer = offers->items;
	bool done = false;
	int rc = 0;
	for (; rc == 0 && !done && offer < offers->items + offers->count; offer++) {
		if (offer->codec != codec || !(offer->hardware || software))
			continue;
		rc = try_offer(encoder, session, offer, request, report, &stream, err);
		done = !encoder->tries || stream.status == WORK_ENCODED;
	}
	if (stream.job.offer == NULL || rc == ERROR_MEMORY)
		return rc;
	add_up(report, &stream, any);
	return array_add(cJSON_GetObjectItem(report->video, "streams"), video_stream_json(&stream))
		       ? rc
		       : error_memory(err);
}

static int nothing_offered(const struct video_offers *offers, struct error *err)
{
	return offers->count == 0
		       ? error_set(err, ERROR_UNSUPPORTED, "the device encodes nothing")
		       : error_set(err, ERROR_UNSUPPORTED,
				   "the device encodes nothing: the %zu encoders that there are "
				   "work on a processor",
				   offers->count);
}

static int run_codecs(const struct video_encoder *encoder, void *session, bool software,
		      const struct work_request *request, struct work_report *report,
		      struct error *err)
{
	struct video_offers *offers CLEANUP_FREE = calloc(1, sizeof(*offers));
	bool any = false;
	if (offers == NULL)
		return error_memory(err);
	work_stage_begin(report, WORK_STAGE_DEVICE);
	int rc = encoder->list(session, request, offers, err);
	if (rc != 0) {
		if (offers->failure.call != NULL)
			report->failure = offers->failure;
		return rc;
	}
	report->video = video_json(offers, encoder->tries);
	if (report->video == NULL)
		return error_memory(err);
	/* An encoder that is stuck is the last one: the device is in its hands. */
	for (int codec = 0; rc == 0 && codec < VIDEO_CODECS; codec++)
		rc = run_codec(encoder, session, software, offers, (enum video_codec)codec, request,
			       report, &any, err);
	if (rc != 0)
		return rc;
	/* The last codec may have been unsupported, which is told earlier. */
	if (any && report->status == WORK_ENCODED)
		report->stage = WORK_STAGE_VERIFY;
	return any ? 0 : nothing_offered(offers, err);
}

int video_work(const struct video_encoder *encoder, void *session, bool software,
	       const struct work_request *request, struct work_report *report, struct error *err)
{
	report->elements = 0;
	int rc = run_codecs(encoder, session, software, request, report, err);
	if (rc != ERROR_TIMEOUT && encoder->end != NULL)
		encoder->end(session);
	return rc;
}
