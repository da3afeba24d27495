/* SPDX-License-Identifier: MIT */
/* Linux: the architectures of AMD's GPUs from KFD's topology (kernel, amdkfd), what driver files ask of
 * glibc, loaded modules, and PCI devices. */
#include "containers/compat/host_system.h"

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
			 const char *without, const char *below)
{
	return text_format("%s%s/%s", where->root != NULL ? where->root : "",
			   given != NULL ? given : without, below);
}

static int read_topology(const struct discovery_options *where,
			 const struct discovery_snapshot *node, struct host_facts *out,
			 struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *directory CLEANUP_FREE =
		system_path(where, where->sysfs, "/sys", "class/kfd/kfd/topology/nodes");
	if (directory == NULL)
		return error_memory(err);
	if (file_list(directory, &names, NULL) < 0)
		return 0;
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE =
			text_format("%s/%s/properties", directory, names.items[i]);
		char *text CLEANUP_FREE = NULL;
		if (path == NULL)
			return error_memory(err);
		if (file_read(path, FILE_MAX, &text, NULL, NULL) == 0)
			set_architecture(text, node, out);
	}
	return 0;
}

static int add_glibc(const struct discovery_options *where, const struct discovery_file *file,
		     struct host_facts *out, struct error *err)
{
	struct elf_info info CLEANUP(elf_info_free) = {0};
	char *path CLEANUP_FREE = path_join(where->root != NULL ? where->root : "/", file->source);
	if (path == NULL)
		return error_memory(err);
	if (elf_read(path, &info, NULL) < 0 || info.glibc == NULL)
		return 0;
	if (version_compare(info.glibc, out->driver_glibc) > 0)
		out->driver_glibc = arena_string(&out->arena, info.glibc);
	return 0;
}

/* One line a module, its name first (proc(5)). */
static int read_modules(const struct discovery_options *where, struct host_facts *out,
			struct error *err)
{
	char *path CLEANUP_FREE = system_path(where, where->proc, "/proc", "modules");
	char *text CLEANUP_FREE = NULL;
	const char **modules = arena_allocate(&out->arena, (HOST_MODULES_MAX + 1) * sizeof(char *));
	size_t count = 0;
	if (path == NULL || modules == NULL)
		return error_memory(err);
	if (file_read(path, FILE_MAX, &text, NULL, NULL) < 0)
		return 0;
	for (const char *line = text; *line != '\0' && count < HOST_MODULES_MAX;) {
		modules[count++] =
			arena_format(&out->arena, "%.*s", (int)strcspn(line, " \n"), line);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	out->modules = modules;
	return 0;
}

/* The digits of a file such as "0x030200"; "": it cannot be read. */
static const char *read_hex(const char *directory, const char *name, struct arena *arena)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	char *text CLEANUP_FREE = NULL;
	bool read = path != NULL && file_read(path, FILE_MAX, &text, NULL, NULL) == 0 &&
		    text_starts_with(text, "0x");
	return read ? arena_format(arena, "%.4s", text + 2) : "";
}

static int read_pci(const struct discovery_options *where, struct host_facts *out,
		    struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	char *directory CLEANUP_FREE = system_path(where, where->sysfs, "/sys", "bus/pci/devices");
	if (directory == NULL)
		return error_memory(err);
	if (file_list(directory, &names, NULL) < 0)
		return 0;
	out->pci = arena_allocate(&out->arena, (names.count + 1) * sizeof(*out->pci));
	for (size_t i = 0; out->pci != NULL && i < names.count && i < HOST_PCI_MAX; i++) {
		char *device CLEANUP_FREE = path_join(directory, names.items[i]);
		if (device == NULL)
			return error_memory(err);
		out->pci[out->pci_count++] = (struct host_pci){
			.class_code = read_hex(device, "class", &out->arena),
			.vendor = read_hex(device, "vendor", &out->arena),
			.device = read_hex(device, "device", &out->arena),
		};
	}
	return 0;
}

int host_system_facts(const struct discovery_options *where, const struct discovery_snapshot *node,
		      struct host_facts *out, struct error *err)
{
	int rc = read_topology(where, node, out, err);
	if (rc == 0)
		rc = read_modules(where, out, err);
	if (rc == 0)
		rc = read_pci(where, out, err);
	for (size_t i = 0; rc == 0 && i < node->device_count; i++) {
		const struct discovery_device *device = &node->devices[i];
		for (size_t k = 0; rc == 0 && k < device->file_count; k++) {
			if (device->files[k].bits != 0)
				rc = add_glibc(where, &device->files[k], out, err);
		}
	}
	return rc == 0 && out->arena.failed ? error_memory(err) : rc;
}
