/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"
#include "workloads/opencl/opencl.h"

int main(int argc, char **argv)
{
	static const struct probe_program program = {
		.name = "probe-opencl",
		.summary = "Make OpenCL work on a device and tell what happened",
		.description =
			"Opens the OpenCL loader, enumerates platforms and devices, builds a "
			"kernel "
			"from source, runs it on one device and verifies every element of the "
			"result "
			"on the CPU. Prints one JSON document on one line.\n\n"
			"A missing loader or driver, a kernel that does not build, a call that "
			"fails "
			"and a wrong result are facts that the document tells; the exit code is 0 "
			"all "
			"the same. Nothing is printed before everything is done: a probe that its "
			"driver kills prints nothing.",
		.api = &opencl_api,
	};

	return probe_main(&program, argc, argv);
}
