/* SPDX-License-Identifier: MIT */
#include "containers/launch/pod_config.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static void *block(struct pod_config *config, size_t size)
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
static void *messages(struct pod_config *config, size_t count, size_t size)
{
	void **list = count < SIZE_MAX / (size + sizeof(*list))
			      ? block(config, (count + 1) * (sizeof(*list) + size))
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

static void add_labels(struct pod_config *config, const struct containerd_launcher *launcher)
{
	static const char *const keys[] = {CRI_LABEL_RUN, CRI_LABEL_CHECK};
	char *const values[] = {launcher->run_id, launcher->check_id};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		config->sandbox_labels[i] = (Runtime__V1__PodSandboxConfig__LabelsEntry){
			POD_MESSAGE(pod_sandbox_config__labels_entry),
			.key = wire_string(keys[i]),
			.value = values[i],
		};
		config->container_labels[i] = (Runtime__V1__ContainerConfig__LabelsEntry){
			POD_MESSAGE(container_config__labels_entry),
			.key = wire_string(keys[i]),
			.value = values[i],
		};
		config->sandbox_label_list[i] = &config->sandbox_labels[i];
		config->container_label_list[i] = &config->container_labels[i];
	}
	config->sandbox.labels = config->sandbox_label_list;
	config->sandbox.n_labels = ARRAY_SIZE(keys);
	config->container.labels = config->container_label_list;
	config->container.n_labels = ARRAY_SIZE(keys);
}

static void add_command(struct pod_config *config, const struct containerd_launch *launch,
			const char *const *command)
{
	size_t count = launch_count_words(command);
	char **words = block(config, (count + 1) * sizeof(*words));
	for (size_t i = 0; words != NULL && i < count; i++)
		words[i] = i == 0 ? launch->program : wire_string(command[i]);
	config->container.command = words;
	config->container.n_command = count;
}

static void add_envs(struct pod_config *config, const struct grant_list *envs)
{
	Runtime__V1__KeyValue **list = messages(config, envs->count, sizeof(**list));
	for (size_t i = 0; list != NULL && i < envs->count; i++) {
		runtime__v1__key_value__init(list[i]);
		list[i]->key = wire_string(envs->items[i].name);
		list[i]->value.data = (uint8_t *)wire_string(envs->items[i].value);
		list[i]->value.len = strlen(envs->items[i].value);
	}
	config->container.envs = list;
	config->container.n_envs = envs->count;
}

static void add_mounts(struct pod_config *config, const struct grant_list *mounts,
		       const char *hold_fifo)
{
	const struct grant_entry hold = {
		.host_path = hold_fifo, .container_path = LAUNCH_HOLD_PATH, .read_only = true};
	size_t count = mounts->count + (hold_fifo != NULL ? 1 : 0);
	Runtime__V1__Mount **list = messages(config, count, sizeof(**list));
	for (size_t i = 0; list != NULL && i < count; i++) {
		const struct grant_entry *mount = i < mounts->count ? &mounts->items[i] : &hold;
		runtime__v1__mount__init(list[i]);
		list[i]->host_path = wire_string(mount->host_path);
		list[i]->container_path = wire_string(mount->container_path);
		list[i]->readonly = mount->read_only;
	}
	config->container.mounts = list;
	config->container.n_mounts = count;
}

static void add_devices(struct pod_config *config, const struct grant_list *devices)
{
	Runtime__V1__Device **list = messages(config, devices->count, sizeof(**list));
	for (size_t i = 0; list != NULL && i < devices->count; i++) {
		runtime__v1__device__init(list[i]);
		list[i]->host_path = wire_string(devices->items[i].host_path);
		list[i]->container_path = wire_string(devices->items[i].container_path);
		list[i]->permissions = wire_string(devices->items[i].permissions);
	}
	config->container.devices = list;
	config->container.n_devices = devices->count;
}

static void add_annotations(struct pod_config *config, const struct grant_list *annotations)
{
	Runtime__V1__ContainerConfig__AnnotationsEntry **list =
		messages(config, annotations->count, sizeof(**list));
	for (size_t i = 0; list != NULL && i < annotations->count; i++) {
		runtime__v1__container_config__annotations_entry__init(list[i]);
		list[i]->key = wire_string(annotations->items[i].name);
		list[i]->value = wire_string(annotations->items[i].value);
	}
	config->container.annotations = list;
	config->container.n_annotations = annotations->count;
}

static void add_cdi_devices(struct pod_config *config, const struct grant_list *devices)
{
	Runtime__V1__CDIDevice **list = messages(config, devices->count, sizeof(**list));
	for (size_t i = 0; list != NULL && i < devices->count; i++) {
		runtime__v1__cdidevice__init(list[i]);
		list[i]->name = wire_string(devices->items[i].name);
	}
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
		.log_directory = launch->log_directory,
	};
	config->container_metadata = (Runtime__V1__ContainerMetadata){
		POD_MESSAGE(container_metadata),
		.name = wire_string(spec->name),
	};
	config->image = (Runtime__V1__ImageSpec){
		POD_MESSAGE(image_spec),
		.image = launcher->image,
	};
	config->container = (Runtime__V1__ContainerConfig){
		POD_MESSAGE(container_config),
		.metadata = &config->container_metadata,
		.image = &config->image,
		.log_path = wire_string(POD_LOG_FILE),
	};
	add_labels(config, launcher);
	if (launcher->base.system == LAUNCH_WINDOWS)
		pod_config_windows(config);
	else
		pod_config_linux(config, launcher);
	add_command(config, launch, spec->command);
	add_envs(config, &spec->grant.envs);
	add_mounts(config, &spec->grant.mounts, launch->hold_fifo);
	add_devices(config, &spec->grant.devices);
	add_annotations(config, &spec->grant.annotations);
	add_cdi_devices(config, &spec->grant.cdi_devices);
	return config->failed ? error_memory(err) : 0;
}
