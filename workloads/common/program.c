/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/process.h"
#include "base/text.h"
#include "workloads/common/neighbours.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PREFERRED_DEVICE = -1 };

const char *const probe_exit_codes[] = {
	"0",  "The document was printed, whatever it reports.",
	"1",  "The document could not be printed.",
	"2",  "The command line makes no sense.",
	NULL,
};

/* Read by the leak sanitizer: leaks of drivers must not change a probe's exit code. Tests of the probes
 * themselves detect leaks by LSAN_OPTIONS. */
const char *__lsan_default_options(void);

__attribute__((visibility("default"), used)) const char *__lsan_default_options(void)
{
	return "detect_leaks=0";
}

/* The command line; options_main() reaches run() without a user pointer. */
static const struct api_driver *given_api;
static struct neighbour_options given_neighbour;
static struct probe_options given = {
	.device = PREFERRED_DEVICE, .size = WORK_ELEMENTS_DEFAULT, .timeout_ms = PROBE_TIMEOUT_MS};

void probe_members(struct members *document, const char *probe, const struct probe_launch *launch)
{
	member_string(document, "schema", "gpucert-probe/1");
	member_string(document, "probe", probe);
	member_string(document, "version", GPUCERT_VERSION);
	member_optional(document, "nonce", launch->nonce);
}

