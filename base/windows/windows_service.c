/* SPDX-License-Identifier: MIT */
#include "base/windows_service.h"

#include "base/windows/stop_event.h"

#include <windows.h>

/* Longer than a plugin needs to end its streams to the kubelet. */
enum { STOP_HINT_MS = 10000 };

/* A process has one service of its own, and the manager calls back without a context. */
static struct {
	int (*run)(void *user);
	void *user;
	int code;
	SERVICE_STATUS_HANDLE status;
} service;

static void tell(DWORD state, DWORD error, DWORD own_error)
{
	SERVICE_STATUS status = {
		.dwServiceType = SERVICE_WIN32_OWN_PROCESS,
		.dwCurrentState = state,
		.dwControlsAccepted = state == SERVICE_RUNNING
					      ? SERVICE_ACCEPT_STOP | SERVICE_ACCEPT_SHUTDOWN
					      : 0,
		.dwWin32ExitCode = error,
		.dwServiceSpecificExitCode = own_error,
		.dwWaitHint = state == SERVICE_STOP_PENDING ? STOP_HINT_MS : 0,
	};
	(void)SetServiceStatus(service.status, &status);
}

static DWORD WINAPI on_control(DWORD control, DWORD type, void *data, void *context)
{
	(void)type;
	(void)data;
	(void)context;
	switch (control) {
	case SERVICE_CONTROL_STOP:
	case SERVICE_CONTROL_SHUTDOWN:
		tell(SERVICE_STOP_PENDING, NO_ERROR, 0);
		termination_request_kept(control == SERVICE_CONTROL_STOP
						 ? "a service stop"
						 : "the shutdown of the system");
		return NO_ERROR;
	case SERVICE_CONTROL_INTERROGATE:
		return NO_ERROR;
	default:
		return ERROR_CALL_NOT_IMPLEMENTED;
	}
}

static void WINAPI service_main(DWORD count, LPWSTR *arguments)
{
	static wchar_t any_name[] = L"";
	(void)count;
	(void)arguments;
	service.status = RegisterServiceCtrlHandlerExW(any_name, on_control, NULL);
	if (service.status == NULL)
		return;
	tell(SERVICE_RUNNING, NO_ERROR, 0);
	service.code = service.run(service.user);
	tell(SERVICE_STOPPED, service.code == 0 ? NO_ERROR : ERROR_SERVICE_SPECIFIC_ERROR,
	     (DWORD)service.code);
}

int windows_service_run(int (*run)(void *user), void *user, int *code, struct error *err)
{
	static wchar_t any_name[] = L"";
	const SERVICE_TABLE_ENTRYW table[] = {{any_name, service_main}, {NULL, NULL}};
	service.run = run;
	service.user = user;
	service.code = 1;
	if (!StartServiceCtrlDispatcherW(table))
		return error_set(err, ERROR_UNSUPPORTED,
				 "the service control manager did not start this program (error "
				 "%lu)",
				 (unsigned long)GetLastError());
	*code = service.code;
	return 0;
}
