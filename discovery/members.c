/* SPDX-License-Identifier: MIT */
#include "discovery/members.h"

#include "discovery/builder.h"

#include <string.h>

/* More than any node has; they keep hostile documents cheap. */
enum { DEVICES_MAX = 1024, FILES_MAX = 4096, LIST_MAX = 256, DIAGNOSTICS_MAX = 1024 };

#define EXACT_MAX (INT64_C(1) << 53) /* larger whole numbers are not exact in JSON */

const char *const discovery_kind_names[] = {"display", "compute", "software", "virtual", NULL};
const char *const discovery_health_names[] = {"healthy", "unhealthy", NULL};

/* An absolute path of either system without "..": "/usr/lib/x.so", "C:\Windows\System32\x.dll". */
static int check_path(const struct json_at *at, struct error *err)
{
	const char *path = at->node->valuestring;
	bool drive = ((path[0] | 0x20) >= 'a' && (path[0] | 0x20) <= 'z') && path[1] == ':' &&
		     path[2] == '\\';
	if (path[0] != '/' && !drive)
		return json_error(at, err, "expected an absolute path");
	for (const char *p = path; (p = strstr(p, "..")) != NULL; p += 2) {
		bool begins = p[-1] == '/' || p[-1] == '\\';
		if (begins && (p[2] == '\0' || p[2] == '/' || p[2] == '\\'))
			return json_error(at, err, "a path may not contain \"..\"");
	}
	return 0;
}

static int check_permissions(const struct json_at *at, struct error *err)
{
	const char *letters = at->node->valuestring;
	if (letters[0] == '\0' || letters[strspn(letters, "rwm")] != '\0')
		return json_error(at, err, "expected letters of \"rwm\"");
	return 0;
}

static int check_bits(const struct json_at *at, struct error *err)
{
	int bits = at->node->valueint;
	return bits == 0 || bits == 32 || bits == 64 ? 0
						     : json_error(at, err, "expected 64, 32 or 0");
}

static int check_variable(const struct json_at *at, struct error *err)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
				      "0123456789";
	const char *name = at->key;
	if (name[0] == '\0' || strchr("0123456789", name[0]) != NULL ||
	    name[strspn(name, letters)] != '\0')
		return json_error(at, err, "not the name of an environment variable");
	return 0;
}

static int check_id(const struct json_at *at, struct error *err)
{
	if (device_id_is_valid(at->node->valuestring))
		return 0;
	return json_error(at, err, "expected 1 to %d characters of [A-Za-z0-9._:-]",
			  (int)DEVICE_ID_MAX);
}

#define STRING(structure, member, check_)                                                          \
	.presence = JSON_REQUIRED, JSON_AT(struct structure, member), .check = (check_)
#define CHOICE(structure, member, names_)                                                          \
	.type = JSON_MEMBER_CHOICE, .presence = JSON_REQUIRED, JSON_AT(struct structure, member),  \
	.names = (names_)
#define COUNTED(structure, member, counter, most)                                                  \
	JSON_COUNTED(struct structure, member, counter), .max = (most)
#define OBJECTS(structure, member, counter, most, table)                                           \
	.type = JSON_MEMBER_OBJECTS, COUNTED(structure, member, counter, most), .members = (table)

static const struct json_member node_members[] = {
	{.key = "path", STRING(discovery_node, path, check_path)},
	{.key = "containerPath", STRING(discovery_node, container_path, check_path)},
	{.key = "permissions", STRING(discovery_node, permissions, check_permissions)},
	{0},
};

#define FILE_AT(member) JSON_AT(struct discovery_file, member)
static const struct json_member file_members[] = {
	{.key = "source", STRING(discovery_file, source, check_path)},
	{.key = "destination", STRING(discovery_file, destination, check_path)},
	{.key = "bits", .type = JSON_MEMBER_INT, FILE_AT(bits), .max = 64, .check = check_bits},
	{.key = "directory", .type = JSON_MEMBER_BOOL, FILE_AT(directory)},
	{.key = "origin", STRING(discovery_file, origin, NULL)},
	{0},
};

#define DEVICE(member) JSON_AT(struct discovery_device, member)
#define PCI_ID(member, digits)                                                                     \
	.type = JSON_MEMBER_HEX, DEVICE(member), .max = (digits), .empty = DISCOVERY_UNKNOWN
static const struct json_member pci_members[] = {
	{.key = "address", DEVICE(pci_address)},
	{.key = "vendor", PCI_ID(pci_vendor, 4)},
	{.key = "device", PCI_ID(pci_device, 4)},
	{.key = "subsystemVendor", PCI_ID(pci_subsystem_vendor, 4)},
	{.key = "subsystemDevice", PCI_ID(pci_subsystem_device, 4)},
	{.key = "revision", PCI_ID(pci_revision, 2)},
	{0},
};

static const struct json_member driver_members[] = {
	{.key = "name", DEVICE(driver_name)},
	{.key = "version", DEVICE(driver_version)},
	{.key = "key", DEVICE(driver_key)},
	{.key = "userMode", DEVICE(user_mode_driver)},
	{.key = "date", DEVICE(driver_date)},
	{.key = "inf", DEVICE(driver_inf)},
	{.key = "storePath", DEVICE(driver_store_path)},
	{0},
};