static int set_nonce(struct probe_launch *launch, const char *nonce, struct error *err)
{
	static const char letters[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t length = strlen(nonce);
	if (length == 0 || length > LAUNCH_NONCE_MAX || nonce[strspn(nonce, letters)] != '\0')
		return error_set(err, ERROR_FORMAT, "nonce: not 1 to %d letters and digits",
				 LAUNCH_NONCE_MAX);
	memcpy(launch->nonce, nonce, length + 1);
	return 0;
}

/* Not file_read(): this blocks until a writer of the FIFO has come and gone. */
int wait_for_line(const char *path, char line[LINE_SIZE], struct error *err)
{
	FILE *file CLEANUP_FILE = fopen(path, "r");
	if (file == NULL)
		return error_system(err, errno, "%s", path);
	if (fgets(line, LINE_SIZE, file) == NULL)
		return error_set(err, ERROR_FORMAT, "%s: nobody wrote a line", path);
	line[strcspn(line, "\r\n")] = '\0';
	return 0;
}

int probe_launch_take(const struct probe_options *options, struct probe_launch *launch,
		      struct error *err)
{
	char line[LINE_SIZE] = "";
	long long seed = options->seed;
	int rc = 0;

	if (options->file == NULL) {
		launch->seed = (uint32_t)seed;
		return options->nonce != NULL ? set_nonce(launch, options->nonce, err) : 0;
	}

	rc = wait_for_line(options->file, line, err);
	if (rc != 0)
		return rc;
	char *space = strchr(line, ' ');
	if (space == NULL)
		return error_set(err, ERROR_FORMAT, "%s: expected a nonce and a seed",
				 options->file);
	*space = '\0';
	rc = set_nonce(launch, line, err);
	if (rc == 0)
		rc = text_to_int64(space + 1, "seed", 1, UINT32_MAX, &seed, err);
	launch->seed = (uint32_t)seed;
	return rc < 0 ? error_wrap(err, rc, "%s", options->file) : 0;
}

/* Runs the API and builds the document. *orderly: the driver was closed. */
static int probe(cJSON **out, bool *orderly, struct error *err)
{
	const struct api_driver *api = given_api;
	struct members document CLEANUP_MEMBERS = members_new();
	struct api_report report CLEANUP_API_REPORT = {0};
	struct work_report work CLEANUP_WORK_REPORT = {0};
	struct probe_launch launch = {0};
	void *session = NULL;

	int rc = probe_launch_take(&given, &launch, err);
	if (rc != 0)
		return rc;

	const uint64_t began_ns = clock_monotonic_ns();
	struct work_request request = {
		.elements = (size_t)given.size,
		.seed = launch.seed != 0 ? launch.seed : 1 + randombytes_uniform(UINT32_MAX),
		.timeout_ms = (uint64_t)given.timeout_ms,
	};
	neighbour_request(&given_neighbour, &request);
	api_open(api, &report, &session);
	request.device = given.device != PREFERRED_DEVICE ? (size_t)given.device
							  : api_preferred_device(&report);
	const bool works = session != NULL && !given.list && api->work != NULL;
	if (works)
		neighbour_work(api, session, (size_t)cJSON_GetArraySize(report.devices),
			       &given_neighbour, &request, &work);
	/* Work that failed, and APIs that only enumerate. */
	rc = neighbour_pause_after(&request, &work, err);
	*orderly = work.status != WORK_TIMED_OUT;
	if (*orderly)
		api_close(api, session);
	if (rc != 0)
		return rc;

	probe_members(&document, api->name, &launch);
	api_report_members(&report, &document);
	if (works)
		member_item(&document, "work", work_report_json(&work));
	else
		member_null(&document, "work");
	member_milliseconds(&document, "durationMs", clock_monotonic_ns() - began_ns);
	*out = members_take(&document);
	return 0;
}

int probe_print(const struct text_list *arguments, probe_build build)
{
	struct error err = {0};
	cJSON *document CLEANUP_JSON = NULL;
	int fd CLEANUP_FD = -1;
	bool orderly = true;

	if (arguments->count > 0) {
		log_error("%s: unexpected argument", arguments->items[0]);
		return 2;
	}

	/* Drivers, and programs that drivers start, print what they like. */
	int rc = process_take_output(&fd, &err);
	if (rc == 0)
		rc = build(&document, &orderly, &err);

	/* One write for the whole line; closing it reports a full disk. */
	if (rc == 0) {
		char *json CLEANUP_FREE = json_print_compact(document);
		const size_t length = strlen(json);
		json[length] = '\n'; /* instead of the NUL */
		if (!file_write_all(fd, json, length + 1) || close(STEAL_FD(fd)) != 0)
			rc = error_system(&err, errno, "standard output");
	}

	if (rc != 0)
		log_error("%s", err.text);
	if (!orderly)
		_exit(rc == 0 ? 0 : 1);
	return rc == 0 ? 0 : 1;
}

static int run(const struct text_list *arguments)
{
	return probe_print(arguments, probe);
}

/* After the API's own description. */
static const char common_description[] =
	" Prints one JSON document on one line.\n\n"
	"A missing loader or driver, a call that fails, a device that is removed and a wrong result are reported in the document; "
	"the exit code is still 0. Nothing is printed before everything is done: a probe that its driver kills prints nothing.";

int probe_main(const struct api_driver *api, int argc, char **argv)
{
	static const struct option_spec options[] = {
		PROBE_OPTIONS(
			given, "Enumerate the devices and do no work.",
			"Work on device N of the enumeration, counted from 0; without this option on the first that is "
			"hardware, or the first where none is.",
			0, "Number of elements to work on.",
			"Milliseconds to wait for the device before the work counts as timed out."),
		{OPTION_ROW("seed", OPTION_INT, given.seed), .value = "N",
		 .help = "Seed of the work's input; 0, the default, chooses one for this run. The document holds it.",
		 .max = UINT32_MAX},
		NEIGHBOUR_OPTIONS(given_neighbour),
		{.name = NULL},
	};
	memory_ends_process(1);
	char *name CLEANUP_FREE = text_format("probe-%s", api->name);
	char *description CLEANUP_FREE = text_format("%s%s", api->description, common_description);
	const struct command_spec command = {
		.name = name,
		.summary = api->summary,
		.description = description,
		.options = options,
		.exit_codes = probe_exit_codes,
		.run = run,
	};
	given_api = api;
	log_set_program(name);
	return options_main(&command, argc, argv);
}
