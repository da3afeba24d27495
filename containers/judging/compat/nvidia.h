/* SPDX-License-Identifier: MIT */
#pragma once

/* Tables that NVIDIA publishes about its drivers, toolkits and devices. */

#include <stdbool.h>
#include <stddef.h>

/* A release of the CUDA toolkit and the oldest driver that runs all of it. */
struct cuda_release {
	const char *minor;	    /* "12.4" */
	const char *release;	    /* "12.4.1", which NVIDIA also calls 12.4 Update 1 */
	const char *linux_driver;   /* "550.54.15" */
	const char *windows_driver; /* "551.78"; "": the toolkit brings no driver any more */
};

#define CUDA_RELEASES_SOURCE                                                                       \
	"NVIDIA, CUDA Toolkit Release Notes, table of toolkits and their minimum drivers, as of "  \
	"2026-11"

/* All rows, the oldest first. */
const struct cuda_release *cuda_releases(size_t *count);

/* The newest row of the toolkit's minor release that is not newer than the toolkit, or the oldest row
 * if all are newer. NULL: the table has no such minor release. */
const struct cuda_release *cuda_release_find(const char *toolkit);

/* The driver from which a toolkit of this major release runs with minor-version compatibility:
 * programs must contain machine code for the device, since the driver does not translate newer PTX. NULL:
 * the major release has none, or is unknown. */
const char *cuda_minor_compatibility(unsigned major, bool windows);

/* The CUDA release that a driver runs: at least *least ("12.4"; "": older than the table) and below
 * *below. *below NULL: exactly *least, the driver's branch is that of a toolkit; "": no upper limit, the
 * driver is newer than the table. */
void cuda_of_driver(const char *driver, bool windows, const char **least, const char **below);

/* NVIDIA's own version of a Windows driver: "552.22" of "31.0.15.5222"; the same text when it does not have
 * that form. `out` has room for NVIDIA_DRIVER_SIZE. */
enum { NVIDIA_DRIVER_SIZE = 32 };
const char *nvidia_driver_of_windows(const char *version, char out[NVIDIA_DRIVER_SIZE]);

enum nvidia_forward { NVIDIA_FORWARD_NO, NVIDIA_FORWARD_SELECTED, NVIDIA_FORWARD_YES };

/* A family of devices by name. */
struct nvidia_model {
	const char *name; /* glob, without "NVIDIA " in front */
	const char *compute_capability;
	const char *brand;	     /* as NVML reports it; "": drivers differ */
	enum nvidia_forward forward; /* supports the forward-compatibility package */
};

#define NVIDIA_MODELS_SOURCE "NVIDIA, CUDA GPU Compute Capability, as of 2026-11"

/* NULL: no row. */
const struct nvidia_model *nvidia_model_find(const char *name);

/* The *oldest and *newest compute capability ("9.0") that a toolkit's compiler and libraries know; "":
 * not in the table. */
void cuda_capabilities(const char *toolkit, const char **oldest, const char **newest);
