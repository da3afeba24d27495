/* SPDX-License-Identifier: MIT */
#include "reference-plugin/tests/property/model.h"

#include "rpc/server.h"

enum {
	GRACE_MS = 5 * 60 * 1000,   /* of a kubelet for a stopped endpoint */
	SWEEP_MS = 10 * 1000 + 100, /* between two looks of its at the end of that */
	SCAN_MS = 1100,		    /* after which the plugin has removed a device at the latest */
};

void model_init(struct model *model)
{
	*model = (struct model){.known = NO};
	for (unsigned i = 0; i < DEVICES; i++)
		model->node[i] = DEVICE_HEALTHY;
}

static bool is_removed(const struct model *model, unsigned device, uint64_t now_ms)
{
	return model->gone_ms[device] != 0 && now_ms >= model->gone_ms[device] + REMOVAL_GRACE_MS;
}

static id_bits ids_of(unsigned resource)
{
	const id_bits display = (UINT32_C(1) << DISPLAY_DEVICES * REPLICAS) - 1;
	return resource == 0 ? display : ~display;
}

void model_device(struct model *model, unsigned device, enum device_state state, uint64_t now_ms)
{
	/* The list has changed for certain. */
	if ((model->node[device] == DEVICE_HEALTHY) != (state == DEVICE_HEALTHY))
		model->left &= ~ids_of(model_resource_of(device));
	model->node[device] = state;
	model->rests = false;
	if (!model->plugin_runs)
		return;
	model->listed_exactly = false;
	for (unsigned i = 0; i < DEVICES; i++) {
		bool was_seen = model->seen[i] != DEVICE_ABSENT && !is_removed(model, i, now_ms);
		if (model->node[i] != DEVICE_ABSENT || !was_seen) {
			model->seen[i] = model->node[i];
			model->gone_ms[i] = 0;
		} else if (model->gone_ms[i] == 0) {
			model->gone_ms[i] = now_ms;
		}
	}
}

void model_plugin_starts(struct model *model, bool survives)
{
	model->left = survives && model->plugin_runs ? model->left : 0;
	for (unsigned i = 0; survives && model->plugin_runs && i < IDS; i++) {
		if (model->gone_ms[i / REPLICAS] != 0)
			model->left |= UINT32_C(1) << i;
	}
	model->plugin_runs = true;
	model->rests = model->listed_exactly = false;
	if (model->known == NO)
		model->known = MAYBE;
	for (unsigned i = 0; i < DEVICES; i++) {
		model->seen[i] = model->node[i];
		model->gone_ms[i] = 0;
	}
}

void model_plugin_stops(struct model *model, uint64_t now_ms)
{
	model->plugin_runs = false;
	model->apart_ms = now_ms;
	/* The kubelet may have lost it before. */
	if (!model->rests && model->known == YES)
		model->known = MAYBE;
	model->listed_exactly = model->listed_exactly && model->rests;
	model->rests = false;
	for (unsigned i = 0; i < DEVICES; i++)
		model->listed_exactly = model->listed_exactly && model->gone_ms[i] == 0;
}

/* Without a plugin the resources are forgotten. */
static enum answer known_at(const struct model *model, uint64_t now_ms)
{
	uint64_t apart_ms = now_ms - model->apart_ms;
	if (model->plugin_runs || !model->kubelet_runs || apart_ms < GRACE_MS)
		return model->known;
	return apart_ms > GRACE_MS + SWEEP_MS || model->known == NO ? NO : MAYBE;
}

void model_kubelet_starts(struct model *model, uint64_t now_ms)
{
	model->kubelet_runs = true;
	model->rests = false;
	model->apart_ms = now_ms;
	model->listed_exactly = !model->plugin_runs;
	for (unsigned i = 0; i < RESOURCES; i++)
		model->listed[i] = 0;
	if (model->plugin_runs && model->known == NO)
		model->known = MAYBE;
}

void model_kubelet_stops(struct model *model, uint64_t now_ms)
{
	model->known = known_at(model, now_ms);
	model->rests = model->kubelet_runs = false;
}

void model_stirs(struct model *model)
{
	model->rests = false;
}

void model_rests(struct model *model, uint64_t now_ms)
{
	model->known = known_at(model, now_ms);
	model->rests = true;
	if (!model->plugin_runs || !model->kubelet_runs)
		return;
	model->known = YES;
	model->listed_exactly = true;
	for (unsigned i = 0; i < RESOURCES; i++) {
		struct expectation now = model_expects(model, i, now_ms);
		model->listed[i] = now.healthy | now.unhealthy;
	}
}

