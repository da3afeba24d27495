/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * NVENC, the encoders of NVIDIA's devices, as the probe uses it. Shared by the files of this folder.
 *
 * Structures are those of nvEncodeAPI.h 11.1, which drivers since 470.57 (471.41 on Windows) accept.
 * Each carries a version word, made of the version of the API and a number of its own. With a driver
 * of version 12.1 (530.41, 531.61) or later that version is used instead, because only then it reports
 * AV1. 12.1 has every member that is used here in the same place, and two of the structures are longer
 * at the end (union nvenc_picture, union nvenc_bitstream).
 * Source: nvEncodeAPI.h of the Video Codec SDK 11.1 and 12.1.
 */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/video/video.h"

#include <ffnvcodec/nvEncodeAPI.h>

#include <stddef.h>
#include <stdint.h>

#define NVENC_LIBRARY API_LIBRARY("nvEncodeAPI64.dll", "libnvidia-encode.so.1")

/* Version words. */
struct nvenc_versions {
	uint32_t packed; /* major and minor as NvEncodeAPIGetMaxSupportedVersion() packs them */
	uint32_t api;	 /* as everything else does: NVENCAPI_VERSION */
	uint32_t functions, config, initialize, preset, picture, bitstream;
	uint32_t other; /* of all other structures */
};

union nvenc_picture {
	NV_ENC_PIC_PARAMS params;
	uint8_t room[sizeof(NV_ENC_PIC_PARAMS) + 256];
};

union nvenc_bitstream {
	NV_ENC_LOCK_BITSTREAM params;
	uint8_t room[sizeof(NV_ENC_LOCK_BITSTREAM) + 256];
};

struct nvenc {
	NV_ENCODE_API_FUNCTION_LIST calls;
	const struct nvenc_versions *versions; /* in use */
	void *devices;			       /* session of nvenc_devices */
	void *device;			       /* in use; NULL: none */
};

/* 0 for NV_ENC_SUCCESS; otherwise keeps call and result in `failure`, says what to do about it, and
 * returns ERROR_REMOTE; ERROR_UNSUPPORTED: the device has no encoder. */
int nvenc_check(NVENCSTATUS result, const char *call, struct call_failure *failure,
		struct error *err);

/* nvenc_check() of a call. */
#define NVENC_CALL(nvenc, failure, err, function, ...)                                             \
	nvenc_check((nvenc)->calls.function(__VA_ARGS__), #function, failure, err)

/* posix/device.c: devices of CUDA, and a context of one. windows/device.c: adapters of DXGI, and a
 * device of Direct3D 11. */
extern const struct api_driver *const nvenc_devices;
extern const NV_ENC_DEVICE_TYPE nvenc_device_type;
int nvenc_device_open(struct nvenc *nvenc, size_t index, struct call_failure *failure,
		      struct error *err);
void nvenc_device_close(struct nvenc *nvenc);

/* encoder.c */
extern const struct video_encoder nvenc_encoder;
