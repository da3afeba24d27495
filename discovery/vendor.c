/* SPDX-License-Identifier: MIT */
#include "discovery/vendor.h"

#include <stddef.h>

/* Who registered the number with the PCI-SIG, by the name that people know. */
const char *vendor_name(int64_t id)
{
	static const struct {
		int64_t id;
		const char *name;
	} vendors[] = {
		{0x1002, "AMD"},       {0x106b, "Apple"},	  {0x10de, "NVIDIA"},
		{0x1414, "Microsoft"}, {0x15ad, "VMware"},	  {0x1ae0, "Google"},
		{0x1af4, "Red Hat"},   {0x1ed5, "Moore Threads"}, {0x5143, "Qualcomm"},
		{0x8086, "Intel"},
	};
	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++) {
		if (vendors[i].id == id)
			return vendors[i].name;
	}
	return NULL;
}
