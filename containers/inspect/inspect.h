/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A container looked at from the host, through /proc/PID of one of its processes: what is really
 * there, whatever the plugin's answer, CDI edits or hooks of the runtime put there. Nothing in the
 * container is executed or believed.
 *
 * Needs root on a Linux kernel of at least 5.8 (openat2(2), STATX_MNT_ID); ERROR_UNSUPPORTED
 * elsewhere.
 */

#include "base/arena.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/text.h"
#include "containers/inspect/manifest.h"

#include <stdbool.h>
#include <stdint.h>

/* Directory entries of one mount that are looked at for device nodes. */
enum { CONTAINER_ENTRIES_MAX = 100000, CONTAINER_LAYER_MAX = 4096 };

/* A file that the process has mapped, its program included. */
struct container_file {
	const char *path;      /* as the container names it; " (deleted)" is the kernel's */
	unsigned major, minor; /* of the file system, as in /proc/PID/maps */
	uint64_t inode;
	uint64_t device;	  /* stat(2) of the file: equal to the host's own */
	int mount;		  /* its id */
	char digest[DIGEST_SIZE]; /* of what is mapped, not of what lies at the path now */
};

/* A line of /proc/PID/mountinfo (proc_pid_mountinfo(5)), unescaped. */
struct container_mount {
	int id;
	unsigned major, minor; /* of the file system */
	const char *root;      /* what of the file system is mounted */
	const char *target;    /* in the container */
	const char *type;      /* "overlay" */
	bool read_only;	       /* the mount or its whole file system */
	bool nodev;
	bool shared;	   /* mounts below it spread to others: propagation "shared" */
	bool on_host_root; /* it is of the file system that the host's root is */
	/* From here on: 0, false and NULL when another mount covers it. */
	bool covered;
	uint64_t device, inode; /* stat(2) of the root of the mount: equal to the host's own */
	/* The host's path of the same file or directory, found by file system and inode, with all
	 * symbolic links resolved. NULL: the host does not see it (the runtime's own file systems).
	 */
	const char *host_path;
};

/* Mounts as mountinfo lists them, in the order of mounting. */
struct container_mounts {
	struct arena arena;
	struct container_mount *items; /* the members behind `shared` are empty */
	size_t count;
};

/* A device node that can be opened as far as mounts go (not below a mount with nodev). */
struct container_node {
	const char *path; /* in the container */
	bool block;
	unsigned major, minor;
	unsigned mode;	 /* permission bits */
	unsigned access; /* of a node of the host: what the device cgroup allows, some of these */
};
enum { CONTAINER_READ = 1, CONTAINER_WRITE = 2 };

/* A cgroup of the container that limits which devices it uses: that of the controller "devices" in a
 * hierarchy of version 1, and that of version 2. Where both are there, both must allow a device. */
enum { CONTAINER_CGROUPS_MAX = 2, CONTAINER_PROGRAMS_MAX = 16 };
struct container_cgroup {
	unsigned version;
	const char *path; /* its directory on the host */
	/* Version 1: the lines of devices.list, "c 1:3 rwm". */
	const char *rules;
	/* Version 2: the eBPF programs of type BPF_PROG_TYPE_CGROUP_DEVICE that are asked about each
	 * access, those of the groups above among them. Without any each device is allowed. */
	struct container_program {
		char tag[17]; /* digest of its instructions, as bpftool shows it */
		unsigned instructions;
	} programs[CONTAINER_PROGRAMS_MAX];
	size_t program_count;
	const char *untold; /* why rules or programs cannot be read; NULL: they were */
};

/* What DRM says of an open device in /proc/PID/fdinfo (drm-usage-stats of the kernel). */
enum { CONTAINER_DRM_MAX = 16, CONTAINER_ENGINES_MAX = 8, CONTAINER_DRM_NAME = 32 };
struct container_drm {
	char driver[CONTAINER_DRM_NAME];
	char pdev[CONTAINER_DRM_NAME]; /* "0000:03:00.0"; "": not reported */
	/* Those that worked for this process, by name ("gfx"). */
	char engines[CONTAINER_ENGINES_MAX][CONTAINER_DRM_NAME];
	size_t engine_count;
};

/* The text of a file of fdinfo; false: it is not about a DRM device. Members of one name are added. */
bool container_drm_parse(const char *text, struct container_drm *out);

