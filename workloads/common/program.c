/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "workloads/common/output.h"

#include <time.h>
#include <unistd.h>

const char *const probe_exit_codes[] = {
	"0",  "The document was printed, whatever it tells.",
	"1",  "The document could not be printed.",
	"2",  "The command line makes no sense.",
	NULL,
};

enum { TIMEOUT_DEFAULT_MS = 20000 };

/* The command line; options_main() reaches run() without a user pointer. */
static struct {
	const struct probe_program *program;
	bool list;
	int64_t device;
	int64_t size;
	int64_t timeout_ms;
	struct probe_launch_options launch;
} given = {.size = WORK_ELEMENTS_DEFAULT, .timeout_ms = TIMEOUT_DEFAULT_MS};

void probe_members(struct members *document, const char *probe, const struct probe_launch *launch)
{
	member_string(document, "schema", "gpucert-probe/1");
	member_string(document, "probe", probe);
	member_string(document, "version", GPUCERT_VERSION);
	member_optional(document, "nonce", launch->nonce);
}

int probe_launch_take(const struct probe_launch_options *options, struct probe_launch *launch,
		      struct error *err)
{
	launch->seed = (uint32_t)options->seed;
	if (options->file != NULL)
		return probe_launch_wait(launch, options->file, err);
	return options->nonce != NULL ? probe_launch_set_nonce(launch, options->nonce, err) : 0;
}

/* Another one in each run. */
static uint32_t choose_seed(void)
{
	uint64_t now = clock_monotonic_ns() ^ ((uint64_t)time(NULL) << 20) ^ (uint64_t)getpid();
	uint32_t seed = (uint32_t)(now ^ (now >> 32));

	return seed != 0 ? seed : 1;
}

static int do_work(const struct api_driver *api, void *session, uint32_t seed,
		   struct work_report *report, struct error *err)
{
	const struct work_request request = {
		.device = (size_t)given.device,
		.elements = (size_t)given.size,
		.seed = seed != 0 ? seed : choose_seed(),
		.timeout_ms = (uint64_t)given.timeout_ms,
	};

	report->device = request.device;
	report->elements = request.elements;
	report->seed = request.seed;
	work_stage_begin(report, WORK_STAGE_SELECT);
	int code = api->work(session, &request, report, err);

	work_stage_end(report);
	return code;
}

/* Runs the API and builds the document. *orderly: the driver was closed. */
static int probe(cJSON **out, bool *orderly, struct error *err)
{
	const struct api_driver *api = given.program->api;
	struct members document CLEANUP_MEMBERS = members_new();
	struct api_report report CLEANUP_API_REPORT = {0};
	struct work_report work CLEANUP_WORK_REPORT = {0};
	struct probe_launch launch = {0};
	uint64_t began_ns = 0;
	void *session = NULL;
	bool works = false;
	int code = probe_launch_take(&given.launch, &launch, err);

	if (code != 0)
		return code;
	began_ns = clock_monotonic_ns();
	code = api->open(&report, &session, err);
	report.open_ns = clock_monotonic_ns() - began_ns;
	works = code == 0 && session != NULL && !given.list && api->work != NULL;
	if (works)
		code = do_work(api, session, launch.seed, &work, err);
	*orderly = session == NULL || api->close(session);
	if (code != 0)
		return code;
	probe_members(&document, api->name, &launch);
	api_report_members(&report, &document);
	if (works)
		member_item(&document, "work", work_report_json(&work));
	else
		member_null(&document, "work");
	member_milliseconds(&document, "durationMs", clock_monotonic_ns() - began_ns);
	*out = members_take(&document);
	return *out != NULL ? 0 : error_memory(err);
}

int probe_print(const struct text_list *arguments, probe_build build)
{
	struct error err = {0};
	cJSON *document CLEANUP_JSON = NULL;
	int fd = -1;
	bool orderly = true;
	int code = 0;

	if (arguments->count > 0) {
		log_error("%s: unexpected argument", arguments->items[0]);
		return 2;
	}
	code = output_claim(&fd, &err);
	if (code == 0)
		code = build(&document, &orderly, &err);
	if (code == 0)
		code = output_write(fd, document, &err);
	if (code != 0)
		log_error("%s", err.text);
	if (!orderly)
		_exit(code == 0 ? 0 : 1);
	return code == 0 ? 0 : 1;
}

static int run(const struct text_list *arguments)
{
	return probe_print(arguments, probe);
}

int probe_main(const struct probe_program *program, int argc, char **argv)
{
	static const struct option_spec options[] = {
		{.name = "list",
		 .letter = 'l',
		 .type = OPTION_FLAG,
		 .target = &given.list,
		 .help = "Enumerate the devices and do no work."},
		{.name = "device",
		 .letter = 'd',
		 .type = OPTION_INT,
		 .target = &given.device,
		 .value = "N",
		 .help = "Work on device N of the enumeration, counted from 0.",
		 .max = API_DEVICES_MAX - 1},
		{.name = "size",
		 .letter = 's',
		 .type = OPTION_INT,
		 .target = &given.size,
		 .value = "N",
		 .help = "Number of elements to work on.",
		 .min = 1,
		 .max = WORK_ELEMENTS_MAX},
		{.name = "timeout",
		 .letter = 't',
		 .type = OPTION_INT,
		 .target = &given.timeout_ms,
		 .value = "MS",
		 .help = "Milliseconds to wait for the device before the work counts as timed out.",
		 .min = 1,
		 .max = 3600000},
		{.name = "seed",
		 .type = OPTION_INT,
		 .target = &given.launch.seed,
		 .value = "N",
		 .help = "What the input of the work follows from; 0, the default, chooses one for "
			 "this run. The document tells it.",
		 .max = UINT32_MAX},
		PROBE_OPTION_NONCE(given.launch),
		PROBE_OPTION_LAUNCH(given.launch),
		{.name = NULL},
	};
	const struct command_spec command = {
		.name = program->name,
		.summary = program->summary,
		.description = program->description,
		.options = options,
		.exit_codes = probe_exit_codes,
		.run = run,
	};

	given.program = program;
	log_set_program(program->name);
	return options_main(&command, argc, argv);
}
