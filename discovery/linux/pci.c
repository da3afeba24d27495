/* SPDX-License-Identifier: MIT */
#include "discovery/linux/pci.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "discovery/linux/sysfs.h"

#include <ctype.h>
#include <string.h>

enum { CONFIG_SPACE_MAX = 4096, BRIDGES_MAX = 16 };

bool pci_address_is_valid(const char *text)
{
	static const char shape[] = "hhhh:hh:hh.o";

	if (strlen(text) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i] != '\0'; i++) {
		bool fits = shape[i] == text[i];

		if (shape[i] == 'h')
			fits = isxdigit((unsigned char)text[i]) != 0;
		else if (shape[i] == 'o')
			fits = text[i] >= '0' && text[i] <= '7';
		if (!fits)
			return false;
	}
	return true;
}

/* The start of the line after that of `at`; NULL at the end. */
static const char *line_after(const char *at)
{
	const char *end = strchr(at, '\n');
	return end != NULL ? end + 1 : NULL;
}

/*
 * pci.ids (https://pci-ids.ucw.cz): "VVVV  name" for a vendor, a tab and "DDDD  name" for each of
 * its devices below it, two tabs for subsystems, '#' for comments.
 */
char *pci_ids_find(const char *text, unsigned vendor, unsigned device)
{
	char vendor_line[16] = "";
	char device_line[16] = "";
	const char *line = text;

	(void)snprintf(vendor_line, sizeof(vendor_line), "%04x  ", vendor);
	(void)snprintf(device_line, sizeof(device_line), "\t%04x  ", device);
	while (line != NULL && !text_starts_with(line, vendor_line))
		line = line_after(line);
	if (line != NULL)
		line = line_after(line);
	for (; line != NULL; line = line_after(line)) {
		if (text_starts_with(line, device_line)) {
			const char *name = line + strlen(device_line);
			return memory_copy_start(name, strcspn(name, "\r\n"));
		}
		if (line[0] != '\t' && line[0] != '#' && line[0] != '\n')
			break;
	}
	return NULL;
}

/* The kernel marks devices behind external ports "removable"; everything below such a bridge is
 * too. */
static bool is_detachable(struct builder *builder, const char *directory)
{
	char *at CLEANUP_FREE = memory_copy(directory);

	for (int i = 0; at != NULL && i < BRIDGES_MAX; i++) {
		if (text_equal(sysfs_text(builder, at, "removable"), "removable"))
			return true;
		if (!pci_address_is_valid(path_base(at)))
			return false;
		char *parent = path_directory(at);
		free(at);
		at = parent;
	}
	return false;
}

void pci_describe(struct builder *builder, const char *directory, const char *address,
		  const char *names, const char *kernel, struct discovery_device *device)
{
	const char *version = sysfs_text(builder, directory, "driver/module/version");
	char *name CLEANUP_FREE = NULL;

	device->pci_address = builder_string(builder, address);
	device->pci_vendor = (int32_t)sysfs_number(builder, directory, "vendor", 0xffff);
	device->pci_device = (int32_t)sysfs_number(builder, directory, "device", 0xffff);
	device->pci_subsystem_vendor =
		(int32_t)sysfs_number(builder, directory, "subsystem_vendor", 0xffff);
	device->pci_subsystem_device =
		(int32_t)sysfs_number(builder, directory, "subsystem_device", 0xffff);
	device->pci_revision = (int32_t)sysfs_number(builder, directory, "revision", 0xff);
	device->numa_node = (int32_t)sysfs_number(builder, directory, "numa_node", INT32_MAX);
	device->vendor = builder_vendor(builder, device->pci_vendor);

	if (names != NULL && device->pci_vendor >= 0 && device->pci_device >= 0)
		name = pci_ids_find(names, (unsigned)device->pci_vendor,
				    (unsigned)device->pci_device);
	if (name != NULL)
		device->description = builder_string(builder, name);
	else if (device->pci_device == DISCOVERY_UNKNOWN)
		device->description = device->vendor;
	else
		device->description = arena_format(&builder->arena, "%s 0x%04x", device->vendor,
						   (unsigned)device->pci_device);

	device->driver_name = sysfs_driver(builder, directory);
	if (device->driver_name[0] != '\0')
		device->driver_version = version[0] != '\0' ? version : kernel;
	device->detachable = is_detachable(builder, directory);
	const int64_t class = sysfs_number(builder, directory, "class", 0xffffff);
	device->display = class >> 16 == PCI_BASE_DISPLAY && class >> 8 != PCI_CLASS_3D;
	device->kind = device->display ? DISCOVERY_DISPLAY : DISCOVERY_COMPUTE;

	/* A device that is gone answers every read of its configuration space with ones. Sleeping
	 * devices are skipped, because the read would wake them. */
	const char *path = builder_path(builder, directory, "config");
	char *config CLEANUP_FREE = NULL;
	size_t size = 0;
	if (!text_equal(sysfs_text(builder, directory, "power/runtime_status"), "suspended") &&
	    file_read(path, CONFIG_SPACE_MAX, &config, &size, NULL) == 0 && size >= 2 &&
	    memcmp(config, "\xff\xff", 2) == 0) {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason = "the device has fallen off the PCI bus";
	}
}
