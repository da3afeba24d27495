/* SPDX-License-Identifier: MIT */
/* The frames, the walk, and the work that all encoders share, with an encoder that is a double. */
#include "base/tests/unit.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "workloads/doubles/h264_pcm.h"
#include "workloads/tests/expect.h"
#include "workloads/video/h264.h"
#include "workloads/video/video.h"

#define CORPUS GPUCERT_SOURCE_DIR "/workloads/video/fuzz/corpus/"

enum { BYTES = 64 * 64 * 3 / 2 };

static struct video_source source_of(uint32_t seed)
{
	return (struct video_source){.seed = seed, .width = 64, .height = 64};
}

static void make_frame(uint32_t seed, unsigned frame, uint8_t memory[BYTES],
		       struct video_planes *planes)
{
	const struct video_source source = source_of(seed);
	*planes = video_planes_of(&source, VIDEO_I420, memory);
	video_fill(&source, frame, VIDEO_I420, planes);
}

/* Of the plane that is most alike. */
static double likeness(uint32_t seed, unsigned frame, const struct video_planes *planes)
{
	const struct video_source source = source_of(seed);
	double psnr[VIDEO_PLANES] = {0};
	double most = 0;
	video_psnr(&source, frame, planes, psnr);
	for (size_t i = 0; i < VIDEO_PLANES; i++)
		most = psnr[i] > most ? psnr[i] : most;
	return most;
}

static double luma_likeness(uint32_t seed, unsigned frame, const struct video_planes *planes)
{
	const struct video_source source = source_of(seed);
	double psnr[VIDEO_PLANES] = {0};
	video_psnr(&source, frame, planes, psnr);
	return psnr[0];
}

/* What verify-video tells apart is far apart for every seed. */
static void test_frames_are_unlike(void)
{
	uint8_t memory[BYTES] = {0};
	struct video_planes planes = {0};
	for (uint32_t seed = 1; seed <= 50; seed++) {
		const struct video_source source = source_of(seed * 0x01000193u);
		const uint32_t other = video_other_seed(&source);
		for (unsigned frame = 0; frame < VIDEO_FRAMES; frame++) {
			make_frame(source.seed, frame, memory, &planes);
			CU_ASSERT_TRUE(luma_likeness(source.seed, frame, &planes) == 99);
			CU_ASSERT_TRUE(likeness(other, frame, &planes) < VIDEO_UNLIKE_DB);
			for (unsigned near = 0; near < VIDEO_FRAMES; near++) {
				if (near != frame)
					CU_ASSERT_TRUE(luma_likeness(source.seed, near, &planes) <
						       VIDEO_LIKE_DB - 5);
			}
		}
	}
}

static void test_samples_are_in_range(void)
{
	for (unsigned i = 0; i < 20000; i++) {
		const uint8_t y = video_sample(i, i % 12, 0, i % 320, i % 239);
		const uint8_t u = video_sample(i, i % 12, 1, i % 160, i % 119);
		const uint8_t v = video_sample(i, i % 12, 2, i % 160, i % 119);
		CU_ASSERT_TRUE(y >= 16 && y <= 235 && u >= 16 && u <= 240 && v >= 16 && v <= 240);
	}
}

/* The same samples in each layout, also where rows have gaps. */
static void test_layouts_agree(void)
{
	static const size_t pitch = 80;
	const struct video_source source = source_of(99);
	uint8_t i420[BYTES] = {0}, nv12[80 * 64 * 3 / 2] = {0}, packed[BYTES] = {0};
	const struct video_planes planar = video_planes_of(&source, VIDEO_I420, i420);
	const struct video_planes gaps = {{nv12, nv12 + pitch * 64, NULL}, {pitch, pitch, 0}};
	const struct video_planes tight = video_planes_of(&source, VIDEO_NV12, packed);
	video_fill(&source, 5, VIDEO_I420, &planar);
	video_fill(&source, 5, VIDEO_NV12, &tight);
	video_copy(&source, &tight, &gaps);
	for (size_t y = 0; y < 64; y++) {
		for (size_t x = 0; x < 64; x++) {
			const uint8_t *pair = &nv12[pitch * (64 + y / 2) + x / 2 * 2];
			UNIT_INT(nv12[y * pitch + x], i420[y * 64 + x]);
			UNIT_INT(pair[0], planar.data[1][y / 2 * 32 + x / 2]);
			UNIT_INT(pair[1], planar.data[2][y / 2 * 32 + x / 2]);
		}
	}
}

