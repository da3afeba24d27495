/* SPDX-License-Identifier: MIT */
/* What of the node lies in a container, and what its program may do, as the host sees it. */
#include "conformance/checks/visibility.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "conformance/checks/tally.h"

#include <inttypes.h>
#include <string.h>

/* A mount that a container without devices has as well is the runtime's own. */
static bool visibility_is_in_bare(const struct container_view *bare,
				  const struct container_mount *mount)
{
	for (size_t i = 0; i < bare->mount_count; i++) {
		if (text_equal(bare->mounts[i].target, mount->target) &&
		    text_equal(bare->mounts[i].type, mount->type))
			return true;
	}
	return false;
}

static void visibility_expect_mounts(struct check_run *run, const char *label,
				     const struct container_view *view,
				     const struct container_view *bare,
				     const struct host_places *places)
{
	char *what CLEANUP_FREE = text_format("%s: mounts", label);
	struct tally harmless = TALLY(run, what, "nothing that the node needs for itself");
	struct tally kept = TALLY(run, what, "kept from the node's other mounts");

	for (size_t i = 0; what != NULL && i < view->mount_count; i++) {
		const struct container_mount *mount = &view->mounts[i];
		const char *given = NULL;
		struct error err = {0};

		if (visibility_is_in_bare(bare, mount))
			continue;
		if (mount->host_path != NULL &&
		    host_places_given(places, mount->host_path, mount->read_only, &given, &err) < 0)
			check_broken(run, "%s", err.text);
		tally_add(&harmless, given == NULL, "%s of the node at %s (%s)",
			  given != NULL ? given : "", mount->target,
			  mount->read_only ? "read-only" : "writable");
		tally_add(&kept, !mount->shared, "%s spreads its mounts", mount->target);
	}
	(void)tally_end(&harmless);
	(void)tally_end(&kept);
}

static void visibility_expect_privileges(struct check_run *run, const char *label,
					 const struct container_view *view,
					 const struct container_view *bare)
{
	char *what CLEANUP_FREE = text_format("%s: privileges", label);
	uint64_t held = view->cap_inheritable | view->cap_permitted | view->cap_effective |
			view->cap_bounding | view->cap_ambient;
	uint64_t usual = bare->cap_inheritable | bare->cap_permitted | bare->cap_effective |
			 bare->cap_bounding | bare->cap_ambient;
	bool same = (held & ~usual) == 0 && view->seccomp >= bare->seccomp &&
		    view->no_new_privileges >= bare->no_new_privileges;

	(void)check_expect(run, same, what != NULL ? what : label,
			   "no more than those of a container without devices",
			   "capabilities %#" PRIx64 " beside %#" PRIx64
			   ", seccomp %d beside %d, no new privileges %s",
			   held, usual, view->seccomp, bare->seccomp,
			   view->no_new_privileges ? "yes" : "no");
}

void visibility_expect_confined(struct check_run *run, const char *label, const struct sight *sight,
				const struct sight *bare, const struct host_places *places)
{
	if (sight->view == NULL || bare->view == NULL)
		return;
	visibility_expect_mounts(run, label, sight->view, bare->view, places);
	visibility_expect_privileges(run, label, sight->view, bare->view);
}
