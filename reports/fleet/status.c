/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet.h"

#include "base/array.h"
#include "base/members.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_SHOWN = 100 };

const char *const fleet_state_names[] = {"failed",  "lost",   "running", "pending",
					 "missing", "passed", NULL};

struct status_node {
	const char *name, *pod, *created, *why;
	enum fleet_state state;
	cJSON *verdict; /* NULL: none */
};

struct statuses {
	struct status_node *nodes;
	size_t count;
	struct text_index names;
};

static void statuses_free(struct statuses *it)
{
	for (size_t i = 0; i < it->count; i++)
		cJSON_Delete(it->nodes[i].verdict);
	free(it->nodes);
	text_index_free(&it->names);
}

/* The termination message, if it is a verdict of the exit code that the container had. */
static void read_verdict(const cJSON *terminated, struct status_node *node)
{
	const char *message = view_string(terminated, "/message");
	const int64_t code = view_int(terminated, "/exitCode");
	cJSON *verdict CLEANUP_JSON = NULL;
	struct error err = {0};
	if (message[0] == '\0')
		node->why = "no verdict";
	else if (json_parse_strict(message, strlen(message), &verdict, &err) < 0 ||
		 strcmp(view_string(verdict, "/schema"), FLEET_VERDICT_SCHEMA) != 0)
		node->why = "the termination message is not a verdict";
	else if (view_int(verdict, "/exitCode") != code)
		node->why = "the verdict has another exit code than the container";
	else
		node->verdict = STEAL(verdict);
	if (node->verdict == NULL || code == REPORT_EXIT_BROKEN || code == REPORT_EXIT_INCOMPLETE)
		node->state = FLEET_LOST;
	else
		node->state = code == REPORT_EXIT_EXPECTED ? FLEET_PASSED : FLEET_FAILED;
}

static void read_state(const cJSON *pod, struct status_node *node)
{
	const char *phase = view_string(pod, "/status/phase");
	const cJSON *terminated = json_pointer(pod, "/status/containerStatuses/0/state/terminated");
	if (terminated != NULL) {
		read_verdict(terminated, node);
	} else if (strcmp(phase, "Running") == 0) {
		node->state = FLEET_RUNNING;
	} else if (strcmp(phase, "Pending") == 0) {
		node->state = FLEET_PENDING;
	} else {
		node->state = FLEET_LOST;
		node->why = "the pod ended without a container";
	}
}

static int node_of(const struct json_at *item, const char **name, struct error *err)
{
	const cJSON *annotations = json_pointer(item->node, "/metadata/annotations");
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(annotations, FLEET_NODE);
	*name = cJSON_GetStringValue(value);
	if (value != NULL && (*name == NULL || !fleet_is_subdomain(*name)))
		return json_error(item, err,
				  "metadata.annotations." FLEET_NODE ": not the name of a node");
	return 0;
}

/* Of a node's pods the newest counts. */
static int add_node(struct statuses *it, const struct status_node *node, struct error *err)
{
	size_t place = it->count;
	int rc = text_index_put(&it->names, node->name, place, &place, err);
	if (rc < 0)
		return rc;
	if (place == it->count) {
		it->nodes = array_grow(it->nodes, it->count++, sizeof(*it->nodes));
		it->nodes[place] = *node;
		return 0;
	}
	struct status_node *other = &it->nodes[place];
	const int order = strcmp(node->created, other->created);
	const bool newer = order > 0 || (order == 0 && strcmp(node->pod, other->pod) < 0);
	cJSON_Delete(newer ? other->verdict : node->verdict);
	if (newer)
		*other = *node;
	return 0;
}

static int add_pods(struct statuses *it, const cJSON *list, struct error *err)
{
	const struct json_at root = json_root(list);
	struct json_at items = {0};
	int rc = json_need(&root, "items", JSON_ARRAY, &items, err);
	for (struct json_at at = {.node = json_first(items.node), .parent = &items};
	     rc == 0 && at.node != NULL; at.node = at.node->next, at.index++) {
		struct status_node node = {
			.pod = view_string(at.node, "/metadata/name"),
			.created = view_string(at.node, "/metadata/creationTimestamp"),
			.why = ""};
		rc = node_of(&at, &node.name, err);
		if (rc < 0 || node.name == NULL)
			continue;
		/* A pod that ran elsewhere says nothing about this node. */
		const char *ran_on = view_string(at.node, "/spec/nodeName");
		if (ran_on[0] != '\0' && strcmp(ran_on, node.name) != 0)
			return json_error(&at, err,
					  "spec.nodeName: '%.64s', but the pod is of '%s'", ran_on,
					  node.name);
		read_state(at.node, &node);
		rc = add_node(it, &node, err);
	}
	return rc;
}

