/* SPDX-License-Identifier: MIT */
/* The program of one API; the build says of which: PROBE_API=vulkan_api. */
#include "workloads/common/program.h"

extern const struct api_driver PROBE_API;

int main(int argc, char **argv)
{
	return probe_main(&PROBE_API, argc, argv);
}
