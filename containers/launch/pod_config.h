/* SPDX-License-Identifier: MIT */
#pragma once

/* A launch as the messages of the container runtime interface. Internal to launch/. */

#include "containers/launch/launch.h"

struct pod_identity {
	const char *uid; /* unique in the runtime */
	const char *image;
	const char *program; /* the command's first word, as a path in the container */
	const char *log_directory;
	const char *hold_fifo; /* for LAUNCH_HOLD_PATH; NULL: none */
	const char *run_id, *check_id;
	enum launch_system system; /* LAUNCH_LINUX, LAUNCH_WINDOWS */
	/* Linux alone. */
	const char *cgroup_parent; /* "" : the runtime's own */
	bool seccomp;		   /* ask for the default filter */
};

enum { POD_CONFIG_BLOCKS = 8 };

/* Points into the spec and the identity that it was made from; not to be copied. */
struct pod_config {
	Runtime__V1__PodSandboxConfig sandbox;
	Runtime__V1__ContainerConfig container;
	/* The rest is what the two point to. */
	Runtime__V1__PodSandboxMetadata sandbox_metadata;
	Runtime__V1__PodSandboxConfig__LabelsEntry sandbox_labels[2];
	Runtime__V1__PodSandboxConfig__LabelsEntry *sandbox_label_list[2];
	Runtime__V1__ContainerMetadata container_metadata;
	Runtime__V1__ImageSpec image;
	Runtime__V1__ContainerConfig__LabelsEntry container_labels[2];
	Runtime__V1__ContainerConfig__LabelsEntry *container_label_list[2];
	union {
		struct {
			Runtime__V1__LinuxPodSandboxConfig sandbox;
			Runtime__V1__LinuxSandboxSecurityContext sandbox_security;
			Runtime__V1__NamespaceOption namespaces;
			Runtime__V1__SecurityProfile seccomp;
			Runtime__V1__LinuxContainerConfig container;
			Runtime__V1__LinuxContainerResources resources;
			Runtime__V1__LinuxContainerSecurityContext security;
			Runtime__V1__Capability capabilities;
		} linux_parts;
		struct {
			Runtime__V1__WindowsPodSandboxConfig sandbox;
			Runtime__V1__WindowsSandboxSecurityContext sandbox_security;
			Runtime__V1__WindowsNamespaceOption namespaces;
			Runtime__V1__WindowsContainerConfig container;
			Runtime__V1__WindowsContainerResources resources;
			Runtime__V1__WindowsContainerSecurityContext security;
		} windows_parts;
	};
	void *blocks[POD_CONFIG_BLOCKS];
	size_t block_count;
	bool failed;
};

#define POD_LOG_FILE "0.log" /* of the container, below the log directory */

#define CLEANUP_POD_CONFIG __attribute__((cleanup(pod_config_free)))

/* `config` is zeroed. ERROR_MEMORY. */
int pod_config_make(struct pod_config *config, const struct pod_identity *identity,
		    const struct launch_spec *spec, struct error *err);
void pod_config_free(struct pod_config *config);

/* The parts for one system, of sandbox and container; used by pod_config_make(). */
void pod_config_linux(struct pod_config *config, const struct pod_identity *identity,
		      const struct launch_spec *spec);
void pod_config_windows(struct pod_config *config, const struct launch_spec *spec);

/* protobuf-c declares the strings of requests without const and does not change them. */
char *pod_config_borrow(const char *string);
char **pod_config_borrow_list(const char *const *strings);
