/* SPDX-License-Identifier: MIT */
#pragma once

/* What is planted into the registry of the Wine node: a .reg file. Wine lists the displays anew
 * whenever it starts and empties the class keys then, so the file is imported at each start
 * (wine-run --registry).
 */

#include "base/error.h"

/* The driver store folder of the node's driver, below
 * C:\Windows\System32\DriverStore\FileRepository. */
#define WINE_DRIVER_STORE "gpucert_wine.inf_amd64_5f1c0d2e3a4b6978"
#define WINE_DRIVER_INF	  "oem1.inf"

/* One file of the driver: where it comes from in the root, where it lies in the driver store, and
 * the value that says where a container wants it. */
struct wine_driver_file {
	const char *source;	 /* in the root */
	const char *store_name;	 /* below the driver store folder, with '/' */
	const char *key;	 /* "CopyToVmOverwrite" */
	const char *value;	 /* name of the registry value */
	const char *destination; /* bare name; NULL: a REG_SZ without one */
};

extern const struct wine_driver_file wine_driver_files[];
extern const unsigned wine_driver_file_count;

/* Writes the .reg file. */
int wine_registry_write(const char *path, struct error *err);
