/* SPDX-License-Identifier: MIT */
#pragma once

/* What the calls of DirectX return. Source: winerror.h and dxgi.h of the Windows SDK. */

#include "base/error.h"
#include "workloads/common/work.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	HRESULT_DXGI_NOT_FOUND = (int32_t)0x887A0002,
	HRESULT_DXGI_UNSUPPORTED = (int32_t)0x887A0004,
	HRESULT_DXGI_DEVICE_REMOVED = (int32_t)0x887A0005,
	HRESULT_DXGI_WAS_STILL_DRAWING = (int32_t)0x887A000A,
};

/* "DXGI_ERROR_DEVICE_REMOVED"; NULL for a code that is not known. */
const char *hresult_name(int32_t result);

/* The device is gone, and the runtime has a reason to tell. */
bool hresult_is_removal(int32_t result);

/* 0 when the call succeeded; otherwise keeps call and code in `failure` (NULL: nowhere) and returns ERROR_REMOTE,
 * or ERROR_UNSUPPORTED for what the device or the system does not offer. */
int hresult_check(int32_t result, const char *call, struct call_failure *failure,
		  struct error *err);

/* Adds why the device was removed to an error of hresult_check(). */
void hresult_add_removal(int32_t reason, struct error *err);
