/* SPDX-License-Identifier: MIT */
/*
 * probe-vaapi with the real libva and a driver that is a double. libva makes displays for DRM nodes
 * alone, which it tells by /sys/dev/char: the tests run in a mount namespace of their own in which
 * /dev/null and /dev/zero are render nodes of PCI devices.
 */
#include "workloads/tests/encoder_rig.h"
#include "workloads/vaapi/hevc_headers.h"
#include "workloads/video/walk.h"

#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE	GPUCERT_BINARY_DIR "/tests/va-tree"
#define DRIVERS "LIBVA_DRIVERS_PATH=" GPUCERT_BINARY_DIR "/tests/va"
#define DOUBLE	"LIBVA_DRIVER_NAME=double"

enum { SKIPPED = 77 };

const struct encoder_rig encoder_rig = {
	.probe = {.program = "probe-vaapi", .env = {DRIVERS, DOUBLE}},
	.always = "",
};

static void test_devices_are_told(void)
{
	cJSON *document CLEANUP_JSON = rig_run("", "--list");
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 2);
	expect_string(document, "/devices/0/name", "gpucert VA double");
	expect_string(document, "/devices/0/pciAddress", "0000:03:00.0");
	expect_string(document, "/devices/0/vendorId", "0x1002");
	expect_string(document, "/devices/0/deviceId", "0x73bf");
	expect_string(document, "/devices/0/drm/render", "1:3");
	expect_string(document, "/devices/0/apiVersion", "1.17");
	expect_string(document, "/devices/1/pciAddress", "0001:41:00.0");
	expect_string(document, "/devices/1/drm/render", "1:5");
	expect_null(document, "/work");
}

static void test_frames_are_encoded(void)
{
	static const char *const settings[] = {"",    "cqp",	  "packed", "packed-sequence",
					       "old", "low-power"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cJSON *document CLEANUP_JSON = rig_run(settings[i], "--seed=7");
		cJSON *other CLEANUP_JSON = judge_stream(document, "8");
		expect_judgement(document, "ok", NULL);
		expect_number(document, "/work/video/streams/0/pictures", 12);
		expect_string(other, "/status", "wrong");
	}
}

static void test_what_a_device_encodes_is_listed(void)
{
	cJSON *document CLEANUP_JSON = rig_run("all-codecs,low-power", "--device=1");
	expect_number(document, "/work/device", 1);
	expect_string(document, "/work/status", "encoded");
	expect_count(document, "/work/video/encoders", 3);
	expect_string(document, "/work/video/encoders/0/name", "EncSliceLP");
	expect_string(document, "/work/video/encoders/0/profiles",
		      "constrained-baseline main high");
	expect_number(document, "/work/video/encoders/0/most/width", 64);
	expect_bool(document, "/work/video/encoders/0/tenBit", false);
	expect_number(document, "/work/video/encoders/0/bFrames", 0);
	expect_string(document, "/work/video/encoders/1/codec", "hevc");
	expect_bool(document, "/work/video/encoders/1/tenBit", true);
	expect_string(document, "/work/video/streams/1/status", "encoded");
	expect_string(document, "/work/video/streams/2/codec", "av1");
	expect_string(document, "/work/video/streams/2/status", "encoded");
	expect_bool(document, "/work/video/encoders/2/tenBit", false);
	cJSON *both CLEANUP_JSON = rig_run("av1,ten-bit", "--seed=7");
	expect_bool(both, "/work/video/encoders/0/tenBit", true);
	expect_judgement(both, "ok", NULL);
}

/* Whatever the driver tells of tools and blocks, and whichever headers it wants. */
static void test_frames_are_encoded_in_hevc(void)
{
	static const char *const settings[] = {
		"hevc",
		"hevc,cqp",
		"hevc,packed",
		"hevc,packed-sequence",
		"hevc,packed,low-power",
		"hevc,packed,small-trees",
		"hevc,packed,large-blocks",
		"hevc,silent",
		"hevc,silent,low-power,cqp",
	};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cJSON *document CLEANUP_JSON = rig_run(settings[i], "--seed=7");
		cJSON *judgement CLEANUP_JSON = judge_stream(document, NULL);
		cJSON *other CLEANUP_JSON = judge_stream(document, "8");
		expect_string(document, "/work/video/streams/0/codec", "hevc");
		expect_number(judgement, "/psnr/11", 99); /* nothing is lost */
		expect_judgement(document, "ok", NULL);
		expect_number(document, "/work/video/streams/0/pictures", 12);
		expect_number(document, "/work/video/streams/0/keys", 1);
		expect_string(other, "/status", "wrong");
	}
}

