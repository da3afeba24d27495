/* SPDX-License-Identifier: MIT */
#include "containers/launch/launch.h"

#include "base/nt_status.h"

#include <stdio.h>
#include <string.h>

const char *launch_end_name(enum launch_end end)
{
	static const char *const names[] = {
		[LAUNCH_RUNNING] = "running",
		[LAUNCH_REFUSED] = "refused",
		[LAUNCH_IGNORED] = "ignored",
		[LAUNCH_NO_SANDBOX] = "no-sandbox",
		[LAUNCH_FAILED] = "failed",
		[LAUNCH_NOT_STARTED] = "not-started",
		[LAUNCH_EXITED] = "exited",
		[LAUNCH_KILLED] = "killed",
		[LAUNCH_OUT_OF_MEMORY] = "out-of-memory",
		[LAUNCH_TIMED_OUT] = "timed-out",
		[LAUNCH_STOPPED] = "stopped",
		[LAUNCH_LOST] = "lost",
	};

	return names[end];
}

static void launch_describe_kill(int code, char *out, size_t size)
{
	const char *signal_name = NULL;

	if (nt_status_is_exception(code)) {
		(void)snprintf(out, size, "killed by exception 0x%08x (%s)", (unsigned)code,
			       nt_status_name(code));
		return;
	}
#ifndef _WIN32
	signal_name = sigdescr_np(code);
#endif
	(void)snprintf(out, size, "killed by signal %d (%s)", code,
		       signal_name != NULL ? signal_name : "unnamed");
}

void launch_describe(const struct launch_result *result, char *out, size_t size)
{
	const char *reason = result->reason != NULL ? result->reason : "";
	const char *colon = reason[0] != '\0' ? ": " : "";

	switch (result->end) {
	case LAUNCH_RUNNING:
		(void)snprintf(out, size, "still running");
		return;
	case LAUNCH_REFUSED:
		(void)snprintf(out, size, "launch refused%s%s", colon, reason);
		return;
	case LAUNCH_IGNORED:
		(void)snprintf(out, size, "not launched%s%s", colon, reason);
		return;
	case LAUNCH_NO_SANDBOX:
		(void)snprintf(out, size, "no container could be begun%s%s", colon, reason);
		return;
	case LAUNCH_FAILED:
		(void)snprintf(out, size, "container could not be set up%s%s", colon, reason);
		return;
	case LAUNCH_NOT_STARTED:
		(void)snprintf(out, size, "program not started%s%s", colon, reason);
		return;
	case LAUNCH_EXITED:
		(void)snprintf(out, size, "exited with code %d", result->code);
		return;
	case LAUNCH_KILLED:
		launch_describe_kill(result->code, out, size);
		return;
	case LAUNCH_OUT_OF_MEMORY:
		(void)snprintf(out, size, "killed at its memory limit");
		return;
	case LAUNCH_TIMED_OUT:
		(void)snprintf(out, size, "killed at its deadline after %llu ms",
			       (unsigned long long)result->run_ms);
		return;
	case LAUNCH_STOPPED:
		(void)snprintf(out, size, "stopped on request");
		return;
	case LAUNCH_LOST:
		(void)snprintf(out, size, "the runtime was lost%s%s", colon, reason);
		return;
	}
}
