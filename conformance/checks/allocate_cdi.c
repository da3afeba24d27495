/* SPDX-License-Identifier: MIT */
/* CDI devices in answers of Allocate, compared with the node's Specs. */
#include "base/file.h"
#include "base/memory.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/node_cdi.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/tally.h"
#include "containers/launch/launch.h"

#include <string.h>

enum { OTHERS_WRITE = 0002 };

struct look {
	struct rig *rig;
	const struct allocate_cdi_rule *rule;
	struct cdi_registry registry;
	struct text_list names; /* of the current offer */
	struct text_list kinds; /* of all offers so far */
	struct text_list asked; /* the same: names and the ids that they are for, in turn */
	struct tally tally;
	struct tally variables;
	size_t named;  /* offers that name CDI devices */
	size_t unread; /* those among them whose devices of the node cannot be determined */
};

/* What a row tallies. */
struct allocate_cdi_rule {
	const char *what, *wanted;
	void (*judge)(struct look *look, const struct offer *offer);
	void (*finish)(struct look *look); /* after all offers; may be NULL */
};

static bool judge_offer(struct offer *offer, void *user)
{
	struct look *look = user;
	text_list_free(&look->names);
	grant_list_cdi(&offer->grant, &look->names);
	if (look->names.count == 0)
		return true;
	look->named++;
	look->rule->judge(look, offer);
	return true;
}

void allocate_cdi(struct check_run *run)
{
	const struct allocate_cdi_rule *rule = check_row(run)->param;
	struct rig *rig = rig_ready(run);
	struct look look = {
		.rig = rig, .rule = rule, .tally = TALLY_OF(run, rule->what, rule->wanted)};
	struct error err = {0};
	if (rig != NULL && check_works(run, node_cdi_read(rig->context, &look.registry, &err),
				       "CDI Specs", &err)) {
		(void)offers_each(rig, judge_offer, &look);
		if (rule->finish != NULL)
			rule->finish(&look);
		tally_end(&look.tally);
		if (look.named == 0)
			check_not_applicable(run, "no answer names a CDI device");
		else if (look.unread == look.named)
			check_unsupported(run,
					  "which devices the CDI devices for %zu ids hand out "
					  "cannot be determined",
					  look.unread);
	}
	cdi_registry_free(&look.registry);
	text_list_free(&look.names);
	text_list_free(&look.kinds);
	text_list_free(&look.asked);
}

static void keep_names(struct look *look, const struct offer *offer)
{
	text_each (name, &look->names) {
		text_list_add(&look->asked, name);
		text_list_add(&look->asked, offer->id);
	}
}

/* A container that restarts gets its old answer, but the current Specs: later answers must keep the Specs of
 * earlier ones. */
static void judge_names(struct look *look)
{
	struct error err = {0};
	cdi_registry_free(&look->registry);
	look->registry = (struct cdi_registry){0};
	if (!check_works(look->rig->run, node_cdi_read(look->rig->context, &look->registry, &err),
			 "CDI Specs", &err))
		return;
	for (size_t i = 0; i + 1 < look->asked.count; i += 2) {
		const char *name = look->asked.items[i];
		bool found = cdi_registry_find(&look->registry, name) != NULL;
		char *why CLEANUP_FREE =
			!found ? cdi_registry_explain(&look->registry, name) : NULL;
		tally_add(&look->tally, found, "%s by %s: %s", name, look->asked.items[i + 1],
			  why != NULL ? why : "");
	}
}

const struct allocate_cdi_rule allocate_cdi_resolves = {
	"CDI devices", "in a valid Spec of the node", keep_names, judge_names};

