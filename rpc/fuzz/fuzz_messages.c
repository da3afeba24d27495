/* SPDX-License-Identifier: MIT */
#include "rpc/fuzz/fuzz_messages.h"

#include "base/cleanup.h"
#include "rpc/message.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *pack(const ProtobufCMessage *message, size_t *size)
{
	*size = protobuf_c_message_get_packed_size(message);
	uint8_t *bytes = malloc(*size + 1);
	if (bytes == NULL || protobuf_c_message_pack(message, bytes) != *size)
		abort();
	return bytes;
}

void fuzz_messages(const ProtobufCMessageDescriptor *const *types, size_t count,
		   const uint8_t *data, size_t size)
{
	ProtobufCMessage *message = NULL;
	struct text restored CLEANUP_TEXT = {0};
	uint8_t *second = NULL;
	size_t first_size = 0;
	size_t second_size = 0;
	if (size < 1)
		return;
	const ProtobufCMessageDescriptor *type = types[data[0] % count];
	if (message_unpack(type, (struct rpc_slice){data + 1, size - 1}, &message) != NULL)
		return;
	uint8_t *first = pack(message, &first_size);
	if (message_pack(message, &restored, NULL) != 0 || restored.size > first_size)
		abort();
	/* protobuf-c keeps an unknown field 0 unchanged, but does not accept it again. */
	ProtobufCMessage *again = protobuf_c_message_unpack(type, NULL, first_size, first);
	if (again != NULL) {
		second = pack(again, &second_size);
		if (first_size != second_size || memcmp(first, second, first_size) != 0)
			abort();
		protobuf_c_message_free_unpacked(again, NULL);
		free(second);
	}
	protobuf_c_message_free_unpacked(message, NULL);
	free(first);
}
