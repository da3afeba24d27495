/* SPDX-License-Identifier: MIT */
#include "containers/launch/pod_config.h"

#include "base/cleanup.h"
#include "containers/cri/sweep.h"

#include <stdlib.h>
#include <string.h>

char *pod_config_borrow(const char *string)
{
	char *borrowed = NULL;

	memcpy(&borrowed, &string, sizeof(string));
	return borrowed;
}

char **pod_config_borrow_list(const char *const *strings)
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

static void pod_sandbox(struct pod_config *config, const struct pod_identity *identity,
			const struct launch_spec *spec)
{
	Runtime__V1__PodSandboxConfig *sandbox = &config->sandbox;

	runtime__v1__pod_sandbox_metadata__init(&config->sandbox_metadata);
	config->sandbox_metadata.name = pod_config_borrow(spec->name);
	config->sandbox_metadata.uid = pod_config_borrow(identity->uid);
	config->sandbox_metadata.namespace_ = pod_config_borrow("gpucert");
	runtime__v1__pod_sandbox_config__init(sandbox);
	sandbox->metadata = &config->sandbox_metadata;
	sandbox->log_directory = pod_config_borrow(identity->log_directory);
}

static void pod_labels(struct pod_config *config, const struct pod_identity *identity)
{
	const char *const keys[] = {CRI_LABEL_RUN, CRI_LABEL_CHECK};
	const char *const values[] = {identity->run_id, identity->check_id};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		runtime__v1__pod_sandbox_config__labels_entry__init(&config->sandbox_labels[i]);
		config->sandbox_labels[i].key = pod_config_borrow(keys[i]);
		config->sandbox_labels[i].value = pod_config_borrow(values[i]);
		config->sandbox_label_list[i] = &config->sandbox_labels[i];
		runtime__v1__container_config__labels_entry__init(&config->container_labels[i]);
		config->container_labels[i].key = pod_config_borrow(keys[i]);
		config->container_labels[i].value = pod_config_borrow(values[i]);
		config->container_label_list[i] = &config->container_labels[i];
	}
	config->sandbox.labels = config->sandbox_label_list;
	config->sandbox.n_labels = ARRAY_SIZE(keys);
	config->container.labels = config->container_label_list;
	config->container.n_labels = ARRAY_SIZE(keys);
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
		container->command[i] =
			pod_config_borrow(i == 0 ? identity->program : spec->command[i]);
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
		envs[i].key = pod_config_borrow(spec->envs[i].name);
		envs[i].value.data = (uint8_t *)pod_config_borrow(spec->envs[i].value);
		envs[i].value.len = strlen(spec->envs[i].value);
		list[i] = &envs[i];
	}
	config->container.envs = list;
	config->container.n_envs = spec->env_count;
}

static void pod_mounts(struct pod_config *config, const struct pod_identity *identity,
		       const struct launch_spec *spec)
{
	const struct launch_mount hold = {identity->hold_fifo, LAUNCH_HOLD_PATH, true};
	size_t count = spec->mount_count + (identity->hold_fifo != NULL ? 1 : 0);
	Runtime__V1__Mount *mounts = pod_block(config, count, sizeof(*mounts));
	Runtime__V1__Mount **list = pod_block(config, count, sizeof(void *));

	if (config->failed)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct launch_mount *mount = i < spec->mount_count ? &spec->mounts[i] : &hold;

		runtime__v1__mount__init(&mounts[i]);
		mounts[i].host_path = pod_config_borrow(mount->host_path);
		mounts[i].container_path = pod_config_borrow(mount->container_path);
		mounts[i].readonly = mount->read_only;
		list[i] = &mounts[i];
	}
	config->container.mounts = list;
	config->container.n_mounts = count;
}

static void pod_devices(struct pod_config *config, const struct launch_spec *spec)
{
	Runtime__V1__Device *devices = pod_block(config, spec->device_count, sizeof(*devices));
	Runtime__V1__Device **list = pod_block(config, spec->device_count, sizeof(void *));

	if (config->failed)
		return;
	for (size_t i = 0; i < spec->device_count; i++) {
		runtime__v1__device__init(&devices[i]);
		devices[i].host_path = pod_config_borrow(spec->devices[i].host_path);
		devices[i].container_path = pod_config_borrow(spec->devices[i].container_path);
		devices[i].permissions = pod_config_borrow(spec->devices[i].permissions);
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
		entries[i].key = pod_config_borrow(spec->annotations[i].name);
		entries[i].value = pod_config_borrow(spec->annotations[i].value);
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
		devices[i].name = pod_config_borrow(spec->cdi_devices[i]);
		list[i] = &devices[i];
	}
	config->container.cdi_devices = list;
	config->container.n_cdi_devices = count;
}

int pod_config_make(struct pod_config *config, const struct pod_identity *identity,
		    const struct launch_spec *spec, struct error *err)
{
	Runtime__V1__ContainerConfig *container = &config->container;

	pod_sandbox(config, identity, spec);
	runtime__v1__container_metadata__init(&config->container_metadata);
	config->container_metadata.name = pod_config_borrow(spec->name);
	runtime__v1__image_spec__init(&config->image);
	config->image.image = pod_config_borrow(identity->image);
	runtime__v1__container_config__init(container);
	container->metadata = &config->container_metadata;
	container->image = &config->image;
	container->log_path = pod_config_borrow(POD_LOG_FILE);
	pod_labels(config, identity);
	if (identity->system == LAUNCH_WINDOWS)
		pod_config_windows(config, spec);
	else
		pod_config_linux(config, identity, spec);
	pod_command(config, identity, spec);
	pod_envs(config, spec);
	pod_mounts(config, identity, spec);
	pod_devices(config, spec);
	pod_annotations(config, spec);
	pod_cdi_devices(config, spec);
	return config->failed ? error_memory(err) : 0;
}
