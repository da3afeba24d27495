/* SPDX-License-Identifier: MIT */
#include "conformance/checks/offer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#include <string.h>

enum { OFFERS_MS = 60000 };

bool offer_open(struct rig *rig, struct grant_reader *grants, const struct kubelet_limit *limits,
		size_t count, struct offer *out)
{
	char *id CLEANUP_FREE = strdup(limits->ids[0]);
	char *pod CLEANUP_FREE = text_format("%s/%s", limits->resource, limits->ids[0]);

	*out = (struct offer){.resource = limits->resource};
	if (id == NULL || pod == NULL) {
		check_broken(rig->run, "out of memory");
		return false;
	}
	if (!rig_admit(rig, pod, limits, count, &out->options))
		return false;
	out->id = STEAL(id);
	out->pod = STEAL(pod);
	out->grant = grant_read(grants, &out->options);
	return true;
}

void offer_close(struct rig *rig, struct offer *offer)
{
	if (offer->pod == NULL)
		return;
	rig_release(rig, offer->pod);
	kubelet_container_options_free(&offer->options);
	free(offer->id);
	free(offer->pod);
	*offer = (struct offer){0};
}

struct offers {
	struct rig *rig;
	struct grant_reader *grants;
	bool (*visit)(struct offer *offer, void *user);
	void *user;
	uint64_t began_ms;
	size_t visited;
};

/* False: it is to end. */
static bool offers_of_resource(struct offers *offers, const char *resource)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct kubelet_limit limit = {.resource = resource, .count = 1};

	if (!rig_healthy_ids(offers->rig, resource, &ids))
		return false;
	for (size_t i = 0; i < ids.count; i++) {
		struct offer offer = {0};
		bool more = false;

		if (clock_monotonic_ms() - offers->began_ms >
		    context_limit_ms(offers->rig->context, OFFERS_MS)) {
			check_note(offers->rig->run, "%zu of the %zu ids of %s were asked for", i,
				   ids.count, resource);
			return true;
		}
		limit.ids = (const char *const *)&ids.items[i];
		if (!offer_open(offers->rig, offers->grants, &limit, 1, &offer))
			return false;
		offers->visited++;
		more = offers->visit(&offer, offers->user);
		offer_close(offers->rig, &offer);
		if (!more)
			return false;
	}
	return true;
}

size_t offers_each(struct rig *rig, struct grant_reader *grants,
		   bool (*visit)(struct offer *offer, void *user), void *user)
{
	struct offers offers = {
		.rig = rig,
		.grants = grants,
		.visit = visit,
		.user = user,
		.began_ms = clock_monotonic_ms(),
	};

	for (size_t i = 0; i < rig->resources.count; i++) {
		if (!offers_of_resource(&offers, rig->resources.items[i]))
			break;
	}
	return offers.visited;
}
