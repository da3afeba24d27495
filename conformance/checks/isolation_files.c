/* SPDX-License-Identifier: MIT */
/* What of the node itself the answers hand out: judged for each id, without a container. */
#include "base/cleanup.h"
#include "conformance/checks/host_places.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"

/* What the answers of all ids mount and hand out as nodes. */
struct files {
	struct check_run *run;
	const struct host_places *places;
	struct tally answers, mounts, nodes;
};

/* /dev/mem, /dev/kmem, /dev/port, /dev/core, /dev/kmsg */
static bool is_of_the_node(const struct node_file *file)
{
	static const unsigned minors[] = {1, 2, 4, 6, 11};
	for (size_t i = 0; file->kind == NODE_FILE_CHARACTER && i < ARRAY_SIZE(minors); i++) {
		if (file->major == 1 && file->minor == minors[i])
			return true;
	}
	return file->kind == NODE_FILE_BLOCK;
}

static bool judge_files(struct offer *offer, void *user)
{
	struct files *files = user;
	tally_add(&files->answers, true, "%s", offer->id);
	for (size_t i = 0; i < offer->grant.mounts.count; i++) {
		const struct grant_entry *mount = &offer->grant.mounts.items[i];
		const char *given = NULL;
		struct error err = {0};
		(void)check_works(files->run,
				  host_places_given(files->places, mount->host_path,
						    mount->read_only, &given, &err),
				  NULL, &err);
		tally_add(&files->mounts, given == NULL, "%s by %s (%s) for %s",
			  given != NULL ? given : "", mount->host_path,
			  mount->read_only ? "read-only" : "writable", offer->id);
	}
	for (size_t i = 0; i < offer->grant.devices.count; i++) {
		const char *path = offer->grant.devices.items[i].host_path;
		struct node_file file = {0};
		bool harmful = node_file_identify(path, &file) && is_of_the_node(&file);
		tally_add(&files->nodes, !harmful, "%s (%s %u:%u) for %s", path,
			  file.kind == NODE_FILE_BLOCK ? "block" : "character", file.major,
			  file.minor, offer->id);
	}
	return true;
}

void isolation_node_files(struct check_run *run)
{
	struct host_places *places CLEANUP_HOST_PLACES = NULL;
	struct rig *rig = rig_ready(run, NULL);
	struct error err = {0};
	struct files files = {
		.run = run,
		.answers = TALLY(run, "answers", "looked at"),
		.mounts = TALLY(run, "mounts", "nothing that the node needs for itself"),
		.nodes = TALLY(run, "device nodes", "no disk and no memory of the node"),
	};
	if (rig == NULL ||
	    !check_works(run, host_places_new(rig->context->cri_address, &places, &err), NULL,
			 &err))
		return;
	files.places = places;
	(void)offers_each(rig, judge_files, &files);
	(void)tally_end(&files.answers);
	(void)tally_end(&files.mounts);
	(void)tally_end(&files.nodes);
}
