/* SPDX-License-Identifier: MIT */
#include "workloads/dxgi/dxgi.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "workloads/directx/com.h"
#include "workloads/directx/hresult.h"
#include "workloads/directx/wine.h"

#include <stdlib.h>

typedef HRESULT(WINAPI *create_factory)(REFIID interface_id, void **factory);

static int create(struct dxgi *dxgi, struct error *err)
{
	create_factory make = NULL;
	void *library = NULL;
	int code = library_open(DXGI_LIBRARY, &library, err);

	if (code != 0)
		return code;
	if (library_function(library, "CreateDXGIFactory1", &make, NULL) != 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 DXGI_LIBRARY " has no function CreateDXGIFactory1");
	return hresult_check((int32_t)make(&IID_IDXGIFactory1, (void **)&dxgi->factory),
			     "CreateDXGIFactory1", &dxgi->failure, err);
}

static int enumerate(struct dxgi *dxgi, struct error *err)
{
	while (dxgi->count < API_DEVICES_MAX) {
		HRESULT result = IDXGIFactory1_EnumAdapters1(dxgi->factory, (UINT)dxgi->count,
							     &dxgi->adapters[dxgi->count]);
		int code = 0;

		if ((int32_t)result == HRESULT_DXGI_NOT_FOUND)
			return 0;
		code = hresult_check((int32_t)result, "IDXGIFactory1::EnumAdapters1",
				     &dxgi->failure, err);
		if (code != 0)
			return code;
		dxgi->count++;
	}
	return 0;
}

int dxgi_open(struct dxgi **out, struct error *err)
{
	struct dxgi *dxgi = calloc(1, sizeof(*dxgi));
	int code = dxgi != NULL ? create(dxgi, err) : error_memory(err);

	if (code == 0)
		code = enumerate(dxgi, err);
	if (code != 0) {
		dxgi_free(dxgi);
		return code;
	}
	wine_name(dxgi->emulator, sizeof(dxgi->emulator));
	if (dxgi->emulator[0] != '\0')
		wine_renderer(dxgi->renderer, sizeof(dxgi->renderer));
	*out = dxgi;
	return 0;
}

void dxgi_free(struct dxgi *dxgi)
{
	if (dxgi == NULL)
		return;
	for (size_t i = 0; i < dxgi->count; i++)
		com_release(dxgi->adapters[i]);
	com_release(dxgi->factory);
	free(dxgi);
}

int dxgi_report(struct dxgi *dxgi, struct api_report *report, struct error *err)
{
	memcpy(report->emulator, dxgi->emulator, sizeof(report->emulator));
	for (size_t i = 0; i < dxgi->count; i++)
		if (!array_add(report->devices, dxgi_describe(dxgi, i)))
			return error_memory(err);
	return 0;
}

int dxgi_report_failure(struct api_report *report, const struct error *reason, struct error *err)
{
	wine_name(report->emulator, sizeof(report->emulator));
	if (reason->code == ERROR_MEMORY)
		return error_memory(err);
	if (reason->code == ERROR_NOT_FOUND)
		api_report_unsupported(report, DXGI_LIBRARY, reason);
	else if (reason->code == ERROR_UNSUPPORTED)
		api_report_unsupported(report, "DXGI adapter", reason);
	else
		api_report_failed(report, reason);
	return 0;
}

static int dxgi_api_open(struct api_report *report, void **session, struct error *err)
{
	struct dxgi *dxgi = NULL;
	void *library = NULL;
	struct error reason = {0};
	int code = api_report_begin(report, "dxgi", DXGI_LIBRARY, err);

	if (code != 0)
		return code;
	if (library_open(DXGI_LIBRARY, &library, NULL) == 0)
		api_report_loaded(report, library);
	if (dxgi_open(&dxgi, &reason) != 0)
		return dxgi_report_failure(report, &reason, err);
	*session = dxgi;
	return dxgi_report(dxgi, report, err);
}

static bool dxgi_api_close(void *session)
{
	dxgi_free(session);
	return true;
}

const struct api_driver dxgi_api = {
	.name = "dxgi",
	.library = DXGI_LIBRARY,
	.open = dxgi_api_open,
	.close = dxgi_api_close,
};
