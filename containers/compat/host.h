/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What decides whether an image works on a node, asked of this machine or read from a file: a fact
 * that is not known is "" or 0 and never guessed.
 */

#include "base/arena.h"
#include "containers/compat/windows_builds.h"

struct host_gpu {
	const char *vendor;		/* "nvidia", "amd", "intel", "microsoft", "mesa" */
	const char *name;		/* "NVIDIA H200" */
	const char *driver;		/* kernel module or Windows driver: "nvidia", "amdgpu" */
	const char *driver_version;	/* "550.54.15"; of WDDM "31.0.15.5222" */
	const char *compute_capability; /* "9.0"; "": not NVIDIA's, or not known */
	const char *cuda_version;	/* the newest that the driver runs: "12.4" */
	const char *architecture;	/* "gfx1100": AMD */
	const char *wddm;		/* "3.1": Windows */
};

/* Everything belongs to `arena`. */
struct host_facts {
	struct arena arena;
	const char *os;		  /* "linux", "windows" */
	const char *architecture; /* "amd64" */
	unsigned cpu_level;	  /* of x86-64, 1 to 4; 0: not known, or another architecture */
	struct windows_version windows;
	const char *windows_edition; /* "server", "client" */
	const char *kernel;	     /* "6.1.0-18-amd64" */
	struct host_gpu *gpus;
	size_t gpu_count;
};

#define CLEANUP_HOST_FACTS __attribute__((cleanup(host_facts_free)))

void host_facts_free(struct host_facts *host);
