/* SPDX-License-Identifier: MIT */
#include "conformance/checks/isolation.h"

#include "base/path.h"

#include <string.h>

static const char *const look_now[] = {"probe-visibility", "--reach", NULL};

void isolation_close(struct isolation *isolation)
{
	cJSON_Delete(isolation->sights);
}

bool isolation_look(struct isolation *isolation, const char *label, const struct grant *grant,
		    struct sight *out)
{
	struct probe *probe = stage_start(isolation->stage, label, look_now, grant);
	*out = (struct sight){0};
	if (probe != NULL)
		*out = (struct sight){stage_finish(isolation->stage, probe), probe_view(probe)};
	return out->document != NULL;
}

bool isolation_look_at(struct isolation *isolation, const char *label, struct offer *offer,
		       struct sight *out)
{
	return offer_admit(isolation->rig, offer) &&
	       isolation_look(isolation, label, &offer->grant, out);
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

bool isolation_open(struct isolation *isolation, struct check_run *run, const char *const *env)
{
	isolation->run = run;
	isolation->sights = cJSON_CreateArray();
	isolation->rig = rig_ready(run, env);
	if (isolation->rig == NULL)
		return false;
	isolation->stage = stage_open(run, &isolation->rig->loop);
	if (isolation->stage == NULL)
		return false;
	isolation_note_runtime(run);
	return isolation_look(isolation, "bare", NULL, &isolation->bare) &&
	       sights_add(run, isolation->sights, "bare", &isolation->bare, NULL, NULL);
}

bool isolation_ask(struct isolation *isolation, struct offer *offer, struct sight *sight)
{
	const char *label = check_format(isolation->run, "asked-%s", offer->id);
	if (!isolation_look_at(isolation, label, offer, sight))
		return false;
	visibility_identify(isolation->rig->context->node, sight, &offer->granted);
	offer->granted.source = GRANTED_SEEN;
	return true;
}

bool isolation_keep(struct isolation *isolation, const struct offer *offer,
		    const struct sight *sight)
{
	return sights_add(isolation->run, isolation->sights, offer->granted.devices[0]->id, sight,
			  &offer->granted, &offer->grant);
}

/* A check of its own run: a container of each device, as far as answers can be read, and else of the
 * first id. */
struct gathering {
	struct isolation *isolation;
	struct text_list devices;
	size_t asked;
};

static bool gather(struct offer *offer, void *user)
{
	struct gathering *gathering = user;
	struct sight sight = {0};
	if (offer->granted.source == GRANTED_UNTOLD &&
	    (gathering->asked++ != 0 || !isolation_ask(gathering->isolation, offer, &sight)))
		return true;
	if (offer->granted.count != 1 ||
	    text_list_has(&gathering->devices, offer->granted.devices[0]->id))
		return true;
	(void)text_list_add(&gathering->devices, offer->granted.devices[0]->id, NULL);
	if (sight.document != NULL ||
	    isolation_look_at(gathering->isolation, offer->granted.devices[0]->id, offer, &sight))
		(void)isolation_keep(gathering->isolation, offer, &sight);
	return true;
}

cJSON *sights_take(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	struct gathering gathering = {.isolation = &isolation};
	cJSON *sights = sights_read(run);
	if (sights != NULL) {
		isolation_note_runtime(run);
	} else if (isolation_open(&isolation, run, NULL)) {
		(void)offers_each(isolation.rig, gather, &gathering);
		if (sights_save(run, isolation.sights))
			sights = STEAL(isolation.sights);
	}
	text_list_free(&gathering.devices);
	if (sights != NULL && cJSON_GetArraySize(sights) < 2)
		check_unsupported(run, "no container with one device of the node was seen: the "
				       "answers hand out none, several, or what only a runtime "
				       "understands");
	return sights;
}
