/* SPDX-License-Identifier: MIT */
/* A node in use: pods hold devices, which the run does not touch. */
#include "conformance/runner/runner_internal.h"

#include "base/cleanup.h"
#include "base/members.h"
#include "base/memory.h"

#include <string.h>

enum { POD_RESOURCES_MS = 10000 };

int runner_ask_pods(struct runner *runner, struct error *err)
{
	const struct runner_settings *settings = runner->settings;
	const char *resource = settings->asked.resource;
	struct text text CLEANUP_TEXT = {0};
	if (settings->pod_resources == NULL)
		return 0;
	int rc = pod_resources_list(&runner->loop, settings->pod_resources,
				    context_wait_ms(&settings->asked, POD_RESOURCES_MS),
				    &runner->held, err);
	if (rc < 0)
		return error_wrap(err, rc, "--pod-resources");
	for (size_t i = 0; i < runner->held.count; i++) {
		const struct held_device *held = &runner->held.items[i];
		if (resource == NULL || text_equal(held->resource, resource))
			text_addf(&text, "%s%s of %s by pod %s, container %s",
				  text.size != 0 ? "; " : "", held->id, held->resource, held->pod,
				  held->container);
	}
	if (settings->drain_check && text.size != 0)
		return error_set(err, ERROR_BUSY,
				 "--drain-check: pods hold devices of this node: %s",
				 text_string(&text));

	/* Names of pods, namespaces and containers may identify their owner. */
	for (size_t i = 0; rc == 0 && i < runner->held.count; i++) {
		const struct held_device *held = &runner->held.items[i];
		const size_t size = strcspn(held->pod, "/");
		char *namespace CLEANUP_FREE = memory_copy_start(held->pod, size);
		rc = redactor_add(runner->redactor, REDACT_NAMESPACE, namespace, err);
		if (rc == 0 && held->pod[size] != '\0')
			rc = redactor_add(runner->redactor, REDACT_POD, &held->pod[size + 1], err);
		if (rc == 0)
			rc = redactor_add(runner->redactor, REDACT_CONTAINER, held->container, err);
	}
	return rc;
}

cJSON *runner_describe_pods(const struct runner *runner)
{
	struct members json CLEANUP_MEMBERS = members_new();
	struct members held = member_array(&json, "held");
	for (size_t i = 0; i < runner->held.count; i++)
		member_item(&held, NULL,
			    json_members_write(held_device_members, &runner->held.items[i]));
	return members_take(&json);
}
