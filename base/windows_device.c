/* SPDX-License-Identifier: MIT */
#include "base/windows_device.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

int windows_device_parse(const char *host_path, struct windows_device *out, struct error *err)
{
	static const struct {
		const char *name;
		enum windows_device_type type;
	} types[] = {
		{"class", WINDOWS_DEVICE_CLASS},
		{"vpci-class-guid", WINDOWS_DEVICE_CLASS},
		{"vpci-location-path", WINDOWS_DEVICE_LOCATION_PATH},
	};
	const char *separator = strstr(host_path, "://");
	size_t skipped = strlen("://");
	if (strncmp(host_path, "class/", strlen("class/")) == 0) {
		separator = host_path + strlen("class/") - 1;
		skipped = strlen("/");
	}
	if (separator == NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "device '%s' is neither IDType://ID nor class/GUID", host_path);
	if (separator == host_path)
		return error_set(err, ERROR_ARGUMENT, "device '%s' has no id type", host_path);
	if (separator[skipped] == '\0')
		return error_set(err, ERROR_ARGUMENT, "device '%s' has no id", host_path);

	const size_t length = (size_t)(separator - host_path);
	*out = (struct windows_device){.type = WINDOWS_DEVICE_OTHER, .id = separator + skipped};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (text_is(host_path, length, types[i].name))
			out->type = types[i].type;
	}
	return 0;
}

bool windows_device_is_guid(const char *text)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		if (shape[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != '-')
			return false;
	}
	return text[sizeof(shape) - 1] == '\0';
}
