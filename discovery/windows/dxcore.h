/* SPDX-License-Identifier: MIT */
#pragma once

/* DirectX adapters as DXCore lists them (Windows 10 2004 and later). */

#include "base/windows/dxcore_abi.h"
#include "discovery/windows/adapter.h"

enum { DXCORE_LIST_COUNT = 4 }; /* the first of dxcore_attributes, by which adapters are listed */

/* The factory. ERROR_UNSUPPORTED: DXCore is missing, or does not work (a stub). */
int dxcore_factory_open(IDXCoreAdapterFactory **out, struct error *err);

/* Lists adapters once for each attribute of interest; an adapter in several lists is one. An
 * adapter that cannot be read becomes a diagnostic. Errors as dxcore_factory_open(). */
int dxcore_list(struct adapters *adapters, struct error *err);

/* DXCore's notifications: an adapter list became stale, an adapter is no longer valid. */
struct dxcore_watch;

/* Sets `event`, which must outlive the watch, from a thread of DXCore's. Errors as
 * dxcore_factory_open(). */
int dxcore_watch_open(HANDLE event, struct dxcore_watch **out, struct error *err);

/* Was there a notification since the last call? Stale lists are renewed and watched again. */
bool dxcore_watch_changed(struct dxcore_watch *watch);

/* NULL is allowed. */
void dxcore_watch_close(struct dxcore_watch *watch);
