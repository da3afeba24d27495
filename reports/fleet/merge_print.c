/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include "base/json_members.h"
#include "base/style.h"

enum { GROUPS_SHOWN = 40, NODES_SHOWN = 5, ENVIRONMENTS_SHOWN = 20 };

static void add_group(const struct fleet_group *group, bool color, struct text *out)
{
	struct text names CLEANUP_TEXT = {0};
	for (size_t i = 0; i < group->node_count && i < NODES_SHOWN; i++)
		text_add_item(&names, ", ", group->nodes[i]);
	if (group->node_count > NODES_SHOWN)
		text_addf(&names, " and %zu more", group->node_count - NODES_SHOWN);
	text_addf(out, "%s%6zu of %-6zu %s", style(color, STYLE_BOLD), group->node_count, group->of,
		  style(color, STYLE_RESET));
	text_add_line(out, "%s: %s: %s", group->check, report_outcome_names[group->outcome],
		      group->reason);
	text_add_line(out, "                 on %s", group->environment);
	text_add_line(out, "                 nodes %s", text_string(&names));
}

static void add_groups(const struct fleet_merge *merge, bool outliers, const char *heading,
		       bool color, struct text *out)
{
	size_t count = 0;
	for (size_t i = 0; i < merge->group_count; i++) {
		if (merge->groups[i].outlier != outliers)
			continue;
		if (count == 0)
			text_addf(out, "\n%s\n", heading);
		if (count++ < GROUPS_SHOWN)
			add_group(&merge->groups[i], color, out);
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
	add_groups(merge, true, "OUTLIERS: fewer than half of the nodes with the same environment",
		   options->color, out);
	add_groups(merge, false, "COMMON: half of the nodes with the same environment, or more",
		   options->color, out);

	text_add(out, "\nENVIRONMENTS: the rarest first\n");
	for (size_t i = 0; i < merge->environment_count && i < ENVIRONMENTS_SHOWN; i++) {
		const struct fleet_environment *it = &merge->environments[i];
		text_addf(out, "%6zu of %-6zu ", it->conformant, it->nodes);
		text_add_line(out, "conformant on %s", it->name);
	}
	if (merge->environment_count > ENVIRONMENTS_SHOWN)
		text_addf(out, "and %zu more: --json has all\n",
			  merge->environment_count - ENVIRONMENTS_SHOWN);
}

#define WORD(of, key, member)  JSON_TEXT(struct of, key, member, JSON_WRITTEN, NULL)
#define COUNT(of, key, member) JSON_NUMBER(struct of, key, member, JSON_WRITTEN, 0, INT32_MAX)
#define LIST(key, items, count, of)                                                                \
	JSON_LIST(struct fleet_merge, key, items, count, JSON_WRITTEN, INT32_MAX, of)
#define STRINGS(of, key_, items, count_)                                                           \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_STRINGS, .presence = JSON_WRITTEN,              \
		JSON_COUNTED(struct of, items, count_), .max = INT32_MAX                           \
	}
#define CHOICE(of, key_, member, names_)                                                           \
	{                                                                                          \
		.key = (key_), .type = JSON_MEMBER_CHOICE, .presence = JSON_WRITTEN,               \
		JSON_AT(struct of, member), .names = (names_)                                      \
	}

static const struct json_member group_members[] = {
	{.key = "outlier",
	 .type = JSON_MEMBER_BOOL,
	 .presence = JSON_WRITTEN,
	 JSON_AT(struct fleet_group, outlier)},
	WORD(fleet_group, "environment", environment),
	WORD(fleet_group, "check", check),
	CHOICE(fleet_group, "outcome", outcome, report_outcome_names),
	WORD(fleet_group, "reason", reason),
	COUNT(fleet_group, "of", of),
	STRINGS(fleet_group, "nodes", nodes, node_count),
	{0},
};

static const struct json_member environment_members[] = {
	WORD(fleet_environment, "name", name),
	COUNT(fleet_environment, "nodes", nodes),
	COUNT(fleet_environment, "conformant", conformant),
	{0},
};

static const struct json_member node_members[] = {
	WORD(fleet_node, "name", name),
	CHOICE(fleet_node, "result", result, report_conformance_names),
	WORD(fleet_node, "environment", environment),
	WORD(fleet_node, "started", started),
	WORD(fleet_node, "journal", run),
	WORD(fleet_node, "report", path),
	{0},
};

static const struct json_member members[] = {
	{.key = "schema",
	 .type = JSON_MEMBER_SCHEMA,
	 .presence = JSON_REQUIRED,
	 .what = "gpucert-fleet/1"},
	LIST("groups", groups, group_count, group_members),
	LIST("environments", environments, environment_count, environment_members),
	LIST("nodes", nodes, node_count, node_members),
	STRINGS(fleet_merge, "superseded", superseded.items, superseded.count),
	STRINGS(fleet_merge, "refused", refused.items, refused.count),
	{0},
};

char *fleet_merge_json(const struct fleet_merge *merge)
{
	cJSON *json CLEANUP_JSON = json_members_write(members, merge);
	return json_print(json);
}
