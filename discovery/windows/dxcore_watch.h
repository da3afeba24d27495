/* SPDX-License-Identifier: MIT */
#pragma once

/* DXCore's notifications: an adapter list became stale, an adapter is no longer valid. */

#include "base/error.h"
#include "base/windows/dxcore_abi.h"

struct dxcore_watch;

/* Sets `event`, which must outlive the watch, from a thread of DXCore's. Errors as
 * dxcore_factory_open(). */
int dxcore_watch_open(HANDLE event, struct dxcore_watch **out, struct error *err);

/* Has anything been told since the last call? What is stale is listed anew and watched again. */
bool dxcore_watch_changed(struct dxcore_watch *watch);

/* NULL is allowed. */
void dxcore_watch_close(struct dxcore_watch *watch);
