/* SPDX-License-Identifier: MIT */
#include "conformance/checks/offer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "rpc/rpc.h"

#include <string.h>

enum { OFFERS_MS = 60000 };

/* What a kubelet makes of the answer for one id. */
static int offer_call(struct rig *rig, const char *resource, const char *id, struct grant *grant,
		      struct error *err)
{
	struct kubelet_reply reply = {0};
	int rc = kubelet_call_allocate(kubelet_resource_plugin(rig->kubelet, resource), &id, 1,
				       context_wait_ms(rig->context, RIG_CALL_MS), &reply, err);
	const V1beta1__AllocateResponse *response =
		rc == 0 ? (const V1beta1__AllocateResponse *)reply.reply : NULL;

	if (rc == 0 && reply.code != RPC_OK)
		rc = error_set(err, ERROR_REMOTE, "%s: %s", rpc_code_name(reply.code),
			       reply.message);
	if (rc == 0 && (response == NULL || response->n_container_responses == 0))
		rc = error_set(err, ERROR_PROTOCOL, "no container response");
	if (rc == 0) {
		struct kubelet_answer answer = {resource, response->container_responses[0]};

		rc = kubelet_merge(rig_is_windows(rig), &answer, 1, grant, err);
	}
	kubelet_reply_free(&reply);
	return rc < 0 ? error_wrap(err, rc, "%s of %s", id, resource) : 0;
}

/* Asks for the answer alone. False: recorded, and there is nothing to close. */
static bool offer_read(struct rig *rig, struct granted_reader *grants, const char *resource,
		       const char *id, struct offer *out)
{
	struct error err = {0};

	*out = (struct offer){.resource = resource, .id = strdup(id)};
	if (out->id == NULL) {
		check_broken(rig->run, "out of memory");
		return false;
	}
	if (offer_call(rig, resource, id, &out->grant, &err) < 0) {
		(void)check_expect_ok(rig->run, ERROR_REMOTE, "Allocate", &err);
		offer_close(rig, out);
		return false;
	}
	out->granted = granted_read(grants, &out->grant);
	return true;
}

bool offer_open(struct rig *rig, struct granted_reader *grants, const struct kubelet_limit *limits,
		size_t count, struct offer *out)
{
	char *id CLEANUP_FREE = strdup(limits->ids[0]);
	char *pod CLEANUP_FREE = text_format("%s/%s", limits->resource, limits->ids[0]);

	*out = (struct offer){.resource = limits->resource};
	if (id == NULL || pod == NULL) {
		check_broken(rig->run, "out of memory");
		return false;
	}
	if (!rig_admit(rig, pod, limits, count, &out->grant))
		return false;
	out->id = STEAL(id);
	out->pod = STEAL(pod);
	out->granted = granted_read(grants, &out->grant);
	return true;
}

/* An id stands for the same device each time. False: recorded. */
static bool offer_expect_same(struct rig *rig, const struct offer *asked,
			      const struct offer *admitted)
{
	struct text saw CLEANUP_TEXT = {0};
	bool same = asked->granted.source != GRANTED_READ ||
		    (admitted->granted.source == GRANTED_READ &&
		     admitted->granted.count == asked->granted.count);

	for (size_t i = 0; asked->granted.source == GRANTED_READ && i < asked->granted.count; i++)
		same = same && granted_has(&admitted->granted, asked->granted.devices[i]);
	if (same)
		return true;
	for (size_t i = 0; i < admitted->granted.count; i++)
		text_addf(&saw, "%s%s", i != 0 ? ", " : "", admitted->granted.devices[i]->id);
	return check_expect(rig->run, false, "what an id hands out", "the same each time",
			    "%s at first and %s later by %s of %s",
			    asked->granted.count != 0 ? asked->granted.devices[0]->id : "nothing",
			    admitted->granted.count != 0 ? text_string(&saw) : "nothing", asked->id,
			    asked->resource);
}

bool offer_admit(struct rig *rig, struct granted_reader *grants, struct offer *offer)
{
	const char *id = offer->id;
	const struct kubelet_limit limit = {.resource = offer->resource, .count = 1, .ids = &id};
	struct offer admitted = {0};

	if (offer->pod != NULL)
		return true;
	if (!offer_open(rig, grants, &limit, 1, &admitted))
		return false;
	if (!offer_expect_same(rig, offer, &admitted)) {
		offer_close(rig, &admitted);
		return false;
	}
	offer_close(rig, offer);
	*offer = admitted;
	return true;
}

void offer_close(struct rig *rig, struct offer *offer)
{
	if (offer->pod != NULL)
		rig_release(rig, offer->pod);
	grant_free(&offer->grant);
	free(offer->id);
	free(offer->pod);
	*offer = (struct offer){0};
}

struct offers {
	struct rig *rig;
	struct granted_reader *grants;
	bool (*visit)(struct offer *offer, void *user);
	void *user;
	uint64_t began_ms;
	uint64_t waited_ns; /* for answers */
	size_t visited;
};

/* False: it is to end. */
static bool offers_of_resource(struct offers *offers, const char *resource)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};

	if (!rig_healthy_ids(offers->rig, resource, &ids))
		return false;
	for (size_t i = 0; i < ids.count; i++) {
		struct offer offer = {0};
		bool more = false;
		uint64_t start_ns = clock_monotonic_ns();

		if (clock_monotonic_ms() - offers->began_ms >
		    context_limit_ms(offers->rig->context, OFFERS_MS)) {
			check_note(offers->rig->run, "%zu of the %zu ids of %s were asked for", i,
				   ids.count, resource);
			return true;
		}
		if (!offer_read(offers->rig, offers->grants, resource, ids.items[i], &offer))
			return false;
		offers->waited_ns += clock_monotonic_ns() - start_ns;
		offers->visited++;
		more = offers->visit(&offer, offers->user);
		offer_close(offers->rig, &offer);
		if (!more)
			return false;
	}
	return true;
}

size_t offers_each(struct rig *rig, struct granted_reader *grants,
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
	check_add_time(rig->run, REPORT_PHASE_PLUGIN, offers.waited_ns);
	return offers.visited;
}
