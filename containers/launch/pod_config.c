/* SPDX-License-Identifier: MIT */
#include "containers/launch/pod_config.h"

#include "base/cleanup.h"
#include "containers/cri/sweep.h"

#include <stdlib.h>
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

/* protobuf-c declares the strings of requests without const and does not change them. */
static char *borrow(const char *string)
{
	char *borrowed = NULL;

	memcpy(&borrowed, &string, sizeof(string));
	return borrowed;
}

static char **borrow_list(const char *const *strings)
{
	char **borrowed = NULL;

	memcpy(&borrowed, &strings, sizeof(strings));
	return borrowed;
}

static void *pod_block(struct pod_config *config, size_t count, size_t size)
{
	void *block = NULL;

	if (config->block_count < POD_CONFIG_BLOCKS)
		block = calloc(count > 0 ? count : 1, size);
	if (block == NULL) {
		config->failed = true;
		return NULL;
	}
	config->blocks[config->block_count++] = block;
	return block;
}

void pod_config_free(struct pod_config *config)
{
	for (size_t i = 0; i < config->block_count; i++)
		free(config->blocks[i]);
	config->block_count = 0;
}

static void pod_namespaces(struct pod_config *config)
{
	runtime__v1__namespace_option__init(&config->namespaces);
	config->namespaces.network = RUNTIME__V1__NAMESPACE_MODE__NODE;
	config->namespaces.pid = RUNTIME__V1__NAMESPACE_MODE__CONTAINER;
	config->namespaces.ipc = RUNTIME__V1__NAMESPACE_MODE__POD;
	runtime__v1__security_profile__init(&config->seccomp);
	config->seccomp.profile_type = RUNTIME__V1__SECURITY_PROFILE__PROFILE_TYPE__RuntimeDefault;
}

static void pod_sandbox(struct pod_config *config, const struct pod_identity *identity,
			const struct launch_spec *spec)
{
	Runtime__V1__PodSandboxConfig *sandbox = &config->sandbox;

	runtime__v1__pod_sandbox_metadata__init(&config->sandbox_metadata);
	config->sandbox_metadata.name = borrow(spec->name);
	config->sandbox_metadata.uid = borrow(identity->uid);
	config->sandbox_metadata.namespace_ = borrow("gpucert");
	runtime__v1__linux_sandbox_security_context__init(&config->sandbox_security);
	config->sandbox_security.namespace_options = &config->namespaces;
	config->sandbox_security.seccomp = identity->seccomp ? &config->seccomp : NULL;
	runtime__v1__linux_pod_sandbox_config__init(&config->sandbox_linux);
	config->sandbox_linux.security_context = &config->sandbox_security;
	config->sandbox_linux.cgroup_parent = borrow(identity->cgroup_parent);
	runtime__v1__pod_sandbox_config__init(sandbox);
	sandbox->metadata = &config->sandbox_metadata;
	sandbox->log_directory = borrow(identity->log_directory);
	sandbox->linux = &config->sandbox_linux;
}

static void pod_labels(struct pod_config *config, const struct pod_identity *identity)
{
	const char *const keys[] = {CRI_LABEL_RUN, CRI_LABEL_CHECK};
	const char *const values[] = {identity->run_id, identity->check_id};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		runtime__v1__pod_sandbox_config__labels_entry__init(&config->sandbox_labels[i]);
		config->sandbox_labels[i].key = borrow(keys[i]);
		config->sandbox_labels[i].value = borrow(values[i]);
		config->sandbox_label_list[i] = &config->sandbox_labels[i];
		runtime__v1__container_config__labels_entry__init(&config->container_labels[i]);
		config->container_labels[i].key = borrow(keys[i]);
		config->container_labels[i].value = borrow(values[i]);
		config->container_label_list[i] = &config->container_labels[i];
	}
	config->sandbox.labels = config->sandbox_label_list;
	config->sandbox.n_labels = ARRAY_SIZE(keys);
	config->container.labels = config->container_label_list;
	config->container.n_labels = ARRAY_SIZE(keys);
}

static void pod_security(struct pod_config *config, const struct pod_identity *identity,
			 const struct launch_spec *spec)
{
	Runtime__V1__LinuxContainerSecurityContext *security = &config->container_security;

	runtime__v1__capability__init(&config->capabilities);
	config->capabilities.drop_capabilities = borrow_list(all_capabilities);
	config->capabilities.n_drop_capabilities = ARRAY_SIZE(all_capabilities);
	runtime__v1__linux_container_security_context__init(security);
	security->namespace_options = &config->namespaces;
	security->capabilities = &config->capabilities;
	security->no_new_privs = true;
	security->masked_paths = borrow_list(masked_paths);
	security->n_masked_paths = ARRAY_SIZE(masked_paths);
	security->readonly_paths = borrow_list(read_only_paths);
	security->n_readonly_paths = ARRAY_SIZE(read_only_paths);
	security->seccomp = identity->seccomp ? &config->seccomp : NULL;
	runtime__v1__linux_container_resources__init(&config->resources);
	config->resources.memory_limit_in_bytes = (int64_t)spec->memory_limit;
	config->resources.memory_swap_limit_in_bytes = (int64_t)spec->memory_limit;
	runtime__v1__linux_container_config__init(&config->container_linux);
	config->container_linux.resources = &config->resources;
	config->container_linux.security_context = security;
	config->container.linux = &config->container_linux;
}

