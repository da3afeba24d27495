/* SPDX-License-Identifier: MIT */
#include "base/wake.h"

#include "base/memory.h"
#include "base/windows/wide.h"

#include <stdlib.h>
#include <windows.h>

struct wake {
	uv_async_t async; /* sent from a thread of the system's pool when the object is ready */
	HANDLE object;
	HANDLE wait; /* registered for one signal; NULL between two */
	void (*on_wake)(void *user);
	void *user;
};

static VOID CALLBACK on_signalled(void *context, BOOLEAN timed_out)
{
	struct wake *wake = context;
	(void)timed_out;
	(void)uv_async_send(&wake->async);
}

static BOOL wake_register(struct wake *wake)
{
	return RegisterWaitForSingleObject(&wake->wait, wake->object, on_signalled, wake, INFINITE,
					   WT_EXECUTEONLYONCE);
}

/* Waits until the callback is not running and cannot run again. */
static void unregister(struct wake *wake)
{
	if (wake->wait != NULL)
		(void)UnregisterWaitEx(wake->wait, INVALID_HANDLE_VALUE);
	wake->wait = NULL;
}

static void on_async(uv_async_t *async)
{
	struct wake *wake = async->data;
	if (uv_is_closing((uv_handle_t *)async))
		return;
	unregister(wake);
	wake->on_wake(wake->user);
	/* The callback may have freed the wake, whose memory is freed later. */
	if (!uv_is_closing((uv_handle_t *)async))
		(void)wake_register(wake);
}

int wake_start(uv_loop_t *loop, intptr_t object, void (*on_wake)(void *user), void *user,
	       struct wake **out, struct error *err)
{
	/* The values of failed functions; INVALID_HANDLE_VALUE would mean this process. */
	if (object == 0 || (HANDLE)object == INVALID_HANDLE_VALUE)
		return error_set(err, ERROR_IO, "watching a handle: there is none");
	struct wake *wake = memory_allocate(1, sizeof(*wake));
	if (wake == NULL)
		return error_memory(err);
	wake->object = (HANDLE)object;
	wake->on_wake = on_wake;
	wake->user = user;
	int rc = uv_async_init(loop, &wake->async, on_async);
	if (rc < 0) {
		free(wake);
		return error_uv(err, rc, "watching a handle");
	}
	wake->async.data = wake;
	if (!wake_register(wake)) {
		rc = error_windows(err, GetLastError(), "watching a handle");
		wake_free(wake);
		return rc;
	}
	*out = wake;
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void wake_free(struct wake *wake)
{
	if (wake == NULL)
		return;
	unregister(wake);
	uv_close((uv_handle_t *)&wake->async, on_closed);
}
