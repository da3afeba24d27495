/* SPDX-License-Identifier: MIT */
#include "conformance/checks/tamper.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/launch/launch.h"

#include <string.h>

/* Directories of the image that are links into /usr, as image_tree_base() makes them. */
static const char *const merged[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/* What the dynamic linker reads beside libraries. An image without them has none on purpose. */
static const char *const linker_files[] = {"/etc/ld.so.preload", "/etc/ld.so.cache"};

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
};

struct tamper {
	const struct grant *grant;
	const struct image_manifest *image;
	struct text_list places;  /* of the files of the image, in their order */
	struct text_list targets; /* of the mounts, in their order; "" for none */
	struct text_list layers;  /* folders of layers, as places */
	struct text_list *found;
	size_t better; /* mounts of libraries for a better processor */
};

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

static int tamper_tell(struct tamper *tamper, struct error *err, const char *format, ...)
	PRINTF_LIKE(3, 4);

static int tamper_tell(struct tamper *tamper, struct error *err, const char *format, ...)
{
	struct text sentence CLEANUP_TEXT = {0};
	va_list args;

	va_start(args, format);
	text_vaddf(&sentence, format, args);
	va_end(args);
	return text_list_take(tamper->found, text_take(&sentence), err);
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

/* `source` NULL: a device node. `target` is a place of the image. */
static int judge_image_files(struct tamper *tamper, const char *what, const char *source,
			     const char *target, struct error *err)
{
	for (size_t i = 0; i < tamper->image->count; i++) {
		const struct image_manifest_file *file = &tamper->image->files[i];
		const char *place = tamper->places.items[i];
		char *from CLEANUP_FREE = NULL;

		if (!is_below(place, target))
			continue;
		from = source != NULL ? source_of(source, target, place) : strdup("");
		if (from == NULL)
			return error_memory(err);
		if (source == NULL || !has_content(from, file->digest))
			return tamper_tell(tamper, err, "%s at %s hides the image's %s", what,
					   target, file->path);
	}
	return 0;
}

static int judge_linker_files(struct tamper *tamper, const char *what, const char *source,
			      const char *target, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(linker_files); i++) {
		char *from CLEANUP_FREE = NULL;

		if (!is_below(linker_files[i], target))
			continue;
		from = source != NULL ? source_of(source, target, linker_files[i]) : strdup("/");
		if (from == NULL)
			return error_memory(err);
		if (file_exists(from))
			return tamper_tell(tamper, err, "%s at %s gives the dynamic linker its %s",
					   what, target, linker_files[i]);
	}
	return 0;
}

/* Layers of the node's own drivers lie where the node has them. */
static int judge_layer_folder(struct tamper *tamper, const char *what, const char *source,
			      const char *target, const char *folder, struct error *err)
{
	bool below = is_below(target, folder);
	char *from CLEANUP_FREE = NULL;

	if (folder[0] == '\0' || (!below && !is_below(folder, target)))
		return 0;
	from = below ? strdup(source) : source_of(source, target, folder);
	if (from == NULL)
		return error_memory(err);
	return strcmp(from, below ? target : folder) != 0 && file_exists(from)
		       ? tamper_tell(tamper, err, "%s at %s puts a layer in front of the driver",
				     what, target)
		       : 0;
}

static int judge_layers(struct tamper *tamper, const char *what, const char *source,
			const char *target, struct error *err)
{
	size_t before = tamper->found->count;
	int rc = 0;

	for (size_t i = 0; source != NULL && rc == 0 && tamper->found->count == before &&
			   i < tamper->layers.count;
	     i++)
		rc = judge_layer_folder(tamper, what, source, target, tamper->layers.items[i], err);
	return rc;
}

/* `target` is a place of the image; "": what launch_check_spec() refuses. */
static int judge_target(struct tamper *tamper, const char *what, const char *source,
			const char *target, struct error *err)
{
	static const char *const kernels[] = {"/proc", "/sys"};
	int rc = 0;

	if (target[0] == '\0')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++) {
		if (is_below(target, kernels[i]) && (strcmp(target, kernels[i]) == 0 ||
						     source == NULL || strcmp(source, target) != 0))
			return tamper_tell(tamper, err, "%s at %s hides what the kernel tells",
					   what, target);
	}
	if (is_below(LAUNCH_HOLD_PATH, target) || is_below(target, "/run/gpucert"))
		return tamper_tell(tamper, err, "%s at %s lies on the way of the results", what,
				   target);
	rc = judge_image_files(tamper, what, source, target, err);
	rc = rc == 0 ? judge_linker_files(tamper, what, source, target, err) : rc;
	return rc == 0 ? judge_layers(tamper, what, source, target, err) : rc;
}

/* The host's file that the answer puts at a path of the container; NULL: none, or out of memory,
 * and then *failed. */
static char *given_at(const struct tamper *tamper, const char *path, bool *failed)
{
	char *place CLEANUP_FREE = place_of(path);
	const char *target = "";
	size_t best = 0;
	char *source = NULL;

	*failed = place == NULL;
	for (size_t i = 0; !*failed && i < tamper->targets.count; i++) {
		const char *other = tamper->targets.items[i];

		if (strlen(other) > strlen(target) && is_below(place, other)) {
			target = other;
			best = i;
		}
	}
	if (*failed || target[0] == '\0')
		return NULL;
	source = source_of(tamper->grant->mounts.items[best].host_path, target, place);
	*failed = source == NULL;
	return source;
}

