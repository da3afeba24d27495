/* SPDX-License-Identifier: MIT */
/* Looks into containers, and what is kept of them for the checks that judge the same ones. */
#include "conformance/checks/isolation.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/members.h"
#include "base/path.h"
#include "conformance/checks/tally.h"
#include "containers/offers.h"

#include <string.h>

enum {
	UNREADABLE_MAX = 8, /* containers for answers that cannot be read */
	OTHERS_MAX = 8,	    /* containers for further answers that hand out a device */
};

static const char file_name[] = "sights.json";

/* Is it the mount of an entry of the answer, or one that came with it? */
static bool is_granted(const struct container_mount *mount, const struct grant *grant)
{
	static const struct grant nothing;
	grant_each (entry, &(grant != NULL ? grant : &nothing)->mounts) {
		struct container_place place = {0};
		char *real CLEANUP_FREE = NULL;
		if (OFFERS_INSPECTION && container_host_place(entry->host_path, &place) &&
		    place.device == mount->device && place.inode == mount->inode)
			return true;
		if (mount->host_path != NULL &&
		    file_resolve(NULL, entry->host_path, &real, NULL) == 0 &&
		    path_is_within(mount->host_path, real))
			return true;
	}
	return false;
}

static cJSON *mounts_json(const struct container_mounts *mounts, const struct grant *grant)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < mounts->count; i++) {
		const struct container_mount *mount = &mounts->items[i];
		struct members members CLEANUP_MEMBERS = members_new();
		if (mount->covered)
			continue;
		member_string(&members, "path", mount->target);
		member_string(&members, "type", mount->type);
		member_string(&members, "hostPath", mount->host_path);
		member_bool(&members, "readOnly", mount->read_only);
		member_bool(&members, "shared", mount->shared);
		member_bool(&members, "granted", is_granted(mount, grant));
		member_item(&array, NULL, members_take(&members));
	}
	return members_take(&array);
}

static cJSON *nodes_json(const struct container_node *nodes, size_t count)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < count; i++) {
		struct members node CLEANUP_MEMBERS = members_new();
		member_string(&node, "path", nodes[i].path);
		member_string(&node, "type", nodes[i].block ? "block" : "character");
		member_format(&node, "number", "%u:%u", nodes[i].major, nodes[i].minor);
		member_item(&array, NULL, members_take(&node));
	}
	return members_take(&array);
}

static cJSON *container_json(const struct container_view *view, const struct grant *grant)
{
	struct members container CLEANUP_MEMBERS = members_new();
	member_item(&container, "mounts", mounts_json(&view->mounts, grant));
	member_item(&container, "nodes", nodes_json(view->nodes, view->node_count));
	member_item(&container, "usable",
		    view->usable_untold == NULL ? nodes_json(view->usable, view->usable_count)
						: cJSON_CreateNull());
	member_string(&container, "usableUntold", view->usable_untold);
	member_number(&container, "capabilities", (double)view->capabilities);
	member_number(&container, "seccomp", view->seccomp);
	member_bool(&container, "noNewPrivileges", view->no_new_privileges);
	member_item(&container, "shared", json_new_strings(&view->shared));
	return members_take(&container);
}

/* What the host saw is evidence as well. False: recorded. */
static bool sights_add(struct check_run *run, cJSON *sights, const char *label,
		       const struct sight *sight, const struct granted *granted,
		       const struct grant *grant)
{
	struct members members CLEANUP_MEMBERS = members_new();
	struct members devices CLEANUP_MEMBERS = members_new_array();
	cJSON *container = sight->view != NULL ? container_json(sight->view, grant) : NULL;
	struct error err = {0};
	for (size_t i = 0; granted != NULL && i < granted->count; i++)
		member_string(&devices, NULL, granted->devices[i]->id);
	if (container != NULL)
		check_evidence_json(run, check_format(run, "%s.container.json", label), container);
	member_string(&members, "label", label);
	member_item(&members, "devices", members_take(&devices));
	member_bool(&members, "byRuntime", granted != NULL && granted->by_runtime);
	member_copy(&members, "document", sight->document);
	member_item(&members, "container", sight->view != NULL ? container : cJSON_CreateNull());
	return check_works(run, members_append(sights, members_take(&members), &err), label, &err);
}

