/* SPDX-License-Identifier: MIT */
/*
 * The files of Windows drivers that a container lacks: what the driver's registry keys name
 * (CopyToVm*), what the configuration adds, and what is known to be worth having. Each is mounted
 * read-only under a bare name into System32, or into SysWOW64 for 32-bit programs.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/windows_path.h"
#include "reference-plugin/answer/answer_internal.h"
#include "reference-plugin/inventory/wire.h"

#include <string.h>
#include <strings.h>

/* In order of precedence. */
enum source { SOURCE_REGISTRY, SOURCE_CONFIGURATION, SOURCE_BUILT_IN };

struct answer_file {
	V1beta1__Mount mount;
	const char *device; /* whose it is */
	enum source from;
	size_t order; /* in which it was found */
};

/* Tools that lie in the driver's directory and that no registry key names. */
static const struct {
	const char *vendor;
	const char *source;
	const char *destination;
} built_in[] = {
	{"0x10de", "nvidia-smi.exe", WINDOWS_SYSTEM32 "\\nvidia-smi.exe"},
	{"0x10de", "vulkaninfo-x64.exe", WINDOWS_SYSTEM32 "\\vulkaninfo.exe"},
	{"0x10de", "vulkaninfo-x86.exe", WINDOWS_SYSWOW64 "\\vulkaninfo.exe"},
};

struct collection {
	struct answer *answer;
	const struct answer_request *request;
	size_t count;
	struct error *err;
};

static int warn(struct collection *collection, char *warning)
{
	return text_list_take(&collection->answer->warnings, warning, collection->err);
}

static void add_file(struct collection *collection, const struct discovery_device *device,
		     enum source from, const char *source, const char *destination)
{
	struct answer_file *file = &collection->answer->files[collection->count];

	v1beta1__mount__init(&file->mount);
	file->mount.host_path = wire_string(source);
	file->mount.container_path = wire_string(destination);
	file->mount.read_only = 1;
	file->device = device->id;
	file->from = from;
	file->order = collection->count++;
}

/* Why a file that a driver names is not mounted; NULL when nothing speaks against it. Discovery
 * has looked as well; but what is mounted from the node into a container is judged where it is
 * decided, and recorded nodes come from anywhere. */
static const char *objection(const struct discovery_device *device,
			     const struct discovery_file *file)
{
	bool wow64 = windows_path_is_in(file->destination, WINDOWS_SYSWOW64);

	if (!wow64 && !windows_path_is_in(file->destination, WINDOWS_SYSTEM32))
		return "its destination is not a file in System32 or SysWOW64";
	if (wow64 ? file->bits == 64 : file->bits == 32)
		return wow64 ? "64-bit files do not belong into SysWOW64"
			     : "32-bit files do not belong into System32";
	if (file->directory)
		return "it is a directory";
	if (!windows_path_is_absolute(file->source))
		return "its source is not an absolute path without '..'";
	if (device->driver_store_path[0] != '\0' &&
	    !windows_path_is_within(file->source, device->driver_store_path))
		return "its source is not in the driver's directory";
	return NULL;
}

static int add_registry_files(struct collection *collection, const struct discovery_device *device)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < device->file_count; i++) {
		const struct discovery_file *file = &device->files[i];
		const char *why = objection(device, file);

		if (why == NULL)
			add_file(collection, device, SOURCE_REGISTRY, file->source,
				 file->destination);
		else
			rc = warn(collection,
				  text_format("device '%s': '%s' is not mounted at '%s': %s",
					      device->id, file->source, file->destination, why));
	}
	return rc;
}

/* A file that is named relative to the driver's directory. */
static int add_store_file(struct collection *collection, const struct discovery_device *device,
			  enum source from, const char *relative, const char *destination)
{
	struct text_list *strings = &collection->answer->strings;
	int rc = 0;

	if (!windows_path_is_absolute(device->driver_store_path)) {
		if (from == SOURCE_BUILT_IN)
			return 0;
		return warn(collection, text_format("device '%s': '%s' is not mounted: where its "
						    "driver lies is not known",
						    device->id, relative));
	}
	rc = text_list_take(strings, text_format("%s\\%s", device->driver_store_path, relative),
			    collection->err);
	if (rc == 0)
		add_file(collection, device, from, strings->items[strings->count - 1], destination);
	return rc;
}

