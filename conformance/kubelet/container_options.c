/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/container_options.h"

#include "base/cleanup.h"
#include "base/text_index.h"

#include <string.h>

const char *kubelet_option_kind_name(enum kubelet_option_kind kind)
{
	static const char *const names[] = {
		[KUBELET_OPTION_ENV] = "env",
		[KUBELET_OPTION_MOUNT] = "mount",
		[KUBELET_OPTION_DEVICE] = "device",
		[KUBELET_OPTION_ANNOTATION] = "annotation",
		[KUBELET_OPTION_CDI_DEVICE] = "cdi-device",
	};
	return names[kind];
}

/* A merge under way. After the first failure nothing more is added. */
struct merge {
	struct kubelet_container_options *out;
	const char *resource; /* kept string */
	struct text_index entries[KUBELET_OPTION_KINDS];
	struct error *err;
	int rc;
};

/* A copy that lives as long as the result; "" when memory ran out, which merge->rc remembers. */
static const char *keep(struct merge *merge, const char *string)
{
	if (merge->rc == 0)
		merge->rc = text_list_add(&merge->out->strings, string, merge->err);
	return merge->rc == 0 ? merge->out->strings.items[merge->out->strings.count - 1] : "";
}

/* Room for one more entry at the end of one of the arrays, whose capacity is the next power of two;
 * NULL when memory ran out. */
static void *grow(struct merge *merge, void *array_pointer, size_t *count, size_t size)
{
	void *array = NULL;
	if (merge->rc != 0)
		return NULL;
	memcpy(&array, array_pointer, sizeof(array));
	if ((*count & (*count - 1)) == 0) {
		array = reallocarray(array, *count == 0 ? 1 : *count * 2, size);
		if (array == NULL) {
			merge->rc = error_memory(merge->err);
			return NULL;
		}
		memcpy(array_pointer, &array, sizeof(array));
	}
	return (char *)array + size * (*count)++;
}

/* The place of the entry with this key among the `count` of its kind; `count`: there is none, and
 * this one is going to be it. */
static size_t find_entry(struct merge *merge, enum kubelet_option_kind kind, const char *key,
			 size_t count)
{
	size_t found = count;
	if (merge->rc == 0)
		merge->rc = text_index_put(&merge->entries[kind], key, count, &found, merge->err);
	return found;
}

static void add_conflict(struct merge *merge, struct kubelet_conflict conflict)
{
	struct kubelet_conflict *entry =
		grow(merge, &merge->out->conflicts, &merge->out->conflict_count, sizeof(*entry));
	if (entry == NULL)
		return;
	*entry = conflict;
	entry->key = keep(merge, conflict.key);
	entry->winner = conflict.winner == NULL ? NULL : keep(merge, conflict.winner);
	entry->loser = keep(merge, conflict.loser);
	entry->loser_resource = merge->resource;
	entry->same = conflict.winner != NULL && strcmp(conflict.winner, conflict.loser) == 0;
}

/* envs and annotations. Both are maps: within one answer the last value of a key is the one that
 * protobuf-go hands out. */
static void merge_pair(struct merge *merge, enum kubelet_option_kind kind, const char *name,
		       const char *value)
{
	struct kubelet_container_options *out = merge->out;
	bool env = kind == KUBELET_OPTION_ENV;
	struct kubelet_env **pairs = env ? &out->envs : &out->annotations;
	size_t *count = env ? &out->env_count : &out->annotation_count;
	size_t place = find_entry(merge, kind, name, *count);
	if (merge->rc == 0 && place < *count) {
		struct kubelet_env *winner = &(*pairs)[place];
		const char *loser = value;
		if (winner->resource == merge->resource) {
			loser = winner->value;
			winner->value = keep(merge, value);
		}
		add_conflict(merge, (struct kubelet_conflict){.kind = kind,
							      .key = name,
							      .winner = winner->value,
							      .winner_resource = winner->resource,
							      .loser = loser});
		return;
	}
	struct kubelet_env *pair = grow(merge, pairs, count, sizeof(*pair));
	if (pair != NULL)
		*pair = (struct kubelet_env){keep(merge, name), keep(merge, value),
					     merge->resource};
}

/* "/host/path (ro)": what two entries of one container path are compared by. */
static char *describe(struct merge *merge, const char *host_path, const char *mode)
{
	char *text = text_format("%s (%s)", host_path, mode);
	if (text == NULL && merge->rc == 0)
		merge->rc = error_memory(merge->err);
	return text;
}