static void sights_save(struct check_run *run, const cJSON *sights)
{
	struct error err = {0};
	int rc = json_write_file(check_run_path(run, file_name), sights, &err);
	(void)check_works(run, rc, file_name, &err);
}

/* What an earlier check of this run kept; NULL: none did. */
static cJSON *sights_read(struct check_run *run)
{
	const char *path = check_run_path(run, file_name);
	cJSON *sights = NULL;
	return file_exists(path) && json_read_file(path, &sights, NULL) == 0 ? sights : NULL;
}

void sights_add_kept(struct check_run *run, const char *label, const struct sight *sight,
		     const struct granted *granted, const struct grant *grant)
{
	cJSON *sights CLEANUP_JSON = sights_read(run);
	if (sights != NULL && sights_add(run, sights, label, sight, granted, grant))
		sights_save(run, sights);
}

cJSON *sights_take(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	cJSON *sights = sights_read(run);
	if (sights != NULL) {
		isolation_note_runtime(run);
	} else if (isolation_open(&isolation, run, NULL) && isolation_look_bare(&isolation)) {
		isolation_look_at_each(&isolation, false);
		sights = STEAL(isolation.sights);
	}
	if (sights != NULL && cJSON_GetArraySize(sights) < 2)
		check_unsupported(run, "no container with one device of the node was seen: the "
				       "answers hand out none, several, or what only a runtime "
				       "understands");
	return sights;
}

bool isolation_open(struct isolation *isolation, struct check_run *run, const char *const *env)
{
	isolation->run = run;
	isolation->rig = rig_ready(run, env);
	isolation->stage = isolation->rig != NULL ? stage_open(run, &isolation->rig->loop) : NULL;
	return isolation->stage != NULL;
}

void isolation_close(struct isolation *isolation)
{
	for (size_t i = 0; i < isolation->count; i++) {
		for (size_t j = 0; j < isolation->tenants[i].count; j++)
			offer_close(isolation->rig, &isolation->tenants[i].offers[j]);
	}
	cJSON_Delete(isolation->sights);
}

bool isolation_look(struct isolation *isolation, const char *label, const struct grant *grant,
		    struct sight *out)
{
	static const char *const look_now[] = {"probe-visibility", "--reach", NULL};
	struct probe *probe = stage_start(isolation->stage, label, look_now, grant);
	*out = (struct sight){0};
	if (probe != NULL)
		*out = (struct sight){stage_finish(isolation->stage, probe), probe_view(probe)};
	return out->document != NULL;
}

bool isolation_look_bare(struct isolation *isolation)
{
	isolation->sights = cJSON_CreateArray();
	isolation_note_runtime(isolation->run);
	return isolation_look(isolation, "bare", NULL, &isolation->bare) &&
	       sights_add(isolation->run, isolation->sights, "bare", &isolation->bare, NULL, NULL);
}

bool isolation_ask(struct isolation *isolation, struct offer *offer, struct sight *sight)
{
	const char *label = check_format(isolation->run, "asked-%s", offer->id);
	if (isolation->unreadable++ >= UNREADABLE_MAX || !offer_admit(isolation->rig, offer) ||
	    !isolation_look(isolation, label, &offer->grant, sight))
		return false;
	visibility_identify(isolation->rig->context->node, sight, &offer->granted);
	offer->granted.source = GRANTED_SEEN;
	return true;
}

void isolation_note_runtime(struct check_run *run)
{
	const struct context *context = check_context(run);
	const char *handler = context->runtime_handler != NULL ? context->runtime_handler : "";
	char *own CLEANUP_FREE = path_directory(context->run_directory);
	if (own != NULL && strstr(context->cri_address, own) != NULL)
		check_note(run, "proven on a containerd of gpucert's own and its default OCI "
				"runtime; --cri proves it on the node's");
	else
		check_note(run, "proven on the runtime at %s%s%s", context->cri_address,
			   handler[0] != '\0' ? ", handler " : "", handler);
}

/* How the answers of ids turned out. */
struct looks {
	struct isolation *isolation;
	bool judges;
	struct text_list launched; /* devices that a container was looked at with */
	struct text_list answers;  /* digests of the answers that one was looked at with */
	struct tally something;	   /* ids that hand out a device */
	struct tally one;	   /* and no second one */
	size_t others;
};

/* Replicas of a device answer alike; what answers otherwise is looked at by itself. False: a
 * container was looked at with this answer, or recorded. */
