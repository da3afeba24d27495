/* SPDX-License-Identifier: MIT */
#pragma once

/* What the bodies of the suite isolation share: the plugin, looks into containers, and the devices
 * that it hands out one by one. */

#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "conformance/checks/container_judge.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/visibility.h"

enum {
	TENANTS_MAX = 8,      /* devices; more are passed over but for a pair of them */
	TENANT_WORDS_MAX = 8, /* of a probe's command, besides those that each one has */
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

/* Which ids are looked for: of each device, or two that hand out one device each. */
enum tenants_wanted { TENANTS_ALL, TENANTS_DIFFERENT, TENANTS_SAME };

struct isolation {
	struct check_run *run;
	struct rig *rig;
	struct stage *stage;
	size_t handler;	   /* which of the run's runtime handlers the stage is of */
	struct sight bare; /* a container without devices */
	cJSON *sights;	   /* what is kept for other checks (sights_take()) */
	struct tenant tenants[GRANTED_DEVICES_MAX];
	size_t count;
	enum tenants_wanted wanted;
	struct offer *pair[2]; /* of the tenants, NULL until both are found */
	size_t unreadable;     /* answers that cannot be read */
	size_t unseen;	       /* of those the ones of which the container does not tell either */
};

#define CLEANUP_ISOLATION __attribute__((cleanup(isolation_close)))

/* Plugin and runtime. `env` is for the plugin, NULL: as always. False: recorded. */
bool isolation_open(struct isolation *isolation, struct check_run *run, const char *const *env);
void isolation_close(struct isolation *isolation);

/* What a container with this grant sees. False: recorded. */
bool isolation_look(struct isolation *isolation, const char *label, const struct grant *grant,
		    struct sight *out);

/* A look into a container without devices. False: recorded. */
bool isolation_look_bare(struct isolation *isolation);

/* The stage of the next runtime handler of the run, instead of the present one, which is the first one's
 * at the beginning. False: there is none, or recorded. */
bool isolation_next_handler(struct isolation *isolation);

/* What a container is called: "crun-bare" of a handler that is not the first one. */
const char *isolation_label(const struct isolation *isolation, const char *label);

/* The answer cannot be read: a container is asked which devices the offer grants, unless too many
 * were. False: not asked, or recorded. */
bool isolation_ask(struct isolation *isolation, struct offer *offer, struct sight *sight);

/* With each of the run's runtime handlers looks at a container without devices and one of each device, for
 * each answer that differs, within bounds, and keeps what it saw. `judges`: records what does not
 * isolate. */
void isolation_look_at_each(struct isolation *isolation, bool judges);

/* Isolation holds for the runtime that it was seen on, and its handlers, which is noted. */
void isolation_note_runtime(struct check_run *run);

/*
 * What containers with one device each, and one without, were seen to be: by the document of
 * probe-visibility and from the host. Several checks judge the same containers. The first check that
 * looks keeps what it saw in the run's folder (sights.json), and the others read it there:
 *
 *   [{"label": "bare", "handler": "runc" or null, "devices": [], "byRuntime": false, "document": {},
 *     "container": {}}, ...]
 *
 * The first element of a handler is the container without devices. "devices" are ids of granted devices of the
 * node, "byRuntime" says that the answer holds what a runtime may act on, and "container", null where
 * the host cannot look into it, is:
 *
 *   {"mounts": [{"path", "type", "hostPath", "readOnly", "shared", "granted", "sourceKnown"}],
 *    "nodes": [{"path", "type", "number"}], "nodesCut": null,
 *    "granted": [{"path", "type", "number", "access": "rwm", "allowed": "rw" or null}],
 *    "usable": [{"path", "type", "number", "access": "rw"}] or null, "usableUntold": null,
 *    "deviceCgroups": [{"version": 2, "path", "rules": null, "untold": null,
 *                       "programs": [{"tag", "instructions": 58}]}],
 *    "planted": 57, "plantedUntold": null,
 *    "capabilities": 0, "seccomp": 2, "noNewPrivileges": true, "shared": ["pid"]}
 *
 * Mounts that others cover are left out; a mount is "granted" that is one of the answer, or below one, and
 * its source is not known where the files of its file system may be those of another one. "nodesCut" is a
 * folder that was not searched for nodes to its end.
 * "granted" are the device nodes of the answer: their letters, and those that the device cgroup allows
 * (null: not asked). "usable" are nodes of the host that it lets the container use, and "planted" is how
 * many were made for it to try (containers/inspect/inspect.h).
 *
 * Reads them, or else looks at containers. NULL: recorded. Caller owns them.
 */
cJSON *sights_take(struct check_run *run);

/* Adds a container to those that an earlier check kept, if one did. */
void sights_add_kept(struct check_run *run, const char *label, const struct sight *sight,
		     const struct granted *granted, const struct grant *grant);

/* A container of sights_take(), the one without devices first, for the judge of a row. */
struct looked {
	struct check_run *run;
	const cJSON *bare, *sight;
	const char *label;
	const cJSON *document;
	const cJSON *container; /* NULL: not looked into */
	const cJSON *tried;	/* NULL: nothing was tried in it */
	struct granted devices; /* that it was granted */
	struct container_case one;
};

struct sight_judge {
	/* Returns how many things it judged; of none in all containers `none`, if it is there, is why
	 * the row is not applicable. */
	size_t (*judge)(struct looked *looked);
	const char *none;
	bool from_the_host; /* it needs what the host saw, and what was tried */
};

/* A body: the struct sight_judge of the row's param for each container. */
check_body isolation_each_sight;

/* isolation_nodes.c, isolation_reach.c */
extern const struct sight_judge isolation_device_nodes, isolation_device_access,
	isolation_apis_agree, isolation_management_apis, isolation_driver_files,
	isolation_host_paths;

/* "LABEL: what" */
const char *looked_label(const struct looked *looked, const char *what);

/* The devices that the plugin hands out one by one; with replicas of each, where the plugin is the
 * project's own. False: recorded; there is at least one device otherwise. */
bool tenants_open(struct isolation *isolation, struct check_run *run, bool replicas);

/* A pair of ids, and a look into a container without devices. False: recorded. */
bool tenants_open_pair(struct isolation *isolation, struct check_run *run,
		       enum tenants_wanted wanted);

/* Starts the probe of the device's API on an offer, with further words (NULL: none), and waits until it
 * is in the midst of its work. NULL: recorded; that it does not come so far is a failed check, for
 * another one works there. */
struct probe *tenant_start_paused(struct tenant *tenant, size_t offer, const char *label,
				  const char *const *words);

/* Starts it so that it would wait there; that it does not come so far is the caller's to judge. */
struct probe *tenant_start_paused_or_not(struct tenant *tenant, size_t offer, const char *label);

/* Runs it to its end on the first offer. NULL: recorded. */
const cJSON *tenant_run(struct tenant *tenant, const char *label, const char *const *words);

/* The same through the first API by which the device works, which becomes the tenant's. NULL:
 * recorded, as unsupported where nothing works: that something does is for api.* to judge. */
const cJSON *tenant_find_api(struct tenant *tenant, const char *label);

/* Records that the work of a document is verified. */
bool tenant_expect_work(const struct tenant *tenant, const char *what, const cJSON *document);

/* "DEVICE: what" */
const char *tenant_label(const struct tenant *tenant, const char *what);
