/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

#include "base/cleanup.h"

#include <stdlib.h>

int d3d12_open(struct api_report *report, void **session, struct error *err)
{
	struct d3d12 *d3d CLEANUP_FREE = calloc(1, sizeof(*d3d));
	if (d3d == NULL)
		return error_memory(err);
	int rc = d3d12_platform_open(report, &d3d->platform, err);
	if (rc == 0)
		*session = STEAL(d3d);
	return rc;
}

bool d3d12_close(void *session)
{
	struct d3d12 *d3d = session;
	if (d3d->abandoned)
		return false;
	d3d12_platform_free(d3d->platform);
	free(d3d);
	return true;
}

const struct api_driver d3d12_api = {
	.name = "d3d12",
	.library = D3D12_LIBRARY,
	.summary = "Make Direct3D 12 work on a device and tell what happened",
	.description =
		"Opens Direct3D 12 (d3d12.dll, or vkd3d where the system is not Windows), enumerates the adapters, runs a "
		"compute pipeline on one of them and draws a triangle off-screen, and verifies every element and every "
		"pixel on the CPU. Compute-only devices draw nothing.",
	.open = d3d12_open,
	.work = d3d12_work,
	.close = d3d12_close,
};
