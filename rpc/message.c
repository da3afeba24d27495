/* SPDX-License-Identifier: MIT */
#include "rpc/message.h"

#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_64_BIT = 1, WIRE_LENGTH = 2, WIRE_32_BIT = 5 };

/* One field of a packed message. `data` follows a length, or is the value of a fixed size. */
struct wire_field {
	struct rpc_slice whole, data;
	size_t key_size;
	const ProtobufCFieldDescriptor *known; /* a string or message field; else NULL */
};

static bool take_varint(struct rpc_slice *from, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift < 64 && from->size > 0; shift += 7) {
		uint8_t byte = *from->data++;
		from->size--;
		*out |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* The next field; false at the end and where the bytes are not a message. */
static bool take_field(const ProtobufCMessageDescriptor *type, struct rpc_slice *from,
		       struct wire_field *out)
{
	const uint8_t *start = from->data;
	uint64_t key = 0;
	*out = (struct wire_field){0};
	if (from->size == 0 || !take_varint(from, &key))
		return false;
	out->key_size = (size_t)(from->data - start);

	const unsigned wire = (unsigned)(key & 7);
	uint64_t size = 0;
	if (wire == WIRE_VARINT || wire == WIRE_LENGTH) {
		uint64_t value = 0;
		if (!take_varint(from, &value))
			return false;
		size = wire == WIRE_LENGTH ? value : 0;
	} else if (wire == WIRE_64_BIT || wire == WIRE_32_BIT) {
		size = wire == WIRE_64_BIT ? 8 : 4;
	} else {
		return false; /* groups */
	}
	if (size > from->size)
		return false;
	out->data = (struct rpc_slice){from->data, (size_t)size};
	from->data += size;
	from->size -= (size_t)size;

	out->whole = (struct rpc_slice){start, (size_t)(from->data - start)};
	if (wire != WIRE_LENGTH || key >> 3 > UINT32_MAX)
		return true;
	out->known = protobuf_c_message_descriptor_get_field(type, (unsigned)(key >> 3));
	if (out->known != NULL && out->known->type != PROTOBUF_C_TYPE_STRING &&
	    out->known->type != PROTOBUF_C_TYPE_MESSAGE)
		out->known = NULL;
	return true;
}

struct findings {
	bool nul, not_utf8;
};

/* Recursion is as deep as the message type, none of which is recursive. */
static void scan(const ProtobufCMessageDescriptor *type, struct rpc_slice bytes,
		 struct findings *found)
{
	struct wire_field field;
	while (take_field(type, &bytes, &field)) {
		const char *text = (const char *)field.data.data;
		if (field.known == NULL)
			continue;
		if (field.known->type == PROTOBUF_C_TYPE_MESSAGE) {
			scan(field.known->descriptor, field.data, found);
			continue;
		}
		found->nul = found->nul || memchr(text, '\0', field.data.size) != NULL;
		found->not_utf8 = found->not_utf8 || !text_is_utf8(text, field.data.size);
	}
}

struct exchanged {
	struct rpc_slice from, to;
};

static void replace_text(struct rpc_slice text, const struct exchanged *what, struct text *out)
{
	const uint8_t *end = text.data + text.size;
	const uint8_t *at = text.data;
	while (at < end) {
		bool hit = (size_t)(end - at) >= what->from.size &&
			   memcmp(at, what->from.data, what->from.size) == 0;
		if (hit)
			text_append(out, (const char *)what->to.data, what->to.size);
		else
			text_append(out, (const char *)at, 1);
		at += hit ? what->from.size : 1;
	}
}

/* Copies the message with other bytes in its strings, whose lengths follow. */
static void replace(const ProtobufCMessageDescriptor *type, struct rpc_slice bytes,
		    const struct exchanged *what, struct text *out)
{
	struct wire_field field;
	while (take_field(type, &bytes, &field)) {
		struct text inner CLEANUP_TEXT = {0};
		if (field.known == NULL) {
			text_append(out, (const char *)field.whole.data, field.whole.size);
			continue;
		}
		if (field.known->type == PROTOBUF_C_TYPE_MESSAGE)
			replace(field.known->descriptor, field.data, what, &inner);
		else
			replace_text(field.data, what, &inner);
		text_append(out, (const char *)field.whole.data, field.key_size);
		for (size_t length = inner.size;; length >>= 7) {
			char byte = (char)(unsigned char)(length & 0x7f);
			if (length >= 0x80)
				byte = (char)(unsigned char)(length | 0x80);
			text_append(out, &byte, 1);
			if (length < 0x80)
				break;
		}
		text_append(out, text_string(&inner), inner.size);
		out->failed = out->failed || inner.failed;
	}
	/* The rest is not a message, and stays as it is. */
	text_append(out, (const char *)bytes.data, bytes.size);
}

static const struct exchanged to_memory = {
	.from = {(const uint8_t *)"", 1},
	.to = {(const uint8_t *)MESSAGE_NUL, sizeof(MESSAGE_NUL) - 1},
};
static const struct exchanged to_the_wire = {
	.from = {(const uint8_t *)MESSAGE_NUL, sizeof(MESSAGE_NUL) - 1},
	.to = {(const uint8_t *)"", 1},
};

const char *message_unpack(const ProtobufCMessageDescriptor *type, struct rpc_slice bytes,
			   ProtobufCMessage **out)
{
	struct text rewritten CLEANUP_TEXT = {0};
	struct findings found = {0};
	*out = NULL;
	scan(type, bytes, &found);
	if (found.not_utf8)
		return "grpc: failed to unmarshal the received message: string field contains invalid UTF-8";
	if (found.nul) {
		replace(type, bytes, &to_memory, &rewritten);
		bytes = (struct rpc_slice){(const uint8_t *)text_string(&rewritten),
					   rewritten.size};
	}
	if (!rewritten.failed)
		*out = protobuf_c_message_unpack(type, NULL, bytes.size, bytes.data);
	return *out != NULL ? NULL : "grpc: failed to unmarshal the received message";
}

int message_pack(const ProtobufCMessage *message, struct text *out, struct error *err)
{
	struct text packed CLEANUP_TEXT = {0};
	size_t size = protobuf_c_message_get_packed_size(message);
	char *bytes = text_extend(&packed, size);
	bool has_nul = false;
	if (bytes == NULL)
		return error_memory(err);
	(void)protobuf_c_message_pack(message, (uint8_t *)bytes);
	for (size_t i = 1; i < size && !has_nul; i++)
		has_nul = memcmp(&bytes[i - 1], MESSAGE_NUL, 2) == 0;
	if (has_nul)
		replace(message->descriptor, (struct rpc_slice){(const uint8_t *)bytes, size},
			&to_the_wire, out);
	else
		text_append(out, bytes, size);
	return out->failed ? error_memory(err) : 0;
}
