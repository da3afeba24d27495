/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_KUBELET_WIRE_TEXT_H
#define CONFORMANCE_KUBELET_WIRE_TEXT_H

/* proto3 strings are UTF-8. protobuf-c does not look; grpc-go, which the kubelet is made of,
 * refuses the whole message. */

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#define WIRE_TEXT_INVALID                                                                          \
	"grpc: failed to unmarshal the received message: string field contains invalid UTF-8"

/* Is every string in the message, at any depth, UTF-8? */
bool wire_text_is_valid(const ProtobufCMessage *message);

#endif
