/* SPDX-License-Identifier: MIT */
#include "workloads/opencl/opencl.h"

#include <stdlib.h>

static int opencl_api_open(struct api_report *report, void **session, struct error *err)
{
	struct opencl *cl = NULL;
	int code = opencl_open(report, &cl, err);

	*session = cl;
	return code;
}

static int opencl_api_work(void *session, const struct work_request *request,
			   struct work_report *report, struct error *err)
{
	struct opencl *cl = session;
	struct error reason = {0};
	int code = 0;

	if (request->device >= cl->device_count)
		return work_report_absent(report, cl->device_count);
	cl->failure = (struct call_failure){0};
	code = opencl_compute(cl, request, report, &reason);
	return code == 0 ? 0 : work_report_failure(report, &reason, &cl->failure, err);
}

static bool opencl_api_close(void *session)
{
	struct opencl *cl = session;
	bool orderly = !cl->abandoned;

	if (orderly)
		free(cl);
	return orderly;
}

const struct api_driver opencl_api = {
	.name = "opencl",
	.library = OPENCL_LIBRARY,
	.open = opencl_api_open,
	.work = opencl_api_work,
	.close = opencl_api_close,
};
