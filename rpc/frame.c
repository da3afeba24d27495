/* SPDX-License-Identifier: MIT */
#include "rpc/frame.h"

#include <string.h>

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

static void reader_start_over(struct frame_reader *reader)
{
	reader->whole = false;
	reader->prefix_size = 0;
	if (reader->body.capacity > KEPT_CAPACITY)
		text_free(&reader->body);
	else
		text_reset(&reader->body);
}

static int reader_check_prefix(struct frame_reader *reader, struct error *err)
{
	const uint8_t *prefix = reader->prefix;
	if (prefix[0] > 1)
		return error_set(err, ERROR_FORMAT, "message flags 0x%02x are not defined",
				 prefix[0]);
	if (prefix[0] == 1)
		return error_set(err, ERROR_UNSUPPORTED, "the message is compressed");
	reader->length = (uint32_t)prefix[1] << 24 | (uint32_t)prefix[2] << 16 |
			 (uint32_t)prefix[3] << 8 | prefix[4];
	if (reader->length > reader->max)
		return error_set(err, ERROR_LIMIT,
				 "grpc: received message larger than max (%lu vs. %zu)",
				 (unsigned long)reader->length, reader->max);
	return 0;
}

static void slice_skip(struct rpc_slice *slice, size_t size)
{
	slice->data += size;
	slice->size -= size;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

int frame_read(struct frame_reader *reader, struct rpc_slice *input, bool *whole,
	       struct rpc_slice *message, struct error *err)
{
	size_t size = 0;
	int rc = 0;
	*whole = false;
	if (reader->whole)
		reader_start_over(reader);
	if (reader->prefix_size < FRAME_PREFIX_SIZE && input->size > 0) {
		size = smaller(FRAME_PREFIX_SIZE - reader->prefix_size, input->size);
		memcpy(reader->prefix + reader->prefix_size, input->data, size);
		reader->prefix_size += size;
		slice_skip(input, size);
		if (reader->prefix_size == FRAME_PREFIX_SIZE) {
			rc = reader_check_prefix(reader, err);
			if (rc < 0)
				return rc;
		}
	}
	if (reader->prefix_size < FRAME_PREFIX_SIZE)
		return 0;
	size = smaller(reader->length - reader->body.size, input->size);
	if (size > 0)
		text_append(&reader->body, (const char *)input->data, size);
	if (reader->body.failed)
		return error_memory(err);
	slice_skip(input, size);
	if (reader->body.size < reader->length)
		return 0;
	reader->whole = true;
	*whole = true;
	*message = (struct rpc_slice){(const uint8_t *)text_string(&reader->body), reader->length};
	return 0;
}

bool frame_reader_is_partial(const struct frame_reader *reader)
{
	return !reader->whole && reader->prefix_size > 0;
}

void frame_reader_free(struct frame_reader *reader)
{
	text_free(&reader->body);
}

int frame_error_status(int error_code)
{
	if (error_code == ERROR_LIMIT || error_code == ERROR_MEMORY)
		return RPC_RESOURCE_EXHAUSTED;
	return RPC_INTERNAL;
}
