/* SPDX-License-Identifier: MIT */
#include "conformance/subject/plugin_process.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "rpc/loop.h"

#include <string.h>

enum { CAPTURE_MAX = 256 * 1024, GRACE_DEFAULT_MS = 30 * 1000 };

enum { SEEN_COUNT = 3 };

/* A path as the plugin sees it, and its names for the plugin. */
struct seen {
	const char *placeholder, *variables[2];
	const char *path; /* NULL: there is none */
};

static const char *standard_dir(const struct plugin_process_spec *spec)
{
	return spec->standard_plugin_dir == NULL ? KUBELET_STANDARD_PLUGIN_DIR
						 : spec->standard_plugin_dir;
}

/* A word of the command with its placeholders replaced. */
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

static int make_argv(const struct plugin_process_spec *spec, const struct seen seen[SEEN_COUNT],
		     struct text_list *argv, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	int rc = command_line_split(COMMAND_LINE_HERE, spec->command, &words, err);
	if (rc == 0 && words.count == 0)
		rc = error_set(err, ERROR_ARGUMENT, "it is empty");
	if (rc != 0)
		return error_wrap(err, rc, "plugin command line");

	if (spec->private_mounts) {
		char *mounter CLEANUP_FREE = NULL;
		rc = path_of_helper("private-mount", &mounter, err);
		if (rc != 0)
			return rc;
		if (!file_exists(mounter))
			return error_set(err, ERROR_UNSUPPORTED,
					 "this build has no private mounts: %s is not there",
					 mounter);
		text_list_add(argv, mounter);
		text_list_add(argv, spec->plugin_dir);
		text_list_add(argv, standard_dir(spec));
		if (spec->registry_dir != NULL) {
			text_list_add(argv, spec->registry_dir);
			text_list_add(argv, KUBELET_STANDARD_REGISTRY_DIR);
		}
		text_list_add(argv, "--");

		/* private-mount could report a missing program only by an exit code. */
		char *program CLEANUP_FREE = NULL;
		rc = process_find_program(words.items[0], &program, err);
		if (rc != 0)
			return rc;
	}
	text_each (word, &words)
		text_list_take(argv, expand(word, seen));
	return 0;
}

int plugin_process_start(uv_loop_t *loop, const struct plugin_process_spec *spec,
			 struct process **out, struct error *err)
{
	const char *directory = spec->private_mounts ? standard_dir(spec) : spec->plugin_dir;
	const char *registry = spec->registry_dir;
	if (registry != NULL && spec->private_mounts)
		registry = KUBELET_STANDARD_REGISTRY_DIR;
	char *socket CLEANUP_FREE = path_join(directory, path_base(spec->kubelet_socket));
	const struct seen seen[SEEN_COUNT] = {
		{"{plugin-dir}", {"DEVICE_PLUGIN_DIR", "PLUGIN_SOCK_DIR"}, directory},
		{"{kubelet-socket}", {"KUBELET_SOCKET"}, socket},
		{"{registry-dir}", {"PLUGINS_REGISTRY_DIR"}, registry},
	};
	struct text_list argv CLEANUP_TEXT_LIST = {0};
	struct text_list env CLEANUP_TEXT_LIST = {0};
	int rc = make_argv(spec, seen, &argv, err);
	if (rc != 0)
		return rc;

	/* A name without '=' unsets the variable. */
	uv_env_item_t *items = NULL;
	int count = 0;
	rc = uv_os_environ(&items, &count);
	if (rc < 0)
		return error_uv(err, rc, "environment");
	for (int i = 0; i < count; i++) {
		if (strcmp(items[i].name, "TMPDIR") == 0 ||
		    (text_starts_with(items[i].name, "GPUCERT_") &&
		     strcmp(items[i].name, "GPUCERT_CACHE") != 0))
			text_list_add(&env, items[i].name);
	}
	uv_os_free_environ(items, count);

	for (size_t i = 0; i < SEEN_COUNT && seen[i].path != NULL; i++)
		for (size_t n = 0; n < 2 && seen[i].variables[n] != NULL; n++)
			text_list_addf(&env, "%s=%s", seen[i].variables[n], seen[i].path);
	const char *const *own = spec->process.env;
	for (size_t i = 0; own != NULL && own[i] != NULL; i++)
		text_list_add(&env, own[i]);
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
