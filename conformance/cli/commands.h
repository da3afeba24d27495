/* SPDX-License-Identifier: MIT */
#pragma once

#include "conformance/cli/cmd_kubelet.h"

/* The commands of `gpucert`, one file each. */
extern const struct command_spec command_run;
extern const struct command_spec command_list;
extern const struct command_spec command_show;
extern const struct command_spec command_report;

/* The program's arguments, NULL-ended, without the program: what a report records. */
extern const char *const *command_arguments;
