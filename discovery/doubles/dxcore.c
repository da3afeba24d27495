/* SPDX-License-Identifier: MIT */
#include "discovery/doubles/dxcore_double.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "base/windows/dxcore_abi.h"
#include "discovery/include/gpucert/discovery.h"
#include "discovery/windows/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__declspec(dllexport) HRESULT STDMETHODCALLTYPE DXCoreCreateAdapterFactory(REFIID iid, void **out);

enum { REGISTRATIONS_MAX = 64, ADAPTERS_MAX = 64 };

struct double_adapter {
	IDXCoreAdapter com;
	LONG references;
	const struct discovery_device *device;
};

struct double_list {
	IDXCoreAdapterList com;
	LONG references;
	int generation;
	size_t count;
	const struct discovery_device *devices[ADAPTERS_MAX];
};

struct double_registration {
	void *object;
	uint32_t type;
	dxcore_callback callback;
	void *context;
};

static struct {
	/* Old snapshots are kept: adapters of old lists point into them. */
	const struct discovery_snapshot *node;
	int generation;
	bool old;
	LONG objects;
	struct double_registration registrations[REGISTRATIONS_MAX];
} state;

static ULONG double_add_reference(LONG *references)
{
	return (ULONG)InterlockedIncrement(references);
}

static ULONG double_release(void *object, LONG *references)
{
	LONG left = InterlockedDecrement(references);
	if (left != 0)
		return (ULONG)left;
	for (size_t i = 0; i < REGISTRATIONS_MAX; i++) {
		if (state.registrations[i].object == object) {
			(void)fprintf(stderr, "dxcore: released while registered\n");
			exit(99);
		}
	}
	(void)InterlockedDecrement(&state.objects);
	free(object);
	return 0;
}

static void *double_new(size_t size)
{
	void *object = calloc(1, size);
	if (object == NULL)
		abort();
	(void)InterlockedIncrement(&state.objects);
	return object;
}

/* Nobody asks for another interface. */
static HRESULT double_query(void **out)
{
	*out = NULL;
	return E_NOINTERFACE;
}

static unsigned double_attributes(const struct discovery_device *device)
{
	static const struct {
		const char *name;
		unsigned bit;
	} names[] = {
		{"d3d11-graphics", ADAPTER_D3D11_GRAPHICS},
		{"d3d12-graphics", ADAPTER_D3D12_GRAPHICS},
		{"d3d12-core-compute", ADAPTER_D3D12_CORE_COMPUTE},
		{"d3d12-generic-ml", ADAPTER_D3D12_GENERIC_ML},
		{"d3d12-generic-media", ADAPTER_D3D12_GENERIC_MEDIA},
		{"hardware-gpu", ADAPTER_HARDWARE_GPU},
		{"hardware-compute-accelerator", ADAPTER_HARDWARE_COMPUTE_ACCELERATOR},
		{"hardware-npu", ADAPTER_HARDWARE_NPU},
		{"hardware-media-accelerator", ADAPTER_HARDWARE_MEDIA_ACCELERATOR},
	};
	unsigned bits = 0;
	for (const char *const *name = device->attributes; *name != NULL; name++) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			bits |= text_equal(*name, names[i].name) ? names[i].bit : 0;
	}
	if (bits != 0)
		return bits;
	return ADAPTER_D3D12_CORE_COMPUTE |
	       (device->display ? ADAPTER_D3D11_GRAPHICS | ADAPTER_D3D12_GRAPHICS : 0U);
}

static bool double_has(const struct discovery_device *device, const GUID *attribute)
{
	for (size_t i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++) {
		if (memcmp(&dxcore_attributes[i].guid, attribute, sizeof(*attribute)) == 0)
			return (double_attributes(device) & (1U << i)) != 0;
	}
	return false;
}

static const struct discovery_device *double_find(int64_t luid)
{
	for (size_t i = 0; state.node != NULL && i < state.node->device_count; i++) {
		if (state.node->devices[i].luid == luid)
			return &state.node->devices[i];
	}
	return NULL;
}

/* Adapters */

static HRESULT STDMETHODCALLTYPE adapter_query(IDXCoreAdapter *self, REFIID iid, void **out)
{
	(void)self;
	(void)iid;
	return double_query(out);
}

static ULONG STDMETHODCALLTYPE adapter_add_reference(IDXCoreAdapter *self)
{
	return double_add_reference(&((struct double_adapter *)self)->references);
}

static ULONG STDMETHODCALLTYPE adapter_release(IDXCoreAdapter *self)
{
	return double_release(self, &((struct double_adapter *)self)->references);
}

static const struct discovery_device *adapter_device(IDXCoreAdapter *self)
{
	return ((struct double_adapter *)self)->device;
}

static bool STDMETHODCALLTYPE adapter_is_valid(IDXCoreAdapter *self)
{
	return double_find(adapter_device(self)->luid) != NULL;
}

static bool STDMETHODCALLTYPE adapter_has_attribute(IDXCoreAdapter *self, REFGUID attribute)
{
	return double_has(adapter_device(self), attribute);
}

