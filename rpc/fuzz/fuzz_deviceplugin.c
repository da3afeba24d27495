/* SPDX-License-Identifier: MIT */
/* Every message of deviceplugin_v1beta1.proto. */
#include "base/cleanup.h"
#include "rpc/fuzz/fuzz_messages.h"
#include "rpc/proto/deviceplugin_v1beta1.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const ProtobufCMessageDescriptor *const types[] = {
	&v1beta1__empty__descriptor,
	&v1beta1__device_plugin_options__descriptor,
	&v1beta1__register_request__descriptor,
	&v1beta1__list_and_watch_response__descriptor,
	&v1beta1__device__descriptor,
	&v1beta1__topology_info__descriptor,
	&v1beta1__numanode__descriptor,
	&v1beta1__preferred_allocation_request__descriptor,
	&v1beta1__container_preferred_allocation_request__descriptor,
	&v1beta1__preferred_allocation_response__descriptor,
	&v1beta1__container_preferred_allocation_response__descriptor,
	&v1beta1__allocate_request__descriptor,
	&v1beta1__container_allocate_request__descriptor,
	&v1beta1__allocate_response__descriptor,
	&v1beta1__container_allocate_response__descriptor,
	&v1beta1__mount__descriptor,
	&v1beta1__device_spec__descriptor,
	&v1beta1__cdidevice__descriptor,
	&v1beta1__pre_start_container_request__descriptor,
	&v1beta1__pre_start_container_response__descriptor,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_messages(types, ARRAY_SIZE(types), data, size);
	return 0;
}