/* Each file of a kind is judged once. */
static void judge_specs(struct look *look, const struct offer *offer)
{
	(void)offer;
	text_each (name, &look->names) {
		char *kind CLEANUP_FREE = memory_copy_start(name, strcspn(name, "="));
		if (text_list_has(&look->kinds, kind))
			continue;
		text_list_add(&look->kinds, kind);
		items_each (file, look->registry.files, look->registry.count) {
			if (!cdi_file_is_of_kind(file, kind))
				continue;
			tally_add(&look->tally, file->why == NULL, "%s: %s: %s", file->path,
				  cdi_defect_name(file->spec.defect),
				  file->why != NULL ? file->why : "");
			/* Its hooks run as root, and it mounts what it likes. */
			struct check_run *run = look->rig->run;
			const int mode = node_file_mode(file->path);
			(void)check_expect(run, mode < 0 || (mode & OTHERS_WRITE) == 0,
					   check_format(run, "mode of %s", file->path),
					   "not writable for every user", "%04o", (unsigned)mode);
		}
	}
}

const struct allocate_cdi_rule allocate_cdi_specs = {"Specs of the kinds in answers", "valid",
						     judge_specs, NULL};

/* Runtimes run all hooks in the node's file system, except startContainer, which runs in the container. */
static void judge_hooks(struct look *look, const cJSON *edits, const char *name)
{
	json_each (hook, cJSON_GetObjectItemCaseSensitive(edits, "hooks")) {
		const char *path = json_pointer_string(hook, "/path");
		const char *kind = json_pointer_string(hook, "/hookName");
		if (path != NULL && !text_equal(kind, "startContainer"))
			tally_add(&look->tally, file_exists(path), "hook %s: missing, for %s", path,
				  name);
	}
}

static void judge_files(struct look *look, const struct offer *offer)
{
	text_each (name, &look->names) {
		const struct cdi_file *file = cdi_registry_find(&look->registry, name);
		if (file == NULL)
			continue;
		judge_hooks(look, json_pointer(file->spec.document, "/containerEdits"), name);
		json_each (device, json_pointer(file->spec.document, "/devices")) {
			if (text_equal(json_pointer_string(device, "/name"), strchr(name, '=') + 1))
				judge_hooks(
					look,
					cJSON_GetObjectItemCaseSensitive(device, "containerEdits"),
					name);
		}
	}

	/* The mounts and nodes that come from edits, without the rest of the answer. Nodes given by
	 * number need no node on the host. */
	const struct grant *applied = offer_applied(offer);
	struct grant edits CLEANUP_GRANT = {0};
	for (enum grant_kind kind = GRANT_MOUNT; kind <= GRANT_DEVICE; kind++) {
		grant_each (entry, &applied->lists[kind]) {
			if (node_cdi_is_edit(entry, &look->names) &&
			    !text_starts_with(entry->host_path, "/dev/char/") &&
			    !text_starts_with(entry->host_path, "/dev/block/"))
				grant_add(&edits, kind, entry);
		}
	}

	struct text_list offences CLEANUP_TEXT_LIST = {0};
	launch_check_grant(&edits, LAUNCH_LINUX, &offences);
	text_each (offence, &offences)
		tally_add(&look->tally, false, "%s, for %s", offence, offer->id);
	if (offences.count == 0)
		tally_add(&look->tally, true, "%s", offer->id);
}

const struct allocate_cdi_rule allocate_cdi_files = {"mounts and device nodes of CDI devices",
						     "on the node", judge_files, NULL};

static void judge_conflicts(struct look *look, const struct offer *offer)
{
	/* The first conflicts are the answer's own. */
	const struct grant *applied = offer_applied(offer);
	for (size_t i = offer->grant.conflict_count; i < applied->conflict_count; i++) {
		const struct grant_conflict *conflict = &applied->conflicts[i];

		/* A device may replace what its Spec grants to all of its devices. */
		const char *winner = conflict->winner_resource;
		const char *loser = conflict->loser_resource;
		const struct cdi_file *file =
			winner != NULL ? cdi_registry_find(&look->registry, winner) : NULL;
		bool own_default = text_equal(winner, loser) ||
				   (file != NULL && text_equal(file->path, loser));

		/* A plugin may name GPUs both for NVIDIA's runtime and by CDI; its Spec then keeps
		 * that runtime from acting on them. */
		bool stands_back = strcmp(conflict->key, "NVIDIA_VISIBLE_DEVICES") == 0 &&
				   (text_equal(conflict->winner, "void") ||
				    text_equal(conflict->loser, "void"));

		tally_add(&look->tally, conflict->same || own_default || stands_back,
			  "%s is %s by %s and %s by %s", conflict->key, conflict->winner, winner,
			  conflict->loser, loser);
	}
	tally_add(&look->tally, true, "%s", offer->id);
}

