/* SPDX-License-Identifier: MIT */
#pragma once

#include "reports/fleet/fleet.h"

/* A node of the plan. Strings are borrowed from the list of nodes. */
struct plan_node {
	const char *name, *hostname;
	unsigned long long hash; /* of the fleet's name and the node's */
};

struct plan_toleration {
	char *key, *value, *effect; /* value and effect may be NULL: any */
};

/* What the Jobs of a plan have in common, and the Job of a node. Caller owns them. */
cJSON *plan_template(const struct fleet_plan *plan, const struct plan_toleration *tolerations,
		     size_t count);
cJSON *plan_job(const struct fleet_plan *plan, const cJSON *template, const struct plan_node *node);

/* ERROR_FORMAT: the report includes names of its host, and none is that of the node. */
int fleet_check_host(const cJSON *report, const char *node, struct error *err);
