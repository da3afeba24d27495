/* SPDX-License-Identifier: MIT */
/* A device that works again. */
#include "base/cleanup.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/handed_out.h"
#include "conformance/checks/health.h"
#include "conformance/checks/list_and_watch.h"

#include <string.h>

enum {
	STAY_S = 3, /* the state is watched */
};

/* Does all exist that the device's answer hands out? Others judge that (allocate.paths-exist, allocate.cdi-resolves). */
static bool is_complete(struct device_under_test *device)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct handed_out all CLEANUP_HANDED_OUT = {0};
	struct handed_out present CLEANUP_HANDED_OUT = {0};
	const V1beta1__ContainerAllocateResponse *answer =
		rig_ask(device->rig, device->resource, &device->id, 1, &reply);
	if (answer == NULL || rig_is_windows(device->rig))
		return false;
	handed_out_add(device->rig, answer, false, &all);
	handed_out_add(device->rig, answer, true, &present);
	return all.paths.count == present.paths.count && all.cdi.count == present.cdi.count;
}

/* Pods get the device again. */
static void expect_allocated(struct device_under_test *device, bool complete)
{
	struct rig *rig = device->rig;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct handed_out out CLEANUP_HANDED_OUT = {0};
	if (!health_is_undisturbed(device) || health_look(device) != HEALTHY)
		return;
	const char *what = check_format(rig->run, "Allocate of %s after it returned", device->id);
	const V1beta1__ContainerAllocateResponse *answer =
		allocate_expect(rig, device->resource, &device->id, 1, what, &reply);
	if (answer == NULL || !complete)
		return;
	handed_out_add(rig, answer, false, &out);
	handed_out_expect(rig, &out, check_format(rig->run, "after %s returned", device->id));
}

static char *numa_of(const struct device_under_test *device)
{
	return list_numa_text(kubelet_device_find(
		kubelet_resource_devices(device->rig->kubelet, device->resource), device->id));
}

void health_device_returns(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	char *before CLEANUP_FREE = device != NULL ? numa_of(device) : NULL;
	const bool complete = device != NULL && is_complete(device);
	struct error err = {0};
	if (device == NULL || !health_fail_and_notice(device) || !health_set_failed(device, false))
		return;
	if (!health_expect_listed(device, true)) {
		if (health_is_undisturbed(device) && health_look(device) == UNHEALTHY)
			(void)check_works(run, health_keep_unnoticed(run, true, &err), NULL, &err);
		return;
	}
	health_expect_stays(device, true, STAY_S);
	expect_allocated(device, complete);
	if (!health_is_undisturbed(device) || health_look(device) != HEALTHY)
		return;
	char *after CLEANUP_FREE = numa_of(device);
	(void)check_expect(run, strcmp(before, after) == 0,
			   check_format(run, "NUMA nodes of %s after it returned", device->id),
			   before + 1, "%s", after + 1);
}
