/* SPDX-License-Identifier: MIT */
#pragma once

/* VA-API as the probe uses it: a display for each render node, and encoders of H.264, HEVC and AV1.
 * vaapi_api is what programs need; the rest is shared by the files of this folder. */

#include "base/error.h"
#include "base/library.h"
#include "workloads/common/api.h"
#include "workloads/video/h264.h"
#include "workloads/video/video.h"

#include <va/va.h>
#include <va/va_drm.h>

#include <stdbool.h>
#include <stddef.h>

#define VAAPI_LIBRARY	  "libva.so.2"
#define VAAPI_DRM_LIBRARY "libva-drm.so.2"

enum { VAAPI_NODES_MAX = 64 }; /* minors 128 to 191 are the kernel's render nodes */

/* A render node that could be opened, and the display on it. */
struct vaapi_node {
	char path[32]; /* "/dev/dri/renderD128" */
	int fd;
	unsigned major, minor;
	VADisplay display;   /* NULL: libva made none */
	struct error reason; /* why the display has no driver; code 0: it has one */
	struct call_failure failure;
	char version[32]; /* of the driver's API: "1.17" */
};

struct vaapi_profile {
	VAProfile profile;
	enum video_codec codec;
	const char *name;
	bool ten_bit;
	struct h264_sequence sequence; /* H.264 only */
};

/* How a device encodes a codec. */
struct vaapi_way {
	const struct vaapi_profile *profile;
	VAEntrypoint entrypoint;
};

struct vaapi {
#define X LIBRARY_FUNCTION
#include "workloads/vaapi/functions.h" /* those that this folder calls */
#undef X
	struct {
		LIBRARY_FUNCTION(vaGetDisplayDRM)
	} drm;
	struct vaapi_node nodes[VAAPI_NODES_MAX];
	size_t count;
	struct vaapi_way ways[VIDEO_OFFERS_MAX]; /* of the offers, by their ids */
};

/* 0 for success; otherwise keeps call and code and returns ERROR_REMOTE. */
int vaapi_check(struct call_failure *failure, VAStatus status, const char *call, struct error *err);

/* nodes.c: opens the existing nodes. ERROR_PERMISSION: some exist, and none can be opened. */
int vaapi_open_nodes(struct vaapi *va, struct api_report *report, struct error *err);
/* An element of `devices`. */
cJSON *vaapi_describe(const struct vaapi *va, size_t index);

/* offers.c */
int vaapi_list(void *session, const struct work_request *request, struct video_offers *offers,
	       struct error *err);

/* encoder.c */
extern const struct video_encoder vaapi_encoder;
