/* SPDX-License-Identifier: MIT */
/* Linux: the architectures of AMD's GPUs from KFD's topology (kernel, amdkfd), the glibc that driver
 * files need, loaded modules, and PCI devices. */
#include "containers/judging/compat/host_system.h"

#include "base/cleanup.h"
#include "base/elf.h"
#include "base/file.h"
#include "base/path.h"
#include "base/version.h"
#include "discovery/include/gpucert/discovery.h"

#include <string.h>

enum { FILE_MAX = 256 * 1024, AMD_PCI = 0x1002 };

const char host_os[] = "linux";

/* A number in "name value" lines; 0 when there is none. */
static long long property(const char *text, const char *name)
{
	size_t size = strlen(name);
	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += line[0] == '\n';
		if (strncmp(line, name, size) == 0 && line[size] == ' ')
			return strtoll(line + size + 1, NULL, 10);
	}
	return 0;
}

/* 90010 is gfx90a: major, minor and stepping, of which the last is hexadecimal. */
static void set_architecture(const char *text, const struct discovery_snapshot *node,
			     struct host_facts *out)
{
	long long target = property(text, "gfx_target_version");
	unsigned long long place = (unsigned long long)property(text, "location_id");
	char address[64] = "";
	(void)snprintf(address, sizeof(address), "%04llx:%02llx:%02llx.%llx",
		       (unsigned long long)property(text, "domain") & 0xffff, place >> 8 & 0xff,
		       place >> 3 & 0x1f, place & 7);
	for (size_t i = 0; target > 0 && i < node->device_count; i++) {
		if (node->devices[i].pci_vendor == AMD_PCI &&
		    text_equal(node->devices[i].pci_address, address))
			out->gpus[i].architecture =
				arena_format(&out->arena, "gfx%lld%llx%llx", target / 10000,
					     (unsigned long long)(target / 100 % 100),
					     (unsigned long long)(target % 100));
	}
}

static char *system_path(const struct discovery_options *where, const char *given,
			 const char *usual, const char *below)
{
	return text_format("%s%s/%s", where->root != NULL ? where->root : "",
			   given != NULL ? given : usual, below);
}

static void read_topology(const struct discovery_options *where,
			  const struct discovery_snapshot *node, struct host_facts *out)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *directory CLEANUP_FREE =
		system_path(where, where->sysfs, "/sys", "class/kfd/kfd/topology/nodes");
	if (file_list(directory, &names, NULL) < 0)
		return;
	text_each (name, &names) {
		char *path CLEANUP_FREE = text_format("%s/%s/properties", directory, name);
		char *text CLEANUP_FREE = NULL;
		if (file_read(path, FILE_MAX, &text, NULL, NULL) == 0)
			set_architecture(text, node, out);
	}
}

/* The first four digits of a file such as "0x030200"; "": it cannot be read. */
static const char *read_hex(const char *directory, const char *name, struct arena *arena)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	char *text CLEANUP_FREE = NULL;
	if (file_read(path, FILE_MAX, &text, NULL, NULL) < 0 || !text_starts_with(text, "0x"))
		return "";
	return arena_format(arena, "%.4s", text + 2);
}

void host_system_facts(const struct discovery_options *where, const struct discovery_snapshot *node,
		       struct host_facts *out)
{
	struct arena *arena = &out->arena;
	read_topology(where, node, out);

	/* One line for each module, its name first (proc(5)). */
	char *modules_path CLEANUP_FREE = system_path(where, where->proc, "/proc", "modules");
	char *text CLEANUP_FREE = NULL;
	if (file_read(modules_path, FILE_MAX, &text, NULL, NULL) == 0) {
		const char **modules =
			arena_allocate(arena, (HOST_MODULES_MAX + 1) * sizeof(char *));
		size_t count = 0;
		for (const char *line = text; *line != '\0' && count < HOST_MODULES_MAX;) {
			modules[count++] =
				arena_format(arena, "%.*s", (int)strcspn(line, " \n"), line);
			line += strcspn(line, "\n");
			line += *line == '\n';
		}
		out->modules = modules;
	}

	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *directory CLEANUP_FREE = system_path(where, where->sysfs, "/sys", "bus/pci/devices");
	if (file_list(directory, &names, NULL) == 0)
		out->pci = arena_allocate(arena, (names.count + 1) * sizeof(*out->pci));
	for (size_t i = 0; i < names.count && i < HOST_PCI_MAX; i++) {
		char *device CLEANUP_FREE = path_join(directory, names.items[i]);
		out->pci[out->pci_count++] = (struct host_pci){
			.class_code = read_hex(device, "class", arena),
			.vendor = read_hex(device, "vendor", arena),
			.device = read_hex(device, "device", arena),
		};
	}

	/* The newest glibc that a driver file needs. */
	const char *root = where->root != NULL ? where->root : "/";
	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *device = &node->devices[i];
		for (size_t k = 0; k < device->file_count; k++) {
			if (device->files[k].bits == 0)
				continue;
			struct elf_info info CLEANUP(elf_info_free) = {0};
			char *path CLEANUP_FREE = path_join(root, device->files[k].source);
			if (elf_read(path, &info, NULL) == 0 && info.glibc != NULL &&
			    version_compare(info.glibc, out->driver_glibc) > 0)
				out->driver_glibc = arena_string(arena, info.glibc);
		}
	}
}
