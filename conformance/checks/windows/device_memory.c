/* SPDX-License-Identifier: MIT */
#include "conformance/checks/suites.h"

void isolation_device_memory(struct check_run *run)
{
	check_unsupported(run, "this system has no control groups");
}
