/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The facts of a node that decide whether an image works there, collected on this machine or read from
 * a file. An unknown fact is "" or 0 and never guessed.
 *
 * The file is JSON (schema containers/judging/compat/schema/host.schema.json), or a recorded node of
 * gpu-discovery, which lacks the facts that only the machine itself has (level of its processor, compute
 * capability of a GPU that no table names).
 */

#include "base/arena.h"
#include "containers/judging/compat/windows_builds.h"
#include "containers/registry/image.h"

#include <cjson/cJSON.h>

enum {
	HOST_GPUS_MAX = 1024,
	HOST_PCI_MAX = 4096,
	HOST_MODULES_MAX = 1024,
	HOST_TEXT_MAX = 256, /* bytes of a fact */
};

struct host_gpu {
	const char *vendor;	    /* "nvidia", "amd", "intel", "microsoft", "mesa" */
	const char *name;	    /* "NVIDIA H200" */
	const char *brand;	    /* as NVML reports it, in lower case: "tesla"; "": unknown */
	const char *driver;	    /* kernel module or Windows driver: "nvidia", "amdgpu" */
	const char *driver_version; /* "550.54.15"; WDDM: "31.0.15.5222"; a module of the kernel
				     * itself: the kernel's release */
	const char *compute_capability; /* "9.0"; "": not NVIDIA's, or unknown */
	const char *cuda_version;	/* the newest that the driver runs: "12.4" */
	const char *architecture;	/* "gfx1100" of AMD, "gen9" of Intel */
	const char *wddm;		/* "3.1": Windows */
};

/* A PCI device of any kind, by four digits each. */
struct host_pci {
	const char *class_code; /* class and subclass: "0302" */
	const char *vendor;	/* "10de" */
	const char *device;	/* "2335" */
};

/* Everything belongs to `arena`. */
struct host_facts {
	struct arena arena;
	const char *os;			/* "linux", "windows" */
	const char *architecture;	/* "amd64" */
	unsigned cpu_level;		/* of x86-64, 1 to 4; 0: unknown, or another architecture */
	const char *os_version;		/* Windows: "10.0.20348.2582" */
	struct windows_version windows; /* the same, parsed; zero without one */
	const char *windows_edition;	/* "server", "client" */
	const char *hcs_schema;	  /* newest of major version 2, from the machine's service: "2.5" */
	const char *kernel;	  /* "6.1.0-18-amd64" */
	const char *driver_glibc; /* the newest version that the host's driver files for containers
				     need: "2.34" */
	struct host_gpu *gpus;
	size_t gpu_count;
	/* Linux; none: unknown. */
	const char *const *modules; /* loaded ones, NULL-ended */
	struct host_pci *pci;
	size_t pci_count;
};

#define CLEANUP_HOST_FACTS __attribute__((cleanup(host_facts_free)))

void host_facts_free(struct host_facts *host);

/* The JSON of a host file. `out` is overwritten; free it after an error, too. ERROR_FORMAT names the
 * place. */
int host_facts_parse(const char *data, size_t size, struct host_facts *out, struct error *err);
int host_facts_from_json(const cJSON *document, struct host_facts *out, struct error *err);

/* A host file, or a recorded node. Errors name the path: those of file_read(), of
 * host_facts_parse() and of discovery_take(). */
int host_facts_read(const char *path, struct host_facts *out, struct error *err);

/* The host of an option --host: "local" is this machine, anything else a file. */
int host_facts_named(const char *name, struct host_facts *out, struct error *err);

/* In the form that host_facts_parse() reads. */
cJSON *host_facts_to_json(const struct host_facts *host);

struct discovery_options;
struct discovery_snapshot;

/* The facts of a snapshot; strings are copied. ERROR_FORMAT: not a Windows build. */
int host_facts_of_node(const struct discovery_snapshot *node, struct host_facts *out,
		       struct error *err);

/* The facts of this machine: from discovery (`where`: its folders, NULL for those of the live system),
 * its processor, AMD's /sys/class/kfd, the glibc that its driver files need, and on Windows its Host
 * Compute Service. Errors are those of discovery_take(). */
int host_facts_local(const struct discovery_options *where, struct host_facts *out,
		     struct error *err);

/* The platform of this machine's images, without its version; strings are the arena's. Errors of
 * os_version_read(). */
int host_platform(struct arena *arena, struct image_platform *out, struct error *err);

/* "amd64" for "x86_64", "arm64" for "aarch64": the names in images; others are returned as they are. */
const char *host_architecture(const char *machine);
