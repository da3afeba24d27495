/* SPDX-License-Identifier: MIT */
#include "containers/judging/compat/host_system.h"

#include "base/cleanup.h"
#include "base/cpu_level.h"
#include "base/json_members.h"
#include "base/os_version.h"
#include "discovery/include/gpucert/discovery.h"

#include <ctype.h>
#include <string.h>

#define NODE_SCHEMA "gpucert-node/1"

enum { INTEL_PCI = 0x8086 };

static int check_text(const struct json_at *at, struct error *err)
{
	if (strlen(at->node->valuestring) > HOST_TEXT_MAX)
		return json_error(at, err, "longer than %d bytes", (int)HOST_TEXT_MAX);
	return 0;
}

#define GPU(key, member)  JSON_TEXT(struct host_gpu, key, member, JSON_OPTIONAL, check_text)
#define PCI(key, member)  JSON_TEXT(struct host_pci, key, member, JSON_OPTIONAL, check_text)
#define FACT(key, member) JSON_TEXT(struct host_facts, key, member, JSON_OPTIONAL, check_text)

static const struct json_member gpu_members[] = {
	GPU("vendor", vendor),
	GPU("name", name),
	GPU("brand", brand),
	GPU("driver", driver),
	GPU("driverVersion", driver_version),
	GPU("computeCapability", compute_capability),
	GPU("cudaVersion", cuda_version),
	GPU("architecture", architecture),
	GPU("wddm", wddm),
	{0},
};

static const struct json_member pci_members[] = {
	PCI("class", class_code),
	PCI("vendor", vendor),
	PCI("device", device),
	{0},
};

static const struct json_member windows_members[] = {
	FACT("version", os_version),
	FACT("edition", windows_edition),
	FACT("hcsSchema", hcs_schema),
	{0},
};

static const struct json_member members[] = {
	{.key = "schema",
	 .type = JSON_MEMBER_SCHEMA,
	 .presence = JSON_REQUIRED,
	 .what = "gpucert-host/1"},
	JSON_TEXT(struct host_facts, "os", os, JSON_REQUIRED, check_text),
	FACT("architecture", architecture),
	JSON_NUMBER(struct host_facts, "cpuLevel", cpu_level, JSON_OPTIONAL, 0, CPU_LEVEL_MAX),
	FACT("kernel", kernel),
	{.key = "windows", .type = JSON_MEMBER_OBJECT, .members = windows_members},
	FACT("driverGlibc", driver_glibc),
	JSON_LIST(struct host_facts, "gpus", gpus, gpu_count, JSON_WRITTEN, HOST_GPUS_MAX,
		  gpu_members),
	{.key = "modules",
	 .type = JSON_MEMBER_NAMES,
	 JSON_AT(struct host_facts, modules),
	 .max = HOST_MODULES_MAX,
	 .what = "a module of the kernel"},
	JSON_LIST(struct host_facts, "pci", pci, pci_count, JSON_OPTIONAL, HOST_PCI_MAX,
		  pci_members),
	{0},
};

void host_facts_free(struct host_facts *host)
{
	arena_free(&host->arena);
	*host = (struct host_facts){0};
}

const char *host_architecture(const char *machine)
{
	static const char *const names[][2] = {{"x86_64", "amd64"}, {"aarch64", "arm64"}};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (text_equal(machine, names[i][0]))
			return names[i][1];
	}
	return machine;
}

int host_facts_from_json(const cJSON *document, struct host_facts *out, struct error *err)
{
	*out = (struct host_facts){0};
	struct json_at root = json_root(document);
	int rc = json_members_read(&root, members, out, &out->arena, err);
	if (rc < 0)
		return rc;
	out->architecture = host_architecture(out->architecture);
	if (out->os_version[0] == '\0')
		return 0;
	return windows_version_parse(out->os_version, "windows.version", &out->windows, err);
}

int host_facts_parse(const char *data, size_t size, struct host_facts *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	*out = (struct host_facts){0};
	int rc = json_parse(data, size, &document, err);
	return rc == 0 ? host_facts_from_json(document, out, err) : rc;
}

/* The facts of a recorded node, or of this machine with those that only the machine itself has. */
static int take(struct discovery_options options, struct host_facts *out, struct error *err)
{
	struct discovery_snapshot *node = NULL;
	options.filter =
		(struct discovery_filter){.include_integrated = true, .include_detachable = true};
	*out = (struct host_facts){0};
	int rc = discovery_take(&options, &node, err);
	if (rc == 0)
		rc = host_facts_of_node(node, out, err);
	if (rc == 0 && options.recorded_node == NULL) {
		out->cpu_level = cpu_level();
		host_system_facts(&options, node, out);
	}
	discovery_free(node);
	return rc;
}

