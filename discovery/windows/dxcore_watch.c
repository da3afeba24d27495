/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "discovery/windows/dxcore.h"

#include <stdlib.h>

enum { WATCHED_MAX = 256 };

/* An adapter list or an adapter, kept for as long as its notification is registered: releasing it
 * before would end the process. */
struct dxcore_watched {
	IUnknown *object;
	uint32_t cookie;
};

struct dxcore_watch {
	IDXCoreAdapterFactory *factory;
	HANDLE event;
	volatile LONG notified;
	struct dxcore_watched watched[WATCHED_MAX];
	size_t count;
};

static void STDMETHODCALLTYPE on_notification(uint32_t notification, void *object, void *context)
{
	struct dxcore_watch *watch = context;
	(void)notification;
	(void)object;
	(void)InterlockedExchange(&watch->notified, 1);
	(void)SetEvent(watch->event);
}

/* Consumes the object. */
static void watch_register(struct dxcore_watch *watch, void *object,
			   enum dxcore_notification notification)
{
	IDXCoreAdapterFactory *factory = watch->factory;
	struct dxcore_watched *watched = &watch->watched[watch->count];
	IUnknown *unknown = object;

	if (watch->count < WATCHED_MAX &&
	    factory->lpVtbl->IsNotificationTypeSupported(factory, notification) &&
	    SUCCEEDED(factory->lpVtbl->RegisterEventNotification(
		    factory, object, notification, on_notification, watch, &watched->cookie))) {
		watched->object = unknown;
		watch->count++;
		return;
	}
	(void)unknown->lpVtbl->Release(unknown);
}

static void register_all(struct dxcore_watch *watch)
{
	IDXCoreAdapterFactory *factory = watch->factory;
	for (size_t i = 0; i < DXCORE_LIST_COUNT; i++) {
		void *made = NULL;

		if (FAILED(factory->lpVtbl->CreateAdapterList(
			    factory, 1, &dxcore_attributes[i].guid, &dxcore_iid_list, &made)) ||
		    made == NULL)
			continue;
		IDXCoreAdapterList *list = made;
		uint32_t count = list->lpVtbl->GetAdapterCount(list);
		for (uint32_t k = 0; k < count; k++) {
			void *adapter = NULL;
			if (SUCCEEDED(list->lpVtbl->GetAdapter(list, k, &dxcore_iid_adapter,
							       &adapter)) &&
			    adapter != NULL)
				watch_register(watch, adapter, DXCORE_ADAPTER_NO_LONGER_VALID);
		}
		watch_register(watch, list, DXCORE_ADAPTER_LIST_STALE);
	}
}

static void unregister_all(struct dxcore_watch *watch)
{
	IDXCoreAdapterFactory *factory = watch->factory;
	for (size_t i = 0; i < watch->count; i++) {
		struct dxcore_watched *watched = &watch->watched[i];
		(void)factory->lpVtbl->UnregisterEventNotification(factory, watched->cookie);
		(void)watched->object->lpVtbl->Release(watched->object);
	}
	watch->count = 0;
}

int dxcore_watch_open(HANDLE event, struct dxcore_watch **out, struct error *err)
{
	struct dxcore_watch *watch = memory_allocate(1, sizeof(*watch));
	int rc = watch != NULL ? dxcore_factory_open(&watch->factory, err) : error_memory(err);
	if (rc < 0) {
		free(watch);
		return rc;
	}
	watch->event = event;
	register_all(watch);
	*out = watch;
	return 0;
}

bool dxcore_watch_changed(struct dxcore_watch *watch)
{
	if (InterlockedExchange(&watch->notified, 0) == 0)
		return false;
	unregister_all(watch);
	register_all(watch);
	return true;
}

void dxcore_watch_close(struct dxcore_watch *watch)
{
	if (watch == NULL)
		return;
	unregister_all(watch);
	(void)watch->factory->lpVtbl->Release(watch->factory);
	free(watch);
}
