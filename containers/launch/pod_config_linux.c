/* SPDX-License-Identifier: MIT */
#include "containers/launch/pod_config.h"

#include "base/cleanup.h"

#include <string.h>

/* What kubelet asks for in every container that is not privileged (pkg/securitycontext/util.go). */
static const char *const masked_paths[] = {
	"/proc/acpi",	    "/proc/asound",	 "/proc/interrupts",
	"/proc/kcore",	    "/proc/keys",	 "/proc/latency_stats",
	"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
	"/proc/scsi",	    "/sys/firmware",	 "/sys/devices/virtual/powercap",
};

static const char *const read_only_paths[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

static const char *const all_capabilities[] = {"ALL"};

static Runtime__V1__NamespaceOption namespaces = {
	POD_MESSAGE(namespace_option),
	.network = RUNTIME__V1__NAMESPACE_MODE__NODE,
	.pid = RUNTIME__V1__NAMESPACE_MODE__CONTAINER,
	.ipc = RUNTIME__V1__NAMESPACE_MODE__POD,
};
static Runtime__V1__SecurityProfile default_seccomp = {
	POD_MESSAGE(security_profile),
	.profile_type = RUNTIME__V1__SECURITY_PROFILE__PROFILE_TYPE__RuntimeDefault,
};
static Runtime__V1__Capability capabilities = {
	POD_MESSAGE(capability),
	.n_drop_capabilities = ARRAY_SIZE(all_capabilities),
};
static Runtime__V1__LinuxContainerResources resources = {
	POD_MESSAGE(linux_container_resources),
};

static char **borrow(const char *const *strings)
{
	char **borrowed = NULL;
	memcpy(&borrowed, &strings, sizeof(borrowed));
	return borrowed;
}

void pod_config_linux(struct pod_config *config, const struct containerd_launcher *launcher)
{
	Runtime__V1__SecurityProfile *seccomp = launcher->seccomp ? &default_seccomp : NULL;
	capabilities.drop_capabilities = borrow(all_capabilities);
	config->linux_sandbox_security = (Runtime__V1__LinuxSandboxSecurityContext){
		POD_MESSAGE(linux_sandbox_security_context),
		.namespace_options = &namespaces,
		.seccomp = seccomp,
	};
	config->linux_sandbox = (Runtime__V1__LinuxPodSandboxConfig){
		POD_MESSAGE(linux_pod_sandbox_config),
		.security_context = &config->linux_sandbox_security,
		.cgroup_parent = launcher->cgroup_parent,
	};
	config->linux_security = (Runtime__V1__LinuxContainerSecurityContext){
		POD_MESSAGE(linux_container_security_context),
		.namespace_options = &namespaces,
		.capabilities = &capabilities,
		.no_new_privs = true,
		.masked_paths = borrow(masked_paths),
		.n_masked_paths = ARRAY_SIZE(masked_paths),
		.readonly_paths = borrow(read_only_paths),
		.n_readonly_paths = ARRAY_SIZE(read_only_paths),
		.seccomp = seccomp,
	};
	config->linux_container = (Runtime__V1__LinuxContainerConfig){
		POD_MESSAGE(linux_container_config),
		.resources = &resources,
		.security_context = &config->linux_security,
	};
	config->sandbox.linux = &config->linux_sandbox;
	config->container.linux = &config->linux_container;
}
