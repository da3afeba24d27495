/* SPDX-License-Identifier: MIT */
#include "rpc/frame.h"

/* Memory of a larger message is given back before the next one is read. */
enum { KEPT_CAPACITY = 64 * 1024 };

void frame_write_prefix(uint8_t out[FRAME_PREFIX_SIZE], uint32_t size)
{
	out[0] = 0;
	out[1] = (uint8_t)(size >> 24);
	out[2] = (uint8_t)(size >> 16);
	out[3] = (uint8_t)(size >> 8);
	out[4] = (uint8_t)size;
}

/* Moves bytes from the front of *input until the reader holds `size`, if there are so many. */
static bool fill(struct frame_reader *reader, size_t size, struct rpc_slice *input)
{
	size_t missing = size - reader->bytes.size;
	size_t taken = missing < input->size ? missing : input->size;
	if (taken > 0)
		text_append(&reader->bytes, (const char *)input->data, taken);
	input->data += taken;
	input->size -= taken;
	return taken == missing;
}

static int check_prefix(const uint8_t *prefix, size_t length, size_t max, struct error *err)
{
	if (prefix[0] > 1)
		return error_set(err, ERROR_FORMAT, "message flags 0x%02x are not defined",
				 prefix[0]);
	if (prefix[0] == 1)
		return error_set(err, ERROR_UNSUPPORTED, "the message is compressed");
	if (length > max)
		return error_set(err, ERROR_LIMIT,
				 "grpc: received message larger than max (%zu vs. %zu)", length,
				 max);
	return 0;
}

int frame_read(struct frame_reader *reader, struct rpc_slice *input, bool *whole,
	       struct rpc_slice *message, struct error *err)
{
	struct text *bytes = &reader->bytes;
	*whole = false;
	if (reader->whole && bytes->capacity > KEPT_CAPACITY)
		text_free(bytes);
	else if (reader->whole)
		text_reset(bytes);
	reader->whole = false;
	if (bytes->size < FRAME_PREFIX_SIZE && !fill(reader, FRAME_PREFIX_SIZE, input))
		return 0;
	if (bytes->failed)
		return error_memory(err);
	const uint8_t *prefix = (const uint8_t *)bytes->data;
	size_t length = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 |
			prefix[4];
	int rc = check_prefix(prefix, length, reader->max, err);
	if (rc < 0)
		return rc;
	*whole = fill(reader, FRAME_PREFIX_SIZE + length, input);
	if (bytes->failed)
		return error_memory(err);
	reader->whole = *whole;
	if (*whole)
		*message = (struct rpc_slice){(const uint8_t *)bytes->data + FRAME_PREFIX_SIZE,
					      length};
	return 0;
}

bool frame_reader_is_partial(const struct frame_reader *reader)
{
	return !reader->whole && reader->bytes.size > 0;
}

void frame_reader_free(struct frame_reader *reader)
{
	text_free(&reader->bytes);
}

int frame_error_status(int error_code)
{
	if (error_code == ERROR_LIMIT || error_code == ERROR_MEMORY)
		return RPC_RESOURCE_EXHAUSTED;
	return RPC_INTERNAL;
}
