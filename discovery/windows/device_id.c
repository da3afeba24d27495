/* SPDX-License-Identifier: MIT */
#include "discovery/windows/device_id.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *device_id_of_instance(struct builder *builder, const char *instance_id)
{
	static const char *const names[] = {"VEN_", "DEV_", "SUBSYS_", "REV_"};
	struct text id CLEANUP_TEXT = {0};
	uint32_t hash = UINT32_C(2166136261);
	char suffix[16] = "";

	for (const char *p = instance_id; *p != '\0';) {
		bool begins = p == instance_id || p[-1] == '\\' || p[-1] == '&';
		size_t skip = 0;

		for (size_t i = 0; begins && i < ARRAY_SIZE(names); i++) {
			if (text_starts_with(p, names[i]))
				skip = strlen(names[i]);
		}
		p += skip;
		if (*p != '\0' && skip == 0)
			text_append(&id, p++, 1);
	}
	if (id.size > DEVICE_ID_MAX) {
		/* FNV-1a: short, and stable on all systems. */
		for (const char *p = instance_id; *p != '\0'; p++)
			hash = (hash ^ (uint32_t)toupper((unsigned char)*p)) * UINT32_C(16777619);
		(void)snprintf(suffix, sizeof(suffix), "-%08x", (unsigned)hash);
		id.size = DEVICE_ID_MAX - strlen(suffix);
		text_add(&id, suffix);
	}
	return builder_new_id(builder, text_string(&id));
}

/* The hexadecimal number after `name`, which a backslash or '&' precedes. */
static uint32_t id_number(const char *instance_id, const char *name, size_t digits)
{
	for (const char *at = strstr(instance_id, name); at != NULL; at = strstr(at + 1, name)) {
		const char *number = at + strlen(name);

		if (at == instance_id || (at[-1] != '\\' && at[-1] != '&') ||
		    strspn(number, "0123456789abcdefABCDEF") != digits)
			continue;
		return (uint32_t)strtoul(number, NULL, 16);
	}
	return ADAPTER_ID_UNKNOWN;
}

struct adapter_ids device_id_parse(const char *instance_id)
{
	if (!text_starts_with(instance_id, "PCI\\"))
		return (struct adapter_ids){ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN,
					    ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN};
	return (struct adapter_ids){
		.vendor = id_number(instance_id, "VEN_", 4),
		.device = id_number(instance_id, "DEV_", 4),
		.subsystem = id_number(instance_id, "SUBSYS_", 8),
		.revision = id_number(instance_id, "REV_", 2),
	};
}
