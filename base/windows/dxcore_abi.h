/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The binary interface of DXCore for C: Microsoft's header is C++ only. Order of the methods, GUIDs
 * and numbers are those of dxcore_interface.h (DirectX-Headers). bool is one byte; references are
 * pointers. discovery/tests/windows verifies the layout.
 */

#include <stdbool.h>
#include <stdint.h>
#include <windows.h>

#include <unknwn.h>

typedef struct IDXCoreAdapterFactory IDXCoreAdapterFactory;
typedef struct IDXCoreAdapterList IDXCoreAdapterList;
typedef struct IDXCoreAdapter IDXCoreAdapter;

enum dxcore_property {
	DXCORE_INSTANCE_LUID = 0,	     /* LUID */
	DXCORE_DRIVER_VERSION = 1,	     /* uint64_t */
	DXCORE_DRIVER_DESCRIPTION = 2,	     /* UTF-8 */
	DXCORE_HARDWARE_ID = 3,		     /* struct dxcore_hardware_id */
	DXCORE_DEDICATED_ADAPTER_MEMORY = 7, /* uint64_t */
	DXCORE_DEDICATED_SYSTEM_MEMORY = 8,  /* uint64_t */
	DXCORE_SHARED_SYSTEM_MEMORY = 9,     /* uint64_t */
	DXCORE_IS_HARDWARE = 11,	     /* bool */
	DXCORE_IS_INTEGRATED = 12,	     /* bool */
	DXCORE_IS_DETACHABLE = 13,	     /* bool */
	DXCORE_HARDWARE_ID_PARTS = 14,	     /* struct dxcore_hardware_id_parts; newer systems */
};

struct dxcore_hardware_id {
	uint32_t vendor, device, subsystem, revision;
};

struct dxcore_hardware_id_parts {
	uint32_t vendor, device, subsystem, subsystem_vendor, revision;
};

enum dxcore_notification {
	DXCORE_ADAPTER_LIST_STALE = 0,
	DXCORE_ADAPTER_NO_LONGER_VALID = 1,
};

typedef void(STDMETHODCALLTYPE *dxcore_callback)(uint32_t notification, void *object,
						 void *context);

typedef struct IDXCoreAdapterVtbl {
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(IDXCoreAdapter *, REFIID, void **);
	ULONG(STDMETHODCALLTYPE *AddRef)(IDXCoreAdapter *);
	ULONG(STDMETHODCALLTYPE *Release)(IDXCoreAdapter *);
	bool(STDMETHODCALLTYPE *IsValid)(IDXCoreAdapter *);
	bool(STDMETHODCALLTYPE *IsAttributeSupported)(IDXCoreAdapter *, REFGUID);
	bool(STDMETHODCALLTYPE *IsPropertySupported)(IDXCoreAdapter *, uint32_t);
	HRESULT(STDMETHODCALLTYPE *GetProperty)(IDXCoreAdapter *, uint32_t, size_t, void *);
	HRESULT(STDMETHODCALLTYPE *GetPropertySize)(IDXCoreAdapter *, uint32_t, size_t *);
	bool(STDMETHODCALLTYPE *IsQueryStateSupported)(IDXCoreAdapter *, uint32_t);
	HRESULT(STDMETHODCALLTYPE *QueryState)
	(IDXCoreAdapter *, uint32_t, size_t, const void *, size_t, void *);
	bool(STDMETHODCALLTYPE *IsSetStateSupported)(IDXCoreAdapter *, uint32_t);
	HRESULT(STDMETHODCALLTYPE *SetState)
	(IDXCoreAdapter *, uint32_t, size_t, const void *, size_t, const void *);
	HRESULT(STDMETHODCALLTYPE *GetFactory)(IDXCoreAdapter *, REFIID, void **);
} IDXCoreAdapterVtbl;

struct IDXCoreAdapter {
	const IDXCoreAdapterVtbl *lpVtbl;
};

typedef struct IDXCoreAdapterListVtbl {
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(IDXCoreAdapterList *, REFIID, void **);
	ULONG(STDMETHODCALLTYPE *AddRef)(IDXCoreAdapterList *);
	ULONG(STDMETHODCALLTYPE *Release)(IDXCoreAdapterList *);
	HRESULT(STDMETHODCALLTYPE *GetAdapter)(IDXCoreAdapterList *, uint32_t, REFIID, void **);
	uint32_t(STDMETHODCALLTYPE *GetAdapterCount)(IDXCoreAdapterList *);
	bool(STDMETHODCALLTYPE *IsStale)(IDXCoreAdapterList *);
	HRESULT(STDMETHODCALLTYPE *GetFactory)(IDXCoreAdapterList *, REFIID, void **);
	HRESULT(STDMETHODCALLTYPE *Sort)(IDXCoreAdapterList *, uint32_t, const uint32_t *);
	bool(STDMETHODCALLTYPE *IsAdapterPreferenceSupported)(IDXCoreAdapterList *, uint32_t);
} IDXCoreAdapterListVtbl;

struct IDXCoreAdapterList {
	const IDXCoreAdapterListVtbl *lpVtbl;
};

typedef struct IDXCoreAdapterFactoryVtbl {
	HRESULT(STDMETHODCALLTYPE *QueryInterface)(IDXCoreAdapterFactory *, REFIID, void **);
	ULONG(STDMETHODCALLTYPE *AddRef)(IDXCoreAdapterFactory *);
	ULONG(STDMETHODCALLTYPE *Release)(IDXCoreAdapterFactory *);
	HRESULT(STDMETHODCALLTYPE *CreateAdapterList)
	(IDXCoreAdapterFactory *, uint32_t, const GUID *, REFIID, void **);
	HRESULT(STDMETHODCALLTYPE *GetAdapterByLuid)
	(IDXCoreAdapterFactory *, const LUID *, REFIID, void **);
	bool(STDMETHODCALLTYPE *IsNotificationTypeSupported)(IDXCoreAdapterFactory *, uint32_t);
	HRESULT(STDMETHODCALLTYPE *RegisterEventNotification)
	(IDXCoreAdapterFactory *, void *, uint32_t, dxcore_callback, void *, uint32_t *);
	HRESULT(STDMETHODCALLTYPE *UnregisterEventNotification)(IDXCoreAdapterFactory *, uint32_t);
} IDXCoreAdapterFactoryVtbl;

struct IDXCoreAdapterFactory {
	const IDXCoreAdapterFactoryVtbl *lpVtbl;
};

typedef HRESULT(STDMETHODCALLTYPE *dxcore_create_factory)(REFIID, void **);

extern const GUID dxcore_iid_factory, dxcore_iid_list, dxcore_iid_adapter;

/* What an adapter is for, and what it is. */
struct dxcore_attribute {
	GUID guid;
	const char *name; /* "d3d12-core-compute" */
};

enum { DXCORE_ATTRIBUTE_COUNT = 9 };

/* Adapters are listed by the first ones, up to "d3d12-generic-media". */
extern const struct dxcore_attribute dxcore_attributes[DXCORE_ATTRIBUTE_COUNT];
