/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"
#include "workloads/directml/directml.h"

int main(int argc, char **argv)
{
	static const struct probe_program program = {
		.name = "probe-directml",
		.summary = "Make DirectML work on a device and tell what happened",
		.description =
			"Opens DirectML on a device of Direct3D 12, adds two tensors and "
			"multiplies "
			"two matrices of 64 by 64, and verifies every element on the CPU. Prints "
			"one JSON document on one line.\n\n"
			"A missing library, a call that fails, a device that is removed and a "
			"wrong result are facts that the document tells; the exit code is 0 all "
			"the same.",
		.api = &directml_api,
	};

	return probe_main(&program, argc, argv);
}
