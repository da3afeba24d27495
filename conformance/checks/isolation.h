/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by the bodies of the suite isolation: the plugin, the inspection of containers, and the devices
 * that the plugin grants one by one. */

#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "conformance/checks/container_judge.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/visibility.h"

enum {
	TENANTS_MAX = 8,      /* devices; further ones are skipped, except for a pair */
	TENANT_WORDS_MAX = 8, /* of a probe's command, in addition to the common ones */
};

struct tenant {
	struct check_run *run;
	struct rig *rig;
	struct stage *stage;
	const struct discovery_device *device;
	struct offer offers[2]; /* one, or two of a device that has replicas */
	size_t count;
	const struct gpu_api *api; /* through which it works; NULL: not known yet, or none */
};

/* The ids to find: those of each device, or two that grant one device each. */
enum tenants_wanted { TENANTS_ALL, TENANTS_DIFFERENT, TENANTS_SAME };

struct isolation {
	struct check_run *run;
	struct rig *rig;
	struct stage *stage;
	size_t handler;		 /* which of the run's runtime handlers the stage is of */
	struct observation bare; /* a container without devices */
	cJSON *observations;	 /* kept for other checks (observations_get()) */
	struct tenant tenants[GRANTED_DEVICES_MAX];
	size_t count;
	enum tenants_wanted wanted;
	struct offer *pair[2]; /* of the tenants, NULL until both are found */
	size_t unreadable;     /* answers that cannot be read */
	size_t unseen;	       /* those whose container does not show a device either */
};

#define CLEANUP_ISOLATION __attribute__((cleanup(isolation_close)))

/* Starts plugin and runtime. `env`: for the plugin; may be NULL. False: recorded. */
bool isolation_open(struct isolation *isolation, struct check_run *run, const char *const *env);
void isolation_close(struct isolation *isolation);

/* Inspects a container with this grant. False: recorded. */
bool isolation_inspect(struct isolation *isolation, const char *label, const struct grant *grant,
		       struct observation *out);

/* Inspects a container without devices. False: recorded. */
bool isolation_inspect_bare(struct isolation *isolation);

/* Goes to the stage of the run's next runtime handler, from the first one's on. False: there is none, or
 * recorded. */
bool isolation_next_handler(struct isolation *isolation);

/* A container's name: "crun-bare" for any handler but the first. */
const char *isolation_label(const struct isolation *isolation, const char *label);

/* For an answer that cannot be read: inspects a container to learn the devices that the offer grants,
 * unless too many were inspected. False: it was not, or recorded. */
bool isolation_ask(struct isolation *isolation, struct offer *offer,
		   struct observation *observation);

/* With each of the run's runtime handlers, inspects a container without devices, and one of each device for
 * each different answer, within bounds, and keeps the results. `judges`: records violations. */
void isolation_inspect_each(struct isolation *isolation, bool judges);

/* Notes the runtime and its handlers, because the verdicts hold only for these. */
void isolation_note_runtime(struct check_run *run);

/*
 * The contents of containers with one device each, and of one without: by the document of
 * probe-visibility and from the host. Several checks judge the same containers: the first one keeps its
 * results in the run's folder (observations.json), and the others read them there:
 *
 *   [{"label": "bare", "handler": "runc" or null, "devices": [], "needsRuntime": false, "document": {},
 *     "container": {}}, ...]
 *
 * The first element of a handler is the container without devices. "devices" are ids of granted devices of the
 * node, "needsRuntime" says that a runtime may act on the answer, and "container", null where the host cannot
 * inspect it, is:
 *
 *   {"mounts": [{"path", "type", "hostPath", "readOnly", "shared", "granted", "sourceKnown"}],
 *    "nodes": [{"path", "type", "number"}], "nodesCut": null,
 *    "granted": [{"path", "type", "number", "access": "rwm", "allowed": "rw" or null}],
 *    "usable": [{"path", "type", "number", "access": "rw"}] or null, "usableUnknown": null,
 *    "deviceCgroups": [{"version": 2, "path", "rules": null, "unknown": null,
 *                       "programs": [{"tag", "instructions": 58}]}],
 *    "planted": 57, "plantedUnknown": null,
 *    "capabilities": 0, "seccomp": 2, "noNewPrivileges": true, "shared": ["pid"]}
 *
 * Covered mounts are left out. A mount is "granted" if it is one of the answer's, or below one; its source
 * is unknown where its file system may show files of another one. "nodesCut" is a folder that was not
 * searched for nodes to its end. "granted" are the device nodes of the answer: their letters, and those that
 * the device cgroup allows (null: not asked). "usable" are nodes of the host that the cgroup lets the
 * container use, and "planted" is the number of nodes made for it to try (containers/inspect/inspect.h).
 *
 * Reads them, or else inspects containers. NULL: recorded. Caller owns them.
 */
