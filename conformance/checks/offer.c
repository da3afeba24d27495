/* SPDX-License-Identifier: MIT */
#include "conformance/checks/offer.h"

#include "base/clock.h"
#include "conformance/checks/node_cdi.h"

#include <string.h>

enum { OFFERS_MS = 60000, OFFERS_MAX = 256 /* ids of a resource */ };

const struct grant *offer_applied(const struct offer *offer)
{
	return grant_names_cdi(&offer->grant) ? &offer->edited : &offer->grant;
}

static int read_grant(struct rig *rig, struct offer *offer, struct error *err)
{
	if (rig->granted == NULL)
		rig->granted = granted_reader_new(rig->context->node);
	if (grant_names_cdi(&offer->grant)) {
		int rc = node_cdi_apply(rig->context, &offer->grant, &offer->edited, err);
		if (rc < 0)
			return rc;
	}
	offer->granted = granted_read(rig->granted, offer_applied(offer));
	return 0;
}

int offer_ask(struct rig *rig, const char *resource, const char *id, struct offer *out,
	      struct error *err)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	*out = (struct offer){.resource = resource, .id = check_format(rig->run, "%s", id)};
	int rc = rig_allocate(rig, resource, &id, 1, &reply, err);
	struct kubelet_answer answer = {resource, rig_first_response(&reply)};
	if (rc == 0 && reply.code != RPC_OK)
		rc = error_set(err, ERROR_REMOTE, "%s: %s", rpc_code_name(reply.code),
			       reply.message);
	if (rc == 0 && answer.response == NULL)
		rc = error_set(err, ERROR_PROTOCOL, "no container response");
	if (rc == 0) {
		kubelet_merge(rig_is_windows(rig), &answer, 1, &out->grant);
		rc = read_grant(rig, out, err);
	}
	if (rc == 0)
		return 0;
	offer_close(rig, out);
	return error_wrap(err, rc, "%s of %s", id, resource);
}

bool offer_open(struct rig *rig, const struct kubelet_limit *limits, size_t count,
		struct offer *out)
{
	const char *resource = limits->resource;
	struct error err = {0};
	*out = (struct offer){.resource = resource,
			      .id = check_format(rig->run, "%s", limits->ids[0])};

	/* A kubelet asks for a preference before it chooses several devices, and admits no
	 * container when that fails. The preferred devices do not matter here. */
	if (limits->count >= 2 && rig_options(rig, resource).get_preferred_allocation_available) {
		struct kubelet_preferred_request request;
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		kubelet_preferred_request_init(&request, limits->ids, limits->count,
					       (int32_t)limits->count);
		int rc = rig_call(rig, resource, &kubelet_method_prefer, &request.request.base,
				  &reply, &err);
		if (!rig_expect_answer(rig, rc, "GetPreferredAllocation of several devices", &reply,
				       &err))
			return false;
	}

	const char *pod = check_format(rig->run, "%s/%s", resource, limits->ids[0]);
	if (!rig_admit(rig, pod, limits, count, &out->grant))
		return false;
	out->pod = pod;
	if (check_works(rig->run, read_grant(rig, out, &err), NULL, &err))
		return true;
	offer_close(rig, out);
	return false;
}

bool offer_admit(struct rig *rig, struct offer *offer)
{
	if (offer->pod != NULL)
		return true;
	const char *id = offer->id;
	const struct kubelet_limit limit = {.resource = offer->resource, .count = 1, .ids = &id};
	struct offer admitted = {0};
	if (!offer_open(rig, &limit, 1, &admitted))
		return false;

	/* An id stands for the same device each time. */
	const struct granted *before = &offer->granted;
	const struct granted *now = &admitted.granted;
	bool same = true;
	if (before->source == GRANTED_READ) {
		same = now->source == GRANTED_READ && now->count == before->count;
		granted_each (device, before)
			same = same && granted_has(now, device);
	}
	if (!same) {
		struct text saw CLEANUP_TEXT = {0};
		granted_add_ids(now, &saw);
		(void)check_expect(rig->run, false, "what an id hands out", "the same each time",
				   "%s at first and %s later by %s of %s",
				   before->count != 0 ? before->devices[0]->id : "nothing",
				   now->count != 0 ? text_string(&saw) : "nothing", offer->id,
				   offer->resource);
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
	grant_free(&offer->edited);
	*offer = (struct offer){0};
}

void offer_report_unseen(struct check_run *run, const char *prefix, size_t count)
{
	check_unsupported(
		run,
		"%swhich devices %zu ids stand for cannot be determined: their answers hold "
		"no device node or file of one device of this node, and containers on this "
		"runtime saw no device",
		prefix, count);
}

struct offers {
	bool (*visit)(struct offer *offer, void *user);
	void *user;
	uint64_t end_ms;
	size_t visited;
	bool ended;
};

static void visit_resource(struct rig *rig, const struct rig_item *item)
{
	struct offers *offers = item->user;
	size_t all = item->ids->count;
	size_t count = all < OFFERS_MAX ? all : OFFERS_MAX;
	size_t asked = 0;
	for (; !offers->ended && asked < count && clock_monotonic_ms() <= offers->end_ms; asked++) {
		struct offer offer = {0};
		struct error err = {0};
		const char *id = item->ids->items[asked * all / count];
		int rc = offer_ask(rig, item->resource, id, &offer, &err);
		if (rc < 0)
			(void)check_expect_ok(rig->run, rc, "Allocate", &err);
		offers->visited += rc == 0;
		offers->ended = rc < 0 || !offers->visit(&offer, offers->user);
		offer_close(rig, &offer);
	}
	if (!offers->ended && asked < all)
		check_note(rig->run, "%zu of the %zu ids of %s were asked for", asked, all,
			   item->resource);
}

size_t offers_each(struct rig *rig, bool (*visit)(struct offer *offer, void *user), void *user)
{
	struct offers offers = {
		.visit = visit,
		.user = user,
		.end_ms = clock_monotonic_ms() + context_limit_ms(rig->context, OFFERS_MS),
	};
	(void)rig_for_each(rig, visit_resource, &offers);
	return offers.visited;
}
