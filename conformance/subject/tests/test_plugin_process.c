/* SPDX-License-Identifier: MIT */
#include "conformance/subject/plugin_process.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "conformance/kubelet/tests/rig.h"

#include <signal.h>

#ifdef _WIN32
#define ECHO_COMMAND	"cmd /c echo {plugin-dir}:{kubelet-socket} {registry-dir}"
#define SHELL_COMMAND	"cmd /c \"echo %DEVICE_PLUGIN_DIR% %KUBELET_SOCKET% %OWN%&exit 4\""
#define HIDDEN_COMMAND	"cmd /c echo %GPUCERT_TOKEN% %TMPDIR%"
#define HIDDEN		"%GPUCERT_TOKEN% %TMPDIR%"
#define LINE_END	"\r\n"
#define NO_PLUGIN	"C:\\windows\\win.ini"
#define NO_PLUGIN_ERROR ERROR_IO
#define PRIVATE_ERROR	ERROR_UNSUPPORTED
#define KILLED		PROCESS_EXITED /* with a code of its own: there are no signals */
#else
#define ECHO_COMMAND	"echo {plugin-dir}:{kubelet-socket} '{registry-dir}'"
#define SHELL_COMMAND	"sh -c 'echo $DEVICE_PLUGIN_DIR $KUBELET_SOCKET $OWN; exit 4'"
#define HIDDEN_COMMAND	"sh -c 'echo ${GPUCERT_TOKEN-hidden} ${TMPDIR-hidden}'"
#define HIDDEN		"hidden hidden"
#define LINE_END	"\n"
#define NO_PLUGIN	"/etc/passwd"
#define NO_PLUGIN_ERROR ERROR_PERMISSION
#define PRIVATE_ERROR	ERROR_NOT_FOUND
#define KILLED		PROCESS_SIGNALLED
#endif

struct watched {
	size_t lines, ends;
	char first[256];
};

static void on_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct watched *watched = user;
	(void)is_stderr;
	if (watched->lines++ == 0)
		(void)snprintf(watched->first, sizeof(watched->first), "%.*s", (int)size, line);
}

static void on_end(struct process *plugin, const struct process_result *result, void *user)
{
	struct watched *watched = user;
	(void)plugin;
	(void)result;
	watched->ends++;
}

static struct plugin_process_spec spec_for(const struct rig *rig, const char *command,
					   struct watched *watched)
{
	return (struct plugin_process_spec){
		.command = command,
		.plugin_dir = rig->plugin_dir,
		.kubelet_socket = kubelet_socket(rig->kubelet),
		.registry_dir = rig->registry_dir,
		.process = {.on_line = on_line, .on_end = on_end, .user = watched}};
}

/* The scripted plugin as a program, with a script from text. Caller frees. */
static char *scripted_command(const struct rig *rig, const char *script, const char *arguments)
{
	char *path CLEANUP_FREE = path_join(rig->directory, "script.json");
	CHECK_OK(file_write_atomic(path, script, strlen(script), 0600, ERR));
	return text_format(GPUCERT_BINARY_DIR "/tests/scripted-plugin %s%s", path, arguments);
}

static void test_own_environment_is_hidden(void)
{
	struct rig rig;
	struct watched watched = {0};
	struct process *plugin = NULL;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	UNIT_INT(uv_os_setenv("GPUCERT_TOKEN", "secret"), 0);
	UNIT_INT(uv_os_setenv("TMPDIR", "/tmp"), 0);
	struct plugin_process_spec spec = spec_for(&rig, HIDDEN_COMMAND, &watched);
	CHECK_OK(plugin_process_start(&rig.loop, &spec, &plugin, ERR));
	CHECK_OK(plugin_process_wait(&rig.loop, plugin, RIG_PATIENCE_MS, ERR));
	UNIT_STRING(watched.first, HIDDEN);
	process_free(plugin);
	UNIT_INT(uv_os_unsetenv("GPUCERT_TOKEN"), 0);
	UNIT_INT(uv_os_unsetenv("TMPDIR"), 0);
	rig_close(&rig);
}