static bool is_new(struct looks *looks, const struct offer *offer, char digest[DIGEST_SIZE])
{
	cJSON *json CLEANUP_JSON = grant_json(&offer->grant);
	char *text CLEANUP_FREE = json != NULL ? cJSON_PrintUnformatted(json) : NULL;
	if (text == NULL) {
		check_broken(looks->isolation->run, "out of memory");
		return false;
	}
	digest_bytes(text, strlen(text), digest);
	return !text_list_has(&looks->answers, digest);
}

/* What only a runtime understands may be nothing for this runtime. */
static bool is_empty(const struct granted *granted)
{
	return granted->source == GRANTED_NOTHING ||
	       (granted->source == GRANTED_SEEN && granted->count == 0 && !granted->by_runtime);
}

/* Does it hand out one device, as far as that is known? */
static bool hands_out_one(struct looks *looks, const struct offer *offer)
{
	const struct granted *granted = &offer->granted;
	if (looks->judges)
		tally_add(&looks->something, !is_empty(granted), "nothing by %s of %s", offer->id,
			  offer->resource);
	if (granted->count == 0)
		looks->isolation->unseen += !is_empty(granted);
	else if (looks->judges)
		tally_add(&looks->one, granted->count == 1, "%zu by %s of %s", granted->count,
			  offer->id, offer->resource);
	return granted->count == 1;
}

/* Is a container to be looked at with this answer, which hands out one device? */
static bool wants_look(struct looks *looks, const struct offer *offer, bool new_answer)
{
	if (!text_list_has(&looks->launched, offer->granted.devices[0]->id))
		return true;
	return new_answer && looks->others++ < OTHERS_MAX;
}

static bool look_at_offer(struct offer *offer, void *user)
{
	struct looks *looks = user;
	struct isolation *isolation = looks->isolation;
	struct sight sight = {0};
	char digest[DIGEST_SIZE] = "";
	bool new_answer = is_new(looks, offer, digest);
	if (offer->granted.source == GRANTED_UNTOLD) {
		if (new_answer && isolation->unreadable < UNREADABLE_MAX)
			(void)text_list_add(&looks->answers, digest, NULL);
		if (!new_answer || !isolation_ask(isolation, offer, &sight))
			return true;
	}
	if (!hands_out_one(looks, offer) ||
	    (sight.document == NULL && !wants_look(looks, offer, new_answer)))
		return true;
	const char *device = offer->granted.devices[0]->id;
	(void)text_list_add(&looks->launched, device, NULL);
	(void)text_list_add(&looks->answers, digest, NULL);
	if (sight.document == NULL && (!offer_admit(isolation->rig, offer) ||
				       !isolation_look(isolation, device, &offer->grant, &sight)))
		return true;
	(void)sights_add(isolation->run, isolation->sights, device, &sight, &offer->granted,
			 offer_applied(offer));
	if (looks->judges)
		visibility_expect_only(isolation->run, offer->resource, &sight, &isolation->bare,
				       &offer->granted);
	return true;
}

static void end_looks(struct looks *looks)
{
	const struct isolation *isolation = looks->isolation;
	tally_end(&looks->something);
	tally_end(&looks->one);
	if (looks->others > OTHERS_MAX)
		check_note(isolation->run,
			   "%zu ids answer otherwise than the first one of their device; the "
			   "containers of %d of them were looked at",
			   looks->others, OTHERS_MAX);
	if (isolation->unreadable > UNREADABLE_MAX)
		check_unsupported(isolation->run,
				  "the answers of %zu ids cannot be read and differ; the "
				  "containers of the first %d were asked instead",
				  isolation->unreadable, UNREADABLE_MAX);
	if (isolation->unseen != 0)
		offer_tell_unseen(isolation->run, "", isolation->unseen);
}

void isolation_look_at_each(struct isolation *isolation, bool judges)
{
	struct looks looks = {
		.isolation = isolation,
		.judges = judges,
		.something = TALLY_OF(isolation->run, "what an id hands out", "a device"),
		.one = TALLY_OF(isolation->run, "devices granted", "1"),
	};
	(void)offers_each(isolation->rig, look_at_offer, &looks);
	sights_save(isolation->run, isolation->sights);
	if (judges)
		end_looks(&looks);
	text_list_free(&looks.launched);
	text_list_free(&looks.answers);
}
