/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Device discovery: the GPUs of a node, the software drivers that can replace one, and what a container
 * needs to use each of them.
 *
 * A snapshot is immutable once taken and may be read from several threads. Every pointer in it
 * belongs to it. Strings are UTF-8 and never NULL: "" means unknown. The
 * comments of numbers state the value that means unknown.
 *
 * The same structure is taken from the live node or read from a recorded one (JSON), so everything
 * up to the launch of a container can be replayed elsewhere.
 */

#include <gpucert/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define DISCOVERY_API
#else
#define DISCOVERY_API __attribute__((visibility("default")))
#endif

enum discovery_kind {
	DISCOVERY_DISPLAY,  /* hardware that renders (WDDM; a display controller's render node) */
	DISCOVERY_COMPUTE,  /* hardware that only computes (MCDM; 3D controllers without display) */
	DISCOVERY_SOFTWARE, /* a software implementation of a GPU API */
	DISCOVERY_VIRTUAL,  /* a hypervisor's GPU with a kernel driver (virtio-gpu) */
};

enum discovery_health { DISCOVERY_HEALTHY, DISCOVERY_UNHEALTHY };

enum { DISCOVERY_UNKNOWN = -1 };

/* A file or directory that a container needs at `destination`, read-only. */
struct discovery_file {
	const char *source;	 /* absolute path on the node, without discovery_options.root */
	const char *destination; /* absolute path in the container */
	unsigned bits;		 /* 64 or 32; 0 for files without word size (manifests, data) */
	bool directory;
	const char *origin; /* rule that named it: "vulkan-icd", "needed-library",
			       "CopyToVmOverwrite", ... */
};

/* A device node that a container needs. */
struct discovery_node {
	const char *path; /* on the node: "/dev/dri/renderD128" */
	const char *container_path;
	const char *permissions; /* cgroup letters: "rw" */
};

struct discovery_variable {
	const char *name;
	const char *value;
};

struct discovery_device {
	const char *id; /* stable over reboots: PCI address, PnP instance, or software driver name;
			 at most 55 bytes of [A-Za-z0-9._:-], so that replica suffixes fit in 63 */
	size_t index;	/* position in the snapshot */
	enum discovery_kind kind;
	const char *vendor;	  /* "NVIDIA", "Mesa", "PoCL", or the PCI id as "0x1a03" */
	const char *manufacturer; /* as the system reports it: "Advanced Micro Devices, Inc." */
	const char *description;  /* "Tesla T4", "llvmpipe (Mesa lavapipe)" */
	int32_t pci_vendor, pci_device, pci_subsystem_vendor, pci_subsystem_device,
		pci_revision;	 /* or DISCOVERY_UNKNOWN */
	const char *pci_address; /* "0000:03:00.0"; partitions have that of their GPU */
	const char *
		uuid; /* NVIDIA: "GPU-1fbb6a07-...", by which variables and CDI names refer to it */
	const char *location_path;	   /* Windows: "PCIROOT(0)#PCI(1B00)", the one of PCI */
	const char *const *location_paths; /* Windows: all of them, NULL-ended */
	int64_t luid;			   /* Windows adapter LUID; 0 is unknown */
	const char *pnp_instance_id;	   /* Windows */
	const char *driver_name;	   /* kernel driver ("amdgpu", "nvidia") or software driver
					      ("lavapipe", "pocl") */
	const char *driver_version;
	const char *driver_key;	       /* Windows registry key */
	const char *user_mode_driver;  /* Linux: "Mesa 24.0.9", as installed on the node */
	const char *driver_date;       /* Windows: "2024-03-01" */
	const char *driver_inf;	       /* Windows: "oem12.inf" */
	const char *driver_store_path; /* Windows */
	int64_t dedicated_memory, shared_memory; /* bytes; DISCOVERY_UNKNOWN */
	const char *const *attributes; /* Windows, NULL-ended: "d3d11-graphics", "d3d12-graphics",
					  "d3d12-core-compute", "d3d12-generic-ml",
					  "d3d12-generic-media", "hardware-gpu",
					  "hardware-compute-accelerator", "hardware-npu",
					  "hardware-media-accelerator" */
	bool integrated, detachable;
	bool allocatable; /* it can be granted to a container */
	const char *not_allocatable_reason;
	bool display;	   /* can render or present: belongs to the display resource */
	bool compute;	   /* can compute */
	int32_t numa_node; /* DISCOVERY_UNKNOWN when the node has none */
	enum discovery_health health;
	const char *health_reason;
	const char *const
		*apis; /* NULL-ended: "vulkan", "opencl", "opengl", "cuda", "nvml", "directx"
				    that the files or nodes below enable in a container */
	const struct discovery_file *files;
	size_t file_count;
	const struct discovery_node *nodes;
	size_t node_count;
	const struct discovery_variable *environment; /* VK_DRIVER_FILES, OCL_ICD_VENDORS */
	size_t variable_count;
};

/* Something that could not be turned into a device, or only in part. */
struct discovery_diagnostic {
	const char *place; /* path, key or device */
	const char *message;
};

