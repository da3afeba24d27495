/* SPDX-License-Identifier: MIT */
/* One stream by one run of the program: raw frames on its standard input, the stream on its standard
 * output. Then another run decodes it. */
#include "workloads/ffmpeg/ffmpeg.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE "/dev/dri/renderD"

/* How the command line selects an encoder's device. */
enum device_option { DEVICE_OWN, DEVICE_CUDA, DEVICE_QSV, DEVICE_VAAPI, DEVICE_VULKAN, DEVICE_MF };

/* The encoders in the order in which they are tried, those on a processor last. */
static const struct way {
	const char *encoder;
	const char
		*api; /* that it uses, a name of base/gpu_apis.def; NULL: it runs on a processor */
	uint32_t vendor; /* PCI vendor of its devices; 0: any */
	enum device_option device;
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
	const struct way *way;
	const uint8_t *frames;
	bool ran;
};

bool ffmpeg_is_absent(const struct text_list *messages)
{
	static const char *const phrases[] = {
		"Unknown encoder",	  "Unrecognized option", "no encode device (1)",
		"unsupported device (2)", "No usable encoding",	 "VK_KHR_video_encode",
		"could not find any MFT", "unknown device type", "Device creation failed: -12.",
		"No such filter",
	};

	text_each (line, messages) {
		for (size_t p = 0; p < ARRAY_SIZE(phrases); p++) {
			if (strstr(line, phrases[p]) != NULL)
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

static const cJSON *device_of(const struct ffmpeg *ffmpeg)
{
	return cJSON_GetArrayItem(ffmpeg->devices, (int)ffmpeg->index);
}

static bool is_software(const struct ffmpeg *ffmpeg)
{
	return json_pointer_true(device_of(ffmpeg), "/software");
}

static int open_encoder(void *session, const struct video_job *job, void *state, struct error *err)
{
	const struct way *way = &ways[job->offer->id];
	const char *number = json_pointer_string(device_of(session), "/vendorId");
	const unsigned long vendor = number != NULL ? strtoul(number, NULL, 16) : 0;

	*(struct encoder *)state = (struct encoder){.ffmpeg = session, .job = job, .way = way};
	if (way->vendor == 0 || vendor == 0 || way->vendor == vendor || is_software(session))
		return 0;
	return error_set(err, ERROR_UNSUPPORTED,
			 "%s is for devices of the vendor 0x%04x, and this one's is 0x%04lx",
			 way->encoder, (unsigned)way->vendor, vendor);
}

/* Exit code 0 does not prove success, but any other proves a failure. */
static int judge(const struct encoder *e, const struct process_result *result, struct error *err)
{
	static const char mark[] = "x264 - core";
	const struct video_job *job = e->job;
	char how[FFMPEG_DESCRIPTION_SIZE] = "";

	if (result->end == PROCESS_EXITED)
		*job->exit_code = result->code;
	if (result->end == PROCESS_EXITED && result->code == 0) {
		/* x264 signs its streams: that of a hardware encoder has no such mark. */
		const char *data = text_string(&result->out);
		for (size_t i = 0; e->way->api != NULL && i + sizeof(mark) <= result->out.size;
		     i++) {
			if (memcmp(data + i, mark, sizeof(mark) - 1) == 0)
				return error_set(err, ERROR_FORMAT,
						 "%s: the stream says that x264 made it",
						 e->way->encoder);
		}
		return 0;
	}

	int rc = ERROR_REMOTE;
	if (result->end == PROCESS_TIMED_OUT)
		rc = ERROR_CANCELLED;
	else if (ffmpeg_is_absent(job->messages))
		rc = ERROR_UNSUPPORTED;
	ffmpeg_describe(result, job->messages, how);
	*job->failure = (struct call_failure){.call = "ffmpeg", .code = result->code};
	return error_set(err, rc, "%s: %s", e->way->encoder, how);
}

/* Runs the program after the last frame. */
static int put(void *state, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = state;
	struct ffmpeg *ffmpeg = e->ffmpeg;
	const struct video_source *source = &e->job->source;
	const size_t size = VIDEO_FRAMES * video_frame_size(source);
	struct process_result result = {0};
	struct text arguments CLEANUP_TEXT = {0};

	if (index == 0)
		e->frames = frame->data[0];
	e->ran = frame == NULL;
	if (!e->ran)
		return 0;

	text_addf(&arguments,
		  "-nostdin -hide_banner -nostats -loglevel warning -f rawvideo -pix_fmt yuv420p "
		  "-video_size %ux%u -framerate %d -i pipe:0 -c:v %s",
		  source->width, source->height, VIDEO_RATE, e->way->encoder);

	/* The device, and its upload of frames. FFmpeg counts devices as the API that listed them. */
	static const char upload[] = "-filter_hw_device g -vf format=nv12,hwupload";
	const char *listed_by = ffmpeg->list != NULL ? ffmpeg->list->name : "";
	const char *node = json_pointer_string(device_of(ffmpeg), "/drm/render");
	const char *minor = node != NULL ? strchr(node, ':') : NULL;

	if (e->way->device == DEVICE_MF)
		text_add(&arguments, " -hw_encoding 1");
	if (e->way->device == DEVICE_CUDA && strcmp(listed_by, "cuda") == 0)
		text_addf(&arguments, " -gpu %zu", ffmpeg->index);
	if (e->way->device == DEVICE_QSV && minor != NULL)
		text_addf(&arguments, " -init_hw_device qsv=g:hw_any,child_device=" NODE "%s",
			  minor + 1);
	if (e->way->device == DEVICE_VAAPI)
		text_addf(&arguments, " -init_hw_device vaapi=g%s%s %s",
			  minor != NULL ? ":" NODE : "", minor != NULL ? minor + 1 : "", upload);
	if (e->way->device == DEVICE_VULKAN)
		text_addf(&arguments, " -init_hw_device vulkan=g:%zu %s",
			  strcmp(listed_by, "vulkan") == 0 ? ffmpeg->index : 0, upload);

	/* With VA-API every driver accepts a quantiser, but not every one a rate. */
	if (e->way->device == DEVICE_VAAPI)
		text_add(&arguments, " -qp 24");
	else
		text_addf(&arguments, " -b:v %d", VIDEO_BIT_RATE);
	text_add(&arguments, " -bf 0 -f h264 pipe:1");

	int rc = ffmpeg_run(ffmpeg, text_string(&arguments), e->frames, size, &result,
			    e->job->messages, err);
	if (rc == 0)
		rc = judge(e, &result, err);
	text_free(&ffmpeg->stream);
	ffmpeg->stream = result.out;
	result.out = (struct text){0};
	ffmpeg->source = *source;
	process_result_free(&result);
	return rc;
}

static int get(void *state, struct text *stream, bool *ended, struct error *err)
{
	const struct encoder *e = state;

	if (!e->ran)
		return error_set(err, ERROR_BUSY, "the program has not run yet");
	text_add_all(stream, &e->ffmpeg->stream);
	*ended = true;
	return 0;
}

static const struct video_encoder encoder = {
	.tries = true,
	.layout = VIDEO_I420,
	.list = list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
};

/* Are these the frames of the stream, in this layout? */
static bool is_like(const struct ffmpeg *ffmpeg, const struct text *decoded,
		    enum video_layout layout)
{
	const size_t size = video_frame_size(&ffmpeg->source);
	uint8_t *frame CLEANUP_FREE = memory_allocate(size, 1);

	if (decoded->size != VIDEO_FRAMES * size)
		return false;
	for (unsigned i = 0; i < VIDEO_FRAMES; i++) {
		const struct video_planes planes = video_planes_of(&ffmpeg->source, layout, frame);
		uint64_t squares = 1;

		video_fill(&ffmpeg->source, i, layout, &planes);
		for (size_t at = 0; at < size; at++) {
			const int other = (uint8_t)decoded->data[i * size + at];
			squares += (uint64_t)((frame[at] - other) * (frame[at] - other));
		}
		if (10 * log10(255.0 * 255.0 * (double)size / (double)squares) < VIDEO_LIKE_DB)
			return false;
	}
	return true;
}

/* Adds `decoding`. `-hwaccel auto` silently falls back to a processor, and exits with 0 in either case.
 * The frames show which one decoded: those from a device's memory are NV12, those of the decoder for
 * processors, for 8 bits and 4:2:0, are planar. */
static void decode(const struct ffmpeg *ffmpeg, cJSON *video)
{
	struct members decoding CLEANUP_MEMBERS = members_new();
	struct text_list messages CLEANUP_TEXT_LIST = {0};
	struct process_result result = {0};

	if (ffmpeg_run(ffmpeg,
		       "-nostdin -hide_banner -nostats -loglevel info -hwaccel auto -f h264 -i "
		       "pipe:0 -f rawvideo pipe:1",
		       ffmpeg->stream.data, ffmpeg->stream.size, &result, &messages, NULL) != 0)
		return;
	const bool planar = is_like(ffmpeg, &result.out, VIDEO_I420);
	const bool interleaved = !planar && is_like(ffmpeg, &result.out, VIDEO_NV12);
	const char *format = NULL;
	if (planar)
		format = "yuv420p";
	else if (interleaved)
		format = "nv12";
	const char *message = messages.count > 0 ? messages.items[0] : NULL;
	text_each (line, &messages) {
		if (strstr(line, "hwaccel") != NULL)
			message = line;
	}

	member_string(&decoding, "hwaccel", "auto");
	member_item(&decoding, "exitCode",
		    result.end == PROCESS_EXITED ? cJSON_CreateNumber(result.code)
						 : cJSON_CreateNull());
	member_string(&decoding, "pixelFormat", format);
	member_item(&decoding, "hardware",
		    format != NULL ? cJSON_CreateBool(interleaved) : cJSON_CreateNull());
	member_string(&decoding, "message", message);
	(void)cJSON_AddItemToObject(video, "decoding", members_take(&decoding));
	process_result_free(&result);
}

int ffmpeg_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err)
{
	struct ffmpeg *ffmpeg = session;

	ffmpeg->index = request->device;
	ffmpeg_set_time(ffmpeg, request->timeout_ms);
	int rc = video_work(&encoder, ffmpeg, true, request, report, err);
	if (rc != 0)
		return rc;
	if (report->status == WORK_ENCODED) {
		decode(ffmpeg, report->video);
	} else {
		/* Nothing encoded: use the outcome of the first encoder that fits this device. */
		const cJSON *attempts = cJSON_GetObjectItem(report->video, "attempts");
		const char *why = "";
		report->status = WORK_UNSUPPORTED;
		json_each (attempt, attempts) {
			const bool hardware = json_pointer_true(attempt, "/hardware");
			const char *name = json_pointer_string(attempt, "/status");
			enum work_status status = WORK_WRONG;
			while (status < WORK_STATUS_COUNT &&
			       !text_equal(work_status_name(status), name))
				status++;
			if (hardware == is_software(ffmpeg) || status >= WORK_UNSUPPORTED)
				continue;
			report->status = status;
			why = json_pointer_string(attempt, "/reason");
			break;
		}
		(void)snprintf(report->reason, sizeof(report->reason),
			       "none of %d encoders made the stream%s%s",
			       cJSON_GetArraySize(attempts), why[0] != '\0' ? "; " : "", why);
	}
	ffmpeg_transfer(ffmpeg, request->seed, report->video);
	return 0;
}
