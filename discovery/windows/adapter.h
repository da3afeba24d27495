/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Graphics hardware as the parts of Windows report it: DirectX adapters (DXCore, D3DKMT) and devices of
 * the plug-and-play manager (SetupAPI). It is plain data, so that windows_assemble() is tested on every
 * system. Strings belong to the builder's arena and are never NULL.
 */

#include "discovery/builder.h"

/* The attributes of DXCore: bits of adapter.attributes, in the order of dxcore_attributes
 * (base/windows/dxcore_abi.h). */
enum adapter_attribute {
	ADAPTER_D3D11_GRAPHICS = 1 << 0,
	ADAPTER_D3D12_GRAPHICS = 1 << 1,
	ADAPTER_D3D12_CORE_COMPUTE = 1 << 2,
	ADAPTER_D3D12_GENERIC_ML = 1 << 3,
	ADAPTER_D3D12_GENERIC_MEDIA = 1 << 4,
	ADAPTER_HARDWARE_GPU = 1 << 5,
	ADAPTER_HARDWARE_COMPUTE_ACCELERATOR = 1 << 6,
	ADAPTER_HARDWARE_NPU = 1 << 7,
	ADAPTER_HARDWARE_MEDIA_ACCELERATOR = 1 << 8,
};

/* PCI ids; 0xFFFFFFFF is unknown. */
struct adapter_ids {
	uint32_t vendor, device;
	uint32_t subsystem; /* as in SUBSYS_: device in the upper half, vendor in the lower */
	uint32_t revision;
};

#define ADAPTER_ID_UNKNOWN UINT32_C(0xFFFFFFFF)

struct adapter {
	int64_t luid;
	const char *description;
	struct adapter_ids ids;
	uint64_t driver_version;		 /* four numbers of 16 bits; 0: unknown */
	int64_t dedicated_memory, shared_memory; /* bytes; -1: unknown */
	bool hardware, integrated, detachable;
	bool described;	     /* more than its LUID is known */
	unsigned attributes; /* of enum adapter_attribute; 0 without DXCore */
};

/* Bits of D3DKMT_ADAPTERTYPE (d3dkmthk.h). */
enum d3dkmt_adapter_type {
	D3DKMT_TYPE_RENDER = 1 << 0,
	D3DKMT_TYPE_SOFTWARE = 1 << 2,
	D3DKMT_TYPE_HYBRID_INTEGRATED = 1 << 5,
	D3DKMT_TYPE_DETACHABLE = 1 << 10,
	D3DKMT_TYPE_COMPUTE_ONLY = 1 << 11,
};

/* Describes the adapter by what D3DKMTQueryAdapterInfo reports. An adapter that only displays, like the
 * display controller of a server's management processor, does not count as hardware. */
void adapter_set_type(struct adapter *adapter, unsigned type);

/* A list of adapters under construction; memory is the builder's. */
struct adapters {
	struct builder *builder;
	struct adapter *items;
	size_t count;
};

/* The adapter with this LUID; a new one, with everything else unknown, if there was none. NULL: out of
 * memory, which builder_finish() reports. */
struct adapter *adapters_at(struct adapters *adapters, int64_t luid);

/* One value of a CopyToVm key. */
struct registry_value {
	const char *key; /* "CopyToVmOverwrite" */
	const char *name;
	uint32_t type;	     /* REG_SZ is 1, REG_MULTI_SZ 7 */
	const uint8_t *data; /* UTF-16LE, as in the registry */
	size_t size;	     /* bytes */
};

struct pnp_device {
	const char *instance_id; /* "PCI\VEN_10DE&DEV_1EB8&SUBSYS_12A210DE&REV_A1\3&13C0B0C5" */
	const char *description;
	const char *manufacturer;
	const char *driver_key; /* below Control\Class: "{4d36e968-...}\0004"; "": no driver */
	const char *driver_version;
	const char *driver_date;	   /* "2024-03-01" */
	const char *driver_inf;		   /* "oem12.inf" */
	const char *service;		   /* "nvlddmkm" */
	const char *const *location_paths; /* NULL-ended, as the system orders them */
	bool has_luid;
	int64_t luid;
	bool compute_class;	/* of the compute accelerator class, not the display class */
	unsigned problem;	/* code of the device manager (43: the driver failed); 0: none */
	bool opengl;		/* its driver includes one of OpenGL */
	const char *store_path; /* as the system reports it; "" when it cannot be found */
	const char *store_path_error;
	const struct registry_value *values; /* of all CopyToVm keys */
	size_t value_count;
};

struct windows_hardware {
	const struct adapter *adapters;
	size_t adapter_count;
	const struct pnp_device *devices;
	size_t device_count;
	bool adapters_are_complete; /* DXCore listed them: a device without adapter has none */
	const char *windows;	    /* the Windows folder: "C:\Windows" */
};

/*
 * Joins DirectX adapters and plug-and-play devices by their LUIDs to the devices of a snapshot. Nothing
 * is dropped silently: adapters or devices without partner, malformed values, and files that lost their
 * destination to another one become diagnostics.
 */
void windows_assemble(const struct windows_hardware *hardware, struct builder *builder);
