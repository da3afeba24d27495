/* SPDX-License-Identifier: MIT */
/* A child and its job. */
#include "base/process_internal.h"

#include "base/nt_status.h"
#include "base/windows/stop_event.h"
#include "base/windows/wide.h"

#include <signal.h>
#include <stdio.h>

enum { PROCESS_INTERRUPTED_CODE = 128 + 2 }; /* as POSIX systems report it */

/* Sends Ctrl-Break to the group if we have a console; our own programs can be asked without one. */
bool process_child_ask(const struct process_child *child)
{
	DWORD id = (DWORD)child->id;
	return GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, id) || stop_event_set(id);
}

void process_child_kill(const struct process_child *child)
{
	(void)TerminateJobObject(child->job, PROCESS_KILLED_CODE);
}

void process_child_reap(struct process_child *child, struct process_result *result)
{
	HANDLE leader = (HANDLE)child->ended;
	DWORD code = 0;
	(void)GetExitCodeProcess(leader, &code);
	result->code = (int)code;
	if (result->end == PROCESS_EXITED && nt_status_is_exception((int)code))
		result->end = PROCESS_SIGNALLED;
	else if (result->end != PROCESS_EXITED && code == (DWORD)STATUS_CONTROL_C_EXIT)
		result->code = PROCESS_INTERRUPTED_CODE;
	process_child_kill(child);
	process_child_release(child);
}

void process_child_release(struct process_child *child)
{
	if (child->id == 0)
		return;
	(void)CloseHandle((HANDLE)child->ended);
	(void)CloseHandle(child->job);
	child->id = 0;
}

int process_child_signal(const struct process_child *child, int signal, struct error *err)
{
	BOOL sent = FALSE;
	switch (signal) {
	case SIGINT:
	case SIGTERM:
		sent = process_child_ask(child);
		break;
	case SIGKILL:
		sent = TerminateProcess((HANDLE)child->ended, PROCESS_KILLED_CODE);
		break;
	default:
		return error_set(err, ERROR_UNSUPPORTED, "Windows has no signal %d", signal);
	}
	return sent ? 0
		    : error_windows(err, GetLastError(), "signal %d to process %d", signal,
				    child->id);
}

void process_describe_signal(int code, char *out, size_t size)
{
	(void)snprintf(out, size, "exception 0x%08x (%s)", (unsigned)code, nt_status_name(code));
}

void process_end_with_children(void)
{
}

void process_adopt_orphans(void)
{
}

int process_end_orphans(struct text_list *names, struct error *err)
{
	(void)names;
	(void)err;
	return 0;
}
