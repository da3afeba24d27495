/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runs one program with what a device plugin granted: in a container (containerd launcher) or
 * as a child process of the host (process launcher).
 *
 * A launch that fails is a result, not an error: functions return an error only when the harness
 * itself cannot continue. Several launches of one launcher may run at the same time.
 *
 * Each container has its own pod: host network (no CNI is needed), own PID, IPC and mount
 * namespace, the program is PID 1. Security: no new privileges, all capabilities dropped, the
 * runtime's default seccomp filter where the kernel has seccomp, never privileged. A PID 1 is not
 * killed by signals that it sends itself: abort() there ends in SIGSEGV, raise() of other signals
 * does nothing (pid_namespaces(7)).
 */

#include "base/error.h"
#include "base/text.h"
#include "containers/cri/cri.h"
#include "containers/grant/grant.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* The containers' system. Windows: no host network, so the runtime needs a CNI configuration; devices are
 * "TYPE://ID". */
enum launch_system { LAUNCH_LINUX, LAUNCH_WINDOWS };

extern const enum launch_system launch_host; /* the system of this program */

struct launch_spec {
	const char *name;	    /* of the container: [a-z0-9-], at most 63 bytes */
	const char *const *command; /* NULL-ended. A first word without '/' (Windows: nor '\\') is a
				       probe of the image ("probe-vulkan") */
	struct grant grant;	    /* borrowed: the plugins' answers */
	bool hold;		    /* the program waits at LAUNCH_HOLD_PATH: launch_wait_held() */
	uint64_t
		timeout_ms; /* from the start of the program, and from each release; 0: one minute */
};

/*
 * Checks a grant against this host, because a runtime does not: containerd creates a directory
 * where a mount source is missing. Every mount source must be absolute, without "..", and exist;
 * every device node must be a character or block device; container paths must be absolute, without
 * "..", not "/" and not used twice; permissions must be letters of "rwm"; names of variables must
 * not be empty or hold '='. Adds one sentence per offender to `offences`.
 *
 * Windows containers: paths by Windows' rules, with a drive or without ("\\usr\\x" is on C:), or a
 * named pipe of the host ("\\\\.\\pipe\\x"); the root is that of any drive;
 * case and kind of separator do not matter. A device is "vpci-location-path://...",
 * "class://GUID" or another TYPE://ID, or "class/GUID", with neither container path nor permissions
 * (containerd refuses those, internal/cri/opts/spec_windows_opts.go, and does not look at GUIDs).
 * Only on Windows must mount sources exist.
 */
void launch_check_grant(const struct grant *grant, enum launch_system system,
			struct text_list *offences);

enum launch_end {
	LAUNCH_RUNNING, /* not ended yet */
	LAUNCH_REFUSED, /* launch_check_grant() found offences: `reason` */
	LAUNCH_IGNORED, /* this version of the runtime would ignore a part of the spec: `reason` */
	LAUNCH_NO_SANDBOX, /* image or pod sandbox not set up, before the spec mattered; `reason` is
			       the runtime's */
	LAUNCH_FAILED,	   /* container not set up; `reason` is the runtime's */
	LAUNCH_NOT_STARTED, /* the container existed, the program could not be executed */
	LAUNCH_EXITED,	    /* exit code in `code` */
	LAUNCH_KILLED,	    /* by signal `code`, not by us; a Windows program by the exception whose
			       NTSTATUS is `code` */
	LAUNCH_OUT_OF_MEMORY, /* killed at the memory limit */
	LAUNCH_TIMED_OUT,     /* we killed it at its deadline */
	LAUNCH_STOPPED,	      /* we killed it: by launch_free(), or for endless output */
	LAUNCH_LOST, /* the runtime stopped answering while the container was made or ran */
};

/* CRI reports a kill as exit code 128 + signal; codes 129 to 192 are therefore reported as
 * LAUNCH_KILLED, for Windows containers 0xC0000000 to 0xCFFFFFFF. */
