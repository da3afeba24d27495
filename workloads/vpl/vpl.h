/* SPDX-License-Identifier: MIT */
#pragma once

/* oneVPL as the probe uses it: the dispatcher (libvpl.so.2), and the implementations in hardware that
 * it finds behind it. vpl_api is what programs need; the rest is shared by the files of this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/video/video.h"

#ifndef ONEVPL_EXPERIMENTAL
#define ONEVPL_EXPERIMENTAL /* mfxExtendedDeviceId */
#endif
#include <vpl/mfx.h>

#include <stdbool.h>
#include <stddef.h>

#define VPL_LIBRARY "libvpl.so.2"

#define VPL_FUNCTIONS(X)                                                                           \
	X(MFXLoad)                                                                                 \
	X(MFXUnload)                                                                               \
	X(MFXEnumImplementations)                                                                  \
	X(MFXDispReleaseImplDescription)                                                           \
	X(MFXCreateSession)                                                                        \
	X(MFXClose)                                                                                \
	X(MFXVideoCORE_SetHandle)                                                                  \
	X(MFXVideoCORE_SyncOperation)                                                              \
	X(MFXVideoENCODE_Query)                                                                    \
	X(MFXVideoENCODE_Init)                                                                     \
	X(MFXVideoENCODE_Close)                                                                    \
	X(MFXVideoENCODE_EncodeFrameAsync)

#define VPL_DECLARE(name) __typeof__(name) *name;

enum { VPL_DEVICES_MAX = 64 };

/* An implementation in hardware: one for each device. */
struct vpl_device {
	mfxU32 index; /* of the dispatcher */
	struct video_offers offers;
	mfxU32 render_node; /* the number of /dev/dri/renderD128; 0: not told */
};

struct vpl {
	VPL_FUNCTIONS(VPL_DECLARE)
	mfxLoader loader;
	struct vpl_device devices[VPL_DEVICES_MAX];
	size_t count;
	size_t software; /* implementations that are left out */
};

/* 0 for success; otherwise keeps call and code and returns ERROR_REMOTE. */
int vpl_check(struct call_failure *failure, mfxStatus status, const char *call, struct error *err);

extern const mfxU32 vpl_codecs[VIDEO_CODECS];

/* encoder.c */
extern const struct video_encoder vpl_encoder;
