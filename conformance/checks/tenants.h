/* SPDX-License-Identifier: MIT */
#pragma once

/* The devices that the plugin hands out one by one, and probes that use them one after the other or
 * side by side. */

#include "base/gpu_apis.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/stage.h"

enum {
	TENANTS_MAX = 8,      /* devices */
	TENANT_WORDS_MAX = 8, /* of a probe's command, besides those that each one has */
};

struct tenant {
	const struct discovery_device *device;
	struct offer offers[2]; /* one, or two of a device that has replicas */
	size_t count;
	const struct gpu_api *api; /* through which it works; NULL: not known yet, or none */
};

struct tenants {
	struct check_run *run;
	struct rig *rig;
	struct stage *stage;
	struct tenant items[TENANTS_MAX];
	size_t count;
	size_t unread; /* answers that cannot be read, of which the containers were asked */
};

#define CLEANUP_TENANTS __attribute__((cleanup(tenants_close)))

/* With replicas of each device, where the plugin is the project's own. False: recorded; there is at
 * least one device otherwise. */
bool tenants_open(struct check_run *run, bool replicas, struct tenants *out);
void tenants_close(struct tenants *tenants);

/* Starts the probe of the device's API on an offer, with further words (NULL: none). NULL: recorded.
 */
struct probe *tenant_start(struct tenants *tenants, struct tenant *tenant, size_t offer,
			   const char *label, const char *const *words);

/* Starts it and waits until it is in the midst of its work. NULL: recorded; that it does not come so
 * far is a failed check, for another one works there. */
struct probe *tenant_start_paused(struct tenants *tenants, struct tenant *tenant, size_t offer,
				  const char *label, const char *const *words);

/* Runs it. NULL: recorded. */
const cJSON *tenant_run(struct tenants *tenants, struct tenant *tenant, const char *label,
			const char *const *words);

/* The same through the first API by which the device works, which becomes the tenant's. NULL:
 * recorded, as unsupported where nothing works: that something does is for api.* to judge. */
const cJSON *tenant_find_api(struct tenants *tenants, struct tenant *tenant, const char *label);

/* Records that the work of a document is verified. */
bool tenant_expect_work(struct check_run *run, const char *what, const cJSON *document);
