/* SPDX-License-Identifier: MIT */
#pragma once

/* The driver store folder of a driver, found by its INF where D3DKMT does not report it. */

#include "base/error.h"

/*
 * `inf` is the driver key's InfPath ("oem4.inf"), `windows` the Windows folder. Asks SetupAPI
 * (SetupGetInfDriverStoreLocation), or else finds the folder of the driver store whose INF is
 * identical to that file. ERROR_NOT_FOUND. Caller frees *out.
 */
int inf_store_path(const char *inf, const char *windows, char **out, struct error *err);
