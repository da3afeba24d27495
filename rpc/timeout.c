/* SPDX-License-Identifier: MIT */
#include "rpc/timeout.h"

#include "base/cleanup.h"

#include <stdio.h>

enum { VALUE_MAX = 99999999 };

int timeout_parse(const char *text, uint64_t *milliseconds, struct error *err)
{
	uint64_t value = 0;
	const char *at = text;
	while (*at >= '0' && *at <= '9' && at - text < 8)
		value = value * 10 + (uint64_t)(*at++ - '0');
	if (at == text || at[0] == '\0' || at[1] != '\0')
		return error_set(err, ERROR_FORMAT, "malformed grpc-timeout \"%.32s\"", text);
	switch (*at) {
	case 'H':
		*milliseconds = value * 3600 * 1000;
		return 0;
	case 'M':
		*milliseconds = value * 60 * 1000;
		return 0;
	case 'S':
		*milliseconds = value * 1000;
		return 0;
	case 'm':
		*milliseconds = value;
		return 0;
	case 'u':
		*milliseconds = (value + 999) / 1000;
		return 0;
	case 'n':
		*milliseconds = (value + 999999) / 1000000;
		return 0;
	default:
		return error_set(err, ERROR_FORMAT, "malformed grpc-timeout \"%.32s\"", text);
	}
}

char *timeout_format(uint64_t milliseconds, char out[TIMEOUT_SIZE])
{
	static const struct {
		char unit;
		uint64_t milliseconds;
	} units[] = {{'m', 1}, {'S', 1000}, {'M', 60000}, {'H', 3600000}};
	uint64_t value = VALUE_MAX;
	char unit = 'H';

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		uint64_t parts = milliseconds / units[i].milliseconds +
				 (milliseconds % units[i].milliseconds != 0);
		if (parts <= VALUE_MAX) {
			value = parts;
			unit = units[i].unit;
			break;
		}
	}
	(void)snprintf(out, TIMEOUT_SIZE, "%llu%c", (unsigned long long)value, unit);
	return out;
}
