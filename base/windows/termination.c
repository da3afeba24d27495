/* SPDX-License-Identifier: MIT */
#include "base/termination.h"

#include "base/memory.h"
#include "base/wake.h"
#include "base/windows/stop_event.h"

#include <stdbool.h>
#include <stdlib.h>
#include <windows.h>

struct termination {
	uv_async_t wake;
	HANDLE stop; /* see stop_event.h; NULL: requests cannot arrive this way */
	struct wake *stop_wake;
	const char *what; /* of the first request; under the lock */
	void (*on_request)(const char *what, void *user);
	void *user;
};

/* Requests arrive in threads of the system. */
static SRWLOCK lock = SRWLOCK_INIT;
static struct termination *open_one;
static const char *kept;

/* False when nobody handles the request, or it is not the first. */
static bool request(const char *what, bool keep)
{
	AcquireSRWLockExclusive(&lock);
	bool first = open_one != NULL && open_one->what == NULL;
	if (first) {
		open_one->what = what;
		(void)uv_async_send(&open_one->wake);
	}
	if (open_one == NULL && keep)
		kept = what;
	ReleaseSRWLockExclusive(&lock);
	return first;
}

void termination_request_kept(const char *what)
{
	(void)request(what, true);
}

static BOOL WINAPI on_console(DWORD event)
{
	switch (event) {
	case CTRL_C_EVENT:
		return request("Ctrl-C", false) ? TRUE : FALSE;
	case CTRL_BREAK_EVENT:
		return request("Ctrl-Break", false) ? TRUE : FALSE;
	case CTRL_CLOSE_EVENT:
	case CTRL_LOGOFF_EVENT:
	case CTRL_SHUTDOWN_EVENT:
		/* The system ends the process when this returns, and some seconds later in any
		 * case. The program ends by itself before that. */
		if (request(event == CTRL_CLOSE_EVENT	 ? "the closing of the console"
			    : event == CTRL_LOGOFF_EVENT ? "the end of the session"
							 : "the shutdown of the system",
			    false))
			Sleep(INFINITE);
		return FALSE;
	default:
		return FALSE;
	}
}

static void on_wake(uv_async_t *handle)
{
	struct termination *termination = handle->data;
	termination->on_request(termination->what, termination->user);
}

static void on_stop_event(void *user)
{
	(void)user;
	(void)request("the request of another process", false);
}

int termination_open(uv_loop_t *loop, void (*on_request)(const char *what, void *user), void *user,
		     struct termination **out, struct error *err)
{
	struct termination *termination = memory_allocate(1, sizeof(*termination));
	if (termination == NULL)
		return error_memory(err);
	termination->on_request = on_request;
	termination->user = user;
	int result = uv_async_init(loop, &termination->wake, on_wake);
	if (result != 0) {
		free(termination);
		return error_uv(err, result, "requests to stop");
	}
	termination->wake.data = termination;
	AcquireSRWLockExclusive(&lock);
	open_one = termination;
	const char *before = kept;
	kept = NULL;
	ReleaseSRWLockExclusive(&lock);
	if (before != NULL)
		(void)request(before, false);
	/* Without the event, requests can still come from the console and the service manager. */
	termination->stop = stop_event_create();
	if (termination->stop != NULL)
		(void)wake_start(loop, (intptr_t)termination->stop, on_stop_event, termination,
				 &termination->stop_wake, NULL);
	*out = termination;
	/* A child in a new process group inherits that Ctrl-C is ignored. */
	(void)SetConsoleCtrlHandler(NULL, FALSE);
	if (SetConsoleCtrlHandler(on_console, TRUE))
		return 0;
	termination_close(termination);
	*out = NULL;
	return error_set(err, ERROR_UNSUPPORTED, "the console takes no handler: error %lu",
			 (unsigned long)GetLastError());
}

static void on_closed(uv_handle_t *handle)
{
	struct termination *termination = handle->data;
	if (termination->stop != NULL)
		(void)CloseHandle(termination->stop);
	free(termination);
}

void termination_close(struct termination *termination)
{
	if (termination == NULL)
		return;
	(void)SetConsoleCtrlHandler(on_console, FALSE);
	AcquireSRWLockExclusive(&lock);
	open_one = NULL;
	ReleaseSRWLockExclusive(&lock);
	wake_free(termination->stop_wake);
	uv_close((uv_handle_t *)&termination->wake, on_closed);
}
