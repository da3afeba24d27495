/* SPDX-License-Identifier: MIT */
#pragma once

/* Bodies of the suite isolation that need no container. */

#include "conformance/runner/check.h"

void isolation_node_files(struct check_run *run);