static void test_placeholders_and_environment(void)
{
	struct rig rig;
	struct watched watched = {0};
	struct process *plugin = NULL;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct plugin_process_spec spec = spec_for(&rig, ECHO_COMMAND, &watched);
	CHECK_OK(plugin_process_start(&rig.loop, &spec, &plugin, ERR));
	CHECK_OK(plugin_process_wait(&rig.loop, plugin, RIG_PATIENCE_MS, ERR));
	char *wanted CLEANUP_FREE = text_format("%s:%s %s", rig.plugin_dir,
						kubelet_socket(rig.kubelet), rig.registry_dir);
	UNIT_STRING(watched.first, wanted);
	UNIT_INT(watched.ends, 1);
	UNIT_INT(process_result(plugin)->code, 0);
	process_free(plugin);
	spec.command = SHELL_COMMAND;
	spec.process.env = (const char *const[]){"OWN=mine", NULL};
	CHECK_OK(plugin_process_start(&rig.loop, &spec, &plugin, ERR));
	CHECK_OK(plugin_process_wait(&rig.loop, plugin, RIG_PATIENCE_MS, ERR));
	char *printed CLEANUP_FREE =
		text_format("%s %s mine" LINE_END, rig.plugin_dir, kubelet_socket(rig.kubelet));
	UNIT_STRING(text_string(&process_result(plugin)->out), printed);
	UNIT_INT(process_result(plugin)->code, 4);
	process_free(plugin);
	rig_close(&rig);
}

static void test_plugin_registers_and_is_stopped(void)
{
	struct rig rig;
	struct watched watched = {0};
	struct process *plugin = NULL;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	char *command CLEANUP_FREE =
		scripted_command(&rig, "{\"plugins\": [{\"device_count\": 2}]}", "");
	struct plugin_process_spec spec = spec_for(&rig, command, &watched);
	CHECK_OK(plugin_process_start(&rig.loop, &spec, &plugin, ERR));
	rig_wait_listed(&rig);
	CU_ASSERT(process_id(plugin) > 0);
	CHECK_OK(plugin_process_stop(&rig.loop, plugin, ERR));
	UNIT_INT(process_result(plugin)->end, PROCESS_STOPPED);
	UNIT_INT(process_result(plugin)->code, 0);
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 1);
	process_free(plugin);
	/* Killed, it leaves its socket; a second one comes up beside it. */
	CHECK_OK(plugin_process_start(&rig.loop, &spec, &plugin, ERR));
	rig_wait_listed(&rig);
	CHECK_OK(process_signal(plugin, SIGKILL, ERR));
	CHECK_OK(plugin_process_wait(&rig.loop, plugin, RIG_PATIENCE_MS, ERR));
	UNIT_INT(process_result(plugin)->end, KILLED);
	rig_wait_event(&rig, KUBELET_EVENT_DISCONNECTED, 2);
	process_free(plugin);
	rig_close(&rig);
}

static void test_stubborn_plugin_is_killed(void)
{
	struct rig rig;
	struct watched watched = {0};
	struct process *plugin = NULL;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	char *command CLEANUP_FREE = scripted_command(
		&rig, "{\"on_sigterm\": \"ignore\", \"plugins\": [{\"device_count\": 1}]}", "");
	struct plugin_process_spec spec = spec_for(&rig, command, &watched);
	spec.process.grace_ms = 20;
	CHECK_OK(plugin_process_start(&rig.loop, &spec, &plugin, ERR));
	rig_wait_listed(&rig);
	CHECK_OK(plugin_process_stop(&rig.loop, plugin, ERR));
	UNIT_INT(process_result(plugin)->code, 128 + SIGKILL);
	process_free(plugin);
	rig_close(&rig);
}

static void test_bad_commands(void)
{
	struct rig rig;
	struct watched watched = {0};
	struct process *plugin = NULL;
	struct error err = {0};
	rig_start(&rig, KUBELET_PROFILE_1_36);
	struct plugin_process_spec spec = spec_for(&rig, "  ", &watched);
	UNIT_INT(plugin_process_start(&rig.loop, &spec, &plugin, &err), ERROR_ARGUMENT);
	spec.command = "a 'b";
	UNIT_INT(plugin_process_start(&rig.loop, &spec, &plugin, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, "plugin command line");
	spec.command = "/nonexistent/plugin";
	UNIT_INT(plugin_process_start(&rig.loop, &spec, &plugin, &err), ERROR_NOT_FOUND);
	spec.command = "no-such-program-anywhere";
	UNIT_INT(plugin_process_start(&rig.loop, &spec, &plugin, &err), ERROR_NOT_FOUND);
	spec.private_mounts = true;
	UNIT_INT(plugin_process_start(&rig.loop, &spec, &plugin, &err), PRIVATE_ERROR);
	spec.private_mounts = false;
	spec.command = NO_PLUGIN;
	UNIT_INT(plugin_process_start(&rig.loop, &spec, &plugin, &err), NO_PLUGIN_ERROR);
	rig_close(&rig);
}

UNIT_MAIN("plugin process", {"placeholders and environment", test_placeholders_and_environment},
	  {"our own environment is hidden", test_own_environment_is_hidden},
	  {"a plugin registers and is stopped", test_plugin_registers_and_is_stopped},
	  {"a stubborn plugin is killed", test_stubborn_plugin_is_killed},
	  {"bad commands are errors", test_bad_commands})
