/* SPDX-License-Identifier: MIT */

/* A dxcore.dll with adapters: a graphics card, a compute-only accelerator and a software adapter.
 * The environment variable GPUCERT_DOUBLE may hold "stub" (no factory) or "lists" (listing fails).
 */

#include "base/windows/dxcore_abi.h"

#include <stdlib.h>
#include <string.h>

enum { D3D11 = 1 << 0, D3D12 = 1 << 1, CORE = 1 << 2, GPU = 1 << 5, ACCELERATOR = 1 << 6 };

struct adapter {
	IDXCoreAdapter object;
	const char *name;
	uint32_t luid;
	unsigned attributes; /* bit i: dxcore_attributes[i] */
	struct dxcore_hardware_id id;
	uint64_t memory;
	uint8_t hardware;
};

struct list {
	IDXCoreAdapterList object;
	unsigned attribute;
};

/* The methods of IUnknown; everything here is static. */
#define UNKNOWN(interface, name)                                                                   \
	static HRESULT STDMETHODCALLTYPE name##_query(interface *object, REFIID id, void **out)    \
	{                                                                                          \
		(void)id;                                                                          \
		*out = object;                                                                     \
		return S_OK;                                                                       \
	}                                                                                          \
                                                                                                   \
	static ULONG STDMETHODCALLTYPE name##_count(interface *object)                             \
	{                                                                                          \
		(void)object;                                                                      \
		return 1;                                                                          \
	}

UNKNOWN(IDXCoreAdapter, adapter)
UNKNOWN(IDXCoreAdapterList, list)
UNKNOWN(IDXCoreAdapterFactory, factory)

static bool STDMETHODCALLTYPE is_attribute(IDXCoreAdapter *object, REFGUID guid)
{
	const struct adapter *adapter = (const struct adapter *)object;
	for (unsigned i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++)
		if (memcmp(&dxcore_attributes[i].guid, guid, sizeof(*guid)) == 0)
			return (adapter->attributes >> i & 1u) != 0;
	return false;
}

/* The value of a property; 0 bytes: not reported. */
static size_t find(const struct adapter *adapter, uint32_t property, const void **value)
{
	static const uint8_t no = 0;
	static const uint64_t version = (31ull << 48) | (15ull << 16) | 3640;
	switch (property) {
	case DXCORE_INSTANCE_LUID:
		*value = &adapter->luid;
		return sizeof(LUID);
	case DXCORE_DRIVER_VERSION:
		*value = &version;
		return sizeof(version);
	case DXCORE_DRIVER_DESCRIPTION:
		*value = adapter->name;
		return strlen(adapter->name) + 1;
	case DXCORE_HARDWARE_ID:
		*value = &adapter->id;
		return sizeof(adapter->id);
	case DXCORE_DEDICATED_ADAPTER_MEMORY:
		*value = &adapter->memory;
		return sizeof(uint64_t);
	case DXCORE_IS_HARDWARE:
		*value = &adapter->hardware;
		return sizeof(adapter->hardware);
	case DXCORE_IS_INTEGRATED:
		*value = &no;
		return sizeof(no);
	default:
		return 0;
	}
}

static bool STDMETHODCALLTYPE is_property(IDXCoreAdapter *object, uint32_t property)
{
	const void *value = NULL;
	return find((const struct adapter *)object, property, &value) != 0;
}

static HRESULT STDMETHODCALLTYPE get_size(IDXCoreAdapter *object, uint32_t property, size_t *size)
{
	const void *value = NULL;
	*size = find((const struct adapter *)object, property, &value);
	return *size != 0 ? S_OK : E_INVALIDARG;
}

/* Of the LUID only the low part is copied: the high part is zero. */
static HRESULT STDMETHODCALLTYPE get_property(IDXCoreAdapter *object, uint32_t property,
					      size_t size, void *out)
{
	const void *value = NULL;
	size_t available = find((const struct adapter *)object, property, &value);
	if (available == 0 || size < available)
		return E_INVALIDARG;
	memset(out, 0, size);
	memcpy(out, value, property == DXCORE_INSTANCE_LUID ? sizeof(uint32_t) : available);
	return S_OK;
}

