/* SPDX-License-Identifier: MIT */
/* Who tells what of the environment, and that what differs has another digest. */
#include "conformance/runner/environment.h"

#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "containers/doubles/cri_double.h"
#include "containers/runtime/identity.h"
#include "reports/environment.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	uv_loop_t loop;
	char *directory;
	struct cri_double *runtime; /* NULL: this user cannot attach to one */
	struct workplace workplace;
	struct context context;
	struct discovery_snapshot *node;
} fixture;

/* The path of a new file below the test's folder; the caller frees it. */
static char *make_file(const char *name, const char *text, unsigned mode)
{
	char *path = path_join(fixture.directory, name);
	char *folder CLEANUP_FREE = path_directory(path);
	if (file_make_directories(folder, 0755, NULL) < 0 ||
	    file_write_atomic(path, text, strlen(text), mode, NULL) < 0)
		abort();
	return path;
}

static void remake_file(const char *name, const char *text, unsigned mode)
{
	free(make_file(name, text, mode));
}

/* A live Windows-like or Linux-like node whose files are those below the test's folder. */
static void read_node(const char *os)
{
	const char *extra =
		strcmp(os, "windows") == 0 ? "" : "\"kernelBuild\": \"#1 SMP Debian 6.1.76-1\", ";
	char *document CLEANUP_FREE = text_format(
		"{\"schema\": \"gpucert-node/1\", \"recorded\": \"2026-01-02T03:04:05.000Z\", "
		"\"system\": {\"os\": \"%s\", \"product\": \"A system\", \"version\": \"1\", %s"
		"\"build\": \"6.1.0\", \"architecture\": \"x86_64\"}, \"devices\": [{\"id\": "
		"\"gpu\", \"kind\": \"display\", \"vendor\": \"V\", \"pci\": {\"vendor\": "
		"\"0x10de\", \"device\": \"0x1eb8\"}, \"driver\": {\"name\": \"d\", \"version\": "
		"\"2\", \"userMode\": \"Mesa 24.0.9\", \"date\": \"2024-03-01\", \"inf\": "
		"\"oem1.inf\", \"storePath\": "
		"\"%s/store\"}, \"integrated\": false, \"detachable\": false, \"display\": true, "
		"\"compute\": true, \"health\": \"healthy\", \"apis\": [], \"nodes\": [], "
		"\"files\": [{\"source\": \"%s/files/library.so\", \"destination\": "
		"\"/usr/lib/library.so\", \"bits\": 64, \"directory\": false, \"origin\": "
		"\"needed-library\"}]}]}",
		os, extra, fixture.directory, fixture.directory);
	char *path CLEANUP_FREE = make_file("node.json", document, 0644);
	const struct discovery_options options = {.recorded_node = path};
	struct error err = {0};
	discovery_free(fixture.node);
	fixture.node = NULL;
	CU_ASSERT_EQUAL(discovery_take(&options, &fixture.node, &err), 0);
	UNIT_STRING(err.text, "");
	free((char *)(uintptr_t)fixture.context.node_file);
	fixture.context.node_file = strdup(path);
	fixture.context.node = fixture.node;
}

static void set_live(bool live)
{
	fixture.node->recorded = !live;
}

static cJSON *describe(void)
{
	struct environment environment = {0};
	cJSON *json = NULL;
	struct error err = {0};
	int rc = environment_open(&environment, &fixture.loop, fixture.node, NULL, &err);
	if (rc == 0)
		rc = environment_describe(&environment, &fixture.context, &fixture.workplace, &json,
					  &err);
	environment_close(&environment);
	UNIT_STRING(err.text, "");
	CU_ASSERT_EQUAL_FATAL(rc, 0);
	return json;
}

static void digest_of(const cJSON *environment, char out[DIGEST_SIZE])
{
	environment_digest(environment, out);
}

/* The digests before and after `change` differ. */
static void expect_other_digest(const char *name, const char *text, unsigned mode)
{
	cJSON *before CLEANUP_JSON = describe();
	cJSON *after CLEANUP_JSON = NULL;
	cJSON *again CLEANUP_JSON = describe();
	char first[DIGEST_SIZE] = "", repeated[DIGEST_SIZE] = "", second[DIGEST_SIZE] = "";
	remake_file(name, text, mode);
	after = describe();
	digest_of(before, first);
	digest_of(again, repeated);
	digest_of(after, second);
	UNIT_STRING(first, repeated);
	if (strcmp(first, second) == 0)
		(void)fprintf(stderr, "the digest does not see %s\n", name);
	CU_ASSERT_STRING_NOT_EQUAL(first, second);
}

