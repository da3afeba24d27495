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
	"assertions",	  "attempts", "evidence",    "notes",	     "events",	    "phases",
	"phasesMs",	  "time",     "advice",	     "observations", "predictions", "requirements",
	"totals",	  "title",    "cause",	     "invocation",   "unproven",    "watched",
	"deviceOutcomes", "devices",  "images",	     "harness",	     "expectation", "requirement",
	"severity",	  "leftOut",  "disposition", "expected",     "revision",    NULL};

int fleet_check_host(const cJSON *report, const char *node, struct error *err)
{
	const char *host = NULL;
	json_each (fact, json_pointer(report, "/environment/redaction/facts")) {
		if (!view_is(fact, "/kind", "host"))
			continue;
		host = view_string(fact, "/value");
		/* With or without a domain. */
		const size_t size = strcspn(host, ".");
		if (size == strcspn(node, ".") && strncasecmp(host, node, size) == 0)
			return 0;
	}
	if (host == NULL)
		return 0;
	return error_set(err, ERROR_FORMAT, "the report of host '%.64s', not of node '%s'", host,
			 node);
}

static size_t result_of(const cJSON *report)
{
	return text_position(report_conformance_names,
			     view_string(report, "/verdict/conformance/result"));
}

static size_t find_environment(struct fleet_merge *merge, const cJSON *report)
{
	static const char *const sections[] = {"drivers", "os", "plugin"};
	struct text text CLEANUP_TEXT = {0};
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct text part CLEANUP_TEXT = {0};
		environment_add_names(sections[i], json_pointer(report, "/environment"), &part);
		text_addf(&text, "%s%s%s", i > 0 ? ", " : "", part.size > 0 ? "" : "unknown ",
			  part.size > 0 ? text_string(&part) : sections[i]);
	}
	const char *name = arena_string(&merge->arena, text_string(&text));
	const size_t place =
		text_index_put(&merge->environments_by_name, name, merge->environment_count);
	if (place == merge->environment_count) {
		merge->environments = array_grow(merge->environments, merge->environment_count++,
						 sizeof(*merge->environments));
		merge->environments[place] = (struct fleet_environment){.name = name};
	}
	return place;
}

static int find_group(struct fleet_merge *merge, size_t environment, const struct view_check *check,
		      size_t *place, struct error *err)
{
	struct text reason CLEANUP_TEXT = {0};
	fleet_add_normalised(check->reason, &reason);
	const char *name = merge->environments[environment].name;
	char *key CLEANUP_FREE = text_format("%s\n%s\n%d\n%s", name, check->id, (int)check->outcome,
					     text_string(&reason));
	if (text_index_get(&merge->groups_by_key, key, place))
		return 0;
	if (merge->group_count == FLEET_GROUPS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d groups", (int)FLEET_GROUPS_MAX);
	merge->groups = array_grow(merge->groups, merge->group_count, sizeof(*merge->groups));
	struct fleet_group *group = &merge->groups[merge->group_count];
	*group = (struct fleet_group){.environment = name,
				      .check = arena_string(&merge->arena, check->id),
				      .outcome = check->outcome,
				      .reason = arena_string(&merge->arena, text_string(&reason)),
				      .key = arena_string(&merge->arena, key)};
	*place = text_index_put(&merge->groups_by_key, group->key, merge->group_count++);
	return 0;
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
		if (node->result == REPORT_CONFORMANT && view_is(check->json, "/level", "must"))
			return error_set(
				err, ERROR_FORMAT,
				"verdict.conformance: conformant, although %.64s did not pass",
				check->id);
		if (node->group_count == FLEET_FAILURES_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d checks failed",
					 (int)FLEET_FAILURES_MAX);
		rc = find_group(merge, node->environment_place, check, &groups[node->group_count++],
				err);
	}
	if (rc < 0 || node->group_count == 0)
		return rc;
	node->groups = arena_allocate(&merge->arena, node->group_count * sizeof(*groups));
	memcpy(node->groups, groups, node->group_count * sizeof(*groups));
	return 0;
}

/* Keeps the newest report of each node. */
static void keep_newest(struct fleet_merge *merge, struct fleet_node *node)
{
	const size_t place = text_index_put(&merge->nodes_by_name, node->name, merge->node_count);
	if (text_index_put(&merge->nodes_by_run, node->run, place) != place)
		(void)text_index_put(&merge->contested, node->run, 0);
	if (place == merge->node_count) {
		merge->nodes = array_grow(merge->nodes, merge->node_count, sizeof(*merge->nodes));
		merge->nodes[merge->node_count++] = *node;
		return;
	}

	struct fleet_node *other = &merge->nodes[place];
	const int order = strcmp(node->started, other->started);
	const bool newer = order > 0 || (order == 0 && strcmp(node->path, other->path) < 0);
	text_list_addf(&merge->superseded, "%s: %s has a newer report",
		       newer ? other->path : node->path, node->name);
	if (newer)
		*other = *node;
}