static bool STDMETHODCALLTYPE adapter_has_property(IDXCoreAdapter *self, uint32_t property)
{
	(void)self;
	return property <= DXCORE_IS_DETACHABLE ||
	       (property == DXCORE_HARDWARE_ID_PARTS && !state.old);
}

static HRESULT adapter_give(const void *value, size_t has, size_t size, void *out)
{
	if (size < has)
		return E_INVALIDARG;
	memcpy(out, value, has);
	return S_OK;
}

static HRESULT adapter_give_ids(const struct discovery_device *device, uint32_t property,
				size_t size, void *out)
{
	const struct dxcore_hardware_id_parts parts = {
		(uint32_t)device->pci_vendor, (uint32_t)device->pci_device,
		(uint32_t)device->pci_subsystem_device, (uint32_t)device->pci_subsystem_vendor,
		(uint32_t)device->pci_revision};
	const struct dxcore_hardware_id id = {parts.vendor, parts.device,
					      parts.subsystem << 16 | parts.subsystem_vendor,
					      parts.revision};
	if (property == DXCORE_HARDWARE_ID_PARTS)
		return adapter_give(&parts, sizeof(parts), size, out);
	return adapter_give(&id, sizeof(id), size, out);
}

static HRESULT adapter_give_version(const struct discovery_device *device, size_t size, void *out)
{
	unsigned parts[4] = {0};
	uint64_t version = 0;
	(void)sscanf(device->driver_version, "%u.%u.%u.%u", &parts[0], &parts[1], &parts[2],
		     &parts[3]);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		version = version << 16 | parts[i];
	return adapter_give(&version, sizeof(version), size, out);
}

static HRESULT STDMETHODCALLTYPE adapter_property(IDXCoreAdapter *self, uint32_t property,
						  size_t size, void *out)
{
	const struct discovery_device *device = adapter_device(self);
	const uint8_t hardware = device->kind != DISCOVERY_SOFTWARE;
	const uint8_t integrated = device->integrated;
	const uint8_t detachable = device->detachable;
	const int64_t none = 0;
	switch (property) {
	case DXCORE_INSTANCE_LUID:
		return adapter_give(&device->luid, sizeof(device->luid), size, out);
	case DXCORE_DRIVER_VERSION:
		return adapter_give_version(device, size, out);
	case DXCORE_DRIVER_DESCRIPTION:
		return adapter_give(device->description, strlen(device->description) + 1, size,
				    out);
	case DXCORE_HARDWARE_ID:
	case DXCORE_HARDWARE_ID_PARTS:
		return adapter_give_ids(device, property, size, out);
	case DXCORE_DEDICATED_ADAPTER_MEMORY:
		return adapter_give(&device->dedicated_memory, sizeof(int64_t), size, out);
	case DXCORE_DEDICATED_SYSTEM_MEMORY:
		return adapter_give(&none, sizeof(none), size, out);
	case DXCORE_SHARED_SYSTEM_MEMORY:
		return adapter_give(&device->shared_memory, sizeof(int64_t), size, out);
	case DXCORE_IS_HARDWARE:
		return adapter_give(&hardware, sizeof(hardware), size, out);
	case DXCORE_IS_INTEGRATED:
		return adapter_give(&integrated, sizeof(integrated), size, out);
	case DXCORE_IS_DETACHABLE:
		return adapter_give(&detachable, sizeof(detachable), size, out);
	default:
		return E_NOTIMPL;
	}
}

static HRESULT STDMETHODCALLTYPE adapter_property_size(IDXCoreAdapter *self, uint32_t property,
						       size_t *size)
{
	if (property != DXCORE_DRIVER_DESCRIPTION)
		return E_NOTIMPL;
	*size = strlen(adapter_device(self)->description) + 1;
	return S_OK;
}

static const IDXCoreAdapterVtbl adapter_methods = {
	.QueryInterface = adapter_query,
	.AddRef = adapter_add_reference,
	.Release = adapter_release,
	.IsValid = adapter_is_valid,
	.IsAttributeSupported = adapter_has_attribute,
	.IsPropertySupported = adapter_has_property,
	.GetProperty = adapter_property,
	.GetPropertySize = adapter_property_size,
};

/* Lists */

static HRESULT STDMETHODCALLTYPE list_query(IDXCoreAdapterList *self, REFIID iid, void **out)
{
	(void)self;
	(void)iid;
	return double_query(out);
}

static ULONG STDMETHODCALLTYPE list_add_reference(IDXCoreAdapterList *self)
{
	return double_add_reference(&((struct double_list *)self)->references);
}

static ULONG STDMETHODCALLTYPE list_release(IDXCoreAdapterList *self)
{
	return double_release(self, &((struct double_list *)self)->references);
}

static HRESULT STDMETHODCALLTYPE list_adapter(IDXCoreAdapterList *self, uint32_t index, REFIID iid,
					      void **out)
{
	const struct double_list *list = (const struct double_list *)self;
	struct double_adapter *adapter = NULL;
	*out = NULL;
	if (index >= list->count || memcmp(iid, &dxcore_iid_adapter, sizeof(*iid)) != 0)
		return E_INVALIDARG;
	adapter = double_new(sizeof(*adapter));
	*adapter = (struct double_adapter){{&adapter_methods}, 1, list->devices[index]};
	*out = adapter;
	return S_OK;
}

