/* SPDX-License-Identifier: MIT */
/* An ffmpeg for tests: understands only the command lines of probe-ffmpeg, has the encoders that
 * GPUCERT_DOUBLE names, all of which are OpenH264, and misbehaves on request.
 *
 * GPUCERT_DOUBLE (settings.h):
 *   NAME        this encoder works ("h264_vaapi"); all others are unknown, as h264_nvenc is where
 *               there is no library of NVIDIA's driver
 *   absent      h264_nvenc says that the device has no engine
 *   empty       works, with no output        signed    signs its stream as x264 does
 *   fails       a stream, and exit code 3    huge      output without end
 *   hangs       h264_nvenc never ends        stuck     nor does any that does not work
 *   deaf        reads nothing, exits with 0
 *   controls    messages with control characters, and thousands of them
 *   other=SEED  frames of another seed       nv12      decodes as a device does
 *   stranger    -version is of another program          broken    -version fails
 *   vulkan      scales frames, on the processor, and reports the device of vulkan_double.c, with
 *       stale   one frame again in place of the next    short     the last frame missing
 *       copied  the frames as they came                 elsewhere another device
 *       fallback  after it reported no device; late  without an end
 *   gone        a missing device of Vulkan             plain     no filters of Vulkan; otherwise none
 */
#include "base/text.h"
#include "workloads/doubles/settings.h"
#include "workloads/video/frames.h"
#include "workloads/video/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wels/codec_api.h>

static const char *option(char **argv, const char *name)
{
	for (; argv[0] != NULL && argv[1] != NULL; argv++) {
		if (strcmp(argv[0], name) == 0)
			return argv[1];
	}
	return "";
}

static struct text read_input(void)
{
	struct text input = {0};
	char chunk[65536] = "";
	for (size_t size = 0; (size = fread(chunk, 1, sizeof(chunk), stdin)) > 0;)
		text_append(&input, chunk, size);
	return input;
}

static void encode_frame(ISVCEncoder *encoder, const struct video_source *source,
			 const struct video_planes *planes)
{
	SFrameBSInfo info = {0};
	SSourcePicture picture = {
		.iColorFormat = videoFormatI420,
		.iPicWidth = (int)source->width,
		.iPicHeight = (int)source->height,
	};
	for (size_t i = 0; i < VIDEO_PLANES; i++) {
		picture.pData[i] = planes->data[i];
		picture.iStride[i] = (int)planes->pitch[i];
	}
	if ((*encoder)->EncodeFrame(encoder, &picture, &info) != 0)
		exit(9);
	for (int layer = 0; layer < info.iLayerNum; layer++) {
		size_t size = 0;
		for (int i = 0; i < info.sLayerInfo[layer].iNalCount; i++)
			size += (size_t)info.sLayerInfo[layer].pNalLengthInByte[i];
		(void)fwrite(info.sLayerInfo[layer].pBsBuf, 1, size, stdout);
	}
}

static int encode(const struct video_source *source)
{
	const size_t size = video_frame_size(source);
	const SEncParamBase params = {
		.iUsageType = CAMERA_VIDEO_REAL_TIME,
		.iPicWidth = (int)source->width,
		.iPicHeight = (int)source->height,
		.iTargetBitrate = 800000,
		.iRCMode = RC_OFF_MODE,
		.fMaxFrameRate = VIDEO_RATE,
	};
	struct text input = read_input();
	ISVCEncoder *encoder = NULL;
	if (WelsCreateSVCEncoder(&encoder) != 0 || (*encoder)->Initialize(encoder, &params) != 0)
		return 9;
	for (unsigned i = 0; (i + 1) * size <= input.size; i++) {
		const struct video_planes planes =
			video_planes_of(source, VIDEO_I420, (uint8_t *)input.data + i * size);
		if (source->seed != 0)
			video_fill(source, i, VIDEO_I420, &planes);
		encode_frame(encoder, source, &planes);
	}
	(void)(*encoder)->Uninitialize(encoder);
	WelsDestroySVCEncoder(encoder);
	text_free(&input);
	return 0;
}

static void write_plane(const uint8_t *plane, int pitch, int width, int height)
{
	for (int y = 0; y < height; y++)
		(void)fwrite(plane + (size_t)y * (size_t)pitch, 1, (size_t)width, stdout);
}

static void write_frame(unsigned char *const planes[VIDEO_PLANES], const SSysMEMBuffer *buffer)
{
	const int width = buffer->iWidth / 2, height = buffer->iHeight / 2;
	const int pitch = buffer->iStride[1];
	write_plane(planes[0], buffer->iStride[0], buffer->iWidth, buffer->iHeight);
	for (int i = 0; setting_has("nv12") && i < width * height; i++) {
		(void)putchar(planes[1][i / width * pitch + i % width]);
		(void)putchar(planes[2][i / width * pitch + i % width]);
	}
	for (size_t i = 1; !setting_has("nv12") && i < VIDEO_PLANES; i++)
		write_plane(planes[i], pitch, width, height);
}

/* Unit by unit: a picture of OpenH264 is one unit. */
static int decode_units(ISVCDecoder *decoder, const uint8_t *data, size_t size)
{
	for (size_t at = video_start_code(data, size, 0), next = 0; at < size; at = next) {
		unsigned char *planes[VIDEO_PLANES] = {NULL};
		SBufferInfo info = {0};
		next = video_start_code(data, size, at + 3);
		if ((*decoder)->DecodeFrameNoDelay(decoder, data + at, (int)(next - at), planes,
						   &info) != dsErrorFree)
			return 9;
		if (info.iBufferStatus == 1)
			write_frame(planes, &info.UsrData.sSystemBuffer);
	}
	return 0;
}

