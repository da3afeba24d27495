/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Does what the plugin's processes use grow with the number of calls?
 *
 * Rounds of the same work are compared with each other, and the first ones are ignored: a process grows while it
 * starts up, and one with garbage collection until it collects. Apparent growth after a few rounds is watched for
 * more; growth that continues then is endless.
 */

#include "conformance/checks/rig.h"
#include "conformance/subject/usage.h"

enum { GROWTH_ROUNDS_MAX = 512 }; /* of rig_expect_level() */

/* False: not available on this system, or for this plugin. */
bool rig_usage(const struct rig *rig, struct usage *out);

/* One round of work. False: recorded, and the rounds end. */
typedef bool growth_round(struct rig *rig, void *user);

/* Does the rounds, and records whether memory, descriptors and threads stay level. `what` names the work of a round:
 * "100 calls of Allocate". Ends early when a round takes too long. */
void rig_expect_level(struct rig *rig, const char *what, growth_round *round, void *user);
