/* SPDX-License-Identifier: MIT */
/* One stream by one run of the program: raw frames on its standard input, the stream on its standard
 * output. */
#include "workloads/ffmpeg/ffmpeg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How an encoder is told its device. */
enum device_words { DEVICE_OWN, DEVICE_CUDA, DEVICE_QSV, DEVICE_VAAPI, DEVICE_VULKAN, DEVICE_MF };

/* The encoders in the order in which they are tried, those on a processor last. */
static const struct way {
	const char *encoder;
	const char *api; /* behind it, a name of base/gpu_apis.def; NULL: a processor encodes */
	uint32_t vendor; /* PCI vendor of whose devices it is; 0: of any */
	enum device_words device;
} ways[] = {
	{"h264_nvenc", "nvenc", 0x10de, DEVICE_CUDA},
	{"h264_amf", "amf", 0x1002, DEVICE_OWN},
	{"h264_qsv", "vpl", 0x8086, DEVICE_QSV},
	{"h264_vaapi", "vaapi", 0, DEVICE_VAAPI},
	{"h264_vulkan", "vulkanvideo", 0, DEVICE_VULKAN},
	{"h264_mf", "mediafoundation", 0, DEVICE_MF},
	{"h264_mf", NULL, 0, DEVICE_OWN},
	{"libx264", NULL, 0, DEVICE_OWN},
	{"libopenh264", NULL, 0, DEVICE_OWN},
};

struct encoder {
	struct ffmpeg *ffmpeg;
	const struct video_job *job;
	struct text frames;
	bool ran;
};

static const struct way *way_of(const struct encoder *encoder)
{
	return &ways[encoder->job->offer->id];
}

/* What an encoder says that is not in this program, or not in this device. Anything else that goes
 * wrong is a failure. */
static bool is_absent(const struct text_list *messages)
{
	static const char *const phrases[] = {
		"Unknown encoder",	  "Unrecognized option", "no encode device (1)",
		"unsupported device (2)", "No usable encoding",	 "VK_KHR_video_encode",
		"could not find any MFT", "unknown device type", "Device creation failed: -12.",
	};
	for (size_t i = 0; i < messages->count; i++) {
		for (size_t p = 0; p < ARRAY_SIZE(phrases); p++) {
			if (strstr(messages->items[i], phrases[p]) != NULL)
				return true;
		}
	}
	return false;
}

static int list(void *session, const struct work_request *request, struct video_offers *offers,
		struct error *err)
{
	(void)session;
	(void)request;
	(void)err;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct video_offer *offer = video_offer_add(offers, VIDEO_H264);
		offer->id = i;
		offer->api = ways[i].api;
		offer->hardware = ways[i].api != NULL;
		(void)snprintf(offer->name, sizeof(offer->name), "%s", ways[i].encoder);
	}
	return 0;
}

static int open_encoder(void *session, const struct video_job *job, void *opened, struct error *err)
{
	struct ffmpeg *ffmpeg = session;
	struct encoder *encoder = opened;
	*encoder = (struct encoder){.ffmpeg = ffmpeg, .job = job};
	const uint32_t vendor = way_of(encoder)->vendor;
	if (vendor != 0 && ffmpeg->vendor != 0 && vendor != ffmpeg->vendor && !ffmpeg->software)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%s is for devices of the vendor 0x%04x, and this one is of "
				 "0x%04x",
				 way_of(encoder)->encoder, (unsigned)vendor,
				 (unsigned)ffmpeg->vendor);
	return 0;
}

/* The frames' way to the device, and which one that is. An API that told the devices counts them as
 * FFmpeg does. */
static int add_device(const struct ffmpeg *ffmpeg, enum device_words device,
		      struct text_list *words, struct error *err)
{
	const char *list = ffmpeg->list != NULL ? ffmpeg->list->name : "";
	const char *node = ffmpeg->node;
	char name[128] = "";
	if (device == DEVICE_MF)
		return ffmpeg_words(words, FFMPEG_WORDS("-hw_encoding", "1"), err);
	if (device == DEVICE_CUDA && strcmp(list, "cuda") == 0) {
		(void)snprintf(name, sizeof(name), "%zu", ffmpeg->index);
		return ffmpeg_words(words, FFMPEG_WORDS("-gpu", name), err);
	}
	if (device == DEVICE_QSV && node[0] != '\0')
		(void)snprintf(name, sizeof(name), "qsv=g:hw_any,child_device=%s", node);
	if (device == DEVICE_VAAPI)
		(void)snprintf(name, sizeof(name), "vaapi=g%s%s", node[0] != '\0' ? ":" : "", node);
	if (device == DEVICE_VULKAN)
		(void)snprintf(name, sizeof(name), "vulkan=g:%zu",
			       strcmp(list, "vulkan") == 0 ? ffmpeg->index : 0);
	int rc = name[0] != '\0' ? ffmpeg_words(words, FFMPEG_WORDS("-init_hw_device", name), err)
				 : 0;
	return rc == 0 && (device == DEVICE_VAAPI || device == DEVICE_VULKAN)
		       ? ffmpeg_words(words,
				      FFMPEG_WORDS("-filter_hw_device", "g", "-vf",
						   "format=nv12,hwupload"),
				      err)
		       : rc;
}

