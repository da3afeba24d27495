/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inspects a container from the host, through /proc/PID of one of its processes: its real content,
 * whether it came from the plugin's answer, CDI edits or hooks of the runtime. Nothing in the container
 * is executed or trusted.
 *
 * Needs root on a Linux kernel of at least 5.8 (openat2(2), STATX_MNT_ID); ERROR_UNSUPPORTED
 * elsewhere.
 */

#include "base/arena.h"
#include "base/digest_cache.h"
#include "base/error.h"
#include "base/text.h"
#include "containers/inspect/manifest.h"

#include <stdbool.h>
#include <stdint.h>

/* Limits: directory entries of one mount that are searched for device nodes, and listed files. */
enum { CONTAINER_ENTRIES_MAX = 100000, CONTAINER_LAYER_MAX = 4096 };

/* A file that the process has mapped, its program included. */
struct container_file {
	const char *path;      /* the container's path; the kernel may append " (deleted)" */
	unsigned major, minor; /* of the file system, as in /proc/PID/maps */
	uint64_t inode;
	uint64_t device;	  /* stat(2) of the file: equal to the host's own */
	int mount;		  /* its id */
	char digest[DIGEST_SIZE]; /* of the mapped content, not of the file now at the path */
};

/* A line of /proc/PID/mountinfo (proc_pid_mountinfo(5)), unescaped. */
struct container_mount {
	int id;
	unsigned major, minor; /* of the file system */
	const char *root;      /* the mounted part of the file system */
	const char *target;    /* in the container */
	const char *type;      /* "overlay" */
	bool read_only;	       /* the mount or its whole file system */
	bool nodev;
	bool shared;	   /* mounts below it spread to others: propagation "shared" */
	bool on_host_root; /* same file system as the host's root */
	/* The remaining members are 0, false and NULL when another mount covers it. */
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
	struct container_mount *items; /* the members after `shared` are empty */
	size_t count;
};

/* A device node that no mount option (nodev) keeps from being opened. */
struct container_node {
	const char *path; /* in the container */
	bool block;
	unsigned major, minor;
	unsigned access; /* node of the host: the flags below that the device cgroup allows */
};
enum { CONTAINER_READ = 1, CONTAINER_WRITE = 2 };

/* A cgroup of the container that limits its devices: that of the controller "devices" in a hierarchy
 * of version 1, or that of version 2. Where both exist, both must allow a device. */
enum { CONTAINER_CGROUPS_MAX = 2, CONTAINER_PROGRAMS_MAX = 16 };
struct container_cgroup {
	unsigned version;
	const char *path; /* its directory on the host */
	/* Version 1: the lines of devices.list, "c 1:3 rwm". */
	const char *rules;
	/* Version 2: the eBPF programs of type BPF_PROG_TYPE_CGROUP_DEVICE that decide each access,
	 * including those of parent groups. Without programs every device is allowed. */
	struct container_program {
		char tag[17]; /* digest of its instructions, as bpftool shows it */
		unsigned instructions;
	} programs[CONTAINER_PROGRAMS_MAX];
	size_t program_count;
	const char *unknown; /* why rules or programs cannot be read; NULL: they were */
};

/* DRM's statistics of an open device in /proc/PID/fdinfo (drm-usage-stats of the kernel). */
enum { CONTAINER_DRM_MAX = 16, CONTAINER_ENGINES_MAX = 8, CONTAINER_DRM_NAME = 32 };
struct container_drm {
	char driver[CONTAINER_DRM_NAME];
	char pdev[CONTAINER_DRM_NAME]; /* "0000:03:00.0"; "": not reported */
	/* Names of the engines that worked for this process ("gfx"). */
	char engines[CONTAINER_ENGINES_MAX][CONTAINER_DRM_NAME];
	size_t engine_count;
};

