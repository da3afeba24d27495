/* SPDX-License-Identifier: MIT */
#include "discovery/windows/adapter.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "discovery/windows/device_id.h"
#include "discovery/windows/runtime_files.h"

#include <string.h>
#include <strings.h>

#define CLASS_KEY "HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Class\\"

/* In the order of enum adapter_attribute. */
static const char *const attributes[] = {
	"d3d11-graphics",
	"d3d12-graphics",
	"d3d12-core-compute",
	"d3d12-generic-ml",
	"d3d12-generic-media",
	"hardware-gpu",
	"hardware-compute-accelerator",
	"hardware-npu",
	"hardware-media-accelerator",
};

struct adapter *adapters_at(struct adapters *adapters, int64_t luid)
{
	for (size_t i = 0; i < adapters->count; i++) {
		if (adapters->items[i].luid == luid)
			return &adapters->items[i];
	}
	struct adapter *grown = arena_grow(&adapters->builder->arena, adapters->items,
					   adapters->count, sizeof(*grown));
	if (grown == NULL)
		return NULL;

	adapters->items = grown;
	grown[adapters->count] = (struct adapter){
		.luid = luid,
		.description = "",
		.ids = {ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN,
			ADAPTER_ID_UNKNOWN},
		.dedicated_memory = DISCOVERY_UNKNOWN,
		.shared_memory = DISCOVERY_UNKNOWN,
		.hardware = true,
	};
	return &grown[adapters->count++];
}

void adapter_set_type(struct adapter *adapter, unsigned type)
{
	adapter->described = true;
	adapter->hardware = (type & D3DKMT_TYPE_SOFTWARE) == 0 &&
			    (type & (D3DKMT_TYPE_RENDER | D3DKMT_TYPE_COMPUTE_ONLY)) != 0;
	adapter->integrated = (type & D3DKMT_TYPE_HYBRID_INTEGRATED) != 0;
	adapter->detachable = (type & D3DKMT_TYPE_DETACHABLE) != 0;
	if ((type & D3DKMT_TYPE_COMPUTE_ONLY) != 0)
		adapter->attributes = ADAPTER_D3D12_CORE_COMPUTE;
}

static int32_t known_id(uint32_t id, uint32_t max)
{
	return id <= max ? (int32_t)id : DISCOVERY_UNKNOWN;
}

static void describe_pci(struct builder *builder, struct discovery_device *device,
			 const struct adapter_ids *ids)
{
	bool subsystem = ids->subsystem != ADAPTER_ID_UNKNOWN;

	device->pci_vendor = known_id(ids->vendor, 0xFFFF);
	device->pci_device = known_id(ids->device, 0xFFFF);
	device->pci_subsystem_device =
		subsystem ? (int32_t)(ids->subsystem >> 16) : DISCOVERY_UNKNOWN;
	device->pci_subsystem_vendor =
		subsystem ? (int32_t)(ids->subsystem & 0xFFFF) : DISCOVERY_UNKNOWN;
	device->pci_revision = known_id(ids->revision, 0xFF);
	device->vendor = builder_vendor(builder, device->pci_vendor);
	if (device->vendor[0] == '\0')
		device->vendor = device->manufacturer;
}

/*
 * HCS accepts any location path of a PCI device: prefer one from the root of PCI, or use the first. In a
 * guest of Hyper-V a GPU is below VMBUS, and has no path from a root of PCI.
 */
static void describe_location(struct builder *builder, struct discovery_device *device,
			      const struct pnp_device *source)
{
	for (const char *const *path = source->location_paths; *path != NULL; path++) {
		builder_add_name(builder, &device->location_paths, *path);
		if (device->location_path[0] == '\0' && strncasecmp(*path, "PCIROOT(", 8) == 0)
			device->location_path = builder_string(builder, *path);
	}
	if (device->location_path[0] == '\0' && source->location_paths[0] != NULL &&
	    strncasecmp(source->instance_id, "PCI\\", 4) == 0)
		device->location_path = builder_string(builder, source->location_paths[0]);
	if (device->location_path[0] != '\0')
		return;
	device->allocatable = false;
	device->not_allocatable_reason =
		source->location_paths[0] != NULL
			? arena_format(&builder->arena, "not a PCI device: its location path is %s",
				       source->location_paths[0])
			: "the system reports no location path";
	builder_diagnose(builder, source->instance_id, "%s", device->not_allocatable_reason);
}

