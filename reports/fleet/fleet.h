/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Certifying the nodes of a cluster with Kubernetes' own Jobs. Nothing here talks to a cluster: each function turns the
 * output of kubectl, or files of the nodes, into input for kubectl or text for people. docs/fleet.md is the page for
 * people.
 *
 * All input is untrusted. Lists of kubectl are a v1 List, or a NodeList and so on. Errors in them are ERROR_FORMAT and
 * name the file and the place ("nodes.json: items[5].metadata.name: ..."); ERROR_LIMIT: longer than FLEET_FILE_MAX or
 * more than FLEET_ITEMS_MAX items.
 */

#include "base/arena.h"
#include "base/json.h"
#include "base/text_index.h"
#include "reports/model.h"
#include "reports/writer.h"

#include <stdbool.h>
#include <stdint.h>

enum { FLEET_FILE_MAX = 1024 * 1024 * 1024, FLEET_ITEMS_MAX = 100 * 1000 };

/* Labels of the Jobs and their pods, and the annotation with the node's name. */
#define FLEET_LABEL_NAME "gpucert.internal/fleet"
#define FLEET_NODE	 "gpucert.internal/node"

/* Reads `kubectl get -o json`: a list whose items are of the kind ("Node"). Caller owns *list. */
int fleet_list_read(const char *path, const char *kind, cJSON **list, struct error *err);

/* A name of RFC 1123, as the API server checks names of nodes. */
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
	struct text_list tolerations;	   /* keys of taints */
	const struct text_list *arguments; /* of `gpucert run` */
	const char *push;	 /* the place of a report, with FLEET_PUSH_NODE; NULL: none */
	const char *push_secret; /* with token, ca.crt or .dockerconfigjson; NULL: none */
	/* Is it a place for a report? ERROR_ARGUMENT. */
	int (*check_place)(const char *place, struct error *err);
	bool plain_http;    /* `push` may be HTTP without TLS */
	bool pod_resources; /* runs ask the kubelet which devices pods hold */
	bool allow_tag;
	int64_t wave;	    /* which one, from 1 */
	int64_t retries;    /* of runs that proved nothing; 0 needs no podFailurePolicy */
	int64_t deadline_s; /* a Job ends after this time */
};

#define FLEET_PUSH_NODE "{node}" /* the node's name, in `push` */

enum { FLEET_NAME_MAX = 20, FLEET_PLACE_MAX = 512 };

struct fleet_wave {
	struct text jobs;      /* JSON: a v1 List, one Job a line */
	size_t nodes, planned; /* of the wave, and of all waves */
	size_t waves;
	struct text_list left_out; /* "NODE: why" */
};

#define CLEANUP_FLEET_WAVE __attribute__((cleanup(fleet_wave_free)))

/*
 * One Job for each node of a wave: a pure function of its arguments. Waves are cut in the order of a hash of the nodes'
 * names, so that each is a sample of the cluster. Nodes that cannot run a Job are left out: unschedulable, not ready,
 * Windows, without the label kubernetes.io/hostname, or with a taint that no toleration matches. ERROR_ARGUMENT: an
 * option is wrong, or there is no such wave. ERROR_FORMAT: an invalid or repeated name.
 */
int fleet_plan_make(const cJSON *nodes, const struct fleet_plan *plan, struct fleet_wave *out,
		    struct error *err);
void fleet_wave_free(struct fleet_wave *wave);

/* --- begin.c --- */

enum { FLEET_EARLIER_MAX = 1000 };

/*
 * A pod's first step, with the folder of its node, whose lock it holds. `plan` describes the run. *complete: the folder
 * has the report of such a run, with a verdict, and nothing needs to be done. Otherwise its content moves to
 * "earlier_runs/N/NODE" next to it, and the folder contains only a file with `plan`.
 */
int fleet_begin(const char *folder, const char *plan, bool *complete, struct error *err);

/* --- verdict.c --- */

#define FLEET_VERDICT_SCHEMA "gpucert-verdict/1"

enum { FLEET_VERDICT_MAX = 4096 }; /* bytes of a termination message */

/* Where else than on its node the report is: one of the two members. */
struct fleet_push {
	const char *place; /* at most FLEET_PLACE_MAX bytes, and the digest */
	const char *why;   /* why it was not pushed */
};

/* Adds one line of JSON (verdict.schema.json) about a run, at most FLEET_VERDICT_MAX bytes whatever the report holds:
 * the cluster keeps it when the report is lost. `report` NULL: none, because of `why`. `push` NULL: it stays on its
 * node. */
void fleet_verdict_add(const cJSON *report, int64_t exit_code, const char *why,
		       const struct fleet_push *push, struct text *out);

/* --- merge.c --- */

