/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include "base/members.h"
#include "base/style.h"

#include <string.h>

enum { GROUPS_SHOWN = 40, NODES_SHOWN = 5, ENVIRONMENTS_SHOWN = 20 };

static void add_group(const struct fleet_merge *merge, const struct fleet_group *group, bool color,
		      struct text *out)
{
	const struct fleet_environment *environment = &merge->environments[group->environment];
	struct text names CLEANUP_TEXT = {0};
	for (size_t i = 0; i < group->node_count && i < NODES_SHOWN; i++)
		text_addf(&names, "%s%s", i > 0 ? ", " : "", merge->nodes[group->nodes[i]].name);
	if (group->node_count > NODES_SHOWN)
		text_addf(&names, " and %zu more", group->node_count - NODES_SHOWN);
	text_add(out, style(color, STYLE_BOLD));
	text_addf(out, "%6zu of %-6zu ", group->node_count, group->of);
	text_add(out, style(color, STYLE_RESET));
	text_add_line(out, "%s: %s: %s", group->check, report_outcome_names[group->outcome],
		      group->reason);
	text_add_line(out, "                 on %s, %s, %s", environment->drivers, environment->os,
		      environment->plugin);
	text_add_line(out, "                 nodes %s", text_string(&names));
}

/* The groups of a kind, which is named first. */
static void add_groups(const struct fleet_merge *merge, bool outliers, bool color, struct text *out)
{
	size_t count = 0;
	for (size_t i = 0; i < merge->group_count; i++) {
		if (fleet_is_outlier(&merge->groups[i]) != outliers)
			continue;
		if (count == 0)
			text_addf(out, "\n%s\n",
				  outliers ? "OUTLIERS: fewer than half of the nodes with the same "
					     "environment"
					   : "COMMON: half of the nodes with the same environment, "
					     "or more");
		if (count++ < GROUPS_SHOWN)
			add_group(merge, &merge->groups[i], color, out);
	}
	if (count > GROUPS_SHOWN)
		text_addf(out, "and %zu more: --json has all\n", count - GROUPS_SHOWN);
}

void fleet_merge_add_text(const struct fleet_merge *merge, const struct writer_options *options,
			  struct text *out)
{
	size_t results[REPORT_CONFORMANCE_INCOMPLETE + 1] = {0};
	for (size_t i = 0; i < merge->node_count; i++)
		results[merge->nodes[i].result]++;
	text_addf(out, "%zu node%s:", merge->node_count, merge->node_count == 1 ? "" : "s");
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		text_addf(out, "%s %zu %s", i > 0 ? "," : "", results[i],
			  report_conformance_names[i]);
	text_addf(out, "; reports: %zu superseded, %zu refused\n", merge->superseded.count,
		  merge->refused.count);
	add_groups(merge, true, options->color, out);
	add_groups(merge, false, options->color, out);

	text_add(out, "\nENVIRONMENTS: the rarest first\n");
	for (size_t i = 0; i < merge->environment_count && i < ENVIRONMENTS_SHOWN; i++) {
		const struct fleet_environment *it = &merge->environments[i];
		text_addf(out, "%6zu of %-6zu ", it->results[REPORT_CONFORMANT], it->nodes);
		text_add_line(out, "conformant on %s, %s, %s", it->drivers, it->os, it->plugin);
	}
	if (merge->environment_count > ENVIRONMENTS_SHOWN)
		text_addf(out, "and %zu more: --json has all\n",
			  merge->environment_count - ENVIRONMENTS_SHOWN);
}

static cJSON *environment_json(const struct fleet_environment *it)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "drivers", it->drivers);
	member_string(&json, "os", it->os);
	member_string(&json, "plugin", it->plugin);
	member_int(&json, "nodes", (int64_t)it->nodes);
	for (size_t i = 0; i < ARRAY_SIZE(it->results); i++)
		member_int(&json, report_conformance_names[i], (int64_t)it->results[i]);
	return members_take(&json);
}

static cJSON *group_json(const struct fleet_merge *merge, const struct fleet_group *group)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members nodes CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < group->node_count; i++)
		member_string(&nodes, NULL, merge->nodes[group->nodes[i]].name);
	member_bool(&json, "outlier", fleet_is_outlier(group));
	member_int(&json, "environment", (int64_t)group->environment);
	member_string(&json, "check", group->check);
	member_string(&json, "outcome", report_outcome_names[group->outcome]);
	member_string(&json, "reason", group->reason);
	member_int(&json, "of", (int64_t)group->of);
	member_item(&json, "nodes", members_take(&nodes));
	return members_take(&json);
}

cJSON *fleet_merge_json(const struct fleet_merge *merge)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members environments CLEANUP_MEMBERS = members_new_array();
	struct members groups CLEANUP_MEMBERS = members_new_array();
	struct members nodes CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < merge->environment_count; i++)
		member_item(&environments, NULL, environment_json(&merge->environments[i]));
	for (size_t i = 0; i < merge->group_count; i++)
		member_item(&groups, NULL, group_json(merge, &merge->groups[i]));
	for (size_t i = 0; i < merge->node_count; i++) {
		const struct fleet_node *node = &merge->nodes[i];
		struct members item CLEANUP_MEMBERS = members_new();
		member_string(&item, "name", node->name);
		member_string(&item, "result", report_conformance_names[node->result]);
		member_int(&item, "environment", (int64_t)node->environment);
		member_string(&item, "started", node->started);
		member_string(&item, "journal", node->run);
		member_string(&item, "report", node->path);
		member_item(&nodes, NULL, members_take(&item));
	}
	member_string(&json, "schema", FLEET_SCHEMA);
	member_item(&json, "groups", members_take(&groups));
	member_item(&json, "environments", members_take(&environments));
	member_item(&json, "nodes", members_take(&nodes));
	member_item(&json, "superseded", json_new_strings(&merge->superseded));
	member_item(&json, "refused", json_new_strings(&merge->refused));
	return members_take(&json);
}