static int add_jobs(struct statuses *it, const cJSON *list, struct error *err)
{
	const struct json_at root = json_root(list);
	struct json_at items = {0};
	int rc = json_need(&root, "items", JSON_ARRAY, &items, err);
	for (struct json_at at = {.node = json_first(items.node), .parent = &items};
	     rc == 0 && at.node != NULL; at.node = at.node->next, at.index++) {
		struct status_node node = {
			.pod = "", .created = "", .why = "", .state = FLEET_MISSING};
		size_t place = 0;
		rc = node_of(&at, &node.name, err);
		if (rc == 0 && node.name == NULL)
			return json_error(&at, err, "no Job of gpucert fleet plan");
		if (rc == 0 && !text_index_get(&it->names, node.name, &place))
			rc = add_node(it, &node, err);
	}
	return rc;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct status_node *x = a;
	const struct status_node *y = b;
	return x->state != y->state ? (int)x->state - (int)y->state : strcmp(x->name, y->name);
}

static cJSON *statuses_json(struct statuses *it)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members counts CLEANUP_MEMBERS = members_new();
	struct members nodes CLEANUP_MEMBERS = members_new_array();
	size_t of[FLEET_STATE_COUNT] = {0};
	for (size_t i = 0; i < it->count; i++) {
		struct status_node *node = &it->nodes[i];
		struct members item CLEANUP_MEMBERS = members_new();
		of[node->state]++;
		member_string(&item, "node", node->name);
		member_string(&item, "state", fleet_state_names[node->state]);
		member_optional(&item, "pod", node->pod);
		member_optional(&item, "why", node->why);
		member_item(&item, "verdict",
			    node->verdict != NULL ? STEAL(node->verdict) : cJSON_CreateNull());
		member_item(&nodes, NULL, members_take(&item));
	}
	for (size_t i = 0; i < FLEET_STATE_COUNT; i++)
		member_int(&counts, fleet_state_names[i], (int64_t)of[i]);
	member_string(&json, "schema", "gpucert-fleet-status/1");
	member_item(&json, "counts", members_take(&counts));
	member_item(&json, "nodes", members_take(&nodes));
	return members_take(&json);
}

int fleet_status_make(const cJSON *pods, const cJSON *jobs, cJSON **out, struct error *err)
{
	struct statuses it CLEANUP(statuses_free) = {0};
	int rc = add_pods(&it, pods, err);
	if (rc < 0)
		return error_wrap(err, rc, "pods");
	rc = jobs != NULL ? add_jobs(&it, jobs, err) : 0;
	if (rc < 0)
		return error_wrap(err, rc, "plan");
	if (it.count > 0)
		qsort(it.nodes, it.count, sizeof(*it.nodes), compare_nodes);
	*out = statuses_json(&it);
	return 0;
}

void fleet_status_add_text(const cJSON *status, struct text *out)
{
	const cJSON *nodes = json_pointer(status, "/nodes");
	size_t shown = 0;
	text_addf(out, "%d nodes:", cJSON_GetArraySize(nodes));
	for (size_t i = FLEET_STATE_COUNT; i-- > 0;) {
		const cJSON *count =
			cJSON_GetObjectItem(json_pointer(status, "/counts"), fleet_state_names[i]);
		text_addf(out, " %.0f %s%s", count->valuedouble, fleet_state_names[i],
			  i > 0 ? "," : "\n");
	}
	json_each (node, nodes) {
		const cJSON *verdict = json_pointer(node, "/verdict");
		const char *state = view_string(node, "/state");
		if (strcmp(state, fleet_state_names[FLEET_PASSED]) == 0)
			break;
		if (shown++ == NODES_SHOWN) {
			text_add(out, "and more: --json has all\n");
			break;
		}
		struct text failed CLEANUP_TEXT = {0};
		json_each (id, json_pointer(verdict, "/failed"))
			text_addf(&failed, " %s", view_string(id, ""));
		text_add_line(out, "%-8s %s %s%s%s%s", state, view_string(node, "/node"),
			      view_string(node, "/why"), view_string(verdict, "/error"),
			      view_string(verdict, "/result"), text_string(&failed));
	}
}
