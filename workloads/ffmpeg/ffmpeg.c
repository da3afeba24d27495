/* SPDX-License-Identifier: MIT */
#include "workloads/ffmpeg/ffmpeg.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	VERSION_TIMEOUT_MS = 10000,
	RUNS_TIMED_OUT = 3, /* the time for all runs is that of so many */
	NS_IN_MS = 1000000,
};

static const struct api_driver *const lists[] = {FFMPEG_LISTS};

/* Beside the probe, which is where the probe image has it, or where systems have it. PATH, which an
 * answer could set, is not asked. */
static int find_program(struct ffmpeg *ffmpeg, struct error *err)
{
	static const char *const places[] = {"/usr/local/bin/ffmpeg", "/usr/bin/ffmpeg"};
	int rc = path_beside_program(API_LIBRARY("ffmpeg.exe", "ffmpeg"), &ffmpeg->program, err);
	for (size_t i = 0; rc == 0 && !file_exists(ffmpeg->program); i++) {
		if (i == ARRAY_SIZE(places))
			return error_set(
				err, ERROR_NOT_FOUND,
				"there is no ffmpeg: put one beside the probes "
				"(libexec/gpucert), or use an image that has one in /usr/bin");
		free(ffmpeg->program);
		ffmpeg->program = strdup(places[i]);
		rc = ffmpeg->program != NULL ? 0 : error_memory(err);
	}
	return rc;
}

/* "ffmpeg version 5.1.9-0+deb12u1 Copyright ...". Shows, too, that the program runs at all. */
static int read_version(struct ffmpeg *ffmpeg, struct api_report *report, struct error *err)
{
	static const char begin[] = "ffmpeg version ";
	struct text_list words CLEANUP_TEXT_LIST = {0}, messages CLEANUP_TEXT_LIST = {0};
	struct process_result result = {0};
	struct error told = {0};
	char how[FFMPEG_DESCRIPTION_SIZE] = "it does not say that it is ffmpeg";
	int rc = ffmpeg_words(&words, FFMPEG_WORDS(ffmpeg->program, "-version"), &told);
	if (rc == 0)
		rc = ffmpeg_run(ffmpeg, &words, &(struct text){0}, &result, &messages, &told);
	if (rc != 0)
		return error_set(err, rc == ERROR_MEMORY ? rc : ERROR_UNAVAILABLE, "%s", told.text);
	const char *said = text_string(&result.out);
	const bool ran = result.end == PROCESS_EXITED && result.code == 0;
	if (!ran)
		ffmpeg_describe(&result, &messages, how);
	if (ran && text_starts_with(said, begin))
		(void)snprintf(report->version, sizeof(report->version), "%.*s",
			       (int)strcspn(said + sizeof(begin) - 1, " \r\n"),
			       said + sizeof(begin) - 1);
	else
		rc = error_set(err, ERROR_UNAVAILABLE, "%s -version: %s", ffmpeg->program, how);
	process_result_free(&result);
	return rc;
}

/* Where no API of a GPU tells a device, the processor is one. */
static int add_processor(struct api_report *report, struct error *err)
{
	struct members device CLEANUP_MEMBERS = members_new();
	member_number(&device, "index", 0);
	member_string(&device, "name", "processor");
	member_string(&device, "type", "cpu");
	member_bool(&device, "software", true);
	member_null(&device, "deviceUuid");
	member_null(&device, "pciAddress");
	api_add_driver(&device, NULL);
	member_null(&device, "memoryBytes");
	return api_report_device(report, members_take(&device), err);
}

/* FFmpeg lists no devices: another API does. */
static int list_devices(struct ffmpeg *ffmpeg, struct api_report *report, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists) && ffmpeg->list == NULL; i++) {
		struct api_report other CLEANUP_API_REPORT = {0};
		void *session = NULL;
		int rc = api_open(lists[i], &other, &session, err);
		if (rc == 0 && cJSON_GetArraySize(other.devices) > 0) {
			cJSON *empty = report->devices;
			report->devices = other.devices;
			other.devices = empty;
			ffmpeg->list = lists[i];
		}
		if (session != NULL)
			lists[i]->close(session);
		if (rc != 0)
			return rc;
	}
	return ffmpeg->list != NULL ? 0 : add_processor(report, err);
}