void model_offers(const struct model *model, unsigned resource, uint64_t now_ms, id_bits *healthy,
		  id_bits *unhealthy, id_bits *optional)
{
	*healthy = *unhealthy = *optional = 0;
	for (unsigned i = 0; i < IDS; i++) {
		unsigned device = i / REPLICAS;
		id_bits *set = model->seen[device] == DEVICE_HEALTHY && model->gone_ms[device] == 0
				       ? healthy
				       : unhealthy;
		if (model_resource_of(device) != resource || model->seen[device] == DEVICE_ABSENT)
			continue;
		if (!is_removed(model, device, now_ms))
			*set |= UINT32_C(1) << i;
		else if (now_ms <= model->gone_ms[device] + REMOVAL_GRACE_MS + SCAN_MS)
			*optional |= UINT32_C(1) << i;
	}
}

struct expectation model_expects(const struct model *model, unsigned resource, uint64_t now_ms)
{
	struct expectation out = {.known = known_at(model, now_ms),
				  .in_use = model_in_use(model, resource)};
	if (model->plugin_runs) {
		out.known = YES;
		out.connected = out.exactly = true;
		model_offers(model, resource, now_ms, &out.healthy, &out.unhealthy, &out.optional);
		out.optional |= model->left & ~(out.healthy | out.unhealthy);
	} else {
		out.exactly = model->listed_exactly;
		out.unhealthy = model->listed[resource];
	}
	return out;
}

bool model_admits(const struct model *model, unsigned pod, const unsigned count[RESOURCES],
		  uint64_t now_ms)
{
	for (unsigned i = 0; i < RESOURCES; i++) {
		const struct expectation now = model_expects(model, i, now_ms);
		id_bits held = model->held[pod][i];
		if (count[i] == 0)
			continue;
		if (held != 0 && (bits_count(held) != count[i] || (held & ~now.healthy) != 0))
			return false;
		if (held == 0 && bits_count(now.healthy & ~now.in_use) < count[i])
			return false;
	}
	return true;
}

id_bits model_in_use(const struct model *model, unsigned resource)
{
	id_bits all = 0;
	for (unsigned i = 0; i < PODS; i++)
		all |= model->held[i][resource];
	return all;
}

unsigned model_resource_of(unsigned device)
{
	return device < DISPLAY_DEVICES ? 0 : 1;
}

unsigned bits_count(id_bits bits)
{
	return (unsigned)__builtin_popcount(bits);
}

static const struct {
	const char *string;
	int code;
} strings[STRINGS] = {
	{"d0::0", RPC_OK},
	{"d0::1", RPC_OK},
	{"d1::0", RPC_OK},
	{"d1::1", RPC_OK},
	{"d2::0", RPC_OK},
	{"d2::1", RPC_OK},
	{"d3::0", RPC_OK},
	{"d3::1", RPC_OK},
	{"d4::0", RPC_OK},
	{"d4::1", RPC_OK},
	{"c5::0", RPC_OK},
	{"c5::1", RPC_OK},
	{"c6::0", RPC_OK},
	{"c6::1", RPC_OK},
	{"c7::0", RPC_OK},
	{"c7::1", RPC_OK},
	{"x::0", RPC_NOT_FOUND},
	{"/dev/d0::0", RPC_NOT_FOUND},
	{"d0", RPC_INVALID_ARGUMENT},
	{"d1::01", RPC_INVALID_ARGUMENT},
	{"", RPC_INVALID_ARGUMENT},
};

const char *model_string(unsigned index)
{
	return strings[index].string;
}

int model_allocates(const struct model *model, unsigned resource, const unsigned *indices,
		    size_t count, uint64_t now_ms, unsigned *at_fault, int *other)
{
	id_bits healthy = 0;
	id_bits unhealthy = 0;
	id_bits optional = 0;
	id_bits asked = 0;
	model_offers(model, resource, now_ms, &healthy, &unhealthy, &optional);
	*at_fault = STRINGS;
	*other = RPC_INVALID_ARGUMENT;
	if (count == 0)
		return RPC_INVALID_ARGUMENT;
	for (size_t i = 0; i < count; i++) {
		*at_fault = indices[i];
		*other = strings[indices[i]].code;
		if (indices[i] >= IDS)
			return strings[indices[i]].code;
		id_bits bit = UINT32_C(1) << indices[i];
		*other = RPC_UNAVAILABLE;
		if ((unhealthy & bit) != 0)
			return RPC_UNAVAILABLE;
		if ((optional & bit) != 0)
			return RPC_NOT_FOUND;
		*other = RPC_NOT_FOUND;
		if ((healthy & bit) == 0)
			return RPC_NOT_FOUND;
		*other = RPC_INVALID_ARGUMENT;
		if ((asked & bit) != 0)
			return RPC_INVALID_ARGUMENT;
		asked |= bit;
	}
	*at_fault = STRINGS;
	*other = RPC_OK;
	return RPC_OK;
}
