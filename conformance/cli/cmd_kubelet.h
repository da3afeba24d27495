/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CLI_CMD_KUBELET_H
#define CONFORMANCE_CLI_CMD_KUBELET_H

#include "base/options.h"

/* "gpucert kubelet": the fake kubelet alone, for plugin authors. */
extern const struct command_spec command_kubelet;

#endif
