/* SPDX-License-Identifier: MIT */
#pragma once

/* VA-API as the probe uses it: a display for each render node, and encoders of H.264. vaapi_api is
 * what programs need; the rest is shared by the files of this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/video/video.h"

#include <va/va.h>

#include <stdbool.h>
#include <stddef.h>

#define VAAPI_LIBRARY	  "libva.so.2"
#define VAAPI_DRM_LIBRARY "libva-drm.so.2"

/* Result, name, parameters. */
#define VAAPI_FUNCTIONS(X)                                                                         \
	X(VAMessageCallback, vaSetErrorCallback, (VADisplay, VAMessageCallback, void *))           \
	X(VAMessageCallback, vaSetInfoCallback, (VADisplay, VAMessageCallback, void *))            \
	X(VAStatus, vaInitialize, (VADisplay, int *major, int *minor))                             \
	X(VAStatus, vaTerminate, (VADisplay))                                                      \
	X(const char *, vaQueryVendorString, (VADisplay))                                          \
	X(int, vaMaxNumProfiles, (VADisplay))                                                      \
	X(int, vaMaxNumEntrypoints, (VADisplay))                                                   \
	X(VAStatus, vaQueryConfigProfiles, (VADisplay, VAProfile *, int *count))                   \
	X(VAStatus, vaQueryConfigEntrypoints, (VADisplay, VAProfile, VAEntrypoint *, int *count))  \
	X(VAStatus, vaGetConfigAttributes,                                                         \
	  (VADisplay, VAProfile, VAEntrypoint, VAConfigAttrib *, int count))                       \
	X(VAStatus, vaCreateConfig,                                                                \
	  (VADisplay, VAProfile, VAEntrypoint, VAConfigAttrib *, int count, VAConfigID *))         \
	X(VAStatus, vaDestroyConfig, (VADisplay, VAConfigID))                                      \
	X(VAStatus, vaCreateSurfaces,                                                              \
	  (VADisplay, unsigned format, unsigned width, unsigned height, VASurfaceID *,             \
	   unsigned count, VASurfaceAttrib *, unsigned attributes))                                \
	X(VAStatus, vaDestroySurfaces, (VADisplay, VASurfaceID *, int count))                      \
	X(VAStatus, vaCreateContext,                                                               \
	  (VADisplay, VAConfigID, int width, int height, int flag, VASurfaceID *, int count,       \
	   VAContextID *))                                                                         \
	X(VAStatus, vaDestroyContext, (VADisplay, VAContextID))                                    \
	X(VAStatus, vaCreateBuffer,                                                                \
	  (VADisplay, VAContextID, VABufferType, unsigned size, unsigned count, void *data,        \
	   VABufferID *))                                                                          \
	X(VAStatus, vaDestroyBuffer, (VADisplay, VABufferID))                                      \
	X(VAStatus, vaMapBuffer, (VADisplay, VABufferID, void **))                                 \
	X(VAStatus, vaUnmapBuffer, (VADisplay, VABufferID))                                        \
	X(VAStatus, vaBeginPicture, (VADisplay, VAContextID, VASurfaceID))                         \
	X(VAStatus, vaRenderPicture, (VADisplay, VAContextID, VABufferID *, int count))            \
	X(VAStatus, vaEndPicture, (VADisplay, VAContextID))                                        \
	X(VAStatus, vaSyncSurface, (VADisplay, VASurfaceID))                                       \
	X(VAStatus, vaSyncSurface2, (VADisplay, VASurfaceID, uint64_t timeout_ns))                 \
	X(VAStatus, vaCreateImage, (VADisplay, VAImageFormat *, int width, int height, VAImage *)) \
	X(VAStatus, vaPutImage,                                                                    \
	  (VADisplay, VASurfaceID, VAImageID, int, int, unsigned, unsigned, int, int, unsigned,    \
	   unsigned))                                                                              \
	X(VAStatus, vaDestroyImage, (VADisplay, VAImageID))

/* NOLINTNEXTLINE(bugprone-macro-parentheses): it declares what it is given */
#define VAAPI_DECLARE(result, name, parameters) result(*name) parameters;

enum { VAAPI_NODES_MAX = 64 }; /* minors 128 to 191 are the kernel's render nodes */

/* A render node that could be opened, and the display on it. */
struct vaapi_node {
	char path[32]; /* "/dev/dri/renderD128" */
	int fd;
	unsigned major, minor;
	VADisplay display;   /* NULL: libva made none */
	struct error reason; /* of a display without a driver; code 0: there is one */
	struct call_failure failure;
	char version[32]; /* of the API that the driver offers: "1.17" */
};

/* How a device encodes a codec. */
struct vaapi_way {
	VAProfile profile;
	VAEntrypoint entrypoint;
};

struct vaapi {
	VAAPI_FUNCTIONS(VAAPI_DECLARE)
	VADisplay (*vaGetDisplayDRM)(int fd);
	struct vaapi_node nodes[VAAPI_NODES_MAX];
	size_t count;
	struct vaapi_way ways[VIDEO_OFFERS_MAX]; /* of the offers, by their ids */
};

/* names.c: 0 for success; otherwise keeps call and code and returns ERROR_REMOTE. */
int vaapi_check(struct call_failure *failure, VAStatus status, const char *call, struct error *err);

/* nodes.c: opens what nodes there are. ERROR_PERMISSION: there are some, and none can be opened. */
int vaapi_open_nodes(struct vaapi *va, struct api_report *report, struct error *err);
/* An element of `devices`. NULL: out of memory. */
cJSON *vaapi_describe(const struct vaapi *va, size_t index);

/* offers.c */
int vaapi_list(void *session, const struct work_request *request, struct video_offers *offers,
	       struct error *err);

enum { VAAPI_INPUT, VAAPI_RECONSTRUCTED, VAAPI_SURFACES = VAAPI_RECONSTRUCTED + 2 };
enum { VAAPI_BUFFERS_MAX = 16 }; /* of one picture */

/* One stream. Its frames are coded one after the other: the first is a key frame, each other one
 * refers to the one before. */
struct vaapi_encoder {
	struct vaapi *va;
	const struct video_job *job;
	VADisplay display;
	struct vaapi_way way;
	unsigned rate_control; /* VA_RC_... */
	unsigned packed;       /* VA_ENC_PACKED_HEADER_...: what the driver wants to be given */
	VAConfigID config;
	VAContextID context;
	VASurfaceID surfaces[VAAPI_SURFACES];
	VABufferID coded;
	unsigned coded_size;
	VAImage image;
	VABufferID buffers[VAAPI_BUFFERS_MAX];
	int buffer_count;
	bool coding, draining;
};

/* vaapi_check() of a function. */
#define VAAPI_CALL(e, err, function, ...)                                                          \
	vaapi_check((e)->job->failure, (e)->va->function((e)->display, __VA_ARGS__), #function, err)

/* Makes a buffer of the picture that is about to be rendered. */
int vaapi_add_buffer(struct vaapi_encoder *e, VABufferType type, const void *data, size_t size,
		     struct error *err);

/* h264.c: all that describes picture `index`. */
int vaapi_h264_describe(struct vaapi_encoder *e, unsigned index, struct error *err);

/* encoder.c */
extern const struct video_encoder vaapi_encoder;
