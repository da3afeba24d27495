/* SPDX-License-Identifier: MIT */
#include "conformance/checks/offer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "conformance/checks/node_cdi.h"
#include "rpc/message.h"
#include "rpc/rpc.h"

#include <string.h>

enum { OFFERS_MS = 60000, OFFERS_MAX = 256 /* ids of a resource */ };

const struct grant *offer_applied(const struct offer *offer)
{
	return grant_names_cdi(&offer->grant) ? &offer->edited : &offer->grant;
}

static int read_grant(struct rig *rig, struct offer *offer, struct error *err)
{
	int rc = 0;
	if (rig->granted == NULL)
		rc = granted_reader_new(rig->context->node, &rig->granted, err);
	if (rc == 0 && grant_names_cdi(&offer->grant))
		rc = node_cdi_apply(rig->context, &offer->grant, &offer->edited, err);
	if (rc == 0)
		offer->granted = granted_read(rig->granted, offer_applied(offer));
	return rc;
}

/* What a kubelet makes of the answer for one id. */
static int merge_answer(struct rig *rig, const struct rpc_answer *reply, struct offer *offer,
			struct error *err)
{
	struct kubelet_answer answer = {offer->resource, rig_first_response(reply)};
	if (reply->code != RPC_OK)
		return error_set(err, ERROR_REMOTE, "%s: %s", rpc_code_name(reply->code),
				 reply->message);
	if (answer.response == NULL)
		return error_set(err, ERROR_PROTOCOL, "no container response");
	return kubelet_merge(rig_is_windows(rig), &answer, 1, &offer->grant, err);
}

int offer_ask(struct rig *rig, const char *resource, const char *id, struct offer *out,
	      struct error *err)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	*out = (struct offer){.resource = resource, .id = check_format(rig->run, "%s", id)};
	int rc = rig_allocate(rig, resource, &id, 1, &reply, err);
	if (rc == 0)
		rc = merge_answer(rig, &reply, out, err);
	if (rc == 0)
		rc = read_grant(rig, out, err);
	if (rc == 0)
		return 0;
	offer_close(rig, out);
	return error_wrap(err, rc, "%s of %s", id, resource);
}

/* A kubelet asks for a preference before it chooses several devices, and admits nobody when that fails. Which devices
 * the plugin prefers does not matter here. */
static bool ask_preference(struct rig *rig, const struct kubelet_limit *limit)
{
	const struct kubelet_registration *r = rig_registration(rig, limit->resource);
	V1beta1__ContainerPreferredAllocationRequest container =
		V1BETA1__CONTAINER_PREFERRED_ALLOCATION_REQUEST__INIT;
	V1beta1__ContainerPreferredAllocationRequest *containers[] = {&container};
	V1beta1__PreferredAllocationRequest request = V1BETA1__PREFERRED_ALLOCATION_REQUEST__INIT;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	if (limit->count < 2 || r == NULL || !r->options.get_preferred_allocation_available)
		return true;
	container.available_deviceids = message_strings((const char **)(uintptr_t)limit->ids);
	container.n_available_deviceids = limit->count;
	container.allocation_size = (int32_t)limit->count;
	request.container_requests = containers;
	request.n_container_requests = 1;
	int rc = kubelet_call(kubelet_resource_plugin(rig->kubelet, limit->resource),
			      DEVICE_PLUGIN_SERVICE "GetPreferredAllocation", &request.base,
			      &v1beta1__preferred_allocation_response__descriptor, RIG_CALL_MS,
			      &reply, &err);
	if (rc == 0 && reply.code != RPC_OK)
		rc = error_set(&err, ERROR_REMOTE, "%s: %s", rpc_code_name(reply.code),
			       reply.message);
	return check_expect_ok(rig->run, rc, "GetPreferredAllocation of several devices", &err);
}

bool offer_open(struct rig *rig, const struct kubelet_limit *limits, size_t count,
		struct offer *out)
{
	const char *pod = check_format(rig->run, "%s/%s", limits->resource, limits->ids[0]);
	struct error err = {0};
	*out = (struct offer){.resource = limits->resource,
			      .id = check_format(rig->run, "%s", limits->ids[0])};
	if (!ask_preference(rig, limits) || !rig_admit(rig, pod, limits, count, &out->grant))
		return false;
	out->pod = pod;
	if (check_works(rig->run, read_grant(rig, out, &err), NULL, &err))
		return true;
	offer_close(rig, out);
	return false;
}

/* An id stands for the same device each time. False: recorded. */
static bool expect_same(struct rig *rig, const struct offer *asked, const struct offer *admitted)
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

bool offer_admit(struct rig *rig, struct offer *offer)
{
	const char *id = offer->id;
	const struct kubelet_limit limit = {.resource = offer->resource, .count = 1, .ids = &id};
	struct offer admitted = {0};
	if (offer->pod != NULL)
		return true;
	if (!offer_open(rig, &limit, 1, &admitted))
		return false;
	if (!expect_same(rig, offer, &admitted)) {
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

void offer_tell_unseen(struct check_run *run, const char *prefix, size_t count)
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
