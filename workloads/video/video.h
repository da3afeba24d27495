/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The work of every encoder: an API tells what a device encodes, then encodes the frames of the
 * seed (frames.h) once for each codec. What comes out is walked over (walk.h) and goes into the
 * document, for whoever chose the seed to decode and compare (tools/verify-video). The probe itself
 * proves nothing: its work is `encoded`, never `ok`.
 *
 * A probe of an encoder is a struct api_driver whose work() calls video_work() with a struct
 * video_encoder.
 */

#include "base/error.h"
#include "base/text.h"
#include "workloads/common/work.h"
#include "workloads/video/frames.h"
#include "workloads/video/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VIDEO_BIT_RATE = 800000, /* bits a second that drivers ask for */
	VIDEO_OFFERS_MAX = 64,	 /* of a device; more are not looked at */
	VIDEO_NOT_TOLD = -1,
};

/* One encoder for one codec, as the API tells it. */
struct video_offer {
	enum video_codec codec;
	char name[128];		       /* "NVIDIA H.264 Encoder MFT"; "" where none is told */
	bool hardware;		       /* false: a processor does it */
	struct video_size least, most; /* width 0: not told */
	int ten_bit;		       /* 0, 1 or VIDEO_NOT_TOLD */
	int b_frames;		       /* in a row, or VIDEO_NOT_TOLD */
	char profiles[128];	       /* "baseline main high"; "" where none is told */
	size_t id;		       /* the driver's own */
	const char
		*api; /* whose encoder it is, a name of base/gpu_apis.def; NULL: the probe's own */
};

struct video_offers {
	struct video_offer items[VIDEO_OFFERS_MAX];
	size_t count;
	struct call_failure failure; /* of list(), for call_failed() */
};

/* NULL: there are VIDEO_OFFERS_MAX already. What is not set counts as not told. */
struct video_offer *video_offer_add(struct video_offers *offers, enum video_codec codec);

/* Adds a name to `profiles`. */
void video_offer_add_profile(struct video_offer *offer, const char *name);

/* One stream to be made. */
struct video_job {
	const struct video_offer *offer;
	const struct work_request *request;
	struct video_source source;
	struct call_failure *failure; /* for call_failed() */
	struct text_list *messages;   /* what the encoder says, of encoders that are tried */
	int *exit_code;		      /* of encoders that are programs; VIDEO_NOT_TOLD */
};

/*
 * How an API encodes. Frames are put in until the encoder is busy, and what there is of the stream
 * is got out; that goes on until the end of the stream. Errors are those of work() of an
 * api_driver, and ERROR_CANCELLED: it took too long and was ended, so that nothing is stuck. An
 * encoder that neither takes nor gives anything for as long as the request's timeout has timed out.
 */
struct video_encoder {
	/* The offers of a codec are tried in their order, up to the first that encodes, and each try is
	 * told in `attempts`; otherwise the first one is what counts. */
	bool tries;
	/* A picture is put, then got, and nothing is put behind the last one; *ended stays alone. */
	bool single;
	enum video_layout layout; /* of the frames that put() is given */
	/* What the requested device encodes. */
	int (*list)(void *session, const struct work_request *request, struct video_offers *offers,
		    struct error *err);
	size_t size; /* of what `encoder` points to: the state of one stream, zeroed before open() */
	/* `encoder` is closed also when this fails. `job` lives as long as it. Asks for VIDEO_RATE
	 * frames a second, VIDEO_BIT_RATE, 8 bits and 4:2:0. */
	int (*open)(void *session, const struct video_job *job, void *encoder, struct error *err);
	/* Frame `index`, without gaps; all frames lie one behind the other, and stay until close().
	 * NULL behind the last: what was held back is to come out. ERROR_BUSY: not now, first
	 * something has to be got. */
	int (*put)(void *encoder, unsigned index, const struct video_planes *frame,
		   struct error *err);
	/* Appends what there is of the stream; *ended, false before the call, when it is whole.
	 * ERROR_BUSY: nothing yet. */
	int (*get)(void *encoder, struct text *stream, bool *ended, struct error *err);
	/* Not called after a stream that ended with ERROR_TIMEOUT, as close() of an api_driver.
	 * NULL: there is nothing to close. */
	void (*close)(void *encoder);
	/* Behind the last stream, also when list() failed, and not after ERROR_TIMEOUT: gives back what
	 * list() opened. NULL: nothing. */
	void (*end)(void *session);
};

/* Adds what an encoder gave to its stream. `call` gave it, for the errors: ERROR_LIMIT: more than a
 * stream may hold; ERROR_REMOTE: `bytes` is NULL. */
int video_append(struct text *stream, const void *bytes, size_t size, const char *call,
		 struct error *err);

/* The work of an api_driver. `software`: the device is a processor, whose encoders are its own;
 * of any other device, encoders in hardware alone count. ERROR_UNSUPPORTED: it encodes nothing.
 * ERROR_TIMEOUT: an encoder is stuck, and was left alone. */
int video_work(const struct video_encoder *encoder, void *session, bool software,
	       const struct work_request *request, struct work_report *report, struct error *err);
