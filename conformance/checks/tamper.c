/* SPDX-License-Identifier: MIT */
#include "conformance/checks/tamper.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/windows_path.h"
#include "conformance/kubelet/each.h"
#include "containers/launch/launch.h"

#include <string.h>

/* Directories of the image that are links into /usr, as image_tree_base() makes them. */
static const char *const merged[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/* Files that the dynamic linker reads in addition to libraries, and the one that probe-ffmpeg runs. An
 * image that lacks one lacks it on purpose. */
static const char *const linker_files[] = {"/etc/ld.so.preload", "/etc/ld.so.cache",
					   "/libexec/gpucert/ffmpeg"};

/* Where the Vulkan loader looks for layers, which it loads before every driver, and for settings
 * that name some: the folders below these that hold vulkan's files. "~": the home folder. */
static const char *const layer_roots[] = {
	"/etc", "/usr/share", "/usr/local/etc", "/usr/local/share", "~/.config", "~/.local/share"};
static const char *const layer_folders[] = {"vulkan/implicit_layer.d", "vulkan/loader_settings.d"};

enum { BETTER_MOUNTS_MAX = 4 };

static const struct {
	const char *name; /* '*' at the end: any name with this prefix */
	const char *reason;
} variables[] = {
	{"LD_LIBRARY_PATH", NULL}, /* judged by where it leads */
	{"LD_BIND_NOW", NULL},	   /* changes when libraries are loaded, not which */
	{"LD_*", "steers the dynamic linker"},
	{"WINE*", "steers Wine"},
	{"GLIBC_TUNABLES", "steers the C library"},
	{"VK_INSTANCE_LAYERS", "puts layers in front of the Vulkan driver"},
	{"VK_LAYER_PATH", "puts layers in front of the Vulkan driver"},
	{"VK_ADD_LAYER_PATH", "puts layers in front of the Vulkan driver"},
	{"VK_IMPLICIT_LAYER_PATH", "puts layers in front of the Vulkan driver"},
	{"VK_ADD_IMPLICIT_LAYER_PATH", "puts layers in front of the Vulkan driver"},
	{"VK_LOADER_LAYERS_ENABLE", "puts layers in front of the Vulkan driver"},
	{"XDG_*", "leads the Vulkan loader to layers of its own"},
	{"OPENCL_LAYERS", "puts layers in front of the OpenCL driver"},
	{"CUDA_INJECTION64_PATH", "puts a library in front of the CUDA driver"},
	{"HSA_TOOLS_LIB", "puts a library in front of the HIP driver"},
	{"ROCP_TOOL_LIB*", "puts a library in front of the HIP driver"},
	{"ZE_ENABLE_TRACING_LAYER", "puts a layer in front of the Level Zero driver"},
	{"ZE_ENABLE_VALIDATION_LAYER", "puts a layer in front of the Level Zero driver"},
};

/* Places where an answer must change nothing, in the order of `places`. */
enum place_kind {
	PLACE_KERNEL,  /* the kernel's own files */
	PLACE_RESULTS, /* the path of the results */
	PLACE_IMAGE,   /* the files of the image, in their order */
	PLACE_LINKER,  /* files that loaders read */
	PLACE_LAYERS,  /* folders of layers */
};

static const char *const first_places[] = {"/proc", "/sys", "/run/gpucert"};

struct tamper {
	const struct grant *grant;
	const struct image_manifest *image;
	struct digest_cache *digests; /* NULL: none */
	struct text_list places;
	struct text_list targets; /* of the mounts, in their order; "" for none */
	struct text_list *found;
	size_t better; /* mounts of libraries for a better processor */
};

/* A mount or device node of an answer. */
struct given {
	const char *what;   /* "mount of /x" */
	const char *source; /* NULL: a device node */
	const char *target; /* a place of the image; "": launch_check_grant() refuses it */
};

static enum place_kind kind_of(const struct tamper *tamper, size_t index)
{
	size_t behind_image = ARRAY_SIZE(first_places) + tamper->image->count;
	if (index < ARRAY_SIZE(first_places))
		return index < 2 ? PLACE_KERNEL : PLACE_RESULTS;
	if (index < behind_image)
		return PLACE_IMAGE;
	return index < behind_image + ARRAY_SIZE(linker_files) ? PLACE_LINKER : PLACE_LAYERS;
}

const char *tamper_variable(const char *variable)
{
	size_t length = strcspn(variable, "=");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		const char *name = variables[i].name;
		size_t fixed = strcspn(name, "*");
		bool long_enough = name[fixed] == '*' ? length >= fixed : length == fixed;
		if (long_enough && strncmp(name, variable, fixed) == 0)
			return variables[i].reason;
	}
	return NULL;
}

