/* SPDX-License-Identifier: MIT */
/* Inspects containers, and keeps the results for other checks that judge the same ones. */
#include "conformance/checks/isolation.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/container_judge.h"
#include "conformance/checks/tally.h"

#include <string.h>

enum {
	UNREADABLE_MAX = 8, /* containers for answers that cannot be read */
	OTHERS_MAX = 8,	    /* containers for further answers that grant a device */
};

static const char file_name[] = "observations.json";

/* Adds a container; what the host saw of it is evidence as well. */
static void observations_add(struct check_run *run, cJSON *observations, const char *label,
			     size_t handler, const struct observation *observation,
			     const struct granted *granted, const struct grant *grant)
{
	const char *name = context_handler(check_context(run), handler);
	cJSON *container = NULL;
	if (observation->view != NULL) {
		container = container_json(observation->view, name, grant);
		check_evidence_json(run, check_format(run, "%s.container.json", label), container);
	}

	struct members members CLEANUP_MEMBERS = members_new();
	member_string(&members, "label", label);
	member_string(&members, "handler", name);
	struct members devices = member_array(&members, "devices");
	if (granted != NULL) {
		granted_each (device, granted)
			member_string(&devices, NULL, device->id);
	}
	member_bool(&members, "needsRuntime", granted != NULL && granted->needs_runtime);
	member_copy(&members, "document", observation->document);
	if (container != NULL)
		member_item(&members, "container", container);
	else
		member_null(&members, "container");
	array_add(observations, members_take(&members));
}

static void observations_save(struct check_run *run, const cJSON *observations)
{
	struct error err = {0};
	(void)check_works(run, json_write_file(check_run_path(run, file_name), observations, &err),
			  file_name, &err);
}

/* The file of an earlier check of this run; NULL: none kept one. */
static cJSON *observations_read(struct check_run *run)
{
	const char *path = check_run_path(run, file_name);
	cJSON *observations = NULL;
	return file_exists(path) && json_read_file(path, &observations, NULL) == 0 ? observations
										   : NULL;
}

void observations_add_kept(struct check_run *run, const char *label,
			   const struct observation *observation, const struct granted *granted,
			   const struct grant *grant)
{
	cJSON *observations CLEANUP_JSON = observations_read(run);
	if (observations == NULL)
		return;
	observations_add(run, observations, label, 0, observation, granted, grant);
	observations_save(run, observations);
}

cJSON *observations_get(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	cJSON *observations = observations_read(run);
	if (observations != NULL) {
		isolation_note_runtime(run);
	} else if (isolation_open(&isolation, run, NULL)) {
		isolation_inspect_each(&isolation, false);
		observations = STEAL(isolation.observations);
	}
	if (observations == NULL)
		return NULL;

	/* The containers of one handler prove nothing about another one. */
	const struct context *context = check_context(run);
	const char *handler = context_handler(context, 0);
	size_t i = 0;
	do {
		bool has_device = false;
		json_each (observation, observations)
			has_device |=
				text_equal(json_pointer_string(observation, "/handler"), handler) &&
				cJSON_GetArraySize(json_pointer(observation, "/devices")) != 0;
		if (!has_device)
			check_unsupported(run,
					  "%s%sno container with one device of the node was "
					  "seen: the answers hand out none, several, or what "
					  "only a runtime understands",
					  handler != NULL ? handler : "",
					  handler != NULL ? ": " : "");
		handler = context_handler(context, ++i);
	} while (handler != NULL);
	return observations;
}

bool isolation_open(struct isolation *isolation, struct check_run *run, const char *const *env)
{
	isolation->run = run;
	isolation->rig = rig_ready_with(run, env);
	isolation->stage =
		isolation->rig != NULL ? stage_open(run, &isolation->rig->loop, 0) : NULL;
	return isolation->stage != NULL;
}

void isolation_close(struct isolation *isolation)
{
	items_each (tenant, isolation->tenants, isolation->count) {
		items_each (offer, tenant->offers, tenant->count)
			offer_close(isolation->rig, offer);
	}
	cJSON_Delete(isolation->observations);
}

bool isolation_inspect(struct isolation *isolation, const char *label, const struct grant *grant,
		       struct observation *out)
{
	static const char *const command[] = {"probe-visibility", "--reach", "--planted",
					      CONTAINER_PLANTED_DIRECTORY, NULL};
	struct probe *probe = stage_start_planted(isolation->stage, label, command, grant);
	*out = (struct observation){0};
	if (probe != NULL)
		*out = (struct observation){stage_finish(isolation->stage, probe),
					    probe_view(probe)};
	return out->document != NULL;
}

const char *isolation_label(const struct isolation *isolation, const char *label)
{
	const char *handler = context_handler(check_context(isolation->run), isolation->handler);
	return isolation->handler == 0 ? label
				       : check_format(isolation->run, "%s-%s", handler, label);
}

bool isolation_next_handler(struct isolation *isolation)
{
	if (context_handler(check_context(isolation->run), ++isolation->handler) == NULL)
		return false;
	isolation->unreadable = 0;
	isolation->unseen = 0;
	isolation->stage =
		stage_open(isolation->run, isolation->rig != NULL ? &isolation->rig->loop : NULL,
			   isolation->handler);
	return isolation->stage != NULL;
}

bool isolation_inspect_bare(struct isolation *isolation)
{
	const char *label = isolation_label(isolation, "bare");
	if (isolation->observations == NULL) {
		isolation->observations = cJSON_CreateArray();
		isolation_note_runtime(isolation->run);
	}
	if (!isolation_inspect(isolation, label, NULL, &isolation->bare))
		return false;
	observations_add(isolation->run, isolation->observations, label, isolation->handler,
			 &isolation->bare, NULL, NULL);
	return true;
}

