/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet_internal.h"

#include "base/members.h"
#include "reports/environment.h"
#include "reports/findings.h"
#include "reports/view.h"

#include <string.h>

#define CONDITION "gpucert.internal/Conformant"
#define TAINT	  "gpucert.internal/violated"

enum { MESSAGE_MAX = 1000 };

/* By report_conformance. */
static const struct {
	const char *status, *reason;
} conditions[] = {{"True", "Conformant"}, {"False", "Violated"}, {"Unknown", "NotProven"}};

/* The report cannot be of a node with another kernel: redacted reports have no better sign. */
static int check_kernel(const cJSON *report, const cJSON *node, struct error *err)
{
	const char *saw = view_string(report, "/environment/os/kernel");
	const char *now = view_string(node, "/status/nodeInfo/kernelVersion");
	if (saw[0] == '\0' || now[0] == '\0' || strcmp(saw, now) == 0)
		return 0;
	return error_set(err, ERROR_FORMAT, "the report is of kernel '%.64s', the node has '%.64s'",
			 saw, now);
}

static cJSON *patch(const char *type, const char *subresource, cJSON *body)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "type", type);
	member_optional(&json, "subresource", subresource);
	member_item(&json, "patch", body);
	return members_take(&json);
}

static cJSON *within(const char *key, cJSON *value)
{
	struct members json CLEANUP_MEMBERS = members_new();
	member_item(&json, key, value);
	return members_take(&json);
}

static cJSON *condition(const cJSON *report, const cJSON *node, enum report_conformance result)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members array CLEANUP_MEMBERS = members_new_array();
	struct text message CLEANUP_TEXT = {0};
	const char *ended = view_string(report, "/run/ended");
	const char *since = ended;
	json_each (item, json_pointer(node, "/status/conditions")) {
		if (strcmp(view_string(item, "/type"), CONDITION) == 0 &&
		    strcmp(view_string(item, "/status"), conditions[result].status) == 0)
			since = view_string(item, "/lastTransitionTime");
	}
	findings_add_verdict(report, &message);
	text_addf(&message, "; journal %s", view_string(report, "/run/journal/digest"));
	member_string(&json, "type", CONDITION);
	member_string(&json, "status", conditions[result].status);
	member_string(&json, "reason", conditions[result].reason);
	member_cut(&json, "message", text_string(&message), MESSAGE_MAX);
	member_string(&json, "lastHeartbeatTime", ended);
	member_string(&json, "lastTransitionTime", since);
	member_item(&array, NULL, members_take(&json));
	return within("status", within("conditions", members_take(&array)));
}

static cJSON *labels(const cJSON *report, enum report_conformance result)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members values CLEANUP_MEMBERS = members_new();
	member_string(&values, "gpucert.internal/result", report_conformance_names[result]);
	member_item(&json, "labels", members_take(&values));
	values = members_new();
	member_string(&values, "gpucert.internal/journal",
		      view_string(report, "/run/journal/digest"));
	member_item(&json, "annotations", members_take(&values));
	return within("metadata", members_take(&json));
}

/* The API server replaces the whole list: the others are repeated, and a node that has changed since is refused. */
static cJSON *taints(const cJSON *node, enum report_conformance result)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members array CLEANUP_MEMBERS = members_new_array();
	json_each (taint, json_pointer(node, "/spec/taints")) {
		if (strcmp(view_string(taint, "/key"), TAINT) != 0)
			member_copy(&array, NULL, taint);
	}
	if (result == REPORT_CONFORMANCE_VIOLATED) {
		struct members taint CLEANUP_MEMBERS = members_new();
		member_string(&taint, "key", TAINT);
		member_string(&taint, "effect", "NoSchedule");
		member_item(&array, NULL, members_take(&taint));
	}
	member_item(&json, "metadata",
		    within("resourceVersion",
			   cJSON_CreateString(view_string(node, "/metadata/resourceVersion"))));
	member_item(&json, "spec", within("taints", members_take(&array)));
	return members_take(&json);
}

int fleet_patch_make(const cJSON *report, const cJSON *node, cJSON **out, struct error *err)
{
	const struct json_at root = json_root(node);
	const char *name = view_string(node, "/metadata/name");
	const char *kind = "";
	size_t result = 0;
	int rc = json_need_string(&root, "kind", &kind, err);
	if (rc == 0 && strcmp(kind, "Node") != 0)
		rc = error_set(err, ERROR_FORMAT, "kind: expected Node, got '%.64s'", kind);
	if (rc == 0 && (!fleet_is_subdomain(name) ||
			view_string(node, "/metadata/resourceVersion")[0] == '\0'))
		rc = error_set(err, ERROR_FORMAT,
			       "metadata: name or resourceVersion is missing or wrong");
	if (rc == 0 && !environment_is_live(json_pointer(report, "/environment")))
		rc = error_set(err, ERROR_FORMAT, "the run was not on a live node");
	if (rc == 0)
		rc = fleet_check_host(report, name, err);
	if (rc == 0)
		rc = check_kernel(report, node, err);
	while (rc == 0 && strcmp(report_conformance_names[result],
				 view_string(report, "/verdict/conformance/result")) != 0) {
		if (result++ == REPORT_CONFORMANCE_INCOMPLETE)
			rc = error_set(err, ERROR_FORMAT, "verdict.conformance.result: unknown");
	}
	if (rc < 0)
		return rc;

	struct members json CLEANUP_MEMBERS = members_new();
	const enum report_conformance of = (enum report_conformance)result;
	member_string(&json, "schema", "gpucert-fleet-patch/1");
	member_string(&json, "node", name);
	member_item(&json, "condition", patch("strategic", "status", condition(report, node, of)));
	member_item(&json, "labels", patch("merge", NULL, labels(report, of)));
	member_item(&json, "taint", patch("merge", NULL, taints(node, of)));
	*out = members_take(&json);
	return 0;
}
