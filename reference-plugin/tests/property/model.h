/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a kubelet's device manager must hold when everything has come to rest: a pure description, of
 * times and sets of bits. Sources: ../shared/reference/kubelet.md on the device manager (grace period of
 * stopped endpoints, checkpoint, admission), and the reference plugin's headers inventory.h and calls.h.
 *
 * The node has eight devices with two ids each. Devices 0 to 4 are for display, the others compute.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DEVICES = 8,
	DISPLAY_DEVICES = 5,
	REPLICAS = 2,
	IDS = DEVICES * REPLICAS,
	STRINGS = IDS + 5, /* ids, and strings that are none */
	RESOURCES = 2,
	PODS = 6,
	REMOVAL_GRACE_MS = 30 * 1000, /* of the plugin */
};

enum device_state { DEVICE_ABSENT, DEVICE_UNHEALTHY, DEVICE_HEALTHY };
enum answer { NO, YES, MAYBE };

/* Ids: bit n is id n, replica n % REPLICAS of device n / REPLICAS. */
typedef uint32_t id_bits;

struct model {
	enum device_state node[DEVICES];
	enum device_state seen[DEVICES]; /* by the plugin, as long as it runs */
	uint64_t gone_ms[DEVICES];	 /* that a device that it saw is absent; 0: it is not */
	id_bits left;			 /* ids that only a plugin listed that was replaced */
	id_bits held[PODS][RESOURCES];
	bool plugin_runs, kubelet_runs;
	uint64_t apart_ms;	   /* begin of the grace period, when the plugin does not run */
	enum answer known;	   /* does the kubelet know the resources? */
	id_bits listed[RESOURCES]; /* the kubelet's last list */
	bool listed_exactly;
	bool rests; /* nothing has happened since what was expected was seen */
};

/* Events. Everything is present and healthy at first, the plugin and the kubelet do not run. */
void model_init(struct model *model);
void model_device(struct model *model, unsigned device, enum device_state state, uint64_t now_ms);
/* Also a new one that takes over. `survives`: a kubelet (1.37) that has both then keeps the last list of either,
 * until the survivor's next one. */
void model_plugin_starts(struct model *model, bool survives);
void model_plugin_stops(struct model *model, uint64_t now_ms);
void model_kubelet_starts(struct model *model, uint64_t now_ms);
void model_kubelet_stops(struct model *model, uint64_t now_ms);
void model_rests(struct model *model, uint64_t now_ms); /* what was expected was seen */
void model_stirs(struct model *model);			/* until it rests, anything may be late */

/* What the kubelet must hold of a resource. */
struct expectation {
	enum answer known;
	bool connected;
	bool exactly; /* `healthy` and `unhealthy` are known, else nothing is healthy */
	id_bits healthy, unhealthy;
	id_bits optional; /* whose removal is due about now: listed as unhealthy, or not */
	id_bits in_use;
};

struct expectation model_expects(const struct model *model, unsigned resource, uint64_t now_ms);

/* The plugin's own list. */
void model_offers(const struct model *model, unsigned resource, uint64_t now_ms, id_bits *healthy,
		  id_bits *unhealthy, id_bits *optional);

/* Is a container admitted that asks for so many of each resource? When everything rests. */
bool model_admits(const struct model *model, unsigned pod, const unsigned count[RESOURCES],
		  uint64_t now_ms);

id_bits model_in_use(const struct model *model, unsigned resource);
unsigned model_resource_of(unsigned device);
unsigned bits_count(id_bits bits);

/* Strings that stand for ids in calls: those of the ids, then others. */
const char *model_string(unsigned index);

/* The status of Allocate for one container with these strings: RPC_OK, or what the first one that is at
 * fault leads to, which goes to *at_fault (STRINGS: none is). *other is a second status that is right, too. */
int model_allocates(const struct model *model, unsigned resource, const unsigned *indices,
		    size_t count, uint64_t now_ms, unsigned *at_fault, int *other);
