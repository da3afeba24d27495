/* SPDX-License-Identifier: MIT */
#include "workloads/dxcore/dxcore.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "workloads/directx/com.h"
#include "workloads/directx/hresult.h"
#include "workloads/directx/wine.h"

#include <stdlib.h>
#include <string.h>

static int create_factory(struct dxcore *dxcore, struct error *err)
{
	dxcore_create_factory create = NULL;
	void *library = NULL;
	HRESULT result = 0;
	int code = library_open(DXCORE_LIBRARY, &library, err);

	if (code != 0)
		return code;
	if (library_function(library, "DXCoreCreateAdapterFactory", &create, NULL) != 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 DXCORE_LIBRARY " has no function DXCoreCreateAdapterFactory");
	result = create(&dxcore_iid_factory, (void **)&dxcore->factory);
	code = hresult_check((int32_t)result, "DXCoreCreateAdapterFactory", &dxcore->failure, err);
	if (result == E_NOINTERFACE || result == E_NOTIMPL) /* a library that is a stub */
		err->code = code = ERROR_UNSUPPORTED;
	return code;
}

static bool is_known(const struct dxcore *dxcore, const LUID *luid)
{
	for (size_t i = 0; i < dxcore->count; i++)
		if (memcmp(&dxcore->adapters[i].luid, luid, sizeof(*luid)) == 0)
			return true;
	return false;
}

/* Takes the reference. */
static int add_adapter(struct dxcore *dxcore, IDXCoreAdapter *object, struct error *err)
{
	struct dxcore_adapter adapter = {.object = object};
	int code = hresult_check((int32_t)object->lpVtbl->GetProperty(object, DXCORE_INSTANCE_LUID,
								      sizeof(adapter.luid),
								      &adapter.luid),
				 "IDXCoreAdapter::GetProperty", &dxcore->failure, err);

	if (code != 0 || is_known(dxcore, &adapter.luid) || dxcore->count == API_DEVICES_MAX) {
		com_release(object);
		return code;
	}
	for (size_t i = 0; i < DXCORE_ATTRIBUTES; i++)
		adapter.attributes[i] =
			object->lpVtbl->IsAttributeSupported(object, &dxcore_attributes[i].guid);
	dxcore->adapters[dxcore->count++] = adapter;
	return 0;
}

static int add_list(struct dxcore *dxcore, const GUID *attribute, struct error *err)
{
	IDXCoreAdapterList *list = NULL;
	int code = hresult_check(
		(int32_t)dxcore->factory->lpVtbl->CreateAdapterList(
			dxcore->factory, 1, attribute, &dxcore_iid_list, (void **)&list),
		"IDXCoreAdapterFactory::CreateAdapterList", &dxcore->failure, err);
	uint32_t count = code == 0 ? list->lpVtbl->GetAdapterCount(list) : 0;

	for (uint32_t i = 0; code == 0 && i < count && i < API_DEVICES_MAX; i++) {
		IDXCoreAdapter *object = NULL;

		code = hresult_check((int32_t)list->lpVtbl->GetAdapter(list, i, &dxcore_iid_adapter,
								       (void **)&object),
				     "IDXCoreAdapterList::GetAdapter", &dxcore->failure, err);
		if (code == 0)
			code = add_adapter(dxcore, object, err);
	}
	com_release(list);
	return code;
}

int dxcore_open(struct dxcore **out, struct error *err)
{
	struct dxcore *dxcore = calloc(1, sizeof(*dxcore));
	int code = dxcore != NULL ? create_factory(dxcore, err) : error_memory(err);

	for (size_t i = 0; code == 0 && i < DXCORE_LISTS; i++)
		code = add_list(dxcore, &dxcore_attributes[i].guid, err);
	if (code == 0)
		*out = dxcore;
	else
		dxcore_free(dxcore);
	return code;
}

void dxcore_free(struct dxcore *dxcore)
{
	if (dxcore == NULL)
		return;
	for (size_t i = 0; i < dxcore->count; i++)
		com_release(dxcore->adapters[i].object);
	com_release(dxcore->factory);
	free(dxcore);
}

static int report_failure(struct api_report *report, const struct error *reason, struct error *err)
{
	if (reason->code == ERROR_MEMORY)
		return error_memory(err);
	if (reason->code == ERROR_NOT_FOUND)
		api_report_unsupported(report, DXCORE_LIBRARY, reason);
	else if (reason->code == ERROR_UNSUPPORTED)
		api_report_unsupported(report, "DXCore", reason);
	else
		api_report_failed(report, reason);
	return 0;
}

static int dxcore_api_open(struct api_report *report, void **session, struct error *err)
{
	struct dxcore *dxcore = NULL;
	void *library = NULL;
	struct error reason = {0};
	int code = api_report_begin(report, "dxcore", DXCORE_LIBRARY, err);

	if (code != 0)
		return code;
	wine_name(report->emulator, sizeof(report->emulator));
	if (library_open(DXCORE_LIBRARY, &library, NULL) == 0)
		api_report_loaded(report, library);
	if (dxcore_open(&dxcore, &reason) != 0)
		return report_failure(report, &reason, err);
	*session = dxcore;
	for (size_t i = 0; i < dxcore->count; i++)
		if (!array_add(report->devices, dxcore_describe(&dxcore->adapters[i], i)))
			return error_memory(err);
	return 0;
}

static bool dxcore_api_close(void *session)
{
	dxcore_free(session);
	return true;
}

const struct api_driver dxcore_api = {
	.name = "dxcore",
	.library = DXCORE_LIBRARY,
	.open = dxcore_api_open,
	.close = dxcore_api_close,
};
