/* SPDX-License-Identifier: MIT */
#pragma once

/* Unpacks bytes as the message that the first byte picks out of `types`. What could be unpacked is
 * packed and unpacked again, and must come out the same. */

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

void fuzz_messages(const ProtobufCMessageDescriptor *const *types, size_t count,
		   const uint8_t *data, size_t size);
