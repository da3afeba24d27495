/* SPDX-License-Identifier: MIT */
#include "reports/fleet/fleet_internal.h"

#include "base/digest.h"
#include "base/members.h"
#include "base/memory.h"
#include "job_json.h"
#include "pod_sh.h"

#include <stdio.h>
#include <string.h>

#define POD	  "/spec/template/spec"
#define CONTAINER POD "/containers/0"

enum { NODE_PART_MAX = 25, JITTER_S = 30, PUSH_MAX_S = 600 };

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
		struct members json = member_object(&array, NULL);
		member_string(&json, "key", key);
		member_string(&json, "operator", "Exists");
	}
	return members_take(&array);
}

/* Removes a volume that only some plans need, and its mount. */
static void drop_volume(cJSON *job, int place)
{
	cJSON_DeleteItemFromArray((cJSON *)(uintptr_t)json_pointer(job, POD "/volumes"), place);
	cJSON_DeleteItemFromArray((cJSON *)(uintptr_t)json_pointer(job, CONTAINER "/volumeMounts"),
				  place);
}

/* The value of a variable of the container. */
static void set_variable(cJSON *job, const char *name, const char *value)
{
	json_each (variable, json_pointer(job, CONTAINER "/env")) {
		if (text_equal(json_pointer_string(variable, "/name"), name))
			fleet_set((cJSON *)(uintptr_t)variable, "", "value", value);
	}
}

/* Removes the folder of the kubelet's socket if the run does not need it. */
static void set_arguments(cJSON *job, const struct fleet_plan *plan)
{
	cJSON *arguments = json_new_strings(plan->arguments);
	bool named = false;
	text_each (argument, plan->arguments)
		named = named || text_starts_with(argument, "--pod-resources");
	if (plan->pod_resources && !named)
		(void)cJSON_InsertItemInArray(
			arguments, 0,
			cJSON_CreateString(
				"--pod-resources=/var/lib/kubelet/pod-resources/kubelet.sock"));
	if (!plan->pod_resources && !named)
		drop_volume(job, 3);
	fleet_set_item(job, CONTAINER, "args", arguments);
}

cJSON *plan_template(const struct fleet_plan *plan)
{
	static const char *const command[] = {"/bin/sh", "-c", pod_sh, "gpucert", NULL};
	static const char *const labels[] = {"/metadata/labels", "/spec/template/metadata/labels"};
	cJSON *job = cJSON_Parse(job_json);
	char *wave CLEANUP_FREE = text_format("%lld", (long long)plan->wave);
	char *folder CLEANUP_FREE = text_format("%s/%s", plan->folder, plan->name);
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
	fleet_set(job, POD "/volumes/0/hostPath", "path", folder);
	fleet_set(job, CONTAINER, "image", plan->image);
	fleet_set_item(job, CONTAINER, "command",
		       cJSON_CreateStringArray(command, ARRAY_SIZE(command) - 1));

	/* However long the run takes, the verdict must be written before the Job's deadline, which removes the
	 * pod. */
	const int64_t part = plan->deadline_s / 4;
	char *options CLEANUP_FREE =
		text_format("--within %lld%s", (long long)(part < PUSH_MAX_S ? part : PUSH_MAX_S),
			    plan->plain_http ? " --plain-http" : "");
	set_variable(job, "FLEET_PUSH_OPTIONS", options);
	if (plan->push_secret != NULL)
		fleet_set(job, POD "/volumes/4/secret", "secretName", plan->push_secret);
	else
		drop_volume(job, 4);

	set_arguments(job, plan);

	/* Hashes what is run: the image and the arguments. */
	char *arguments CLEANUP_FREE = json_print_compact(json_pointer(job, CONTAINER "/args"));
	char *run CLEANUP_FREE = text_format("%s %s", plan->image, arguments);
	char digest[DIGEST_SIZE] = "";
	digest_bytes(run, strlen(run), digest);
	set_variable(job, "FLEET_PLAN", digest);

	return job;
}

char *plan_place(const struct fleet_plan *plan, const char *node)
{
	const char *at = plan->push != NULL ? strstr(plan->push, FLEET_PUSH_NODE) : NULL;
	return at == NULL ? NULL
			  : text_format("%.*s%s%s", (int)(at - plan->push), plan->push, node,
					at + strlen(FLEET_PUSH_NODE));
}

cJSON *plan_job(const struct fleet_plan *plan, const cJSON *template, const struct plan_node *node)
{
	cJSON *job = cJSON_Duplicate(template, true);

	/* FLEET-NODE-HASH: at most 63 bytes, the limit of the label job-name. The hash makes it unique, the node's name is for people. */
	char part[NODE_PART_MAX + 1] = "";
	(void)snprintf(part, sizeof(part), "%s", node->name);
	for (char *dot = part; (dot = strchr(dot, '.')) != NULL;)
		*dot = '-';
	size_t size = strlen(part);
	while (size > 0 && part[size - 1] == '-')
		part[--size] = '\0';
	char *name CLEANUP_FREE = text_format("%s-%s-%016llx", plan->name, part, node->hash);

	char *out CLEANUP_FREE = text_format("/report/%s", node->name);
	char *place CLEANUP_FREE = plan_place(plan, node->name);
	char *host CLEANUP_FREE = memory_copy_start(node->name, strcspn(node->name, "."));
	char *delay CLEANUP_FREE = text_format("%llu", node->hash % JITTER_S);
	fleet_set(job, "/metadata", "name", name);
	fleet_set(job, "/metadata/annotations", FLEET_NODE, node->name);
	fleet_set(job, "/spec/template/metadata/annotations", FLEET_NODE, node->name);
	fleet_set(job, POD "/nodeSelector", "kubernetes.io/hostname", node->hostname);
	/* So a report that names its host names the node, not the pod. */
	fleet_set(job, POD, "hostname", host);
	set_variable(job, "FLEET_DELAY", delay);
	set_variable(job, "FLEET_OUT", out);
	if (place != NULL)
		set_variable(job, "FLEET_PUSH", place);
	return job;
}
