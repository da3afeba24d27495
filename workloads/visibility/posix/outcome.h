/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/members.h"

/* "ok", or what errno holds: "EPERM". */
void member_outcome(struct members *members, const char *key, bool held);
