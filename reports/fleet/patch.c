/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet_internal.h"

#include "base/members.h"
#include "patch_json.h"
#include "reports/environment.h"
#include "reports/findings.h"
#include "reports/view.h"

#define CONDITION "/condition/patch/status/conditions/0"
#define TAINT	  "gpucert.internal/violated"

enum { MESSAGE_MAX = 1000 }; /* bytes */

/* By report_conformance. */
static const struct {
	const char *status, *reason;
} conditions[] = {{"True", "Conformant"}, {"False", "Violated"}, {"Unknown", "NotProven"}};

/* The API server replaces the whole list: so the others are repeated, and a node that has changed meanwhile is
 * refused. */
static cJSON *taints(const cJSON *node, size_t result)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	json_each (taint, json_pointer(node, "/spec/taints")) {
		if (!view_is(taint, "/key", TAINT))
			member_copy(&array, NULL, taint);
	}
	if (result == REPORT_CONFORMANCE_VIOLATED) {
		struct members taint = member_object(&array, NULL);
		member_string(&taint, "key", TAINT);
		member_string(&taint, "effect", "NoSchedule");
	}
	return members_take(&array);
}

int fleet_patch_make(const cJSON *report, const cJSON *node, cJSON **out, struct error *err)
{
	const char *name = view_string(node, "/metadata/name");
	const char *saw = view_string(report, "/environment/os/kernel");
	const char *now = view_string(node, "/status/nodeInfo/kernelVersion");
	if (!view_is(node, "/kind", "Node"))
		return error_set(err, ERROR_FORMAT, "kind: expected Node");
	if (!fleet_is_subdomain(name) || view_string(node, "/metadata/resourceVersion")[0] == '\0')
		return error_set(err, ERROR_FORMAT,
				 "metadata: name or resourceVersion is missing or wrong");
	if (!environment_is_live(json_pointer(report, "/environment")))
		return error_set(err, ERROR_FORMAT, "the run was not on a live node");
	/* In redacted reports nothing else shows that it is another node. */
	if (saw[0] != '\0' && now[0] != '\0' && !text_equal(saw, now))
		return error_set(err, ERROR_FORMAT,
				 "the report is of kernel '%.64s', the node has '%.64s'", saw, now);
	int rc = fleet_check_host(report, name, err);
	if (rc < 0)
		return rc;

	const size_t result = text_position(report_conformance_names,
					    view_string(report, "/verdict/conformance/result"));
	if (report_conformance_names[result] == NULL)
		return error_set(err, ERROR_FORMAT, "verdict.conformance.result: not a result");
	cJSON *json = cJSON_Parse(patch_json);
	fleet_set(json, "", "node", name);

	struct text message CLEANUP_TEXT = {0};
	const char *ended = view_string(report, "/run/ended");
	const char *since = ended;
	json_each (item, json_pointer(node, "/status/conditions")) {
		if (view_is(item, "/type", json_pointer_string(json, CONDITION "/type")) &&
		    view_is(item, "/status", conditions[result].status))
			since = view_string(item, "/lastTransitionTime");
	}
	findings_add_verdict(report, &message);
	text_addf(&message, "; journal %.80s", view_string(report, "/run/journal/digest"));
	fleet_set(json, CONDITION, "status", conditions[result].status);
	fleet_set(json, CONDITION, "reason", conditions[result].reason);
	fleet_set_item(
		json, CONDITION, "message",
		json_new_string(message.data, text_fit(message.data, message.size, MESSAGE_MAX)));
	fleet_set(json, CONDITION, "lastHeartbeatTime", ended);
	fleet_set(json, CONDITION, "lastTransitionTime", since);

	fleet_set(json, "/labels/patch/metadata/labels", "gpucert.internal/result",
		  report_conformance_names[result]);
	fleet_set(json, "/labels/patch/metadata/annotations", "gpucert.internal/journal",
		  view_string(report, "/run/journal/digest"));
	fleet_set(json, "/taint/patch/metadata", "resourceVersion",
		  view_string(node, "/metadata/resourceVersion"));
	fleet_set_item(json, "/taint/patch/spec", "taints", taints(node, result));
	*out = json;
	return 0;
}
