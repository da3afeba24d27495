/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "reference-plugin/answer/answer_internal.h"
#include "reference-plugin/inventory/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct answer_mount {
	V1beta1__Mount mount;
	const char *device; /* whose it is */
	bool additional;    /* from the configuration; may be of either type */
	bool directory;
};

static const struct additional_mounts *additional_of(const struct answer_request *request)
{
	static const struct additional_mounts none;

	return request->rules->additional != NULL ? request->rules->additional : &none;
}

static size_t mounts_wanted(const struct answer_request *request)
{
	size_t wanted = 0;

	for (size_t i = 0; i < request->count; i++)
		wanted += request->devices[i]->file_count + additional_of(request)->count;
	return wanted;
}

static void add_mount(struct answer_mount *mount, const char *device, const char *source,
		      const char *destination)
{
	v1beta1__mount__init(&mount->mount);
	mount->mount.host_path = wire_string(source);
	mount->mount.container_path = wire_string(destination);
	mount->mount.read_only = 1;
	mount->device = device;
}

static size_t add_mounts_of(struct answer_mount *mounts, const struct discovery_device *found,
			    const struct additional_mounts *additional)
{
	size_t count = 0;

	for (size_t i = 0; i < found->file_count; i++) {
		const struct discovery_file *file = &found->files[i];

		add_mount(&mounts[count], found->id, file->source, file->destination);
		mounts[count++].directory = file->directory;
	}
	for (size_t i = 0; i < additional->count; i++) {
		const struct additional_mount *extra = &additional->items[i];

		if (extra->kind != ADDITIONAL_MOUNT_LINUX || !vendor_matches(extra->vendor, found))
			continue;
		add_mount(&mounts[count], found->id, extra->source, extra->destination);
		mounts[count++].additional = true;
	}
	return count;
}

static int by_destination(const void *a, const void *b)
{
	const struct answer_mount *left = a;
	const struct answer_mount *right = b;
	int order = strcmp(left->mount.container_path, right->mount.container_path);

	if (order == 0)
		order = (int)left->additional - (int)right->additional;
	if (order == 0)
		order = strcmp(left->mount.host_path, right->mount.host_path);
	return order != 0 ? order : strcmp(left->device, right->device);
}

/* Mounts of a container hold at most one source for each destination. */
static int drop_repeats(struct answer_mount *mounts, size_t *count, struct error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		const struct answer_mount *last = kept > 0 ? &mounts[kept - 1] : NULL;
		const struct answer_mount *next = &mounts[i];

		if (last == NULL ||
		    strcmp(last->mount.container_path, next->mount.container_path) != 0) {
			mounts[kept++] = *next;
			continue;
		}
		if (strcmp(last->mount.host_path, next->mount.host_path) == 0 ||
		    last->additional != next->additional)
			continue;
		return error_set(
			err, ERROR_UNSUPPORTED,
			"devices '%s' and '%s' need different files at '%s': '%s' and '%s'",
			last->device, next->device, last->mount.container_path,
			last->mount.host_path, next->mount.host_path);
	}
	*count = kept;
	return 0;
}

static int check_source(const struct answer_host *host, const struct answer_mount *mount,
			struct error *err)
{
	struct stat status;

	if (answer_stat(host, mount->mount.host_path, &status) != 0)
		return error_set(err, ERROR_IO, "device '%s' needs '%s': %s", mount->device,
				 mount->mount.host_path, strerror(errno));
	if (mount->additional ? !S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)
			      : mount->directory != (S_ISDIR(status.st_mode) != 0))
		return error_set(err, ERROR_IO, "device '%s' needs '%s', which is not a %s",
				 mount->device, mount->mount.host_path,
				 mount->additional  ? "file or directory"
				 : mount->directory ? "directory"
						    : "file");
	return 0;
}

int answer_add_mounts(struct answer *answer, const struct answer_request *request,
		      struct error *err)
{
	size_t wanted = mounts_wanted(request);
	size_t mounts = 0;
	int rc = 0;

	answer->mounts = calloc(wanted + 1, sizeof(*answer->mounts));
	answer->message.mounts = calloc(wanted + 1, sizeof(V1beta1__Mount *));
	if (answer->mounts == NULL || answer->message.mounts == NULL)
		return error_memory(err);
	for (size_t i = 0; i < request->count; i++)
		mounts += add_mounts_of(&answer->mounts[mounts], request->devices[i],
					additional_of(request));
	qsort(answer->mounts, mounts, sizeof(*answer->mounts), by_destination);
	rc = drop_repeats(answer->mounts, &mounts, err);
	for (size_t i = 0; rc == 0 && i < mounts; i++) {
		if (!request->host->recorded)
			rc = check_source(request->host, &answer->mounts[i], err);
		answer->message.mounts[i] = &answer->mounts[i].mount;
	}
	answer->message.n_mounts = mounts;
	return rc;
}
