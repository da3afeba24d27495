/* SPDX-License-Identifier: MIT */

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "containers/wine/device.h"

#include <string.h>

#define CLASS_KEY                                                                                  \
	"HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Control\\Class\\"                          \
	"{4d36e968-e325-11ce-bfc1-08002be10318}"
#define INF_KEY "HKEY_LOCAL_MACHINE\\System\\DriverDatabase\\DriverInfFiles"
/* Wine's name for a Vulkan device of Mesa's software vendor id 0x10005, of which it keeps 16 bits.
 */
#define DEVICE_KEY                                                                                 \
	"HKEY_LOCAL_MACHINE\\System\\CurrentControlSet\\Enum\\PCI\\"                               \
	"VEN_0005&DEV_0000&SUBSYS_00000000&REV_00"
#define DLLS "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/"

const struct wine_driver_file wine_driver_files[] = {
	{DLLS "vulkan-1.dll", "gpucert_vulkan64.dll", "CopyToVmOverwrite", "Vulkan",
	 "vulkan-1.dll"},
	{DLLS "opencl.dll", "Bin/gpucert_opencl64.dll", "CopyToVmWhenNewer", "OpenCL",
	 "OpenCL.dll"},
	{DLLS "d3d12core.dll", "gpucert_umd64.dll", "CopyToVmWhenNewer", "Umd", NULL},
	{"/usr/share/vulkan/icd.d/lvp_icd.json", "gpucert_icd32.json", "CopyToVmWhenNewerWow64",
	 "Manifest", "gpucert_icd32.json"},
};
const unsigned wine_driver_file_count = ARRAY_SIZE(wine_driver_files);

/* A value of strings: REG_MULTI_SZ, or the type of a device property. ASCII only. */
static void registry_add_strings(struct text *reg, const char *name, const char *type,
				 const char *const *strings, size_t count)
{
	text_addf(reg, "%s=hex(%s):", name, type);
	for (size_t i = 0; i < count; i++) {
		for (const char *c = strings[i]; *c != '\0'; c++)
			text_addf(reg, "%02x,00,", (unsigned char)*c);
		text_add(reg, "00,00,");
	}
	text_add(reg, "00,00\r\n");
}

static void registry_add_driver(struct text *reg, size_t index)
{
	text_addf(reg,
		  "\r\n[" CLASS_KEY "\\%04zu]\r\n\"InfPath\"=\"" WINE_DRIVER_INF "\"\r\n"
		  "\"InfSection\"=\"gpucert_wine\"\r\n\"ProviderName\"=\"gpucert\"\r\n"
		  "\"DriverVersion\"=\"1.0.0.0\"\r\n\"OpenGLDriverName\"=\"gpucert_gl64.dll\"\r\n",
		  index);
	for (unsigned i = 0; i < wine_driver_file_count; i++) {
		const struct wine_driver_file *file = &wine_driver_files[i];
		char name[256] = "";
		char value[64] = "";
		const char *const strings[] = {name, file->destination};
		(void)snprintf(name, sizeof(name), "%s", file->store_name);
		for (char *c = strchr(name, '/'); c != NULL; c = strchr(c, '/'))
			*c = '\\';
		(void)snprintf(value, sizeof(value), "\"%s\"", file->value);
		text_addf(reg, "\r\n[" CLASS_KEY "\\%04zu\\%s]\r\n", index, file->key);
		if (file->destination != NULL)
			registry_add_strings(reg, value, "7", strings, ARRAY_SIZE(strings));
		else
			text_addf(reg, "%s=\"%s\"\r\n", value, name);
	}
}

int wine_registry_write(const char *path, struct error *err)
{
	static const char *const folder = WINE_DRIVER_STORE;
	static const char mark[] = {'\xff', '\xfe'};
	struct text reg CLEANUP_TEXT = {0};
	struct text wide CLEANUP_TEXT = {0};
	text_add(&reg, "Windows Registry Editor Version 5.00\r\n");
	for (size_t i = 0; i < WINE_DEVICE_COUNT; i++) {
		/* Device properties: type 0xffff0000 plus DEVPROPTYPE, as Wine stores them. First the adapter's LUID
		 * (DEVPROP_TYPE_INT64); Wine gives every device of one driver the same. */
		const struct wine_device *device = &wine_devices[i];
		const char *const paths[] = {device->location_path, device->other_location_path};
		text_addf(&reg,
			  "\r\n[" DEVICE_KEY
			  "\\%08zu\\Properties\\{60B193CB-5276-4D0F-96FC-F173ABAD3EC6}"
			  "\\0002]\r\n@=hex(ffff0009):%02x,%02x,%02x,%02x,00,00,00,00\r\n",
			  i, device->luid & 0xffU, device->luid >> 8 & 0xffU,
			  device->luid >> 16 & 0xffU, device->luid >> 24);
		/* DEVPKEY_Device_LocationPaths (DEVPROP_TYPE_STRING_LIST). */
		text_addf(&reg,
			  "\r\n[" DEVICE_KEY
			  "\\%08zu\\Properties\\{A45C254E-DF1C-4EFD-8020-67D146A850E0}\\0025]\r\n",
			  i);
		registry_add_strings(&reg, "@", "ffff2012", paths, ARRAY_SIZE(paths));
		registry_add_driver(&reg, i);
	}

	/* The folder of the driver store that an INF file came from, as Windows records it. */
	text_add(&reg, "\r\n[" INF_KEY "\\" WINE_DRIVER_INF "]\r\n");
	registry_add_strings(&reg, "@", "7", &folder, 1);
	text_add(&reg, "\"Active\"=\"" WINE_DRIVER_STORE "\"\r\n");

	/* UTF-16 with a mark: in any other file Wine's regedit takes the bytes of a REG_MULTI_SZ for narrow
	 * characters. All of it is ASCII. */
	text_append(&wide, mark, sizeof(mark));
	for (size_t i = 0; i < reg.size; i++) {
		text_append(&wide, &reg.data[i], 1);
		text_append(&wide, "", 1);
	}
	return file_write_atomic(path, wide.data, wide.size, 0600, err);
}