/* Nodes with the same drivers, OS and plugin, which are compared with each other. */
struct fleet_environment {
	const char *name; /* "DRIVERS, OS, PLUGIN", with versions and builds */
	size_t nodes, conformant;
};

/* A check that fails for a reason. */
struct fleet_group {
	const char *environment, *check;
	enum report_outcome outcome;
	const char *reason;    /* normalised by fleet_add_normalised() */
	const char **nodes;    /* names, sorted */
	size_t node_count, of; /* out of so many nodes with the environment */
	bool outlier;	       /* fewer than half of them */
	const char *key;       /* of merge.c */
};

struct fleet_node {
	const char *name, *environment;
	const char *path, *started, *run; /* of the newest report; `run`: its journal's digest */
	enum report_conformance result;
	size_t environment_place, *groups, group_count; /* of merge.c */
};

/* Empty when zeroed. Strings live as long as it does. */
struct fleet_merge {
	struct arena arena;
	/* After fleet_merge_finish(): by name; the rarest first; outliers first. */
	struct fleet_node *nodes;
	struct fleet_environment *environments;
	struct fleet_group *groups;
	size_t node_count, environment_count, group_count;
	struct text_list refused, superseded; /* "PATH: why" */
	struct text_index nodes_by_name, environments_by_name, groups_by_key, nodes_by_run;
	struct text_index contested; /* digests of journals that several nodes claim */
};

#define CLEANUP_FLEET_MERGE __attribute__((cleanup(fleet_merge_free)))

enum { FLEET_GROUPS_MAX = 100 * 1000, FLEET_FAILURES_MAX = 1000 };

/* The members of a report that are not needed. */
extern const char *const fleet_merge_unneeded[];

/*
 * Counts a report in the struct fleet_merge `to`: a `use` of report_files_read(). The node's name is that of the
 * report's folder. ERROR_FORMAT: it is not a report of that node: the folder's name is not valid for a node, the run was
 * on no node or, according to its identities, on another one, or the report contradicts itself; ERROR_LIMIT: too many
 * groups or failures. Such a report is not counted.
 */
int fleet_merge_add(const char *path, const cJSON *report, void *to, struct error *err);

/* Refuses the runs that several nodes claim, counts each node once, and sorts. The result does not depend on the order of
 * the reports. */
void fleet_merge_finish(struct fleet_merge *merge);
void fleet_merge_free(struct fleet_merge *merge);

/* Adds a reason with "#" in place of numbers, addresses and ids, which differ between nodes that fail alike. */
void fleet_add_normalised(const char *reason, struct text *out);

/* --- merge_print.c --- */

void fleet_merge_add_text(const struct fleet_merge *merge, const struct writer_options *options,
			  struct text *out);
char *fleet_merge_json(const struct fleet_merge *merge); /* fleet.schema.json; caller frees */

/* --- status.c --- */

/*
 * Adds the state of each node in `kubectl get pods -o json`, and the verdict from its termination message. A node
 * failed, or passed, only with a verdict of its container's exit code, or when the container was killed while it pushed
 * the report; without one, or where nothing was proven, it is lost. With several pods on a node the newest counts; pods
 * without the annotation FLEET_NODE do not. `jobs`: the output of fleet_plan_make(), or NULL: its nodes without a pod
 * are missing. ERROR_FORMAT: an invalid node name, or a pod on another node.
 */
int fleet_status_add(const cJSON *pods, const cJSON *jobs, struct text *out, struct error *err);

/* --- evidence.c --- */

/* Adds why the run proves nothing for the AI conformance programme; adds nothing if it does. It must be complete, as
 * expected and conformant, on a live node with an accelerator that is not software. */
void fleet_add_refusal(const cJSON *report, struct text *why);

/*
 * Writes into the folder, which is made, a page for each requirement of the programme that gpucert tests, the report as
 * gpucert-report.json, and PRODUCT-fragment.yaml with the requirements that are implemented or, where only a SHOULD is
 * violated, not implemented. Requirements that were not tested are left out; a run that fleet_add_refusal() refuses has
 * no fragment. `lines` gets one line for each requirement, "KAR-0049 secure_accelerator_access: Implemented".
 */
int fleet_evidence_write(const cJSON *report, const char *folder, struct text_list *lines,
			 struct error *err);

/* --- patch.c --- */

/*
 * Three patches of the node (`kubectl get node NAME -o json`), as JSON (fleet-patch.schema.json): the condition
 * gpucert.internal/Conformant, a label and an annotation, and the taint gpucert.internal/violated, which only a
 * violated MUST adds and any other result removes. A pure function; caller owns *out. ERROR_FORMAT: not a node, or the
 * report is of another node, host or kernel.
 */
int fleet_patch_make(const cJSON *report, const cJSON *node, cJSON **out, struct error *err);
