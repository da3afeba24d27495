/* SPDX-License-Identifier: MIT */
#include "workloads/video/video_internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
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

/* An encoder at work. */
struct run {
	const struct video_encoder *encoder;
	void *state;
	struct video_stream *stream;
	uint8_t *frames;
	unsigned next; /* to be put in: VIDEO_FRAMES is the end */
	bool coding;   /* of an encoder of single pictures: one is to be got first */
	bool ended, moved;
};

/* Puts the next frame in, if the encoder takes it. */
static int put_frame(struct run *run, struct error *err)
{
	struct video_stream *stream = run->stream;
	const struct video_source *source = &stream->job.source;
	const bool last = run->next == VIDEO_FRAMES;
	if (run->next > VIDEO_FRAMES || run->coding)
		return 0;
	run->ended = last && run->encoder->single;
	if (run->ended)
		return 0;
	const struct video_planes planes =
		video_planes_of(source, run->encoder->layout,
				run->frames + (last ? 0 : run->next * video_frame_size(source)));
	if (stream->first_put_ns == 0)
		stream->first_put_ns = clock_monotonic_ns();
	int rc = run->encoder->put(run->state, run->next, last ? NULL : &planes, err);
	if (rc != 0)
		return rc == ERROR_BUSY ? 0 : rc;
	run->coding = run->encoder->single;
	run->moved = true;
	run->next++;
	return 0;
}

/* Gets all there is. */
static int take(struct run *run, struct error *err)
{
	struct video_stream *stream = run->stream;
	int rc = 0;
	while (!run->ended && (run->coding || !run->encoder->single)) {
		const size_t before = stream->data.size;
		rc = run->encoder->get(run->state, &stream->data, &run->ended, err);
		run->coding = run->coding && rc == ERROR_BUSY;
		if (stream->data.failed)
			return error_memory(err);
		if (rc != 0 || (stream->data.size == before && !run->ended))
			break;
		run->moved = true;
		if (stream->first_got_ns == 0)
			stream->first_got_ns = clock_monotonic_ns();
		if (stream->data.size > VIDEO_STREAM_MAX)
			return error_set(err, ERROR_LIMIT, "the stream is longer than %d bytes",
					 VIDEO_STREAM_MAX);
	}
	return rc == ERROR_BUSY ? 0 : rc;
}

static int encode(struct run *run, struct error *err)
{
	const uint64_t patience_ms = run->stream->job.request->timeout_ms;
	uint64_t moved_ns = clock_monotonic_ns();
	while (!run->ended) {
		run->moved = false;
		int rc = put_frame(run, err);
		if (rc == 0)
			rc = take(run, err);
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
	struct video_offers offers;
	bool any; /* there was a stream */
};

static int make_stream(struct work *work, struct video_stream *stream, struct error *err)
{
	const struct video_encoder *encoder = work->encoder;
	uint8_t *frames = NULL;
	int rc = choose_size(stream->job.offer, &stream->job.source, err);
	if (rc == 0)
		rc = make_frames(&stream->job.source, encoder->layout, &frames, err);
	if (rc != 0)
		return rc;
	work_stage_begin(work->report, WORK_STAGE_BUILD);
	struct run run = {encoder, calloc(1, encoder->size), stream, .frames = frames};
	rc = run.state != NULL ? encoder->open(work->session, &stream->job, run.state, err)
			       : error_memory(err);
	if (rc == 0) {
		work_stage_begin(work->report, WORK_STAGE_DISPATCH);
		rc = encode(&run, err);
	}
	if (rc == 0)
		rc = neighbour_pause_after(work->request, work->report, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	if (run.state != NULL && encoder->close != NULL)
		encoder->close(run.state);
	free(run.state);
	free(frames);
	if (rc != 0)
		return rc;
	work_stage_begin(work->report, WORK_STAGE_VERIFY);
	/* What can be said without decoding. */
	return video_walk_frames(stream->job.offer->codec,
				 (const uint8_t *)text_string(&stream->data), stream->data.size,
				 &stream->job.source, &stream->walk, err);
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
static void add_up(struct work *work, const struct video_stream *stream)
{
	struct work_report *report = work->report;
	const bool decides = !work->any || report->status == WORK_UNSUPPORTED ||
			     (report->status == WORK_ENCODED && stream->status != WORK_ENCODED &&
			      stream->status != WORK_UNSUPPORTED);
	work->any = true;
	if (!decides)
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
		.exit_code = VIDEO_NOT_TOLD,
	};
	report->failure = (struct call_failure){0};
	int rc = make_stream(work, stream, &reason);
	stream->failure = report->failure;
	report->failure = before;
	judge(stream, rc, &reason);
	if (rc == ERROR_MEMORY ||
	    (work->encoder->tries && !array_add(cJSON_GetObjectItem(report->video, "attempts"),
						video_attempt_json(stream))))
		return error_memory(err);
	return rc == ERROR_TIMEOUT ? error_copy(err, &reason) : 0;
}

/* The stream of a codec, by the first encoder that counts, or that encodes. */
static int run_codec(struct work *work, enum video_codec codec, struct error *err)
{
	struct video_stream stream CLEANUP(stream_free) = {0};
	const struct video_offers *offers = &work->offers;
	bool done = false;
	int rc = 0;
	for (size_t i = 0; rc == 0 && !done && i < offers->count; i++) {
		const struct video_offer *offer = &offers->items[i];
		if (offer->codec != codec || !(offer->hardware || work->software))
			continue;
		rc = try_offer(work, offer, &stream, err);
		done = !work->encoder->tries || stream.status == WORK_ENCODED;
	}
	if (stream.job.offer == NULL || rc == ERROR_MEMORY)
		return rc;
	add_up(work, &stream);
	return array_add(cJSON_GetObjectItem(work->report->video, "streams"),
			 video_stream_json(&stream))
		       ? rc
		       : error_memory(err);
}

static int run_codecs(struct work *work, struct error *err)
{
	struct work_report *report = work->report;
	struct video_offers *offers = &work->offers;
	work_stage_begin(report, WORK_STAGE_DEVICE);
	int rc = work->encoder->list(work->session, work->request, offers, err);
	if (rc != 0 && offers->failure.call != NULL)
		report->failure = offers->failure;
	if (rc != 0)
		return rc;
	report->video = video_json(offers, work->encoder->tries);
	if (report->video == NULL)
		return error_memory(err);
	/* An encoder that is stuck is the last one: the device is in its hands. */
	for (int codec = 0; rc == 0 && codec < VIDEO_CODECS; codec++)
		rc = run_codec(work, (enum video_codec)codec, err);
	/* The last codec may have been unsupported, which is told earlier. */
	if (rc == 0 && work->any && report->status == WORK_ENCODED)
		report->stage = WORK_STAGE_VERIFY;
	if (rc != 0 || work->any)
		return rc;
	return error_set(err, ERROR_UNSUPPORTED,
			 offers->count == 0 ? "the device encodes nothing"
					    : "the device encodes nothing: the encoders that there "
					      "are work on a processor");
}

int video_work(const struct video_encoder *encoder, void *session, bool software,
	       const struct work_request *request, struct work_report *report, struct error *err)
{
	struct work *work CLEANUP_FREE = malloc(sizeof(*work));
	if (work == NULL)
		return error_memory(err);
	*work = (struct work){encoder, session, software, request, report, {.count = 0}, false};
	report->elements = 0;
	int rc = run_codecs(work, err);
	if (rc != ERROR_TIMEOUT && encoder->end != NULL)
		encoder->end(session);
	return rc;
}
