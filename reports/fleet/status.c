/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet_internal.h"

#include "base/array.h"
#include "base/memory.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

/* In the order of printing. */
enum state { FAILED, LOST, RUNNING, PENDING, MISSING, PASSED, STATE_COUNT };

enum {
	KILLED = 128, /* plus the signal: an exit code */
	SECONDS_SIZE = sizeof("2026-01-01T00:00:00") - 1
};

static const char *const state_names[] = {"failed",  "lost",	"running",
					  "pending", "missing", "passed"};

struct status_node {
	const char *name, *pod, *created;
	enum state state;
	bool not_pushed;
	char *text; /* the verdict, or why there is none */
};

struct statuses {
	struct status_node *nodes;
	size_t count;
	struct text_index names;
};

static void statuses_free(struct statuses *it)
{
	for (size_t i = 0; i < it->count; i++)
		free(it->nodes[i].text);
	free(it->nodes);
	text_index_free(&it->names);
}

/* The termination message is a verdict if its exit code is the container's. */
static void read_verdict(const cJSON *terminated, struct status_node *node)
{
	const char *message = view_string(terminated, "/message");
	int64_t code = view_int(terminated, "/exitCode");
	cJSON *verdict CLEANUP_JSON = NULL;
	node->state = LOST;
	const bool is_verdict = json_parse_strict(message, strlen(message), &verdict, NULL) == 0 &&
				view_is(verdict, "/schema", FLEET_VERDICT_SCHEMA);
	const char *not_pushed = view_string(verdict, "/notPushed");
	/* The run had ended, so its verdict counts. */
	const bool killed = not_pushed[0] != '\0' && code > KILLED;
	if (!is_verdict || (view_int(verdict, "/exitCode") != code && !killed)) {
		node->text = text_format("exit code %lld, and no verdict of it", (long long)code);
		return;
	}
	struct text text CLEANUP_TEXT = {0};
	text_addf(&text, "%s%s", view_string(verdict, "/error"), view_string(verdict, "/result"));
	json_each (id, json_pointer(verdict, "/failed"))
		text_addf(&text, " %s", view_string(id, ""));
	const char *started = view_string(verdict, "/started");
	if (strlen(started) > SECONDS_SIZE && strlen(node->created) > SECONDS_SIZE &&
	    strncmp(started, node->created, SECONDS_SIZE) < 0)
		text_addf(&text, "; the run of an earlier pod (%.64s)", started);
	node->not_pushed = not_pushed[0] != '\0';
	if (node->not_pushed)
		text_addf(&text, "; report not pushed: %s", not_pushed);
	if (killed)
		text_addf(&text, " (the container ended with %lld)", (long long)code);
	code = view_int(verdict, "/exitCode");
	node->text = text_take(&text);
	if (code != REPORT_EXIT_BROKEN && code != REPORT_EXIT_INCOMPLETE)
		node->state = code == REPORT_EXIT_EXPECTED ? PASSED : FAILED;
}

static int node_of(const struct json_at *item, const char **name, struct error *err)
{
	const cJSON *annotations = json_pointer(item->node, "/metadata/annotations");
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(annotations, FLEET_NODE);
	const char *ran_on = view_string(item->node, "/spec/nodeName");
	*name = cJSON_GetStringValue(value);
	if (value != NULL && (*name == NULL || !fleet_is_subdomain(*name)))
		return json_error(item, err,
				  "metadata.annotations." FLEET_NODE ": not the name of a node");
	if (value != NULL && ran_on[0] != '\0' && !text_equal(ran_on, *name))
		return json_error(item, err, "spec.nodeName: '%.64s', but the pod is for '%s'",
				  ran_on, *name);
	return 0;
}

/* The newest pod of a node counts. Takes ownership of the node's text. */
static void add_node(struct statuses *it, struct status_node *node)
{
	const size_t place = text_index_put(&it->names, node->name, it->count);
	if (place == it->count) {
		it->nodes = array_grow(it->nodes, it->count++, sizeof(*it->nodes));
		it->nodes[place] = (struct status_node){0};
	}
	struct status_node *other = &it->nodes[place];
	const int order = other->name == NULL ? 1 : strcmp(node->created, other->created);
	if (order > 0 || (order == 0 && strcmp(node->pod, other->pod) < 0)) {
		free(other->text);
		*other = *node;
	} else {
		free(node->text);
	}
}

static int add_pod(const struct json_at *at, void *user, struct error *err)
{
	const char *phase = view_string(at->node, "/status/phase");
	const cJSON *terminated =
		json_pointer(at->node, "/status/containerStatuses/0/state/terminated");
	struct status_node node = {.pod = view_string(at->node, "/metadata/name"),
				   .created = view_string(at->node, "/metadata/creationTimestamp")};
	int rc = node_of(at, &node.name, err);
	if (rc < 0 || node.name == NULL)
		return rc;
	if (terminated != NULL) {
		read_verdict(terminated, &node);
	} else {
		node.state = text_equal(phase, "Running")   ? RUNNING
			     : text_equal(phase, "Pending") ? PENDING
							    : LOST;
		node.text =
			memory_copy(node.state == LOST ? "the pod ended without a container" : "");
	}
	add_node(user, &node);
	return 0;
}

static int add_job(const struct json_at *at, void *user, struct error *err)
{
	struct statuses *it = user;
	struct status_node node = {.pod = "", .created = "", .state = MISSING};
	size_t place = 0;
	int rc = node_of(at, &node.name, err);
	if (rc == 0 && node.name == NULL)
		return json_error(at, err, "not a Job of gpucert fleet plan");
	if (rc < 0 || text_index_get(&it->names, node.name, &place))
		return rc;
	node.text = memory_copy("");
	add_node(it, &node);
	return 0;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct status_node *x = a;
	const struct status_node *y = b;
	return x->state != y->state ? (int)x->state - (int)y->state : strcmp(x->name, y->name);
}

int fleet_status_add(const cJSON *pods, const cJSON *jobs, struct text *out, struct error *err)
{
	struct statuses it CLEANUP(statuses_free) = {0};
	size_t counts[STATE_COUNT] = {0};
	size_t not_pushed = 0;
	int rc = fleet_list_each(pods, add_pod, &it, err);
	if (rc == 0 && jobs != NULL) {
		rc = fleet_list_each(jobs, add_job, &it, err);
		rc = rc < 0 ? error_wrap(err, rc, "plan") : 0;
	}
	if (rc < 0)
		return rc;
	if (it.count > 0)
		qsort(it.nodes, it.count, sizeof(*it.nodes), compare_nodes);
	for (size_t i = 0; i < it.count; i++) {
		counts[it.nodes[i].state]++;
		not_pushed += it.nodes[i].not_pushed;
	}
	text_addf(out, "%zu nodes:", it.count);
	for (size_t i = STATE_COUNT; i-- > 0;)
		text_addf(out, " %zu %s%s", counts[i], state_names[i], i > 0 ? "," : "");
	if (not_pushed > 0)
		text_addf(out, "; %zu reports not pushed", not_pushed);
	text_add(out, "\n");
	for (size_t i = 0; i < it.count; i++)
		text_add_line(out, "%-8s%s%s%s", state_names[it.nodes[i].state], it.nodes[i].name,
			      it.nodes[i].text[0] != '\0' ? ": " : "", it.nodes[i].text);
	return 0;
}
