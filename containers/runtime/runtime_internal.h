/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of a run's runtime: its directory, the owner, and the containerd in it. */

#include "base/arena.h"
#include "base/process.h"
#include "base/text.h"
#include "containers/runtime/runtime.h"

/* In the run's directory: references of images that this or another run imported into an existing runtime, one a
 * line. */
#define RUNTIME_IMPORTED_FILE "imported"

struct runtime {
	uv_loop_t *loop;
	struct cri *cri;	    /* NULL until it is ready */
	struct process *containerd; /* NULL when attached */
	char *directory;
	char *programs;		   /* folder of ctr and the shims; NULL: those in PATH */
	struct text_list handlers; /* its configured handlers; empty when attached */
	struct text_list imported; /* references of images that are to be removed */
	struct arena strings;	   /* of the description */
	struct runtime_description description;
};

/* Makes the run's directory; the description of the runtime itself is still "". */
int runtime_new(uv_loop_t *loop, const char *base_directory, const char *cri_address,
		struct runtime **out, struct error *err);

/* Connects, takes name and version, and asks whether the runtime is ready. NetworkReady does not
 * matter: sandboxes use the host's network, or fail on Windows with the runtime's own words. */
int runtime_connect(struct runtime *runtime, struct error *err);

bool runtime_has_ended(void *runtime); /* its containerd; for loop_wait() */

/* "1.6.20~ds1" from the output of "containerd --version": "containerd REPOSITORY [v]1.6.20...
 * [REVISION]". ERROR_FORMAT. Caller frees *out. */
int containerd_parse_version(const char *output, char **out, struct error *err);

/* "overlayfs" when it can be mounted below `directory`, else "native". */
int containerd_choose_snapshotter(const char *directory, const char **snapshotter,
				  struct error *err);

/* The content of config.toml (configuration version 2, which containerd 1.6 to 2.x read) for the
 * directory of a run, with these runtime handlers, of those that are known; `cdi_directories` as in
 * struct runtime_options. Caller frees. */
char *containerd_config(const char *directory, const char *snapshotter, const char *version,
			const struct text_list *cdi_directories, const struct text_list *installed);

#define RUN_DIRECTORY_PREFIX "run-"
#define NEW_DIRECTORY_PREFIX "new-"	/* a run directory that has no owner yet */
#define TEMPORARY_PREFIX     "gpucert-" /* a directory without a runtime, among temporary files */

/* Makes BASE/run-XXXXXX with owner.json and work/; it appears under that name only once it is
 * owned. `base` NULL: RUNTIME_BASE_DIRECTORY, on Windows the user's temporary files; `cri` as for
 * owner_write(). Caller frees *path. ERROR_PERMISSION: not root. ERROR_LIMIT: a socket in it would
 * have too long a path. */
int run_directory_make(const char *base, const char *cri, char **path, struct error *err);

/* The references in RUNTIME_IMPORTED_FILE; none without it. */
int run_directory_imported(const char *path, struct text_list *references, struct error *err);

/* Is the image, which this run imported, in use by another living run in the same runtime? Runs share images by name:
 * each run lists those that it uses (RUNTIME_IMPORTED_FILE), and the last one removes them. Windows: nothing is
 * imported. */
bool run_directory_shares_image(const char *path, const char *cri, const char *reference);

/* Removes it with all that a private containerd left, then the base directory, if no other run has
 * one in it. */
int run_directory_remove(const char *path, struct error *err);

/*
 * Who a run directory belongs to, as owner.json in it:
 *
 *   {"pid": 4711, "startTime": 123456, "boot": "UUID", "pidNamespace": 4026531836,
 *    "cri": "unix:///..."}
 *
 * startTime is field 22 of /proc/PID/stat (clock ticks since boot): with it a reused process id is
 * not mistaken for the owner. "cri" is present when the run is attached to an existing runtime.
 */
#define OWNER_FILE "owner.json"

enum owner_state {
	OWNER_ALIVE,
	OWNER_DEAD,
	OWNER_FOREIGN, /* of another PID namespace: unknown here */
};

/* Writes the calling process as the owner of `directory`. `cri` may be NULL. */
int owner_write(const char *directory, const char *cri, struct error *err);

/* ERROR_NOT_FOUND: no owner.json; ERROR_FORMAT: it cannot be read as one. `cri` receives the
 * attached runtime's address or NULL; caller frees. */
int owner_read(const char *directory, enum owner_state *state, char **cri, struct error *err);

/* Field 22 of a /proc/PID/stat line and its state letter; the program's name in it may contain
 * anything. ERROR_FORMAT. */
int owner_parse_stat(const char *line, char *letter, uint64_t *start_time, struct error *err);