#define BYTES(member)                                                                              \
	.type = JSON_MEMBER_INT, DEVICE(member), .max = EXACT_MAX, .empty = DISCOVERY_UNKNOWN
static const struct json_member memory_members[] = {
	{.key = "dedicated", BYTES(dedicated_memory)},
	{.key = "shared", BYTES(shared_memory)},
	{0},
};

#define FLAG(member) .type = JSON_MEMBER_BOOL, .presence = JSON_REQUIRED, DEVICE(member)
#define NAMES(member, what_)                                                                       \
	.type = JSON_MEMBER_NAMES, DEVICE(member), .max = LIST_MAX, .what = what_
#define PART(table) .type = JSON_MEMBER_OBJECT, .members = (table)
const struct json_member discovery_device_members[] = {
	{.key = "id", STRING(discovery_device, id, check_id)},
	{.key = "kind", CHOICE(discovery_device, kind, discovery_kind_names)},
	{.key = "vendor", DEVICE(vendor)},
	{.key = "manufacturer", DEVICE(manufacturer)},
	{.key = "description", DEVICE(description)},
	{.key = "locationPath", DEVICE(location_path)},
	{.key = "pnpInstanceId", DEVICE(pnp_instance_id)},
	{.key = "pci", PART(pci_members)},
	{.key = "uuid", DEVICE(uuid)},
	{.key = "locationPaths", NAMES(location_paths, "a location path")},
	{.key = "attributes", NAMES(attributes, "the name of an attribute")},
	{.key = "allocatable", .type = JSON_MEMBER_BOOL, DEVICE(allocatable), .empty = true},
	{.key = "notAllocatableReason", DEVICE(not_allocatable_reason)},
	{.key = "luid", .type = JSON_MEMBER_INT, DEVICE(luid), .min = -EXACT_MAX, .max = EXACT_MAX},
	{.key = "driver", .presence = JSON_WRITTEN, PART(driver_members)},
	{.key = "memory", PART(memory_members)},
	{.key = "integrated", FLAG(integrated)},
	{.key = "detachable", FLAG(detachable)},
	{.key = "display", FLAG(display)},
	{.key = "compute", FLAG(compute)},
	{.key = "numaNode",
	 .type = JSON_MEMBER_INT,
	 DEVICE(numa_node),
	 .max = INT32_MAX,
	 .empty = DISCOVERY_UNKNOWN},
	{.key = "health", CHOICE(discovery_device, health, discovery_health_names)},
	{.key = "healthReason", DEVICE(health_reason)},
	{.key = "apis", .presence = JSON_WRITTEN, NAMES(apis, "the name of an API")},
	{.key = "nodes",
	 .presence = JSON_WRITTEN,
	 OBJECTS(discovery_device, nodes, node_count, LIST_MAX, node_members)},
	{.key = "files",
	 .presence = JSON_WRITTEN,
	 OBJECTS(discovery_device, files, file_count, FILES_MAX, file_members)},
	{.key = "environment",
	 .type = JSON_MEMBER_MAP,
	 .presence = JSON_WRITTEN,
	 COUNTED(discovery_device, environment, variable_count, LIST_MAX),
	 .check = check_variable},
	{0},
};

#define SYSTEM(member) JSON_AT(struct discovery_system, member)
static const struct json_member system_members[] = {
	{.key = "os", STRING(discovery_system, os, NULL)},
	{.key = "product", SYSTEM(product)},
	{.key = "version", SYSTEM(version)},
	{.key = "build", SYSTEM(build)},
	{.key = "kernelBuild", SYSTEM(kernel_build)},
	{.key = "architecture", SYSTEM(architecture)},
	{.key = "enumerator", SYSTEM(enumerator)},
	{.key = "emulator", SYSTEM(emulator)},
	{0},
};

static const struct json_member diagnostic_members[] = {
	{.key = "place", STRING(discovery_diagnostic, place, NULL)},
	{.key = "message", STRING(discovery_diagnostic, message, NULL)},
	{0},
};

const struct json_member discovery_snapshot_members[] = {
	{.key = "schema",
	 .type = JSON_MEMBER_SCHEMA,
	 .presence = JSON_REQUIRED,
	 .what = "gpucert-node/1"},
	{.key = "recorded", JSON_AT(struct discovery_snapshot, recorded_at)},
	{.key = "system",
	 .type = JSON_MEMBER_OBJECT,
	 .presence = JSON_REQUIRED,
	 .offset = offsetof(struct discovery_snapshot, system),
	 .members = system_members},
	{.key = "devices",
	 .presence = JSON_REQUIRED,
	 OBJECTS(discovery_snapshot, devices, device_count, DEVICES_MAX, discovery_device_members)},
	{.key = "diagnostics",
	 .presence = JSON_WRITTEN,
	 OBJECTS(discovery_snapshot, diagnostics, diagnostic_count, DIAGNOSTICS_MAX,
		 diagnostic_members)},
	{0},
};