cJSON *observations_get(struct check_run *run);

/* Adds a container to those that an earlier check kept, if any. */
void observations_add_kept(struct check_run *run, const char *label,
			   const struct observation *observation, const struct granted *granted,
			   const struct grant *grant);

/* A container of observations_get(), the one without devices first, for the judge of a row. */
struct inspected {
	struct check_run *run;
	const cJSON *bare, *observation;
	const char *label;
	const cJSON *document;
	const cJSON *container; /* NULL: not inspected */
	const cJSON *tried;	/* NULL: nothing was tried in it */
	struct granted devices; /* granted to it */
	struct container_case one;
};

struct observation_judge {
	/* Returns how many things it judged. If that is 0 for all containers, the row is not
	 * applicable for the reason `none`, unless that is NULL. */
	size_t (*judge)(struct inspected *inspected);
	const char *none;
	bool from_the_host; /* it needs the host's inspection and the attempts in the container */
};

/* A body: the struct observation_judge of the row's param for each container. */
check_body isolation_each_observation;

/* isolation_nodes.c, isolation_reach.c */
extern const struct observation_judge isolation_device_nodes, isolation_device_access,
	isolation_apis_agree, isolation_management_apis, isolation_driver_files,
	isolation_host_paths;

/* "LABEL: what" */
const char *inspected_label(const struct inspected *inspected, const char *what);

/* The devices that the plugin grants one by one; `replicas`: with replicas of each, if the plugin is the
 * project's own. True: there is at least one device. False: recorded. */
bool tenants_open(struct isolation *isolation, struct check_run *run, bool replicas);

/* A pair of ids, and an inspected container without devices. False: recorded. */
bool tenants_open_pair(struct isolation *isolation, struct check_run *run,
		       enum tenants_wanted wanted);

/* Starts the probe of the device's API on an offer, with further words (NULL: none), and waits until it
 * is in the middle of its work. NULL: recorded; a probe that ends earlier fails the check, because
 * another one works there. */
struct probe *tenant_start_paused(struct tenant *tenant, size_t offer, const char *label,
				  const char *const *words);

/* Starts it without the wait; the caller judges a probe that ends earlier. */
struct probe *tenant_start_paused_or_not(struct tenant *tenant, size_t offer, const char *label);

/* Runs it to its end on the first offer. NULL: recorded. */
const cJSON *tenant_run(struct tenant *tenant, const char *label, const char *const *words);

/* The same through the first API that works on the device, which becomes the tenant's. NULL: recorded, as
 * unsupported if none works: api.* judges that. */
const cJSON *tenant_find_api(struct tenant *tenant, const char *label);

/* Records that the work of a document is verified. */
bool tenant_expect_work(const struct tenant *tenant, const char *what, const cJSON *document);

/* Does a processor do its work: a software device's, or the host's of a virtual GPU. */
bool tenant_is_on_processor(const struct discovery_device *device);

/* "DEVICE: what" */
const char *tenant_label(const struct tenant *tenant, const char *what);
