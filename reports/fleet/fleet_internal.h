/* SPDX-License-Identifier: MIT */
#pragma once

#include "reports/fleet/fleet.h"

/* A node of the plan. Strings are borrowed from the list of nodes. */
struct plan_node {
	const char *name, *hostname;
	unsigned long long hash; /* of the names of fleet and node */
};

/* The common part of a plan's Jobs, and the Job of a node. Caller owns them. */
cJSON *plan_template(const struct fleet_plan *plan);
cJSON *plan_job(const struct fleet_plan *plan, const cJSON *template, const struct plan_node *node);

/* Where the node's report is pushed to; NULL: not pushed. Caller frees. */
char *plan_place(const struct fleet_plan *plan, const char *node);

/* Calls `use` for each item of the list; ends at the first error. */
int fleet_list_each(const cJSON *list,
		    int (*use)(const struct json_at *item, void *user, struct error *err),
		    void *user, struct error *err);

/* A report that includes identities names its host. ERROR_FORMAT: it is not this node. */
int fleet_check_host(const cJSON *report, const char *node, struct error *err);

/* Sets the member of the object at the JSON pointer `parent`; consumes `value`. */
void fleet_set_item(cJSON *json, const char *parent, const char *key, cJSON *value);
void fleet_set(cJSON *json, const char *parent, const char *key, const char *value);
