/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"
#include "workloads/dxcore/dxcore.h"

int main(int argc, char **argv)
{
	static const struct probe_program program = {
		.name = "probe-dxcore",
		.summary = "Tell the adapters that DXCore shows",
		.description =
			"Lists the adapters of DXCore by what they are for, with ids, memory and "
			"driver: those of DXGI, and compute-only ones. Prints one JSON document on "
			"one line.\n\n"
			"A missing library and a call that fails are facts that the document "
			"tells; the exit code is 0 all the same.",
		.api = &dxcore_api,
	};

	return probe_main(&program, argc, argv);
}
