/* SPDX-License-Identifier: MIT */
/* Any text as the driver files of a Windows device: the first line is the driver's directory, each
 * further one "SOURCE|DESTINATION|BITS". Every mount comes from below the driver's directory and
 * goes to System32 or SysWOW64, each name once. */
#include "base/cleanup.h"
#include "base/text.h"
#include "base/windows_path.h"
#include "reference-plugin/answer/answer.h"
#include "reference-plugin/tests/sample_node.h"

#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILES_MAX = 64 };

/* Cuts `line` into its three fields. */
static struct discovery_file file_of(char *line)
{
	char *destination = strchr(line, '|');
	char *bits = destination != NULL ? strchr(destination + 1, '|') : NULL;
	struct discovery_file file = {.source = line, .destination = "", .origin = ""};
	if (destination != NULL)
		*destination++ = '\0';
	if (bits != NULL)
		*bits++ = '\0';
	if (destination != NULL)
		file.destination = destination;
	file.bits = bits != NULL ? (unsigned)strtoul(bits, NULL, 10) : 0;
	return file;
}

static void check_mount(const struct discovery_device *device, const V1beta1__Mount *mount)
{
	bool wow64 = windows_path_is_in(mount->container_path, WINDOWS_SYSWOW64);
	if (!wow64 && !windows_path_is_in(mount->container_path, WINDOWS_SYSTEM32))
		abort();
	if (!mount->read_only || strstr(mount->host_path, "..\\") != NULL)
		abort();
	if (device->driver_store_path[0] != '\0' &&
	    !windows_path_is_within(mount->host_path, device->driver_store_path))
		abort();
}

static void check(const struct discovery_device *device)
{
	static const struct answer_rules rules;
	const struct answer_request request = {true, true, NULL, &rules, &device, 1};
	struct answer answer CLEANUP(answer_free) = {0};
	const V1beta1__ContainerAllocateResponse *message = &answer.message;
	if (answer_build(&request, &answer, NULL) < 0)
		abort();
	for (size_t i = 0; i < message->n_mounts; i++) {
		check_mount(device, message->mounts[i]);
		if (i > 0 && strcasecmp(message->mounts[i - 1]->container_path,
					message->mounts[i]->container_path) >= 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char *text CLEANUP_FREE = malloc(size + 1);
	struct discovery_file files[FILES_MAX];
	struct discovery_device device = sample_device("x");
	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	text_list_split(&lines, text, '\n');
	if (lines.count == 0)
		return 0;
	device.location_path = "PCIROOT(0)#PCI(0100)";
	device.pci_vendor = 0x10de;
	device.driver_store_path = lines.items[0];
	device.files = files;
	for (size_t i = 1; i < lines.count && device.file_count < FILES_MAX; i++)
		files[device.file_count++] = file_of(lines.items[i]);
	check(&device);
	return 0;
}
