/* SPDX-License-Identifier: MIT */
#include "conformance/checks/tamper.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/windows_path.h"
#include "containers/launch/launch.h"

#include <string.h>

/* Directories of the image that are links into /usr, as image_tree_base() makes them. */
static const char *const merged[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/* What the dynamic linker reads beside libraries, and what probe-ffmpeg runs. An image without them
 * has none on purpose. */
static const char *const linker_files[] = {"/etc/ld.so.preload", "/etc/ld.so.cache",
					   "/libexec/gpucert/ffmpeg"};

/* Where the Vulkan loader looks for layers, which it loads in front of every driver, and for
 * settings that name some: the folders below these that hold vulkan's files. "~": the home folder.
 */
static const char *const layer_roots[] = {
	"/etc", "/usr/share", "/usr/local/etc", "/usr/local/share", "~/.config", "~/.local/share"};
static const char *const layer_folders[] = {"vulkan/implicit_layer.d", "vulkan/loader_settings.d"};

enum { BETTER_MOUNTS_MAX = 4 };

static const struct {
	const char *name; /* '*' at the end: each that begins so */
	const char *reason;
} variables[] = {
	{"LD_LIBRARY_PATH", NULL}, /* judged by where it leads */
	{"LD_BIND_NOW", NULL},	   /* changes when, and not what */
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

/* Where nothing of an answer may lie that is not the same anyway, in the order of `places`. */
enum place_kind {
	PLACE_KERNEL,  /* the kernel's own files */
	PLACE_RESULTS, /* the way of the results */
	PLACE_IMAGE,   /* the files of the image, in their order */
	PLACE_LINKER,  /* what the dynamic linker reads, and the like */
	PLACE_LAYERS,  /* folders of layers */
};

static const char *const first_places[] = {"/proc", "/sys", "/run/gpucert"};

struct tamper {
	const struct grant *grant;
	const struct image_manifest *image;
	struct text_list places;
	struct text_list targets; /* of the mounts, in their order; "" for none */
	struct text_list *found;
	size_t better; /* mounts of libraries for a better processor */
};

/* What an answer puts somewhere. */
struct given {
	const char *what;   /* "mount of /x" */
	const char *source; /* NULL: a device node */
	const char *target; /* a place of the image; "": what launch_check_grant() refuses */
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

static bool name_matches(const char *pattern, const char *name, size_t length)
{
	size_t fixed = strcspn(pattern, "*");
	return strncmp(pattern, name, fixed) == 0 &&
	       (pattern[fixed] == '*' ? length >= fixed : length == fixed);
}

const char *tamper_variable(const char *variable)
{
	size_t length = strcspn(variable, "=");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		if (name_matches(variables[i].name, variable, length))
			return variables[i].reason;
	}
	return NULL;
}

/* path_is_within() of paths that are normal already, which are many. */
static bool is_below(const char *path, const char *folder)
{
	size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
	return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The place in the image that a path of the container means. NULL: out of memory. */
static char *place_of(const char *path)
{
	char *normal CLEANUP_FREE = path_normalize(path);
	for (size_t i = 0; normal != NULL && i < ARRAY_SIZE(merged); i++) {
		if (is_below(normal, merged[i]))
			return text_format("/usr%s", normal);
	}
	return STEAL(normal);
}

/* As place_of(); "" for what is not an absolute path. */
static char *target_of(const char *path)
{
	return path != NULL && path[0] == '/' ? place_of(path) : strdup("");
}

/* The host's file that a mount of `source` at `target` puts at `place`, which is at or below the
 * target. NULL: out of memory. */
static char *source_of(const char *source, const char *target, const char *place)
{
	return text_format("%s%s", source, place + (strcmp(target, "/") == 0 ? 0 : strlen(target)));
}

static bool has_content(const char *path, const char *digest)
{
	char own[DIGEST_SIZE] = "";
	return digest_file(path, own, NULL, NULL) == 0 && strcmp(own, digest) == 0;
}

/* Tells that it changes what is at the place, if it does; `from` is what of it lies there. */
static int judge_place(struct tamper *tamper, size_t index, const struct given *given,
		       const char *from, struct error *err)
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
			harm = "hides what the kernel tells";
		break;
	case PLACE_RESULTS:
		harm = "lies on the way of the results";
		break;
	case PLACE_IMAGE:
		file = &tamper->image->files[index - ARRAY_SIZE(first_places)];
		if (node || !has_content(from, file->digest))
			harm = "hides the image's ";
		of = file->path;
		break;
	case PLACE_LINKER:
		if (node || file_exists(from))
			harm = "gives the probe its ";
		of = place;
		break;
	case PLACE_LAYERS: /* those of the node's own drivers lie where the node has them */
		place = is_below(given->target, place) ? given->target : place;
		if (!node && strcmp(from, place) != 0 && file_exists(from))
			harm = "puts a layer in front of the driver";
		break;
	}
	return harm != NULL ? text_list_addf(tamper->found, err, "%s at %s %s%s", given->what,
					     given->target, harm, of)
			    : 0;
}

/* Tells the first place that it changes. */
static int judge_given(struct tamper *tamper, const struct given *given, struct error *err)
{
	size_t before = tamper->found->count;
	int rc = 0;
	for (size_t i = 0; rc == 0 && given->target[0] != '\0' && i < tamper->places.count &&
			   tamper->found->count == before;
	     i++) {
		const char *place = tamper->places.items[i];
		enum place_kind kind = kind_of(tamper, i);
		bool inside = kind != PLACE_IMAGE && kind != PLACE_LINKER &&
			      is_below(given->target, place);
		bool over = kind != PLACE_KERNEL && is_below(place, given->target);
		char *from CLEANUP_FREE = NULL;
		if (place[0] == '\0' || (!inside && !over))
			continue;
		if (given->source != NULL) {
			from = inside ? strdup(given->source)
				      : source_of(given->source, given->target, place);
			if (from == NULL)
				return error_memory(err);
		}
		rc = judge_place(tamper, i, given, from, err);
	}
	return rc;
}

/* The host's file that the answer puts at a path of the container; *source NULL: none. */
static int find_given(const struct tamper *tamper, const char *path, char **source,
		      struct error *err)
{
	char *place CLEANUP_FREE = place_of(path);
	const char *target = "";
	size_t best = 0;
	if (place == NULL)
		return error_memory(err);
	for (size_t i = 0; i < tamper->targets.count; i++) {
		const char *other = tamper->targets.items[i];
		if (strlen(other) > strlen(target) && is_below(place, other)) {
			target = other;
			best = i;
		}
	}
	if (target[0] == '\0')
		return 0;
	*source = source_of(tamper->grant->mounts.items[best].host_path, target, place);
	return *source != NULL ? 0 : error_memory(err);
}

/* A folder that the dynamic linker looks into before the image's own. */
static int judge_folder(struct tamper *tamper, const char *why, const char *folder,
			struct error *err)
{
	for (size_t i = 0; i < tamper->image->count; i++) {
		const struct image_manifest_file *file = &tamper->image->files[i];
		char *path CLEANUP_FREE = path_join(folder, path_base(file->path));
		char *source CLEANUP_FREE = NULL;
		int rc = path != NULL ? find_given(tamper, path, &source, err) : error_memory(err);
		if (rc < 0)
			return rc;
		if (source != NULL && file_exists(source) && !has_content(source, file->digest))
			return text_list_addf(tamper->found, err,
					      "%s puts %s in front of the image's %s", why, path,
					      file->path);
	}
	return 0;
}

static int judge_library_path(struct tamper *tamper, const char *value, struct error *err)
{
	struct text_list folders CLEANUP_TEXT_LIST = {0};
	int rc = text_list_split(&folders, value, ':', err);
	if (rc == 0 && folders.count > TAMPER_LIBRARY_FOLDERS_MAX)
		return text_list_addf(
			tamper->found, err,
			"LD_LIBRARY_PATH names %zu folders: more than %d are not looked at",
			folders.count, TAMPER_LIBRARY_FOLDERS_MAX);
	for (size_t i = 0; rc == 0 && i < folders.count; i++) {
		char *folder CLEANUP_FREE = path_normalize(folders.items[i]);
		if (folder == NULL)
			return error_memory(err);
		if (folders.items[i][0] == '/')
			rc = judge_folder(tamper, "LD_LIBRARY_PATH", folder, err);
	}
	return rc;
}

/* Libraries for a better processor come before all others of their folder. */
static int judge_better_libraries(struct tamper *tamper, const char *path, struct error *err)
{
	static const char *const levels[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
	static const char hwcaps[] = "/glibc-hwcaps";
	const char *at = strstr(path, hwcaps);
	int rc = 0;
	if (at == NULL || ++tamper->better > BETTER_MOUNTS_MAX + 1)
		return 0;
	if (tamper->better == BETTER_MOUNTS_MAX + 1)
		return text_list_addf(tamper->found, err,
				      "more than %d mounts below %s are not looked at",
				      BETTER_MOUNTS_MAX, hwcaps);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(levels); i++) {
		char *folder CLEANUP_FREE =
			text_format("%.*s%s/%s", (int)(at - path), path, hwcaps, levels[i]);
		rc = folder != NULL ? judge_folder(tamper, "glibc-hwcaps", folder, err)
				    : error_memory(err);
	}
	return rc;
}

static int find_variables(const struct grant *grant, struct text_list *found, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < grant->envs.count; i++) {
		const char *name = grant->envs.items[i].name;
		const char *reason = name != NULL ? tamper_variable(name) : NULL;
		if (reason != NULL)
			rc = text_list_addf(found, err, "variable %s %s", name, reason);
	}
	return rc;
}