/* The double refuses each of these, which shows that it looks. */
static void test_wrong_descriptions_of_hevc_are_refused(void)
{
	static const char *const settings[] = {
		"spoil=width",
		"spoil=blocks",
		"spoil=tools",
		"spoil=order",
		"spoil=key",
		"spoil=unit",
		"spoil=reference",
		"spoil=surface",
		"spoil=type",
		"spoil=trees",
		"spoil=list0",
		"spoil=list1",
		"low-power,spoil=list1",
		"packed,spoil=offsets",
		"packed,spoil=sets",
		"packed,spoil=slice-header",
		"packed,spoil=other-header",
	};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		char *word CLEANUP_FREE = text_format("hevc,%s", settings[i]);
		rig_expect_work(word, NULL, "failed",
				"hevc: vaEndPicture: VA_STATUS_ERROR_INVALID_PARAMETER");
	}
}

/* 240 rows in blocks of 32 are 256, of which 16 are not shown. */
static void test_what_is_not_shown_of_hevc_is_cut_off(void)
{
	const struct video_source source = {.width = 320, .height = 240};
	VAEncSequenceParameterBufferHEVC sequence = {
		.general_profile_idc = 1,
		.pic_width_in_luma_samples = 320,
		.pic_height_in_luma_samples = 256,
	};
	const VAEncPictureParameterBufferHEVC picture = {.nal_unit_type = HEVC_IDR_W_RADL};
	const VAEncSliceParameterBufferHEVC slice = {.slice_type = HEVC_SLICE_I};
	struct text stream CLEANUP_TEXT = {0};
	struct video_walk walk = {0};
	sequence.seq_fields.bits.chroma_format_idc = 1;
	hevc_add_parameter_sets(&source, &sequence, &picture, &stream);
	hevc_add_slice_header(&sequence, &picture, &slice, &stream);
	UNIT_INT(video_walk(VIDEO_HEVC, (const uint8_t *)stream.data, stream.size, &walk, NULL), 0);
	UNIT_INT(walk.width, 320);
	UNIT_INT(walk.height, 240);
}

static void test_wrong_streams_of_hevc_are_told(void)
{
	rig_expect_work("hevc,drop=3", NULL, "wrong", "hevc: the stream holds 11 pictures, not 12");
	rig_expect_work("hevc,size", NULL, "wrong", "hevc: the stream is 80 by 64, not 64 by 64");
	rig_expect_work("hevc,small-trees,no-such-blocks", NULL, "wrong",
			"no HEVC stream has blocks of the sizes that the driver reports: "
			"VAConfigAttribEncHEVCBlockSizes is 0x");
	rig_expect_work("hevc,weights", NULL, "unsupported",
			"the driver requires a tool of HEVC that this probe does not describe");
	rig_expect_judgement("hevc,repeat=4", "wrong", "frame 4 shows frame 3");
	rig_expect_judgement("hevc,black=4", "wrong", "frame 4 ");
	rig_expect_judgement("hevc,other=99", "wrong", "frame 0 ");
}

/* Whatever the driver tells of tools, whichever headers it wants, and where it writes into them. */
static void test_frames_are_encoded_in_av1(void)
{
	static const char *const settings[] = {
		"av1",
		"av1,cqp,packed",
		"av1,packed,low-power",
		"av1,packed-sequence",
		"av1,packed,cbr",
		"av1,cbr",
		"av1,packed,silent",
		"av1,packed,small-sizes",
		"av1,packed,cbr,large-superblocks",
		"av1,packed,delimits",
	};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cJSON *document CLEANUP_JSON = rig_run(settings[i], "--seed=7");
		cJSON *other CLEANUP_JSON = judge_stream(document, "8");
		expect_string(document, "/work/video/streams/0/codec", "av1");
		expect_judgement(document, "ok", NULL);
		expect_number(document, "/work/video/streams/0/pictures", 12);
		expect_number(document, "/work/video/streams/0/keys", 1);
		/* A delimiter, a header and a tile of each frame, and the sequence header. */
		expect_number(document, "/work/video/streams/0/units", 12 * 3 + 1);
		expect_string(other, "/status", "wrong");
	}
}

static void expect_refused(const char *const *settings, size_t count, const char *reason)
{
	for (size_t i = 0; i < count; i++) {
		char *word CLEANUP_FREE = text_format("av1,%s", settings[i]);
		rig_expect_work(word, NULL, "failed", reason);
	}
}

