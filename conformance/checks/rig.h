/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_RIG_H
#define CONFORMANCE_CHECKS_RIG_H

/*
 * The plugin under test on a fake kubelet, in a check's private folder. Everything that goes wrong
 * here is recorded on the check: a body goes on while these functions return true. The rig is taken
 * down by the check's clean-up, which also keeps the kubelet's events and the plugin's output as
 * evidence.
 */

#include "conformance/kubelet/faults.h"
#include "conformance/kubelet/plugin_process.h"
#include "conformance/kubelet/pod.h"
#include "conformance/runner/check.h"
#include "conformance/runner/context.h"

enum {
	RIG_REGISTER_MS = 30000, /* REG-01 */
	RIG_CALL_MS = 10000,	 /* any single call of a plugin */
	RIG_START_MS = 35000,	 /* PreStartContainer, to which the kubelet gives 30 s */
};

struct rig {
	struct check_run *run;
	const struct context *context;
	uv_loop_t loop;
	struct kubelet *kubelet;
	struct plugin_process *plugin; /* NULL: attached, or not started */
	struct text_list resources;    /* under test; complete after rig_expect_registered() */
	size_t first_registration; /* index of the first registration of the plugin's present run */
	struct text events;	   /* JSON lines */
	struct text output;	   /* of every run of the plugin */
	bool admitted;		   /* an admission that worked is recorded */
};

/* A rig whose kubelet runs. NULL: recorded as broken. */
struct rig *rig_with_kubelet(struct check_run *run);

/* A rig whose plugin has registered every resource under test and listed its devices. Of a plugin
 * that nobody named a resource of, those without a healthy device are left out, with a note, unless
 * that is all of them. NULL: recorded. */
struct rig *rig_ready(struct check_run *run);

/* As rig_ready(), with "NAME=value" added to the plugin's environment; NULL-ended. */
struct rig *rig_ready_with(struct check_run *run, const char *const *env);

/* Starts the plugin; an attached one is expected to notice the kubelet. `env` may be NULL. */
bool rig_start_plugin(struct rig *rig, const char *const *env);

/* Waits until the plugin's present run has registered: the resource that was asked for, every
 * resource that the node's devices make the reference plugin offer, or, for another plugin, what
 * registers within half a second of the first. Fills rig->resources. */
bool rig_expect_registered(struct rig *rig);
bool rig_expect_listed(struct rig *rig);

/* The registration of `resource` in the plugin's present run; NULL when there is none. */
const struct kubelet_registration *rig_registration(const struct rig *rig, const char *resource);

/* Waits for a registration with at least index `from` of every resource; records under `what`. */
bool rig_expect_registered_again(struct rig *rig, size_t from, uint64_t timeout_ms,
				 const char *what);

/* Signals the plugin and waits for its end. True when it ended in time. */
bool rig_end_plugin(struct rig *rig, int signal, uint64_t timeout_ms);

/* Runs the loop for as long as the check says: a wait that is itself the measurement. In a thorough
 * run `thorough_ms`. Returns what it waited. */
uint64_t rig_watch(struct rig *rig, uint64_t ms, uint64_t thorough_ms);

/* Open descriptors of the plugin's process; -1 when that cannot be told. */
int rig_descriptors(const struct rig *rig);

/* Is the node, live or recorded, a Windows node? */
bool rig_is_windows(const struct rig *rig);

/* Time since `start_ns` was spent waiting for the plugin. */
void rig_waited(struct rig *rig, uint64_t start_ns);

/* The healthy ids of a resource, sorted. False: recorded. */
bool rig_healthy_ids(struct rig *rig, const char *resource, struct text_list *ids);

/* The way of a container as the kubelet goes it: the choice of devices, with GetPreferredAllocation
 * where the kubelet chooses and the plugin offers it, Allocate, PreStartContainer where the plugin
 * requires it, and the merge into what the container is given. `pod` names the container and holds
 * the devices until rig_release(); limit->ids asks for certain devices. A failure is recorded, and
 * of several admissions the first that worked. False: recorded, and the pod holds nothing. Caller
 * frees the options. */
bool rig_admit(struct rig *rig, const char *pod, const struct kubelet_limit *limit,
	       struct kubelet_container_options *options);

/* The pod is gone: its devices are free again. */
void rig_release(struct rig *rig, const char *pod);

#endif
