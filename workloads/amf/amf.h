/* SPDX-License-Identifier: MIT */
#pragma once

/* AMF, the encoders of AMD's devices, as the probe uses it. Shared by the files of this folder. */

#include "base/error.h"
#include "workloads/amf/amf_abi.h"
#include "workloads/common/api.h"
#include "workloads/video/video.h"

#include <stdbool.h>
#include <stddef.h>

#define AMF_LIBRARY API_LIBRARY("amfrt64.dll", "libamfrt64.so.1")

struct amf {
	struct amf_factory *factory;
	void *devices;		     /* device.c's own */
	void *device;		     /* that is worked on; NULL: none */
	struct amf_context *context; /* on that device; NULL: none */
	struct call_failure failure; /* of calls that belong to no stream */
};

/* 0 for AMF_OK; otherwise keeps call and result in `failure`, says what to do about it, and returns
 * ERROR_REMOTE. */
int amf_check(amf_result result, const char *call, struct call_failure *failure, struct error *err);

/* The device, or its driver, has no such encoder. */
bool amf_is_absent(amf_result result);

/* The encoder of a codec and the names of its properties. */
struct amf_codec {
	const wchar_t *id, *usage, *method, *target, *peak, *rate;
	int64_t constant; /* constant bit rate, as a method */
};

extern const struct amf_codec amf_codecs[VIDEO_CODECS];

/* Releases an object of any interface; NULL is none. */
void amf_release(void *object);

/* posix/device.c: devices of Vulkan, and a context on one. windows/device.c: adapters of DXGI, and a
 * context on Direct3D 11. Errors of the first as for the `open` of an api_driver; of
 * amf_device_open() also ERROR_UNSUPPORTED: it is no device of AMF. */
int amf_devices_open(struct amf *amf, struct api_report *report, struct error *err);
void amf_devices_close(struct amf *amf);
int amf_device_open(struct amf *amf, size_t index, struct error *err);
void amf_device_close(struct amf *amf);

/* offers.c */
int amf_list(void *session, const struct work_request *request, struct video_offers *offers,
	     struct error *err);

/* encoder.c */
extern const struct video_encoder amf_encoder;