static void test_wrong_descriptions_of_av1_are_refused(void)
{
	static const char *const parameters[] = {
		"spoil=level",
		"spoil=hints",
		"spoil=tools",
		"spoil=width",
		"spoil=order",
		"spoil=key",
		"spoil=slots",
		"spoil=primary",
		"spoil=list",
		"spoil=reference",
		"spoil=surface",
		"spoil=transforms",
		"spoil=tiles",
		"spoil=group",
		"packed,spoil=quality",
		"packed,spoil=headers",
		"packed,spoil=other-header",
		"packed,cbr,spoil=unit",
		"packed,cbr,spoil=filters",
	};
	/* Headers and buffers agree, and libaom has no tile for what they say. */
	static const char *const tiles[] = {"packed,sharp", "packed,largest"};
	expect_refused(parameters, ARRAY_SIZE(parameters),
		       "av1: vaEndPicture: VA_STATUS_ERROR_INVALID_PARAMETER");
	expect_refused(tiles, ARRAY_SIZE(tiles),
		       "av1: vaEndPicture: VA_STATUS_ERROR_ENCODING_ERROR");
}

/* At its fastest libaom is not good enough for the frames of every seed in so small a picture. */
static void expect_av1_judgement(const char *settings, const char *status, const char *reason)
{
	cJSON *document CLEANUP_JSON = rig_run(settings, "--seed=7");
	expect_judgement(document, status, reason);
}

static void test_wrong_streams_of_av1_are_told(void)
{
	rig_expect_work("av1,drop=3", NULL, "wrong", "av1: the stream holds 11 pictures, not 12");
	rig_expect_work("av1,size", NULL, "wrong", "av1: the stream is 80 by 64, not 64 by 64");
	rig_expect_work("av1,empty", NULL, "wrong", "av1: the stream is empty");
	/* Where the cut falls depends on the frames: in the picture, or between two units. */
	rig_expect_work("av1,cut=4", "--seed=7", "wrong", "av1: byte ");
	rig_expect_work("av1,palette", NULL, "unsupported",
			"the driver requires a tool of AV1 that this probe does not describe");
	rig_expect_work("av1,tiny", NULL, "unsupported",
			"the driver has no transforms but those of 4 by 4");
	expect_av1_judgement("av1,repeat=4", "wrong", "frame 4 shows frame 3");
	expect_av1_judgement("av1,black=4", "wrong", "frame 4 ");
	expect_av1_judgement("av1,corrupt=4", "wrong", "frame ");
	expect_av1_judgement("av1,other=99", "wrong", "frame 0 ");
	/* The quantiser that the driver chose went into another bit of the header. */
	expect_av1_judgement("av1,packed,cbr,spoil=place", "wrong", "frame ");
}

