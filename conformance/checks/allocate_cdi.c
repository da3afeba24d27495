/* SPDX-License-Identifier: MIT */
/* CDI devices in answers of Allocate, compared with the node's Specs. */
#include "base/cleanup.h"
#include "base/path.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/node_cdi.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/tally.h"
#include "containers/launch/launch.h"

#include <string.h>

struct look {
	struct check_run *run;
	struct cdi_registry registry;
	struct text_list names; /* of the offer under way */
	struct text_list kinds; /* of all so far */
	struct tally tally;
	size_t named;  /* offers that name CDI devices */
	size_t unread; /* of these, where the devices of the node cannot be told */
	void (*judge)(struct look *look, const struct offer *offer);
};

static void look_free(struct look *look)
{
	cdi_registry_free(&look->registry);
	text_list_free(&look->names);
	text_list_free(&look->kinds);
}

static bool look_at(struct offer *offer, void *user)
{
	struct look *look = user;
	struct error err = {0};
	text_list_free(&look->names);
	if (!check_works(look->run, grant_list_cdi(&offer->grant, &look->names, &err), NULL, &err))
		return false;
	if (look->names.count == 0)
		return true;
	look->named++;
	look->judge(look, offer);
	return true;
}

static void look_at_each(struct check_run *run, const char *what, const char *wanted,
			 void (*judge)(struct look *look, const struct offer *offer))
{
	struct look look CLEANUP(look_free) = {
		.run = run, .tally = TALLY_OF(run, what, wanted), .judge = judge};
	struct rig *rig = rig_ready(run, NULL);
	struct error err = {0};
	if (rig == NULL ||
	    !check_works(run, node_cdi_read(rig->context, &look.registry, &err), "CDI Specs", &err))
		return;
	(void)offers_each(rig, look_at, &look);
	tally_end(&look.tally);
	if (look.named == 0)
		check_not_applicable(run, "no answer names a CDI device");
	else if (look.unread == look.named)
		check_unsupported(
			run, "which devices the CDI devices for %zu ids hand out cannot be told",
			look.unread);
}

static void judge_names(struct look *look, const struct offer *offer)
{
	text_each (name, &look->names) {
		bool found = cdi_registry_find(&look->registry, name) != NULL;
		char *why CLEANUP_FREE =
			!found ? cdi_registry_explain(&look->registry, name) : NULL;
		tally_add(&look->tally, found, "%s by %s: %s", name, offer->id,
			  why != NULL ? why : "");
	}
}

void allocate_cdi_resolves(struct check_run *run)
{
	look_at_each(run, "CDI devices", "in a valid Spec of the node", judge_names);
}

/* Each file of a kind once. */
static void judge_kind(struct look *look, const char *kind)
{
	struct error err = {0};
	if (text_list_has(&look->kinds, kind) ||
	    !check_works(look->run, text_list_add(&look->kinds, kind, &err), NULL, &err))
		return;
	for (size_t i = 0; i < look->registry.count; i++) {
		const struct cdi_file *file = &look->registry.files[i];
		if (cdi_file_is_of_kind(file, kind))
			tally_add(&look->tally, file->why == NULL, "%s: %s: %s", file->path,
				  cdi_defect_name(file->spec.defect),
				  file->why != NULL ? file->why : "");
	}
}

static void judge_specs(struct look *look, const struct offer *offer)
{
	(void)offer;
	text_each (name, &look->names) {
		char *kind CLEANUP_FREE = strndup(name, strcspn(name, "="));
		if (kind != NULL)
			judge_kind(look, kind);
	}
}

void allocate_cdi_specs(struct check_run *run)
{
	look_at_each(run, "Specs of the kinds in answers", "valid", judge_specs);
}

static bool is_edit(const struct look *look, const struct grant_entry *entry)
{
	const char *source = entry->resource;
	return source != NULL && (path_is_absolute(source) || text_list_has(&look->names, source));
}

/* What the edits bring, without the rest of the answer. Nodes with numbers of their own need no node
 * of the host. */
static void take_edits(const struct look *look, const struct grant *applied, struct grant *out)
{
	struct error err = {0};
	for (enum grant_kind kind = GRANT_MOUNT; kind <= GRANT_DEVICE; kind++) {
		grant_each (entry, &applied->lists[kind]) {
			bool numbered = text_starts_with(entry->host_path, "/dev/char/") ||
					text_starts_with(entry->host_path, "/dev/block/");
			if (numbered || !is_edit(look, entry))
				continue;
			(void)check_works(look->run, grant_add(out, kind, entry, &err), NULL, &err);
		}
	}
}

static void judge_files(struct look *look, const struct offer *offer)
{
	struct grant edits CLEANUP_GRANT = {0};
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	take_edits(look, offer_applied(offer), &edits);
	int rc = launch_check_grant(&edits, LAUNCH_LINUX, &offences, &err);
	if (!check_works(look->run, rc, NULL, &err))
		return;
	text_each (offence, &offences) {
		tally_add(&look->tally, false, "%s, for %s", offence, offer->id);
	}
	if (offences.count == 0)
		tally_add(&look->tally, true, "%s", offer->id);
}

void allocate_cdi_files(struct check_run *run)
{
	look_at_each(run, "mounts and device nodes of CDI devices", "on the node", judge_files);
}

/* A device may replace what its Spec gives to all of its devices. */
static bool is_own_default(const struct look *look, const struct grant_conflict *conflict)
{
	const char *winner = conflict->winner_resource;
	const char *loser = conflict->loser_resource;
	const struct cdi_file *file =
		winner != NULL ? cdi_registry_find(&look->registry, winner) : NULL;
	return text_equal(winner, loser) || (file != NULL && text_equal(file->path, loser));
}

/* A plugin that lists GPUs for NVIDIA's runtime as well as by CDI has its Spec keep that runtime from acting on them. */
static bool is_stand_back(const struct grant_conflict *conflict)
{
	return strcmp(conflict->key, "NVIDIA_VISIBLE_DEVICES") == 0 &&
	       (text_equal(conflict->winner, "void") || text_equal(conflict->loser, "void"));
}

/* The first conflicts of what is applied are the answer's own. */
static void judge_conflicts(struct look *look, const struct offer *offer)
{
	const struct grant *applied = offer_applied(offer);
	for (size_t i = offer->grant.conflict_count; i < applied->conflict_count; i++) {
		const struct grant_conflict *conflict = &applied->conflicts[i];
		tally_add(&look->tally,
			  conflict->same || is_own_default(look, conflict) ||
				  is_stand_back(conflict),
			  "%s is %s by %s and %s by %s", conflict->key, conflict->winner,
			  conflict->winner_resource, conflict->loser, conflict->loser_resource);
	}
	tally_add(&look->tally, true, "%s", offer->id);
}

void allocate_cdi_agrees(struct check_run *run)
{
	look_at_each(run, "edits of CDI devices", "agree with each other and with the answer",
		     judge_conflicts);
}

static void judge_devices(struct look *look, const struct offer *offer)
{
	struct text others CLEANUP_TEXT = {0};
	look->unread += offer->granted.count == 0;
	for (size_t i = 0; i < offer->granted.count; i++)
		text_addf(&others, "%s%s", i != 0 ? ", " : "", offer->granted.devices[i]->id);
	if (offer->granted.count != 0)
		tally_add(&look->tally, offer->granted.count == 1, "%s by %s", text_string(&others),
			  offer->id);
}

void allocate_cdi_one_device(struct check_run *run)
{
	look_at_each(run, "devices by the CDI devices for one id", "one", judge_devices);
}
