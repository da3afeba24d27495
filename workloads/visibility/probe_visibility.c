/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "workloads/common/program.h"
#include "workloads/cuda/cuda.h"
#include "workloads/opencl/opencl.h"
#include "workloads/visibility/environment.h"
#include "workloads/visibility/isolate.h"
#include "workloads/visibility/nodes.h"
#include "workloads/visibility/sysfs.h"
#include "workloads/vulkan/vulkan.h"

#include <string.h>
#include <unistd.h>
#ifdef _WIN32
#include "workloads/dxcore/dxcore.h"
#include "workloads/dxgi/dxgi.h"
#include "workloads/visibility/windows/d3dkmt.h"
#include "workloads/visibility/windows/setupapi.h"
#endif

enum { EVERY_DEVICE = -1, TIMEOUT_DEFAULT_MS = 20000 };

#ifdef _WIN32
static const struct api_driver *const apis[] = {&vulkan_api, &opencl_api, &cuda_api,	&dxgi_api,
						&dxcore_api, &d3dkmt_api, &setupapi_api};
#else
static const struct api_driver *const apis[] = {&vulkan_api, &opencl_api, &cuda_api};
#endif

static struct {
	bool list;
	int64_t device;
	int64_t size;
	int64_t timeout_ms;
	int64_t delay_ms;
	const char *api;
	struct probe_launch_options launch;
} given = {.device = EVERY_DEVICE, .size = WORK_ELEMENTS_DEFAULT, .timeout_ms = TIMEOUT_DEFAULT_MS};

static void keep_one_device(cJSON *api)
{
	cJSON *devices = cJSON_GetObjectItemCaseSensitive(api, "devices");

	for (int i = cJSON_GetArraySize(devices) - 1; i >= 0; i--)
		if (i != given.device)
			cJSON_DeleteItemFromArray(devices, i);
}

static int list_apis(bool anew, cJSON **out, struct error *err)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();
	int code = array != NULL ? 0 : error_memory(err);

	for (size_t i = 0; code == 0 && i < ARRAY_SIZE(apis); i++) {
		cJSON *api = NULL;

		code = isolate_enumerate(apis[i], (uint64_t)given.timeout_ms, anew, &api, err);
		if (code == 0 && given.device != EVERY_DEVICE)
			keep_one_device(api);
		if (code == 0 && !array_add(array, api))
			code = error_memory(err);
	}
	if (code == 0)
		*out = STEAL(array);
	return code;
}

/* What a driver shows once nothing tells it to hide devices; null where nothing told it. */
static int look_again(cJSON **out, struct error *err)
{
	bool steered = false;
	int code = environment_clean(&steered, err);

	if (code == 0 && steered)
		return list_apis(true, out, err);
	if (code == 0)
		*out = cJSON_CreateNull();
	return code;
}

static int probe(cJSON **out, bool *orderly, struct error *err)
{
	struct members document CLEANUP_MEMBERS = members_new();
	cJSON *listed CLEANUP_JSON = NULL;
	cJSON *unsteered CLEANUP_JSON = NULL;
	cJSON *nodes CLEANUP_JSON = NULL;
	cJSON *sysfs CLEANUP_JSON = NULL;
	cJSON *environment CLEANUP_JSON = NULL;
	struct probe_launch launch = {0};
	uint64_t began_ns = 0;
	int code = probe_launch_take(&given.launch, &launch, err);

	(void)orderly; /* drivers are loaded by other processes alone */
	if (code != 0)
		return code;
	clock_sleep_ms((uint64_t)given.delay_ms);
	began_ns = clock_monotonic_ns();
	code = list_apis(false, &listed, err);
	if (code == 0)
		code = nodes_list("/dev", !given.list, &nodes, err);
	if (code == 0)
		code = sysfs_list("/sys", "/proc", &sysfs, err);
	if (code == 0)
		code = environment_list((const char *const *)environ, &environment, err);
	if (code == 0)
		code = look_again(&unsteered, err);
	if (code != 0)
		return code;
	probe_members(&document, "visibility", &launch);
	member_item(&document, "apis", STEAL(listed));
	member_item(&document, "unsteered", STEAL(unsteered));
	member_item(&document, "nodes", STEAL(nodes));
	member_item(&document, "sysfs", STEAL(sysfs));
	member_item(&document, "environment", STEAL(environment));
	member_milliseconds(&document, "durationMs", clock_monotonic_ns() - began_ns);
	*out = members_take(&document);
	return *out != NULL ? 0 : error_memory(err);
}

/* One element of `apis` instead of a document. */
static int ask_one(cJSON **out, bool *orderly, struct error *err)
{
	*orderly = false; /* what the driver does at its end is not asked */
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++)
		if (strcmp(apis[i]->name, given.api) == 0)
			return isolate_ask(apis[i], out, err);
	return error_set(err, ERROR_ARGUMENT, "--api %s: this probe knows no such API", given.api);
}

static int run(const struct text_list *arguments)
{
	return probe_print(arguments, given.api != NULL ? ask_one : probe);
}

int main(int argc, char **argv)
{
	static const struct option_spec options[] = {
		{.name = "list",
		 .letter = 'l',
		 .type = OPTION_FLAG,
		 .target = &given.list,
		 .help = "Do not open the device nodes."},
		{.name = "device",
		 .letter = 'd',
		 .type = OPTION_INT,
		 .target = &given.device,
		 .value = "N",
		 .help = "Tell only device N of each API, counted from 0; -1 tells all.",
		 .min = EVERY_DEVICE,
		 .max = API_DEVICES_MAX - 1},
		{.name = "size",
		 .letter = 's',
		 .type = OPTION_INT,
		 .target = &given.size,
		 .value = "N",
		 .help = "Accepted as by the other probes; this one does no work.",
		 .min = 1,
		 .max = WORK_ELEMENTS_MAX},
		{.name = "timeout",
		 .letter = 't',
		 .type = OPTION_INT,
		 .target = &given.timeout_ms,
		 .value = "MS",
		 .help = "Milliseconds that each API has to tell its devices.",
		 .min = 1,
		 .max = 3600000},
		{.name = "delay",
		 .type = OPTION_INT,
		 .target = &given.delay_ms,
		 .value = "MS",
		 .help = "Milliseconds to wait before looking, so that what is started next is "
			 "there.",
		 .min = 0,
		 .max = 3600000},
		{.name = "api",
		 .type = OPTION_STRING,
		 .target = &given.api,
		 .value = "NAME",
		 .help = "Ask this API alone, in this process, and print its element of `apis` "
			 "instead of a document."},
		PROBE_OPTION_NONCE(given.launch),
		PROBE_OPTION_LAUNCH(given.launch),
		{.name = NULL},
	};
	static const struct command_spec command = {
		.name = "probe-visibility",
		.summary = "Tell which GPUs can be seen",
		.description =
			"Asks Vulkan, OpenCL and CUDA, on Windows also DXGI, DXCore, the kernel's "
			"graphics interface and the plug and play manager, for their devices, each "
			"in a process of its own, "
			"lists the device nodes in /dev and whether they can be opened, what sysfs "
			"tells, and the environment variables that steer loaders and drivers; then "
			"asks "
			"the APIs once more without those variables. "
			"Prints "
			"one JSON document on one line.\n\n"
			"A missing API and a driver that crashes or hangs are facts that the "
			"document "
			"tells; the exit code is 0 all the same.",
		.options = options,
		.exit_codes = probe_exit_codes,
		.run = run,
	};

	log_set_program(command.name);
	return options_main(&command, argc, argv);
}
