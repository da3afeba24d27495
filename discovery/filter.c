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

static bool filter_vendors(const char *const *vendors, const struct discovery_device *device)
{
	for (size_t i = 0; vendors[i] != NULL; i++) {
		if (filter_vendor_matches(vendors[i], device))
			return true;
	}
	return false;
}

static bool filter_ids(const char *const *ids, const struct discovery_device *device)
{
	for (size_t i = 0; ids[i] != NULL; i++) {
		if (text_equal(ids[i], device->id))
			return true;
	}
	return false;
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
	if (filter->vendors != NULL && !filter_vendors(filter->vendors, device))
		return false;
	return filter->ids == NULL || filter_ids(filter->ids, device);
}

bool filter_offers(const struct discovery_device *device, const char *api)
{
	for (const char *const *offered = device->apis; offered != NULL && *offered != NULL;
	     offered++) {
		if (text_equal(*offered, api))
			return true;
	}
	return false;
}