struct container_view {
	struct arena arena; /* owns everything but the environment */
	int64_t pid;
	const char *exe; /* path of the program, as the container names it */
	char exe_digest[DIGEST_SIZE];
	struct container_file *files;
	size_t file_count;
	struct container_mounts mounts;
	struct container_node *nodes;
	size_t node_count;
	struct text_list layer; /* paths of files that are not empty in its root file system, up to
				   CONTAINER_LAYER_MAX: all of a small image */
	/* A folder that was not read to its end: CONTAINER_ENTRIES_MAX was reached, or it lies deeper
	 * than 64 folders. There may be more nodes. NULL: none. */
	const char *nodes_cut;
	struct container_cgroup cgroups[CONTAINER_CGROUPS_MAX];
	size_t cgroup_count;
	/* Nodes of the host's /dev (its paths), and as `access` what the device cgroup lets the
	 * container do with them, had it nodes of these numbers. */
	struct container_node *host_nodes;
	size_t host_node_count;
	const char *access_untold; /* why that could not be asked; NULL: it was */
	/* Of container_inspect_working(): device nodes that the process has open, without paths, and what
	 * DRM says of them. */
	struct container_node *opened;
	size_t opened_count;
	struct container_drm drm[CONTAINER_DRM_MAX];
	size_t drm_count;
	bool working;
	size_t planted; /* by container_plant_nodes() */
	const char *planted_untold;
	uint64_t capabilities; /* that are in any of its five sets */
	bool no_new_privileges;
	int seccomp;		      /* 0: none, 1: strict, 2: filter */
	struct text_list environment; /* "NAME=value", of the program as it was started */
	const char *digests_file;     /* of the run; NULL: none */
	const struct container_digest *digests;
	size_t digest_count; /* that it held */
	struct text_list
		shared; /* of its namespaces "mnt", "pid", "ipc": those that are this process' own */
};

#define CLEANUP_CONTAINER_VIEW __attribute__((cleanup(container_view_free)))

/* `pid` is the host's number of a process of the container. `digests` is a file that one run keeps for
 * all its looks at containers and that the first one makes: digests of the image's files, which are
 * then read once. NULL: everything is read. ERROR_NOT_FOUND: the process is gone. */
int container_inspect(int64_t pid, const char *digests, struct container_view *out,
		      struct error *err);

/* Of a process that has done work, which still has open what it used: its program, mounts, the files of
 * mounts whose code it mapped, and the device nodes that it has open. Errors of container_inspect(). */
int container_inspect_working(int64_t pid, const char *digests, struct container_view *out,
			      struct error *err);
void container_view_free(struct container_view *view);

/*
 * Makes nodes in a container that is held, so that its program can try to use what it was not given:
 * in CONTAINER_PLANTED_DIRECTORY one for each number of `host_nodes` and of its own nodes, and the first
 * render node's, named "c-226-128" or "b-8-0", to be used by everybody as far as their mode goes. view->planted is how many
 * there are; 0: none, for the reason in view->planted_untold (its /dev is a folder of the host; no
 * device can be made there). They go with the container. ERROR_MEMORY, ERROR_IO.
 */
#define CONTAINER_PLANTED_DIRECTORY "/dev/.gpucert-nodes"
int container_plant_nodes(struct container_view *view, struct error *err);

/* The mount that `path` of the container lies on; NULL: none, which does not happen to a live one.
 */
const struct container_mount *container_mount_of(const struct container_view *view,
						 const char *path);

/* Which file or directory of the host it is, whatever its name: equal in the container's mounts. */
struct container_place {
	uint64_t device, inode;
};

/* Links are followed. False: there is nothing at the host's `path`. */
bool container_host_place(const char *path, struct container_place *out);

/* What the container sees at a path. */
struct container_sight {
	bool there; /* or nothing else is set */
	bool file;  /* a regular one */
	struct container_place place;
	const struct container_mount *mount; /* that it lies on; NULL: not in the view */
	char digest[DIGEST_SIZE];	     /* of a file */
};

/* Follows links as in the container, and out of it none. A relative path is one of its root. */
int container_see(const struct container_view *view, const char *path, struct container_sight *out,
		  struct error *err);

/*
 * Is the container made of its image? Adds one sentence to `differences` for each file of the
 * manifest that is another one, or none, as the container sees it, and for each file that the
 * process has mapped and the manifest does not hold; so it must not have loaded anything that is
 * not the image's own. Where the manifest is not complete, a
 * file of it may be missing, and a mapped file that it does not name is only wrong when it lies on
 * another mount than the image.
 */
int container_compare(const struct container_view *view, const struct image_manifest *manifest,
		      struct text_list *differences, struct error *err);

/*
 * Adds the files that somebody, such as a hook of the runtime, wrote into the container before its program
 * began: those of its root file system that a complete manifest does not hold. `usual`: those that hooks of
 * drivers write, of the dynamic linker's cache and its configuration, which name libraries and are none.
 */
int container_written(const struct container_view *view, const struct image_manifest *manifest,
		      struct text_list *found, struct text_list *usual, struct error *err);

#define CLEANUP_CONTAINER_MOUNTS __attribute__((cleanup(container_mounts_free)))

/* Of mountinfo's text. ERROR_FORMAT names the line. */
int container_mounts_parse(const char *text, struct container_mounts *out, struct error *err);
/* Of a process; 0 is this one. */
int container_mounts_read(int64_t pid, struct container_mounts *out, struct error *err);
void container_mounts_free(struct container_mounts *mounts);
