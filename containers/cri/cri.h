/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Client of the Container Runtime Interface, runtime.v1: one typed function for each call that the
 * project uses. Every function runs the loop until the answer is there or its deadline has passed;
 * other handles on the loop go on meanwhile.
 *
 * Messages are those of rpc/proto/cri_v1.proto. Requests are borrowed; answers belong to the caller
 * (CLEANUP_CRI_REPLY).
 *
 * Errors of every call: ERROR_REMOTE with err->remote the gRPC status (enum rpc_code) and the
 * runtime's own text; ERROR_UNSUPPORTED for UNIMPLEMENTED (RuntimeConfig on containerd 1.6);
 * ERROR_TIMEOUT for the deadline; ERROR_UNAVAILABLE when the runtime is gone; ERROR_PROTOCOL for an
 * answer that lacks what the interface promises; ERROR_MEMORY.
 *
 * Deadlines, message limit and authority are those of kubelet's client (k8s.io/cri-client
 * pkg/remote_runtime.go): 2 minutes, 4 for RunPodSandbox, 16 MiB. A runtime that hangs is found out
 * sooner: when it does not even tell its version meanwhile, the call ends with ERROR_TIMEOUT, and
 * every later one with ERROR_UNAVAILABLE at once.
 */

#include "base/error.h"
#include "rpc/proto/cri_v1.pb-c.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

enum {
	CRI_CONNECT_TIMEOUT_MS = 5000,
	CRI_TIMEOUT_MS = 2 * 60 * 1000,
	CRI_SANDBOX_TIMEOUT_MS = 2 * CRI_TIMEOUT_MS,
	CRI_PATIENCE_MS = 10 * 1000,
	CRI_MESSAGE_MAX = 16 * 1024 * 1024,
};

struct cri;

/* Connects to "unix:///path", on Windows also to "npipe:////./pipe/name". ERROR_UNAVAILABLE when
 * nothing listens there; errors of address_parse(). */
int cri_open(uv_loop_t *loop, const char *address, struct cri **out, struct error *err);
void cri_close(struct cri *cri); /* NULL is allowed */

/* How long a call may be silent until the runtime is asked for its version, and how long that may
 * take: CRI_PATIENCE_MS until this is called. */
void cri_hurry(struct cri *cri, uint64_t patience_ms);

uv_loop_t *cri_loop(const struct cri *cri);
const char *cri_address(const struct cri *cri);

/* The process that serves it; 0: not to be told (rpc_channel_peer()). */
int cri_peer(const struct cri *cri);

/* Wall-clock time spent inside calls since cri_open(), and their number. */
uint64_t cri_time_ms(const struct cri *cri);
uint64_t cri_call_count(const struct cri *cri);

#define CLEANUP_CRI_REPLY __attribute__((cleanup(cri_reply_free_)))
void cri_reply_free_(void *reply); /* ProtobufCMessage ** */

/* The runtime. */
int cri_version_wait(struct cri *cri, Runtime__V1__VersionResponse **out, struct error *err);
/* Verbose: with what the runtime tells beyond the interface, as containerd its configuration. */
int cri_status_wait(struct cri *cri, bool verbose, Runtime__V1__StatusResponse **out,
		    struct error *err);
int cri_runtime_config_wait(struct cri *cri, Runtime__V1__RuntimeConfigResponse **out,
			    struct error *err);

/* Images. ImageStatus of an unknown image is no error: (*out)->image is NULL. `*reference` receives
 * the runtime's own name of the image; may be NULL; caller frees. Removing an unknown image is
 * success. */
int cri_image_status_wait(struct cri *cri, const char *image, bool verbose,
			  Runtime__V1__ImageStatusResponse **out, struct error *err);
int cri_list_images_wait(struct cri *cri, Runtime__V1__ListImagesResponse **out, struct error *err);
int cri_pull_image_wait(struct cri *cri, const char *image, char **reference, struct error *err);
int cri_remove_image_wait(struct cri *cri, const char *image, struct error *err);

/* Pod sandboxes. `handler` is the runtime handler, "" the default one. Caller frees *id. Stopping
 * and removing what does not exist is success. */
int cri_run_pod_sandbox_wait(struct cri *cri, Runtime__V1__PodSandboxConfig *config,
			     const char *handler, char **id, struct error *err);
int cri_stop_pod_sandbox_wait(struct cri *cri, const char *id, struct error *err);
int cri_remove_pod_sandbox_wait(struct cri *cri, const char *id, struct error *err);
/* `filter` may be NULL: all. */
int cri_list_pod_sandbox_wait(struct cri *cri, Runtime__V1__PodSandboxFilter *filter,
			      Runtime__V1__ListPodSandboxResponse **out, struct error *err);

/* Containers. `sandbox` is the configuration that the sandbox was run with. Caller frees *id.
 * Stopping and removing what does not exist is success. */
int cri_create_container_wait(struct cri *cri, const char *sandbox_id,
			      Runtime__V1__ContainerConfig *config,
			      Runtime__V1__PodSandboxConfig *sandbox, char **id, struct error *err);
int cri_start_container_wait(struct cri *cri, const char *id, struct error *err);
int cri_stop_container_wait(struct cri *cri, const char *id, unsigned grace_seconds,
			    struct error *err);
int cri_remove_container_wait(struct cri *cri, const char *id, struct error *err);
int cri_container_status_wait(struct cri *cri, const char *id,
			      Runtime__V1__ContainerStatusResponse **out, struct error *err);
/* The host's number of the container's first process, which containerd and CRI-O tell when they are
 * asked for everything. ERROR_UNSUPPORTED: this runtime does not. ERROR_NOT_FOUND: it has ended. */
int cri_container_pid_wait(struct cri *cri, const char *id, int64_t *pid, struct error *err);
int cri_container_stats_wait(struct cri *cri, const char *id,
			     Runtime__V1__ContainerStatsResponse **out, struct error *err);
int cri_list_containers_wait(struct cri *cri, Runtime__V1__ContainerFilter *filter,
			     Runtime__V1__ListContainersResponse **out, struct error *err);

/* Runs a command in a running container. `argv` is NULL-ended. An exit code other than 0 is no
 * error. `timeout_seconds` 0: no limit but the call's own deadline. */
int cri_exec_sync_wait(struct cri *cri, const char *id, const char *const *argv,
		       unsigned timeout_seconds, Runtime__V1__ExecSyncResponse **out,
		       struct error *err);
