/* SPDX-License-Identifier: MIT */
/* What the private runtime is made of, without starting one. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "containers/runtime/remains.h"
#include "containers/runtime/runtime_internal.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *temporary(void)
{
	char *directory = NULL;
	CU_ASSERT_EQUAL_FATAL(file_make_temporary("/tmp", "gpucert-", &directory, NULL), 0);
	return directory;
}

static void test_stat_lines(void)
{
	static const struct {
		const char *line;
		int rc;
		char letter;
		unsigned long long start;
	} cases[] = {
		{"7 (sh) S 1 7 7 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 123456 9 9", 0, 'S', 123456},
		/* A program may call itself anything. */
		{"7 (a) Z 9 (b)) R 1 7 7 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 42 9", 0, 'R', 42},
		{"7 (sh) S 1 7 7", ERROR_FORMAT, 0, 0},
		{"7 sh S", ERROR_FORMAT, 0, 0},
		{"7 (sh)", ERROR_FORMAT, 0, 0},
		{"7 (sh) S 1 7 7 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 x", ERROR_FORMAT, 0, 0},
		{"", ERROR_FORMAT, 0, 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char letter = 0;
		uint64_t start = 0;
		UNIT_INT(owner_parse_stat(cases[i].line, &letter, &start, NULL), cases[i].rc);
		if (cases[i].rc == 0) {
			UNIT_INT(letter, cases[i].letter);
			UNIT_INT(start, cases[i].start);
		}
	}
}

/* Writes this process as the owner, then replaces one member. */
static enum owner_state state_with(const char *key, cJSON *value)
{
	char *directory CLEANUP_FREE = temporary();
	char *path CLEANUP_FREE = path_join(directory, OWNER_FILE);
	char *cri CLEANUP_FREE = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	enum owner_state state = OWNER_FOREIGN;
	struct error err = {0};
	CU_ASSERT_EQUAL(owner_write(directory, NULL, &err), 0);
	CU_ASSERT_EQUAL_FATAL(json_read_file(path, &json, &err), 0);
	if (key != NULL)
		CU_ASSERT_TRUE(cJSON_ReplaceItemInObject(json, key, value));
	CU_ASSERT_EQUAL(json_write_file(path, json, &err), 0);
	UNIT_INT(owner_read(directory, &state, &cri, &err), 0);
	CU_ASSERT_PTR_NULL(cri);
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
	return state;
}

static void test_owners(void)
{
	UNIT_INT(state_with(NULL, NULL), OWNER_ALIVE);
	UNIT_INT(state_with("startTime", cJSON_CreateNumber(1)), OWNER_DEAD);
	UNIT_INT(state_with("boot", cJSON_CreateString("another boot")), OWNER_DEAD);
	UNIT_INT(state_with("pidNamespace", cJSON_CreateNumber(1)), OWNER_FOREIGN);
	UNIT_INT(state_with("pid", cJSON_CreateNumber(INT32_MAX)), OWNER_DEAD);
}

