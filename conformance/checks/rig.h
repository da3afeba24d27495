/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The plugin under test on a fake kubelet, in a check's private folder. All failures are recorded on the
 * check: a body continues while these functions return true. The check's clean-up closes the rig, and
 * keeps the kubelet's events and the plugin's output as evidence.
 */

#include "base/json.h"
#include "conformance/kubelet/pod.h"
#include "conformance/runner/check.h"
#include "conformance/runner/context.h"
#include "conformance/subject/plugin_process.h"

#define RIG_TEMPORARY "tmp" /* the folder of the plugin's temporary files, in the check's */

enum {
	RIG_CALL_MS = 30000,	/* any single call of a plugin: a kubelet has no deadline */
	RIG_START_MS = 35000,	/* PreStartContainer, which has 30 s in a kubelet */
	RIG_END_MS = 30000,	/* the end of the plugin, unless a check is about that */
	RIG_HEALTHY_MS = 30000, /* devices may be listed, or turn healthy, later */
	RIG_VARIABLES_MAX = 2,
	RIG_LINE_MAX = 160, /* bytes of a plugin's line in a reason */
};

struct rig {
	struct check_run *run;
	const struct context *context;
	uv_loop_t loop;
	struct kubelet *kubelet;
	struct process *plugin;		/* NULL: attached, or not started */
	struct text_list cdi_files;	/* in the folders of CDI Specs when the check began */
	struct text_list resources;	/* under test; complete after rig_settle() */
	struct text_list left_out;	/* without a healthy and free device */
	struct text_list busy;		/* about which a note has said that pods hold devices */
	cJSON *known;			/* {resource: healthy devices}, seen by this run so far */
	struct granted_reader *granted; /* for offer.h; NULL until the first offer */
	size_t first_registration; /* index of the first registration of the plugin's present run */
	size_t before_restart;	   /* registrations before the kubelet's last restart or stop */
	uint64_t started_ms;	   /* clock_monotonic_ms() of that run's start */
	struct text events;	   /* JSON lines */
	unsigned reported;	   /* registrations in the report */
	struct text output;	   /* of every run of the plugin */
	struct rig_run {	   /* the plugin's present run */
		char said[2][RIG_LINE_MAX]; /* its last two lines, or the announcement of a crash */
		char *end; /* "the plugin exited ..."; NULL: it has not ended by itself */
		bool crashed;
		bool asked; /* to end */
		int process_id;
	} run_of_plugin;
	struct {
		unsigned notified; /* NotifyRegistrationStatus was answered */
		char *problem;	   /* the first since one that succeeded; NULL: none */
	} registry;		   /* the plugin watcher; context_uses_registry() */
	bool admitted;		   /* an admission that worked is recorded */
	uint64_t waited_ns;	   /* for the plugin, not in the report yet */
	/* Called with each list of the kubelet's own streams as it comes; may be NULL. */
	void (*on_list)(const struct kubelet_event *event, void *user);
	void *on_list_user;
	struct every_list {
		struct text_list listed;  /* resources with a first list */
		struct text_list unsound; /* of these, those whose first list is not sound */
		size_t count;		  /* lists */
		size_t later; /* those after the first ones, as far as they are judged */
		char *wrong;  /* about the first of those that is not sound; may be NULL */
	} lists;	      /* every_list.h */
	bool supervised;      /* a plugin that ends is started again, as a DaemonSet does */
};

