/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Protobuf messages read as protobuf-go reads them, which protobuf-c alone does not do: a string
 * must be UTF-8, and it does not end at a NUL. In memory, where strings are C's, a NUL is the two
 * bytes MESSAGE_NUL, which UTF-8 never has; requests of rpc_unary() have the NUL again.
 */

#include "base/text.h"
#include "rpc/rpc.h"

#include <protobuf-c/protobuf-c.h>

#define MESSAGE_NUL "\xc0\x80"

/* NULL when *out is the message (protobuf_c_message_free_unpacked), else why it cannot be read, in
 * the words of grpc-go. */
const char *message_unpack(const ProtobufCMessageDescriptor *type, struct rpc_slice bytes,
			   ProtobufCMessage **out);

/* Appends the packed message, with NUL in its strings for MESSAGE_NUL. ERROR_MEMORY. */
int message_pack(const ProtobufCMessage *message, struct text *out, struct error *err);

/* protobuf-c wants the strings of a message writable; nothing writes to those of a request. */
static inline char *wire_string(const char *string)
{
	return (char *)(uintptr_t)string;
}

static inline char **message_strings(const char *const *strings)
{
	return (char **)(uintptr_t)strings;
}
