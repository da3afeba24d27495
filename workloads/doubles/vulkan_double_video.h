/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by the files of the double's Vulkan Video (vulkan_double_video.c). */

#include "workloads/doubles/h264_pcm.h"
#include "workloads/doubles/vulkan_double.h"
#include "workloads/video/av1.h"
#include "workloads/video/hevc.h"

enum { SLOTS = 2, SIDE_MAX = 64, QP_LEAST = 1, QP_MOST = 20 };

struct queries {
	bool reset;
	struct {
		uint32_t offset, bytes;
		int32_t status;
	} feedback;
};

/* The picture in a slot: its number, and its place in the order of pictures. */
struct coded {
	bool there;
	unsigned number;
	int order;
};

struct session {
	bool bound, reset, constant_qp;
	const struct double_codec *codec;
	struct h264_pcm writer;
	struct coded slots[SLOTS];
	int kept[AV1_SLOTS]; /* AV1: the order of the picture in each of the decoder's slots */
	void *coder;
};

struct parameters {
	struct session *session;
	struct text headers;
	unsigned number_bits, order_bits; /* of H.264 */
	struct hevc_sets hevc;
	struct av1_sequence av1;
};

struct double_picture {
	struct session *session;
	struct parameters *parameters;
	struct queries *queries;
	struct double_buffer *out;
	VkDeviceSize room;
	struct double_image *image;
	struct h264_slice slice; /* of H.264 */
	struct {
		bool key;
		unsigned order, merge_candidates;
		int quality;
	} hevc;
	struct av1_frame av1;
};

struct double_codec {
	const char *extension;
	VkVideoCodecOperationFlagsKHR operation;
	/* VkStructureType; 0: headers cannot be selected. */
	int32_t capabilities, parameters, headers, picture, slot;
	unsigned sets;								 /* of headers */
	void (*begin)(struct session *session), (*end)(struct session *session); /* NULL: nothing */
	bool (*offers)(uint32_t profile, bool ten_bit);
	void (*report_capabilities)(uint32_t *values); /* its capabilities */
	/* Writes parameters->headers. Returns what is wrong with the description, NULL: nothing; so
	 * does take_picture(). */
	const char *(*take_parameters)(struct parameters *parameters, const void *codec);
	const char *(*take_picture)(struct double_picture *picture,
				    const VkVideoEncodeInfoKHR *info);
	/* Appends the picture (writer->user); NULL: H.264. */
	void (*put)(const struct h264_pcm *writer, const struct video_planes *frame,
		    struct text *stream);
};

extern const struct double_codec double_h264, double_hevc;
extern const struct double_codec double_av1; /* only in double_vulkan_av1, which links libaom */

/* vulkan_double_pictures.c: functions of pictures; NULL for a name it does not have. */
PFN_vkVoidFunction double_picture_function(const char *name);

/* For every codec: checks the slots of a picture, which refers to the one before unless it is a
 * key. `listed`: the slot that its own lists name, -1 for none. */
const char *double_check_slots(const struct session *session, const VkVideoEncodeInfoKHR *info,
			       bool key, int listed);
bool double_is_qp(const struct session *session, int64_t qp, int64_t least, int64_t most);

/* "spoil=WHAT": the caller's description is spoilt before it is checked. */
bool double_spoils(const char *what);
