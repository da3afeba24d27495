/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"
#include "workloads/vulkan/vulkan.h"

int main(int argc, char **argv)
{
	static const struct probe_program program = {
		.name = "probe-vulkan",
		.summary = "Make Vulkan work on a device and tell what happened",
		.description =
			"Opens the Vulkan loader, enumerates the physical devices, runs a compute "
			"pipeline on one of them and verifies every element of the result on the "
			"CPU. "
			"Prints one JSON document on one line.\n\n"
			"A missing loader or driver, a call that fails and a wrong result are "
			"facts "
			"that the document tells; the exit code is 0 all the same. Nothing is "
			"printed "
			"before everything is done: a probe that its driver kills prints nothing.",
		.api = &vulkan_api,
	};

	return probe_main(&program, argc, argv);
}