static int judge_mount(struct tamper *tamper, size_t index, struct error *err)
{
	const struct grant_entry *mount = &tamper->grant->mounts.items[index];
	const char *target = tamper->targets.items[index];
	if (mount->host_path == NULL)
		return 0; /* launch_check_grant() refuses it */
	char *what CLEANUP_FREE = text_format("mount of %s", mount->host_path);
	if (what == NULL)
		return error_memory(err);
	int rc = judge_given(tamper, &(struct given){what, mount->host_path, target}, err);
	return rc == 0 ? judge_better_libraries(tamper, target, err) : rc;
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

int tamper_add_loader_places(const struct grant *grant, struct text_list *places, struct error *err)
{
	const char *home = tamper_value(grant, "HOME");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(linker_files); i++)
		rc = text_list_add(places, linker_files[i], err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(layer_roots) * ARRAY_SIZE(layer_folders);
	     i++) {
		const char *root = layer_roots[i / ARRAY_SIZE(layer_folders)];
		bool at_home = root[0] == '~';
		char *folder CLEANUP_FREE = text_format(
			"%s%s/%s",
			!at_home       ? ""
			: home != NULL ? home
				       : "/root",
			root + (at_home ? 1 : 0), layer_folders[i % ARRAY_SIZE(layer_folders)]);
		rc = folder != NULL ? text_list_take(places, target_of(folder), err)
				    : error_memory(err);
	}
	return rc;
}

