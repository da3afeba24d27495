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

/* Result, name, parameters. */
#define VPL_FUNCTIONS(X)                                                                           \
	X(mfxLoader, MFXLoad, (void))                                                              \
	X(void, MFXUnload, (mfxLoader))                                                            \
	X(mfxStatus, MFXEnumImplementations,                                                       \
	  (mfxLoader, mfxU32 index, mfxImplCapsDeliveryFormat, mfxHDL *))                          \
	X(mfxStatus, MFXDispReleaseImplDescription, (mfxLoader, mfxHDL))                           \
	X(mfxStatus, MFXCreateSession, (mfxLoader, mfxU32 index, mfxSession *))                    \
	X(mfxStatus, MFXClose, (mfxSession))                                                       \
	X(mfxStatus, MFXVideoCORE_SetHandle, (mfxSession, mfxHandleType, mfxHDL))                  \
	X(mfxStatus, MFXVideoCORE_SyncOperation, (mfxSession, mfxSyncPoint, mfxU32 wait_ms))       \
	X(mfxStatus, MFXVideoENCODE_Query, (mfxSession, mfxVideoParam *, mfxVideoParam *))         \
	X(mfxStatus, MFXVideoENCODE_Init, (mfxSession, mfxVideoParam *))                           \
	X(mfxStatus, MFXVideoENCODE_Close, (mfxSession))                                           \
	X(mfxStatus, MFXVideoENCODE_EncodeFrameAsync,                                              \
	  (mfxSession, mfxEncodeCtrl *, mfxFrameSurface1 *, mfxBitstream *, mfxSyncPoint *))

/* NOLINTNEXTLINE(bugprone-macro-parentheses): it declares what it is given */
#define VPL_DECLARE(result, name, parameters) result(MFX_CDECL *name) parameters;

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

/* offers.c: what an implementation says that it encodes. */
mfxU32 vpl_codec_id(enum video_codec codec);
void vpl_add_offers(const mfxEncoderDescription *told, const char *name,
		    struct video_offers *offers);

/* encoder.c */
extern const struct video_encoder vpl_encoder;
