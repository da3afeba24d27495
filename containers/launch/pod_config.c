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

static void *pod_block(struct pod_config *config, size_t size)
{
	void *block = config->block_count < POD_CONFIG_BLOCKS ? calloc(1, size) : NULL;

	if (block == NULL)
		config->failed = true;
	else
		config->blocks[config->block_count++] = block;
	return block;
}

/* `count` zeroed messages behind a list of pointers to them, which is what protobuf-c takes. NULL:
 * out of memory. */
static void *pod_messages(struct pod_config *config, size_t count, size_t size)
{
	void **list = count < SIZE_MAX / (size + sizeof(*list))
			      ? pod_block(config, (count + 1) * (sizeof(*list) + size))
			      : NULL;

	for (size_t i = 0; list != NULL && i < count; i++)
		list[i] = (char *)(list + count) + i * size;
	return list;
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
	container->command = pod_block(config, (count + 1) * sizeof(char *));
	for (size_t i = 0; container->command != NULL && i < count; i++)
		container->command[i] =
			pod_config_borrow(i == 0 ? identity->program : spec->command[i]);
	container->n_command = count;
}

static void pod_envs(struct pod_config *config, const struct grant_list *envs)
{
	Runtime__V1__KeyValue **list = pod_messages(config, envs->count, sizeof(**list));

	for (size_t i = 0; list != NULL && i < envs->count; i++) {
		runtime__v1__key_value__init(list[i]);
		list[i]->key = pod_config_borrow(envs->items[i].name);
		list[i]->value.data = (uint8_t *)pod_config_borrow(envs->items[i].value);
		list[i]->value.len = strlen(envs->items[i].value);
	}
	config->container.envs = list;
	config->container.n_envs = envs->count;
}

static void pod_mounts(struct pod_config *config, const struct grant_list *mounts,
		       const char *hold_fifo)
{
	const struct grant_entry hold = {
		.host_path = hold_fifo, .container_path = LAUNCH_HOLD_PATH, .read_only = true};
	size_t count = mounts->count + (hold_fifo != NULL ? 1 : 0);
	Runtime__V1__Mount **list = pod_messages(config, count, sizeof(**list));

	for (size_t i = 0; list != NULL && i < count; i++) {
		const struct grant_entry *mount = i < mounts->count ? &mounts->items[i] : &hold;

		runtime__v1__mount__init(list[i]);
		list[i]->host_path = pod_config_borrow(mount->host_path);
		list[i]->container_path = pod_config_borrow(mount->container_path);
		list[i]->readonly = mount->read_only;
	}
	config->container.mounts = list;
	config->container.n_mounts = count;
}

static void pod_devices(struct pod_config *config, const struct grant_list *devices)
{
	Runtime__V1__Device **list = pod_messages(config, devices->count, sizeof(**list));

	for (size_t i = 0; list != NULL && i < devices->count; i++) {
		runtime__v1__device__init(list[i]);
		list[i]->host_path = pod_config_borrow(devices->items[i].host_path);
		list[i]->container_path = pod_config_borrow(devices->items[i].container_path);
		list[i]->permissions = pod_config_borrow(devices->items[i].permissions);
	}
	config->container.devices = list;
	config->container.n_devices = devices->count;
}

static void pod_annotations(struct pod_config *config, const struct grant_list *annotations)
{
	Runtime__V1__ContainerConfig__AnnotationsEntry **list =
		pod_messages(config, annotations->count, sizeof(**list));

	for (size_t i = 0; list != NULL && i < annotations->count; i++) {
		runtime__v1__container_config__annotations_entry__init(list[i]);
		list[i]->key = pod_config_borrow(annotations->items[i].name);
		list[i]->value = pod_config_borrow(annotations->items[i].value);
	}
	config->container.annotations = list;
	config->container.n_annotations = annotations->count;
}

static void pod_cdi_devices(struct pod_config *config, const struct grant_list *devices)
{
	Runtime__V1__CDIDevice **list = pod_messages(config, devices->count, sizeof(**list));

	for (size_t i = 0; list != NULL && i < devices->count; i++) {
		runtime__v1__cdidevice__init(list[i]);
		list[i]->name = pod_config_borrow(devices->items[i].name);
	}
	config->container.cdi_devices = list;
	config->container.n_cdi_devices = devices->count;
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
	pod_envs(config, &spec->grant.envs);
	pod_mounts(config, &spec->grant.mounts, identity->hold_fifo);
	pod_devices(config, &spec->grant.devices);
	pod_annotations(config, &spec->grant.annotations);
	pod_cdi_devices(config, &spec->grant.cdi_devices);
	return config->failed ? error_memory(err) : 0;
}
