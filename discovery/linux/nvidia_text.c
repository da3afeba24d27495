/* SPDX-License-Identifier: MIT */
#include "discovery/linux/nvidia_text.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "discovery/include/gpucert/discovery.h"

#include <ctype.h>
#include <string.h>

/* The value after "Key:" at the start of a line, without white space around it. NULL: none. Caller
 * frees. */
static char *nvidia_value(const char *text, const char *key)
{
	size_t size = strlen(key);

	for (const char *line = text; line != NULL && *line != '\0';) {
		const char *end = strchr(line, '\n');
		if (strncmp(line, key, size) == 0 && line[size] == ':') {
			const char *value = line + size + 1 + strspn(line + size + 1, " \t");
			size_t length = strcspn(value, "\r\n");
			while (length > 0 && strchr(" \t", value[length - 1]) != NULL)
				length--;
			return memory_copy_start(value, length);
		}
		line = end != NULL ? end + 1 : NULL;
	}
	return NULL;
}

static int64_t nvidia_number(const char *text, const char *key, long long max)
{
	char *value CLEANUP_FREE = nvidia_value(text, key);
	long long number = 0;

	if (value == NULL || text_to_int64(value, key, 0, max, &number, NULL) < 0)
		return DISCOVERY_UNKNOWN;
	return number;
}

int64_t nvidia_capability_minor(const char *text)
{
	return nvidia_number(text, "DeviceFileMinor", 1 << 20);
}

void nvidia_information_parse(const char *text, struct nvidia_information *out)
{
	char *model CLEANUP_FREE = nvidia_value(text, "Model");
	char *uuid CLEANUP_FREE = nvidia_value(text, "GPU UUID");
	char *excluded CLEANUP_FREE = nvidia_value(text, "GPU Excluded");
	int64_t minor = nvidia_number(text, "Device Minor", 255);

	/* Until the GPU is first used the driver writes question marks. */
	static const char shape[] = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	bool known = uuid != NULL;
	for (size_t i = 0; known && i < sizeof(shape); i++)
		known = shape[i] == 'x' ? isxdigit((unsigned char)uuid[i]) != 0
					: uuid[i] == shape[i];
	if (known)
		(void)snprintf(out->uuid, sizeof(out->uuid), "%s", uuid);
	if (model != NULL && text_is_utf8(model, strlen(model)))
		(void)snprintf(out->model, sizeof(out->model), "%s", model);
	if (minor != DISCOVERY_UNKNOWN)
		out->minor = minor;
	out->excluded = excluded != NULL && text_equal(excluded, "Yes");
}

char *nvidia_version_find(const char *text)
{
	static const char marker[] = "Kernel Module";
	const char *line = strstr(text, "NVRM version:");
	const char *module = line != NULL ? strstr(line, marker) : NULL;
	const char *end = line != NULL ? line + strcspn(line, "\n") : NULL;

	if (module == NULL || module > end)
		return NULL;
	for (const char *word = module + sizeof(marker) - 1; word < end;) {
		word += strspn(word, " \t");
		size_t size = strcspn(word, " \t\n");
		if (size > 0 && strspn(word, "0123456789.") == size && memchr(word, '.', size))
			return memory_copy_start(word, size);
		word += size > 0 ? size : 1;
	}
	return NULL;
}
