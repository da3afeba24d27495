/* SPDX-License-Identifier: MIT */
/* Every message of pluginregistration_v1.proto. */
#include "base/cleanup.h"
#include "rpc/fuzz/fuzz_messages.h"
#include "rpc/proto/pluginregistration_v1.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ProtobufCMessageDescriptor *const types[] = {
	&pluginregistration__info_request__descriptor,
	&pluginregistration__plugin_info__descriptor,
	&pluginregistration__registration_status__descriptor,
	&pluginregistration__registration_status_response__descriptor,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_messages(types, ARRAY_SIZE(types), data, size);
	return 0;
}