/* What the probe does not see, verify-video does. */
static void test_wrong_streams_are_told(void)
{
	static const struct {
		const char *fault, *reason;
	} rows[] = {
		{"drop=3", "h264: the stream holds 11 pictures, not 12"},
		{"empty", "h264: the stream is empty"},
		{"size", "h264: the stream is 80 by 64, not 64 by 64"},
		{"endless", "h264: "},
		{"overfull", "the coded buffer holds more than was made room for"},
		{"broken", "the driver calls its picture broken: status 0x8000"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rig_expect_work(rows[i].fault, NULL, "wrong", rows[i].reason);
	rig_expect_decoding_faults();
}

static void test_a_failing_call_is_told(void)
{
	static const struct rig_failure rows[] = {
		{"vaQueryConfigProfiles", 1, "VA_STATUS_ERROR_OPERATION_FAILED"},
		{"vaQueryConfigEntrypoints", 12, "VA_STATUS_ERROR_UNSUPPORTED_PROFILE"},
		{"vaCreateConfig", 10, "VA_STATUS_ERROR_ATTR_NOT_SUPPORTED"},
		{"vaCreateSurfaces", 2, "VA_STATUS_ERROR_ALLOCATION_FAILED"},
		{"vaCreateContext", 19, "VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED"},
		{"vaCreateImage", 22, "VA_STATUS_ERROR_INVALID_IMAGE_FORMAT"},
		{"vaCreateBuffer", 15, "VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE"},
		{"vaMapBuffer", 7, "VA_STATUS_ERROR_INVALID_BUFFER"},
		{"vaUnmapBuffer", 7, "VA_STATUS_ERROR_INVALID_BUFFER"},
		{"vaPutImage", 8, "VA_STATUS_ERROR_INVALID_IMAGE"},
		{"vaBeginPicture", 6, "VA_STATUS_ERROR_INVALID_SURFACE"},
		{"vaRenderPicture", 18, "VA_STATUS_ERROR_INVALID_PARAMETER"},
		{"vaEndPicture", 34, "VA_STATUS_ERROR_HW_BUSY"},
		{"vaSyncSurface2", 24, "VA_STATUS_ERROR_ENCODING_ERROR"},
		{"vaSyncSurface2", -1, "VA_STATUS_ERROR_UNKNOWN"},
	};
	rig_expect_failures(rows, ARRAY_SIZE(rows));
}

static void test_a_driver_that_tells_nonsense_failed(void)
{
	static const char *const settings[] = {"profiles=1000", "room=100000", "small-image"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		cJSON *document CLEANUP_JSON = rig_run(settings[i], NULL);
		const char *status = string_at(document, "/work/status");
		CU_ASSERT_TRUE(strcmp(status, "failed") == 0 || strcmp(status, "wrong") == 0);
	}
}

static void test_a_decoder_alone_is_unsupported(void)
{
	rig_expect_work("decode-only", NULL, "unsupported", "EncSlice");
}

static void test_a_hang_times_out(void)
{
	rig_expect_work("hang", "--timeout=200", "timeout", "took 1 of 12 frames");
}

static void test_a_crash_prints_nothing(void)
{
	rig_expect_crash("crash=init");
	rig_expect_crash("crash=vaEndPicture");
}

static void test_a_driver_that_does_not_start_failed(void)
{
	cJSON *document CLEANUP_JSON = rig_run("fail=init:2", NULL);
	expect_string(document, "/api/status", "failed");
	UNIT_CONTAINS(string_at(document, "/api/reason"),
		      "vaInitialize: VA_STATUS_ERROR_ALLOCATION_FAILED (2)");
	UNIT_CONTAINS(string_at(document, "/api/messages/0"), "init failed");
	cJSON *nonsense CLEANUP_JSON = rig_run("room=0", NULL);
	expect_string(nonsense, "/api/status", "failed");
}

static void expect_failed(const char *first, const char *second, const char *reason)
{
	cJSON *document CLEANUP_JSON =
		probe_document(&(struct probe){.program = "probe-vaapi", .env = {first, second}});
	expect_string(document, "/api/status", "failed");
	UNIT_CONTAINS(string_at(document, "/api/reason"), reason);
	expect_null(document, "/work");
}

static void test_what_is_missing_is_told(void)
{
	expect_unsupported(&(struct probe){.program = "probe-vaapi",
					   .env = {DRIVERS, "LIBVA_DRIVER_NAME=absent"}},
			   "VA driver");
	/* There is one, and it cannot be loaded. */
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(TREE "/broken_drv_video.so", "?", 1, 0644, NULL),
			      0);
	expect_failed("LIBVA_DRIVERS_PATH=" TREE, "LIBVA_DRIVER_NAME=broken", "vaInitialize");
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(TREE "/libva.so.2", "?", 1, 0644, NULL), 0);
	expect_failed("LD_LIBRARY_PATH=" TREE, NULL, "libva.so.2");
	CU_ASSERT_EQUAL(unlink(TREE "/libva.so.2"), 0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(TREE "/libva-drm.so.2", "?", 1, 0644, NULL), 0);
	expect_failed("LD_LIBRARY_PATH=" TREE, NULL, "libva-drm.so.2");
	CU_ASSERT_EQUAL(unlink(TREE "/libva-drm.so.2"), 0);
}

/* The last test: it takes the nodes away. */
static void test_nodes(void)
{
	CU_ASSERT_EQUAL_FATAL(umount("/dev/dri/renderD128"), 0);
	CU_ASSERT_EQUAL(umount(TREE "/dev/dri/renderD128"), 0);
	/* What is left there is a file, which is no DRM node. */
	cJSON *document CLEANUP_JSON = rig_run("", "--list");
	expect_string(document, "/api/status", "ok");
	expect_count(document, "/devices", 2);
	expect_null(document, "/devices/0/name");
	expect_null(document, "/devices/0/pciAddress");
	cJSON *work CLEANUP_JSON = rig_run("", "--device=0");
	expect_string(work, "/work/status", "failed");
	UNIT_CONTAINS(string_at(work, "/work/reason"), "vaGetDisplayDRM: no display");
	CU_ASSERT_EQUAL(umount("/dev/dri/renderD129"), 0);
	CU_ASSERT_EQUAL(umount(TREE "/dev/dri/renderD129"), 0);
	CU_ASSERT_EQUAL(unlink("/dev/dri/renderD129"), 0);
	expect_failed(DRIVERS, DOUBLE, "vaGetDisplayDRM: no display");
	CU_ASSERT_EQUAL(unlink("/dev/dri/renderD128"), 0);
	cJSON *none CLEANUP_JSON = rig_run("", NULL);
	expect_string(none, "/api/status", "ok");
	expect_string(none, "/work/reason", "no device is visible");
	CU_ASSERT_EQUAL(symlink("renderD128", "/dev/dri/renderD128"), 0);
	expect_failed(DRIVERS, DOUBLE, "no render node of /dev/dri can be opened");
	CU_ASSERT_EQUAL(unlink("/dev/dri/renderD128"), 0);
}

