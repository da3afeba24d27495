/* SPDX-License-Identifier: MIT */
#include "workloads/directml/directml.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "workloads/directml/work.h"
#include "workloads/directx/wine.h"

#include <stdlib.h>
#include <string.h>

static int load(struct directml *dml, struct api_report *report, struct error *err)
{
	void *library = NULL;
	int code = library_open(DIRECTML_LIBRARY, &library, err);

	if (code != 0)
		return code;
	api_report_loaded(report, library);
	if (library_function(library, "DMLCreateDevice", &dml->create_device, NULL) != 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 DIRECTML_LIBRARY " has no function DMLCreateDevice");
	return 0;
}

/* The adapters are those of Direct3D 12; the library that counts is DirectML's. */
static int enumerate(struct directml *dml, struct api_report *report, struct error *err)
{
	struct api_report told = *report;
	int code = d3d12_open(report, &dml->d3d, err);

	memcpy(report->path, told.path, sizeof(report->path));
	memcpy(report->file_version, told.file_version, sizeof(report->file_version));
	return code;
}

static int directml_api_open(struct api_report *report, void **session, struct error *err)
{
	struct directml *dml CLEANUP_FREE = calloc(1, sizeof(*dml));
	struct error reason = {0};
	int code = api_report_begin(report, "directml", DIRECTML_LIBRARY, err);

	if (code != 0)
		return code;
	if (dml == NULL)
		return error_memory(err);
	wine_name(report->emulator, sizeof(report->emulator));
	code = load(dml, report, &reason);
	if (code == ERROR_NOT_FOUND)
		api_report_unsupported(report, DIRECTML_LIBRARY, &reason);
	else if (code != 0)
		api_report_failed(report, &reason);
	if (code != 0)
		return 0;
	code = enumerate(dml, report, err);
	if (code == 0 && dml->d3d != NULL)
		*session = STEAL(dml);
	return code;
}

static int directml_api_work(void *session, const struct work_request *request,
			     struct work_report *report, struct error *err)
{
	struct directml *dml = session;
	struct error reason = {0};
	int code = 0;

	if (request->device >= dml->d3d->device_count)
		return work_report_absent(report, dml->d3d->device_count);
	dml->d3d->failure = (struct call_failure){0};
	code = directml_work(dml, request, report, &reason);
	return code == 0 ? 0 : work_report_failure(report, &reason, &dml->d3d->failure, err);
}

static bool directml_api_close(void *session)
{
	struct directml *dml = session;

	if (!d3d12_close(dml->d3d))
		return false;
	free(dml);
	return true;
}

const struct api_driver directml_api = {
	.name = "directml",
	.library = DIRECTML_LIBRARY,
	.open = directml_api_open,
	.work = directml_api_work,
	.close = directml_api_close,
};
