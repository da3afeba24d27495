/* SPDX-License-Identifier: MIT */
#include "workloads/video/video_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "workloads/common/neighbours.h"

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
		.ten_bit = VIDEO_UNKNOWN,
		.b_frames = VIDEO_UNKNOWN,
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

/* The largest size of streams that the encoder accepts. */
static int choose_size(const struct video_offer *offer, struct video_source *source,
		       struct error *err)
{
	for (const struct video_size *size = video_sizes; size->width != 0; size++) {
		const bool too_small =
			offer->least.width != 0 &&
			(size->width < offer->least.width || size->height < offer->least.height);
		const bool too_large =
			offer->most.width != 0 &&
			(size->width > offer->most.width || size->height > offer->most.height);

		if (too_small || too_large)
			continue;
		source->width = size->width;
		source->height = size->height;
		return 0;
	}
	return error_set(err, ERROR_UNSUPPORTED,
			 "%s encodes frames of %u by %u to %u by %u, and none of the streams is "
			 "within",
			 video_codec_names[offer->codec], offer->least.width, offer->least.height,
			 offer->most.width, offer->most.height);
}

/* An encoder at work. */
struct run {
	const struct video_encoder *encoder;
	void *state;
	struct video_stream *stream;
	uint8_t *frames;
	unsigned next; /* to be put; after VIDEO_FRAMES, which is the end, nothing is */
	bool coding;   /* an encoder of single pictures has one that must be got first */
	bool ended, moved;
};

/* Gets everything that is ready. */
static int get_output(struct run *run, struct error *err)
{
	struct video_stream *stream = run->stream;

	while (!run->ended && (run->coding || !run->encoder->single)) {
		const size_t before = stream->data.size;

		int rc = run->encoder->get(run->state, &stream->data, &run->ended, err);
		if (rc == ERROR_BUSY)
			return 0;
		run->coding = false;
		if (rc != 0)
			return rc;
		if (stream->data.size == before && !run->ended)
			return 0;
		run->moved = true;
		if (stream->first_got_ns == 0)
			stream->first_got_ns = clock_monotonic_ns();
		if (stream->data.size > VIDEO_STREAM_MAX)
			return error_set(err, ERROR_LIMIT, "the stream is longer than %d bytes",
					 VIDEO_STREAM_MAX);
	}
	return 0;
}

static int encode(struct run *run, struct error *err)
{
	const struct video_encoder *encoder = run->encoder;
	const struct video_source *source = &run->stream->job.source;
	const uint64_t patience_ms = run->stream->job.request->timeout_ms;
	uint64_t moved_ns = clock_monotonic_ns();
	int rc = 0;

	while (!run->ended) {
		run->moved = false;

		/* Put the next frame, if the encoder accepts it. */
		const bool last = run->next == VIDEO_FRAMES;
		if (last && encoder->single && !run->coding) {
			run->ended = true;
		} else if (run->next <= VIDEO_FRAMES && !run->coding) {
			const size_t offset = last ? 0 : run->next * video_frame_size(source);
			const struct video_planes planes =
				video_planes_of(source, encoder->layout, run->frames + offset);
			if (run->stream->first_put_ns == 0)
				run->stream->first_put_ns = clock_monotonic_ns();
			rc = encoder->put(run->state, run->next, last ? NULL : &planes, err);
			if (rc != 0 && rc != ERROR_BUSY)
				return rc;
			run->moved = rc == 0;
			run->coding = rc == 0 && encoder->single;
			run->next += rc == 0;
		}

		rc = get_output(run, err);
		if (rc != 0)
			return rc;
		const uint64_t now_ns = clock_monotonic_ns();
		if (run->moved)
			moved_ns = now_ns;
		else if (!run->ended && now_ns - moved_ns > patience_ms * NS_IN_MS)
			return error_set(err, ERROR_TIMEOUT,
					 "the encoder took %u of %d frames and then did nothing "
					 "for %llu ms",
					 run->next < VIDEO_FRAMES ? run->next : VIDEO_FRAMES,
					 VIDEO_FRAMES, (unsigned long long)patience_ms);
		else if (!run->ended)
			clock_sleep_ms(1);
	}
	run->stream->ended_ns = clock_monotonic_ns();
	return 0;
}

/* A piece of work. */
struct work {
	const struct video_encoder *encoder;
	void *session;
	bool software;
	const struct work_request *request;
	struct work_report *report;
	bool any; /* there was a stream */
};

