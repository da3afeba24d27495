/* SPDX-License-Identifier: MIT */
#pragma once

/* The driver store folder of a driver, found by its INF where D3DKMT does not tell it. */

#include "base/error.h"

/*
 * `inf` is the driver key's InfPath ("oem4.inf"), `windows` the Windows folder. Asks SetupAPI
 * (SetupGetInfDriverStoreLocation), and else looks for the folder of the driver store whose INF is
 * that file, byte by byte. ERROR_NOT_FOUND says what is missing. Caller frees *out.
 */
int inf_store_path(const char *inf, const char *windows, char **out, struct error *err);
