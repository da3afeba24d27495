/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Client of the Container Runtime Interface, runtime.v1. Every call runs the loop until the answer
 * arrives or its deadline passes; other handles on the loop continue meanwhile.
 *
 * Messages are those of rpc/proto/cri_v1.proto. Requests are borrowed; answers belong to the caller
 * (CLEANUP_CRI_REPLY).
 *
 * Errors of every call: ERROR_REMOTE with err->remote the gRPC status (enum rpc_code) and the
 * runtime's own text; ERROR_UNSUPPORTED for UNIMPLEMENTED (RuntimeConfig on containerd 1.6);
 * ERROR_TIMEOUT for the deadline; ERROR_UNAVAILABLE when the runtime is gone; ERROR_PROTOCOL for an
 * answer that lacks a field the interface promises.
 *
 * Deadlines, message limit and authority are those of kubelet's client (k8s.io/cri-client
 * pkg/remote_runtime.go): 2 minutes, 4 for RunPodSandbox, 16 MiB. A runtime that hangs is detected
 * sooner: when it does not even answer Version meanwhile, the call ends with ERROR_TIMEOUT, and
 * every later one fails with ERROR_UNAVAILABLE at once.
 */

#include "base/error.h"
#include "rpc/message.h"
#include "rpc/proto/cri_v1.pb-c.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct cri;

/* Connects to "unix:///path", on Windows also to "npipe:////./pipe/name". ERROR_UNAVAILABLE when
 * nothing listens there; errors of address_parse(). */
int cri_open(uv_loop_t *loop, const char *address, struct cri **out, struct error *err);
void cri_close(struct cri *cri); /* NULL is allowed */

/* How long a call may be silent until the runtime is asked for its version, and how long that
 * answer may take. The default is 10 s. */
void cri_limit_waits(struct cri *cri, uint64_t patience_ms);

uv_loop_t *cri_loop(const struct cri *cri);

/* The process that serves it; 0: unknown (rpc_channel_peer()). */
int cri_peer(const struct cri *cri);

/* Wall-clock time spent inside calls since cri_open(). */
uint64_t cri_time_ms(const struct cri *cri);

#define CLEANUP_CRI_REPLY __attribute__((cleanup(cri_reply_free_)))
void cri_reply_free_(void *reply); /* ProtobufCMessage ** */

/* Any call: `method` is "ListImages", `request` a ListImagesRequest, `reply` NULL or the address of
 * a pointer to ListImagesResponse. The functions below wrap the calls that need more. */
int cri_call_wait(struct cri *cri, const char *method, const ProtobufCMessage *request, void *reply,
		  struct error *err);

int cri_version_wait(struct cri *cri, Runtime__V1__VersionResponse **out, struct error *err);
/* Verbose: with what the runtime reports beyond the interface, such as containerd's configuration. */
int cri_status_wait(struct cri *cri, bool verbose, Runtime__V1__StatusResponse **out,
		    struct error *err);

/* (*out)->image is NULL for an unknown image, which is not an error. */
int cri_image_status_wait(struct cri *cri, const char *image, bool verbose,
			  Runtime__V1__ImageStatusResponse **out, struct error *err);
int cri_remove_image_wait(struct cri *cri, const char *image, struct error *err);

/* `handler` is the runtime handler, "" the default one. Caller frees *id. */
int cri_run_pod_sandbox_wait(struct cri *cri, Runtime__V1__PodSandboxConfig *config,
			     const char *handler, char **id, struct error *err);
/* `sandbox` is the configuration that the sandbox was run with. Caller frees *id. */
int cri_create_container_wait(struct cri *cri, const char *sandbox_id,
			      Runtime__V1__ContainerConfig *config,
			      Runtime__V1__PodSandboxConfig *sandbox, char **id, struct error *err);
int cri_start_container_wait(struct cri *cri, const char *id, struct error *err);
int cri_container_status_wait(struct cri *cri, const char *id, bool verbose,
			      Runtime__V1__ContainerStatusResponse **out, struct error *err);
/* The member "pid" of the JSON document "info" of a container. ERROR_FORMAT; ERROR_NOT_FOUND: the
 * container has no process. */
int cri_info_pid(const char *info, int64_t *pid, struct error *err);
/* The host's number of the container's first process, which containerd and CRI-O report in a
 * verbose status. ERROR_UNSUPPORTED: this runtime does not. ERROR_NOT_FOUND: it has ended. */
int cri_container_pid_wait(struct cri *cri, const char *id, int64_t *pid, struct error *err);

/* "StopContainer", "RemoveContainer", "StopPodSandbox", "RemovePodSandbox". Without a grace period;
 * an object that does not exist is success. */
int cri_undo_wait(struct cri *cri, const char *method, const char *id, struct error *err);

/* Begins to stop a pod sandbox, and to remove it with its containers, while the loop runs for other calls;
 * cri_removals_wait() runs it until all such removals have ended. A sandbox that resists stays for
 * cri_sweep(). */
void cri_begin_removal(struct cri *cri, const char *sandbox_id);
void cri_removals_wait(struct cri *cri);

/* The launcher labels everything that it creates, and touches nothing else in a runtime that others
 * use. */
#define CRI_LABEL_RUN	"gpucert.internal/run"
#define CRI_LABEL_CHECK "gpucert.internal/check"

/* Stops and removes every sandbox, with its containers, whose labels name this run and, unless
 * `check_id` is NULL, this check. Continues after a failure and returns the first one. *found is the
 * number of sandboxes; may be NULL. `run_id` must not be empty (ERROR_ARGUMENT). */
int cri_sweep(struct cri *cri, const char *run_id, const char *check_id, size_t *found,
	      struct error *err);

/* Is a runtime's version, "1.6.20~ds1" or "v1.6.20", at least this one? False for other text. */
bool cri_version_at_least(const char *text, unsigned major, unsigned minor);