/* path_is_within() for paths that are normal already: there are many. */
static bool is_below(const char *path, const char *folder)
{
	size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
	return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The place in the image for a path of the container. */
static char *place_of(const char *path)
{
	char *normal CLEANUP_FREE = path_normalize(path);
	array_each (folder, merged) {
		if (is_below(normal, *folder))
			return text_format("/usr%s", normal);
	}
	return STEAL(normal);
}

/* As place_of(); "" for a path that is not absolute. */
static char *target_of(const char *path)
{
	return path != NULL && path[0] == '/' ? place_of(path) : memory_copy("");
}

/* The host's file that a mount of `source` at `target` puts at `place`, which is at or below the
 * target. */
static char *source_of(const char *source, const char *target, const char *place)
{
	return text_format("%s%s", source, place + (strcmp(target, "/") == 0 ? 0 : strlen(target)));
}

static bool has_content(const struct tamper *tamper, const char *path, const char *digest)
{
	char own[DIGEST_SIZE] = "";
	return digest_cache_file(tamper->digests, path, own, NULL) == 0 && strcmp(own, digest) == 0;
}

/* Adds a sentence if it changes the place; `from` is the host's file that it puts there. */
static void judge_place(struct tamper *tamper, size_t index, const struct given *given,
			const char *from)
{
	const char *place = tamper->places.items[index];
	bool node = given->source == NULL;
	const struct image_manifest_file *file = NULL;
	const char *harm = NULL;
	const char *of = "";
	switch (kind_of(tamper, index)) {
	case PLACE_KERNEL: /* sysfs at its own path changes nothing */
		if (strcmp(given->target, place) == 0 || node ||
		    strcmp(given->source, given->target) != 0)
			harm = "hides what the kernel reports";
		break;
	case PLACE_RESULTS:
		harm = "lies on the path of the results";
		break;
	case PLACE_IMAGE:
		file = &tamper->image->files[index - ARRAY_SIZE(first_places)];
		if (node || !has_content(tamper, from, file->digest))
			harm = "hides the image's ";
		of = file->path;
		break;
	case PLACE_LINKER:
		if (node || file_exists(from))
			harm = "gives the probe its ";
		of = place;
		break;
	case PLACE_LAYERS: /* those of the node's own drivers are at the node's paths */
		place = is_below(given->target, place) ? given->target : place;
		if (!node && strcmp(from, place) != 0 && file_exists(from))
			harm = "puts a layer in front of the driver";
		break;
	}
	if (harm != NULL)
		text_list_addf(tamper->found, "%s at %s %s%s", given->what, given->target, harm,
			       of);
}

/* Adds a sentence for the first place that it changes. */
static void judge_given(struct tamper *tamper, const struct given *given)
{
	size_t before = tamper->found->count;
	if (given->target[0] == '\0')
		return;
	for (size_t i = 0; i < tamper->places.count && tamper->found->count == before; i++) {
		const char *place = tamper->places.items[i];
		enum place_kind kind = kind_of(tamper, i);
		bool inside = kind != PLACE_IMAGE && kind != PLACE_LINKER &&
			      is_below(given->target, place);
		bool over = kind != PLACE_KERNEL && is_below(place, given->target);
		if (place[0] == '\0' || (!inside && !over))
			continue;
		char *from CLEANUP_FREE = NULL;
		if (given->source != NULL && inside)
			from = memory_copy(given->source);
		else if (given->source != NULL)
			from = source_of(given->source, given->target, place);
		judge_place(tamper, i, given, from);
	}
}

/* A folder that the dynamic linker searches before the image's own. */
static void judge_folder(struct tamper *tamper, const char *why, const char *folder)
{
	items_each (file, tamper->image->files, tamper->image->count) {
		char *path CLEANUP_FREE = path_join(folder, path_base(file->path));
		char *place CLEANUP_FREE = place_of(path);

		/* The deepest mount above the place puts a file of the host there. */
		const char *target = "";
		size_t best = 0;
		for (size_t k = 0; k < tamper->targets.count; k++) {
			const char *other = tamper->targets.items[k];
			if (strlen(other) > strlen(target) && is_below(place, other)) {
				target = other;
				best = k;
			}
		}
		if (target[0] == '\0')
			continue;
		char *source CLEANUP_FREE =
			source_of(tamper->grant->mounts.items[best].host_path, target, place);
		if (file_exists(source) && !has_content(tamper, source, file->digest)) {
			text_list_addf(tamper->found, "%s puts %s in front of the image's %s", why,
				       path, file->path);
			return;
		}
	}
}

/* Libraries for a better processor take precedence over all others of their folder. */
static void judge_better_libraries(struct tamper *tamper, const char *path)
{
	static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
	static const char hwcaps[] = "/glibc-hwcaps";
	const char *at = strstr(path, hwcaps);
	if (at == NULL || ++tamper->better > BETTER_MOUNTS_MAX + 1)
		return;
	if (tamper->better == BETTER_MOUNTS_MAX + 1) {
		text_list_addf(tamper->found, "more than %d mounts below %s are not looked at",
			       BETTER_MOUNTS_MAX, hwcaps);
		return;
	}
	array_each (level, levels) {
		char *folder CLEANUP_FREE =
			text_format("%.*s%s/%s", (int)(at - path), path, hwcaps, *level);
		judge_folder(tamper, "glibc-hwcaps", folder);
	}
}

static void find_variables(const struct grant *grant, struct text_list *found)
{
	grant_each (variable, &grant->envs) {
		const char *name = variable->name;
		const char *reason = name != NULL ? tamper_variable(name) : NULL;
		if (reason != NULL)
			text_list_addf(found, "variable %s %s", name, reason);
	}
}

const char *tamper_value(const struct grant *grant, const char *name)
{
	const char *value = NULL;
	grant_each (entry, &grant->envs) {
		if (text_equal(entry->name, name) && entry->value != NULL)
			value = entry->value;
	}
	return value;
}

void tamper_add_loader_places(const struct grant *grant, struct text_list *places)
{
	const char *home = tamper_value(grant, "HOME");
	array_each (file, linker_files)
		text_list_add(places, *file);
	array_each (at, layer_roots) {
		const char *root = *at;
		const char *above = "";
		if (root[0] == '~') {
			above = home != NULL ? home : "/root";
			root++;
		}
		array_each (layers, layer_folders) {
			char *folder CLEANUP_FREE = text_format("%s%s/%s", above, root, *layers);
			text_list_take(places, target_of(folder));
		}
	}
}

static void tamper_close(struct tamper *tamper)
{
	text_list_free(&tamper->places);
	text_list_free(&tamper->targets);
}

void tamper_find(const struct grant *grant, const struct image_manifest *image,
		 struct digest_cache *digests, struct text_list *found)
{
	struct tamper tamper CLEANUP(tamper_close) = {
		.grant = grant, .image = image, .digests = digests, .found = found};
	array_each (place, first_places)
		text_list_add(&tamper.places, *place);
	items_each (file, image->files, image->count)
		text_list_take(&tamper.places, place_of(file->path));
	tamper_add_loader_places(grant, &tamper.places);
	grant_each (mount, &grant->mounts)
		text_list_take(&tamper.targets, target_of(mount->container_path));

	for (size_t i = 0; i < grant->mounts.count; i++) {
		const char *source = grant->mounts.items[i].host_path;
		const char *target = tamper.targets.items[i];
		if (source == NULL)
			continue; /* launch_check_grant() refuses it */
		char *what CLEANUP_FREE = text_format("mount of %s", source);
		judge_given(&tamper, &(struct given){what, source, target});
		judge_better_libraries(&tamper, target);
	}
	grant_each (device, &grant->devices) {
		char *target CLEANUP_FREE = target_of(device->container_path);
		judge_given(&tamper, &(struct given){"device node", NULL, target});
	}
	find_variables(grant, found);

	const char *library_path = tamper_value(grant, "LD_LIBRARY_PATH");
	struct text_list folders CLEANUP_TEXT_LIST = {0};
	if (library_path != NULL)
		text_list_split(&folders, library_path, ':');
	if (folders.count > TAMPER_LIBRARY_FOLDERS_MAX) {
		text_list_addf(found,
			       "LD_LIBRARY_PATH names %zu folders: more than %d are not searched",
			       folders.count, TAMPER_LIBRARY_FOLDERS_MAX);
		return;
	}
	text_each (folder, &folders) {
		char *normal CLEANUP_FREE = path_normalize(folder);
		if (folder[0] == '/')
			judge_folder(&tamper, "LD_LIBRARY_PATH", normal);
	}
}

/* Without drive, in lower case. The image's programs, and the libraries that every program depends on.
 * Libraries of APIs belong to drivers. */
static const char *const own_places[] = {
	"\\gpucert",
	"\\windows\\system32\\ntdll.dll",
	"\\windows\\system32\\kernel32.dll",
	"\\windows\\system32\\kernelbase.dll",
	"\\windows\\system32\\ucrtbase.dll",
	"\\windows\\system32\\msvcrt.dll",
};

static bool windows_is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);
	return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '\\');
}

void tamper_find_windows(const struct grant *grant, struct text_list *found)
{
	grant_each (mount, &grant->mounts) {
		const char *path = mount->container_path != NULL ? mount->container_path : "";
		char *full CLEANUP_FREE = windows_path_place(path);
		const char *place = full + strlen("c:");
		array_each (own, own_places) {
			if (place[0] == '\0' ||
			    (!windows_is_within(place, *own) && !windows_is_within(*own, place)))
				continue;
			text_list_addf(found, "mount of %s at %s hides the image's %s",
				       mount->host_path != NULL ? mount->host_path : "", path,
				       *own);
			break;
		}
	}
	find_variables(grant, found);
}