static void test_owner_files_that_cannot_be_read(void)
{
	char *directory CLEANUP_FREE = temporary();
	char *path CLEANUP_FREE = path_join(directory, OWNER_FILE);
	char *cri CLEANUP_FREE = NULL;
	enum owner_state state = OWNER_ALIVE;
	struct error err = {0};
	UNIT_INT(owner_read(directory, &state, &cri, &err), ERROR_NOT_FOUND);
	CU_ASSERT_EQUAL(file_write_atomic(path, "{\"pid\":-1}", 10, 0600, NULL), 0);
	UNIT_INT(owner_read(directory, &state, &cri, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "pid");
	UNIT_CONTAINS(err.text, path);
	CU_ASSERT_EQUAL(owner_write(directory, "unix:///run/x.sock", &err), 0);
	UNIT_INT(owner_read(directory, &state, &cri, &err), 0);
	UNIT_STRING(cri, "unix:///run/x.sock");
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
}

static void test_run_directories(void)
{
	char *base CLEANUP_FREE = temporary();
	char *run CLEANUP_FREE = NULL;
	char *other CLEANUP_FREE = NULL;
	char *work CLEANUP_FREE = NULL;
	char *cgroup CLEANUP_FREE = NULL;
	char *deep CLEANUP_FREE = text_format("/tmp/%080d", 0);
	struct error err = {0};
	if (geteuid() != 0)
		return;
	CU_ASSERT_EQUAL_FATAL(run_directory_make(base, NULL, &run, &err), 0);
	work = path_join(run, "work");
	CU_ASSERT_TRUE(file_is_directory(work));
	CU_ASSERT_TRUE(text_starts_with(path_base(run), "run-"));
	cgroup = remains_cgroup_parent(run);
	CU_ASSERT_TRUE(text_starts_with(cgroup, "/gpucert-"));
	UNIT_STRING(cgroup + strlen("/gpucert-"), path_base(run) + strlen("run-"));
	CU_ASSERT_EQUAL_FATAL(run_directory_make(base, NULL, &other, &err), 0);
	UNIT_INT(run_directory_remove(run, &err), 0);
	CU_ASSERT_FALSE(file_is_directory(run));
	CU_ASSERT_TRUE(file_is_directory(base));
	UNIT_INT(run_directory_remove(other, &err), 0);
	CU_ASSERT_FALSE(file_is_directory(base));
	UNIT_INT(run_directory_make(deep, NULL, &work, &err), ERROR_LIMIT);
	UNIT_CONTAINS(err.text, "too long for a socket path");
}

static void test_command_lines(void)
{
	static const struct {
		const char *line;
		size_t size;
		bool ours;
	} cases[] = {
#define LINE(text, ours) {text, sizeof(text), ours}
		LINE("containerd\0--config\0/run/g/run-a/config.toml", true),
		LINE("/usr/bin/containerd-shim-runc-v2\0-address\0/run/g/run-a/containerd.sock",
		     true),
		LINE("containerd\0--config\0/run/g/run-ab/config.toml", false),
		LINE("containerd\0--config\0/run/g/run-a", false),
		LINE("containerd", false),
		LINE("tail\0-f\0/run/g/run-a/containerd.log", false),
		LINE("/run/g/run-a/containerd", false),
		LINE("", false),
#undef LINE
		{"containerd\0/run/g/run-a/x", 25, false}, /* cut off before its end */
		{"", 0, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		UNIT_INT(remains_is_containerd_of(cases[i].line, cases[i].size, "/run/g/run-a"),
			 cases[i].ours);
}

static void test_versions(void)
{
	static const struct {
		const char *output;
		int rc;
		const char *text;
	} cases[] = {
		{"containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3\n", 0,
		 "1.6.20~ds1"},
		{"containerd containerd.io v2.1.4 75cb2b7193e4e490e9fbdc236c0e811ccaba3376\n", 0,
		 "2.1.4"},
		{"containerd github.com/containerd/containerd 1.7.0\n", 0, "1.7.0"},
		{"runc version 1.1.5\n", ERROR_FORMAT, ""},
		{"containerd x y z\n", ERROR_FORMAT, ""},
		{"containerd x 1\n", ERROR_FORMAT, ""},
		{"containerd x 99999999999.1\n", ERROR_FORMAT, ""},
		{"", ERROR_FORMAT, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *version CLEANUP_FREE = NULL;
		UNIT_INT(containerd_parse_version(cases[i].output, &version, NULL), cases[i].rc);
		UNIT_STRING(version != NULL ? version : "", cases[i].text);
	}
}

static void test_the_configuration(void)
{
	char first[] = "/etc/cdi", second[] = "/run/my cdi";
	char *paths[] = {first, second, NULL};
	const struct text_list places = {.items = paths, .count = 2};
	struct text_list handlers CLEANUP_TEXT_LIST = {0};
	text_list_add(&handlers, "runc");
	char *toml CLEANUP_FREE =
		containerd_config("/run/g/run-a", "native", "1.6.20", &places, &handlers);
	char *told CLEANUP_FREE =
		containerd_config("/run/g/run-a", "native", "1.7.24", &places, &handlers);
	text_list_add(&handlers, "crun");
	text_list_add(&handlers, "kata");
	char *newer CLEANUP_FREE =
		containerd_config("/run/g/run-a", "native", "2.0.0", NULL, &handlers);
	CU_ASSERT_TRUE(text_starts_with(toml, "version = 2\n"));
	UNIT_CONTAINS(toml, "root = \"/run/g/run-a/root\"\n");
	UNIT_CONTAINS(toml, "state = \"/run/g/run-a/state\"\n");
	UNIT_CONTAINS(toml, "address = \"/run/g/run-a/containerd.sock\"\n");
	UNIT_CONTAINS(toml, "snapshotter = \"native\"\n");
	UNIT_CONTAINS(toml, "sandbox_image = \"docker.io/gpucert/pause:1\"\n");
	UNIT_CONTAINS(toml, "restrict_oom_score_adj = true\n");
	UNIT_CONTAINS(toml, "Root = \"/run/g/run-a/runc\"\n");
	CU_ASSERT_PTR_NULL(strstr(toml, "cdi"));
	UNIT_CONTAINS(newer, "enable_cdi = true\n");
	CU_ASSERT_PTR_NULL(strstr(newer, "cdi_spec_dirs"));
	UNIT_CONTAINS(told, "enable_cdi = true\ncdi_spec_dirs = [\"/etc/cdi\", \"/run/my cdi\"]\n");
	CU_ASSERT_PTR_NULL(strstr(toml, "crun"));
	UNIT_CONTAINS(newer, "BinaryName = \"crun\"\nRoot = \"/run/g/run-a/crun\"\n");
	UNIT_CONTAINS(newer, ".runtimes.kata]\nruntime_type = \"io.containerd.kata.v2\"\n");
	CU_ASSERT_PTR_NULL(strstr(newer, ".kata.options"));
}

static bool has_ended(void *process)
{
	return process_has_ended(process);
}

static bool has_said_hello(void *process)
{
	return process_result(process)->out.size > 0;
}

/* A process that is containerd by name and holds a path below `directory`. */
static struct process *start_double(uv_loop_t *loop, const char *program, const char *directory)
{
	char *path CLEANUP_FREE = text_format("%s/config.toml", directory);
	const char *const argv[] = {program, "out=hello", "hang", path, NULL};
	const struct process_spec spec = {.argv = argv};
	struct process *process = NULL;
	CU_ASSERT_EQUAL_FATAL(process_start(loop, &spec, &process, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(loop_wait(loop, has_said_hello, process, 10000, "hello", NULL), 0);
	return process;
}

static void test_only_our_containerd_is_killed(void)
{
	char *directory CLEANUP_FREE = temporary();
	char *program CLEANUP_FREE = path_join(directory, "containerd");
	char *ours CLEANUP_FREE = path_join(directory, "run-ours");
	char *theirs CLEANUP_FREE = path_join(directory, "run-theirs");
	struct process *our_process = NULL;
	struct process *their_process = NULL;
	uv_loop_t loop = {0};
	size_t killed = 0;
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(
		link(GPUCERT_BINARY_DIR "/tests/container-programs/probe-test", program), 0);
	our_process = start_double(&loop, program, ours);
	their_process = start_double(&loop, program, theirs);
	UNIT_INT(remains_kill_containerd(ours, &killed, NULL), 0);
	UNIT_INT(killed, 1);
	CU_ASSERT_EQUAL(loop_wait(&loop, has_ended, our_process, 10000, "end", NULL), 0);
	CU_ASSERT_FALSE(process_has_ended(their_process));
	process_free(our_process);
	process_free(their_process);
	CU_ASSERT_EQUAL(loop_drain(&loop, 10000, NULL), 0);
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
}

UNIT_MAIN("runtime parts", {"stat lines", test_stat_lines}, {"owners", test_owners},
	  {"owner files that cannot be read", test_owner_files_that_cannot_be_read},
	  {"run directories", test_run_directories}, {"command lines", test_command_lines},
	  {"versions", test_versions}, {"the configuration", test_the_configuration},
	  {"only our containerd is killed", test_only_our_containerd_is_killed})
