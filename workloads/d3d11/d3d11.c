/* SPDX-License-Identifier: MIT */
#include "workloads/d3d11/d3d11.h"

#include "base/cleanup.h"
#include "base/library.h"

#include <stdlib.h>

static int load(struct d3d11 *d3d, struct api_report *report, struct error *err)
{
	void *library = NULL;
	int code = library_open(D3D11_LIBRARY, &library, err);

	if (code != 0)
		return code;
	api_report_loaded(report, library);
	if (library_function(library, "D3D11CreateDevice", &d3d->create_device, NULL) != 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 D3D11_LIBRARY " has no function D3D11CreateDevice");
	return 0;
}

static int d3d11_api_open(struct api_report *report, void **session, struct error *err)
{
	struct d3d11 *d3d CLEANUP_FREE = calloc(1, sizeof(*d3d));
	struct error reason = {0};
	int code = api_report_begin(report, "d3d11", D3D11_LIBRARY, err);

	if (code != 0 || d3d == NULL)
		return error_memory(err);
	code = load(d3d, report, &reason);
	if (code == ERROR_NOT_FOUND)
		api_report_unsupported(report, D3D11_LIBRARY, &reason);
	else if (code != 0)
		api_report_failed(report, &reason);
	if (code != 0)
		return 0;
	if (dxgi_open(&d3d->dxgi, &reason) != 0)
		return dxgi_report_failure(report, &reason, err);
	code = dxgi_report(d3d->dxgi, report, err);
	if (code != 0)
		dxgi_free(d3d->dxgi);
	else
		*session = STEAL(d3d);
	return code;
}

static int d3d11_api_work(void *session, const struct work_request *request,
			  struct work_report *report, struct error *err)
{
	struct d3d11 *d3d = session;
	struct error reason = {0};
	int code = 0;

	if (request->device >= d3d->dxgi->count)
		return work_report_absent(report, d3d->dxgi->count);
	d3d->failure = (struct call_failure){0};
	code = d3d11_compute(d3d, request, report, &reason);
	return code == 0 ? 0 : work_report_failure(report, &reason, &d3d->failure, err);
}

static bool d3d11_api_close(void *session)
{
	struct d3d11 *d3d = session;

	if (d3d->abandoned)
		return false;
	dxgi_free(d3d->dxgi);
	free(d3d);
	return true;
}

const struct api_driver d3d11_api = {
	.name = "d3d11",
	.library = D3D11_LIBRARY,
	.open = d3d11_api_open,
	.work = d3d11_api_work,
	.close = d3d11_api_close,
};
