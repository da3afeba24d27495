/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet_internal.h"

#include "base/array.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/text_index.h"
#include "reports/view.h"

#include <stdlib.h>
#include <string.h>

#define HOSTNAME_LABEL "kubernetes.io/hostname"
#define OS_LABEL       "kubernetes.io/os"

enum { LABEL_VALUE_MAX = 63, DIGEST_DIGITS = 64 };

struct planning {
	const struct fleet_plan *plan;
	struct plan_node *nodes;
	size_t node_count;
	struct text_index names, hostnames; /* with the index in the list */
	struct text_list *left_out;
};

static void planning_free(struct planning *it)
{
	free(it->nodes);
	text_index_free(&it->names);
	text_index_free(&it->hostnames);
}

static int check_push(const struct fleet_plan *plan, struct error *err)
{
	const char *place = plan->push != NULL ? plan->push : "";
	const char *at = strstr(place, FLEET_PUSH_NODE);
	const char *wrong = strpbrk(place, "@\"\\ \t\r\n");
	if (plan->push == NULL && (plan->push_secret != NULL || plan->plain_http))
		return error_set(err, ERROR_ARGUMENT, "--push is missing");
	if (wrong != NULL && *wrong == '@')
		return error_set(err, ERROR_ARGUMENT,
				 "--push: credentials go into a Secret (--push-secret)");
	if (plan->push != NULL && (wrong != NULL || at == NULL || strchr(at + 1, '{') != NULL))
		return error_set(err, ERROR_ARGUMENT,
				 "--push: expected a URL with one " FLEET_PUSH_NODE
				 ", so that each report has a place of its own");
	return 0;
}

static int check_options(const struct fleet_plan *plan, struct error *err)
{
	const struct {
		const char *option, *value;
	} labels[] = {{"--name", plan->name},
		      {"--namespace", plan->name_space},
		      {"--runtime-class", plan->runtime_class},
		      {"--push-secret", plan->push_secret}};
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		if (labels[i].value != NULL &&
		    (!fleet_is_subdomain(labels[i].value) || strchr(labels[i].value, '.') != NULL))
			return error_set(err, ERROR_ARGUMENT,
					 "%s: expected lower-case letters, digits and '-'",
					 labels[i].option);
	}
	if (strlen(plan->name) > FLEET_NAME_MAX)
		return error_set(err, ERROR_ARGUMENT, "--name: longer than %d characters",
				 (int)FLEET_NAME_MAX);
	if (plan->folder[0] != '/' || strstr(plan->folder, "..") != NULL)
		return error_set(err, ERROR_ARGUMENT,
				 "--folder: expected an absolute path without '..'");
	text_each (selector, &plan->selectors) {
		if (selector[0] == '=' || strchr(selector, '=') == NULL)
			return error_set(err, ERROR_ARGUMENT,
					 "--selector: expected KEY=VALUE, got '%s'", selector);
	}
	int rc = check_push(plan, err);
	if (rc < 0)
		return rc;

	const char *digest = strstr(plan->image, "@sha256:");
	const char *hex = digest != NULL ? digest + strlen("@sha256:") : "";
	const bool pinned =
		strlen(hex) == DIGEST_DIGITS && strspn(hex, "0123456789abcdef") == DIGEST_DIGITS;
	if (plan->image[0] == '\0' || digest == plan->image || strpbrk(plan->image, " \t\r\n"))
		return error_set(err, ERROR_ARGUMENT, "--image: not the name of an image");
	if (!plan->allow_tag && !pinned)
		return error_set(err, ERROR_ARGUMENT,
				 "--image: expected NAME@sha256:DIGEST, so that each node runs the "
				 "same image; --allow-tag accepts a tag");
	return 0;
}

