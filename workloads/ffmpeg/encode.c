/* SPDX-License-Identifier: MIT */
/* One stream by one run of the program: raw frames on its standard input, the stream on its standard
 * output. Then another run decodes it. */
#include "workloads/ffmpeg/ffmpeg.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE "/dev/dri/renderD"

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

static const cJSON *device_of(const struct ffmpeg *ffmpeg)
{
	return cJSON_GetArrayItem(ffmpeg->devices, (int)ffmpeg->index);
}

static bool is_software(const struct ffmpeg *ffmpeg)
{
	return cJSON_IsTrue(cJSON_GetObjectItem(device_of(ffmpeg), "software"));
}

static int open_encoder(void *session, const struct video_job *job, void *state, struct error *err)
{
	const struct way *way = &ways[job->offer->id];
	const char *told = json_pointer_string(device_of(session), "/vendorId");
	const unsigned long vendor = told != NULL ? strtoul(told, NULL, 16) : 0;
	*(struct encoder *)state = (struct encoder){.ffmpeg = session, .job = job, .way = way};
	if (way->vendor == 0 || vendor == 0 || way->vendor == vendor || is_software(session))
		return 0;
	return error_set(err, ERROR_UNSUPPORTED,
			 "%s is for devices of the vendor 0x%04x, and this one is of 0x%04lx",
			 way->encoder, (unsigned)way->vendor, vendor);
}

/* The frames' way to the device, and which one that is. An API that told the devices counts them as
 * FFmpeg does. */
static void add_device(const struct ffmpeg *ffmpeg, enum device_words device, struct text *out)
{
	static const char upload[] = "-filter_hw_device g -vf format=nv12,hwupload";
	const char *list = ffmpeg->list != NULL ? ffmpeg->list->name : "";
	const char *node = json_pointer_string(device_of(ffmpeg), "/drm/render");
	const char *minor = node != NULL ? strchr(node, ':') : NULL;
	if (device == DEVICE_MF)
		text_add(out, " -hw_encoding 1");
	if (device == DEVICE_CUDA && strcmp(list, "cuda") == 0)
		text_addf(out, " -gpu %zu", ffmpeg->index);
	if (device == DEVICE_QSV && minor != NULL)
		text_addf(out, " -init_hw_device qsv=g:hw_any,child_device=" NODE "%s", minor + 1);
	if (device == DEVICE_VAAPI)
		text_addf(out, " -init_hw_device vaapi=g%s%s %s", minor != NULL ? ":" NODE : "",
			  minor != NULL ? minor + 1 : "", upload);
	if (device == DEVICE_VULKAN)
		text_addf(out, " -init_hw_device vulkan=g:%zu %s",
			  strcmp(list, "vulkan") == 0 ? ffmpeg->index : 0, upload);
}

/* VA-API takes a quantiser alone from every driver. NULL: out of memory. */
static char *make_arguments(const struct encoder *e)
{
	const struct video_source *source = &e->job->source;
	struct text out CLEANUP_TEXT = {0};
	text_addf(&out,
		  "-nostdin -hide_banner -nostats -loglevel warning -f rawvideo -pix_fmt yuv420p "
		  "-video_size %ux%u -framerate %d -i pipe:0 -c:v %s",
		  source->width, source->height, VIDEO_RATE, e->way->encoder);
	add_device(e->ffmpeg, e->way->device, &out);
	if (e->way->device == DEVICE_VAAPI)
		text_add(&out, " -qp 24");
	else
		text_addf(&out, " -b:v %d", VIDEO_BIT_RATE);
	text_add(&out, " -bf 0 -f h264 pipe:1");
	return text_take(&out);
}

/* x264 signs its streams: one that an encoder in hardware is said to have made has not that. */
static int expect_own(const struct encoder *e, const struct text *stream, struct error *err)
{
	static const char mark[] = "x264 - core";
	const char *data = text_string(stream);
	for (size_t i = 0; e->way->api != NULL && i + sizeof(mark) <= stream->size; i++) {
		if (memcmp(data + i, mark, sizeof(mark) - 1) == 0)
			return error_set(err, ERROR_FORMAT, "%s: the stream says that x264 made it",
					 e->way->encoder);
	}
	return 0;
}

/* The exit code alone proves nothing; but a program that says that it failed did. */
static int judge(const struct encoder *e, const struct process_result *result, struct error *err)
{
	const struct video_job *job = e->job;
	char how[FFMPEG_DESCRIPTION_SIZE] = "";
	int rc = ERROR_REMOTE;
	if (result->end == PROCESS_EXITED)
		*job->exit_code = result->code;
	if (result->end == PROCESS_EXITED && result->code == 0)
		return expect_own(e, &result->out, err);
	if (result->end == PROCESS_TIMED_OUT)
		rc = ERROR_CANCELLED;
	else if (ffmpeg_is_absent(job->messages))
		rc = ERROR_UNSUPPORTED;
	ffmpeg_describe(result, job->messages, how);
	*job->failure = (struct call_failure){.call = "ffmpeg", .code = result->code};
	return error_set(err, rc, "%s: %s", e->way->encoder, how);
}

