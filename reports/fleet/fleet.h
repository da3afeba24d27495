/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Certifying the nodes of a cluster with Kubernetes' own Jobs. Nothing here talks to a cluster: each function turns what
 * kubectl printed, or what the nodes wrote, into what kubectl or a person reads. docs/fleet.md is the page for people.
 *
 * All input is untrusted. Lists of kubectl are a v1 List, or a NodeList and so on. Errors about them are ERROR_FORMAT and
 * name the file and the place ("nodes.json: items[5].metadata.name: ..."); ERROR_LIMIT: longer than FLEET_FILE_MAX or more
 * than FLEET_ITEMS_MAX items.
 */

#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

enum { FLEET_FILE_MAX = 1024 * 1024 * 1024, FLEET_ITEMS_MAX = 100 * 1000 };

/* Labels of the Jobs and their pods, and the annotation with the node's name. */
#define FLEET_LABEL_NAME "gpucert.internal/fleet"
#define FLEET_LABEL_WAVE "gpucert.internal/wave"
#define FLEET_NODE	 "gpucert.internal/node"

/* Reads `kubectl get -o json`: a list whose items are of the kind ("Node"). Caller owns *list. */
int fleet_list_read(const char *path, const char *kind, cJSON **list, struct error *err);

/* A name of RFC 1123, as the API server checks names of nodes: labels of lower-case letters, digits and '-', at most 253
 * bytes. */
bool fleet_is_subdomain(const char *name);

/* --- plan.c --- */

struct fleet_plan {
	const char *name;	     /* of the fleet: a DNS label of at most FLEET_NAME_MAX bytes */
	const char *image;	     /* by digest, unless `allow_tag` */
	const char *name_space;	     /* of the Jobs */
	const char *folder;	     /* on each node; reports are in FOLDER/NAME/NODE */
	const char *runtime_class;   /* NULL: the node's default */
	const char *max_unavailable; /* "10" or "10%": the nodes of a wave */
	struct text_list selectors;  /* "KEY=VALUE": labels that a node must have */
	struct text_list tolerations;	   /* "KEY", "KEY=VALUE", each with ":EFFECT" or without */
	const struct text_list *arguments; /* of `gpucert run` */
	bool allow_tag;
	int64_t wave;		   /* which one, from 1 */
	int64_t retries;	   /* of runs that proved nothing; 0 needs no podFailurePolicy */
	int64_t jitter_s;	   /* a run starts within this time, by its node's name */
	int64_t deadline_s, ttl_s; /* of a Job: until it ends, and after that */
};

enum { FLEET_NAME_MAX = 20 };

struct fleet_wave {
	struct text jobs;      /* JSON: a v1 List, one Job a line */
	size_t nodes, planned; /* of the wave, and of all waves */
	size_t waves;
	struct text_list left_out; /* "NODE: why" */
};

#define CLEANUP_FLEET_WAVE __attribute__((cleanup(fleet_wave_free)))

/*
 * One Job for each node of a wave: a pure function of its arguments. Waves are cut in the order of a hash of the nodes' names,
 * so that each is a sample of the cluster. Nodes that a Job cannot run on are left out: unschedulable, not ready, Windows,
 * without the label kubernetes.io/hostname, or with a taint that no toleration matches.
 * ERROR_ARGUMENT: an option is wrong, or there is no such wave. ERROR_FORMAT: a name that is not a name or appears twice.
 */
int fleet_plan_make(const cJSON *nodes, const struct fleet_plan *plan, struct fleet_wave *out,
		    struct error *err);
void fleet_wave_free(struct fleet_wave *wave);

/* --- verdict.c --- */

#define FLEET_VERDICT_SCHEMA "gpucert-verdict/1"

enum {
	FLEET_VERDICT_MAX = 4096
}; /* bytes that Kubernetes keeps of a container's termination message */

/* Adds one line of JSON (verdict.schema.json) about a run: the cluster keeps it when the report is lost. Nothing of the
 * report makes it longer than FLEET_VERDICT_MAX. `report` NULL: there is none, because of `why`. */
void fleet_verdict_add(const cJSON *report, int64_t exit_code, const char *why, struct text *out);