/* Names of nodes have the same letters, and differ only in their lengths: the longest decides. */
static int check_places(const struct planning *it, struct error *err)
{
	const char *longest = "";
	for (size_t i = 0; i < it->node_count; i++)
		longest = strlen(it->nodes[i].name) > strlen(longest) ? it->nodes[i].name : longest;
	char *place CLEANUP_FREE = plan_place(it->plan, longest);
	if (place == NULL)
		return 0;
	if (strlen(place) > FLEET_PLACE_MAX)
		return error_set(err, ERROR_ARGUMENT, "--push: %s: longer than %d characters",
				 longest, (int)FLEET_PLACE_MAX);
	int rc = it->plan->check_place != NULL ? it->plan->check_place(place, err) : 0;
	return rc < 0 ? error_wrap(err, rc, "--push") : 0;
}

/* NULL: the node has no such label. */
static const char *label_of(const cJSON *node, const char *key)
{
	const cJSON *labels = json_pointer(node, "/metadata/labels");
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(labels, key));
}

static bool is_selected(const struct fleet_plan *plan, const cJSON *node)
{
	text_each (selector, &plan->selectors) {
		const char *value = strchr(selector, '=') + 1;
		char *key CLEANUP_FREE =
			memory_copy_start(selector, (size_t)(value - selector) - 1);
		if (!text_equal(label_of(node, key), value))
			return false;
	}
	return true;
}

static bool is_ready(const cJSON *node)
{
	json_each (condition, json_pointer(node, "/status/conditions")) {
		if (view_is(condition, "/type", "Ready"))
			return view_is(condition, "/status", "True");
	}
	return false;
}

/* A taint that keeps the Job's pod away; NULL: none. */
static const cJSON *find_taint(const struct planning *it, const cJSON *node)
{
	json_each (taint, json_pointer(node, "/spec/taints")) {
		if (!view_is(taint, "/effect", "PreferNoSchedule") &&
		    !text_list_has(&it->plan->tolerations, view_string(taint, "/key")))
			return taint;
	}
	return NULL;
}

/* Adds why no Job can run on the node to the list; false: one can. */
static bool leave_out(struct planning *it, const cJSON *node, const char *name)
{
	const cJSON *taint = find_taint(it, node);
	const char *why = NULL;
	if (text_equal(label_of(node, OS_LABEL), "windows") ||
	    view_is(node, "/status/nodeInfo/operatingSystem", "windows"))
		why = "Windows: use share/gpucert/deploy/node (docs/deployment.md)";
	else if (json_pointer_true(node, "/spec/unschedulable"))
		why = "unschedulable";
	else if (!is_ready(node))
		why = "not ready";
	else if (label_of(node, HOSTNAME_LABEL) == NULL)
		why = "has no label " HOSTNAME_LABEL;
	if (why != NULL)
		text_list_addf(it->left_out, "%s: %s", name, why);
	else if (taint != NULL)
		text_list_addf(it->left_out, "%s: taint %.253s:%.32s (see --toleration)", name,
			       view_string(taint, "/key"), view_string(taint, "/effect"));
	return why != NULL || taint != NULL;
}

/* The name of a node, or the value of its label, that may appear only once. */
static int check_once(struct text_index *names, const struct json_at *node, const char *what,
		      const char *name, struct error *err)
{
	if (!fleet_is_subdomain(name))
		return json_error(node, err, "%s: '%.64s' is not a DNS subdomain (RFC 1123)", what,
				  name);
	const size_t first = text_index_put(names, name, node->index);
	if (first != node->index)
		return json_error(node, err, "%s: '%s' is that of items[%zu], too", what, name,
				  first);
	return 0;
}

static unsigned long long hash_of(const char *fleet, const char *node)
{
	char *text CLEANUP_FREE = text_format("%s\n%s", fleet, node);
	char digest[DIGEST_SIZE] = "";
	digest_bytes(text, strlen(text), digest);
	digest[strlen("sha256:") + 16] = '\0';
	return strtoull(digest + strlen("sha256:"), NULL, 16);
}

