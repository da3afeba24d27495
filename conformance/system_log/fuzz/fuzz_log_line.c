/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a log: each line is read within bounds, is printable, and has a meaning for a
 * node. */
#include "conformance/system_log/system_log.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct discovery_device devices[] = {
		{.id = "0000:03:00.0", .pci_address = "0000:03:00.0", .driver_name = "amdgpu"},
		{.id = "0000:65:00.0", .pci_address = "0000:65:00.0", .driver_name = "nvidia"},
		{.id = "software", .pci_address = "", .kind = DISCOVERY_SOFTWARE},
	};
	const struct discovery_snapshot node = {.devices = devices,
						.device_count = ARRAY_SIZE(devices)};
	const struct text_list all = {0};
	const char *id = "";
	char *text CLEANUP_FREE = strndup((const char *)data, size);
	struct log_line line = {.text = ""};
	for (const char *at = text, *next = NULL; at != NULL && *at != '\0'; at = next) {
		next = log_line_of_kernel(at, &line);
		if (next <= at || next > text + strlen(text) ||
		    strlen(line.text) >= sizeof(line.text))
			abort();
		for (const char *c = line.text; *c != '\0'; c++) {
			if (*c < ' ' || *c > '~')
				abort();
		}
		if (log_line_judge(&line, &node, &all, &id) > LOG_FAULT)
			abort();
	}
	return 0;
}