const struct allocate_cdi_rule allocate_cdi_agrees = {
	"edits of CDI devices", "agree with each other and with the answer", judge_conflicts, NULL};

/* A node that both the answer itself and a CDI device grant. */
static void judge_once(struct look *look, const struct offer *offer)
{
	const struct grant *applied = offer_applied(offer);
	for (size_t i = offer->grant.conflict_count; i < applied->conflict_count; i++) {
		const struct grant_conflict *conflict = &applied->conflicts[i];
		tally_add(&look->tally, conflict->kind != GRANT_DEVICE, "%s by %s and %s",
			  conflict->key, conflict->winner_resource, conflict->loser_resource);
	}
	tally_add(&look->tally, true, "%s", offer->id);
}

const struct allocate_cdi_rule allocate_cdi_once = {"device nodes of answers with CDI devices",
						    "each handed out once", judge_once, NULL};

static void judge_devices(struct look *look, const struct offer *offer)
{
	const struct granted *granted = &offer->granted;
	if (granted->count == 0) {
		look->unread++;
		return;
	}
	struct text ids CLEANUP_TEXT = {0};
	granted_add_ids(granted, &ids);
	tally_add(&look->tally, granted->count == 1, "%s by %s", text_string(&ids), offer->id);
}

const struct allocate_cdi_rule allocate_cdi_one_device = {"devices by the CDI devices for one id",
							  "one", judge_devices, NULL};

/* Does the resource list devices that are not replicas of one? */
static bool lists_several(const struct kubelet_device_list *list)
{
	for (size_t i = 1; list != NULL && i < list->count; i++) {
		const char *first = list->items[0].id;
		const char *id = list->items[i].id;
		size_t length = strcspn(id, ":");
		if (length != strcspn(first, ":") || strncmp(first, id, length) != 0)
			return true;
	}
	return false;
}

/* Runtimes and drivers show the devices that such variables name. A number is an index among the container's
 * devices. */
static void judge_variables(struct look *look, const struct offer *offer)
{
	const struct kubelet_device_list *list =
		kubelet_resource_devices(look->rig->kubelet, offer->resource);
	if (!lists_several(list) || offer->id[strspn(offer->id, "0123456789")] == '\0')
		return;
	grant_each (variable, &offer_applied(offer)->envs) {
		struct text_list values CLEANUP_TEXT_LIST = {0};
		const char *other = NULL;
		if (!text_ends_with(variable->name, "VISIBLE_DEVICES"))
			continue;
		text_list_split(&values, variable->value, ',');
		text_each (value, &values) {
			if (text_equal(value, "all") || (kubelet_device_find(list, value) != NULL &&
							 !text_equal(value, offer->id)))
				other = value;
		}
		tally_add(&look->variables, other == NULL || text_list_has(&values, offer->id),
			  "%s=%s for %s", variable->name, variable->value, offer->id);
	}
}

/* The devices of an answer as a whole. */
static bool count_devices(struct offer *offer, void *user)
{
	struct look *look = user;
	judge_variables(look, offer);
	if (offer->granted.count != 0) {
		look->named++;
		judge_devices(look, offer);
	}
	return true;
}

void allocate_one_device(struct check_run *run)
{
	struct look look = {
		.tally = TALLY_OF(run, "devices by the answer for one id", "one"),
		.variables = TALLY_OF(run, "variables in the answer for one id", "only that id")};
	struct rig *rig = rig_ready(run);
	if (rig == NULL)
		return;
	look.rig = rig;
	(void)offers_each(rig, count_devices, &look);
	tally_end(&look.tally);
	tally_end(&look.variables);
	if (look.variables.wrong != 0)
		return;
	if (look.named == 0)
		check_not_applicable(run, "no answer shows which device of the node it hands out");
}