static void merge_mount(struct merge *merge, const V1beta1__Mount *mount)
{
	struct kubelet_container_options *out = merge->out;
	size_t place =
		find_entry(merge, KUBELET_OPTION_MOUNT, mount->container_path, out->mount_count);
	if (merge->rc == 0 && place < out->mount_count) {
		const struct kubelet_mount *winner = &out->mounts[place];
		char *kept CLEANUP_FREE =
			describe(merge, winner->host_path, winner->read_only ? "ro" : "rw");
		char *lost CLEANUP_FREE =
			describe(merge, mount->host_path, mount->read_only ? "ro" : "rw");
		if (merge->rc == 0)
			add_conflict(merge,
				     (struct kubelet_conflict){.kind = KUBELET_OPTION_MOUNT,
							       .key = mount->container_path,
							       .winner = kept,
							       .winner_resource = winner->resource,
							       .loser = lost});
		return;
	}
	struct kubelet_mount *entry = grow(merge, &out->mounts, &out->mount_count, sizeof(*entry));
	if (entry != NULL)
		*entry = (struct kubelet_mount){keep(merge, mount->container_path),
						keep(merge, mount->host_path), merge->resource,
						mount->read_only != 0};
}

static void merge_device(struct merge *merge, const V1beta1__DeviceSpec *device)
{
	struct kubelet_container_options *out = merge->out;
	size_t place =
		find_entry(merge, KUBELET_OPTION_DEVICE, device->container_path, out->device_count);
	if (merge->rc == 0 && place < out->device_count) {
		const struct kubelet_device_node *winner = &out->devices[place];
		char *kept CLEANUP_FREE = describe(merge, winner->host_path, winner->permissions);
		char *lost CLEANUP_FREE = describe(merge, device->host_path, device->permissions);
		if (merge->rc == 0)
			add_conflict(merge,
				     (struct kubelet_conflict){.kind = KUBELET_OPTION_DEVICE,
							       .key = device->container_path,
							       .winner = kept,
							       .winner_resource = winner->resource,
							       .loser = lost});
		return;
	}
	struct kubelet_device_node *entry =
		grow(merge, &out->devices, &out->device_count, sizeof(*entry));
	if (entry != NULL)
		*entry = (struct kubelet_device_node){
			keep(merge, device->container_path), keep(merge, device->host_path),
			keep(merge, device->permissions), merge->resource};
}

static void merge_cdi_device(struct merge *merge, bool windows, const char *name)
{
	struct kubelet_container_options *out = merge->out;
	struct kubelet_conflict lost = {
		.kind = KUBELET_OPTION_CDI_DEVICE, .key = name, .loser = name, .dropped = windows};
	size_t place =
		windows ? 0
			: find_entry(merge, KUBELET_OPTION_CDI_DEVICE, name, out->cdi_device_count);
	if (merge->rc == 0 && place < out->cdi_device_count) {
		lost.winner = out->cdi_devices[place].name;
		lost.winner_resource = out->cdi_devices[place].resource;
	}
	if (windows || lost.winner != NULL) {
		add_conflict(merge, lost);
		return;
	}
	struct kubelet_cdi_device *entry =
		grow(merge, &out->cdi_devices, &out->cdi_device_count, sizeof(*entry));
	if (entry != NULL)
		*entry = (struct kubelet_cdi_device){keep(merge, name), merge->resource};
}

static void merge_answer(struct merge *merge, bool windows, const struct kubelet_answer *answer)
{
	const V1beta1__ContainerAllocateResponse *response = answer->response;
	merge->resource = keep(merge, answer->resource);
	for (size_t i = 0; i < response->n_envs; i++)
		merge_pair(merge, KUBELET_OPTION_ENV, response->envs[i]->key,
			   response->envs[i]->value);
	for (size_t i = 0; i < response->n_devices; i++)
		merge_device(merge, response->devices[i]);
	for (size_t i = 0; i < response->n_mounts; i++)
		merge_mount(merge, response->mounts[i]);
	for (size_t i = 0; i < response->n_annotations; i++)
		merge_pair(merge, KUBELET_OPTION_ANNOTATION, response->annotations[i]->key,
			   response->annotations[i]->value);
	for (size_t i = 0; i < response->n_cdi_devices; i++)
		merge_cdi_device(merge, windows, response->cdi_devices[i]->name);
}

int kubelet_container_options_merge(bool windows, const struct kubelet_answer *answers,
				    size_t count, struct kubelet_container_options *out,
				    struct error *err)
{
	struct kubelet_container_options options = {0};
	struct merge merge = {.out = &options, .err = err};
	for (size_t i = 0; i < count; i++)
		merge_answer(&merge, windows, &answers[i]);
	for (size_t kind = 0; kind < KUBELET_OPTION_KINDS; kind++)
		text_index_free(&merge.entries[kind]);
	if (merge.rc != 0) {
		kubelet_container_options_free(&options);
		return merge.rc;
	}
	*out = options;
	return 0;
}

void kubelet_container_options_free(struct kubelet_container_options *options)
{
	free(options->envs);
	free(options->mounts);
	free(options->devices);
	free(options->annotations);
	free(options->cdi_devices);
	free(options->conflicts);
	text_list_free(&options->strings);
	*options = (struct kubelet_container_options){0};
}
