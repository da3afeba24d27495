/* SPDX-License-Identifier: MIT */
#pragma once

/* Unpacks bytes as the message of `types` that the first byte selects. An unpacked message is
 * packed and unpacked again, and must be the same. */

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

void fuzz_messages(const ProtobufCMessageDescriptor *const *types, size_t count,
		   const uint8_t *data, size_t size);