static int walk_file(const char *path, enum video_codec codec, struct video_walk *walk,
		     struct error *err)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 20, &data, &size, NULL), 0);
	return video_walk(codec, (const uint8_t *)data, size, walk, err);
}

static void test_walk(void)
{
	static const struct {
		const char *path;
		enum video_codec codec;
		unsigned profile;
	} rows[] = {
		{CORPUS "high.h264", VIDEO_H264, 100},
		{CORPUS "baseline.h264", VIDEO_H264, 66},
		{CORPUS "main.hevc", VIDEO_HEVC, 1},
		{CORPUS "main.av1", VIDEO_AV1, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct video_walk walk = {0};
		UNIT_INT(walk_file(rows[i].path, rows[i].codec, &walk, NULL), 0);
		UNIT_INT(walk.width, 64);
		UNIT_INT(walk.height, 64);
		UNIT_INT(walk.bits, 8);
		UNIT_INT(walk.profile, rows[i].profile);
		UNIT_INT(walk.pictures, VIDEO_FRAMES);
		CU_ASSERT_TRUE(walk.keys >= 1 && walk.headers >= 1 && walk.units > walk.pictures);
	}
}

/* A stream that ends anywhere never has more pictures than the whole one. */
static void test_walk_of_what_is_cut(void)
{
	static const char *const paths[VIDEO_CODECS] = {CORPUS "baseline.h264", CORPUS "main.hevc",
							CORPUS "main.av1"};
	for (int codec = 0; codec < VIDEO_CODECS; codec++) {
		char *data CLEANUP_FREE = NULL;
		size_t size = 0, before = 0;
		UNIT_INT(file_read(paths[codec], 1 << 20, &data, &size, NULL), 0);
		for (size_t length = 0; length < size; length++) {
			struct video_walk walk = {0};
			struct error err = {0};
			int rc = video_walk((enum video_codec)codec, (const uint8_t *)data, length,
					    &walk, &err);
			CU_ASSERT_TRUE(rc == 0 ? walk.pictures >= before : err.text[0] != '\0');
			CU_ASSERT_TRUE(walk.pictures <= VIDEO_FRAMES);
			before = rc == 0 ? walk.pictures : before;
		}
	}
}

/* A stream that is written bit by bit. */
struct stream {
	uint8_t bytes[512];
	size_t bits;
};

static void put_bits(struct stream *stream, uint64_t value, unsigned count)
{
	for (unsigned i = count; i-- > 0; stream->bits++) {
		if ((value >> i & 1u) != 0)
			stream->bytes[stream->bits / 8] =
				(uint8_t)(stream->bytes[stream->bits / 8] |
					  0x80u >> stream->bits % 8);
	}
}

static void put_ue(struct stream *stream, unsigned value)
{
	unsigned length = 1;
	while (value + 1 >= 2u << (length - 1))
		length++;
	put_bits(stream, value + 1, 2 * length - 1);
}

/* A stop bit, and zeros to the end of the byte. */
static void end_unit(struct stream *stream)
{
	put_bits(stream, 1, 1);
	while (stream->bits % 8 != 0)
		stream->bits++;
}

static void expect_walk(enum video_codec codec, const struct stream *stream, unsigned width,
			unsigned height, unsigned bits)
{
	struct video_walk walk = {0};
	struct error err = {0};
	UNIT_INT(video_walk(codec, stream->bytes, stream->bits / 8, &walk, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(walk.width, width);
	UNIT_INT(walk.height, height);
	UNIT_INT(walk.bits, bits);
	UNIT_INT(walk.pictures, 1);
}

/* High 10, scaling lists, order counts of type 1, interlaced, 1080 of 1088 lines. */
static void test_h264_header(void)
{
	struct stream stream = {0};
	put_bits(&stream, 0x167, 32);
	put_bits(&stream, 110u << 16 | 40u, 24);
	put_ue(&stream, 0);
	put_ue(&stream, 1);
	put_ue(&stream, 2);
	put_ue(&stream, 2);
	put_bits(&stream, 1, 2); /* scaling lists, */
	put_bits(&stream, 1, 1); /* the first of eight, */
	put_ue(&stream, 16);	 /* with -8, which ends it */
	put_bits(&stream, 0, 7);
	put_ue(&stream, 0);
	put_ue(&stream, 1);
	put_bits(&stream, 0, 1);
	for (int i = 0; i < 2; i++)
		put_ue(&stream, 3);
	put_ue(&stream, 2);
	for (int i = 0; i < 2; i++)
		put_ue(&stream, 5);
	put_ue(&stream, 4);
	put_bits(&stream, 0, 1);
	put_ue(&stream, 119);
	put_ue(&stream, 33);
	put_bits(&stream, 0x3, 4); /* fields, no adaption, direct_8x8_inference, cropping */
	for (unsigned i = 0; i < 3; i++)
		put_ue(&stream, 0);
	put_ue(&stream, 2);
	put_bits(&stream, 0, 1);
	end_unit(&stream);
	put_bits(&stream, 0x165, 32);
	put_bits(&stream, 0x88, 8);
	expect_walk(VIDEO_H264, &stream, 1920, 1080, 10);
}

/* Three sub-layers, of which one tells profile and level; 1080 of 1088 lines. */
static void test_hevc_header(void)
{
	struct stream stream = {0};
	put_bits(&stream, 0x142, 32);
	put_bits(&stream, 1, 8);
	put_bits(&stream, 2u << 1, 8);
	put_bits(&stream, 1, 8);
	put_bits(&stream, 0x555555555555, 48);
	put_bits(&stream, 0x55555555, 32);
	put_bits(&stream, 93, 8);
	put_bits(&stream, 0xC000, 16);
	put_bits(&stream, 0x555555555555, 48);
	put_bits(&stream, 0x5555555555, 40);
	put_bits(&stream, 93, 8);
	put_ue(&stream, 0);
	put_ue(&stream, 1);
	put_ue(&stream, 1920);
	put_ue(&stream, 1088);
	put_bits(&stream, 1, 1);
	for (unsigned i = 0; i < 3; i++)
		put_ue(&stream, 0);
	put_ue(&stream, 4);
	put_ue(&stream, 0);
	end_unit(&stream);
	put_bits(&stream, 0x126, 32);
	put_bits(&stream, 0x180, 16);
	expect_walk(VIDEO_HEVC, &stream, 1920, 1080, 8);
}

/* Timing, a decoder model, delays, numbered frames; then a frame that is shown again. */
static void test_av1_header(void)
{
	struct stream stream = {0};
	put_bits(&stream, 0x0A, 8);
	put_bits(&stream, 40, 8); /* with zeros behind what is told */
	put_bits(&stream, 0, 3 + 1 + 1);
	put_bits(&stream, 1, 1);
	put_bits(&stream, UINT64_C(1) << 32 | 30, 64);
	put_bits(&stream, 1, 1);
	put_ue(&stream, 0);
	put_bits(&stream, 1, 1);
	put_bits(&stream, 9, 5);
	put_bits(&stream, 0, 42);
	put_bits(&stream, 1, 1);
	put_bits(&stream, 0, 5);
	put_bits(&stream, 0, 12);
	put_bits(&stream, 8, 5);
	put_bits(&stream, 0, 1);
	put_bits(&stream, 1, 1);
	put_bits(&stream, 0, 21);
	put_bits(&stream, 0x18, 5);
	put_bits(&stream, 0xA9, 8); /* 11 bits of width, 10 of height */
	put_bits(&stream, 1919, 11);
	put_bits(&stream, 719, 10);
	put_bits(&stream, 1, 1); /* frames have numbers */
	put_bits(&stream, 0, 7 + 3 + 4);
	put_bits(&stream, 0x12, 5); /* order hint; screen content is chosen by frame */
	put_bits(&stream, 0, 1 + 3 + 3);
	put_bits(&stream, 1, 1); /* ten bits */
	stream.bits = (size_t)8 * 42;
	put_bits(&stream, 0x1A0180, 24);
	expect_walk(VIDEO_AV1, &stream, 1920, 720, 10);
	/* A still picture says nothing of all that. */
	stream = (struct stream){0};
	put_bits(&stream, 0x0A0A, 16);
	put_bits(&stream, 3, 5);
	put_bits(&stream, 0, 5);
	put_bits(&stream, 0x77, 8);
	put_bits(&stream, 199, 8);
	put_bits(&stream, 99, 8);
	stream.bits = (size_t)8 * 12;
	put_bits(&stream, 0x320100, 24);
	expect_walk(VIDEO_AV1, &stream, 200, 100, 8);
}

/* A device whose encoders are these, and what they do wrong. */
struct device {
	struct video_offers offers;
	struct h264_pcm writer;
	struct text ready;
	const struct video_job *job;
	unsigned hold; /* frames that are held back */
	int fail_list, fail_open;
	unsigned fail_at; /* the frame whose put() fails; VIDEO_FRAMES + 1: none */
	bool hang, spam, ended;
	unsigned opened, closed;
	struct encoder *state; /* of its last stream, */
	void *frames;	       /* and what that encodes */
};

static int list(void *session, const struct work_request *request, struct video_offers *offers,
		struct error *err)
{
	struct device *device = session;
	(void)request;
	*offers = device->offers;
	return device->fail_list == 0 ? 0 : error_set(err, device->fail_list, "no list");
}

/* Its own state is only whose it is. */
struct encoder {
	struct device *device;
};

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct device *device = session;
	device->state = encoder;
	device->state->device = device;
	device->opened++;
	device->job = job;
	device->writer.source = job->source;
	return device->fail_open == 0 ? 0
				      : call_failed(job->failure, "OpenEncoder", device->fail_open,
						    "DOUBLE_REFUSES", err);
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct device *device = ((struct encoder *)encoder)->device;
	if (index == 0)
		device->frames = frame->data[0];
	if (index == device->fail_at)
		return call_failed(device->job->failure, "Encode", -7, NULL, err);
	if (device->hang && index > device->hold)
		return error_set(err, ERROR_BUSY, "never again");
	if (frame == NULL)
		device->ended = true;
	else
		h264_pcm_add(&device->writer, VIDEO_NV12, frame, &device->ready);
	return 0;
}

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct device *device = ((struct encoder *)encoder)->device;
	const bool held = !device->ended && device->writer.count <= device->hold;
	if (device->spam) {
		text_append(stream, "spam", 4);
		return 0;
	}
	if (device->hang || held || (device->ready.size == 0 && !device->ended))
		return error_set(err, ERROR_BUSY, "nothing yet");
	text_append(stream, text_string(&device->ready), device->ready.size);
	text_reset(&device->ready);
	*ended = device->ended;
	return 0;
}

static void close_encoder(void *encoder)
{
	struct device *device = ((struct encoder *)encoder)->device;
	device->closed++;
	h264_pcm_free(&device->writer);
	text_free(&device->ready);
}

static const struct video_encoder encoder = {
	.layout = VIDEO_NV12,
	.list = list,
	.size = sizeof(struct encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = close_encoder,
};

static struct device device_new(bool hardware)
{
	struct device device = {.fail_at = VIDEO_FRAMES + 1};
	struct video_offer *offer = video_offer_add(&device.offers, VIDEO_H264);
	offer->hardware = hardware;
	offer->most = (struct video_size){64, 64};
	return device;
}

static FILE *documents;

/* As the document of a probe has it, for the schema. */
static void keep_document(const cJSON *work)
{
	char *text CLEANUP_FREE = json_print_compact(work);
	CU_ASSERT_FATAL(
		text != NULL &&
		fprintf(documents,
			"{\"schema\":\"gpucert-probe/1\",\"probe\":\"mediafoundation\",\"version\":\"0\","
			"\"nonce\":null,\"api\":{\"name\":\"mediafoundation\",\"status\":\"ok\",\"reason\":null,"
			"\"missing\":null,\"loader\":{\"library\":\"mfplat.dll\",\"path\":null,\"version\":null,"
			"\"fileVersion\":null},\"messages\":[],\"openMs\":1},\"devices\":[],\"work\":%s,"
			"\"durationMs\":1}\n",
			text) > 0);
}

/* The work member of a document. */
static cJSON *run_work(struct device *device, bool software, const char *fault)
{
	const struct work_request request = {.seed = 7, .timeout_ms = 50, .elements = 1};
	struct work_report report CLEANUP_WORK_REPORT = {.seed = 7};
	struct error err = {0};
	CU_ASSERT_FATAL(setenv("GPUCERT_DOUBLE", fault, 1) == 0);
	if (video_work(&encoder, device, software, &request, &report, &err) != 0)
		work_report_failure(&report, &err);
	UNIT_INT(device->opened - device->closed, err.code == ERROR_TIMEOUT);
	cJSON *work = work_report_json(&report);
	keep_document(work);
	return work;
}

static void expect_work(struct device *device, bool software, const char *fault, const char *status,
			const char *reason)
{
	cJSON *work CLEANUP_JSON = run_work(device, software, fault);
	expect_string(work, "/status", status);
	expect_bool(work, "/verified", false);
	if (reason != NULL)
		UNIT_CONTAINS(string_at(work, "/reason"), reason);
	else
		expect_null(work, "/reason");
}

/* The walk reads what was written, and no byte of it has to be escaped. */
static void expect_parameter_sets(const struct h264_sequence *sequence,
				  const struct video_size *size)
{
	const struct video_source source = {.width = size->width, .height = size->height};
	struct text stream CLEANUP_TEXT = {0};
	struct video_walk walk = {0};
	h264_add_sequence(sequence, &source, &stream);
	h264_add_picture(&stream);
	/* Behind two zeros there is the rest of a start code. */
	for (size_t i = 0, zeros = 0; i + 1 < stream.size; i++) {
		zeros = stream.data[i] == 0 ? zeros + 1 : 0;
		CU_ASSERT_TRUE(zeros < 2 || stream.data[i + 1] == 1 ||
			       (zeros == 2 && stream.data[i + 1] == 0));
	}
	text_append(&stream, "\0\0\1\x65\x88\x80", 6); /* the head of a key frame */
	UNIT_INT(video_walk(VIDEO_H264, (const uint8_t *)stream.data, stream.size, &walk, NULL), 0);
	UNIT_INT(walk.width, size->width);
	UNIT_INT(walk.height, size->height);
	UNIT_INT(walk.profile, sequence->profile);
	UNIT_INT(walk.bits, 8);
	UNIT_INT(walk.units, 3);
	UNIT_INT(walk.headers, 2);
	UNIT_INT(walk.keys, 1);
}

static void test_parameter_sets(void)
{
	static const unsigned profiles[] = {H264_PROFILE_BASELINE, H264_PROFILE_MAIN,
					    H264_PROFILE_HIGH};
	static const unsigned levels[] = {10, 11, 30, 62};
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(levels); j++) {
			const struct h264_sequence sequence = {profiles[i], 0, levels[j]};
			for (const struct video_size *size = video_sizes; size->width != 0; size++)
				expect_parameter_sets(&sequence, size);
		}
	}
}