/* Encodes a stream and checks what can be checked without decoding. */
static int make_stream(struct work *work, struct video_stream *stream, struct error *err)
{
	const struct video_encoder *encoder = work->encoder;
	struct video_source *source = &stream->job.source;

	int rc = choose_size(stream->job.offer, source, err);
	if (rc != 0)
		return rc;

	/* All frames are made in advance, because the time it takes must not be measured. */
	const size_t size = video_frame_size(source);
	uint8_t *frames = memory_allocate(VIDEO_FRAMES, size);
	for (unsigned i = 0; i < VIDEO_FRAMES; i++) {
		const struct video_planes planes =
			video_planes_of(source, encoder->layout, frames + i * size);
		video_fill(source, i, encoder->layout, &planes);
	}

	work_stage_begin(work->report, WORK_STAGE_BUILD);
	void *state = memory_allocate(1, encoder->size);
	struct run run = {.encoder = encoder, .state = state, .stream = stream, .frames = frames};
	rc = encoder->open(work->session, &stream->job, state, err);
	if (rc == 0) {
		work_stage_begin(work->report, WORK_STAGE_DISPATCH);
		rc = encode(&run, err);
	}
	if (rc == 0)
		rc = neighbour_pause_after(work->request, work->report, err);
	/* A stuck encoder may still use its state and the frames. */
	if (rc == ERROR_TIMEOUT)
		return rc;
	if (encoder->close != NULL)
		encoder->close(state);
	free(state);
	free(frames);
	if (rc != 0)
		return rc;

	work_stage_begin(work->report, WORK_STAGE_VERIFY);
	return video_walk_frames(stream->job.offer->codec,
				 (const uint8_t *)text_string(&stream->data), stream->data.size,
				 source, &stream->walk, err);
}

static void stream_free(struct video_stream *stream)
{
	text_free(&stream->data);
	text_list_free(&stream->messages);
}

/* Fails with ERROR_TIMEOUT only: any other failure is the stream's. */
static int try_offer(struct work *work, const struct video_offer *offer,
		     struct video_stream *stream, struct error *err)
{
	struct work_report *report = work->report;
	const struct call_failure before = report->failure;
	struct error reason = {0};

	stream_free(stream);
	*stream = (struct video_stream){
		.job = {.offer = offer,
			.request = work->request,
			.source = {.seed = work->request->seed},
			.failure = &report->failure,
			.messages = &stream->messages,
			.exit_code = &stream->exit_code},
		.exit_code = VIDEO_UNKNOWN,
	};
	report->failure = (struct call_failure){0};
	int rc = make_stream(work, stream, &reason);
	stream->failure = report->failure;
	report->failure = before;

	if (rc == 0)
		stream->status = WORK_ENCODED;
	else if (rc == ERROR_FORMAT || rc == ERROR_LIMIT)
		stream->status = WORK_WRONG;
	else if (rc == ERROR_TIMEOUT || rc == ERROR_CANCELLED)
		stream->status = WORK_TIMED_OUT;
	else
		stream->status = rc == ERROR_UNSUPPORTED ? WORK_UNSUPPORTED : WORK_FAILED;
	if (rc != 0) {
		(void)error_wrap(&reason, rc, "%s", video_codec_names[offer->codec]);
		memcpy(stream->reason, reason.text, sizeof(stream->reason));
	}
	if (work->encoder->tries)
		array_add(cJSON_GetObjectItem(report->video, "attempts"),
			  video_attempt_json(stream));
	return rc == ERROR_TIMEOUT ? error_copy(err, &reason) : 0;
}

/* Encodes the stream of a codec, by the first encoder that counts, or that works. */
static int run_codec(struct work *work, const struct video_offers *offers, enum video_codec codec,
		     struct error *err)
{
	struct work_report *report = work->report;
	struct video_stream stream CLEANUP(stream_free) = {0};
	bool done = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && !done && i < offers->count; i++) {
		const struct video_offer *offer = &offers->items[i];

		if (offer->codec != codec || !(offer->hardware || work->software))
			continue;
		rc = try_offer(work, offer, &stream, err);
		done = !work->encoder->tries || stream.status == WORK_ENCODED;
	}
	if (stream.job.offer == NULL)
		return rc;
	array_add(cJSON_GetObjectItem(report->video, "streams"), video_stream_json(&stream));

	/* The worst stream decides, but a codec may be unsupported where another one was encoded. */
	if (!work->any || report->status == WORK_UNSUPPORTED ||
	    (report->status == WORK_ENCODED && stream.status != WORK_ENCODED &&
	     stream.status != WORK_UNSUPPORTED)) {
		report->status = stream.status;
		report->failure = stream.failure;
		memcpy(report->reason, stream.reason, sizeof(report->reason));
	}
	work->any = true;
	return rc;
}

int video_work(const struct video_encoder *encoder, void *session, bool software,
	       const struct work_request *request, struct work_report *report, struct error *err)
{
	struct video_offers *offers CLEANUP_FREE = memory_allocate(1, sizeof(*offers));
	struct work work = {encoder, session, software, request, report, false};

	report->elements = 0;
	work_stage_begin(report, WORK_STAGE_DEVICE);
	int rc = encoder->list(session, request, offers, err);
	if (rc == 0)
		report->video = video_json(offers, encoder->tries);
	else if (offers->failure.call != NULL)
		report->failure = offers->failure;

	/* A stuck encoder is the last one: it still holds the device. */
	for (int codec = 0; rc == 0 && codec < VIDEO_CODECS; codec++)
		rc = run_codec(&work, offers, (enum video_codec)codec, err);
	if (rc == 0 && !work.any)
		rc = error_set(err, ERROR_UNSUPPORTED,
			       offers->count == 0 ? VIDEO_NOTHING
						  : "the device's encoders work on a processor");

	/* The last codec may have been unsupported, which an earlier stage finds out. */
	if (rc == 0 && report->status == WORK_ENCODED)
		report->stage = WORK_STAGE_VERIFY;
	if (rc != ERROR_TIMEOUT && encoder->end != NULL)
		encoder->end(session);
	return rc;
}
