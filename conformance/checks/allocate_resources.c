/* SPDX-License-Identifier: MIT */
/* Answers of several resources that come together in one container. */
#include "conformance/checks/allocate.h"
#include "conformance/checks/tally.h"
#include "containers/grant/grant.h"

enum { TOGETHER_MAX = 16 /* resources in one container */ };

/* Of entries with the same key the kubelet keeps only the first, in random order of the resources. */
void allocate_across_resources(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct kubelet_limit limits[TOGETHER_MAX] = {0};
	struct grant grant CLEANUP_GRANT = {0};
	size_t count = 0;
	rig_each (resource, rig) {
		if (count < TOGETHER_MAX)
			limits[count++] = (struct kubelet_limit){.resource = resource, .count = 1};
	}
	if (rig == NULL)
		return;
	if (count < 2) {
		check_not_applicable(run, "the plugin offers one resource");
		return;
	}
	if (!rig_admit(rig, "together", limits, count, &grant))
		return;

	TALLY(entries, run, "entries of the answers for one container", "none dropped");
	for (size_t i = 0; i < GRANT_KINDS; i++) {
		for (size_t k = 0; k < grant.lists[i].count; k++)
			tally_add(&entries, true, "kept");
	}
	for (size_t i = 0; i < grant.conflict_count; i++) {
		const struct grant_conflict *conflict = &grant.conflicts[i];
		/* No plugin can keep device strings apart: windows.whole-answer says so. */
		if (rig_is_windows(rig) && conflict->kind == GRANT_DEVICE)
			continue;
		if (!text_equal(conflict->winner_resource, conflict->loser_resource))
			tally_add(&entries, conflict->same || conflict->dropped,
				  "%s: %s of %s, not %s of %s", conflict->key, conflict->winner,
				  conflict->winner_resource, conflict->loser,
				  conflict->loser_resource);
	}
	rig_release(rig, "together");
}
