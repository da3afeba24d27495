/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet_internal.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "reports/environment.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

const char *const fleet_merge_unneeded[] = {
	"assertions",	  "attempts", "evidence", "notes",	  "events",	 "phases",
	"phasesMs",	  "time",     "advice",	  "observations", "predictions", "requirements",
	"totals",	  "title",    "cause",	  "invocation",	  "unproven",	 "watched",
	"deviceOutcomes", "devices",  "images",	  "harness",	  "expectation", "requirement",
	"severity",	  "leftOut",  NULL};

/* The host of "node-1" and "node-1.example.internal" is the same. */
static bool same_host(const char *a, const char *b)
{
	const size_t x = strcspn(a, ".");
	const size_t y = strcspn(b, ".");
	if (a[x] == '.' && b[y] == '.')
		return strcasecmp(a, b) == 0;
	return x == y && strncasecmp(a, b, x) == 0;
}

int fleet_check_host(const cJSON *report, const char *node, struct error *err)
{
	const char *host = NULL;
	json_each (fact, json_pointer(report, "/environment/redaction/facts")) {
		if (strcmp(view_string(fact, "/kind"), "host") != 0)
			continue;
		host = view_string(fact, "/value");
		if (same_host(host, node))
			return 0;
	}
	if (host == NULL)
		return 0;
	return error_set(err, ERROR_FORMAT, "the report of host '%.64s', not of node '%s'", host,
			 node);
}

static int check_claims(const cJSON *report, const char *node, struct error *err)
{
	if (!fleet_is_subdomain(node))
		return error_set(err, ERROR_FORMAT,
				 "its folder '%.64s' is not named as a node can be", node);
	if (!environment_is_live(json_pointer(report, "/environment")))
		return error_set(err, ERROR_FORMAT, "the run was not on a live node: '%.32s'",
				 view_string(report, "/environment/node/kind"));
	if (view_string(report, "/run/journal/digest")[0] == '\0' ||
	    view_string(report, "/run/started")[0] == '\0')
		return error_set(err, ERROR_FORMAT, "run.journal.digest or run.started is missing");
	return fleet_check_host(report, node, err);
}

static int find_environment(struct fleet_merge *merge, const cJSON *report, size_t *place,
			    struct error *err)
{
	static const char *const sections[] = {"drivers", "os", "plugin"};
	const cJSON *environment = json_pointer(report, "/environment");
	struct text key CLEANUP_TEXT = {0};
	const char *names[ARRAY_SIZE(sections)] = {0};
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct text name CLEANUP_TEXT = {0};
		environment_add_names(sections[i], environment, &name);
		if (name.size == 0)
			text_addf(&name, "unknown %s", sections[i]);
		names[i] = arena_string(&merge->arena, text_string(&name));
		text_addf(&key, "%s\n", names[i]);
	}
	if (text_index_get(&merge->environments_by_name, text_string(&key), place))
		return 0;
	if (merge->environment_count == FLEET_GROUPS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d environments",
				 (int)FLEET_GROUPS_MAX);
	*place = merge->environment_count;
	merge->environments = array_grow(merge->environments, merge->environment_count++,
					 sizeof(*merge->environments));
	merge->environments[*place] =
		(struct fleet_environment){.drivers = names[0], .os = names[1], .plugin = names[2]};
	return text_index_put(&merge->environments_by_name,
			      arena_string(&merge->arena, text_string(&key)), *place, place, err);
}

