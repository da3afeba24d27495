/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The container runtime of a run: a private containerd that is started for it and leaves nothing
 * on the machine, or an existing runtime.
 *
 * A private containerd lives in a directory of its own below the base directory:
 *
 *   run-XXXXXX/owner.json        its owner; see runtime_recover()
 *              config.toml       its configuration
 *              containerd.sock   its address
 *              containerd.log    what it said
 *              root/ state/ runc/ its data; overlay file systems are mounted below
 *              work/             for the caller: image archives, container logs
 *
 * On Windows there is no private containerd, and a run that uses an existing one keeps its
 * directory below the user's temporary ones.
 *
 * Its containers live in the cgroup "/gpucert-XXXXXX" of every hierarchy. Besides these it uses
 * only sockets of its shims in /run/containerd/s, a path that cannot be configured; they are removed too.
 */

#include "base/error.h"
#include "base/text.h"
#include "containers/cri/cri.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define RUNTIME_BASE_DIRECTORY "/run/gpucert" /* short: a socket path has at most 107 bytes */

/* Where containerd and the kubelet's other runtimes look for CDI Specs by default (pkg/cdi/spec-dirs.go
 * of cncf-tags/container-device-interface). */
#define CDI_STATIC_DIRECTORY  "/etc/cdi"
#define CDI_DYNAMIC_DIRECTORY "/var/run/cdi"

struct runtime;

enum { RUNTIME_START_MS = 30000 }; /* in which a private runtime usually starts */

struct runtime_options {
	const char *base_directory; /* NULL: RUNTIME_BASE_DIRECTORY */
	/* Program; NULL: "containerd" in PATH. If it is a path, ctr and the shims are taken from the same
	 * folder. */
	const char *containerd;
	/* Where it looks for CDI Specs: absolute paths without quotes, backslashes and control
	 * characters, a later one before an earlier. NULL or empty: its default.
	 * containerd 1.6 has no CDI. */
	const struct text_list *cdi_directories;
	/* "overlayfs" or "native"; NULL: overlayfs if it can be mounted, else native. */
	const char *snapshotter;
	uint64_t start_timeout_ms; /* 0: RUNTIME_START_MS */
};

struct runtime_description {
	bool is_private;
	const char *run_id;	 /* "run-XXXXXX", unique: the label of launches and sweeps */
	const char *name;	 /* "containerd", as the runtime says */
	const char *version;	 /* "1.6.20~ds1", as the runtime says */
	const char *api_version; /* "v1" */
	const char *snapshotter; /* "" when attached */
	/* Names of a private one's runtime handlers: "runc", and "crun" and "kata" where installed. */
	const struct text_list *handlers;
	const char *address;	    /* "unix:///run/gpucert/run-XXXXXX/containerd.sock" */
	const char *cgroup_parent;  /* "/gpucert-XXXXXX"; "" when attached */
	const char *work_directory; /* for archives and logs; exists until runtime_stop() */
};

/* Can this process, on this machine, start a private containerd at all? ERROR_UNSUPPORTED names what
 * is missing: root, containerd 1.6 or runc in PATH, or Linux. A program that does not work is
 * another error. */
int runtime_is_offered(struct error *err);

/* Names of the runtime handlers that a private containerd would have here. Only on Linux. The caller frees the list, also
 * after an error. */
int runtime_find_handlers(struct text_list *names, struct error *err);

/* Starts a private containerd and waits until its CRI service is ready. Only on Linux, as
 * runtime_is_offered(), runtime_import() and runtime_recover(): see containers/offers.h.
 * ERROR_PERMISSION: not root. ERROR_NOT_FOUND: no containerd. ERROR_UNSUPPORTED: older than 1.6.
 * ERROR_LIMIT: base directory too long for a socket. ERROR_UNAVAILABLE: containerd ended (the text
 * holds the end of its log). ERROR_TIMEOUT. On failure nothing remains. */
int runtime_start(uv_loop_t *loop, const struct runtime_options *options, struct runtime **out,
		  struct error *err);

/* Uses an existing runtime ("unix:///run/containerd/containerd.sock", on Windows
 * "npipe:////./pipe/containerd-containerd"), which must be ready. Only
 * objects of this run are ever removed from it: containers and sandboxes labelled with run_id, images
 * that it imported. ERROR_UNAVAILABLE: absent or not ready. ERROR_PERMISSION: not root. */
int runtime_attach(uv_loop_t *loop, const char *address, const char *base_directory,
		   struct runtime **out, struct error *err);

/* Borrowed; valid until runtime_stop(). */
const struct runtime_description *runtime_describe(const struct runtime *runtime);
struct cri *runtime_cri(const struct runtime *runtime);

/* Imports an OCI layout archive with the runtime's own `ctr` (the CRI has no import) and waits
 * until each of `references` (NULL-ended) is known to the CRI service. */
int runtime_import(struct runtime *runtime, const char *archive, const char *const *references,
		   struct error *err);

/* Private: removes every sandbox and container, ends containerd (SIGTERM, SIGKILL after a grace
 * period), its shims and the rest of its cgroups, unmounts everything below its directory and
 * removes it. Attached: removes what carries this run's label, the images that it imported and the
 * work directory. The object is gone afterwards, also when an error is returned, which names what
 * could not be removed. NULL is allowed. */
int runtime_stop(struct runtime *runtime, struct error *err);

/* The directory of a run without a container runtime: gpucert-XXXXXX among the temporary files,
 * mode 0700, with an owner.json. Caller frees *path. */
int runtime_make_directory(char **path, struct error *err);

/* Undoes every mount below `path` and removes it, owner.json last, so that the next run finds
 * and retries what resisted. The error names the first that stayed. `undone` is counted up; may be
 * NULL. */
int runtime_remove_directory(const char *path, size_t *undone, struct error *err);

struct runtime_recovery {
	const char *base_directory;	 /* of run directories; NULL: none */
	const char *temporary_directory; /* of those that runtime_make_directory() makes; NULL: none
					  */
	/* Called with the work directory of each dead run, before it is removed; may be NULL. */
	void (*on_dead)(const char *work_directory, void *user);
	void *user;
};

/*
 * Cleans up after runs that died: every directory in these two whose owner no longer runs. An owner
 * is a process id with its start time, the boot and the PID namespace it belongs to; a directory of
 * another PID namespace stays, and among temporary files one of another user. Only
 * containerd, its shims and ctr with the directory on their command line, and the processes in its
 * cgroup, are killed. In a runtime that the dead run was attached to, its containers (by
 * their label) and the images that it imported are removed if that runtime still answers; images stay
 * until no living run uses that runtime. A second run that does the same meanwhile waits. A missing
 * directory is success. *recovered receives the number of dead runs whose directory was removed. The first
 * failure is returned, after every directory was tried.
 */
int runtime_recover(const struct runtime_recovery *recovery, size_t *recovered, struct error *err);
