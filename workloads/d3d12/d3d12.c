/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

#include "base/cleanup.h"

#include <stdlib.h>

int d3d12_open(struct api_report *report, struct d3d12 **out, struct error *err)
{
	struct d3d12 *d3d CLEANUP_FREE = calloc(1, sizeof(*d3d));
	int code =
		d3d != NULL ? d3d12_platform_open(report, &d3d->platform, err) : error_memory(err);

	if (code != 0 || d3d->platform == NULL)
		return code;
	d3d->device_count = d3d12_platform_count(d3d->platform);
	*out = STEAL(d3d);
	return 0;
}

bool d3d12_close(struct d3d12 *d3d)
{
	if (d3d->abandoned)
		return false;
	d3d12_platform_free(d3d->platform);
	free(d3d);
	return true;
}

static int d3d12_api_open(struct api_report *report, void **session, struct error *err)
{
	struct d3d12 *d3d = NULL;
	int code = api_report_begin(report, "d3d12", d3d12_api.library, err);

	if (code == 0)
		code = d3d12_open(report, &d3d, err);
	*session = d3d;
	return code;
}

static int d3d12_api_work(void *session, const struct work_request *request,
			  struct work_report *report, struct error *err)
{
	struct d3d12 *d3d = session;
	struct error reason = {0};
	int code = 0;

	if (request->device >= d3d->device_count)
		return work_report_absent(report, d3d->device_count);
	d3d->failure = (struct call_failure){0};
	code = d3d12_compute(d3d, request, report, &reason);
	return code == 0 ? 0 : work_report_failure(report, &reason, &d3d->failure, err);
}

static bool d3d12_api_close(void *session)
{
	return d3d12_close(session);
}

const struct api_driver d3d12_api = {
	.name = "d3d12",
	.library = D3D12_LIBRARY,
	.open = d3d12_api_open,
	.work = d3d12_api_work,
	.close = d3d12_api_close,
};
