/* SPDX-License-Identifier: MIT */
/* Plugins that crash when they are stopped, in whichever check. */
#include "conformance/checks/every_end.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/checks/every_check.h"
#include "conformance/checks/restart.h"

#include <signal.h>

enum {
	SHELL_SIGNAL = 128
}; /* a shell's exit code for a program that a signal ended, without the signal */

static const char kept_file[] = "ends.ndjson";

static bool is_crash(const struct process_result *result, const struct rig_run *run)
{
	static const int crashes[] = {SIGILL, SIGABRT, SIGFPE, SIGSEGV};
	const bool exited = result->end != PROCESS_SIGNALLED;
	array_each (signal, crashes) {
		if (result->code == (exited ? SHELL_SIGNAL + *signal : *signal))
			return true;
	}
	return exited && result->code != 0 && run->crashed;
}

void every_end_keep(struct rig *rig)
{
	const struct process_result *result = process_result(rig->plugin);
	const struct rig_run *run = &rig->run_of_plugin;
	char description[256] = "";
	process_describe(result, description, sizeof(description));
	/* Go programs end with panic() over a Register that was refused. */
	char *wrong CLEANUP_FREE = is_crash(result, run) && !rig_was_refused(rig)
					   ? memory_copy(run->crashed ? run->said[1] : description)
					   : NULL;
	every_check_keep(rig->run, kept_file, wrong);
}

void restart_every_end(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	if (rig != NULL && rig_stop_plugin(rig, SIGTERM))
		(void)every_check_judge(run, kept_file, "the plugin's end in each check",
					"any, without a crash");
}
