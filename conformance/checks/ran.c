/* SPDX-License-Identifier: MIT */
#include "conformance/checks/ran.h"

#include "base/file.h"
#include "base/path.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/visibility.h"
#include "conformance/runner/context.h"
#include "containers/offers.h"

#include <string.h>

enum { FILES_NOTED = 6, SHORT_DIGEST = sizeof("sha256:") - 1 + 12 };

/* Is it the mount of an entry of the answer, or one that came with it? */
static bool is_granted(const struct container_mount *mount, const struct grant *grant)
{
	grant_each (entry, &grant->mounts) {
		struct container_place place = {0};
		char *real CLEANUP_FREE = NULL;
		if (container_host_place(entry->host_path, &place) &&
		    place.device == mount->device && place.inode == mount->inode)
			return true;
		if (mount->host_path != NULL &&
		    file_resolve(NULL, entry->host_path, &real, NULL) == 0 &&
		    path_is_within(mount->host_path, real))
			return true;
	}
	return false;
}

/* The origin of a mapped file, in the words of reports/records.c. NULL: it belongs to the image, or a driver
 * compiled it into a folder of its own. */
static const char *origin_of(struct check_run *run, const struct ran *ran,
			     const struct container_file *file)
{
	const struct image_manifest *image = &check_context(run)->image;
	if (image_manifest_holds(image, file->digest) != NULL)
		return NULL;
	const struct container_mounts *mounts = &ran->view->mounts;
	size_t i = 0;
	while (i < mounts->count && mounts->items[i].id != file->mount)
		i++;
	if (i < mounts->count && strcmp(mounts->items[i].target, "/") != 0)
		return is_granted(&mounts->items[i], ran->grant) ? "answer" : "runtime";
	return image->complete ? NULL : "image";
}

/* Only an image and a runtime write there. */
static bool is_system_path(const char *path)
{
	static const char *const folders[] = {"/bin", "/etc",	  "/lib",  "/lib32", "/lib64",
					      "/opt", "/libexec", "/sbin", "/usr"};
	array_each (folder, folders) {
		if (path_is_within(path, *folder))
			return true;
	}
	return false;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct container_file *)a)->path,
		      ((const struct container_file *)b)->path);
}

static void add_file(struct check_run *run, const struct ran *ran,
		     const struct container_file *file, struct members *files,
		     struct text_list *granted)
{
	const struct discovery_device *device = ran->device;
	const char *origin = origin_of(run, ran, file);
	if (origin == NULL)
		return;

	/* Discovery's entry for the mapped file itself, or else its last file of the same name. */
	const struct discovery_file *found = NULL;
	bool discovered = false;
	for (size_t i = 0; i < device->file_count && !discovered; i++) {
		const struct discovery_file *other = &device->files[i];
		struct container_place place = {0};
		discovered = container_host_place(other->source, &place) &&
			     place.device == file->device && place.inode == file->inode;
		if (discovered || strcmp(path_base(other->destination), path_base(file->path)) == 0)
			found = other;
	}
	if (found != NULL && !discovered) {
		char digest[DIGEST_SIZE] = "";
		discovered =
			digest_cache_file(check_digests(run), found->source, digest, NULL) == 0 &&
			strcmp(digest, file->digest) == 0;
	}

	struct members json = member_object(files, NULL);
	member_string(&json, "path", file->path);
	member_string(&json, "digest", file->digest);
	member_string(&json, "origin", origin);
	member_bool(&json, "discovered", discovered);
	if (strcmp(origin, "image") != 0 &&
	    (!discovered || text_equal(found->origin, "driver-library")))
		text_list_addf(granted, "%s (%.*s)", file->path, SHORT_DIGEST, file->digest);
	if (found != NULL && !discovered)
		check_note(run, "%s: %s is another build than the node's file of that name",
			   device->id, file->path);
}

static void add_files(struct check_run *run, const struct ran *ran, struct members *json)
{
	const struct container_view *view = ran->view;
	struct members files = member_array(json, "files");
	struct text_list granted CLEANUP_TEXT_LIST = {0};
	if (view->file_count > 0)
		qsort(view->files, view->file_count, sizeof(*view->files), by_path);
	items_each (file, view->files, view->file_count)
		add_file(run, ran, file, &files, &granted);

	struct text names CLEANUP_TEXT = {0};
	for (size_t i = 0; i < granted.count && i < FILES_NOTED; i++)
		text_add_item(&names, ", ", granted.items[i]);
	if (granted.count > FILES_NOTED)
		text_addf(&names, " and %zu more", granted.count - FILES_NOTED);
	if (granted.count != 0)
		check_note(run, "%s: the driver of %s came with the answer: %s", ran->device->id,
			   ran->api->name, text_string(&names));
	if (ran->grant->cdi_devices.count != 0)
		check_note(run, "%s: a CDI Spec of the answer has hooks, which the runtime ran",
			   ran->device->id);
}

