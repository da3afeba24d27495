/* SPDX-License-Identifier: MIT */
#include "conformance/cli/commands.h"

#include "base/log.h"

int main(int argc, char **argv)
{
	log_set_program("kubelet-command");
	return options_main(&command_kubelet, argc, argv);
}
