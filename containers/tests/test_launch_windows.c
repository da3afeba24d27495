/* SPDX-License-Identifier: MIT */
/* What a runtime is asked for a Windows container, field by field, and how its ends are told. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/tests/unit.h"
#include "containers/doubles/cri_double.h"
#include "containers/grant/tests/entries.h"
#include "containers/launch/launch.h"
#include "rpc/loop.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

#define LOCATION     "vpci-location-path://PCIROOT(0)#PCI(0100)#PCI(0000)"
#define DRIVER_STORE "C:\\Windows\\System32"

static uv_loop_t loop;
static char *directory;
static struct cri_double *runtime;
static struct cri *cri;
static struct launcher *launcher;

static void answer_version(const char *version)
{
	Runtime__V1__VersionResponse answer = {0};
	char *version_copy CLEANUP_FREE = strdup(version);
	char name[] = "containerd";
	runtime__v1__version_response__init(&answer);
	answer.runtime_name = name;
	answer.runtime_version = version_copy;
	cri_double_answer(runtime, "Version", &answer.base);
}

static void answer_ids(void)
{
	Runtime__V1__ImageStatusResponse image = {0};
	Runtime__V1__Image there = {0};
	Runtime__V1__RunPodSandboxResponse sandbox = {0};
	Runtime__V1__CreateContainerResponse container = {0};
	char id[] = "an-id";
	runtime__v1__image__init(&there);
	there.id = id;
	runtime__v1__image_status_response__init(&image);
	image.image = &there;
	cri_double_answer(runtime, "ImageStatus", &image.base);
	runtime__v1__run_pod_sandbox_response__init(&sandbox);
	sandbox.pod_sandbox_id = id;
	cri_double_answer(runtime, "RunPodSandbox", &sandbox.base);
	runtime__v1__create_container_response__init(&container);
	container.container_id = id;
	cri_double_answer(runtime, "CreateContainer", &container.base);
}

static void answer_exit(int code)
{
	Runtime__V1__ContainerStatusResponse answer = {0};
	Runtime__V1__ContainerStatus status = {0};
	char reason[] = "Error";
	runtime__v1__container_status__init(&status);
	status.state = RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED;
	status.exit_code = code;
	status.reason = reason;
	runtime__v1__container_status_response__init(&answer);
	answer.status = &status;
	cri_double_answer(runtime, "ContainerStatus", &answer.base);
}

static void enter(const char *version)
{
	char *address CLEANUP_FREE = NULL;
	struct launcher_containerd_options options = {
		.image = "example.org/probe:1",
		.cgroup_parent = "/never",
		.run_id = "run-1",
		.check_id = "check-1",
		.system = LAUNCH_WINDOWS,
		.runtime_handler = "runhcs-wcow-process",
	};
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(unit_temporary(), "gpucert-", &directory, NULL),
			      0);
	address = text_format("unix:%s/cri.sock", directory);
	runtime = cri_double_open(&loop, address);
	CU_ASSERT_EQUAL_FATAL(cri_open(&loop, address, &cri, NULL), 0);
	answer_version(version);
	answer_ids();
	answer_exit(0);
	options.cri = cri;
	options.log_directory = directory;
	CU_ASSERT_EQUAL_FATAL(launcher_containerd_new(&options, &launcher, NULL), 0);
}

static void leave(void)
{
	launcher_free(launcher);
	cri_close(cri);
	cri_double_close(runtime);
	CU_ASSERT_EQUAL(loop_drain(&loop, 10000, NULL), 0);
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
	free(directory);
}

static struct launch *launch(const struct launch_spec *spec)
{
	struct launch *made = NULL;
	CU_ASSERT_EQUAL_FATAL(launch_start(launcher, spec, &made, NULL), 0);
	UNIT_INT(launch_wait(made, NULL), 0);
	return made;
}

static const char *const command[] = {"probe-d3d12", "--adapter", "0", NULL};
static struct grant_entry mounts[] = {
	MOUNT(DRIVER_STORE, "C:\\Windows\\System32\\nvapi64.dll", true),
	MOUNT(DRIVER_STORE, "/data", false),
};
static struct grant_entry devices[] = {
	DEVICE(LOCATION, "", ""),
	DEVICE("class/5B45201D-F2F2-4F3B-85BB-30FF1F953599", "", ""),
};
static struct grant_entry envs[] = {VARIABLE("DIRECTX_GPU_Name", "\xc3\xa9 4")};
static struct grant_entry annotations[] = {
	VARIABLE("io.microsoft.container.wcow.deviceextensions", "x")};
static const struct launch_spec spec = {
	.name = "probe-1",
	.command = command,
	.grant.mounts = {mounts, ARRAY_SIZE(mounts)},
	.grant.devices = {devices, ARRAY_SIZE(devices)},
	.grant.envs = {envs, ARRAY_SIZE(envs)},
	.grant.annotations = {annotations, ARRAY_SIZE(annotations)},
};

static void expect_sandbox(const Runtime__V1__PodSandboxConfig *sandbox)
{
	const Runtime__V1__WindowsSandboxSecurityContext *security = NULL;
	UNIT_NEED(sandbox != NULL && sandbox->metadata != NULL && sandbox->windows != NULL);
	CU_ASSERT_PTR_NULL(sandbox->linux);
	UNIT_STRING(sandbox->metadata->name, "probe-1");
	UNIT_STRING(sandbox->metadata->namespace_, "gpucert");
	UNIT_INT(strlen(sandbox->metadata->uid), 16);
	UNIT_CONTAINS(sandbox->log_directory, directory);
	UNIT_CONTAINS(sandbox->log_directory, sandbox->metadata->uid);
	UNIT_INT(sandbox->n_labels, 2);
	security = sandbox->windows->security_context;
	UNIT_NEED(security != NULL && security->namespace_options != NULL);
	CU_ASSERT_FALSE(security->host_process);
	UNIT_STRING(security->run_as_username, "");
	UNIT_STRING(security->credential_spec, "");
	UNIT_INT(security->namespace_options->network, RUNTIME__V1__NAMESPACE_MODE__POD);
}

static void expect_what_the_plugin_gave(const Runtime__V1__ContainerConfig *container)
{
	UNIT_NEED(container->n_mounts == 2 && container->n_devices == 2 && container->n_envs == 1);
	UNIT_STRING(container->mounts[0]->host_path, DRIVER_STORE);
	UNIT_STRING(container->mounts[0]->container_path, "C:\\Windows\\System32\\nvapi64.dll");
	CU_ASSERT_TRUE(container->mounts[0]->readonly);
	UNIT_STRING(container->mounts[1]->container_path, "/data");
	CU_ASSERT_FALSE(container->mounts[1]->readonly);
	UNIT_STRING(container->devices[0]->host_path, LOCATION);
	UNIT_STRING(container->devices[0]->container_path, "");
	UNIT_STRING(container->devices[0]->permissions, "");
	UNIT_STRING(container->devices[1]->host_path, "class/5B45201D-F2F2-4F3B-85BB-30FF1F953599");
	UNIT_STRING(container->devices[1]->container_path, "");
	UNIT_STRING(container->devices[1]->permissions, "");
	UNIT_STRING(container->envs[0]->key, "DIRECTX_GPU_Name");
	UNIT_INT(container->envs[0]->value.len, 4);
	UNIT_INT(container->n_annotations, 1);
	UNIT_INT(container->n_cdi_devices, 0);
}

static void expect_container(const Runtime__V1__ContainerConfig *container)
{
	UNIT_NEED(container != NULL && container->windows != NULL);
	CU_ASSERT_PTR_NULL(container->linux);
	UNIT_STRING(container->metadata->name, "probe-1");
	UNIT_STRING(container->image->image, "example.org/probe:1");
	UNIT_INT(container->n_command, 3);
	UNIT_STRING(container->command[0], "C:\\gpucert\\libexec\\gpucert\\probe-d3d12.exe");
	UNIT_STRING(container->command[1], "--adapter");
	UNIT_STRING(container->log_path, "0.log");
	UNIT_NEED(container->windows->resources != NULL &&
		  container->windows->security_context != NULL);
	UNIT_INT(container->windows->resources->memory_limit_in_bytes, 0);
	UNIT_INT(container->windows->resources->cpu_maximum, 0);
	CU_ASSERT_FALSE(container->windows->security_context->host_process);
	UNIT_STRING(container->windows->security_context->run_as_username, "");
	expect_what_the_plugin_gave(container);
}

static void test_requests(void)
{
	Runtime__V1__RunPodSandboxRequest *sandbox CLEANUP_CRI_REPLY = NULL;
	Runtime__V1__CreateContainerRequest *container CLEANUP_CRI_REPLY = NULL;
	struct launch *made = NULL;
	enter("2.1.0");
	made = launch(&spec);
	UNIT_INT(launch_result(made)->end, LAUNCH_EXITED);
	sandbox = cri_double_request(runtime, "RunPodSandbox",
				     &runtime__v1__run_pod_sandbox_request__descriptor);
	container = cri_double_request(runtime, "CreateContainer",
				       &runtime__v1__create_container_request__descriptor);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sandbox);
	CU_ASSERT_PTR_NOT_NULL_FATAL(container);
	if (sandbox == NULL || container == NULL)
		return;
	UNIT_STRING(sandbox->runtime_handler, "runhcs-wcow-process");
	expect_sandbox(sandbox->config);
	UNIT_STRING(container->pod_sandbox_id, "an-id");
	expect_sandbox(container->sandbox_config);
	expect_container(container->config);
	launch_free(made);
	leave();
}

static void test_programs(void)
{
	static const char *const cases[][2] = {
		{"probe-dxgi.exe", "C:\\gpucert\\libexec\\gpucert\\probe-dxgi.exe"},
		{"D:\\tools\\x.exe", "D:\\tools\\x.exe"},
		{"tools/x", "tools/x"},
	};
	enter("1.7.0");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		Runtime__V1__CreateContainerRequest *request CLEANUP_CRI_REPLY = NULL;
		const char *const words[] = {cases[i][0], NULL};
		launch_free(launch(&(struct launch_spec){.name = "a", .command = words}));
		request = cri_double_request(runtime, "CreateContainer",
					     &runtime__v1__create_container_request__descriptor);
		CU_ASSERT_PTR_NOT_NULL(request);
		if (request != NULL)
			UNIT_STRING(request->config->command[0], cases[i][1]);
	}
	leave();
}

static void expect_end(const struct launch_spec *given, enum launch_end end, int code,
		       const char *text)
{
	struct launch *made = launch(given);
	char described[256] = "";
	UNIT_INT(launch_result(made)->end, end);
	UNIT_INT(launch_result(made)->code, code);
	launch_describe(launch_result(made), described, sizeof(described));
	UNIT_CONTAINS(described, text);
	launch_free(made);
}

static void test_ends(void)
{
	enter("2.1.0");
	answer_exit(134); /* no signal 6: there are none */
	expect_end(&spec, LAUNCH_EXITED, 134, "exited with code 134");
	answer_exit((int)0xC0000005);
	expect_end(&spec, LAUNCH_KILLED, (int)0xC0000005,
		   "killed by exception 0xc0000005 (access violation)");
	answer_exit((int)0xC0000135);
	expect_end(&spec, LAUNCH_KILLED, (int)0xC0000135, "a DLL was not found");
	cri_double_fail(runtime, "StartContainer", RPC_UNKNOWN,
			"hcs::System::CreateProcess x: The system cannot find the file specified.");
	expect_end(&spec, LAUNCH_NOT_STARTED, 0, "cannot find the file");
	cri_double_fail(runtime, "CreateContainer", RPC_UNKNOWN,
			"unrecognised HostPath format \"x\"");
	expect_end(&spec, LAUNCH_FAILED, 0, "unrecognised HostPath");
	leave();
}

static void test_what_the_runtime_would_ignore(void)
{
	struct grant_entry cdi = {.name = "vendor.example/gpu=0"};
	struct launch_spec with_cdi = spec;
	with_cdi.grant.cdi_devices = (struct grant_list){&cdi, 1};
	enter("2.1.0");
	expect_end(&with_cdi, LAUNCH_IGNORED, 0,
		   "containerd 2.1.0 ignores CDI devices of Windows containers");
	leave();
	enter("1.6.20");
	expect_end(&spec, LAUNCH_IGNORED, 0,
		   "containerd 1.6.20 ignores devices of Windows containers");
	UNIT_INT(cri_double_calls(runtime, "RunPodSandbox"), 0);
	leave();
}

UNIT_MAIN("Windows containers", {"requests", test_requests}, {"programs", test_programs},
	  {"ends", test_ends},
	  {"what the runtime would ignore", test_what_the_runtime_would_ignore})
