/* SPDX-License-Identifier: MIT */
#include "conformance/subject/plugin_process.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "rpc/loop.h"

#include <string.h>

#define PRIVATE_MOUNT "../libexec/gpucert/private-mount"

enum {
	CAPTURE_DEFAULT = 256 * 1024,
	GRACE_DEFAULT_MS = 30 * 1000,
	KILL_MS = 10 * 1000, /* for SIGKILL to be seen */
};

struct plugin_process {
	uv_loop_t *loop;
	struct process *process;
	uint64_t grace_ms;
	void (*on_line)(bool is_stderr, const char *line, size_t size, void *user);
	void (*on_end)(struct plugin_process *plugin, const struct process_result *result,
		       void *user);
	void *user;
};

/* The places as the plugin sees them. */
struct seen {
	char *plugin_dir, *kubelet_socket;
	char *registry_dir; /* NULL: none */
};

static void seen_free(struct seen *seen)
{
	free(seen->plugin_dir);
	free(seen->kubelet_socket);
	free(seen->registry_dir);
}

static const char *standard_dir(const struct plugin_process_spec *spec)
{
	return spec->standard_plugin_dir == NULL ? KUBELET_STANDARD_PLUGIN_DIR
						 : spec->standard_plugin_dir;
}

static int seen_make(const struct plugin_process_spec *spec, struct seen *seen, struct error *err)
{
	bool private = spec->private_mounts;
	const char *registry = private ? KUBELET_STANDARD_REGISTRY_DIR : spec->registry_dir;
	seen->plugin_dir = strdup(private ? standard_dir(spec) : spec->plugin_dir);
	seen->kubelet_socket =
		private ? path_join(standard_dir(spec), path_base(spec->kubelet_socket))
			: strdup(spec->kubelet_socket);
	if (spec->registry_dir != NULL && (seen->registry_dir = strdup(registry)) == NULL)
		return error_memory(err);
	return seen->plugin_dir == NULL || seen->kubelet_socket == NULL ? error_memory(err) : 0;
}

