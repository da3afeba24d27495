/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "conformance/kubelet/tests/rig.h"
#include "conformance/subject/plugin_process.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_SKIPPED = 77 };

#define ABSENT "/var/lib/gpucert-test-absent"

static struct process *start(struct rig *rig, const char *command, const char *standard)
{
	struct process *plugin = NULL;
	const struct plugin_process_spec spec = {
		.command = command,
		.plugin_dir = rig->plugin_dir,
		.kubelet_socket = kubelet_socket(rig->kubelet),
		.registry_dir = file_exists(rig->registry_dir) ? rig->registry_dir : NULL,
		.private_mounts = true,
		.standard_plugin_dir = standard};
	CHECK_OK(plugin_process_start(&rig->loop, &spec, &plugin, ERR));
	return plugin;
}

static void expect_output(struct rig *rig, const char *command, const char *standard,
			  const char *output)
{
	struct process *plugin = start(rig, command, standard);
	CHECK_OK(plugin_process_wait(&rig->loop, plugin, RIG_PATIENCE_MS, ERR));
	UNIT_STRING(text_string(&process_result(plugin)->out), output);
	UNIT_STRING(text_string(&process_result(plugin)->err), "");
	process_free(plugin);
}

/* A plugin that knows the standard directory alone registers with the fake kubelet. */
static void test_hard_coded_plugin_registers(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	char *script CLEANUP_FREE = path_join(rig.directory, "script.json");
	static const char content[] = "{\"plugins\": [{\"device_count\": 2}]}";
	CHECK_OK(file_write_atomic(script, content, strlen(content), 0600, ERR));
	char *command CLEANUP_FREE = text_format(
		GPUCERT_BINARY_DIR "/tests/scripted-plugin %s " ABSENT "/device-plugins " ABSENT
				   "/device-plugins/kubelet.sock",
		script);
	struct process *plugin = start(&rig, command, ABSENT "/device-plugins");
	rig_wait_listed(&rig);
	UNIT_INT(kubelet_resource_status(rig.kubelet, RIG_RESOURCE).allocatable, 2);
	CU_ASSERT_FALSE(file_exists(ABSENT));
	CHECK_OK(plugin_process_stop(&rig.loop, plugin, ERR));
	UNIT_INT(process_result(plugin)->code, 0);
	process_free(plugin);
	CU_ASSERT_FALSE(file_exists(ABSENT));
	rig_close(&rig);
}

/* Variables and placeholders name what the plugin sees, not the directory behind it: upstream's
 * sample plugin serves in PLUGIN_SOCK_DIR and waits there for the kubelet.sock of the standard
 * directory. */
static void test_plugin_is_told_what_it_sees(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	CHECK_OK(file_make_directories(rig.registry_dir, 0750, ERR));
	expect_output(&rig,
		      "sh -c 'echo $PLUGIN_SOCK_DIR $DEVICE_PLUGIN_DIR $KUBELET_SOCKET "
		      "$PLUGINS_REGISTRY_DIR; echo {plugin-dir} {kubelet-socket} {registry-dir}; "
		      "test -S $KUBELET_SOCKET && test -d $PLUGINS_REGISTRY_DIR && echo there'",
		      ABSENT "/dp",
		      ABSENT "/dp " ABSENT "/dp " ABSENT
			     "/dp/kubelet.sock " KUBELET_STANDARD_REGISTRY_DIR "\n" ABSENT
			     "/dp " ABSENT "/dp/kubelet.sock " KUBELET_STANDARD_REGISTRY_DIR
			     "\nthere\n");
	rig_close(&rig);
}

/* What lay beside the directory that had to be made is still there, and can be written. */
static void test_neighbours_stay(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	char *neighbour CLEANUP_FREE = path_join(rig.directory, "neighbour");
	char *file CLEANUP_FREE = path_join(neighbour, "file");
	char *standard CLEANUP_FREE = path_join(rig.directory, "a/b/device-plugins");
	CHECK_OK(file_make_directories(neighbour, 0755, ERR));
	char *link CLEANUP_FREE = path_join(rig.directory, "link");
	CU_ASSERT_EQUAL_FATAL(symlink("neighbour/file", link), 0);
	CHECK_OK(file_write_atomic(file, "text\n", 5, 0600, ERR));
	char *command CLEANUP_FREE =
		text_format("sh -c 'cat %s; echo more >> %s; ls %s'", link, file, standard);
	expect_output(&rig, command, standard, "text\nkubelet.sock\n");
	char *data CLEANUP_FREE = NULL;
	CHECK_OK(file_read(file, 100, &data, NULL, ERR));
	UNIT_STRING(data, "text\nmore\n");
	char *made CLEANUP_FREE = path_join(rig.directory, "a");
	CU_ASSERT_FALSE(file_exists(made));
	rig_close(&rig);
}

static void test_existing_directory_is_covered(void)
{
	struct rig rig;
	rig_start(&rig, KUBELET_PROFILE_1_36);
	char *standard CLEANUP_FREE = path_join(rig.directory, "standard");
	char *inside CLEANUP_FREE = path_join(standard, "host-file");
	CHECK_OK(file_make_directories(standard, 0755, ERR));
	CHECK_OK(file_write_atomic(inside, "", 0, 0600, ERR));
	char *command CLEANUP_FREE = text_format("sh -c 'ls %s; touch %s/x'", standard, standard);
	expect_output(&rig, command, standard, "kubelet.sock\n");
	char *in_standard CLEANUP_FREE = path_join(standard, "x");
	char *in_plugin_dir CLEANUP_FREE = path_join(rig.plugin_dir, "x");
	CU_ASSERT_FALSE(file_exists(in_standard));
	CU_ASSERT(file_exists(in_plugin_dir));
	rig_close(&rig);
}

/* A mount namespace needs CAP_SYS_ADMIN. */
static bool namespaces_are_allowed(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(unshare(CLONE_NEWNS) == 0 ? 0 : 1);
	int status = 1;
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a plugin with the path hard-coded registers", test_hard_coded_plugin_registers},
		{"a plugin is told what it sees", test_plugin_is_told_what_it_sees},
		{"neighbours stay", test_neighbours_stay},
		{"an existing directory is covered", test_existing_directory_is_covered},
		CU_TEST_INFO_NULL};
	if (!namespaces_are_allowed()) {
		(void)printf("skipped: mount namespaces are not allowed here\n");
		return EXIT_SKIPPED;
	}
	return unit_run("private mounts", tests);
}