/* The double's configuration, as containerd tells it. */
static void answer_status(void)
{
	Runtime__V1__StatusResponse answer = {0};
	Runtime__V1__RuntimeStatus status = {0};
	Runtime__V1__RuntimeCondition ready = {0};
	Runtime__V1__RuntimeCondition *conditions[] = {&ready};
	Runtime__V1__StatusResponse__InfoEntry entry = {0};
	Runtime__V1__StatusResponse__InfoEntry *info[] = {&entry};
	char type[] = "RuntimeReady", key[] = "config";
	char *config CLEANUP_FREE = text_format(
		"{\"containerd\": {\"defaultRuntimeName\": \"runc\", \"runtimes\": {\"runc\": "
		"{\"runtimeType\": \"io.containerd.runc.v2\", \"runtimePath\": \"%s/shim\", "
		"\"options\": {\"BinaryName\": \"%s/runc\"}}}}}",
		fixture.directory, fixture.directory);
	runtime__v1__runtime_condition__init(&ready);
	ready.type = type;
	ready.status = true;
	runtime__v1__runtime_status__init(&status);
	status.conditions = conditions;
	status.n_conditions = 1;
	runtime__v1__status_response__info_entry__init(&entry);
	entry.key = key;
	entry.value = config;
	runtime__v1__status_response__init(&answer);
	answer.status = &status;
	answer.info = info;
	answer.n_info = 1;
	cri_double_answer(fixture.runtime, "Status", &answer.base);
}

static void answer_version(void)
{
	Runtime__V1__VersionResponse answer = {0};
	char name[] = "containerd", version[] = "1.6.20";
	runtime__v1__version_response__init(&answer);
	answer.version = version;
	answer.runtime_name = name;
	answer.runtime_version = version;
	answer.runtime_api_version = version;
	cri_double_answer(fixture.runtime, "Version", &answer.base);
}

#define SCRIPT_RUNC "#!/bin/sh\necho runc version 1.1.5\n"
#define SCRIPT_SHIM "#!/bin/sh\nprintf 'shim:\\n  Version:  1.6.20\\n'\n"

static int attach_runtime(void)
{
	char *address CLEANUP_FREE = text_format("unix:%s/cri.sock", fixture.directory);
	if (geteuid() != 0)
		return 0;
	fixture.runtime = cri_double_open(&fixture.loop, address);
	answer_status();
	answer_version();
	return runtime_attach(&fixture.loop, address, fixture.directory, &fixture.workplace.runtime,
			      NULL);
}

static int fixture_open(void)
{
	char *plugin CLEANUP_FREE = NULL;
	if (uv_loop_init(&fixture.loop) != 0 ||
	    file_make_temporary("/tmp", "gpucert-", &fixture.directory, NULL) < 0)
		return 1;
	free(make_file("store/driver.sys", "driver", 0644));
	free(make_file("files/library.so", "library", 0644));
	free(make_file("runc", SCRIPT_RUNC, 0755));
	free(make_file("shim", SCRIPT_SHIM, 0755));
	plugin = make_file("plugin.py", "print('one')\n", 0644);
	fixture.context = (struct context){
		.plugin_command =
			text_format("python3 %s --token=S3CRET --dir {plugin-dir}", plugin),
	};
	fixture.workplace.images.probe = (struct image_description){
		.reference = strdup("probe:1"),
		.os_version = strdup("10.0.20348.1"),
	};
	digest_bytes("image", 5, fixture.workplace.images.probe.digest);
	return attach_runtime();
}

static int fixture_close(void)
{
	int rc = runtime_stop(fixture.workplace.runtime, NULL);
	if (fixture.runtime != NULL)
		cri_double_close(fixture.runtime);
	images_free(&fixture.workplace.images);
	discovery_free(fixture.node);
	free((char *)(uintptr_t)fixture.context.plugin_command);
	free((char *)(uintptr_t)fixture.context.node_file);
	(void)loop_drain(&fixture.loop, 10000, NULL);
	(void)file_remove_tree(fixture.directory, NULL);
	free(fixture.directory);
	return rc;
}

/* Tells which of the section's members are there, in it or in its first item. */
static bool has_member(const cJSON *environment, const char *section, const char *pointer)
{
	const cJSON *object = cJSON_GetObjectItemCaseSensitive(environment, section);
	if (cJSON_IsArray(object))
		object = object->child;
	return object != NULL && json_pointer(object, pointer) != NULL;
}

/* In the virtual machine, with what vm-run says about it. */
static cJSON *describe_vm(void)
{
	char *path CLEANUP_FREE =
		make_file("vm.json",
			  "{\"qemu\": \"10.0.13\", \"accelerator\": \"tcg\", "
			  "\"virglrenderer\": \"1.1.0\", \"hostRenderer\": \"llvmpipe\"}",
			  0644);
	CU_ASSERT_EQUAL(setenv(ENVIRONMENT_VM, path, 1), 0);
	cJSON *vm = describe();
	CU_ASSERT_EQUAL(unsetenv(ENVIRONMENT_VM), 0);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(vm, "/node/kind")), "vm");
	return vm;
}