int fleet_merge_add(const char *path, const cJSON *report, void *to, struct error *err)
{
	struct fleet_merge *merge = to;
	char *folder CLEANUP_FREE = path_directory(path);
	const char *name = path_base(folder);

	if (!fleet_is_subdomain(name))
		return error_set(err, ERROR_FORMAT,
				 "its folder '%.64s' is not named as a node can be", name);
	if (!environment_is_live(json_pointer(report, "/environment")))
		return error_set(err, ERROR_FORMAT, "the run was not on a live node: '%.32s'",
				 view_string(report, "/environment/node/kind"));
	if (view_string(report, "/run/journal/digest")[0] == '\0' ||
	    view_string(report, "/run/started")[0] == '\0')
		return error_set(err, ERROR_FORMAT, "run.journal.digest or run.started is missing");
	if (report_conformance_names[result_of(report)] == NULL)
		return error_set(err, ERROR_FORMAT, "verdict.conformance.result: not a result");
	int rc = fleet_check_host(report, name, err);
	if (rc < 0)
		return rc;

	struct fleet_node node = {
		.name = arena_string(&merge->arena, name),
		.path = arena_string(&merge->arena, path),
		.started = arena_string(&merge->arena, view_string(report, "/run/started")),
		.run = arena_string(&merge->arena, view_string(report, "/run/journal/digest")),
		.result = (enum report_conformance)result_of(report)};
	node.environment_place = find_environment(merge, report);
	rc = find_groups(merge, report, &node, err);
	if (rc == 0)
		keep_newest(merge, &node);
	return rc;
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
	const int order = compare_sizes(x->nodes, y->nodes);
	return order != 0 ? order : strcmp(x->name, y->name);
}

/* Orders by the share of the nodes with the same environment. */
static int compare_groups(const void *a, const void *b)
{
	const struct fleet_group *x = a;
	const struct fleet_group *y = b;
	int order = compare_sizes(x->node_count * y->of, y->node_count * x->of);
	if (order == 0)
		order = compare_sizes(x->node_count, y->node_count);
	return order != 0 ? order : strcmp(x->key, y->key);
}

static void count_node(struct fleet_merge *merge, struct fleet_node *node)
{
	struct fleet_environment *environment = &merge->environments[node->environment_place];
	environment->nodes++;
	environment->conformant += node->result == REPORT_CONFORMANT;
	node->environment = environment->name;
	for (size_t i = 0; i < node->group_count; i++) {
		struct fleet_group *group = &merge->groups[node->groups[i]];
		/* A report may name a check twice. */
		if (group->node_count > 0 && group->nodes[group->node_count - 1] == node->name)
			continue;
		group->nodes = array_grow(group->nodes, group->node_count, sizeof(*group->nodes));
		group->nodes[group->node_count++] = node->name;
	}
}

/* Removes groups and environments without a report that counts. */
static void drop_empty(struct fleet_merge *merge)
{
	size_t kept = 0;
	for (size_t i = 0; i < merge->group_count; i++) {
		struct fleet_group *group = &merge->groups[i];
		size_t place = 0;
		if (group->node_count == 0)
			continue;
		(void)text_index_get(&merge->environments_by_name, group->environment, &place);
		group->of = merge->environments[place].nodes;
		group->outlier = group->node_count * 2 < group->of;
		merge->groups[kept++] = *group;
	}
	merge->group_count = kept;
	kept = 0;
	for (size_t i = 0; i < merge->environment_count; i++) {
		if (merge->environments[i].nodes > 0)
			merge->environments[kept++] = merge->environments[i];
	}
	merge->environment_count = kept;
}

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	if (count > 0)
		qsort(items, count, size, compare);
}

void fleet_merge_finish(struct fleet_merge *merge)
{
	size_t kept = 0;
	for (size_t i = 0; i < merge->node_count; i++) {
		size_t unused = 0;
		if (text_index_get(&merge->contested, merge->nodes[i].run, &unused))
			text_list_addf(&merge->refused, "%s: other nodes have the same run %s",
				       merge->nodes[i].path, merge->nodes[i].run);
		else
			merge->nodes[kept++] = merge->nodes[i];
	}
	merge->node_count = kept;

	sort(merge->nodes, merge->node_count, sizeof(*merge->nodes), compare_nodes);
	for (size_t i = 0; i < merge->node_count; i++)
		count_node(merge, &merge->nodes[i]);
	drop_empty(merge);
	sort(merge->environments, merge->environment_count, sizeof(*merge->environments),
	     compare_environments);
	sort(merge->groups, merge->group_count, sizeof(*merge->groups), compare_groups);
	text_list_sort(&merge->refused);
	text_list_sort(&merge->superseded);
}

void fleet_merge_free(struct fleet_merge *merge)
{
	for (size_t i = 0; i < merge->group_count; i++)
		free((void *)merge->groups[i].nodes);
	free(merge->groups);
	free(merge->environments);
	free(merge->nodes);
	text_list_free(&merge->refused);
	text_list_free(&merge->superseded);
	text_index_free(&merge->nodes_by_name);
	text_index_free(&merge->nodes_by_run);
	text_index_free(&merge->contested);
	text_index_free(&merge->environments_by_name);
	text_index_free(&merge->groups_by_key);
	arena_free(&merge->arena);
}
