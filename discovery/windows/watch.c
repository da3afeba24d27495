/* SPDX-License-Identifier: MIT */
/* An event that DXCore's notifications, the change of a recorded node's file and a timer set. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/windows/wide.h"
#include "discovery/windows/dxcore.h"

#include <gpucert/discovery.h>

#include <stdlib.h>
#include <string.h>

struct discovery_watch {
	HANDLE event; /* manual reset */
	HANDLE timer;
	struct dxcore_watch *adapters; /* NULL: there is no DXCore, or the node is recorded */
	char *file;		       /* of a recorded node; NULL: the live one */
	char *content; /* of the file when it was last read; NULL: it could not be read */
	size_t size;
	HANDLE folder; /* changes in the file's folder */
	HANDLE folder_wait;
	volatile LONG ticked; /* by the timer */
};

static VOID CALLBACK on_timer(void *context, BOOLEAN fired)
{
	struct discovery_watch *watch = context;
	(void)fired;
	(void)InterlockedExchange(&watch->ticked, 1);
	(void)SetEvent(watch->event);
}

static VOID CALLBACK on_folder(void *context, BOOLEAN fired)
{
	struct discovery_watch *watch = context;
	(void)fired;
	(void)FindNextChangeNotification(watch->folder);
	(void)SetEvent(watch->event);
}

/* Reads the file again; true when its content changed. */
static bool read_file(struct discovery_watch *watch)
{
	char *before CLEANUP_FREE = watch->content;
	size_t size_before = watch->size;

	watch->content = NULL;
	if (file_read(watch->file, JSON_FILE_MAX, &watch->content, &watch->size, NULL) < 0 ||
	    before == NULL)
		return (watch->content == NULL) != (before == NULL);
	return watch->size != size_before || memcmp(watch->content, before, size_before) != 0;
}

static int open_file(struct discovery_watch *watch, const char *file, struct error *err)
{
	char *folder CLEANUP_FREE = path_directory(file);
	wchar_t *wide CLEANUP_FREE = folder != NULL ? wide_path(folder) : NULL;

	watch->file = memory_copy(file);
	if (watch->file == NULL || wide == NULL)
		return error_memory(err);
	watch->folder = FindFirstChangeNotificationW(wide, FALSE,
						     FILE_NOTIFY_CHANGE_FILE_NAME |
							     FILE_NOTIFY_CHANGE_SIZE |
							     FILE_NOTIFY_CHANGE_LAST_WRITE);
	if (watch->folder == INVALID_HANDLE_VALUE)
		return error_windows(err, GetLastError(), "watching %s", folder);
	if (!RegisterWaitForSingleObject(&watch->folder_wait, watch->folder, on_folder, watch,
					 INFINITE, WT_EXECUTEDEFAULT))
		return error_windows(err, GetLastError(), "watching %s", folder);
	(void)read_file(watch);
	return 0;
}

int discovery_watch_open(const struct discovery_options *options, unsigned poll_ms,
			 struct discovery_watch **out, struct error *err)
{
	const char *file = options != NULL ? options->recorded_node : NULL;
	struct discovery_watch *watch = memory_allocate(1, sizeof(*watch));
	int rc = 0;

	if (watch == NULL)
		return error_memory(err);
	watch->folder = INVALID_HANDLE_VALUE;
	watch->event = CreateEventW(NULL, TRUE, FALSE, NULL);
	if (watch->event == NULL)
		rc = error_windows(err, GetLastError(), "event");
	else if (file != NULL)
		rc = open_file(watch, file, err);
	else if (dxcore_watch_open(watch->event, &watch->adapters, err) < 0)
		watch->adapters = NULL; /* only the timer remains */
	if (rc == 0 && poll_ms != 0 &&
	    !CreateTimerQueueTimer(&watch->timer, NULL, on_timer, watch, poll_ms, poll_ms,
				   WT_EXECUTEDEFAULT))
		rc = error_windows(err, GetLastError(), "timer");
	if (rc < 0)
		discovery_watch_close(watch);
	else
		*out = watch;
	return rc;
}

intptr_t discovery_watch_handle(const struct discovery_watch *watch)
{
	return (intptr_t)watch->event;
}

bool discovery_watch_changed(struct discovery_watch *watch)
{
	(void)ResetEvent(watch->event);
	bool ticked = InterlockedExchange(&watch->ticked, 0) != 0;
	if (watch->file == NULL) {
		/* DXCore does not report changes of drivers and registry: a tick counts as a change. */
		bool changed = watch->adapters != NULL && dxcore_watch_changed(watch->adapters);
		return changed || ticked;
	}
	return read_file(watch);
}

void discovery_watch_close(struct discovery_watch *watch)
{
	if (watch == NULL)
		return;
	/* INVALID_HANDLE_VALUE: until a callback that runs has ended. */
	if (watch->timer != NULL)
		(void)DeleteTimerQueueTimer(NULL, watch->timer, INVALID_HANDLE_VALUE);
	if (watch->folder_wait != NULL)
		(void)UnregisterWaitEx(watch->folder_wait, INVALID_HANDLE_VALUE);
	if (watch->folder != INVALID_HANDLE_VALUE)
		(void)FindCloseChangeNotification(watch->folder);
	dxcore_watch_close(watch->adapters);
	if (watch->event != NULL)
		(void)CloseHandle(watch->event);
	free(watch->file);
	free(watch->content);
	free(watch);
}