static void test_work(void)
{
	struct device device = device_new(true);
	cJSON *work CLEANUP_JSON = run_work(&device, false, "");
	expect_string(work, "/status", "encoded");
	expect_bool(work, "/verified", false);
	expect_count(work, "/video/encoders", 1);
	expect_number(work, "/video/encoders/0/most/width", 64);
	expect_null(work, "/video/encoders/0/least");
	expect_null(work, "/video/encoders/0/tenBit");
	expect_count(work, "/video/streams", 1);
	expect_string(work, "/video/streams/0/codec", "h264");
	expect_string(work, "/video/streams/0/status", "encoded");
	expect_number(work, "/video/streams/0/width", 64);
	expect_number(work, "/video/streams/0/pictures", VIDEO_FRAMES);
	expect_number(work, "/video/streams/0/keys", VIDEO_FRAMES);
	CU_ASSERT_TRUE(cJSON_IsNumber(json_pointer(work, "/video/streams/0/framesPerSecond")));
	/* The first bytes of a stream: a start code and a sequence parameter set. */
	UNIT_INT(strncmp(string_at(work, "/video/streams/0/stream"), "AAAAAWdCwC", 10), 0);
}

static void test_faults_that_a_walk_sees(void)
{
	static const struct {
		const char *fault, *reason;
	} rows[] = {
		{"drop=4", "h264: the stream holds 11 pictures, not 12"},
		{"empty", "h264: the stream is empty"},
		{"size", "h264: the stream is 80 by 64, not 64 by 64"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct device device = device_new(true);
		expect_work(&device, false, rows[i].fault, "wrong", rows[i].reason);
	}
	/* A walk is no verification: these are for who decodes. */
	static const char *const others[] = {"repeat=4", "black=4", "other=8"};
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct device device = device_new(true);
		expect_work(&device, false, others[i], "encoded", NULL);
	}
}

