/* SPDX-License-Identifier: MIT */
#pragma once

#include "conformance/checks/rig.h"

/* Keeps how the plugin ended, which was asked to, for restart.every-end (every_check.h). */
void every_end_keep(struct rig *rig);