static const struct IDXCoreAdapterVtbl adapter_methods = {
	.QueryInterface = adapter_query,
	.AddRef = adapter_count,
	.Release = adapter_count,
	.IsAttributeSupported = is_attribute,
	.IsPropertySupported = is_property,
	.GetProperty = get_property,
	.GetPropertySize = get_size,
};

static struct adapter adapters[] = {
	{{&adapter_methods},
	 "Card \xe2\x84\xa2",
	 0x1001,
	 D3D11 | D3D12 | CORE | GPU,
	 {0x10de, 0x1eb8, 0x12a210de, 0xa1},
	 16ull << 30,
	 1},
	{{&adapter_methods},
	 "Accelerator",
	 0x1002,
	 CORE | ACCELERATOR,
	 {0x8086, 0x7d1d, 0, 4},
	 0,
	 1},
	{{&adapter_methods},
	 "Microsoft Basic Render Driver",
	 0x1003,
	 D3D11 | D3D12 | CORE,
	 {0x1414, 0x8c, 0, 0},
	 0,
	 0},
};

static struct adapter *nth(unsigned attribute, uint32_t index)
{
	for (size_t i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++)
		if ((adapters[i].attributes >> attribute & 1u) != 0 && index-- == 0)
			return &adapters[i];
	return NULL;
}

static HRESULT STDMETHODCALLTYPE get_adapter(IDXCoreAdapterList *object, uint32_t index, REFIID id,
					     void **out)
{
	(void)id;
	*out = nth(((const struct list *)object)->attribute, index);
	return *out != NULL ? S_OK : E_INVALIDARG;
}

static uint32_t STDMETHODCALLTYPE get_count(IDXCoreAdapterList *object)
{
	uint32_t count = 0;
	while (nth(((const struct list *)object)->attribute, count) != NULL)
		count++;
	return count;
}

static const struct IDXCoreAdapterListVtbl list_methods = {
	.QueryInterface = list_query,
	.AddRef = list_count,
	.Release = list_count,
	.GetAdapter = get_adapter,
	.GetAdapterCount = get_count,
};

static bool has_word(const char *word)
{
	const char *words = getenv("GPUCERT_DOUBLE");
	return words != NULL && strcmp(words, word) == 0;
}

static HRESULT STDMETHODCALLTYPE create_list(IDXCoreAdapterFactory *object, uint32_t count,
					     const GUID *attribute, REFIID id, void **out)
{
	static struct list lists[DXCORE_ATTRIBUTE_COUNT];
	(void)object;
	if (has_word("lists") || count != 1 || memcmp(id, &dxcore_iid_list, sizeof(*id)) != 0)
		return (HRESULT)0x887A0005;
	for (unsigned i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++) {
		if (memcmp(&dxcore_attributes[i].guid, attribute, sizeof(*attribute)) != 0)
			continue;
		lists[i] = (struct list){.object = {&list_methods}, .attribute = i};
		*out = &lists[i];
		return S_OK;
	}
	return E_INVALIDARG;
}

static const struct IDXCoreAdapterFactoryVtbl factory_methods = {
	.QueryInterface = factory_query,
	.AddRef = factory_count,
	.Release = factory_count,
	.CreateAdapterList = create_list,
};

__declspec(dllexport) HRESULT STDMETHODCALLTYPE DXCoreCreateAdapterFactory(REFIID id, void **out);

HRESULT STDMETHODCALLTYPE DXCoreCreateAdapterFactory(REFIID id, void **out)
{
	static IDXCoreAdapterFactory factory = {&factory_methods};
	if (has_word("stub") || memcmp(id, &dxcore_iid_factory, sizeof(*id)) != 0)
		return E_NOINTERFACE;
	*out = &factory;
	return S_OK;
}