static void test_failures(void)
{
	struct device device = device_new(true);
	device.fail_open = -3;
	expect_work(&device, false, "", "failed", "h264: OpenEncoder: DOUBLE_REFUSES (-3)");
	device = device_new(true);
	device.fail_at = 3;
	expect_work(&device, false, "", "failed", "h264: Encode: unknown result (-7)");
	device = device_new(true);
	device.fail_list = ERROR_REMOTE;
	expect_work(&device, false, "", "failed", "no list");
	device = device_new(true);
	device.spam = true;
	expect_work(&device, false, "", "wrong", "longer than");
}

static void test_a_stuck_encoder(void)
{
	struct device device = device_new(true);
	device.hang = true;
	device.hold = 2;
	expect_work(&device, false, "", "timeout", "took 3 of 12 frames");
	close_encoder(device.state); /* which the probe may not */
	free(device.state);
	free(device.frames);
}

/* Frames come out late and at the end. */
static void test_frames_that_are_held_back(void)
{
	struct device device = device_new(true);
	device.hold = 5;
	expect_work(&device, false, "", "encoded", NULL);
}

static void test_processors_stand_in_for_no_device(void)
{
	struct device device = device_new(false);
	expect_work(&device, false, "", "unsupported", "work on a processor");
	UNIT_INT(device.opened, 0);
	device = device_new(false);
	expect_work(&device, true, "", "encoded", NULL);
	device = (struct device){.fail_at = VIDEO_FRAMES + 1};
	expect_work(&device, true, "", "unsupported", "the device encodes nothing");
}

