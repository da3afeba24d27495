/* SPDX-License-Identifier: MIT */
#include "conformance/checks/video.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "conformance/checks/shown.h"
#include "conformance/runner/context.h"
#include "reports/view.h"
#include "workloads/video/frames.h"
#include "workloads/video/video.h"
#include "workloads/video/walk.h"

#include <sodium.h>
#include <string.h>

enum { VERIFY_TIMEOUT_MS = 60000 };

#define WANTED "decodes to the frames of this launch"

/* One element of `streams`. */
struct encoded {
	struct check_run *run;
	const char *what; /* "LABEL: /work/video/streams/0" */
	const char *name; /* name of its files: "LABEL.h264" */
	const cJSON *json;
	const char *codec;
	struct video_source source;
	const char *program;
};

static unsigned side_of(const cJSON *json, const char *pointer)
{
	double side = json_pointer_number(json, pointer);
	return side >= 1 && side <= UINT16_MAX ? (unsigned)side : 0;
}

/* What verify-video prints; NULL: nothing, which is recorded. Caller owns it. */
static cJSON *judge(const struct encoded *stream, const char *path)
{
	const char *const argv[] = {
		stream->program,
		"--codec",
		stream->codec,
		"--seed",
		check_format(stream->run, "%lu", (unsigned long)stream->source.seed),
		"--width",
		check_format(stream->run, "%u", stream->source.width),
		"--height",
		check_format(stream->run, "%u", stream->source.height),
		path,
		NULL,
	};
	const struct process_spec spec = {
		.argv = argv,
		.timeout_ms = context_limit_ms(check_context(stream->run), VERIFY_TIMEOUT_MS),
	};
	struct process_result result CLEANUP(process_result_free) = {0};
	struct error err = {0};
	int rc = process_run(&spec, &result, &err);
	if (rc == ERROR_NOT_FOUND) {
		check_unsupported(stream->run,
				  "%s: the stream is not verified, because there is no "
				  "verify-video here (%s)",
				  stream->what, err.text);
		return NULL;
	}
	if (!check_works(stream->run, rc, "verify-video", &err))
		return NULL;

	char end[256] = "";
	process_describe(&result, end, sizeof(end));
	if (result.end != PROCESS_EXITED) {
		(void)check_expect(stream->run, false, stream->what, WANTED, "verify-video: %s",
				   end);
		return NULL;
	}
	cJSON *judgement = NULL;
	if (result.code != 0)
		rc = error_set(&err, ERROR_REMOTE, "%s: %s", end, text_string(&result.err));
	else
		rc = json_parse(text_string(&result.out), result.out.size, &judgement, &err);
	return check_works(stream->run, rc, "verify-video", &err) ? judgement : NULL;
}

/* *encoded: the probe encoded it, or failed to. */
static bool expect_stream(const struct encoded *stream, bool *encoded)
{
	const char *status = view_string(stream->json, "/status");
	enum video_codec codec = VIDEO_H264;
	if (strcmp(status, "unsupported") == 0) {
		check_note(stream->run, "%s: %s", stream->what,
			   view_string(stream->json, "/reason"));
		return true;
	}
	*encoded = true;
	if (!check_expect_text(stream->run, check_format(stream->run, "%s/status", stream->what),
			       status, "encoded"))
		return false;
	if (video_codec_find(stream->codec, &codec, NULL) != 0 ||
	    !video_has_size(stream->source.width, stream->source.height))
		return check_expect(stream->run, false, stream->what, WANTED,
				    "'%s' of %u by %u, which no probe encodes", stream->codec,
				    stream->source.width, stream->source.height);
	const char *text = view_string(stream->json, "/stream");
	unsigned char *bytes CLEANUP_FREE = memory_allocate(VIDEO_STREAM_MAX, 1);
	size_t size = 0;
	if (sodium_base642bin(bytes, VIDEO_STREAM_MAX, text, strlen(text), NULL, &size, NULL,
			      sodium_base64_VARIANT_ORIGINAL) != 0)
		return check_expect(stream->run, false, stream->what, WANTED,
				    "not at most %d bytes in base64", VIDEO_STREAM_MAX);
	const char *path = check_path(stream->run, "stream");
	struct error err = {0};
	if (!check_works(stream->run, file_write_atomic(path, bytes, size, 0600, &err),
			 stream->what, &err))
		return false;

	cJSON *judgement CLEANUP_JSON = judge(stream, path);
	if (judgement == NULL)
		return false;
	check_evidence_json(stream->run, check_format(stream->run, "%s.json", stream->name),
			    judgement);
	const char *verdict = view_string(judgement, "/status");
	if (strcmp(verdict, "ok") != 0)
		return check_expect_varying(stream->run, false, stream->what, WANTED, "%s: %s",
					    verdict, view_string(judgement, "/reason"));
	double least = 99; /* of all frames, for the report */
	json_each (frame, json_pointer(judgement, "/psnr"))
		least = frame->valuedouble < least ? frame->valuedouble : least;
	return check_expect_varying(stream->run, true, stream->what, WANTED,
				    "%s of %u by %u, at least %.1f dB", stream->codec,
				    stream->source.width, stream->source.height, least);
}

