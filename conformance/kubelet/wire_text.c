/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/wire_text.h"

#include "base/text.h"

#include <string.h>

static bool value_is_valid(const ProtobufCFieldDescriptor *field, const void *value)
{
	if (field->type == PROTOBUF_C_TYPE_STRING) {
		const char *string = *(const char *const *)value;
		return string == NULL || text_is_utf8(string, strlen(string));
	}
	if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
		const ProtobufCMessage *message = *(const ProtobufCMessage *const *)value;
		return message == NULL || wire_text_is_valid(message);
	}
	return true;
}

static bool field_is_valid(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
	const char *base = (const char *)message;
	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return value_is_valid(field, base + field->offset);
	size_t count = *(const size_t *)(const void *)(base + field->quantifier_offset);
	const void *const *items =
		*(const void *const *const *)(const void *)(base + field->offset);
	if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE)
		return true;
	for (size_t i = 0; i < count; i++)
		if (!value_is_valid(field, &items[i]))
			return false;
	return true;
}

/* The depth is that of the message type, none of which is recursive. */
bool wire_text_is_valid(const ProtobufCMessage *message)
{
	for (unsigned i = 0; i < message->descriptor->n_fields; i++)
		if (!field_is_valid(message, &message->descriptor->fields[i]))
			return false;
	return true;
}