static void describe_adapter(struct builder *builder, struct discovery_device *device,
			     const struct adapter *adapter)
{
	const uint64_t version = adapter->driver_version;

	device->luid = adapter->luid;
	device->dedicated_memory = adapter->dedicated_memory;
	device->shared_memory = adapter->shared_memory;
	device->integrated = adapter->integrated;
	device->detachable = adapter->detachable;
	if (version != 0)
		device->driver_version = arena_format(
			&builder->arena, "%u.%u.%u.%u", (unsigned)(version >> 48 & 0xFFFF),
			(unsigned)(version >> 32 & 0xFFFF), (unsigned)(version >> 16 & 0xFFFF),
			(unsigned)(version & 0xFFFF));
	if (adapter->description[0] != '\0')
		device->description = adapter->description;
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
		if ((adapter->attributes >> i & 1U) != 0)
			builder_add_name(builder, &device->attributes, attributes[i]);
	}
}

static void add_device(const struct windows_hardware *hardware, struct builder *builder,
		       const struct adapter *adapter, const struct pnp_device *source)
{
	const unsigned graphics = ADAPTER_D3D11_GRAPHICS | ADAPTER_D3D12_GRAPHICS;
	const unsigned computing =
		ADAPTER_D3D12_CORE_COMPUTE | ADAPTER_D3D12_GRAPHICS | ADAPTER_D3D12_GENERIC_ML;
	struct discovery_device *device = builder_add(builder);
	struct adapter_ids ids = device_id_parse(source->instance_id);

	if (device == NULL)
		return;
	device->id = device_id_of_instance(builder, source->instance_id);
	device->pnp_instance_id = source->instance_id;
	device->description = source->description;
	device->manufacturer = source->manufacturer;
	device->driver_name = source->service;
	device->driver_version = source->driver_version;
	device->driver_date = source->driver_date;
	device->driver_inf = source->driver_inf;
	device->luid = source->has_luid ? source->luid : 0;
	if (source->driver_key[0] != '\0')
		device->driver_key =
			arena_format(&builder->arena, CLASS_KEY "%s", source->driver_key);
	if (adapter != NULL) {
		describe_adapter(builder, device, adapter);
		if (adapter->ids.vendor != ADAPTER_ID_UNKNOWN)
			ids = adapter->ids;
	}
	describe_pci(builder, device, &ids);
	device->display = !source->compute_class;
	device->compute = true;
	if (adapter != NULL && adapter->attributes != 0) {
		device->display = (adapter->attributes & graphics) != 0;
		device->compute = (adapter->attributes & computing) != 0;
	}
	device->kind = device->display ? DISCOVERY_DISPLAY : DISCOVERY_COMPUTE;
	describe_location(builder, device, source);
	if (source->problem != 0) {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason = arena_format(
			&builder->arena, "the device manager reports problem %u", source->problem);
	}
	builder_add_name(builder, &device->apis, "directx");
	if (source->opengl)
		builder_add_name(builder, &device->apis, "opengl");
	runtime_files_add(builder, device, source, hardware->windows);
}

void windows_assemble(const struct windows_hardware *hardware, struct builder *builder)
{
	/* Where the system reports only the LUIDs of adapters, the device tree is the only source. */
	bool unknown = !hardware->adapters_are_complete;
	for (size_t i = 0; i < hardware->adapter_count; i++)
		unknown = unknown && !hardware->adapters[i].described;

	for (size_t i = 0; i < hardware->device_count; i++) {
		const struct pnp_device *device = &hardware->devices[i];
		const struct adapter *adapter = NULL;

		for (size_t k = 0; device->has_luid && k < hardware->adapter_count; k++) {
			if (adapter == NULL && hardware->adapters[k].luid == device->luid)
				adapter = &hardware->adapters[k];
		}
		if (adapter != NULL ? adapter->hardware : unknown)
			add_device(hardware, builder, adapter, device);
		else if (adapter == NULL)
			builder_diagnose(builder, device->instance_id,
					 "%s: no DirectX adapter belongs to this device%s",
					 device->description,
					 device->has_luid ? "" : ", which has no LUID");
	}

	/* Report hardware adapters without a device. */
	for (size_t i = 0; !unknown && i < hardware->adapter_count; i++) {
		const struct adapter *adapter = &hardware->adapters[i];
		bool has_device = false;

		for (size_t k = 0; k < hardware->device_count; k++)
			has_device = has_device || (hardware->devices[k].has_luid &&
						    hardware->devices[k].luid == adapter->luid);
		if (!adapter->hardware || has_device)
			continue;
		const char *place = arena_format(&builder->arena, "adapter LUID %lld",
						 (long long)adapter->luid);
		builder_diagnose(builder, place, "%s%sno plug-and-play device has this LUID",
				 adapter->description, adapter->description[0] != '\0' ? ": " : "");
	}
}