static int write_text(const char *path, const char *text)
{
	int fd CLEANUP_FD = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

static int make_device(const char *number, const char *address)
{
	char *folder CLEANUP_FREE = text_format(TREE "/pci/%s/drm", address);
	char *vendor CLEANUP_FREE = text_format(TREE "/pci/%s/vendor", address);
	char *device CLEANUP_FREE = text_format(TREE "/pci/%s/device", address);
	char *node CLEANUP_FREE = text_format(TREE "/sys/%s", number);
	char *link CLEANUP_FREE = text_format("%s/device", node);
	char *target CLEANUP_FREE = text_format(TREE "/pci/%s", address);
	if (file_make_directories(folder, 0755, NULL) != 0 ||
	    file_make_directories(node, 0755, NULL) != 0 || write_text(vendor, "0x1002\n") != 0 ||
	    write_text(device, "0x73bf\n") != 0)
		return -1;
	(void)unlink(link);
	return symlink(target, link);
}

static int bind_node(const char *from, const char *to)
{
	return write_text(to, "") == 0 ? mount(from, to, NULL, MS_BIND, NULL) : -1;
}

static int make_nodes(void)
{
	static const char *const kept[] = {"null", "zero", "full", "random", "urandom"};
	if (file_make_directories(TREE "/dev/dri", 0755, NULL) != 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		char *from CLEANUP_FREE = text_format("/dev/%s", kept[i]);
		char *to CLEANUP_FREE = text_format(TREE "/dev/%s", kept[i]);
		if (bind_node(from, to) != 0)
			return -1;
	}
	return bind_node("/dev/null", TREE "/dev/dri/renderD128") == 0 &&
			       bind_node("/dev/zero", TREE "/dev/dri/renderD129") == 0
		       ? mount(TREE "/dev", "/dev", NULL, MS_BIND | MS_REC, NULL)
		       : -1;
}

/* Without root, in a user namespace in which it is. */
static int enter(void)
{
	char *users CLEANUP_FREE = text_format("0 %u 1", (unsigned)getuid());
	if (geteuid() == 0)
		return unshare(CLONE_NEWNS);
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? write_text("/proc/self/uid_map", users)
							 : -1;
}

static int prepare(void)
{
	if (enter() != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
		perror("no mount namespace");
		return SKIPPED;
	}
	if (make_device("1:3", "0000:03:00.0") != 0 || make_device("1:5", "0001:41:00.0") != 0 ||
	    make_nodes() != 0 || mount(TREE "/sys", "/sys/dev/char", NULL, MS_BIND, NULL) != 0) {
		perror("the tree of nodes");
		return 1;
	}
	return 0;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"devices are told", test_devices_are_told},
		{"frames are encoded", test_frames_are_encoded},
		{"what a device encodes is listed", test_what_a_device_encodes_is_listed},
		{"frames are encoded in HEVC", test_frames_are_encoded_in_hevc},
		{"wrong descriptions of HEVC are refused",
		 test_wrong_descriptions_of_hevc_are_refused},
		{"what is not shown of HEVC is cut off", test_what_is_not_shown_of_hevc_is_cut_off},
		{"wrong streams of HEVC are told", test_wrong_streams_of_hevc_are_told},
		{"frames are encoded in AV1", test_frames_are_encoded_in_av1},
		{"wrong descriptions of AV1 are refused",
		 test_wrong_descriptions_of_av1_are_refused},
		{"wrong streams of AV1 are told", test_wrong_streams_of_av1_are_told},
		{"wrong streams are told", test_wrong_streams_are_told},
		{"a failing call is told", test_a_failing_call_is_told},
		{"a driver that tells nonsense failed", test_a_driver_that_tells_nonsense_failed},
		{"a decoder alone is unsupported", test_a_decoder_alone_is_unsupported},
		{"a hang times out", test_a_hang_times_out},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"a driver that does not start failed", test_a_driver_that_does_not_start_failed},
		{"what is missing is told", test_what_is_missing_is_told},
		{"nodes", test_nodes},
		CU_TEST_INFO_NULL,
	};
	const int code = prepare();
	return code == 0 ? rig_main("VA-API", "vaapi-documents.ndjson", tests) : code;
}
