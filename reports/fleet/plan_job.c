/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet_internal.h"

#include "base/members.h"
#include "base/memory.h"
#include "job_json.h"

#include <stdio.h>
#include <string.h>

#define POD	  "/spec/template/spec"
#define CONTAINER POD "/containers/0"

enum { NODE_PART_MAX = 25, JITTER_S = 30 };

/*
 * What the container does: waits for its turn, runs, and writes the verdict to the pod's status. A signal ends the run, which
 * then writes its report, and not only the shell. An exit code of 4 (incomplete) makes Kubernetes start the pod again.
 */
static const char script[] =
	"stop=\n"
	"trap 'stop=1; kill \"$!\" 2>/dev/null' TERM INT\n"
	"sleep \"$FLEET_DELAY\" & wait \"$!\"\n"
	"[ -z \"$stop\" ] || exit 4\n"
	"gpucert run --out \"$FLEET_OUT\" \"$@\" & wait \"$!\"\n"
	"code=$?\n"
	"[ -z \"$stop\" ] || { wait \"$!\"; code=$?; }\n"
	"gpucert fleet verdict --exit-code \"$code\" \"$FLEET_OUT\" >\"$FLEET_VERDICT\"\n"
	"exit \"$code\"\n";

void fleet_set_item(cJSON *json, const char *parent, const char *key, cJSON *value)
{
	cJSON *object = (cJSON *)(uintptr_t)json_pointer(json, parent);
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	(void)cJSON_AddItemToObject(object, key, value);
}

void fleet_set(cJSON *json, const char *parent, const char *key, const char *value)
{
	fleet_set_item(json, parent, key, cJSON_CreateString(value));
}

static cJSON *tolerations(const struct fleet_plan *plan)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	text_each (key, &plan->tolerations) {
		struct members json CLEANUP_MEMBERS = members_new();
		member_string(&json, "key", key);
		member_string(&json, "operator", "Exists");
		member_item(&array, NULL, members_take(&json));
	}
	return members_take(&array);
}

cJSON *plan_template(const struct fleet_plan *plan)
{
	static const char *const command[] = {"/bin/sh", "-c", script, "gpucert", NULL};
	static const char *const labels[] = {"/metadata/labels", "/spec/template/metadata/labels"};
	cJSON *job = cJSON_Parse(job_json);
	char wave[32] = "";
	(void)snprintf(wave, sizeof(wave), "%lld", (long long)plan->wave);
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		fleet_set(job, labels[i], FLEET_LABEL_NAME, plan->name);
		fleet_set(job, labels[i], "gpucert.internal/wave", wave);
	}
	fleet_set(job, "/metadata", "namespace", plan->name_space);
	fleet_set_item(job, "/spec", "backoffLimit", cJSON_CreateNumber((double)plan->retries));
	fleet_set_item(job, "/spec", "activeDeadlineSeconds",
		       cJSON_CreateNumber((double)plan->deadline_s));
	if (plan->retries == 0)
		cJSON_DeleteItemFromObject(cJSON_GetObjectItem(job, "spec"), "podFailurePolicy");
	if (plan->runtime_class != NULL)
		fleet_set(job, POD, "runtimeClassName", plan->runtime_class);
	fleet_set_item(job, POD, "tolerations", tolerations(plan));
	fleet_set(job, CONTAINER, "image", plan->image);
	fleet_set_item(job, CONTAINER, "command",
		       cJSON_CreateStringArray(command, ARRAY_SIZE(command) - 1));
	fleet_set_item(job, CONTAINER, "args", json_new_strings(plan->arguments));
	return job;
}

/* FLEET-NODE-HASH: at most 63 bytes, the limit of the label job-name. The hash makes it unique, the node's name is for people. */
static char *name_of(const struct fleet_plan *plan, const struct plan_node *node)
{
	char part[NODE_PART_MAX + 1] = "";
	(void)snprintf(part, sizeof(part), "%s", node->name);
	for (char *dot = part; (dot = strchr(dot, '.')) != NULL;)
		*dot = '-';
	size_t size = strlen(part);
	while (size > 0 && part[size - 1] == '-')
		part[--size] = '\0';
	return text_format("%s-%s-%016llx", plan->name, part, node->hash);
}

cJSON *plan_job(const struct fleet_plan *plan, const cJSON *template, const struct plan_node *node)
{
	cJSON *job = cJSON_Duplicate(template, true);
	char *name CLEANUP_FREE = name_of(plan, node);
	char *folder CLEANUP_FREE = text_format("%s/%s/%s", plan->folder, plan->name, node->name);
	char *host CLEANUP_FREE = memory_copy_start(node->name, strcspn(node->name, "."));
	char *delay CLEANUP_FREE = text_format("%llu", node->hash % JITTER_S);
	fleet_set(job, "/metadata", "name", name);
	fleet_set(job, "/metadata/annotations", FLEET_NODE, node->name);
	fleet_set(job, "/spec/template/metadata/annotations", FLEET_NODE, node->name);
	fleet_set(job, POD "/nodeSelector", "kubernetes.io/hostname", node->hostname);
	/* A report that names its host then names the node, and not the pod. */
	fleet_set(job, POD, "hostname", host);
	fleet_set(job, CONTAINER "/env/0", "value", delay);
	fleet_set(job, POD "/volumes/0/hostPath", "path", folder);
	return job;
}
