/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The binary interface of DXCore for C, as far as the probe calls it: Microsoft's header is C++
 * alone. Order of methods, GUIDs and numbers are those of dxcore_interface.h (DirectX-Headers).
 * bool is one byte; references are pointers. Methods that are not called are void *: their place
 * counts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <windows.h>

#include <unknwn.h>

typedef struct IDXCoreAdapterFactory IDXCoreAdapterFactory;
typedef struct IDXCoreAdapterList IDXCoreAdapterList;
typedef struct IDXCoreAdapter IDXCoreAdapter;

enum dxcore_property {
	DXCORE_INSTANCE_LUID = 0,	     /* LUID */
	DXCORE_DRIVER_VERSION = 1,	     /* uint64_t: four times 16 bits */
	DXCORE_DRIVER_DESCRIPTION = 2,	     /* UTF-8 */
	DXCORE_HARDWARE_ID = 3,		     /* struct dxcore_hardware_id */
	DXCORE_DEDICATED_ADAPTER_MEMORY = 7, /* uint64_t */
	DXCORE_IS_HARDWARE = 11,	     /* bool */
	DXCORE_IS_INTEGRATED = 12,	     /* bool */
};

struct dxcore_hardware_id {
	uint32_t vendor, device, subsystem, revision;
};

#define DXCORE_UNKNOWN(interface)                                                                  \
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(interface *, REFIID, void **);                  \
	ULONG(STDMETHODCALLTYPE *AddRef)(interface *);                                             \
	ULONG(STDMETHODCALLTYPE *Release)(interface *)

struct IDXCoreAdapter {
	const struct IDXCoreAdapterVtbl {
		DXCORE_UNKNOWN(IDXCoreAdapter);
		void *IsValid;
		bool(STDMETHODCALLTYPE *IsAttributeSupported)(IDXCoreAdapter *, REFGUID);
		bool(STDMETHODCALLTYPE *IsPropertySupported)(IDXCoreAdapter *, uint32_t);
		HRESULT(STDMETHODCALLTYPE *GetProperty)(IDXCoreAdapter *, uint32_t, size_t, void *);
		HRESULT(STDMETHODCALLTYPE *GetPropertySize)(IDXCoreAdapter *, uint32_t, size_t *);
		void *IsQueryStateSupported, *QueryState, *IsSetStateSupported, *SetState,
			*GetFactory;
	} * lpVtbl;
};

struct IDXCoreAdapterList {
	const struct IDXCoreAdapterListVtbl {
		DXCORE_UNKNOWN(IDXCoreAdapterList);
		HRESULT(STDMETHODCALLTYPE *GetAdapter)
		(IDXCoreAdapterList *, uint32_t, REFIID, void **);
		uint32_t(STDMETHODCALLTYPE *GetAdapterCount)(IDXCoreAdapterList *);
		void *IsStale, *GetFactory, *Sort, *IsAdapterPreferenceSupported;
	} * lpVtbl;
};

struct IDXCoreAdapterFactory {
	const struct IDXCoreAdapterFactoryVtbl {
		DXCORE_UNKNOWN(IDXCoreAdapterFactory);
		HRESULT(STDMETHODCALLTYPE *CreateAdapterList)
		(IDXCoreAdapterFactory *, uint32_t, const GUID *, REFIID, void **);
		void *GetAdapterByLuid, *IsNotificationTypeSupported, *RegisterEventNotification,
			*UnregisterEventNotification;
	} * lpVtbl;
};

typedef HRESULT(STDMETHODCALLTYPE *dxcore_create_factory)(REFIID, void **);

extern const GUID dxcore_iid_factory, dxcore_iid_list, dxcore_iid_adapter;

/* What an adapter is for, and what it is. The first DXCORE_LISTS are those by which adapters are
 * listed. */
struct dxcore_attribute {
	GUID guid;
	const char *name; /* "d3d12-core-compute" */
};

enum { DXCORE_LISTS = 5, DXCORE_ATTRIBUTES = 9 };

extern const struct dxcore_attribute dxcore_attributes[DXCORE_ATTRIBUTES];

enum { DXCORE_CORE_COMPUTE = 2 }; /* index of "d3d12-core-compute" */
