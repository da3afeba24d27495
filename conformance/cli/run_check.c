/* SPDX-License-Identifier: MIT */
/* The process of one check. A program of its own, without the libraries of registries and archives: a run starts it hundreds of
 * times. */
#include "base/log.h"
#include "base/memory.h"
#include "conformance/checks/suites.h"
#include "conformance/runner/execution.h"
#include "reports/model.h"

int main(int argc, char **argv)
{
	memory_ends_process(REPORT_EXIT_BROKEN);
	log_set_program("gpucert");
	return execution_child(suites, argc, argv);
}
