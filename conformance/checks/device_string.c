/* SPDX-License-Identifier: MIT */
#include "conformance/checks/device_string.h"

#include <string.h>
#include <strings.h>

static enum device_string_type device_string_type_of(const char *name, size_t length)
{
	static const struct {
		const char *name;
		enum device_string_type type;
	} types[] = {
		{"class", DEVICE_STRING_CLASS},
		{"vpci-class-guid", DEVICE_STRING_CLASS},
		{"vpci-location-path", DEVICE_STRING_LOCATION_PATH},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0)
			return types[i].type;
	}
	return DEVICE_STRING_OTHER;
}

int device_string_parse(const char *host_path, struct device_string *out, struct error *err)
{
	const char *separator = strstr(host_path, "://");
	size_t skipped = strlen("://");

	if (strncmp(host_path, "class/", strlen("class/")) == 0 &&
	    strncmp(host_path, "class://", strlen("class://")) != 0) {
		separator = host_path + strlen("class");
		skipped = strlen("/");
	}
	if (separator == NULL)
		return error_set(err, ERROR_FORMAT,
				 "host path '%s' is neither IDType://ID nor class/GUID", host_path);
	if (separator == host_path)
		return error_set(err, ERROR_FORMAT, "host path '%s' has no id type", host_path);
	if (separator[skipped] == '\0')
		return error_set(err, ERROR_FORMAT, "host path '%s' has no id", host_path);
	*out = (struct device_string){
		.type_length = (size_t)(separator - host_path),
		.id = separator + skipped,
	};
	out->type = device_string_type_of(host_path, out->type_length);
	return 0;
}

bool device_string_grants(const char *host_path, const struct discovery_device *device)
{
	struct device_string string = {.id = ""};

	if (device_string_parse(host_path, &string, NULL) < 0)
		return false;
	switch (string.type) {
	case DEVICE_STRING_LOCATION_PATH:
		return device->location_path[0] != '\0' &&
		       strcasecmp(device->location_path, string.id) == 0;
	case DEVICE_STRING_CLASS:
		return device->display && strcasecmp(string.id, DEVICE_STRING_DISPLAY_CLASS) == 0;
	case DEVICE_STRING_OTHER:
		break;
	}
	return false;
}