bool video_expect_streams(struct check_run *run, const char *label, const cJSON *document,
			  uint32_t seed, const char *program)
{
	const cJSON *streams = json_pointer(document, "/work/video/streams");
	const int count = cJSON_GetArraySize(streams);
	char *own CLEANUP_FREE = NULL;
	struct error err = {0};
	bool held = true, encoded = false;
	int rc = program == NULL ? path_of_helper("verify-video", &own, &err) : 0;
	if (!check_works(run, rc, label, &err))
		return false;
	for (int i = 0; i < count && i < VIDEO_CODECS; i++) {
		const cJSON *json = cJSON_GetArrayItem(streams, i);
		const struct encoded stream = {
			.run = run,
			.what = check_format(run, "%s: /work/video/streams/%d", label, i),
			.name = check_format(run, "%s.%s", label, view_string(json, "/codec")),
			.json = json,
			.codec = view_string(json, "/codec"),
			.source = {seed, side_of(json, "/width"), side_of(json, "/height")},
			.program = program != NULL ? program : own,
		};
		held = expect_stream(&stream, &encoded) && held;
	}
	return check_expect_is(run, encoded && count <= VIDEO_CODECS,
			       check_format(run, "%s: /work/video/streams", label),
			       "one for each codec that is offered", "none, or too many") &&
	       held;
}

bool video_has_no_encoder(const struct discovery_snapshot *node,
			  const struct discovery_device *device, const char *reason)
{
	if (strcmp(node->system.os, "linux") != 0)
		return false;
	return text_starts_with(reason, VIDEO_NOTHING) ||
	       (strstr(reason, VIDEO_NO_QUEUE) != NULL &&
		text_starts_with(device->user_mode_driver, "Mesa "));
}

void video_expect_hardware(struct check_run *run, const struct discovery_device *device,
			   const struct grant *grant, const cJSON *document,
			   video_offers_api *offers)
{
	/* The encoder is known only from the program's word: the program must be the image's. */
	const char *path = json_pointer_string(document, "/api/loader/path");
	grant_each (mount, &grant->mounts) {
		if (path != NULL && path_is_within(path, mount->container_path))
			(void)check_expect(run, false, "/api/loader/path", "an ffmpeg of the image",
					   "%s, which the answer mounts", path);
	}

	/* Frames through FFmpeg's filters of Vulkan; a program without these filters is not a failure. */
	const cJSON *transfer = json_pointer(document, "/work/video/vulkan");
	if (transfer != NULL) {
		const char *status = view_string(transfer, "/status");
		const char *reason = view_string(transfer, "/reason");
		check_note(run, "%s: FFmpeg on Vulkan: %s%s%s", device->id, status,
			   reason[0] != '\0' ? ": " : "", reason);
		if (strcmp(status, "wrong") == 0)
			(void)check_expect(run, false, "/work/video/vulkan",
					   "the frames of this launch", "%s", reason);
	}

	const cJSON *stream = json_pointer(document, "/work/video/streams/0");
	bool hardware = json_pointer_true(stream, "/hardware");
	check_note(run, "%s: FFmpeg encoded with %s, which %s", device->id,
		   view_string(stream, "/encoder"),
		   hardware ? "is an encoder in hardware" : "runs on a processor");
	if (hardware || shown_is_software(shown_device(document)))
		return;
	json_each (attempt, json_pointer(document, "/work/video/attempts")) {
		const struct gpu_api *api = gpu_api_find(view_string(attempt, "/api"));
		const char *reason = view_string(attempt, "/reason");
		if (api == NULL || !offers(device, api))
			continue;
		if (strcmp(view_string(attempt, "/status"), "unsupported") == 0)
			check_unsupported(run, "%s: %s", device->id, reason);
		else
			(void)check_expect(
				run, false, "/work/video/streams/0/hardware",
				check_format(run, "true, for the device offers %s", api->name),
				"false: %s", reason);
	}
}

void video_expect_ffmpeg(struct check_run *run, const struct discovery_device *device,
			 const cJSON *document, video_offers_api *offers)
{
	bool promised = false;
	gpu_api_each (api)
		promised = promised || (api->encodes && strcmp(api->name, "ffmpeg") != 0 &&
					offers(device, api));
	if (promised && device->kind != DISCOVERY_SOFTWARE)
		check_unsupported(run, "%s: %s", device->id,
				  json_pointer_string(document, "/api/reason"));
	else
		check_not_applicable(run, "%s offers no encoder, and the image has no ffmpeg",
				     device->id);
}
