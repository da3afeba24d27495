/* SPDX-License-Identifier: MIT */
#include "conformance/subject/plugin_process.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "rpc/loop.h"

#include <string.h>

#define PRIVATE_MOUNT "../libexec/gpucert/private-mount"

enum { CAPTURE_MAX = 256 * 1024, GRACE_DEFAULT_MS = 30 * 1000 };

/* The places as the plugin sees them, and the names that they have for it. */
struct seen {
	const char *placeholder, *variables[2];
	char *path; /* NULL: there is none */
};

enum { SEEN_PLUGIN_DIR, SEEN_SOCKET, SEEN_REGISTRY_DIR, SEEN_COUNT };

static const char *standard_dir(const struct plugin_process_spec *spec)
{
	return spec->standard_plugin_dir == NULL ? KUBELET_STANDARD_PLUGIN_DIR
						 : spec->standard_plugin_dir;
}

static int make_seen(const struct plugin_process_spec *spec, struct text_list *paths,
		     struct seen seen[SEEN_COUNT], struct error *err)
{
	const char *directory = spec->private_mounts ? standard_dir(spec) : spec->plugin_dir;
	const char *registry =
		spec->private_mounts ? KUBELET_STANDARD_REGISTRY_DIR : spec->registry_dir;
	int rc = text_list_add(paths, directory, err);
	if (rc == 0)
		rc = text_list_take(paths, path_join(directory, path_base(spec->kubelet_socket)),
				    err);
	if (rc == 0 && spec->registry_dir != NULL)
		rc = text_list_add(paths, registry, err);
	for (size_t i = 0; i < paths->count; i++)
		seen[i].path = paths->items[i];
	return rc;
}

/* A word of the command with its placeholders replaced. NULL: out of memory. */
static char *expand(const char *word, const struct seen seen[SEEN_COUNT])
{
	struct text text CLEANUP_TEXT = {0};
	text_append(&text, "", 0);
	while (*word != '\0') {
		size_t used = 0;
		for (size_t i = 0; i < SEEN_COUNT && used == 0; i++) {
			if (seen[i].path == NULL || !text_starts_with(word, seen[i].placeholder))
				continue;
			text_add(&text, seen[i].path);
			used = strlen(seen[i].placeholder);
		}
		if (used == 0)
			text_append(&text, word, used = 1);
		word += used;
	}
	return text_take(&text);
}

static int add_private_mount(const struct plugin_process_spec *spec, struct text_list *argv,
			     struct error *err)
{
	const char *const words[] = {spec->plugin_dir, standard_dir(spec), spec->registry_dir,
				     KUBELET_STANDARD_REGISTRY_DIR};
	char *program CLEANUP_FREE = NULL;
	int rc = path_beside_program(PRIVATE_MOUNT, &program, err);
	if (rc != 0)
		return rc;
	if (!file_exists(program))
		return error_set(err, ERROR_UNSUPPORTED,
				 "this build has no private mounts: %s is not there", program);
	rc = text_list_add(argv, program, err);
	for (size_t i = 0; rc == 0 && i < (spec->registry_dir == NULL ? 2 : 4); i++)
		rc = text_list_add(argv, words[i], err);
	return rc == 0 ? text_list_add(argv, "--", err) : rc;
}

static int make_argv(const struct plugin_process_spec *spec, const struct seen seen[SEEN_COUNT],
		     struct text_list *argv, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	char *program CLEANUP_FREE = NULL;
	int rc = command_line_split(COMMAND_LINE_HERE, spec->command, &words, err);
	if (rc == 0 && words.count == 0)
		rc = error_set(err, ERROR_ARGUMENT, "it is empty");
	if (rc != 0)
		return error_wrap(err, rc, "plugin command line");
	if (spec->private_mounts) {
		rc = add_private_mount(spec, argv, err);
		/* private-mount can only tell by an exit code that a program is missing. */
		if (rc == 0)
			rc = process_find_program(words.items[0], &program, err);
	}
	for (size_t i = 0; rc == 0 && i < words.count; i++)
		rc = text_list_take(argv, expand(words.items[i], seen), err);
	return rc;
}

/* Names without values: these are not the plugin's. */
static int hide_own(struct text_list *env, struct error *err)
{
	uv_env_item_t *items = NULL;
	int count = 0;
	int rc = uv_os_environ(&items, &count);
	if (rc < 0)
		return error_uv(err, rc, "environment");
	for (int i = 0; rc == 0 && i < count; i++) {
		if (strcmp(items[i].name, "TMPDIR") == 0 ||
		    (text_starts_with(items[i].name, "GPUCERT_") &&
		     strcmp(items[i].name, "GPUCERT_CACHE") != 0))
			rc = text_list_add(env, items[i].name, err);
	}
	uv_os_free_environ(items, count);
	return rc;
}

static int make_env(const struct plugin_process_spec *spec, const struct seen seen[SEEN_COUNT],
		    struct text_list *env, struct error *err)
{
	int rc = hide_own(env, err);
	for (size_t i = 0; i < SEEN_COUNT && seen[i].path != NULL; i++)
		for (size_t n = 0; rc == 0 && n < 2 && seen[i].variables[n] != NULL; n++)
			rc = text_list_take(
				env, text_format("%s=%s", seen[i].variables[n], seen[i].path), err);
	const char *const *own = spec->process.env;
	for (size_t i = 0; rc == 0 && own != NULL && own[i] != NULL; i++)
		rc = text_list_add(env, own[i], err);
	return rc;
}

int plugin_process_start(uv_loop_t *loop, const struct plugin_process_spec *spec,
			 struct process **out, struct error *err)
{
	struct seen seen[SEEN_COUNT] = {
		[SEEN_PLUGIN_DIR] = {"{plugin-dir}",
				     {"DEVICE_PLUGIN_DIR", "PLUGIN_SOCK_DIR"},
				     NULL},
		[SEEN_SOCKET] = {"{kubelet-socket}", {"KUBELET_SOCKET"}, NULL},
		[SEEN_REGISTRY_DIR] = {"{registry-dir}", {"PLUGINS_REGISTRY_DIR"}, NULL},
	};
	struct text_list paths CLEANUP_TEXT_LIST = {0};
	struct text_list argv CLEANUP_TEXT_LIST = {0};
	struct text_list env CLEANUP_TEXT_LIST = {0};
	int rc = make_seen(spec, &paths, seen, err);
	if (rc == 0)
		rc = make_argv(spec, seen, &argv, err);
	if (rc == 0)
		rc = make_env(spec, seen, &env, err);
	if (rc != 0)
		return rc;
	struct process_spec process = spec->process;
	process.argv = (const char *const *)argv.items;
	process.env = (const char *const *)env.items;
	process.capture_max = CAPTURE_MAX;
	if (process.grace_ms == 0)
		process.grace_ms = GRACE_DEFAULT_MS;
	return process_start(loop, &process, out, err);
}

static bool has_ended(void *user)
{
	return process_has_ended(user);
}

int plugin_process_wait(uv_loop_t *loop, struct process *plugin, uint64_t timeout_ms,
			struct error *err)
{
	return loop_wait(loop, has_ended, plugin, timeout_ms, "the end of the plugin", err);
}

int plugin_process_stop(uv_loop_t *loop, struct process *plugin, struct error *err)
{
	process_stop(plugin);
	return plugin_process_wait(loop, plugin, UINT64_MAX, err);
}