bool isolation_ask(struct isolation *isolation, struct offer *offer,
		   struct observation *observation)
{
	const char *label =
		isolation_label(isolation, check_format(isolation->run, "asked-%s", offer->id));
	if (isolation->unreadable++ >= UNREADABLE_MAX || !offer_admit(isolation->rig, offer) ||
	    !isolation_inspect(isolation, label, &offer->grant, observation))
		return false;
	visibility_identify(isolation->rig->context->node, observation, &offer->granted);
	offer->granted.source = GRANTED_SEEN;
	return true;
}

void isolation_note_runtime(struct check_run *run)
{
	const struct context *context = check_context(run);
	struct text names CLEANUP_TEXT = {0};
	text_each (handler, &context->runtime_handlers)
		text_addf(&names, "%s%s", names.size == 0 ? ", handler " : " and ", handler);

	char *own CLEANUP_FREE = path_directory(context->run_directory);
	if (strstr(context->cri_address, own) != NULL)
		check_note(run,
			   "proven on a containerd of gpucert's own%s; --cri proves it on the "
			   "node's",
			   names.size != 0 ? text_string(&names) : " and its default OCI runtime");
	else
		check_note(run, "proven on the runtime at %s%s", context->cri_address,
			   text_string(&names));
}

/* The answers for all ids so far. */
struct inspection {
	struct isolation *isolation;
	bool judges;
	struct text_list launched; /* devices whose container was inspected */
	struct text_list answers;  /* digests of the answers whose container was inspected */
	struct tally something;	   /* ids that grant a device */
	struct tally one;	   /* ids that grant no second one */
	size_t others;		   /* further answers for a device */
};

static bool inspect_offer(struct offer *offer, void *user)
{
	struct inspection *inspection = user;
	struct isolation *isolation = inspection->isolation;
	const struct granted *granted = &offer->granted;
	struct observation observation = {0};

	/* Replicas of a device answer alike; an answer that differs gets a container of its own. */
	char digest[DIGEST_SIZE] = "";
	cJSON *json CLEANUP_JSON = grant_json(&offer->grant);
	char *text CLEANUP_FREE = cJSON_PrintUnformatted(json);
	digest_bytes(text, strlen(text), digest);
	bool new_answer = !text_list_has(&inspection->answers, digest);
	if (granted->source == GRANTED_UNKNOWN) {
		if (new_answer && isolation->unreadable < UNREADABLE_MAX)
			text_list_add(&inspection->answers, digest);
		if (!new_answer || !isolation_ask(isolation, offer, &observation))
			return true;
	}

	/* An answer that only some runtimes understand may mean nothing to this one. */
	bool empty =
		granted->source == GRANTED_NOTHING ||
		(granted->source == GRANTED_SEEN && granted->count == 0 && !granted->needs_runtime);
	if (inspection->judges)
		tally_add(&inspection->something, !empty, "nothing by %s of %s", offer->id,
			  offer->resource);
	if (granted->count == 0)
		isolation->unseen += !empty;
	else if (inspection->judges)
		tally_add(&inspection->one, granted->count == 1, "%zu by %s of %s", granted->count,
			  offer->id, offer->resource);
	if (granted->count != 1)
		return true;

	const char *device = granted->devices[0]->id;
	if (observation.document == NULL && text_list_has(&inspection->launched, device) &&
	    (!new_answer || inspection->others++ >= OTHERS_MAX))
		return true;
	const char *label = isolation_label(isolation, device);
	text_list_add(&inspection->launched, device);
	text_list_add(&inspection->answers, digest);
	if (observation.document == NULL &&
	    (!offer_admit(isolation->rig, offer) ||
	     !isolation_inspect(isolation, label, &offer->grant, &observation)))
		return true;
	observations_add(isolation->run, isolation->observations, label, isolation->handler,
			 &observation, granted, offer_applied(offer));
	if (inspection->judges)
		visibility_expect_only(isolation->run, isolation_label(isolation, offer->resource),
				       &observation, &isolation->bare, granted);
	return true;
}

void isolation_inspect_each(struct isolation *isolation, bool judges)
{
	struct check_run *run = isolation->run;
	do {
		if (!isolation_inspect_bare(isolation))
			continue;
		struct inspection inspection = {
			.isolation = isolation,
			.judges = judges,
			.something = TALLY_OF(run, "what an id hands out", "a device"),
			.one = TALLY_OF(run, "devices granted", "1"),
		};
		(void)offers_each(isolation->rig, inspect_offer, &inspection);
		text_list_free(&inspection.launched);
		text_list_free(&inspection.answers);
		observations_save(run, isolation->observations);
		if (!judges)
			continue;

		tally_end(&inspection.something);
		tally_end(&inspection.one);
		if (inspection.others > OTHERS_MAX)
			check_note(
				run,
				"%zu ids answer otherwise than the first one of their device; the "
				"containers of %d of them were inspected",
				inspection.others, OTHERS_MAX);
		if (isolation->unreadable > UNREADABLE_MAX)
			check_unsupported(run,
					  "the answers of %zu ids cannot be read and differ; the "
					  "containers of the first %d were asked instead",
					  isolation->unreadable, UNREADABLE_MAX);
		if (isolation->unseen != 0)
			offer_report_unseen(run, "", isolation->unseen);
	} while (isolation_next_handler(isolation));
}