/* A word of the command with its placeholders replaced. NULL: out of memory. */
static char *expand(const char *word, const struct seen *seen)
{
	const struct {
		const char *name, *value;
	} table[] = {{"{plugin-dir}", seen->plugin_dir},
		     {"{kubelet-socket}", seen->kubelet_socket},
		     {"{registry-dir}", seen->registry_dir}};
	struct text text CLEANUP_TEXT = {0};
	text_append(&text, "", 0);
	while (*word != '\0') {
		size_t used = 0;
		for (size_t i = 0; i < ARRAY_SIZE(table) && used == 0; i++) {
			if (table[i].value == NULL || !text_starts_with(word, table[i].name))
				continue;
			text_add(&text, table[i].value);
			used = strlen(table[i].name);
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
	char *program CLEANUP_FREE = NULL;
	int rc = path_beside_program(PRIVATE_MOUNT, &program, err);
	if (rc != 0)
		return rc;
	if (!file_exists(program))
		return error_set(err, ERROR_UNSUPPORTED,
				 "this build has no private mounts: %s is not there", program);
	rc = text_list_add(argv, program, err);
	if (rc == 0)
		rc = text_list_add(argv, spec->plugin_dir, err);
	if (rc == 0)
		rc = text_list_add(argv, standard_dir(spec), err);
	if (rc == 0 && spec->registry_dir != NULL)
		rc = text_list_add(argv, spec->registry_dir, err);
	if (rc == 0 && spec->registry_dir != NULL)
		rc = text_list_add(argv, KUBELET_STANDARD_REGISTRY_DIR, err);
	return rc == 0 ? text_list_add(argv, "--", err) : rc;
}

#ifdef _WIN32
static int check_program(const char *program, struct error *err)
{
	return error_set(err, ERROR_UNSUPPORTED,
			 "private mounts exist on Linux alone; tell %s its directory with "
			 "{plugin-dir} or DEVICE_PLUGIN_DIR",
			 program);
}
#else
/* private-mount can only tell by an exit code that a program is missing; here it is an error. */
static int check_program(const char *program, struct error *err)
{
	struct text_list directories CLEANUP_TEXT_LIST = {0};
	const char *path = getenv("PATH");
	if (strchr(program, '/') != NULL)
		return file_exists(program)
			       ? 0
			       : error_set(err, ERROR_NOT_FOUND, "%s does not exist", program);
	int rc = text_list_split(&directories, path == NULL ? "" : path, ':', err);
	for (size_t i = 0; rc == 0 && i < directories.count; i++) {
		char *candidate CLEANUP_FREE = path_join(directories.items[i], program);
		if (candidate != NULL && file_exists(candidate))
			return 0;
	}
	return rc != 0 ? rc
		       : error_set(err, ERROR_NOT_FOUND, "%s is in no directory of PATH", program);
}
#endif

static int make_argv(const struct plugin_process_spec *spec, const struct seen *seen,
		     struct text_list *argv, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	int rc = command_line_split(spec->command, &words, err);
	if (rc == 0 && words.count == 0)
		rc = error_set(err, ERROR_ARGUMENT, "it is empty");
	if (rc != 0)
		return error_wrap(err, rc, "plugin command line");
	if (spec->private_mounts) {
		rc = check_program(words.items[0], err);
		if (rc == 0)
			rc = add_private_mount(spec, argv, err);
	}
	for (size_t i = 0; rc == 0 && i < words.count; i++)
		rc = text_list_take(argv, expand(words.items[i], seen), err);
	return rc;
}

static int add_variable(struct text_list *env, const char *name, const char *value,
			struct error *err)
{
	return value == NULL ? 0 : text_list_take(env, text_format("%s=%s", name, value), err);
}

static int make_env(const struct plugin_process_spec *spec, const struct seen *seen,
		    struct text_list *env, struct error *err)
{
	int rc = add_variable(env, "DEVICE_PLUGIN_DIR", seen->plugin_dir, err);
	if (rc == 0)
		rc = add_variable(env, "PLUGIN_SOCK_DIR", seen->plugin_dir, err);
	if (rc == 0)
		rc = add_variable(env, "KUBELET_SOCKET", seen->kubelet_socket, err);
	if (rc == 0)
		rc = add_variable(env, "PLUGINS_REGISTRY_DIR", seen->registry_dir, err);
	for (size_t i = 0; rc == 0 && spec->env != NULL && spec->env[i] != NULL; i++)
		rc = text_list_add(env, spec->env[i], err);
	return rc;
}

static void on_process_line(bool is_stderr, const char *line, size_t size, void *user)
{
	const struct plugin_process *plugin = user;
	plugin->on_line(is_stderr, line, size, plugin->user);
}

static void on_process_end(struct process *process, const struct process_result *result, void *user)
{
	struct plugin_process *plugin = user;
	(void)process;
	if (plugin->on_end != NULL)
		plugin->on_end(plugin, result, plugin->user);
}

int plugin_process_start(uv_loop_t *loop, const struct plugin_process_spec *spec,
			 struct plugin_process **out, struct error *err)
{
	struct text_list argv CLEANUP_TEXT_LIST = {0};
	struct text_list env CLEANUP_TEXT_LIST = {0};
	struct seen seen CLEANUP(seen_free) = {0};
	int rc = seen_make(spec, &seen, err);
	if (rc == 0)
		rc = make_argv(spec, &seen, &argv, err);
	if (rc == 0)
		rc = make_env(spec, &seen, &env, err);
	if (rc != 0)
		return rc;
	struct plugin_process *plugin = calloc(1, sizeof(*plugin));
	if (plugin == NULL)
		return error_memory(err);
	*plugin = (struct plugin_process){.loop = loop,
					  .grace_ms = spec->grace_ms == 0 ? GRACE_DEFAULT_MS
									  : spec->grace_ms,
					  .on_line = spec->on_line,
					  .on_end = spec->on_end,
					  .user = spec->user};
	const struct process_spec process = {
		.argv = (const char *const *)argv.items,
		.env = (const char *const *)env.items,
		.capture_max = spec->capture_max == 0 ? CAPTURE_DEFAULT : spec->capture_max,
		.grace_ms = plugin->grace_ms,
		.pass_fd = -1,
		.on_line = spec->on_line == NULL ? NULL : on_process_line,
		.on_end = on_process_end,
		.user = plugin};
	rc = process_start(loop, &process, &plugin->process, err);
	if (rc != 0) {
		free(plugin);
		return rc;
	}
	*out = plugin;
	return 0;
}

int plugin_process_id(const struct plugin_process *plugin)
{
	return process_id(plugin->process);
}

bool plugin_process_has_ended(const struct plugin_process *plugin)
{
	return process_has_ended(plugin->process);
}

const struct process_result *plugin_process_result(const struct plugin_process *plugin)
{
	return process_result(plugin->process);
}

int plugin_process_signal(struct plugin_process *plugin, int signal, struct error *err)
{
	return process_signal(plugin->process, signal, err);
}

static bool has_ended(void *user)
{
	return plugin_process_has_ended(user);
}

int plugin_process_wait(struct plugin_process *plugin, uint64_t timeout_ms, struct error *err)
{
	return loop_wait(plugin->loop, has_ended, plugin, timeout_ms, "the end of the plugin", err);
}

int plugin_process_stop(struct plugin_process *plugin, struct error *err)
{
	process_stop(plugin->process);
	return plugin_process_wait(plugin, plugin->grace_ms + KILL_MS, err);
}

void plugin_process_free(struct plugin_process *plugin)
{
	if (plugin == NULL)
		return;
	process_free(plugin->process);
	free(plugin);
}