/* A folder that the dynamic linker looks into before the image's own. */
static int judge_folder(struct tamper *tamper, const char *why, const char *folder,
			struct error *err)
{
	for (size_t i = 0; i < tamper->image->count; i++) {
		const struct image_manifest_file *file = &tamper->image->files[i];
		char *path CLEANUP_FREE = path_join(folder, path_base(file->path));
		char *source CLEANUP_FREE = NULL;
		bool failed = path == NULL;

		source = !failed ? given_at(tamper, path, &failed) : NULL;
		if (failed)
			return error_memory(err);
		if (source != NULL && file_exists(source) && !has_content(source, file->digest))
			return tamper_tell(tamper, err, "%s puts %s in front of the image's %s",
					   why, path, file->path);
	}
	return 0;
}

static int judge_library_path(struct tamper *tamper, const char *value, struct error *err)
{
	struct text_list folders CLEANUP_TEXT_LIST = {0};
	int rc = text_list_split(&folders, value, ':', err);

	if (rc == 0 && folders.count > TAMPER_LIBRARY_FOLDERS_MAX)
		return tamper_tell(tamper, err,
				   "LD_LIBRARY_PATH names %zu folders: more than %d are not "
				   "looked at",
				   folders.count, TAMPER_LIBRARY_FOLDERS_MAX);
	for (size_t i = 0; rc == 0 && i < folders.count; i++) {
		char *folder CLEANUP_FREE =
			folders.items[i][0] == '/' ? path_normalize(folders.items[i]) : strdup("");

		if (folder == NULL)
			return error_memory(err);
		if (folder[0] != '\0')
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

	if (at != NULL && ++tamper->better > BETTER_MOUNTS_MAX)
		return tamper->better > BETTER_MOUNTS_MAX + 1
			       ? 0
			       : tamper_tell(tamper, err,
					     "more than %d mounts below %s are not looked at",
					     BETTER_MOUNTS_MAX, hwcaps);

	for (size_t i = 0; rc == 0 && at != NULL && i < ARRAY_SIZE(levels); i++) {
		char *folder CLEANUP_FREE =
			text_format("%.*s%s/%s", (int)(at - path), path, hwcaps, levels[i]);

		rc = folder != NULL ? judge_folder(tamper, "glibc-hwcaps", folder, err)
				    : error_memory(err);
	}
	return rc;
}

static int judge_variable(struct tamper *tamper, const struct grant_entry *variable,
			  struct error *err)
{
	const char *reason = variable->name != NULL ? tamper_variable(variable->name) : NULL;

	if (reason != NULL)
		return tamper_tell(tamper, err, "variable %s %s", variable->name, reason);
	return text_equal(variable->name, "LD_LIBRARY_PATH") && variable->value != NULL
		       ? judge_library_path(tamper, variable->value, err)
		       : 0;
}

static int judge_mount(struct tamper *tamper, size_t index, struct error *err)
{
	const struct grant_entry *mount = &tamper->grant->mounts.items[index];
	const char *target = tamper->targets.items[index];
	char *what CLEANUP_FREE = NULL;
	int rc = 0;

	if (mount->host_path == NULL)
		return 0; /* launch_check_spec() refuses it */
	what = text_format("mount of %s", mount->host_path);
	rc = what != NULL ? judge_target(tamper, what, mount->host_path, target, err)
			  : error_memory(err);
	return rc == 0 ? judge_better_libraries(tamper, target, err) : rc;
}

static void tamper_close(struct tamper *tamper)
{
	text_list_free(&tamper->places);
	text_list_free(&tamper->targets);
	text_list_free(&tamper->layers);
}

/* The home folder of the probe: the last one counts. */
static const char *tamper_home(const struct grant *grant)
{
	const char *home = "/root";

	for (size_t i = 0; i < grant->envs.count; i++) {
		if (text_equal(grant->envs.items[i].name, "HOME") &&
		    grant->envs.items[i].value != NULL)
			home = grant->envs.items[i].value;
	}
	return home;
}

static int tamper_add_layers(const struct grant *grant, struct text_list *places, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(layer_roots) * ARRAY_SIZE(layer_folders);
	     i++) {
		const char *root = layer_roots[i / ARRAY_SIZE(layer_folders)];
		bool homely = root[0] == '~';
		char *folder CLEANUP_FREE = text_format(
			"%s%s/%s", homely ? tamper_home(grant) : "", root + (homely ? 1 : 0),
			layer_folders[i % ARRAY_SIZE(layer_folders)]);

		rc = folder != NULL ? text_list_take(places, target_of(folder), err)
				    : error_memory(err);
	}
	return rc;
}

int tamper_add_loader_places(const struct grant *grant, struct text_list *places, struct error *err)
{
	int rc = tamper_add_layers(grant, places, err);

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(linker_files); i++)
		rc = text_list_add(places, linker_files[i], err);
	return rc;
}

int tamper_find(const struct grant *grant, const struct image_manifest *image,
		struct text_list *found, struct error *err)
{
	struct tamper tamper CLEANUP(tamper_close) = {
		.grant = grant, .image = image, .found = found};
	int rc = tamper_add_layers(grant, &tamper.layers, err);

	for (size_t i = 0; rc == 0 && i < image->count; i++)
		rc = text_list_take(&tamper.places, place_of(image->files[i].path), err);
	for (size_t i = 0; rc == 0 && i < grant->mounts.count; i++)
		rc = text_list_take(&tamper.targets,
				    target_of(grant->mounts.items[i].container_path), err);
	for (size_t i = 0; rc == 0 && i < grant->mounts.count; i++)
		rc = judge_mount(&tamper, i, err);
	for (size_t i = 0; rc == 0 && i < grant->devices.count; i++) {
		char *target CLEANUP_FREE = target_of(grant->devices.items[i].container_path);

		rc = target != NULL ? judge_target(&tamper, "device node", NULL, target, err)
				    : error_memory(err);
	}
	for (size_t i = 0; rc == 0 && i < grant->envs.count; i++)
		rc = judge_variable(&tamper, &grant->envs.items[i], err);
	return rc;
}