int host_facts_local(const struct discovery_options *where, struct host_facts *out,
		     struct error *err)
{
	return take(where != NULL ? *where : (struct discovery_options){0}, out, err);
}

int host_facts_read(const char *path, struct host_facts *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	*out = (struct host_facts){0};
	int rc = json_read_file(path, &document, err);
	if (rc < 0)
		return rc;
	if (text_equal(json_pointer_string(document, "/schema"), NODE_SCHEMA))
		return take((struct discovery_options){.recorded_node = path}, out, err);
	rc = host_facts_from_json(document, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

int host_facts_named(const char *name, struct host_facts *out, struct error *err)
{
	return text_equal(name, "local") ? host_facts_local(NULL, out, err)
					 : host_facts_read(name, out, err);
}

cJSON *host_facts_to_json(const struct host_facts *host)
{
	return json_members_write(members, host);
}

/* The generation of devices that compute-runtime calls legacy, by the first byte of their PCI id (Linux,
 * include/drm/intel/pciids.h). "": another device. */
static const char *intel_generation(int32_t pci_device)
{
	static const struct {
		int32_t first;
		const char *generation;
	} legacy[] = {
		{0x16, "gen8"},	 {0x22, "gen8"},  {0x19, "gen9"},  {0x59, "gen9"}, {0x5a, "gen9"},
		{0x3e, "gen9"},	 {0x9b, "gen9"},  {0x87, "gen9"},  {0x1a, "gen9"}, {0x31, "gen9"},
		{0x8a, "gen11"}, {0x45, "gen11"}, {0x4e, "gen11"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(legacy); i++) {
		if (pci_device >> 8 == legacy[i].first)
			return legacy[i].generation;
	}
	return "";
}

static int set_windows(const struct discovery_system *system, struct host_facts *out,
		       struct error *err)
{
	struct windows_version *version = &out->windows;
	int rc = windows_version_parse(system->build, "the node's build", version, err);
	if (rc < 0)
		return rc;
	out->os_version =
		arena_format(&out->arena, version->revision_known ? "%u.%u.%u.%u" : "%u.%u.%u",
			     version->major, version->minor, version->build, version->revision);
	if (system->product[0] != '\0')
		out->windows_edition =
			strstr(system->product, "Server") != NULL ? "server" : "client";
	return 0;
}

int host_facts_of_node(const struct discovery_snapshot *node, struct host_facts *out,
		       struct error *err)
{
	const struct discovery_system *system = &node->system;
	struct arena *arena = &out->arena;
	bool windows = text_equal(system->os, "windows");
	*out = (struct host_facts){0};
	json_members_reset(members, out);
	out->os = arena_string(arena, system->os);
	out->architecture = arena_string(arena, host_architecture(system->architecture));
	if (!windows)
		out->kernel = arena_string(arena, system->build);
	int rc = windows && system->build[0] != '\0' ? set_windows(system, out, err) : 0;
	if (rc < 0)
		return rc;

	out->gpus = arena_allocate(arena, (node->device_count + 1) * sizeof(*out->gpus));
	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *device = &node->devices[i];
		const char *version = device->driver_version;
		char *vendor = arena_allocate(arena, strlen(device->vendor) + 1);
		for (size_t at = 0; device->vendor[at] != '\0'; at++)
			vendor[at] = (char)tolower((unsigned char)device->vendor[at]);

		/* The first number of a Windows driver's version is its WDDM version without the dot
		 * (Microsoft, "WDDM driver version numbers"): 31.0.15.5222 is of 3.1. */
		bool wddm = windows && strspn(version, "0123456789") == 2 && version[2] == '.' &&
			    version[0] >= '2';
		out->gpus[out->gpu_count++] = (struct host_gpu){
			.vendor = vendor,
			.name = arena_string(arena, device->description),
			.brand = "",
			.driver = arena_string(arena, device->driver_name),
			.driver_version = arena_string(arena, version),
			.compute_capability = "",
			.cuda_version = "",
			.architecture = device->pci_vendor == INTEL_PCI
						? intel_generation(device->pci_device)
						: "",
			.wddm = wddm ? arena_format(arena, "%c.%c", version[0], version[1]) : "",
		};
	}
	return 0;
}

int host_platform(struct arena *arena, struct image_platform *out, struct error *err)
{
	struct os_version version = {0};
	int rc = os_version_read(&version, err);
	const char *machine = arena_string(arena, version.architecture);
	*out = (struct image_platform){.os = host_os,
				       .architecture = host_architecture(machine),
				       .variant = "",
				       .os_version = ""};
	return rc;
}