static void ffmpeg_close(void *session)
{
	struct ffmpeg *ffmpeg = session;
	text_free(&ffmpeg->stream);
	free(ffmpeg->program);
	free(ffmpeg);
}

static void set_time(struct ffmpeg *ffmpeg, uint64_t timeout_ms)
{
	ffmpeg->timeout_ms = timeout_ms;
	ffmpeg->deadline_ns = clock_monotonic_ns() + RUNS_TIMED_OUT * timeout_ms * NS_IN_MS;
}

static int ffmpeg_open(struct api_report *report, void **session, struct error *err)
{
	struct ffmpeg *ffmpeg = calloc(1, sizeof(*ffmpeg));
	if (ffmpeg == NULL)
		return error_memory(err);
	set_time(ffmpeg, VERSION_TIMEOUT_MS);
	int rc = find_program(ffmpeg, err);
	if (rc == 0) {
		(void)snprintf(report->path, sizeof(report->path), "%s", ffmpeg->program);
		rc = read_version(ffmpeg, report, err);
	}
	if (rc == 0)
		rc = list_devices(ffmpeg, report, err);
	if (rc != 0) {
		ffmpeg_close(ffmpeg);
		return rc;
	}
	ffmpeg->devices = report->devices;
	*session = ffmpeg;
	return 0;
}

static void choose_device(struct ffmpeg *ffmpeg, const struct work_request *request)
{
	const cJSON *device = cJSON_GetArrayItem(ffmpeg->devices, (int)request->device);
	const char *vendor = json_pointer_string(device, "/vendorId");
	const char *node = json_pointer_string(device, "/drm/render");
	const char *minor = node != NULL ? strchr(node, ':') : NULL;
	ffmpeg->index = request->device;
	ffmpeg->software = cJSON_IsTrue(cJSON_GetObjectItem(device, "software"));
	ffmpeg->vendor = vendor != NULL ? (uint32_t)strtoul(vendor, NULL, 16) : 0;
	if (minor != NULL)
		(void)snprintf(ffmpeg->node, sizeof(ffmpeg->node), "/dev/dri/renderD%s", minor + 1);
	set_time(ffmpeg, request->timeout_ms);
}

/* Nothing encoded: the work is as the encoders are that this device could have had. */
static void judge_attempts(const struct ffmpeg *ffmpeg, struct work_report *report)
{
	const cJSON *attempts = cJSON_GetObjectItem(report->video, "attempts");
	const cJSON *attempt = NULL;
	const char *why = "";
	report->status = WORK_UNSUPPORTED;
	cJSON_ArrayForEach (attempt, attempts) {
		bool hardware = cJSON_IsTrue(cJSON_GetObjectItem(attempt, "hardware"));
		const char *told = json_pointer_string(attempt, "/status");
		for (enum work_status s = WORK_WRONG;
		     hardware != ffmpeg->software && report->status == WORK_UNSUPPORTED &&
		     s < WORK_UNSUPPORTED;
		     s++) {
			if (strcmp(work_status_name(s), told) != 0)
				continue;
			report->status = s;
			why = json_pointer_string(attempt, "/reason");
		}
	}
	(void)snprintf(report->reason, sizeof(report->reason),
		       "none of %d encoders made the stream%s%s", cJSON_GetArraySize(attempts),
		       why[0] != '\0' ? "; " : "", why);
}

static int ffmpeg_work(void *session, const struct work_request *request,
		       struct work_report *report, struct error *err)
{
	struct ffmpeg *ffmpeg = session;
	choose_device(ffmpeg, request);
	int rc = video_work(&ffmpeg_encoder, ffmpeg, true, request, report, err);
	if (rc != 0)
		return rc;
	if (report->status == WORK_ENCODED)
		return ffmpeg_decode(ffmpeg, report->video, err);
	judge_attempts(ffmpeg, report);
	return 0;
}

const struct api_driver ffmpeg_api = {
	.name = "ffmpeg",
	.library = "ffmpeg",
	.summary = "Encode video with FFmpeg as its users do and report what happened",
	.description =
		"Runs an ffmpeg program with moving frames on its standard input and tries its H.264 encoders, those in hardware "
		"first, up to one whose stream is whole. Each try is told with its exit code and messages. The stream is in the "
		"document, for verify-video.",
	.open = ffmpeg_open,
	.work = ffmpeg_work,
	.close = ffmpeg_close,
};