static int read_node(const struct json_at *at, void *user, struct error *err)
{
	struct planning *it = user;
	struct json_at metadata = {0};
	const char *name = NULL;
	int rc = json_need(at, "metadata", JSON_OBJECT, &metadata, err);
	if (rc == 0)
		rc = json_need_string(&metadata, "name", &name, err);
	if (rc == 0)
		rc = check_once(&it->names, at, "metadata.name", name, err);
	if (rc < 0 || !is_selected(it->plan, at->node) || leave_out(it, at->node, name))
		return rc;

	const char *hostname = label_of(at->node, HOSTNAME_LABEL);
	if (strlen(hostname) > LABEL_VALUE_MAX)
		return json_error(&metadata, err, "labels: " HOSTNAME_LABEL " is longer than %d",
				  (int)LABEL_VALUE_MAX);
	rc = check_once(&it->hostnames, at, "metadata.labels." HOSTNAME_LABEL, hostname, err);
	if (rc < 0)
		return rc;
	it->nodes = array_grow(it->nodes, it->node_count, sizeof(*it->nodes));
	it->nodes[it->node_count++] =
		(struct plan_node){name, hostname, hash_of(it->plan->name, name)};
	return 0;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct plan_node *x = a;
	const struct plan_node *y = b;
	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Nodes of a wave: at least one. */
static int read_wave_size(const struct planning *it, size_t *size, struct error *err)
{
	const char *text = it->plan->max_unavailable;
	const bool percent = text_ends_with(text, "%");
	char *digits CLEANUP_FREE = memory_copy_start(text, strlen(text) - (percent ? 1 : 0));
	long long number = 0;
	int rc = text_to_int64(digits, "--max-unavailable", 1, percent ? 100 : FLEET_ITEMS_MAX,
			       &number, err);
	if (rc < 0)
		return error_set(err, ERROR_ARGUMENT,
				 "--max-unavailable: expected a number or 1%% to 100%%, got '%s'",
				 text);
	*size = percent ? it->node_count * (size_t)number / 100 : (size_t)number;
	if (*size == 0)
		*size = 1;
	return 0;
}

int fleet_plan_make(const cJSON *nodes, const struct fleet_plan *plan, struct fleet_wave *out,
		    struct error *err)
{
	struct planning it CLEANUP(planning_free) = {.plan = plan, .left_out = &out->left_out};
	size_t size = 1;
	int rc = check_options(plan, err);
	if (rc == 0)
		rc = fleet_list_each(nodes, read_node, &it, err);
	if (rc == 0)
		rc = read_wave_size(&it, &size, err);
	if (rc < 0)
		return rc;
	out->planned = it.node_count;
	out->waves = (it.node_count + size - 1) / size;
	if (it.node_count == 0)
		return error_set(err, ERROR_ARGUMENT,
				 "no node can be planned: %zu of those selected are left out",
				 out->left_out.count);
	if ((size_t)plan->wave > out->waves)
		return error_set(err, ERROR_ARGUMENT, "--wave: got %lld, the last wave is %zu",
				 (long long)plan->wave, out->waves);

	rc = check_places(&it, err);
	if (rc < 0)
		return rc;
	qsort(it.nodes, it.node_count, sizeof(*it.nodes), compare_nodes);
	const size_t first = ((size_t)plan->wave - 1) * size;
	cJSON *template CLEANUP_JSON = plan_template(plan);
	text_add(&out->jobs, "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [");
	while (out->nodes < size && first + out->nodes < it.node_count) {
		cJSON *job CLEANUP_JSON = plan_job(plan, template, &it.nodes[first + out->nodes]);
		char *line CLEANUP_FREE = json_print_compact(job);
		text_add(&out->jobs, out->nodes++ > 0 ? ",\n" : "\n");
		text_add(&out->jobs, line);
	}
	text_add(&out->jobs, "\n]}\n");
	return 0;
}

void fleet_wave_free(struct fleet_wave *wave)
{
	text_free(&wave->jobs);
	text_list_free(&wave->left_out);
}
