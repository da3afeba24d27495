/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The rules of what runs where. Each is a pure function of an image, a host and the options of the
 * start, and a row of one table, from which lists and documents are generated.
 */

#include "containers/judging/compat/answer.h"
#include "containers/judging/compat/host.h"
#include "containers/judging/contents/contents.h"
#include "containers/registry/image.h"

/* Whose rule for picking a Windows image applies. */
enum compat_runtime {
	COMPAT_RUNTIME_ANY,   /* unspecified: where they differ, the answer is unknown */
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
	enum compat_api api;		 /* ANY: from the image's own variables */
	const char *device;		 /* as device plugins name it to the runtime, Windows:
			       "vpci-location-path://PCIROOT(0)#PCI(0300)"; NULL: unspecified */
};

struct compat_case;

/* What fails in one launch (launch.h) when a rule predicts failure. */
enum compat_scope {
	COMPAT_NO_LAUNCH,  /* nothing: the rule does not apply to launches */
	COMPAT_OF_PROGRAM, /* the program that is launched */
	COMPAT_OF_DEVICE,  /* each API of a device of the container */
};

struct compat_rule {
	const char *id;	    /* permanent */
	const char *says;   /* one sentence */
	const char *advice; /* what to do when it does not work */
	const char *source; /* where the rule is documented */
	void (*apply)(struct compat_case *it);
	const char *os; /* hosts that it applies to: "linux"; NULL: all */
	const char *
		vendor; /* it is applied to each GPU of this vendor: "nvidia", "" for all vendors; NULL: it is
			       applied once. When one GPU fits and another does not, the outcome depends on
			       which one the container gets: CANNOT_WORK becomes UNKNOWN */
	enum compat_scope scope;
	const char *symptoms[3]; /* texts of a launch that fails for this reason, NULL-ended */
};

/* A launch lacks a driver that only the image can have: not the fault of the device plugin. */
#define COMPAT_IMAGE_DRIVER "linux.image-driver"

/* All of them. */
const struct compat_rule *compat_rules(size_t *count);

/*
 * Applies every rule; rules that do not apply to this image and host find nothing. `contents` NULL:
 * the layers were not read, and rules about them find nothing. `answer` is zeroed by the caller.
 */
void compat_check(const struct image *image, const struct image_contents *contents,
		  const struct host_facts *host, const struct compat_options *options,
		  struct compat_answer *answer);

/*
 * The entry of an index that a host's runtime selects: among those that fit, the newest os.version, by
 * number, and the highest processor level that the host has. NULL: none; then `answer` (may be NULL) has
 * findings of the rule "platform.no-match": the first says what to do, also on a host that builds, and
 * the others why each entry does not fit.
 */
const struct image_index_entry *compat_select(const struct image_index *index,
					      const struct host_facts *host,
					      const struct compat_options *options,
					      struct compat_answer *answer);

/* compat_select()'s own row, which compat_rules() does not have. */
extern const struct compat_rule compat_no_match;
