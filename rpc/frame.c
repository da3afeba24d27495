/* SPDX-License-Identifier: MIT */
#include "rpc/frame.h"

void frame_write_prefix(uint8_t out[FRAME_PREFIX_SIZE], uint32_t size)
{
	out[0] = 0;
	out[1] = (uint8_t)(size >> 24);
	out[2] = (uint8_t)(size >> 16);
	out[3] = (uint8_t)(size >> 8);
	out[4] = (uint8_t)size;
}

int frame_read(struct rpc_slice input, size_t max, bool *whole, struct rpc_slice *message,
	       struct error *err)
{
	const uint8_t *prefix = input.data;
	*whole = false;
	if (input.size < FRAME_PREFIX_SIZE)
		return 0;
	size_t length = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 |
			prefix[4];
	if (prefix[0] > 1)
		return error_set(err, ERROR_FORMAT, "message flags 0x%02x are not defined",
				 prefix[0]);
	if (prefix[0] == 1)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the message is compressed, and only identity is accepted");
	if (length > max)
		return error_set(err, ERROR_LIMIT,
				 "grpc: received message larger than max (%zu vs. %zu)", length,
				 max);
	*whole = input.size - FRAME_PREFIX_SIZE >= length;
	if (*whole)
		*message = (struct rpc_slice){input.data + FRAME_PREFIX_SIZE, length};
	return 0;
}

int frame_error_status(int error_code)
{
	return error_code == ERROR_LIMIT ? RPC_RESOURCE_EXHAUSTED : RPC_INTERNAL;
}
