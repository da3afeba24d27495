/* SPDX-License-Identifier: MIT */
/* What of the node lies in a container, and what its program may do, as the host sees it. */
#include "conformance/checks/visibility.h"

#include "base/text.h"
#include "conformance/checks/tally.h"

#include <inttypes.h>

/* A mount that a container without devices has as well is the runtime's own. */
static bool is_in_bare(const struct container_view *bare, const struct container_mount *mount)
{
	for (size_t i = 0; i < bare->mounts.count; i++) {
		if (text_equal(bare->mounts.items[i].target, mount->target) &&
		    text_equal(bare->mounts.items[i].type, mount->type))
			return true;
	}
	return false;
}

static void expect_mounts(struct check_run *run, const char *label,
			  const struct container_view *view, const struct container_view *bare,
			  const struct host_places *places)
{
	const char *what = check_format(run, "%s: mounts", label);
	struct tally harmless = TALLY(run, what, "nothing that the node needs for itself");
	struct tally kept = TALLY(run, what, "kept from the node's other mounts");
	for (size_t i = 0; i < view->mounts.count; i++) {
		const struct container_mount *mount = &view->mounts.items[i];
		const char *given = NULL;
		struct error err = {0};
		int rc = 0;
		if (is_in_bare(bare, mount))
			continue;
		if (mount->host_path != NULL)
			rc = host_places_given(places, mount->host_path, mount->read_only, &given,
					       &err);
		(void)check_works(run, rc, NULL, &err);
		tally_add(&harmless, given == NULL, "%s of the node at %s (%s)",
			  given != NULL ? given : "", mount->target,
			  mount->read_only ? "read-only" : "writable");
		tally_add(&kept, !mount->shared, "%s spreads its mounts", mount->target);
	}
	(void)tally_end(&harmless);
	(void)tally_end(&kept);
}

static uint64_t capabilities(const struct container_view *view)
{
	return view->cap_inheritable | view->cap_permitted | view->cap_effective |
	       view->cap_bounding | view->cap_ambient;
}

void visibility_expect_confined(struct check_run *run, const char *label, const struct sight *sight,
				const struct sight *bare, const struct host_places *places)
{
	const struct container_view *view = sight->view;
	const struct container_view *usual = bare->view;
	if (view == NULL || usual == NULL)
		return;
	bool same = (capabilities(view) & ~capabilities(usual)) == 0 &&
		    view->seccomp >= usual->seccomp &&
		    view->no_new_privileges >= usual->no_new_privileges;
	expect_mounts(run, label, view, usual, places);
	(void)check_expect(run, same, check_format(run, "%s: privileges", label),
			   "no more than those of a container without devices",
			   "capabilities %#" PRIx64 " beside %#" PRIx64
			   ", seccomp %d beside %d, no new privileges %s",
			   capabilities(view), capabilities(usual), view->seccomp, usual->seccomp,
			   view->no_new_privileges ? "yes" : "no");
}