static int find_group(struct fleet_merge *merge, size_t environment, const struct view_check *check,
		      size_t *place, struct error *err)
{
	struct text reason CLEANUP_TEXT = {0};
	fleet_add_normalised(check->reason, &reason);
	char *key CLEANUP_FREE = text_format("%zu\n%s\n%d\n%s", environment, check->id,
					     (int)check->outcome, text_string(&reason));
	if (text_index_get(&merge->groups_by_name, key, place))
		return 0;
	if (merge->group_count == FLEET_GROUPS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d groups", (int)FLEET_GROUPS_MAX);
	*place = merge->group_count;
	merge->groups = array_grow(merge->groups, merge->group_count++, sizeof(*merge->groups));
	merge->groups[*place] =
		(struct fleet_group){.environment = environment,
				     .check = arena_string(&merge->arena, check->id),
				     .outcome = check->outcome,
				     .reason = arena_string(&merge->arena, text_string(&reason))};
	return text_index_put(&merge->groups_by_name, arena_string(&merge->arena, key), *place,
			      place, err);
}

/* The groups of the failing checks. */
static int find_groups(struct fleet_merge *merge, const cJSON *report, struct fleet_node *node,
		       struct error *err)
{
	struct view view CLEANUP_VIEW = {0};
	size_t *groups CLEANUP_FREE = memory_allocate(FLEET_FAILURES_MAX, sizeof(*groups));
	int rc = view_open(report, &view, err);
	for (size_t i = 0; rc == 0 && i < view.count; i++) {
		const struct view_check *check = &view.checks[i];
		if (!report_outcome_is_bad(check->outcome))
			continue;
		if (node->result == REPORT_CONFORMANT &&
		    strcmp(view_string(check->json, "/level"), "must") == 0)
			return error_set(
				err, ERROR_FORMAT,
				"verdict.conformance: conformant, although %.64s did not pass",
				check->id);
		if (node->group_count == FLEET_FAILURES_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d checks failed",
					 (int)FLEET_FAILURES_MAX);
		rc = find_group(merge, node->environment, check, &groups[node->group_count++], err);
	}
	if (rc < 0 || node->group_count == 0)
		return rc;
	size_t *kept = arena_allocate(&merge->arena, node->group_count * sizeof(*kept));
	memcpy(kept, groups, node->group_count * sizeof(*kept));
	node->groups = kept;
	return 0;
}

static bool is_newer(const struct fleet_node *a, const struct fleet_node *b)
{
	const int order = strcmp(a->started, b->started);
	return order > 0 || (order == 0 && strcmp(a->path, b->path) < 0);
}

/* Of each node the newest report stays. */
static int keep_newest(struct fleet_merge *merge, struct fleet_node *node, struct error *err)
{
	size_t place = merge->node_count;
	size_t first = place;
	int rc = text_index_put(&merge->nodes_by_name, node->name, place, &place, err);
	if (rc == 0)
		rc = text_index_put(&merge->nodes_by_run, node->run, place, &first, err);
	if (rc == 0 && first != place)
		rc = text_index_put(&merge->contested, node->run, 0, &first, err);
	if (rc < 0)
		return rc;
	if (place == merge->node_count) {
		merge->nodes = array_grow(merge->nodes, merge->node_count, sizeof(*merge->nodes));
		merge->nodes[merge->node_count++] = *node;
		return 0;
	}

	struct fleet_node *other = &merge->nodes[place];
	const bool newer = is_newer(node, other);
	(void)text_list_addf(&merge->superseded, NULL, "%s: %s has a report that began %s",
			     newer ? other->path : node->path, node->name,
			     newer ? node->started : other->started);
	if (newer)
		*other = *node;
	return 0;
}

int fleet_merge_add(struct fleet_merge *merge, const char *path, const cJSON *report,
		    struct error *err)
{
	char *folder CLEANUP_FREE = path_directory(path);
	const char *name = path_base(folder);
	const char *result = view_string(report, "/verdict/conformance/result");
	int rc = check_claims(report, name, err);
	if (rc < 0)
		return rc;
	struct fleet_node node = {
		.name = arena_string(&merge->arena, name),
		.path = arena_string(&merge->arena, path),
		.started = arena_string(&merge->arena, view_string(report, "/run/started")),
		.run = arena_string(&merge->arena, view_string(report, "/run/journal/digest")),
		.result = REPORT_CONFORMANT};
	while (strcmp(report_conformance_names[node.result], result) != 0) {
		if (node.result == REPORT_CONFORMANCE_INCOMPLETE)
			return error_set(err, ERROR_FORMAT,
					 "verdict.conformance.result: '%.32s' is not a result",
					 result);
		node.result++;
	}
	if (merge->node_count == FLEET_NODES_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d nodes", (int)FLEET_NODES_MAX);
	rc = find_environment(merge, report, &node.environment, err);
	if (rc == 0)
		rc = find_groups(merge, report, &node, err);
	return rc == 0 ? keep_newest(merge, &node, err) : rc;
}

static int compare_nodes(const void *a, const void *b)
{
	return strcmp(((const struct fleet_node *)a)->name, ((const struct fleet_node *)b)->name);
}

static int compare_sizes(size_t a, size_t b)
{
	return a == b ? 0 : a < b ? -1 : 1;
}

static int compare_environments(const void *a, const void *b)
{
	const struct fleet_environment *x = a;
	const struct fleet_environment *y = b;
	int order = compare_sizes(x->nodes, y->nodes);
	if (order == 0)
		order = strcmp(x->drivers, y->drivers);
	if (order == 0)
		order = strcmp(x->os, y->os);
	return order != 0 ? order : strcmp(x->plugin, y->plugin);
}

/* By the share of the nodes with the same environment. */
static int compare_groups(const void *a, const void *b)
{
	const struct fleet_group *x = a;
	const struct fleet_group *y = b;
	int order = compare_sizes(x->node_count * y->of, y->node_count * x->of);
	if (order == 0)
		order = compare_sizes(x->node_count, y->node_count);
	if (order == 0)
		order = compare_sizes(x->environment, y->environment);
	if (order == 0)
		order = strcmp(x->check, y->check);
	if (order == 0)
		order = (int)x->outcome - (int)y->outcome;
	return order != 0 ? order : strcmp(x->reason, y->reason);
}

static void refuse_contested(struct fleet_merge *merge)
{
	size_t kept = 0;
	for (size_t i = 0; i < merge->node_count; i++) {
		size_t unused = 0;
		if (text_index_get(&merge->contested, merge->nodes[i].run, &unused))
			(void)text_list_addf(&merge->refused, NULL,
					     "%s: other nodes have the same run %s",
					     merge->nodes[i].path, merge->nodes[i].run);
		else
			merge->nodes[kept++] = merge->nodes[i];
	}
	merge->node_count = kept;
}

/* Counts the nodes of environments and groups. */
static void count_nodes(struct fleet_merge *merge)
{
	for (size_t i = 0; i < merge->node_count; i++) {
		const struct fleet_node *node = &merge->nodes[i];
		merge->environments[node->environment].nodes++;
		merge->environments[node->environment].results[node->result]++;
		for (size_t k = 0; k < node->group_count; k++) {
			struct fleet_group *group = &merge->groups[node->groups[k]];
			/* A report may name a check twice. */
			if (group->node_count > 0 && group->nodes[group->node_count - 1] == i)
				continue;
			group->nodes =
				array_grow(group->nodes, group->node_count, sizeof(*group->nodes));
			group->nodes[group->node_count++] = i;
		}
	}
}

/* Sorts the environments that have nodes, and makes nodes and groups name their new places. */
static void sort_environments(struct fleet_merge *merge)
{
	const size_t count = merge->environment_count;
	size_t *places CLEANUP_FREE = memory_allocate(count + 1, sizeof(*places));
	for (size_t i = 0; i < count; i++)
		merge->environments[i].place = i;
	if (count > 0)
		qsort(merge->environments, count, sizeof(*merge->environments),
		      compare_environments);
	size_t empty = 0;
	while (empty < count && merge->environments[empty].nodes == 0)
		empty++;
	for (size_t i = empty; i < count; i++)
		places[merge->environments[i].place] = i - empty;
	merge->environment_count = count - empty;
	memmove(merge->environments, merge->environments + empty,
		merge->environment_count * sizeof(*merge->environments));
	for (size_t i = 0; i < merge->node_count; i++)
		merge->nodes[i].environment = places[merge->nodes[i].environment];
	for (size_t i = 0; i < merge->group_count; i++)
		merge->groups[i].environment = places[merge->groups[i].environment];
}

void fleet_merge_finish(struct fleet_merge *merge)
{
	size_t kept = 0;
	refuse_contested(merge);
	if (merge->node_count > 0)
		qsort(merge->nodes, merge->node_count, sizeof(*merge->nodes), compare_nodes);
	count_nodes(merge);
	for (size_t i = 0; i < merge->group_count; i++) {
		if (merge->groups[i].node_count > 0)
			merge->groups[kept++] = merge->groups[i];
	}
	merge->group_count = kept;
	sort_environments(merge);
	for (size_t i = 0; i < kept; i++)
		merge->groups[i].of = merge->environments[merge->groups[i].environment].nodes;
	if (kept > 0)
		qsort(merge->groups, kept, sizeof(*merge->groups), compare_groups);
	text_list_sort(&merge->refused);
	text_list_sort(&merge->superseded);
}

bool fleet_is_outlier(const struct fleet_group *group)
{
	return group->node_count * 2 < group->of;
}

void fleet_merge_free(struct fleet_merge *merge)
{
	for (size_t i = 0; i < merge->group_count; i++)
		free(merge->groups[i].nodes);
	free(merge->groups);
	free(merge->environments);
	free(merge->nodes);
	text_list_free(&merge->refused);
	text_list_free(&merge->superseded);
	text_index_free(&merge->nodes_by_name);
	text_index_free(&merge->nodes_by_run);
	text_index_free(&merge->contested);
	text_index_free(&merge->environments_by_name);
	text_index_free(&merge->groups_by_name);
	arena_free(&merge->arena);
}
