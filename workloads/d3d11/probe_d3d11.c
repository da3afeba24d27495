/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"
#include "workloads/d3d11/d3d11.h"

int main(int argc, char **argv)
{
	static const struct probe_program program = {
		.name = "probe-d3d11",
		.summary = "Make Direct3D 11 work on a device and tell what happened",
		.description =
			"Opens Direct3D 11, enumerates the adapters, runs a compute shader on one "
			"of them and draws a triangle off-screen, and verifies every element and "
			"every pixel on the CPU. Prints one JSON document on one line.\n\n"
			"A missing library, a call that fails, a device that is removed and a "
			"wrong result are facts that the document tells; the exit code is 0 all "
			"the same.",
		.api = &d3d11_api,
	};

	return probe_main(&program, argc, argv);
}
