/* SPDX-License-Identifier: MIT */
#include "containers/launch/pod_config.h"

#include "base/cleanup.h"

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

static void pod_sandbox(struct pod_config *config, const struct pod_identity *identity)
{
	Runtime__V1__NamespaceOption *namespaces = &config->linux_parts.namespaces;
	Runtime__V1__SecurityProfile *seccomp = &config->linux_parts.seccomp;
	Runtime__V1__LinuxSandboxSecurityContext *security = &config->linux_parts.sandbox_security;
	Runtime__V1__LinuxPodSandboxConfig *sandbox = &config->linux_parts.sandbox;

	runtime__v1__namespace_option__init(namespaces);
	namespaces->network = RUNTIME__V1__NAMESPACE_MODE__NODE;
	namespaces->pid = RUNTIME__V1__NAMESPACE_MODE__CONTAINER;
	namespaces->ipc = RUNTIME__V1__NAMESPACE_MODE__POD;
	runtime__v1__security_profile__init(seccomp);
	seccomp->profile_type = RUNTIME__V1__SECURITY_PROFILE__PROFILE_TYPE__RuntimeDefault;
	runtime__v1__linux_sandbox_security_context__init(security);
	security->namespace_options = namespaces;
	security->seccomp = identity->seccomp ? seccomp : NULL;
	runtime__v1__linux_pod_sandbox_config__init(sandbox);
	sandbox->security_context = security;
	sandbox->cgroup_parent = pod_config_borrow(identity->cgroup_parent);
	config->sandbox.linux = sandbox;
}

static void pod_security(struct pod_config *config, const struct pod_identity *identity)
{
	Runtime__V1__Capability *capabilities = &config->linux_parts.capabilities;
	Runtime__V1__LinuxContainerSecurityContext *security = &config->linux_parts.security;

	runtime__v1__capability__init(capabilities);
	capabilities->drop_capabilities = pod_config_borrow_list(all_capabilities);
	capabilities->n_drop_capabilities = ARRAY_SIZE(all_capabilities);
	runtime__v1__linux_container_security_context__init(security);
	security->namespace_options = &config->linux_parts.namespaces;
	security->capabilities = capabilities;
	security->no_new_privs = true;
	security->masked_paths = pod_config_borrow_list(masked_paths);
	security->n_masked_paths = ARRAY_SIZE(masked_paths);
	security->readonly_paths = pod_config_borrow_list(read_only_paths);
	security->n_readonly_paths = ARRAY_SIZE(read_only_paths);
	security->seccomp = identity->seccomp ? &config->linux_parts.seccomp : NULL;
}

void pod_config_linux(struct pod_config *config, const struct pod_identity *identity,
		      const struct launch_spec *spec)
{
	Runtime__V1__LinuxContainerResources *resources = &config->linux_parts.resources;
	Runtime__V1__LinuxContainerConfig *container = &config->linux_parts.container;

	pod_sandbox(config, identity);
	pod_security(config, identity);
	runtime__v1__linux_container_resources__init(resources);
	resources->memory_limit_in_bytes = (int64_t)spec->memory_limit;
	resources->memory_swap_limit_in_bytes = (int64_t)spec->memory_limit;
	runtime__v1__linux_container_config__init(container);
	container->resources = resources;
	container->security_context = &config->linux_parts.security;
	config->container.linux = container;
}
