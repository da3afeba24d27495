/* SPDX-License-Identifier: MIT */
/* Frames are uploaded to a Vulkan device, enlarged there, and downloaded again. Every byte that comes
 * back is a sample of the seed, because nearest sampling makes no others. */
#include "workloads/ffmpeg/ffmpeg.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = 64, FRAMES = 3, NAME_SIZE = 256, LARGER = 2 };
enum { LARGER_SIZE = SIDE * SIDE * 3 / 2 * LARGER * LARGER }; /* bytes of a frame */

#define ARGUMENTS                                                                                   \
	"-nostdin -hide_banner -nostats -loglevel level+verbose -init_hw_device vulkan=g:%zu "      \
	"-filter_hw_device g -f rawvideo -pix_fmt yuv420p -video_size %dx%d -framerate %d "         \
	"-i pipe:0 -vf format=yuv420p,hwupload,scale_vulkan=%d*iw:%d*ih:scaler=nearest,hwdownload," \
	"format=yuv420p -f rawvideo pipe:1"

struct transfer {
	char device[NAME_SIZE]; /* as FFmpeg reports it */
	char reason[ERROR_TEXT_SIZE];
	struct text_list messages;
	struct process_result result;
	bool exited;
};

static struct text make_frames(uint32_t seed, unsigned scale)
{
	struct text out = {0};

	for (unsigned i = 0; i < FRAMES * VIDEO_PLANES; i++) {
		const unsigned plane = i % VIDEO_PLANES;
		const unsigned side = scale * (plane == 0 ? SIDE : SIDE / 2);
		for (unsigned at = 0; at < side * side; at++) {
			const char sample =
				(char)video_sample(seed, i / VIDEO_PLANES, plane, at % side / scale,
						   at / side / scale);
			text_append(&out, &sample, 1);
		}
	}
	return out;
}

/* Finds the device's name, "Device 0 selected: llvmpipe (LLVM 15.0.6, 256 bits) (software) (0x0)", and
 * the messages: by their level, because shaders are printed, too. */
static void read_lines(struct transfer *t)
{
	static const char mark[] = " selected: ";
	const char *at = text_string(&t->result.err);

	for (size_t size = 0; *at != '\0'; at += size + (at[size] != '\0')) {
		char line[2 * NAME_SIZE] = "";

		size = strcspn(at, "\r\n");
		(void)snprintf(line, sizeof(line), "%.*s", (int)size, at);
		if (strstr(line, "[error] ") != NULL || strstr(line, "[fatal] ") != NULL)
			ffmpeg_keep_line(true, line, strlen(line), &t->messages);
		const char *name = strstr(line, mark);
		if (name == NULL)
			continue;
		(void)snprintf(t->device, sizeof(t->device), "%s", name + sizeof(mark) - 1);
		/* Cut type and number. */
		for (int i = 0; i < 2; i++) {
			char *bracket = strrchr(t->device, '(');
			if (bracket != NULL && bracket != t->device)
				bracket[-1] = '\0';
		}
	}
}

/* Exit code 0 does not prove success, as with encoders. */
static enum work_status judge(struct transfer *t, const char *device, const struct text *expected)
{
	cJSON *reported CLEANUP_JSON = json_new_string(t->device, strlen(t->device));
	const struct text *actual = &t->result.out;
	size_t at = 0;

	ffmpeg_describe(&t->result, &t->messages, t->reason);
	t->exited = t->result.end == PROCESS_EXITED;
	if (t->result.end == PROCESS_TIMED_OUT)
		return WORK_TIMED_OUT;
	if (!t->exited || t->result.code != 0)
		return ffmpeg_is_absent(&t->messages) ? WORK_UNSUPPORTED : WORK_FAILED;

	t->reason[0] = '\0';
	if (!text_equal(cJSON_GetStringValue(reported), device)) {
		(void)snprintf(t->reason, sizeof(t->reason),
			       "expected the device '%s', FFmpeg reported '%s'",
			       device != NULL ? device : "", t->device);
		return WORK_WRONG;
	}
	while (at < expected->size && at < actual->size && actual->data[at] == expected->data[at])
		at++;
	if (at == expected->size && at == actual->size)
		return WORK_OK;
	(void)snprintf(
		t->reason, sizeof(t->reason),
		"frame %zu is not that of the seed from byte %zu on; %zu bytes of %zu came back",
		at / LARGER_SIZE, at % LARGER_SIZE, actual->size, expected->size);
	return WORK_WRONG;
}

void ffmpeg_transfer(const struct ffmpeg *ffmpeg, uint32_t seed, cJSON *video)
{
	struct members members CLEANUP_MEMBERS = members_new();
	struct transfer t = {.reason = "Vulkan reports no device here"};
	enum work_status status = WORK_UNSUPPORTED;

	if (ffmpeg->list != NULL && strcmp(ffmpeg->list->name, "vulkan") == 0) {
		const cJSON *device = cJSON_GetArrayItem(ffmpeg->devices, (int)ffmpeg->index);
		struct text frames CLEANUP_TEXT = make_frames(seed, 1);
		struct text expected CLEANUP_TEXT = make_frames(seed, LARGER);
		char *arguments CLEANUP_FREE = text_format(ARGUMENTS, ffmpeg->index, SIDE, SIDE,
							   VIDEO_RATE, LARGER, LARGER);
		struct error err = {0};
		int rc = ffmpeg_run(ffmpeg, arguments, frames.data, frames.size, &t.result, NULL,
				    &err);
		(void)snprintf(t.reason, sizeof(t.reason), "%s", err.text);
		if (rc == 0) {
			read_lines(&t);
			status = judge(&t, json_pointer_string(device, "/name"), &expected);
		} else {
			status = rc == ERROR_CANCELLED ? WORK_TIMED_OUT : WORK_FAILED;
		}
	}

	member_optional(&members, "device", t.device);
	member_string(&members, "status", work_status_name(status));
	member_optional(&members, "reason", t.reason);
	member_item(&members, "exitCode",
		    t.exited ? cJSON_CreateNumber(t.result.code) : cJSON_CreateNull());
	member_item(&members, "messages", json_new_strings(&t.messages));
	(void)cJSON_AddItemToObject(video, "vulkan", members_take(&members));
	process_result_free(&t.result);
	text_list_free(&t.messages);
}
