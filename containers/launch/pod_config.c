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
 * network is the pod's own, by CNI. The user is the image's. Paths and device strings stay what the
 * plugin gave, as kubelet passes them on: containerd brings them into their form. */
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

static void add_windows(struct pod_config *config)
{
	config->sandbox.windows = &windows_sandbox;
	config->container.windows = &windows_container;
}

/* `count` empty messages as a list of pointers to them, which is what protobuf-c takes. NULL: out of
 * memory. */
static void *messages(struct pod_config *config, const ProtobufCMessageDescriptor *type,
		      size_t count)
{
	size_t size = type->sizeof_message;
	void **list = arena_allocate(&config->arena, count * (sizeof(*list) + size));
	for (size_t i = 0; list != NULL && i < count; i++) {
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
	for (size_t i = 0; list != NULL && i < count; i++) {
		list[i]->key = wire_string(entries[i].name);
		list[i]->value = wire_string(entries[i].value);
	}
	return list;
}

static void add_command(struct pod_config *config, const struct containerd_launch *launch,
			const char *const *command)
{
	size_t count = 0;
	while (command[count] != NULL)
		count++;
	char **words = arena_allocate(&config->arena, count * sizeof(*words));
	for (size_t i = 0; words != NULL && i < count; i++)
		words[i] = wire_string(i == 0 ? launch->program : command[i]);
	config->container.command = words;
	config->container.n_command = count;
}

static void add_envs(struct pod_config *config, const struct grant_list *envs)
{
	Runtime__V1__KeyValue **list =
		messages(config, &runtime__v1__key_value__descriptor, envs->count);
	for (size_t i = 0; list != NULL && i < envs->count; i++) {
		list[i]->key = wire_string(envs->items[i].name);
		list[i]->value.data = (uint8_t *)wire_string(envs->items[i].value);
		list[i]->value.len = strlen(envs->items[i].value);
	}
	config->container.envs = list;
	config->container.n_envs = envs->count;
}

static void add_mounts(struct pod_config *config, const struct grant_list *mounts,
		       const char *const gates[LAUNCH_GATES])
{
	size_t count = mounts->count + (gates[0] != NULL ? LAUNCH_GATES : 0);
	Runtime__V1__Mount **list = messages(config, &runtime__v1__mount__descriptor, count);
	for (size_t i = 0; list != NULL && i < count; i++) {
		const size_t gate = i - mounts->count;
		const struct grant_entry held = {
			.host_path = i < mounts->count ? NULL : gates[gate],
			.container_path = i < mounts->count ? NULL : containerd_gate_paths[gate],
			.read_only = true};
		const struct grant_entry *mount = i < mounts->count ? &mounts->items[i] : &held;
		list[i]->host_path = wire_string(mount->host_path);
		list[i]->container_path = wire_string(mount->container_path);
		list[i]->readonly = mount->read_only;
	}
	config->container.mounts = list;
	config->container.n_mounts = count;
}

static void add_devices(struct pod_config *config, const struct grant_list *devices)
{
	Runtime__V1__Device **list =
		messages(config, &runtime__v1__device__descriptor, devices->count);
	for (size_t i = 0; list != NULL && i < devices->count; i++) {
		list[i]->host_path = wire_string(devices->items[i].host_path);
		list[i]->container_path = wire_string(devices->items[i].container_path);
		list[i]->permissions = wire_string(devices->items[i].permissions);
	}
	config->container.devices = list;
	config->container.n_devices = devices->count;
}

static void add_pairs(struct pod_config *config, const struct containerd_launcher *launcher,
		      const struct grant_list *annotations)
{
	const struct grant_entry labels[] = {
		{.name = CRI_LABEL_RUN, .value = launcher->run_id},
		{.name = CRI_LABEL_CHECK, .value = launcher->check_id},
	};
	config->sandbox.labels =
		pairs(config, &runtime__v1__pod_sandbox_config__labels_entry__descriptor, labels,
		      ARRAY_SIZE(labels));
	config->sandbox.n_labels = ARRAY_SIZE(labels);
	config->container.labels =
		pairs(config, &runtime__v1__container_config__labels_entry__descriptor, labels,
		      ARRAY_SIZE(labels));
	config->container.n_labels = ARRAY_SIZE(labels);
	config->container.annotations =
		pairs(config, &runtime__v1__container_config__annotations_entry__descriptor,
		      annotations->items, annotations->count);
	config->container.n_annotations = annotations->count;
}

static void add_cdi_devices(struct pod_config *config, const struct grant_list *devices)
{
	Runtime__V1__CDIDevice **list =
		messages(config, &runtime__v1__cdidevice__descriptor, devices->count);
	for (size_t i = 0; list != NULL && i < devices->count; i++)
		list[i]->name = wire_string(devices->items[i].name);
	config->container.cdi_devices = list;
	config->container.n_cdi_devices = devices->count;
}

int pod_config_make(struct pod_config *config, const struct containerd_launcher *launcher,
		    const struct containerd_launch *launch, const struct launch_spec *spec,
		    struct error *err)
{
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
		.log_path = wire_string(POD_LOG_FILE),
	};
	if (launcher->base.system == LAUNCH_WINDOWS)
		add_windows(config);
	else
		add_linux(config, launcher);
	add_command(config, launch, spec->command);
	add_envs(config, &spec->grant.envs);
	add_mounts(config, &spec->grant.mounts, launch->gates);
	add_devices(config, &spec->grant.devices);
	add_pairs(config, launcher, &spec->grant.annotations);
	add_cdi_devices(config, &spec->grant.cdi_devices);
	return config->arena.failed ? error_memory(err) : 0;
}
