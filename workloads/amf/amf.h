/* SPDX-License-Identifier: MIT */
#pragma once

/* AMF, the encoders of AMD's devices, as the probe uses it. Shared by the files of this folder. */

#include "base/error.h"
#include "workloads/amf/amf_abi.h"
#include "workloads/common/api.h"
#include "workloads/video/video.h"

#include <stddef.h>

struct amf {
	amf_object factory;
	void *devices;	    /* session of amf_devices */
	void *device;	    /* in use; NULL: none */
	amf_object context; /* AMFContext1 on that device; NULL: none */
};

/* 0 for AMF_OK; otherwise keeps call and result in `failure`, says what to do about it, and returns
 * ERROR_REMOTE. */
int amf_check(amf_result result, const char *call, struct call_failure *failure, struct error *err);

/* The same, and ERROR_UNSUPPORTED when the result says that the device, or its driver, lacks it. */
int amf_check_present(amf_result result, const char *call, struct call_failure *failure,
		      struct error *err);

/* amf_check() of a method. */
#define AMF_CALL(failure, err, interface, method, object, ...)                                     \
	amf_check(AMF_METHOD(object, interface, method)(object, __VA_ARGS__),                      \
		  #interface "::" #method, failure, err)

/* posix/device.c: devices of Vulkan, and amf->context on one. windows/device.c: adapters of DXGI, and
 * amf->context on a device of Direct3D 11. ERROR_UNSUPPORTED: AMF does not know the device. */
extern const struct api_driver *const amf_devices;
int amf_device_open(struct amf *amf, size_t index, struct call_failure *failure, struct error *err);
void amf_device_close(struct amf *amf);
