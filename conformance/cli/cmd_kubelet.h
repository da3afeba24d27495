/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/options.h"

/* "gpucert kubelet": the fake kubelet alone, for plugin authors. */
extern const struct command_spec command_kubelet;
