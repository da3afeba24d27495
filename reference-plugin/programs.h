/* SPDX-License-Identifier: MIT */
#pragma once

/* The programs that are made from this library, and their command line. */

#include "reference-plugin/configuration/config.h"

extern const struct config_program program_gpu;	 /* device-plugin-gpu */
extern const struct config_program program_wddm; /* device-plugin-wddm */
extern const struct config_program program_mcdm; /* device-plugin-mcdm */

/* The whole of main(). Exit codes: 0 after a request to stop, 1 after a failure, 2 for a command
 * line, environment or configuration file that makes no sense. */
int program_main(const struct config_program *program, int argc, char **argv);
