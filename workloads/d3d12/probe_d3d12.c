/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"
#include "workloads/d3d12/d3d12.h"

int main(int argc, char **argv)
{
	static const struct probe_program program = {
		.name = "probe-d3d12",
		.summary = "Make Direct3D 12 work on a device and tell what happened",
		.description =
			"Opens Direct3D 12 (d3d12.dll, or vkd3d where the system is not Windows), "
			"enumerates the adapters, runs a compute pipeline on one of them and draws "
			"a triangle off-screen, and verifies every element and every pixel on the "
			"CPU. Compute-only devices draw nothing. Prints one JSON document on one "
			"line.\n\n"
			"A missing library or driver, a call that fails, a device that is removed "
			"and a wrong result are facts that the document tells; the exit code is 0 "
			"all the same.",
		.api = &d3d12_api,
	};

	return probe_main(&program, argc, argv);
}