static void tamper_close(struct tamper *tamper)
{
	text_list_free(&tamper->places);
	text_list_free(&tamper->targets);
}

int tamper_find(const struct grant *grant, const struct image_manifest *image,
		struct text_list *found, struct error *err)
{
	struct tamper tamper CLEANUP(tamper_close) = {
		.grant = grant, .image = image, .found = found};
	const char *folders = tamper_value(grant, "LD_LIBRARY_PATH");
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(first_places); i++)
		rc = text_list_add(&tamper.places, first_places[i], err);
	for (size_t i = 0; rc == 0 && i < image->count; i++)
		rc = text_list_take(&tamper.places, place_of(image->files[i].path), err);
	if (rc == 0)
		rc = tamper_add_loader_places(grant, &tamper.places, err);
	for (size_t i = 0; rc == 0 && i < grant->mounts.count; i++)
		rc = text_list_take(&tamper.targets,
				    target_of(grant->mounts.items[i].container_path), err);
	for (size_t i = 0; rc == 0 && i < grant->mounts.count; i++)
		rc = judge_mount(&tamper, i, err);
	for (size_t i = 0; rc == 0 && i < grant->devices.count; i++) {
		char *target CLEANUP_FREE = target_of(grant->devices.items[i].container_path);
		rc = target != NULL ? judge_given(&tamper,
						  &(struct given){"device node", NULL, target}, err)
				    : error_memory(err);
	}
	if (rc == 0)
		rc = find_variables(grant, found, err);
	return rc == 0 && folders != NULL ? judge_library_path(&tamper, folders, err) : rc;
}

/* Without drive, in lower case. The image's programs, and what every program stands on. Libraries
 * of APIs come from drivers: they are nobody's but theirs. */
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

static int judge_windows_mount(const struct grant_entry *mount, struct text_list *found,
			       struct error *err)
{
	const char *path = mount->container_path != NULL ? mount->container_path : "";
	char *full CLEANUP_FREE = windows_path_place(path);
	if (full == NULL)
		return error_memory(err);
	const char *place = full + strlen("c:");
	for (size_t i = 0; place[0] != '\0' && i < ARRAY_SIZE(own_places); i++) {
		if (windows_is_within(place, own_places[i]) ||
		    windows_is_within(own_places[i], place))
			return text_list_addf(found, err, "mount of %s at %s hides the image's %s",
					      mount->host_path != NULL ? mount->host_path : "",
					      path, own_places[i]);
	}
	return 0;
}

int tamper_find_windows(const struct grant *grant, struct text_list *found, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < grant->mounts.count; i++)
		rc = judge_windows_mount(&grant->mounts.items[i], found, err);
	return rc == 0 ? find_variables(grant, found, err) : rc;
}