/* No member identifies that nobody tells. */
static void test_every_member_has_a_producer(void)
{
	cJSON *sections CLEANUP_JSON = environment_new();
	cJSON *live CLEANUP_JSON = NULL;
	cJSON *vm CLEANUP_JSON = NULL;
	cJSON *recorded CLEANUP_JSON = NULL;
	cJSON *plugin = NULL;
	const cJSON *section = NULL;
	bool news = false;
	struct environment environment = {0};
	read_node("linux");
	set_live(true);
	live = describe();
	vm = describe_vm();
	read_node("windows");
	recorded = describe();
	CU_ASSERT_EQUAL(environment_open(&environment, &fixture.loop, fixture.node, NULL, NULL), 0);
	CU_ASSERT_EQUAL(plugin_identity_add(&environment.plugin, "example.com/gpu", 0,
					    environment.digests, &news, NULL),
			0);
	fixture.context.reference_plugin = true; /* whose version is known */
	plugin = environment_describe_plugin(&environment, &fixture.context);
	fixture.context.reference_plugin = false;
	environment_close(&environment);
	cJSON_ArrayForEach (section, sections) {
		const char *const *pointer = environment_identity(section->string);
		for (; *pointer != NULL; pointer++) {
			bool told = has_member(live, section->string, *pointer) ||
				    has_member(vm, section->string, *pointer) ||
				    has_member(recorded, section->string, *pointer) ||
				    (strcmp(section->string, "plugin") == 0 &&
				     json_pointer(plugin, *pointer) != NULL) ||
				    (strcmp(section->string, "runtime") == 0 &&
				     fixture.runtime == NULL) ||
				    strcmp(*pointer, "/otherFiles/digest") == 0; /* of probes */
			if (!told)
				(void)fprintf(stderr, "nobody tells %s%s\n", section->string,
					      *pointer);
			CU_ASSERT_TRUE(told);
		}
	}
	cJSON_Delete(plugin);
}

static void test_what_differs_has_another_digest(void)
{
	read_node("windows");
	set_live(true);
	expect_other_digest("store/driver.sys", "driveR", 0644);
	expect_other_digest("store/another.dll", "", 0644);
	expect_other_digest("files/library.so", "librarY", 0644);
	expect_other_digest("plugin.py", "print('two')\n", 0644);
	if (fixture.runtime == NULL)
		return;
	expect_other_digest("runc", SCRIPT_RUNC "# another\n", 0755);
	expect_other_digest("shim", SCRIPT_SHIM "# another\n", 0755);
}

/* The files that a recording names are not looked for on the machine that replays it. */
static void test_recorded_node(void)
{
	cJSON *recorded CLEANUP_JSON = NULL;
	char before[DIGEST_SIZE] = "", after[DIGEST_SIZE] = "";
	cJSON *changed CLEANUP_JSON = NULL;
	read_node("windows");
	recorded = describe();
	UNIT_STRING(cJSON_GetStringValue(json_pointer(recorded, "/node/kind")), "recorded");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(recorded, "/node/file")), "node.json");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(recorded, "/node/recorded")),
		    "2026-01-02T03:04:05.000Z");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(recorded, "/os/product")), "A system");
	CU_ASSERT_PTR_NOT_NULL(json_pointer(recorded, "/node/machine/kernel"));
	CU_ASSERT_PTR_NULL(json_pointer(recorded, "/devices/0/runtimeFiles/digest"));
	CU_ASSERT_PTR_NULL(json_pointer(recorded, "/drivers/0/storeDigest"));
	UNIT_STRING(cJSON_GetStringValue(json_pointer(recorded, "/drivers/0/date")), "2024-03-01");
	digest_of(recorded, before);
	remake_file("node.json", "{} ", 0644); /* another recording, whatever it says */
	changed = describe();
	digest_of(changed, after);
	CU_ASSERT_STRING_NOT_EQUAL(before, after);
}

static void test_runtime(void)
{
	cJSON *json CLEANUP_JSON = NULL;
	if (fixture.runtime == NULL)
		return;
	read_node("linux");
	json = describe();
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/runtime/oci")), "runc 1.1.5");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/runtime/shim")), "shim 1.6.20");
	CU_ASSERT_PTR_NULL(json_pointer(json, "/runtime/unknown"));
}