static void add_drm(struct check_run *run, const struct ran *ran, struct members *json)
{
	struct members list = member_array(json, "drm");
	items_each (drm, ran->view->drm, ran->view->drm_count) {
		struct members client = member_object(&list, NULL);
		struct text_list engines CLEANUP_TEXT_LIST = {0};
		items_each (engine, drm->engines, drm->engine_count)
			text_list_add(&engines, *engine);
		text_list_sort(&engines);
		member_string(&client, "driver", drm->driver);
		member_optional(&client, "pdev", drm->pdev);
		member_item(&client, "engines", json_new_strings(&engines));
		if (engines.count != 0 && strcmp(drm->pdev, ran->device->pci_address) == 0)
			check_note(run,
				   "%s: the kernel counted time of its engine %s for the probe",
				   ran->device->id, engines.items[0]);
	}
}

static bool has_own(const struct discovery_snapshot *node, const struct discovery_device *device,
		    struct container_node *nodes, size_t count)
{
	const struct container_view view = {.nodes = nodes, .node_count = count};
	return visibility_has_own_node(node, device, &(struct observation){.view = &view});
}

static void expect_opened(struct check_run *run, const struct ran *ran)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	const struct discovery_device *device = ran->device;
	const struct container_view *view = ran->view;
	const char *status = json_pointer_string(ran->document, "/work/status");
	if (device->kind == DISCOVERY_SOFTWARE || device->node_count == 0 || node->recorded ||
	    ran->api->enumerates || strcmp(ran->api->name, "ffmpeg") == 0 ||
	    !(text_equal(status, "ok") || text_equal(status, "encoded")) ||
	    has_own(node, device, view->opened, view->opened_count))
		return;

	/* A shared node counts for a device that has no node of its own (WSL, a part of a GPU). */
	bool any = false;
	items_each (opened, view->opened, view->opened_count)
		any = any ||
		      visibility_is_node_of(device, opened->block, opened->major, opened->minor);
	struct text names CLEANUP_TEXT = {0};
	bool owns = false;
	items_each (listed, device->nodes, device->node_count) {
		struct node_file file = {0};
		text_addf(&names, "%s%s", listed != device->nodes ? " or " : "", listed->path);
		if (!node_file_identify(listed->path, &file))
			continue;
		struct container_node own = {.block = file.kind == NODE_FILE_BLOCK,
					     .major = file.major,
					     .minor = file.minor};
		owns = owns || has_own(node, device, &own, 1);
	}
	if (!any || owns)
		check_unsupported(
			run,
			"%s: the probe did not have %s open after its work: that this device did "
			"it is not proven",
			device->id, text_string(&names));
}

void ran_expect(struct check_run *run, const struct ran *ran)
{
	const struct discovery_device *device = ran->device;
	const struct container_view *view = ran->view;
	if (!OFFERS_INSPECTION || view->pid == 0)
		return;

	/* Nodes of the device, each once, as "226:128". */
	struct text_list numbers CLEANUP_TEXT_LIST = {0};
	items_each (node, view->opened, view->opened_count) {
		char number[32] = "";
		(void)snprintf(number, sizeof(number), "%u:%u", node->major, node->minor);
		if (visibility_is_node_of(device, node->block, node->major, node->minor) &&
		    !text_list_has(&numbers, number))
			text_list_add(&numbers, number);
	}
	text_list_sort(&numbers);
	struct members json CLEANUP_MEMBERS = members_new();
	member_string(&json, "ref", device->id);
	member_string(&json, "api", ran->api->name);
	add_files(run, ran, &json);
	member_item(&json, "nodes", json_new_strings(&numbers));
	add_drm(run, ran, &json);
	check_add_record(run, "ran", &json);

	const struct image_manifest *image = &check_context(run)->image;
	items_each (file, view->files, view->file_count) {
		const struct container_mount *mount = container_mount_of(view, file->path);
		if (image->complete && mount != NULL && strcmp(mount->target, "/") == 0 &&
		    is_system_path(file->path) && image_manifest_holds(image, file->digest) == NULL)
			(void)check_expect(run, false, "code that the probe loaded",
					   "the image's, or on a mount",
					   "%s, which was written into the container", file->path);
	}
	expect_opened(run, ran);
}
