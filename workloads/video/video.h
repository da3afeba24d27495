/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The work of every encoder: an API lists what a device encodes, then encodes the frames of the
 * seed (frames.h) once for each codec. The resulting stream is walked over (walk.h) and goes into
 * the document, for whoever chose the seed to decode and compare (tools/verify-video). The probe
 * itself proves nothing: its work is `encoded`, never `ok`.
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

enum {
	VIDEO_BIT_RATE = 800000, /* bits a second, which drivers are asked for */
	VIDEO_OFFERS_MAX = 64,	 /* of a device; further ones are ignored */
	VIDEO_UNKNOWN = -1,
};

/* How the reason begins for a device that has no encoder for this API, as its driver says. */
#define VIDEO_NOTHING "the device encodes nothing"
/* How it ends where the driver may lack a file or a setting just as well. */
#define VIDEO_NO_QUEUE "the device has no video queue"

/* One encoder for one codec, as the API reports it. */
struct video_offer {
	enum video_codec codec;
	char name[128];		       /* "NVIDIA H.264 Encoder MFT"; "" where unknown */
	bool hardware;		       /* false: it runs on a processor */
	struct video_size least, most; /* width 0: unknown */
	int ten_bit;		       /* 0, 1 or VIDEO_UNKNOWN */
	int b_frames;		       /* in a row, or VIDEO_UNKNOWN */
	char profiles[128];	       /* "baseline main high"; "" where unknown */
	size_t id;		       /* the driver's own */
	const char
		*api; /* whose encoder it is, a name of base/gpu_apis.def; NULL: the probe's own */
};

struct video_offers {
	struct video_offer items[VIDEO_OFFERS_MAX];
	size_t count;
	struct call_failure failure; /* of list(), for call_failed() */
};

/* NULL: there are VIDEO_OFFERS_MAX already. Members that the caller does not set count as unknown. */
struct video_offer *video_offer_add(struct video_offers *offers, enum video_codec codec);

/* Adds a name to `profiles`. */
void video_offer_add_profile(struct video_offer *offer, const char *name);

/* One stream to encode. */
struct video_job {
	const struct video_offer *offer;
	const struct work_request *request;
	struct video_source source;
	struct call_failure *failure; /* for call_failed() */
	struct text_list *messages;   /* that the encoder prints; for encoders with `tries` */
	int *exit_code;		      /* of encoders that are programs; VIDEO_UNKNOWN */
};

/*
 * How an API encodes. Frames are put until the encoder is busy, and whatever part of the stream is
 * ready is got; that repeats until the end of the stream. Errors are those of work() of an
 * api_driver, and ERROR_CANCELLED: it took too long and was ended, so that nothing is stuck. An
 * encoder that neither accepts nor returns anything within the request's timeout has timed out.
 */
struct video_encoder {
	/* The offers of a codec are tried in order up to the first that encodes, and each try is
	 * recorded in `attempts`. Otherwise only the first one counts. */
	bool tries;
	/* Each picture is put, then got, and no NULL is put after the last one; get() leaves *ended
	 * unchanged. */
	bool single;
	enum video_layout layout; /* of the frames that put() receives */
	/* Lists what the requested device encodes. */
	int (*list)(void *session, const struct work_request *request, struct video_offers *offers,
		    struct error *err);
	size_t size; /* of what `encoder` points to: the state of one stream, zeroed before open() */
	/* `encoder` is closed also when this fails. `job` outlives it. Asks for VIDEO_RATE frames a
	 * second, VIDEO_BIT_RATE, 8 bits and 4:2:0. */
	int (*open)(void *session, const struct video_job *job, void *encoder, struct error *err);
	/* Frame `index`, without gaps; all frames lie in one piece of memory, and stay until close().
	 * NULL after the last: the encoder has to return what it held back. ERROR_BUSY: something has
	 * to be got first. */
	int (*put)(void *encoder, unsigned index, const struct video_planes *frame,
		   struct error *err);
	/* Appends the part of the stream that is ready; sets *ended, false before the call, when the
	 * stream is complete. ERROR_BUSY: nothing is ready yet. */
	int (*get)(void *encoder, struct text *stream, bool *ended, struct error *err);
	/* Like close() of an api_driver not called after ERROR_TIMEOUT. May be NULL. */
	void (*close)(void *encoder);
	/* Releases what list() opened: after the last stream, also when list() failed, but not after
	 * ERROR_TIMEOUT. May be NULL. */
	void (*end)(void *session);
};

/* Adds an encoder's output to its stream; errors name `call`, which returned it. ERROR_LIMIT: more
 * than a stream may hold; ERROR_REMOTE: `bytes` is NULL. */
int video_append(struct text *stream, const void *bytes, size_t size, const char *call,
		 struct error *err);

/* The work of an api_driver. `software`: the device is a processor, whose encoders are its own; on
 * any other device only hardware encoders count. ERROR_UNSUPPORTED: the device encodes nothing.
 * ERROR_TIMEOUT: an encoder is stuck, and was not closed. */
int video_work(const struct video_encoder *encoder, void *session, bool software,
	       const struct work_request *request, struct work_report *report, struct error *err);