static int decode(void)
{
	struct text input = read_input();
	const SDecodingParam params = {.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC};
	ISVCDecoder *decoder = NULL;
	(void)fprintf(stderr,
		      setting_has("nv12")
			      ? "Using auto hwaccel type vaapi with new default device.\n"
			      : "[h264 @ 0x5581] Auto hwaccel disabled: no device found.\n");
	if (WelsCreateDecoder(&decoder) != 0 || (*decoder)->Initialize(decoder, &params) != 0)
		return 9;
	int rc = decode_units(decoder, (const uint8_t *)text_string(&input), input.size);
	(void)(*decoder)->Uninitialize(decoder);
	WelsDestroyDecoder(decoder);
	text_free(&input);
	return rc;
}

/* Frames without gaps, each plane twice as wide and high. */
static void scale(const char *frame, unsigned width, unsigned height)
{
	for (unsigned plane = 0; plane < VIDEO_PLANES; plane++) {
		const unsigned w = plane == 0 ? width : width / 2;
		const unsigned h = plane == 0 ? height : height / 2;
		for (unsigned at = 0; at < 4 * w * h; at++)
			(void)putchar(frame[at / (2 * w) / 2 * w + at % (2 * w) / 2]);
		frame += (size_t)w * h;
	}
}

static int refuse_device(void)
{
	const bool gone = setting_has("gone"), plain = setting_has("plain");
	(void)fprintf(stderr, "%s\n",
		      gone    ? "[AVHWDeviceContext @ 0x55] [error] Unable to find device with "
				"index 0!"
		      : plain ? "[AVFilterGraph @ 0x55] [error] No such filter: 'scale_vulkan'"
			      : "[error] Device creation failed: -12.");
	return 1;
}

static int transfer(const struct video_source *source)
{
	struct text input = read_input();
	const size_t size = video_frame_size(source), count = input.size / size;
	if (!setting_has("vulkan"))
		return refuse_device();
	while (setting_has("late"))
		(void)pause();
	if (setting_has("fallback"))
		(void)fprintf(stderr, "[error] Device creation failed: -542398533.\n");
	else
		(void)fprintf(stderr,
			      "[AVHWDeviceContext @ 0x55] [verbose] Device 0 selected: %s "
			      "(discrete) (0x2684)\n1\t#version 460 [\n",
			      setting_has("elsewhere") ? "Other (TM)" : "Double 0 \xff");
	for (size_t i = 0; i < count - setting_has("short"); i++) {
		const size_t taken = setting_has("stale") && i == 1 ? 0 : i;
		if (setting_has("copied"))
			(void)fwrite(input.data + i * size, 1, size, stdout);
		else
			scale(input.data + taken * size, source->width, source->height);
	}
	text_free(&input);
	return 0;
}

static int version(void)
{
	if (setting_has("broken")) {
		(void)fprintf(stderr, "error while loading shared libraries: libz.so.1\n");
		return 127;
	}
	(void)printf("%s version 5.1.9-double Copyright\nbuilt for tests\n",
		     setting_has("stranger") ? "avconv" : "ffmpeg");
	return 0;
}

static int refuse(const char *encoder)
{
	const bool nvenc = strcmp(encoder, "h264_nvenc") == 0;
	for (int i = 0; setting_has("controls") && i < 5000; i++)
		(void)fprintf(stderr, "\x1b[31mred\x07 \xff\xfe %d\r\n", i);
	while (setting_has("stuck") || (nvenc && setting_has("hangs")))
		(void)pause();
	if (nvenc && setting_has("absent"))
		(void)fprintf(stderr,
			      "[h264_nvenc @ 0x5581] OpenEncodeSessionEx failed: unsupported "
			      "device (2): (no details)\n");
	else if (nvenc)
		(void)fprintf(stderr, "[h264_nvenc @ 0x5581] Cannot load libcuda.so.1\n");
	else
		(void)fprintf(stderr, "Unknown encoder '%s'\n", encoder);
	return 1;
}

int main(int argc, char **argv)
{
	const char *encoder = option(argv, "-c:v");
	struct video_source source = {.seed = (uint32_t)setting_number("other", 0)};
	if (argc > 1 && strcmp(argv[1], "-version") == 0)
		return version();
	if (option(argv, "-hwaccel")[0] != '\0')
		return decode();
	const char *size = option(argv, "-video_size");
	const bool sized = sscanf(size, "%ux%u", &source.width, &source.height) == 2;
	if (encoder[0] == '\0')
		return sized ? transfer(&source) : 8;
	if (!setting_has(encoder))
		return refuse(encoder);
	while (setting_has("huge"))
		(void)fputs("\0\0\0\1 and so on, without end", stdout);
	if (setting_has("deaf"))
		return 0;
	if (setting_has("empty")) {
		struct text input = read_input();
		text_free(&input);
		return 0;
	}
	if (!sized)
		return 8;
	if (setting_has("signed"))
		(void)fwrite("\0\0\0\1\6\5\x0dx264 - core \x80", 1, 20, stdout);
	int rc = encode(&source);
	return rc == 0 && setting_has("fails") ? 3 : rc;
}
