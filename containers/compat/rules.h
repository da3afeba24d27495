/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The rules of what runs where: each is a pure function of an image, a host and how the container is
 * to be started, and a row of one table, from which lists and documents come.
 */

#include "containers/compat/answer.h"
#include "containers/compat/host.h"
#include "containers/contents/contents.h"
#include "containers/registry/image.h"

/* Whose rule for picking a Windows image applies. */
enum compat_runtime {
	COMPAT_RUNTIME_ANY,   /* not told: where they differ, the answer is not known */
	COMPAT_CONTAINERD_17, /* 1.6 and 1.7 */
	COMPAT_CONTAINERD_20, /* 2.0 and 2.1 */
	COMPAT_CONTAINERD_2X, /* later ones */
	COMPAT_DOCKER,
};

extern const char *const compat_runtime_names[]; /* "any", "containerd-1.7" ..., NULL-ended */

enum compat_isolation { COMPAT_PROCESS_ISOLATION, COMPAT_HYPERV_ISOLATION };

extern const char *const compat_isolation_names[]; /* "process", "hyperv", NULL-ended */

/* What the container uses the GPU for. */
enum compat_api { COMPAT_API_ANY, COMPAT_API_DIRECTX, COMPAT_API_CUDA, COMPAT_API_OTHER };

extern const char *const compat_api_names[]; /* "any", "directx", "cuda", "other", NULL-ended */

struct compat_options {
	enum compat_runtime runtime;
	enum compat_isolation isolation; /* Windows */
	enum compat_api api;		 /* ANY: what the image's own variables tell */
	const char *device;		 /* as a device plugin gives it to the runtime, Windows:
			       "vpci-location-path://PCIROOT(0)#PCI(0300)"; NULL: not told */
};

struct compat_case;

/* What does not work when a rule says so of one launch (launch.h). */
enum compat_scope {
	COMPAT_NO_LAUNCH,  /* it tells nothing of a launch */
	COMPAT_OF_PROGRAM, /* the program that is launched */
	COMPAT_OF_DEVICE,  /* each API of a device that the container is given */
};

struct compat_rule {
	const char *id;	    /* stays */
	const char *says;   /* one sentence */
	const char *advice; /* what to do when it does not work */
	const char *source; /* where that is written, or was read */
	void (*apply)(struct compat_case *it);
	const char *os; /* hosts that it is about: "linux"; NULL: all */
	const char *
		vendor; /* GPUs that it is asked about, one after the other: "nvidia", "" for those of all
			       vendors; NULL: it is asked once. Where one fits and another does not, it depends
			       on which one the container is given: what cannot work with a GPU is UNKNOWN */
	enum compat_scope scope;
	const char *symptoms[3]; /* what a launch says that fails for this, NULL-ended */
};

/* Of a launch that lacks a driver which only the image can bring: no fault of what grants the device. */
#define COMPAT_IMAGE_DRIVER "linux.image-driver"

/* All of them. */
const struct compat_rule *compat_rules(size_t *count);

/*
 * Applies every rule; one that does not apply to this image and host finds nothing. `contents` NULL:
 * the layers were not read, and rules about them find nothing. `answer` is zeroed by the caller.
 * ERROR_MEMORY.
 */
int compat_check(const struct image *image, const struct image_contents *contents,
		 const struct host_facts *host, const struct compat_options *options,
		 struct compat_answer *answer, struct error *err);

/*
 * Which entry of an index a host's runtime takes: among those that fit, the newest os.version, by
 * number, and the highest processor level that the host has. NULL: there is none; then `answer` (may be
 * NULL) has findings of the rule "platform.no-match", the first of which says what to do, also on a
 * host that builds, and the others why each entry does not fit.
 */
const struct image_index_entry *compat_select(const struct image_index *index,
					      const struct host_facts *host,
					      const struct compat_options *options,
					      struct compat_answer *answer);

/* compat_select()'s own row, which compat_rules() does not have. */
extern const struct compat_rule compat_no_match;
