/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"
#include "workloads/dxgi/dxgi.h"

int main(int argc, char **argv)
{
	static const struct probe_program program = {
		.name = "probe-dxgi",
		.summary = "Tell the adapters that DXGI shows",
		.description =
			"Enumerates the adapters of DXGI, which Direct3D 11 and 12 work on, with "
			"ids, memory and driver, and tells software adapters apart. Prints one "
			"JSON document on one line.\n\n"
			"A missing library and a call that fails are facts that the document "
			"tells; the exit code is 0 all the same.",
		.api = &dxgi_api,
	};

	return probe_main(&program, argc, argv);
}
