/* SPDX-License-Identifier: MIT */
#include "workloads/dxcore/dxcore.h"

#include "workloads/directx/directx.h"
#include "workloads/directx/wine.h"

#include <stdlib.h>
#include <string.h>

static int create_factory(struct api_report *report, struct dxcore *dxcore, struct error *err)
{
	dxcore_create_factory create = NULL;
	const struct api_function functions[] = {{"DXCoreCreateAdapterFactory", &create},
						 {NULL, NULL}};
	int rc = api_load(report, DXCORE_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	HRESULT result = create(&dxcore_iid_factory, (void **)&dxcore->factory);
	rc = hresult_check(result, "DXCoreCreateAdapterFactory", NULL, err);
	if (result == E_NOINTERFACE || result == E_NOTIMPL) /* a library that is a stub */
		err->code = rc = ERROR_UNSUPPORTED;
	return rc;
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
	int rc = hresult_check(object->lpVtbl->GetProperty(object, DXCORE_INSTANCE_LUID,
							   sizeof(adapter.luid), &adapter.luid),
			       "IDXCoreAdapter::GetProperty", NULL, err);
	if (rc != 0 || is_known(dxcore, &adapter.luid) || dxcore->count == API_DEVICES_MAX) {
		com_release(object);
		return rc;
	}
	for (size_t i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++)
		adapter.attributes[i] =
			object->lpVtbl->IsAttributeSupported(object, &dxcore_attributes[i].guid);
	dxcore->adapters[dxcore->count++] = adapter;
	return 0;
}

static int add_list(struct dxcore *dxcore, const GUID *attribute, struct error *err)
{
	IDXCoreAdapterList *list = NULL;
	int rc = hresult_check(
		dxcore->factory->lpVtbl->CreateAdapterList(dxcore->factory, 1, attribute,
							   &dxcore_iid_list, (void **)&list),
		"IDXCoreAdapterFactory::CreateAdapterList", NULL, err);
	uint32_t count = rc == 0 ? list->lpVtbl->GetAdapterCount(list) : 0;
	for (uint32_t i = 0; rc == 0 && i < count && i < API_DEVICES_MAX; i++) {
		IDXCoreAdapter *object = NULL;
		rc = hresult_check(
			list->lpVtbl->GetAdapter(list, i, &dxcore_iid_adapter, (void **)&object),
			"IDXCoreAdapterList::GetAdapter", NULL, err);
		if (rc == 0)
			rc = add_adapter(dxcore, object, err);
	}
	com_release(list);
	return rc;
}

int dxcore_open(struct api_report *report, struct dxcore **out, struct error *err)
{
	struct dxcore *dxcore = calloc(1, sizeof(*dxcore));
	int rc = dxcore != NULL ? create_factory(report, dxcore, err) : error_memory(err);
	for (size_t i = 0; rc == 0 && i < DXCORE_LISTS; i++)
		rc = add_list(dxcore, &dxcore_attributes[i].guid, err);
	if (rc == 0)
		*out = dxcore;
	else
		dxcore_free(dxcore);
	return rc;
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

static int dxcore_api_open(struct api_report *report, void **session, struct error *err)
{
	struct dxcore *dxcore = NULL;
	wine_name(report->emulator, sizeof(report->emulator));
	int rc = dxcore_open(report, &dxcore, err);
	if (rc == ERROR_UNSUPPORTED)
		report->missing = "DXCore";
	for (size_t i = 0; rc == 0 && i < dxcore->count; i++)
		rc = api_report_device(report, dxcore_describe(&dxcore->adapters[i], i), err);
	if (rc == 0)
		*session = dxcore;
	else
		dxcore_free(dxcore);
	return rc;
}

static void dxcore_api_close(void *session)
{
	dxcore_free(session);
}

const struct api_driver dxcore_api = {
	.name = "dxcore",
	.library = DXCORE_LIBRARY,
	.summary = "List the adapters that DXCore shows",
	.description =
		"Lists the adapters of DXCore by what they are for, with ids, memory and driver: those of DXGI, and "
		"compute-only ones.",
	.open = dxcore_api_open,
	.close = dxcore_api_close,
};
