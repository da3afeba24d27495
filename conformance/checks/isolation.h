/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_ISOLATION_H
#define CONFORMANCE_CHECKS_ISOLATION_H

/* Bodies of the suite isolation that need no container. */

#include "conformance/runner/check.h"

void isolation_node_files(struct check_run *run);

#endif
