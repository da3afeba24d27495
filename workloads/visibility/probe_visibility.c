/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "workloads/common/program.h"
#include "workloads/visibility/visibility.h"

#include <string.h>

enum { EVERY_DEVICE = -1 };

#define ROW_ANY_LISTED(name) &name##_api,
#ifdef _WIN32
#define ROW_WINDOWS_LISTED(name) &name##_api,
#define ROW_ANY_LISTED_ON_LINUX(name)
#else
#define ROW_ANY_LISTED_ON_LINUX(name) &name##_api,
#define ROW_WINDOWS_LISTED(name)
#endif
#define ROW_ANY_UNLISTED(name)
#define ROW_WINDOWS_UNLISTED(name)
#define ROW_LINUX_UNLISTED(name)
#define API(name, system, listed, ...)		     ROW_##system##_##listed(name)
#define API_WITHOUT_CHECK(name, system, listed, ...) ROW_##system##_##listed(name)

static const struct api_driver *const apis[] = {
#include "base/gpu_apis.def"
};

static struct probe_options given = {
	.device = EVERY_DEVICE, .size = WORK_ELEMENTS_DEFAULT, .timeout_ms = PROBE_TIMEOUT_MS};
static int64_t given_delay_ms;
static const char *given_pause;
static const char *given_api;
static bool given_reach;
static const char *given_planted;

static cJSON *list_apis(void)
{
	struct members list CLEANUP_MEMBERS = members_new_array();

	for (size_t i = 0; i < ARRAY_SIZE(apis); i++) {
		cJSON *api = isolate_enumerate(apis[i], (uint64_t)given.timeout_ms);
		cJSON *devices = cJSON_GetObjectItemCaseSensitive(api, "devices");
		for (int k = cJSON_GetArraySize(devices) - 1; k >= 0; k--)
			if (given.device != EVERY_DEVICE && k != given.device)
				cJSON_DeleteItemFromArray(devices, k);
		member_item(&list, NULL, api);
	}
	return members_take(&list);
}

static int probe(cJSON **out, bool *orderly, struct error *err)
{
	struct members document CLEANUP_MEMBERS = members_new();
	cJSON *nodes CLEANUP_JSON = NULL;
	cJSON *reach CLEANUP_JSON = NULL;
	struct probe_launch launch = {0};

	(void)orderly; /* only other processes load drivers */
	int rc = probe_launch_take(&given, &launch, err);
	if (rc != 0)
		return rc;
	if (given_pause != NULL) {
		char line[LINE_SIZE] = "";
		rc = wait_for_line(given_pause, line, err);
		if (rc != 0)
			return rc;
	}
	clock_sleep_ms((uint64_t)given_delay_ms);
	const uint64_t began_ns = clock_monotonic_ns();
	probe_members(&document, "visibility", &launch);
	/* First: the libraries of NVIDIA's driver make nodes, where the program may. */
	rc = nodes_list("/dev", !given.list, &nodes, err);
	if (rc != 0)
		return rc;
	member_item(&document, "apis", list_apis());

	/* The devices that drivers list when no variable can hide any; null where none was set. */
	if (steering_remove()) {
		char *caches CLEANUP_FREE = steering_make_caches();
		member_item(&document, "unsteered", list_apis());
		if (caches != NULL)
			(void)file_remove_tree(caches, NULL);
	} else {
		member_null(&document, "unsteered");
	}

	member_item(&document, "nodes", STEAL(nodes));
	rc = given_reach ? reach_try(given_planted, &reach, err) : 0;
	if (rc != 0)
		return rc;
	member_item(&document, "reach", reach != NULL ? STEAL(reach) : cJSON_CreateNull());
	member_milliseconds(&document, "durationMs", clock_monotonic_ns() - began_ns);
	*out = members_take(&document);
	return 0;
}

/* One element of `apis` instead of a document. */
static int ask_one(cJSON **out, bool *orderly, struct error *err)
{
	*orderly = false; /* exit handlers of the driver do not run */
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++) {
		if (strcmp(apis[i]->name, given_api) != 0)
			continue;
		*out = isolate_ask(apis[i]);
		return 0;
	}
	return error_set(err, ERROR_ARGUMENT, "--api %s: this probe knows no such API", given_api);
}

static int run(const struct text_list *arguments)
{
	return probe_print(arguments, given_api != NULL ? ask_one : probe);
}

int main(int argc, char **argv)
{
	static const struct option_spec options[] = {
		PROBE_OPTIONS(given, "Do not open the device nodes.",
			      "Report only device N of each API, counted from 0; -1 reports all.",
			      EVERY_DEVICE,
			      "Accepted as by the other probes; this one does no work.",
			      "Milliseconds that each API has to list its devices."),
		{OPTION_ROW("delay", OPTION_INT, given_delay_ms), .value = "MS",
		 .help = "Milliseconds to wait before anything is listed, so that programs that start next are running.",
		 .min = 0, .max = 3600000},
		{OPTION_ROW("pause", OPTION_STRING, given_pause), .value = "FILE",
		 .help = "Before anything is listed, wait until a line can be read from FILE."},
		{OPTION_ROW("reach", OPTION_FLAG, given_reach),
		 .help = "Also try to make a device node and to write to mounted files and folders. Only for "
			 "containers that are thrown away: elsewhere it acts on the machine."},
		{OPTION_ROW("planted", OPTION_STRING, given_planted), .value = "FOLDER",
		 .help = "With --reach: also try to read and to write the device nodes in this folder, "
			 "which the caller has made."},
		{OPTION_ROW("api", OPTION_STRING, given_api), .value = "NAME",
		 .help = "Ask only this API, in this process, and print its element of `apis` "
			 "instead of a document."},
		{.name = NULL},
	};
	static const struct command_spec command = {
		.name = "probe-visibility",
		.summary = "Report which GPUs are visible",
		.description =
			"Lists the device nodes in /dev and whether they can be opened, asks each API that enumerates devices "
			"for them, each in a process of its own, and then asks the APIs again with only the "
			"environment variables of an image (PATH, HOME, LD_LIBRARY_PATH). Prints one JSON document on one line.\n\n"
			"A missing API and a driver that crashes or hangs are reported in the document; the exit code is still 0.",
		.options = options,
		.exit_codes = probe_exit_codes,
		.run = run,
	};
	memory_ends_process(1);
	log_set_program(command.name);
	return options_main(&command, argc, argv);
}
