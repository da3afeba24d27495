/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reads protobuf messages as protobuf-go does, unlike plain protobuf-c: a string must be UTF-8, and
 * does not end at a NUL. In memory, where strings are C's, a NUL is the two bytes MESSAGE_NUL,
 * which never occur in UTF-8; rpc_unary() restores the NUL in requests.
 */

#include "base/text.h"
#include "rpc/rpc.h"

#include <protobuf-c/protobuf-c.h>

#define MESSAGE_NUL "\xc0\x80"

/* NULL when *out is the message (protobuf_c_message_free_unpacked), else why it cannot be read, in
 * the words of grpc-go. */
const char *message_unpack(const ProtobufCMessageDescriptor *type, struct rpc_slice bytes,
			   ProtobufCMessage **out);

/* Appends the packed message, with NUL in place of MESSAGE_NUL in its strings. ERROR_MEMORY. */
int message_pack(const ProtobufCMessage *message, struct text *out, struct error *err);

/* protobuf-c declares the strings of a message writable; nothing writes to those of a request. */
static inline char *wire_string(const char *string)
{
	return (char *)(uintptr_t)string;
}

static inline char **message_strings(const char *const *strings)
{
	return (char **)(uintptr_t)strings;
}