static int run(const struct encoder *e, struct error *err)
{
	struct ffmpeg *ffmpeg = e->ffmpeg;
	const size_t size = VIDEO_FRAMES * video_frame_size(&e->job->source);
	struct process_result result = {0};
	char *arguments CLEANUP_FREE = make_arguments(e);
	int rc = ffmpeg_run(ffmpeg, arguments, e->frames, size, &result, e->job->messages, err);
	if (rc == 0)
		rc = judge(e, &result, err);
	text_free(&ffmpeg->stream);
	ffmpeg->stream = result.out;
	result.out = (struct text){0};
	ffmpeg->source = e->job->source;
	process_result_free(&result);
	return rc;
}

static int put(void *state, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct encoder *e = state;
	if (index == 0)
		e->frames = frame->data[0];
	e->ran = frame == NULL;
	return e->ran ? run(e, err) : 0;
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
	uint8_t *frame CLEANUP_FREE = malloc(size);
	bool like = frame != NULL && decoded->size == VIDEO_FRAMES * size;
	for (unsigned i = 0; like && i < VIDEO_FRAMES; i++) {
		const struct video_planes planes = video_planes_of(&ffmpeg->source, layout, frame);
		uint64_t squares = 1;
		video_fill(&ffmpeg->source, i, layout, &planes);
		for (size_t at = 0; at < size; at++) {
			const int other = (uint8_t)decoded->data[i * size + at];
			squares += (uint64_t)((frame[at] - other) * (frame[at] - other));
		}
		like = 10 * log10(255.0 * 255.0 * (double)size / (double)squares) >= VIDEO_LIKE_DB;
	}
	return like;
}

static cJSON *decoding_json(const struct ffmpeg *ffmpeg, const struct process_result *result,
			    const struct text_list *messages)
{
	struct members decoding CLEANUP_MEMBERS = members_new();
	const char *message = messages->count > 0 ? messages->items[0] : NULL;
	const bool planar = is_like(ffmpeg, &result->out, VIDEO_I420);
	const bool beside = !planar && is_like(ffmpeg, &result->out, VIDEO_NV12);
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

/* `-hwaccel auto` falls back to a processor without a word and exits with 0 whatever decoded. The frames
 * tell: what comes from a device's memory is NV12, what the decoder for processors makes of 8 bits and
 * 4:2:0 is planar. ERROR_MEMORY. */
static int decode(const struct ffmpeg *ffmpeg, cJSON *video, struct error *err)
{
	struct text_list messages CLEANUP_TEXT_LIST = {0};
	struct process_result result = {0};
	int rc =
		ffmpeg_run(ffmpeg,
			   "-nostdin -hide_banner -nostats -loglevel info -hwaccel auto -f h264 -i "
			   "pipe:0 -f rawvideo pipe:1",
			   ffmpeg->stream.data, ffmpeg->stream.size, &result, &messages, NULL);
	if (rc == 0 &&
	    !cJSON_AddItemToObject(video, "decoding", decoding_json(ffmpeg, &result, &messages)))
		rc = ERROR_MEMORY;
	process_result_free(&result);
	return rc == ERROR_MEMORY ? error_memory(err) : 0;
}

/* Nothing encoded: use the outcome of the first encoder that fits this device. */
static void judge_attempts(const struct ffmpeg *ffmpeg, struct work_report *report)
{
	const cJSON *attempts = cJSON_GetObjectItem(report->video, "attempts");
	const char *why = "";
	report->status = WORK_UNSUPPORTED;
	json_each (attempt, attempts) {
		const bool hardware = cJSON_IsTrue(cJSON_GetObjectItem(attempt, "hardware"));
		const char *name = json_pointer_string(attempt, "/status");
		enum work_status status = WORK_WRONG;
		while (status < WORK_STATUS_COUNT && !text_equal(work_status_name(status), name))
			status++;
		if (hardware == is_software(ffmpeg) || status >= WORK_UNSUPPORTED)
			continue;
		report->status = status;
		why = json_pointer_string(attempt, "/reason");
		break;
	}
	(void)snprintf(report->reason, sizeof(report->reason),
		       "none of %d encoders made the stream%s%s", cJSON_GetArraySize(attempts),
		       why[0] != '\0' ? "; " : "", why);
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
	if (report->status == WORK_ENCODED)
		rc = decode(ffmpeg, report->video, err);
	else
		judge_attempts(ffmpeg, report);
	return rc == 0 ? ffmpeg_transfer(ffmpeg, request->seed, report->video, err) : rc;
}