static void pod_command(struct pod_config *config, const struct pod_identity *identity,
			const struct launch_spec *spec)
{
	Runtime__V1__ContainerConfig *container = &config->container;
	size_t count = 0;

	while (spec->command[count] != NULL)
		count++;
	container->command = pod_block(config, count, sizeof(char *));
	for (size_t i = 0; container->command != NULL && i < count; i++)
		container->command[i] = borrow(i == 0 ? identity->program : spec->command[i]);
	container->n_command = count;
}

static void pod_envs(struct pod_config *config, const struct launch_spec *spec)
{
	Runtime__V1__KeyValue *envs = pod_block(config, spec->env_count, sizeof(*envs));
	Runtime__V1__KeyValue **list = pod_block(config, spec->env_count, sizeof(void *));

	if (config->failed)
		return;
	for (size_t i = 0; i < spec->env_count; i++) {
		runtime__v1__key_value__init(&envs[i]);
		envs[i].key = borrow(spec->envs[i].name);
		envs[i].value.data = (uint8_t *)borrow(spec->envs[i].value);
		envs[i].value.len = strlen(spec->envs[i].value);
		list[i] = &envs[i];
	}
	config->container.envs = list;
	config->container.n_envs = spec->env_count;
}

static void pod_mounts(struct pod_config *config, const struct launch_spec *spec)
{
	Runtime__V1__Mount *mounts = pod_block(config, spec->mount_count, sizeof(*mounts));
	Runtime__V1__Mount **list = pod_block(config, spec->mount_count, sizeof(void *));

	if (config->failed)
		return;
	for (size_t i = 0; i < spec->mount_count; i++) {
		runtime__v1__mount__init(&mounts[i]);
		mounts[i].host_path = borrow(spec->mounts[i].host_path);
		mounts[i].container_path = borrow(spec->mounts[i].container_path);
		mounts[i].readonly = spec->mounts[i].read_only;
		list[i] = &mounts[i];
	}
	config->container.mounts = list;
	config->container.n_mounts = spec->mount_count;
}

static void pod_devices(struct pod_config *config, const struct launch_spec *spec)
{
	Runtime__V1__Device *devices = pod_block(config, spec->device_count, sizeof(*devices));
	Runtime__V1__Device **list = pod_block(config, spec->device_count, sizeof(void *));

	if (config->failed)
		return;
	for (size_t i = 0; i < spec->device_count; i++) {
		runtime__v1__device__init(&devices[i]);
		devices[i].host_path = borrow(spec->devices[i].host_path);
		devices[i].container_path = borrow(spec->devices[i].container_path);
		devices[i].permissions = borrow(spec->devices[i].permissions);
		list[i] = &devices[i];
	}
	config->container.devices = list;
	config->container.n_devices = spec->device_count;
}

static void pod_annotations(struct pod_config *config, const struct launch_spec *spec)
{
	size_t count = spec->annotation_count;
	Runtime__V1__ContainerConfig__AnnotationsEntry *entries =
		pod_block(config, count, sizeof(*entries));
	Runtime__V1__ContainerConfig__AnnotationsEntry **list =
		pod_block(config, count, sizeof(void *));

	if (config->failed)
		return;
	for (size_t i = 0; i < count; i++) {
		runtime__v1__container_config__annotations_entry__init(&entries[i]);
		entries[i].key = borrow(spec->annotations[i].name);
		entries[i].value = borrow(spec->annotations[i].value);
		list[i] = &entries[i];
	}
	config->container.annotations = list;
	config->container.n_annotations = count;
}

static void pod_cdi_devices(struct pod_config *config, const struct launch_spec *spec)
{
	Runtime__V1__CDIDevice *devices = NULL;
	Runtime__V1__CDIDevice **list = NULL;
	size_t count = 0;

	while (spec->cdi_devices != NULL && spec->cdi_devices[count] != NULL)
		count++;
	devices = pod_block(config, count, sizeof(*devices));
	list = pod_block(config, count, sizeof(void *));
	if (config->failed)
		return;
	for (size_t i = 0; i < count; i++) {
		runtime__v1__cdidevice__init(&devices[i]);
		devices[i].name = borrow(spec->cdi_devices[i]);
		list[i] = &devices[i];
	}
	config->container.cdi_devices = list;
	config->container.n_cdi_devices = count;
}

int pod_config_make(struct pod_config *config, const struct pod_identity *identity,
		    const struct launch_spec *spec, struct error *err)
{
	Runtime__V1__ContainerConfig *container = &config->container;

	pod_namespaces(config);
	pod_sandbox(config, identity, spec);
	runtime__v1__container_metadata__init(&config->container_metadata);
	config->container_metadata.name = borrow(spec->name);
	runtime__v1__image_spec__init(&config->image);
	config->image.image = borrow(identity->image);
	runtime__v1__container_config__init(container);
	container->metadata = &config->container_metadata;
	container->image = &config->image;
	container->log_path = borrow(POD_LOG_FILE);
	pod_labels(config, identity);
	pod_security(config, identity, spec);
	pod_command(config, identity, spec);
	pod_envs(config, spec);
	pod_mounts(config, spec);
	pod_devices(config, spec);
	pod_annotations(config, spec);
	pod_cdi_devices(config, spec);
	return config->failed ? error_memory(err) : 0;
}