/* A codec that a device encodes in no size of ours is unsupported; the other one counts. */
static void test_codecs_are_added_up(void)
{
	struct device device = device_new(true);
	video_offer_add(&device.offers, VIDEO_AV1)->hardware = true;
	device.offers.items[1].least = (struct video_size){4096, 4096};
	cJSON *work CLEANUP_JSON = run_work(&device, false, "");
	expect_string(work, "/status", "encoded");
	expect_null(work, "/reason");
	expect_string(work, "/video/streams/1/status", "unsupported");
	UNIT_CONTAINS(string_at(work, "/video/streams/1/reason"), "4096 by 4096");
	/* H.264 under the name of HEVC. */
	device = device_new(true);
	*video_offer_add(&device.offers, VIDEO_HEVC) =
		(struct video_offer){.codec = VIDEO_HEVC, .hardware = true, .most = {64, 64}};
	expect_work(&device, false, "", "wrong", "hevc: the stream holds");
}

static void test_offers_are_bounded(void)
{
	struct video_offers offers = {0};
	for (size_t i = 0; i < VIDEO_OFFERS_MAX; i++)
		CU_ASSERT_PTR_NOT_NULL(video_offer_add(&offers, VIDEO_H264));
	CU_ASSERT_PTR_NULL(video_offer_add(&offers, VIDEO_H264));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"frames are unlike", test_frames_are_unlike},
		{"samples are in range", test_samples_are_in_range},
		{"layouts agree", test_layouts_agree},
		{"walk", test_walk},
		{"walk of what is cut", test_walk_of_what_is_cut},
		{"a header of H.264", test_h264_header},
		{"a header of HEVC", test_hevc_header},
		{"headers of AV1", test_av1_header},
		{"parameter sets", test_parameter_sets},
		{"work", test_work},
		{"faults that a walk sees", test_faults_that_a_walk_sees},
		{"failures", test_failures},
		{"a stuck encoder", test_a_stuck_encoder},
		{"frames that are held back", test_frames_that_are_held_back},
		{"processors stand in for no device", test_processors_stand_in_for_no_device},
		{"codecs are added up", test_codecs_are_added_up},
		{"offers are bounded", test_offers_are_bounded},
		CU_TEST_INFO_NULL,
	};
	documents = fopen(GPUCERT_BINARY_DIR "/tests/video-documents.ndjson", "wb");
	const int code = documents != NULL ? unit_run("video", tests) : 2;
	return code == 0 && fclose(documents) != 0 ? 2 : code;
}
