/* SPDX-License-Identifier: MIT */
#include "discovery/filter.h"

#include "base/text.h"

#include <stdio.h>
#include <strings.h>

bool filter_vendor_matches(const char *vendor, const struct discovery_device *device)
{
	const char *digits = strncasecmp(vendor, "0x", 2) == 0 ? vendor + 2 : vendor;
	char id[16] = "";

	if (device->pci_vendor != DISCOVERY_UNKNOWN)
		(void)snprintf(id, sizeof(id), "%04x", (unsigned)device->pci_vendor);
	return vendor[0] != '\0' && (strcasecmp(vendor, device->vendor) == 0 ||
				     strcasecmp(vendor, device->manufacturer) == 0 ||
				     (id[0] != '\0' && strcasecmp(digits, id) == 0));
}

bool filter_admits(const struct discovery_filter *filter, const struct discovery_device *device)
{
	if (filter->display_only && !device->display)
		return false;
	if (filter->compute_only && device->display)
		return false;
	if (device->integrated && !filter->include_integrated)
		return false;
	if (device->detachable && !filter->include_detachable)
		return false;
	if (filter->exclude_software && device->kind == DISCOVERY_SOFTWARE)
		return false;
	if (filter->vendors != NULL) {
		const char *const *vendor = filter->vendors;
		while (*vendor != NULL && !filter_vendor_matches(*vendor, device))
			vendor++;
		if (*vendor == NULL)
			return false;
	}
	for (const char *const *api = filter->apis; api != NULL && *api != NULL; api++) {
		if (!filter_offers(device, *api))
			return false;
	}
	return filter->ids == NULL || filter->ids[text_position(filter->ids, device->id)] != NULL;
}

bool filter_offers(const struct discovery_device *device, const char *api)
{
	return device->apis != NULL && device->apis[text_position(device->apis, api)] != NULL;
}
