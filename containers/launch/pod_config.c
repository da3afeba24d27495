/* SPDX-License-Identifier: MIT */
#include "containers/launch/pod_config.h"

#include "base/cleanup.h"

#include <string.h>

/* The initialiser of a message's head. */
#define POD_MESSAGE(name) .base = PROTOBUF_C_MESSAGE_INIT(&runtime__v1__##name##__descriptor)

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

static Runtime__V1__NamespaceOption linux_namespaces = {
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
static Runtime__V1__LinuxContainerResources linux_resources = {
	POD_MESSAGE(linux_container_resources),
};

static void add_linux(struct pod_config *config, const struct containerd_launcher *launcher)
{
	Runtime__V1__SecurityProfile *seccomp = launcher->seccomp ? &default_seccomp : NULL;
	capabilities.drop_capabilities = message_strings(all_capabilities);
	config->linux_sandbox_security = (Runtime__V1__LinuxSandboxSecurityContext){
		POD_MESSAGE(linux_sandbox_security_context),
		.namespace_options = &linux_namespaces,
		.seccomp = seccomp,
	};
	config->linux_sandbox = (Runtime__V1__LinuxPodSandboxConfig){
		POD_MESSAGE(linux_pod_sandbox_config),
		.security_context = &config->linux_sandbox_security,
		.cgroup_parent = wire_string(launcher->cgroup_parent),
	};
	config->linux_security = (Runtime__V1__LinuxContainerSecurityContext){
		POD_MESSAGE(linux_container_security_context),
		.namespace_options = &linux_namespaces,
		.capabilities = &capabilities,
		.no_new_privs = true,
		.masked_paths = message_strings(masked_paths),
		.n_masked_paths = ARRAY_SIZE(masked_paths),
		.readonly_paths = message_strings(read_only_paths),
		.n_readonly_paths = ARRAY_SIZE(read_only_paths),
		.seccomp = seccomp,
	};
	config->linux_container = (Runtime__V1__LinuxContainerConfig){
		POD_MESSAGE(linux_container_config),
		.resources = &linux_resources,
		.security_context = &config->linux_security,
	};
	config->sandbox.linux = &config->linux_sandbox;
	config->container.linux = &config->linux_container;
}

/* Windows: no HostProcess container, which would run on the host and prove nothing about devices; so the
 * network is the pod's own, by CNI. The user is the image's. Paths and device strings stay as the
 * plugin sent them, as kubelet passes them on: containerd converts them. */
static Runtime__V1__WindowsNamespaceOption windows_namespaces = {
	POD_MESSAGE(windows_namespace_option),
	.network = RUNTIME__V1__NAMESPACE_MODE__POD,
};
static Runtime__V1__WindowsSandboxSecurityContext windows_sandbox_security = {
	POD_MESSAGE(windows_sandbox_security_context),
	.namespace_options = &windows_namespaces,
};
static Runtime__V1__WindowsPodSandboxConfig windows_sandbox = {
	POD_MESSAGE(windows_pod_sandbox_config),
	.security_context = &windows_sandbox_security,
};
static Runtime__V1__WindowsContainerResources windows_resources = {
	POD_MESSAGE(windows_container_resources),
};
static Runtime__V1__WindowsContainerSecurityContext windows_security = {
	POD_MESSAGE(windows_container_security_context),
};
static Runtime__V1__WindowsContainerConfig windows_container = {
	POD_MESSAGE(windows_container_config),
	.resources = &windows_resources,
	.security_context = &windows_security,
};

/* `count` empty messages as a list of pointers to them, the form that protobuf-c needs. */
static void *messages(struct pod_config *config, const ProtobufCMessageDescriptor *type,
		      size_t count)
{
	size_t size = type->sizeof_message;
	void **list = arena_allocate(&config->arena, count * (sizeof(*list) + size));
	for (size_t i = 0; i < count; i++) {
		list[i] = (char *)(list + count) + i * size;
		protobuf_c_message_init(type, list[i]);
	}
	return list;
}

void pod_config_free(struct pod_config *config)
{
	arena_free(&config->arena);
}

/* Entries of a map: labels and annotations are the same message in three types. */
static void *pairs(struct pod_config *config, const ProtobufCMessageDescriptor *type,
		   const struct grant_entry *entries, size_t count)
{
	Runtime__V1__ContainerConfig__LabelsEntry **list = messages(config, type, count);
	for (size_t i = 0; i < count; i++) {
		list[i]->key = wire_string(entries[i].name);
		list[i]->value = wire_string(entries[i].value);
	}
	return list;
}

/* Labels, and everything that the grant contains. */
static void add_grant(struct pod_config *config, const struct containerd_launcher *launcher,
		      const struct grant *grant, const char *const gates[LAUNCH_GATES])
{
	Runtime__V1__ContainerConfig *container = &config->container;
	const struct grant_entry labels[] = {
		{.name = CRI_LABEL_RUN, .value = launcher->run_id},
		{.name = CRI_LABEL_CHECK, .value = launcher->check_id},
	};
	config->sandbox.n_labels = container->n_labels = ARRAY_SIZE(labels);
	config->sandbox.labels =
		pairs(config, &runtime__v1__pod_sandbox_config__labels_entry__descriptor, labels,
		      ARRAY_SIZE(labels));
	container->labels = pairs(config, &runtime__v1__container_config__labels_entry__descriptor,
				  labels, ARRAY_SIZE(labels));
	container->n_annotations = grant->annotations.count;
	container->annotations =
		pairs(config, &runtime__v1__container_config__annotations_entry__descriptor,
		      grant->annotations.items, grant->annotations.count);

	container->n_envs = grant->envs.count;
	container->envs = messages(config, &runtime__v1__key_value__descriptor, container->n_envs);
	for (size_t i = 0; i < container->n_envs; i++) {
		const struct grant_entry *variable = &grant->envs.items[i];
		container->envs[i]->key = wire_string(variable->name);
		container->envs[i]->value.data = (uint8_t *)wire_string(variable->value);
		container->envs[i]->value.len = strlen(variable->value);
	}

	const size_t granted = grant->mounts.count;
	container->n_mounts = granted + (gates[0] != NULL ? LAUNCH_GATES : 0);
	container->mounts = messages(config, &runtime__v1__mount__descriptor, container->n_mounts);
	for (size_t i = 0; i < container->n_mounts; i++) {
		const struct grant_entry *mount = i < granted ? &grant->mounts.items[i] : NULL;
		const char *host = mount != NULL ? mount->host_path : gates[i - granted];
		const char *target =
			mount != NULL ? mount->container_path : containerd_gate_paths[i - granted];
		container->mounts[i]->host_path = wire_string(host);
		container->mounts[i]->container_path = wire_string(target);
		container->mounts[i]->readonly = mount == NULL || mount->read_only;
	}

	container->n_devices = grant->devices.count;
	container->devices =
		messages(config, &runtime__v1__device__descriptor, container->n_devices);
	for (size_t i = 0; i < container->n_devices; i++) {
		const struct grant_entry *device = &grant->devices.items[i];
		container->devices[i]->host_path = wire_string(device->host_path);
		container->devices[i]->container_path = wire_string(device->container_path);
		container->devices[i]->permissions = wire_string(device->permissions);
	}
	container->n_cdi_devices = grant->cdi_devices.count;
	container->cdi_devices =
		messages(config, &runtime__v1__cdidevice__descriptor, container->n_cdi_devices);
	for (size_t i = 0; i < container->n_cdi_devices; i++)
		container->cdi_devices[i]->name = wire_string(grant->cdi_devices.items[i].name);
}

void pod_config_make(struct pod_config *config, const struct containerd_launcher *launcher,
		     const struct containerd_launch *launch, const struct launch_spec *spec)
{
	size_t count = 0;
	while (spec->command[count] != NULL)
		count++;
	char **words = arena_allocate(&config->arena, count * sizeof(*words));
	for (size_t i = 0; i < count; i++)
		words[i] = wire_string(i == 0 ? launch->program : spec->command[i]);

	config->sandbox_metadata = (Runtime__V1__PodSandboxMetadata){
		POD_MESSAGE(pod_sandbox_metadata),
		.name = wire_string(spec->name),
		.uid = wire_string(launch->uid),
		.namespace_ = wire_string("gpucert"),
	};
	config->sandbox = (Runtime__V1__PodSandboxConfig){
		POD_MESSAGE(pod_sandbox_config),
		.metadata = &config->sandbox_metadata,
		.log_directory = wire_string(launch->log_directory),
	};
	config->container_metadata = (Runtime__V1__ContainerMetadata){
		POD_MESSAGE(container_metadata),
		.name = wire_string(spec->name),
	};
	config->image = (Runtime__V1__ImageSpec){
		POD_MESSAGE(image_spec),
		.image = wire_string(launcher->image),
	};
	config->container = (Runtime__V1__ContainerConfig){
		POD_MESSAGE(container_config),
		.metadata = &config->container_metadata,
		.image = &config->image,
		.command = words,
		.n_command = count,
		.log_path = wire_string(POD_LOG_FILE),
	};
	if (launcher->base.system == LAUNCH_WINDOWS) {
		config->sandbox.windows = &windows_sandbox;
		config->container.windows = &windows_container;
	} else {
		add_linux(config, launcher);
	}
	add_grant(config, launcher, &spec->grant, launch->gates);
}
