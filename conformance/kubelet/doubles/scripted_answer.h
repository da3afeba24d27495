/* SPDX-License-Identifier: MIT */
#pragma once

/* Building the messages that a script describes. All come as packed bytes: caller frees. */

#include "conformance/kubelet/doubles/script.h"

struct scripted_bytes {
	uint8_t *data;
	size_t size;
};

/* AllocateResponse with one container response for each request of `request`. */
int scripted_allocate(const struct script *script, const struct script_fault *fault,
		      const V1beta1__AllocateRequest *request, size_t call,
		      struct scripted_bytes *out, struct error *err);

int scripted_list(const struct kubelet_device_list *devices, struct scripted_bytes *out,
		  struct error *err);

int scripted_preferred(const struct script *script,
		       const V1beta1__PreferredAllocationRequest *request, size_t call,
		       struct scripted_bytes *out, struct error *err);

int scripted_pack(const ProtobufCMessage *message, struct scripted_bytes *out, struct error *err);
