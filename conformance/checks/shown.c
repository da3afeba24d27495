/* SPDX-License-Identifier: MIT */
#include "conformance/checks/shown.h"

#include "conformance/checks/visibility.h"

#include <stdlib.h>
#include <string.h>

enum { COMPARED_MAX = 64 }; /* entries of one API; more of them count one each */

bool shown_is_basic_renderer(const cJSON *device)
{
	return text_equal(json_pointer_string(device, "/vendorId"), "0x1414") &&
	       text_equal(json_pointer_string(device, "/deviceId"), "0x008c");
}

bool shown_is_software(const cJSON *device)
{
	return json_pointer_true(device, "/software") || shown_is_basic_renderer(device);
}

long shown_pci_id(const cJSON *device, const char *pointer)
{
	const char *text = json_pointer_string(device, pointer);
	unsigned long id = text != NULL ? strtoul(text, NULL, 16) : 0;
	return id == 0 || id > 0xffff ? -1 : (long)id;
}

/* "03:00.0" of "0000:03:00.0". */
static const char *without_domain(const char *address)
{
	const char *colon = strchr(address, ':');
	return colon != NULL && strchr(colon + 1, ':') != NULL ? colon + 1 : address;
}

bool shown_same_address(const char *one, const char *other)
{
	const char *first = without_domain(one);
	const char *second = without_domain(other);
	bool domains = first != one && second != other;
	return domains ? strcmp(one, other) == 0 : strcmp(first, second) == 0;
}

/* 1: the same, -1: another one, 0: unknown. */
static int compare_text(const cJSON *one, const cJSON *other, const char *pointer,
			bool (*same)(const char *one, const char *other))
{
	const char *first = json_pointer_string(one, pointer);
	const char *second = json_pointer_string(other, pointer);
	if (first == NULL || second == NULL)
		return 0;
	return (same != NULL ? same(first, second) : strcmp(first, second) == 0) ? 1 : -1;
}

static bool differs(const cJSON *one, const cJSON *other, const char *pointer)
{
	const cJSON *first = json_pointer(one, pointer);
	const cJSON *second = json_pointer(other, pointer);
	return first != second && !cJSON_Compare(first, second, true);
}

/* Parts of one device (tiles, partitions) have its address and UUIDs of their own. */
static bool is_another(const cJSON *one, const cJSON *other, bool parts)
{
	static const char *const ids[] = {"/vendorId", "/deviceId"};
	int same = compare_text(one, other, "/pciAddress", shown_same_address);
	if (parts && same > 0)
		same = 0;
	same = same != 0 ? same : compare_text(one, other, "/drm/render", NULL);
	same = same != 0 ? same : compare_text(one, other, "/deviceLuid", NULL);
	if (same != 0 || compare_text(one, other, "/deviceUuid", NULL) > 0)
		return same < 0;
	items_each (id, ids, 2) {
		long first = shown_pci_id(one, *id);
		long second = shown_pci_id(other, *id);
		if (first >= 0 && second >= 0 && first != second)
			return true;
	}
	/* A driver lists a device once; another driver may list it again. */
	return !differs(one, other, "/platform") && !differs(one, other, "/driver/idName") &&
	       !differs(one, other, "/driverUuid");
}

struct shown_count shown_count(const cJSON *devices, const char *emulator, bool parts)
{
	const bool emulated = emulator != NULL && emulator[0] != '\0';
	const cJSON *hardware[COMPARED_MAX] = {NULL};
	struct shown_count count = {0};
	size_t entries = 0;
	size_t most = 0;
	json_each (device, devices) {
		if (shown_is_basic_renderer(device) || (!emulated && shown_is_software(device)))
			count.software++;
		else if (entries < COMPARED_MAX)
			hardware[entries++] = device;
		else
			count.hardware++;
	}
	for (size_t i = 0; i < entries; i++) {
		/* The entries from this one on that are known to be distinct devices. */
		const cJSON *found[COMPARED_MAX] = {hardware[i]};
		size_t total = 1;
		for (size_t k = i + 1; k < entries; k++) {
			size_t j = 0;
			while (j < total && is_another(hardware[k], found[j], parts))
				j++;
			if (j == total)
				found[total++] = hardware[k];
		}
		most = total > most ? total : most;
	}
	count.hardware += (long long)most;
	return count;
}

int shown_worked(const cJSON *document)
{
	const cJSON *devices = json_pointer(document, "/devices");
	const cJSON *worked = json_pointer(document, "/work/device");
	int index = 0;
	if (cJSON_IsNumber(worked))
		return worked->valueint;
	json_each (device, devices) {
		if (!shown_is_software(device))
			return index;
		index++;
	}
	return 0;
}

const cJSON *shown_device(const cJSON *document)
{
	return cJSON_GetArrayItem(json_pointer(document, "/devices"), shown_worked(document));
}
