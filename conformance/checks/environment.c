/* SPDX-License-Identifier: MIT */
/* The environment, which everything else depends on. */
#include "conformance/checks/granted.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/suites.h"
#include "conformance/runner/context.h"
#include "containers/cri/cri.h"

#include <string.h>

enum { DRAIN_MS = 5000 };

static void devices(struct check_run *run)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	char *json = discovery_to_json(node);
	(void)check_expect(run, node->device_count != 0, "devices of the node", "at least one",
			   "%zu", node->device_count);
	node_each (device, node)
		check_note(run, "%s: %s, %s", device->id, device->description,
			   discovery_kind_name(device->kind));
	items_each (diagnostic, node->diagnostics, node->diagnostic_count)
		check_note(run, "%s: %s", diagnostic->place, diagnostic->message);
	if (json != NULL)
		check_evidence_text(run, "node.json", json, strlen(json));
	discovery_string_free(json);
}

static void runtime(struct check_run *run)
{
	Runtime__V1__VersionResponse *version CLEANUP_CRI_REPLY = NULL;
	Runtime__V1__StatusResponse *status CLEANUP_CRI_REPLY = NULL;
	struct cri *cri = NULL;
	struct error err = {0};
	uv_loop_t loop;
	if (!check_works(run, loop_open(&loop, &err), NULL, &err))
		return;
	int rc = cri_open(&loop, check_context(run)->cri_address, &cri, &err);
	if (rc == 0)
		rc = cri_version_wait(cri, &version, &err);
	if (rc == 0)
		rc = cri_status_wait(cri, false, &status, &err);
	if (check_expect_ok(run, rc, "Version and Status of the container runtime", &err)) {
		(void)check_expect_text(run, "runtime_api_version", version->runtime_api_version,
					"v1");
		check_note(run, "%s %s", version->runtime_name, version->runtime_version);
		bool ready = false;
		for (size_t i = 0; status->status != NULL && i < status->status->n_conditions;
		     i++) {
			const Runtime__V1__RuntimeCondition *one = status->status->conditions[i];
			if (strcmp(one->type, "RuntimeReady") == 0)
				ready = one->status;
			if (!one->status)
				check_note(run, "%s is false: %s %s", one->type, one->reason,
					   one->message);
		}
		(void)check_expect_is(run, ready, "RuntimeReady", "true", "false");
	}
	if (cri != NULL)
		check_add_time(run, REPORT_PHASE_CRI, cri_time_ms(cri) * 1000000);
	cri_close(cri);
	(void)loop_drain(&loop, DRAIN_MS, NULL);
}

static void container(struct check_run *run)
{
	static const char *const command[] = {"probe-visibility", NULL};
	const struct context *context = check_context(run);
	size_t i = 0;
	do {
		const char *handler = i != 0 ? context_handler(context, i) : "";
		const char *label =
			check_format(run, "%s%sbare-container", handler, i != 0 ? "-" : "");
		struct stage *stage = stage_open(run, NULL, i);
		if (stage != NULL)
			(void)stage_run(stage, label, command);
	} while (context_handler(context, ++i) != NULL);
}

const struct check environment_checks[] = {
	CHECK("environment.devices", ENV_01, CRITICAL, 1, devices,
	      .title = "The node has a GPU or a software driver",
	      .advice = "Install a driver, or mesa-vulkan-drivers and pocl-opencl-icd for software "
			"devices; 'gpu-discovery' shows what is found.",
	      .timeout_s = 30),
	CHECK("environment.runtime", ENV_01, CRITICAL, 1, runtime,
	      .title = "The container runtime is ready and speaks CRI v1",
	      .advice = "Read the runtime's own log; with --cri, check the address and the CRI "
			"plugin.",
	      .timeout_s = 60, .needs = {.containers = true}),
	CHECK("environment.container", ENV_02, CRITICAL, 1, container,
	      .title = "A container without devices runs a probe",
	      .advice = "Repair the container runtime: the evidence has the reason. Nothing about "
			"containers is proven before this passes.",
	      .timeout_s = 120, .needs = {.launcher = true}),
	{.id = NULL},
};
