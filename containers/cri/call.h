/* SPDX-License-Identifier: MIT */
#pragma once

/* One call of the container runtime interface: error codes, counters. Internal to cri/. */

#include "containers/cri/cri.h"

#define CRI_RUNTIME_METHOD(name) "/runtime.v1.RuntimeService/" name
#define CRI_IMAGE_METHOD(name)	 "/runtime.v1.ImageService/" name

/* `out` is the address of a message pointer, or NULL. */
int cri_call_wait(struct cri *cri, const char *method, const ProtobufCMessage *request,
		  const ProtobufCMessageDescriptor *reply_type, uint64_t timeout_ms, void *out,
		  struct error *err);

/* For calls that stop or remove: NOT_FOUND is success. */
int cri_call_id_wait(struct cri *cri, const char *method, const ProtobufCMessage *request,
		     const ProtobufCMessageDescriptor *reply_type, struct error *err);

/* Copies a string that the answer must hold. ERROR_PROTOCOL naming it. */
int cri_copy_promised(const char *value, const char *what, char **out, struct error *err);