static uint32_t STDMETHODCALLTYPE list_count(IDXCoreAdapterList *self)
{
	return (uint32_t)((struct double_list *)self)->count;
}

static bool STDMETHODCALLTYPE list_is_stale(IDXCoreAdapterList *self)
{
	return ((struct double_list *)self)->generation != state.generation;
}

static const IDXCoreAdapterListVtbl list_methods = {
	.QueryInterface = list_query,
	.AddRef = list_add_reference,
	.Release = list_release,
	.GetAdapter = list_adapter,
	.GetAdapterCount = list_count,
	.IsStale = list_is_stale,
};

/* The factory: one for the process */

static HRESULT STDMETHODCALLTYPE factory_query(IDXCoreAdapterFactory *self, REFIID iid, void **out)
{
	(void)self;
	(void)iid;
	return double_query(out);
}

static ULONG STDMETHODCALLTYPE factory_count(IDXCoreAdapterFactory *self)
{
	(void)self;
	return 1;
}

static HRESULT STDMETHODCALLTYPE factory_list(IDXCoreAdapterFactory *self, uint32_t count,
					      const GUID *attributes, REFIID iid, void **out)
{
	struct double_list *list = NULL;
	(void)self;
	*out = NULL;
	if (count != 1 || memcmp(iid, &dxcore_iid_list, sizeof(*iid)) != 0)
		return E_INVALIDARG;
	list = double_new(sizeof(*list));
	list->com.lpVtbl = &list_methods;
	list->references = 1;
	list->generation = state.generation;
	for (size_t i = 0; state.node != NULL && i < state.node->device_count; i++) {
		if (list->count < ADAPTERS_MAX && double_has(&state.node->devices[i], attributes))
			list->devices[list->count++] = &state.node->devices[i];
	}
	*out = list;
	return S_OK;
}

static bool STDMETHODCALLTYPE factory_has_notification(IDXCoreAdapterFactory *self, uint32_t type)
{
	(void)self;
	return type <= DXCORE_ADAPTER_NO_LONGER_VALID;
}

static HRESULT STDMETHODCALLTYPE factory_register(IDXCoreAdapterFactory *self, void *object,
						  uint32_t type, dxcore_callback callback,
						  void *context, uint32_t *cookie)
{
	(void)self;
	for (uint32_t i = 0; i < REGISTRATIONS_MAX; i++) {
		if (state.registrations[i].object != NULL)
			continue;
		state.registrations[i] =
			(struct double_registration){object, type, callback, context};
		*cookie = i + 1;
		return S_OK;
	}
	return E_OUTOFMEMORY;
}

static HRESULT STDMETHODCALLTYPE factory_unregister(IDXCoreAdapterFactory *self, uint32_t cookie)
{
	(void)self;
	if (cookie == 0 || cookie > REGISTRATIONS_MAX ||
	    state.registrations[cookie - 1].object == NULL)
		return E_INVALIDARG;
	state.registrations[cookie - 1] = (struct double_registration){0};
	return S_OK;
}

static const IDXCoreAdapterFactoryVtbl factory_methods = {
	.QueryInterface = factory_query,
	.AddRef = factory_count,
	.Release = factory_count,
	.CreateAdapterList = factory_list,
	.IsNotificationTypeSupported = factory_has_notification,
	.RegisterEventNotification = factory_register,
	.UnregisterEventNotification = factory_unregister,
};

HRESULT STDMETHODCALLTYPE DXCoreCreateAdapterFactory(REFIID iid, void **out)
{
	static IDXCoreAdapterFactory factory = {&factory_methods};
	*out = NULL;
	if (memcmp(iid, &dxcore_iid_factory, sizeof(*iid)) != 0)
		return E_NOINTERFACE;
	*out = &factory;
	return S_OK;
}

static void double_notify(const struct double_registration *registration)
{
	if (registration->object == NULL)
		return;
	if (registration->type == DXCORE_ADAPTER_NO_LONGER_VALID &&
	    adapter_is_valid(registration->object))
		return;
	registration->callback(registration->type, registration->object, registration->context);
}

int dxcore_double_load(const char *recorded_node)
{
	const struct discovery_options options = {
		.recorded_node = recorded_node,
		.filter = {.include_integrated = true, .include_detachable = true},
	};
	struct discovery_snapshot *node = NULL;
	struct error err = {0};
	if (discovery_take(&options, &node, &err) < 0) {
		(void)fprintf(stderr, "dxcore: %s\n", err.text);
		return -1;
	}
	state.node = node;
	state.generation++;
	for (size_t i = 0; i < REGISTRATIONS_MAX; i++)
		double_notify(&state.registrations[i]);
	return 0;
}

void dxcore_double_set_old(bool old)
{
	state.old = old;
}

int dxcore_double_objects(void)
{
	return (int)state.objects;
}