/* Goes through the resources under test; NULL has none. */
#define rig_each(resource, rig)                                                                    \
	for (char **resource##_at = (rig) != NULL ? (rig)->resources.items : NULL,                 \
		  *(resource) = resource##_at != NULL ? *resource##_at : NULL;                     \
	     (resource) != NULL; (resource) = *++resource##_at)

/* A rig whose kubelet runs. NULL: recorded as broken. */
struct rig *rig_with_kubelet(struct check_run *run);

/* A rig whose plugin has registered each of its resources. NULL: recorded. */
struct rig *rig_registered(struct check_run *run);

/* The same, and has listed their devices; those known to become healthy are healthy. */
struct rig *rig_listed(struct check_run *run);

/* The same as soon as each resource has a list; `on_list` sees every list from the first one on. */
struct rig *rig_watching(struct check_run *run,
			 void (*on_list)(const struct kubelet_event *event, void *user),
			 void *user);

/* As rig_listed(), for checks that need devices: resources without a healthy one that is free are left
 * out, with a note. When none is left the check is unsupported: list-and-watch.devices-present judges that. `env`
 * (NULL-ended "NAME=value", RIG_VARIABLES_MAX at most, or NULL) is added to the environment of the plugin's first run. */
struct rig *rig_ready(struct check_run *run);
struct rig *rig_ready_with(struct check_run *run, const char *const *env);

/*
 * One item of the plugin under test, for the `judge` of a row. Members that a body does not walk are
 * NULL.
 */
struct rig_item {
	const char *resource;
	const struct text_list *ids; /* healthy ones that are free, sorted, each once */
	const struct kubelet_registration *registration;
	const struct kubelet_message *list; /* the latest of the resource */
	const char *id;			    /* the id of `answer` */
	const V1beta1__ContainerAllocateResponse *answer;
	void *user; /* the caller's */
};

/* Ids as calls take them. */
static inline const char *const *rig_ids(const struct text_list *ids)
{
	return (const char *const *)ids->items;
}

/* A body: the row's judge for each resource of a plugin that is ready, with its healthy ids. */
check_body rig_each_resource;

/* The same with another judge; false when a resource has no healthy id, which is recorded. */
bool rig_for_each(struct rig *rig, check_judge *judge, void *user);

/* Starts the plugin; an attached one is expected to notice the kubelet. */
bool rig_start_plugin(struct rig *rig);

/* Waits until the plugin's present run has registered: the resource of --resource, those that the
 * reference plugin offers for the node's devices, or, for another plugin, those that it is known to
 * offer. The first check of a run learns them, by watching until nothing new comes. Fills
 * rig->resources; a later run of the plugin must register the same. */
int rig_settle(struct rig *rig, struct error *err);

/* rig_settle(), recorded. */
bool rig_expect_registered(struct rig *rig);

/* It was answered, or abandoned, or has waited too long for GetDevicePluginOptions, which has no
 * deadline. */
bool rig_attempt_is_over(const struct rig *rig, const struct kubelet_registration *attempt);

/* As rig_settle(), but an attempt to register is enough, and nothing is recorded. */
void rig_settle_attempts(struct rig *rig);

/* Waits for a list of every resource under test. */
bool rig_expect_lists(struct rig *rig);

/* The same, and for as many healthy devices as are known. */
bool rig_expect_listed(struct rig *rig);

/* The first accepted registration of `resource` in the plugin's present run; NULL: none. */
const struct kubelet_registration *rig_registration(const struct rig *rig, const char *resource);

/* The last accepted one that opened a connection (kubelet.h, deduplicated), of any run. */
const struct kubelet_registration *rig_last_registration(const struct rig *rig,
							 const char *resource);

/* The options of rig_registration(); none are set without a registration. */
struct kubelet_plugin_options rig_options(const struct rig *rig, const char *resource);

/* The attempts to register the resource, from this index on. NULL: every resource under test. */
long long rig_count_attempts(const struct rig *rig, const char *resource, size_t from);

/* A loop_condition of the rig: the plugin's present run has tried to register, or has ended. */
bool rig_has_tried_to_register(void *rig);

/* The process that serves the resource's socket; 0: unknown. */
int rig_peer(const struct rig *rig, const char *resource);

/* The stream that brings the resource's lists; NULL when there is none. */
struct kubelet_stream *rig_stream(const struct rig *rig, const char *resource);

/* After a restart of the kubelet: waits for a new registration of every resource under test. `err` must not be NULL. */
int rig_wait_return(struct rig *rig, uint64_t timeout_ms, struct error *err);

/* The same, and judges the time by the requirement of the row. `event` names the cause. */
bool rig_expect_return(struct rig *rig, const char *event);

/* The same without a judgement, which the suite restart makes: false, and nothing is recorded. */
bool rig_returns(struct rig *rig);

/* After a restart of the kubelet: waits for a Register call of any resource, whatever its outcome. */
bool rig_expect_attempt(struct rig *rig);

/* kubelet_wait(), whose time is reported as the plugin's. */
int rig_wait(struct rig *rig, loop_condition *done, void *user, uint64_t timeout_ms,
	     const char *what, struct error *err);

/* The time to wait before a requirement's limit is judged: never less than that limit. */
uint64_t rig_wait_ms(const struct rig *rig, enum check_requirement requirement);

/* A loop_condition of the rig: the plugin watcher has notified a plugin, or failed to. */
bool rig_is_notified(void *rig);

/* Signals the plugin and waits for its end. True when it ended in time. */
bool rig_end_plugin(struct rig *rig, int signal, uint64_t timeout_ms);

/* The same for checks about something else: a plugin that SIGTERM does not end is killed, with a note. */
bool rig_stop_plugin(struct rig *rig, int signal);

/* Ends the plugin with the signal, and waits until another run of it, begun in another second, has
 * registered. False: recorded. */
bool rig_restart_plugin(struct rig *rig, int signal);

/* The fake kubelet restarts, stops, starts again, or misbehaves from now on
 * (kubelet_fault_set()). False: recorded as broken. */
bool rig_restart_kubelet(struct rig *rig, enum kubelet_restart what);
void rig_stop_kubelet(struct rig *rig);
bool rig_start_kubelet(struct rig *rig);
bool rig_set_fault(struct rig *rig, const char *fault);

/* Waits until the current second of the clock is over: sockets may be named after it. Those named after the
 * plugin's process ID need no wait. */
void rig_leave_second(struct rig *rig);

/* Runs the loop for `ms`, in a thorough run for `thorough_ms`: a wait that is itself the measurement. The
 * report shows the time where the two differ. Returns the time in milliseconds. */
uint64_t rig_watch(struct rig *rig, uint64_t ms, uint64_t thorough_ms);

/* A connection breaks before its process has ended: has the plugin ended by itself, or does it end within half a
 * second? */
bool rig_plugin_ends(struct rig *rig);

/* Was the latest attempt to register refused? */
bool rig_was_refused(const struct rig *rig);

/* Names the plugin as the cause of a failure, with the advice that fits, when it removed kubelet.sock, ended
 * by itself, or never registered. Returns `rc`. */
int rig_explain(struct rig *rig, int rc, struct error *err);

/* rig_explain(), recorded as by check_expect_ok(). */
#define rig_expect_ok(rig, rc, what, err)                                                          \
	check_expect_ok((rig)->run, rig_explain(rig, rc, err), what, err)

/* Notes resources that came too late for the check; later checks test them. */
void rig_note_untested(struct rig *rig);

/* Is the node, live or recorded, a Windows node? */
bool rig_is_windows(const struct rig *rig);

/* Reports the time since `start_ns` as spent waiting for the plugin. */
void rig_waited(struct rig *rig, uint64_t start_ns);

/* Adds the healthy ids of a resource that no pod holds (rig_ids.h), sorted and each once. False when there is none:
 * recorded. */
bool rig_healthy_ids(struct rig *rig, const char *resource, struct text_list *ids);

/* An id that no plugin has listed. */
#define RIG_UNKNOWN_ID "gpucert-no-such-device::0"

/* One call of the resource's plugin. A refusal is an answer: it is in `reply`. */
int rig_call(struct rig *rig, const char *resource, const struct kubelet_method *method,
	     const ProtobufCMessage *request, struct rpc_answer *reply, struct error *err);

/* Records that a call, whose result is `rc`, was answered with OK. */
bool rig_expect_answer(struct rig *rig, int rc, const char *what, const struct rpc_answer *reply,
		       const struct error *err);

/* Allocate with one container request for these ids. */
int rig_allocate(struct rig *rig, const char *resource, const char *const *ids, size_t count,
		 struct rpc_answer *reply, struct error *err);

/* The first healthy device of each resource that has one, whatever the answer. */
void rig_allocate_one_each(struct rig *rig);

/* PreStartContainer for these ids. */
int rig_pre_start(struct rig *rig, const char *resource, const char *const *ids, size_t count,
		  struct rpc_answer *reply, struct error *err);

/* GetPreferredAllocation of one of these ids. */
int rig_prefer(struct rig *rig, const char *resource, const char *const *ids, size_t count,
	       struct rpc_answer *reply, struct error *err);

/* The first container response of an Allocate, the only one that a kubelet reads; NULL: none. */
const V1beta1__ContainerAllocateResponse *rig_first_response(const struct rpc_answer *reply);
/* The same of a GetPreferredAllocation. */
const V1beta1__ContainerPreferredAllocationResponse *
rig_first_preference(const struct rpc_answer *reply);

/* The response to rig_allocate(), for which a failed call counts as one without an answer. */
const V1beta1__ContainerAllocateResponse *rig_ask(struct rig *rig, const char *resource,
						  const char *const *ids, size_t count,
						  struct rpc_answer *reply);

/* Admits a container as the kubelet does: the choice of devices, with GetPreferredAllocation where the
 * kubelet chooses and the plugin offers it, Allocate, PreStartContainer where the plugin requires it, and
 * the merge of the answers into the container's grant. `pod` names the container and holds the devices
 * until rig_release(); limits[].ids requests certain devices. Records failures, and the first success.
 * False: recorded, and the pod holds nothing. Caller frees the grant. */
bool rig_admit(struct rig *rig, const char *pod, const struct kubelet_limit *limits, size_t count,
	       struct grant *grant);

/* Removes the pod: its devices are free again. */
void rig_release(struct rig *rig, const char *pod);