static void test_versions_of_programs(void)
{
	static const char *const rows[][3] = {
		{"runc", "runc version 1.1.5+ds1\ncommit: x\n", "runc 1.1.5+ds1"},
		{"shim", "shim:\n  Version:  v2.0.1\n  Revision: y\n", "shim 2.0.1"},
		{"crun", "crun version 1.8.1\nspec: 1.0.0\n", "crun 1.8.1"},
		{"x", "", "x"},
		{"x", "vversion: none", "x"},
		{"x", "VVersion 3\n", "x 3"},
	};
	static const char *const shims[][2] = {
		{"io.containerd.runc.v2", "containerd-shim-runc-v2"},
		{"io.containerd.runhcs.v1", "containerd-shim-runhcs-v1"},
		{"oci", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *version CLEANUP_FREE = runtime_program_version(rows[i][0], rows[i][1]);
		UNIT_STRING(version, rows[i][2]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(shims); i++) {
		char *name CLEANUP_FREE = runtime_shim_name(shims[i][0]);
		CU_ASSERT_TRUE(text_equal(name, shims[i][1]));
	}
}

/* environment.plugin of a command. */
static char *describe_command(const char *command)
{
	struct plugin_identity identity CLEANUP(plugin_identity_free) = {0};
	struct digests *digests = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	char *text = NULL;
	digests = digests_new(&fixture.loop, NULL);
	CU_ASSERT_EQUAL(plugin_identity_of_command(&identity, command, digests, NULL), 0);
	digests_wait(digests);
	json = plugin_identity_json(&identity, NULL);
	digests_free(digests);
	text = json_print_compact(json);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	return text;
}

static void test_plugins(void)
{
	char *config CLEANUP_FREE = make_file("settings.yaml", "a: b\n", 0644);
	char *command CLEANUP_FREE = text_format("sh %s/plugin.py -c", fixture.directory);
	char *option CLEANUP_FREE = text_format("cat --config=%s --token S3CRET", config);
	char *script CLEANUP_FREE = describe_command(command);
	char *inline_code CLEANUP_FREE = describe_command("sh -c 'exec plugin S3CRET'");
	char *with_option CLEANUP_FREE = describe_command(option);
	char *attached CLEANUP_FREE = describe_command(NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "\"name\":\"plugin.py (sh)\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "\"binaryDigest\":\"sha256:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(script, "\"fileDigests\":[\"sha256:"));
	CU_ASSERT_PTR_NULL(strstr(script, "unknown"));
	CU_ASSERT_PTR_NOT_NULL(strstr(inline_code, "\"unknown\":\"what sh runs"));
	CU_ASSERT_PTR_NULL(strstr(inline_code, "S3CRET"));
	CU_ASSERT_PTR_NOT_NULL(strstr(with_option, "\"name\":\"cat\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(with_option, "settings.yaml"));
	CU_ASSERT_PTR_NULL(strstr(with_option, "S3CRET"));
	CU_ASSERT_PTR_NOT_NULL(strstr(attached, "\"unknown\":"));
}

/* Whatever started it: the process that serves the socket is the plugin. */
static void test_plugin_that_serves(void)
{
	const char *const argv[] = {"sleep", "60", NULL};
	const struct process_spec spec = {.argv = argv};
	struct plugin_identity identity CLEANUP(plugin_identity_free) = {0};
	struct process *process = NULL;
	struct digests *digests = NULL;
	cJSON *json CLEANUP_JSON = NULL;
	char *text CLEANUP_FREE = NULL;
	bool news = false;
	CU_ASSERT_EQUAL_FATAL(process_start(&fixture.loop, &spec, &process, NULL), 0);
	digests = digests_new(&fixture.loop, NULL);
	CU_ASSERT_EQUAL(plugin_identity_of_command(&identity, "sh -c 'plugin'", digests, NULL), 0);
	CU_ASSERT_EQUAL(plugin_identity_add(&identity, "example.com/b", process_id(process),
					    digests, &news, NULL),
			0);
	CU_ASSERT_TRUE(news);
	CU_ASSERT_EQUAL(plugin_identity_add(&identity, "example.com/a", process_id(process),
					    digests, &news, NULL),
			0);
	news = false;
	CU_ASSERT_EQUAL(plugin_identity_add(&identity, "example.com/a", process_id(process),
					    digests, &news, NULL),
			0);
	CU_ASSERT_FALSE(news);
	digests_wait(digests);
	json = plugin_identity_json(&identity, NULL);
	text = json_print_compact(json);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"name\":\"sleep\""));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"resources\":[\"example.com/a\",\"example.com/b\"]"));
	CU_ASSERT_PTR_NULL(strstr(text, "unknown"));
	digests_free(digests);
	process_free(process);
	(void)uv_run(&fixture.loop, UV_RUN_NOWAIT);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"every identifying member has a producer", test_every_member_has_a_producer},
		{"what differs has another digest", test_what_differs_has_another_digest},
		{"a recorded node", test_recorded_node},
		{"the runtime's programs", test_runtime},
		{"versions of programs", test_versions_of_programs},
		{"plugins by their command", test_plugins},
		{"plugins by the process that serves", test_plugin_that_serves},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("environment", fixture_open, fixture_close, tests);
}