static int add_configured_files(struct collection *collection,
				const struct discovery_device *device)
{
	const struct additional_mounts *mounts = collection->request->rules->additional;
	int rc = 0;

	for (size_t i = 0; rc == 0 && mounts != NULL && i < mounts->count; i++) {
		const struct additional_mount *mount = &mounts->items[i];

		if (mount->kind != ADDITIONAL_MOUNT_LINUX && vendor_matches(mount->vendor, device))
			rc = add_store_file(collection, device, SOURCE_CONFIGURATION, mount->source,
					    mount->destination);
	}
	return rc;
}

static int add_built_in_files(struct collection *collection, const struct discovery_device *device)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(built_in); i++) {
		if (vendor_matches(built_in[i].vendor, device))
			rc = add_store_file(collection, device, SOURCE_BUILT_IN, built_in[i].source,
					    built_in[i].destination);
	}
	return rc;
}

static int by_destination(const void *a, const void *b)
{
	const struct answer_file *left = a;
	const struct answer_file *right = b;
	int order = strcasecmp(left->mount.container_path, right->mount.container_path);

	if (order == 0)
		order = (int)left->from - (int)right->from;
	return order != 0 ? order : (left->order > right->order) - (left->order < right->order);
}

static int warn_of_missing(struct collection *collection, const struct answer_file *file)
{
	if (file->from == SOURCE_BUILT_IN)
		return 0;
	return warn(collection,
		    text_format("device '%s': '%s' is not mounted at '%s': it does not exist",
				file->device, file->mount.host_path, file->mount.container_path));
}

/* A missing source would become an empty directory in the container. */
static int drop_missing(struct collection *collection)
{
	struct answer_file *files = collection->answer->files;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < collection->count; i++) {
		if (collection->request->host->recorded || file_exists(files[i].mount.host_path))
			files[kept++] = files[i];
		else
			rc = warn_of_missing(collection, &files[i]);
	}
	collection->count = kept;
	return rc;
}

static int warn_of_loser(struct collection *collection, const struct answer_file *winner,
			 const struct answer_file *loser)
{
	if (loser->from == SOURCE_BUILT_IN ||
	    strcasecmp(winner->mount.host_path, loser->mount.host_path) == 0)
		return 0;
	return warn(collection,
		    text_format("device '%s': '%s' is not mounted at '%s': device '%s' "
				"has '%s' there",
				loser->device, loser->mount.host_path, loser->mount.container_path,
				winner->device, winner->mount.host_path));
}

/* The names of files in System32 do not depend on case. */
static int drop_repeats(struct collection *collection)
{
	struct answer_file *files = collection->answer->files;
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < collection->count; i++) {
		const struct answer_file *last = kept > 0 ? &files[kept - 1] : NULL;

		if (last == NULL ||
		    strcasecmp(last->mount.container_path, files[i].mount.container_path) != 0)
			files[kept++] = files[i];
		else
			rc = warn_of_loser(collection, last, &files[i]);
	}
	collection->count = kept;
	return rc;
}

static size_t files_wanted(const struct answer_request *request)
{
	const struct additional_mounts *additional = request->rules->additional;
	size_t each = ARRAY_SIZE(built_in) + (additional != NULL ? additional->count : 0);
	size_t wanted = 0;

	for (size_t i = 0; i < request->count; i++)
		wanted += request->devices[i]->file_count + each;
	return wanted;
}

int answer_add_driver_files(struct answer *answer, const struct answer_request *request,
			    struct error *err)
{
	struct collection collection = {.answer = answer, .request = request, .err = err};
	size_t wanted = files_wanted(request);
	int rc = 0;

	answer->files = calloc(wanted + 1, sizeof(*answer->files));
	answer->message.mounts = calloc(wanted + 1, sizeof(V1beta1__Mount *));
	if (answer->files == NULL || answer->message.mounts == NULL)
		return error_memory(err);
	for (size_t i = 0; rc == 0 && i < request->count; i++) {
		rc = add_registry_files(&collection, request->devices[i]);
		if (rc == 0)
			rc = add_configured_files(&collection, request->devices[i]);
		if (rc == 0)
			rc = add_built_in_files(&collection, request->devices[i]);
	}
	if (rc == 0)
		rc = drop_missing(&collection);
	qsort(answer->files, collection.count, sizeof(*answer->files), by_destination);
	if (rc == 0)
		rc = drop_repeats(&collection);
	for (size_t i = 0; i < collection.count; i++)
		answer->message.mounts[i] = &answer->files[i].mount;
	answer->message.n_mounts = collection.count;
	return rc;
}
