/* SPDX-License-Identifier: MIT */
#include "reference-plugin/inventory/replica_id.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { REPLICA_DIGITS_MAX = 9 };

static const char separator[] = "::";

void replica_id_format(const char *device_id, uint32_t replica, char out[REPLICA_ID_SIZE])
{
	(void)snprintf(out, REPLICA_ID_SIZE, "%s%s%u", device_id, separator, replica);
}

int replica_id_parse(const char *id, size_t *device_length, uint32_t *replica, struct error *err)
{
	char quoted[REPLICA_ID_QUOTED_SIZE];
	const char *split = NULL;
	const char *digits = NULL;
	size_t count = 0;
	uint32_t value = 0;

	for (const char *at = strstr(id, separator); at != NULL; at = strstr(at + 1, separator))
		split = at;
	if (split == NULL || split == id)
		return error_set(err, ERROR_ARGUMENT,
				 "device id %s is not of the form <device>::<replica>",
				 replica_id_quote(id, quoted));
	digits = split + strlen(separator);
	count = strspn(digits, "0123456789");
	if (count == 0 || count > REPLICA_DIGITS_MAX || digits[count] != '\0' ||
	    (digits[0] == '0' && count > 1))
		return error_set(err, ERROR_ARGUMENT, "device id %s has no valid replica number",
				 replica_id_quote(id, quoted));
	for (size_t i = 0; i < count; i++)
		value = value * 10 + (uint32_t)(digits[i] - '0');
	*device_length = (size_t)(split - id);
	*replica = value;
	return 0;
}

const char *replica_id_quote(const char *id, char out[REPLICA_ID_QUOTED_SIZE])
{
	enum { SHOWN_MAX = REPLICA_ID_QUOTED_SIZE - (int)sizeof("\"...\"") };
	struct text escaped CLEANUP_TEXT = {0};
	size_t size = strnlen(id, REPLICA_ID_QUOTED_SIZE);

	text_add_escaped(&escaped, id, size);
	if (escaped.size <= SHOWN_MAX && size < REPLICA_ID_QUOTED_SIZE)
		(void)snprintf(out, REPLICA_ID_QUOTED_SIZE, "\"%s\"", text_string(&escaped));
	else
		(void)snprintf(out, REPLICA_ID_QUOTED_SIZE, "\"%.*s...\"", (int)SHOWN_MAX,
			       text_string(&escaped));
	return out;
}