struct launch_result {
	enum launch_end end;
	int code;
	const char *reason;	/* "" without one */
	struct text out, err;	/* of the program; the first and the last 512 KiB of each */
	struct text_list notes; /* parts that were not applied or are odd: one sentence each */
	uint64_t run_ms;
	/* Since 1970, as the runtime reports; 0: unknown. containerd may note the start some ms late,
	 * up to the end of a short program, never early. */
	int64_t started_ns, finished_ns;
	const char *container_id; /* "" without one */
};

/* "exited with code 3", "killed by signal 11", "program not started: ..." into `out`. */
void launch_describe(const struct launch_result *result, char *out, size_t size);

struct launcher;
struct launch;

struct launcher_containerd_options {
	struct cri *cri;	     /* stays the caller's */
	const char *image;	     /* reference of the probe image */
	const char *log_directory;   /* container logs are written below it; created when missing */
	const char *cgroup_parent;   /* of the runtime's description; "" or NULL: the runtime's own.
					Not for Windows */
	enum launch_system system;   /* of the runtime's containers */
	const char *runtime_handler; /* "runhcs-wcow-process"; "" or NULL: the runtime's default */
	const char *run_id;	     /* labels: cri_sweep() */
	const char *check_id;
};

/* Strings are copied. Errors of cri_version_wait(). */
int launcher_containerd_new(const struct launcher_containerd_options *options,
			    struct launcher **out, struct error *err);

/* Runs programs as child processes with the environment applied over the harness' own. Mounts,
 * devices, annotations and CDI devices cannot be applied and are named in `notes`. Probes are
 * searched in ../libexec/gpucert next to the running program's folder. */
struct launcher *launcher_process_new(uv_loop_t *loop);

void launcher_free(struct launcher *launcher); /* NULL is allowed; after its launches */

/* Starts the program. When that fails, the result has the reason (end is not LAUNCH_RUNNING). `spec` is
 * not needed afterwards. ERROR_IO (log directory). */
int launch_start(struct launcher *launcher, const struct launch_spec *spec, struct launch **out,
		 struct error *err);

/*
 * A launch with `hold`: the container gets a FIFO at LAUNCH_HOLD_PATH, and its program, which must
 * know of it, reads it before it does anything else. By then the runtime has set up the container
 * completely, and the host can inspect it.
 *
 * Runs the loop until the program is held; *pid receives the host's number of the container's
 * first process. It stays 0 when the program ended, or its deadline passed, before that:
 * launch_wait() then reports how. ERROR_UNSUPPORTED: the runtime does not report the process; the
 * launch continues all the same. ERROR_IO.
 */
#define LAUNCH_HOLD_PATH "/run/gpucert/launch"
/* A second FIFO of the same launch: a program that reads it, too, is held there again. After the
 * release at the first one, the next launch_wait_held() waits for that. */
#define LAUNCH_PAUSE_PATH "/run/gpucert/pause"
enum { LAUNCH_GATES = 2 };

int launch_wait_held(struct launch *launch, int64_t *pid, struct error *err);

/* Lets the program continue with a line of text, at most 256 bytes. A program that has ended by then is
 * not an error: launch_wait() reports it. ERROR_IO. */
int launch_release(struct launch *launch, const char *line, struct error *err);

/* Runs the loop until the program has ended or its deadline has passed (then it is killed), and reads its
 * output. The removal of container and sandbox begins in the background: launcher_free() waits for it, and
 * cri_sweep() removes the rest. Only this function watches the deadline. */
int launch_wait(struct launch *launch, struct error *err);

/* The same, but kills a program (SIGKILL) that has not ended: LAUNCH_STOPPED. */
int launch_stop(struct launch *launch, struct error *err);

/* Borrowed; complete after launch_wait() or launch_stop(). */
const struct launch_result *launch_result(const struct launch *launch);

/* Kills the program first if it still runs. NULL is allowed. */
void launch_free(struct launch *launch);