/* Parses the text of a file of fdinfo; false: it is not about a DRM device. */
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
	struct text_list layer; /* paths of non-empty files in its root file system, up to
				   CONTAINER_LAYER_MAX: all of a small image */
	/* A folder that was not read completely: CONTAINER_ENTRIES_MAX was reached, or it is nested
	 * deeper than 64 folders. More nodes may exist. NULL: all were read. */
	const char *nodes_cut;
	struct container_cgroup cgroups[CONTAINER_CGROUPS_MAX];
	size_t cgroup_count;
	/* Nodes of the host's /dev (its paths). `access`: what the device cgroup would let the
	 * container do with nodes of these numbers. */
	struct container_node *host_nodes;
	size_t host_node_count;
	const char *access_unknown; /* why `access` is unknown; NULL: it is known */
	/* From container_inspect_working(): device nodes that the process has open, without paths, and
	 * DRM's statistics of them. */
	struct container_node *opened;
	size_t opened_count;
	struct container_drm drm[CONTAINER_DRM_MAX];
	size_t drm_count;
	bool working;
	size_t planted; /* by container_plant_nodes() */
	const char *planted_unknown;
	uint64_t capabilities; /* in any of its five sets */
	bool no_new_privileges;
	int seccomp;		      /* 0: none, 1: strict, 2: filter */
	struct text_list environment; /* "NAME=value", when the program started */
	struct digest_cache *digests; /* of the run; NULL: none */
	struct text_list
		shared; /* those of "mnt", "pid", "ipc" whose namespace is also this process' own */
};

#define CLEANUP_CONTAINER_VIEW __attribute__((cleanup(container_view_free)))

/* Inspects the container of the process with the host's number `pid`. `digests`, which outlives the view,
 * is one run's for all its inspections: the image's files are read only once. NULL: every file is read.
 * ERROR_NOT_FOUND: the process is gone. */
int container_inspect(int64_t pid, struct digest_cache *digests, struct container_view *out,
		      struct error *err);

/* Inspects a process that has done its work and still has its devices open: its program, mounts, mapped
 * code of files on mounts, and open device nodes. Errors of container_inspect(). */
int container_inspect_working(int64_t pid, struct digest_cache *digests, struct container_view *out,
			      struct error *err);
void container_view_free(struct container_view *view);

/*
 * Creates nodes in a held container, so that its program can try to use devices that it was not
 * granted: in CONTAINER_PLANTED_DIRECTORY one for each number of `host_nodes`, of its own nodes and of
 * the first render node, named "c-226-128" or "b-8-0", with mode 0666. view->planted counts them; 0:
 * none, for the reason in view->planted_unknown (its /dev is a folder of the host, or accepts no device
 * nodes). They end with the container. ERROR_IO.
 */
#define CONTAINER_PLANTED_DIRECTORY "/dev/.gpucert-nodes"
int container_plant_nodes(struct container_view *view, struct error *err);

/* The mount that `path` of the container lies on; NULL: none, which does not happen in a live
 * container. */
const struct container_mount *container_mount_of(const struct container_view *view,
						 const char *path);

/* Identifies a file or directory of the host, whatever its name; equal in the container's mounts. */
struct container_place {
	uint64_t device, inode;
};

/* Follows links. False: the host's `path` does not exist. */
bool container_host_place(const char *path, struct container_place *out);

/* What the container sees at a path. */
struct container_observation {
	bool there; /* false: the other members are not set */
	bool file;  /* a regular one */
	struct container_place place;
	const struct container_mount *mount; /* that it lies on; NULL: not in the view */
	char digest[DIGEST_SIZE];	     /* of a file */
};

/* Follows links as in the container, and none out of it. A relative path starts at its root. */
int container_observe(const struct container_view *view, const char *path,
		      struct container_observation *out, struct error *err);

/*
 * Compares the container with its image. Adds one sentence to `differences` for each file of the
 * manifest that is missing or different in the container, and for each file that the process has
 * mapped and the manifest does not hold. With an incomplete manifest, its files may be missing, and
 * mapped files that it does not hold count only when they lie on another mount than the image.
 */
int container_compare(const struct container_view *view, const struct image_manifest *manifest,
		      struct text_list *differences, struct error *err);

/*
 * Adds the files that somebody, such as a hook of the runtime, wrote into the container before its
 * program started: those of its root file system that a complete manifest does not hold. `usual`: files
 * that drivers' hooks commonly write, the dynamic linker's cache and configuration.
 */
int container_written(const struct container_view *view, const struct image_manifest *manifest,
		      struct text_list *found, struct text_list *usual, struct error *err);

#define CLEANUP_CONTAINER_MOUNTS __attribute__((cleanup(container_mounts_free)))

/* Parses the text of mountinfo. ERROR_FORMAT names the line. */
int container_mounts_parse(const char *text, struct container_mounts *out, struct error *err);
/* The mounts of a process; 0 is this one. */
int container_mounts_read(int64_t pid, struct container_mounts *out, struct error *err);
void container_mounts_free(struct container_mounts *mounts);
