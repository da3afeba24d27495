/* SPDX-License-Identifier: MIT */
#pragma once

/* A launch as the messages of the container runtime interface. Internal to launch/. */

#include "base/arena.h"
#include "containers/launch/containerd.h"

/* Points into its sources and itself; do not copy it. */
struct pod_config {
	Runtime__V1__PodSandboxConfig sandbox;
	Runtime__V1__ContainerConfig container;
	/* The rest is what the two point to. */
	Runtime__V1__PodSandboxMetadata sandbox_metadata;
	Runtime__V1__ContainerMetadata container_metadata;
	Runtime__V1__ImageSpec image;
	Runtime__V1__LinuxPodSandboxConfig linux_sandbox;
	Runtime__V1__LinuxSandboxSecurityContext linux_sandbox_security;
	Runtime__V1__LinuxContainerConfig linux_container;
	Runtime__V1__LinuxContainerSecurityContext linux_security;
	struct arena arena;
};

#define CLEANUP_POD_CONFIG __attribute__((cleanup(pod_config_free)))

/* `config` is zeroed. */
void pod_config_make(struct pod_config *config, const struct containerd_launcher *launcher,
		     const struct containerd_launch *launch, const struct launch_spec *spec);
void pod_config_free(struct pod_config *config);