struct discovery_system {
	const char *os;		  /* "linux", "windows" */
	const char *product;	  /* "Debian GNU/Linux 12 (bookworm)", "Windows 11 Pro" */
	const char *version;	  /* "12", "21H2" */
	const char *build;	  /* kernel release, or Windows build "20348.1547" */
	const char *kernel_build; /* Linux: "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)" */
	const char *architecture; /* "x86_64" */
	const char
		*enumerator;  /* Windows: the API that listed the adapters, "dxcore" or "d3dkmt" */
	const char *emulator; /* "Wine 10.0"; "" on a real system */
};

struct discovery_snapshot {
	struct discovery_system system;
	bool recorded; /* read from a recorded node: device nodes and files need not exist here */
	const char *recorded_at;		/* UTC, RFC 3339; "" on the live node */
	const struct discovery_device *devices; /* hardware, then software, each by id */
	size_t device_count;
	const struct discovery_diagnostic *diagnostics;
	size_t diagnostic_count;
};

/* Which devices a snapshot holds. A zeroed filter admits every device except integrated and
 * detachable ones. */
struct discovery_filter {
	bool display_only; /* devices with display */
	bool compute_only; /* devices without display */
	bool include_integrated;
	bool include_detachable;
	bool exclude_software;
	const char *const *vendors; /* NULL-ended, any of: names or PCI ids; NULL: all */
	const char *const *ids;	    /* NULL-ended, any of; NULL: all */
	const char *const *apis;    /* NULL-ended, all of which a device offers; NULL: any */
};

/* Where to discover. A NULL member means the live system's place. Paths in a snapshot are those that the
 * node itself uses: `root` is left out of them, so that a program in a container that sees the node's
 * root at /host can pass them to the node's kubelet. */
struct discovery_options {
	const char *recorded_node; /* JSON file; of the members below only the filter applies */
	const char *root;	   /* prefix for every path below: "/" */
	const char *sysfs;	   /* "/sys" */
	const char *proc;	   /* "/proc" */
	const char *dev;	   /* "/dev" */
	const char *const *vulkan_icd_directories; /* NULL-ended; the loader's search path */
	const char *const *egl_vendor_directories; /* NULL-ended; the loader's search path */
	const char *opencl_vendors;		   /* "/etc/OpenCL/vendors" */
	struct discovery_filter filter;
};

/* Takes a snapshot. A broken device is left out, or described in part, and becomes a diagnostic.
 * `options` may be NULL. Errors: GPUCERT_ERROR_FORMAT (recorded node; names the place),
 * GPUCERT_ERROR_NOT_FOUND, GPUCERT_ERROR_IO, GPUCERT_ERROR_MEMORY, GPUCERT_ERROR_UNSUPPORTED (a
 * root on Windows, where only the live system can be discovered; the other places apply only to Linux). Free with discovery_free(). */
DISCOVERY_API int discovery_take(const struct discovery_options *options,
				 struct discovery_snapshot **out, struct error *err);
DISCOVERY_API void discovery_free(struct discovery_snapshot *snapshot); /* NULL is allowed */

/* NULL when there is none. */
DISCOVERY_API const struct discovery_device *
discovery_find(const struct discovery_snapshot *snapshot, const char *id);

DISCOVERY_API const char *discovery_kind_name(enum discovery_kind kind);       /* "display" */
DISCOVERY_API const char *discovery_health_name(enum discovery_health health); /* "healthy" */

/* The snapshot as JSON in the form that discovery_take() reads as a recorded node (schema
 * discovery/schema/node.schema.json). NULL: out of memory. Caller frees with
 * discovery_string_free(). */
DISCOVERY_API char *discovery_to_json(const struct discovery_snapshot *snapshot);
DISCOVERY_API void discovery_string_free(char *string);

/* "0.1.0" */
DISCOVERY_API const char *discovery_version(void);

/*
 * Watching for change. The watch owns an object that becomes ready when something may have changed
 * and, because not every system reports every change, every `poll_ms` (0: never). On Linux it is a
 * descriptor that becomes readable (kernel uevents, changes in the driver directories and in /dev,
 * or a recorded node's file), on Windows the HANDLE of an event that becomes signalled (DXCore's
 * notifications, or the file's folder). discovery_watch_changed() then drains it and returns
 * whether a new snapshot should be taken, which discovery_changes() compares with the old one. A watch belongs to one thread.
 */
struct discovery_watch;
DISCOVERY_API int discovery_watch_open(const struct discovery_options *options, unsigned poll_ms,
				       struct discovery_watch **out, struct error *err);
DISCOVERY_API intptr_t discovery_watch_handle(const struct discovery_watch *watch);
DISCOVERY_API bool discovery_watch_changed(struct discovery_watch *watch);
DISCOVERY_API void discovery_watch_close(struct discovery_watch *watch);

enum discovery_change { DISCOVERY_ADDED, DISCOVERY_REMOVED, DISCOVERY_CHANGED };
DISCOVERY_API const char *discovery_change_name(enum discovery_change change);

/* Calls `each` for every device that differs between two snapshots (by id). Returns how many. */
DISCOVERY_API size_t discovery_changes(const struct discovery_snapshot *before,
				       const struct discovery_snapshot *after,
				       void (*each)(enum discovery_change change,
						    const struct discovery_device *device,
						    void *user),
				       void *user);

#ifdef __cplusplus
}
#endif