/* VA-API takes a quantiser alone from every driver. */
static int make_command(const struct encoder *encoder, struct text_list *words, struct error *err)
{
	const struct way *way = way_of(encoder);
	const struct video_source *source = &encoder->job->source;
	const bool quantiser = way->device == DEVICE_VAAPI;
	char size[32] = "", rate[16] = "", bits[16] = "";
	(void)snprintf(size, sizeof(size), "%ux%u", source->width, source->height);
	(void)snprintf(rate, sizeof(rate), "%d", VIDEO_RATE);
	(void)snprintf(bits, sizeof(bits), "%d", VIDEO_BIT_RATE);
	int rc = ffmpeg_words(words,
			      FFMPEG_WORDS(encoder->ffmpeg->program, "-nostdin", "-hide_banner",
					   "-nostats", "-loglevel", "warning", "-f", "rawvideo",
					   "-pix_fmt", "yuv420p", "-video_size", size, "-framerate",
					   rate, "-i", "pipe:0", "-c:v", way->encoder),
			      err);
	if (rc == 0)
		rc = add_device(encoder->ffmpeg, way->device, words, err);
	return rc == 0 ? ffmpeg_words(words,
				      FFMPEG_WORDS(quantiser ? "-qp" : "-b:v",
						   quantiser ? "24" : bits, "-bf", "0", "-f",
						   "h264", "pipe:1"),
				      err)
		       : rc;
}

/* x264 signs its streams: one that an encoder in hardware is said to have made has not that. */
static int expect_own(const struct encoder *encoder, const struct text *stream, struct error *err)
{
	static const char mark[] = "x264 - core";
	const char *data = text_string(stream);
	for (size_t i = 0; way_of(encoder)->api != NULL && i + sizeof(mark) <= stream->size; i++) {
		if (memcmp(data + i, mark, sizeof(mark) - 1) == 0)
			return error_set(err, ERROR_FORMAT, "%s: the stream says that x264 made it",
					 way_of(encoder)->encoder);
	}
	return 0;
}

/* The exit code alone proves nothing; but a program that says that it failed did. */
static int judge(const struct encoder *encoder, const struct process_result *result,
		 struct error *err)
{
	const struct video_job *job = encoder->job;
	char how[FFMPEG_DESCRIPTION_SIZE] = "";
	int rc = ERROR_REMOTE;
	if (result->end == PROCESS_EXITED)
		*job->exit_code = result->code;
	if (result->end == PROCESS_EXITED && result->code == 0)
		return expect_own(encoder, &result->out, err);
	if (result->end == PROCESS_TIMED_OUT)
		rc = ERROR_CANCELLED;
	else if (is_absent(job->messages))
		rc = ERROR_UNSUPPORTED;
	ffmpeg_describe(result, job->messages, how);
	*job->failure = (struct call_failure){.call = "ffmpeg", .code = result->code};
	return error_set(err, rc, "%s: %s", way_of(encoder)->encoder, how);
}

static int run(struct encoder *encoder, struct error *err)
{
	struct ffmpeg *ffmpeg = encoder->ffmpeg;
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct process_result result = {0};
	int rc = encoder->frames.failed ? error_memory(err) : make_command(encoder, &words, err);
	if (rc == 0)
		rc = ffmpeg_run(ffmpeg, &words, &encoder->frames, &result, encoder->job->messages,
				err);
	if (rc == 0)
		rc = judge(encoder, &result, err);
	text_free(&ffmpeg->stream);
	ffmpeg->stream = result.out;
	result.out = (struct text){0};
	ffmpeg->source = encoder->job->source;
	process_result_free(&result);
	return rc;
}

static int put(void *opened, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *encoder = opened;
	(void)index;
	if (frame == NULL) {
		encoder->ran = true;
		return run(encoder, err);
	}
	text_append(&encoder->frames, (const char *)frame->data[0],
		    video_frame_size(&encoder->job->source));
	return 0;
}

static int get(void *opened, struct text *stream, bool *ended, struct error *err)
{
	struct encoder *encoder = opened;
	if (!encoder->ran)
		return error_set(err, ERROR_BUSY, "the program has not run yet");
	text_add_all(stream, &encoder->ffmpeg->stream);
	*ended = true;
	return 0;
}

static void close_encoder(void *opened)
{
	struct encoder *encoder = opened;
	text_free(&encoder->frames);
}

const struct video_encoder ffmpeg_encoder = {
	.tries = true,
	.layout = VIDEO_I420,
	.list = list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};
