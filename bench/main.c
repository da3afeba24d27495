/* SPDX-License-Identifier: MIT */
/*
 * Prints the table of figures: times as ratios within this run, because machines differ.
 * usage: gpucert-bench [--calls N] [--run]
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/path.h"
#include "base/text.h"
#include "bench/plugin.h"
#include "rpc/client.h"

#include <sched.h>
#include <string.h>

enum { STARTS = 21, GROWTH_CALLS = 100000, READY_TIMEOUT_MS = 20000 };

static struct {
	int64_t calls;
	bool run, matrix;
} options = {.calls = 20000};

static void peer_line(bool is_stderr, const char *line, size_t size, void *user)
{
	bool *ready = user;
	if (!is_stderr && size == 5 && memcmp(line, "ready", 5) == 0)
		*ready = true;
}

static bool is_set(void *user)
{
	return *(const bool *)user;
}

/* Allocate by our client against a @grpc/grpc-js server. */
static int measure_grpc_js(uv_loop_t *loop, struct samples *out, struct error *err)
{
	char *directory CLEANUP_FREE = NULL;
	int rc = file_make_temporary("/tmp", "gpucert-bench-", &directory, err);
	if (rc < 0)
		return rc;
	char *socket CLEANUP_FREE = path_join(directory, "js.sock");
	char *address CLEANUP_FREE = text_format("unix:%s", socket);
	const char *const argv[] = {
		"node", GPUCERT_BINARY_DIR "/npm/bench-grpc-js/server.mjs",
		socket, GPUCERT_SOURCE_DIR "/rpc/proto/deviceplugin_v1beta1.proto",
		"14",	NULL,
	};
	bool ready = false;
	const struct process_spec spec = {.argv = argv, .on_line = peer_line, .user = &ready};
	struct bench_sizes sizes = {0};
	struct process *process = NULL;
	struct rpc_channel *channel = NULL;

	rc = process_start(loop, &spec, &process, err);
	if (rc == 0)
		rc = loop_wait(loop, is_set, &ready, READY_TIMEOUT_MS, "the grpc-js server", err);
	if (rc == 0)
		rc = rpc_channel_open(loop, address, NULL, &channel, err);
	if (rc == 0)
		rc = rpc_channel_connect_wait(channel, READY_TIMEOUT_MS, err);
	if (rc == 0)
		rc = bench_allocate(channel, (size_t)options.calls / 4, out, &sizes, err);
	rpc_channel_close(channel);
	process_free(process);
	(void)file_remove_tree(directory, NULL);
	return rc;
}

static int bench_calls(uv_loop_t *loop, struct error *err)
{
	const size_t calls = (size_t)options.calls;
	struct samples ours CLEANUP_SAMPLES = {0};
	struct samples floor CLEANUP_SAMPLES = {0}; /* the raw echo of as many bytes */
	struct samples js CLEANUP_SAMPLES = {0};
	struct bench_plugin plugin = {0};
	struct bench_sizes sizes = {0};
	cpu_set_t before, one;

	samples_reserve(&ours, calls);
	samples_reserve(&floor, calls);
	samples_reserve(&js, calls);

	/* The client and its peer, which inherits this, on one processor: on two, an idle virtual
	 * processor takes longer to wake up than the whole call, for every peer, so that the ratios
	 * would say little about the work. */
	CPU_ZERO(&one);
	const bool pinned = sched_getaffinity(0, sizeof(before), &before) == 0;
	for (size_t i = 0; pinned && i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
		if (CPU_ISSET(i, &before))
			CPU_SET(i, &one);
	}
	if (pinned)
		(void)sched_setaffinity(0, sizeof(one), &one);

	int rc = bench_plugin_start(loop, 1, &plugin, err);
	if (rc == 0)
		rc = bench_allocate(plugin.channel, calls, &ours, &sizes, err);
	bench_plugin_stop(loop, &plugin);
	if (rc == 0)
		rc = echo_measure(sizes.request, sizes.reply, calls, &floor, err);
	if (rc == 0)
		rc = measure_grpc_js(loop, &js, err);
	if (pinned)
		(void)sched_setaffinity(0, sizeof(before), &before);
	if (rc < 0)
		return rc;

	const double p50 = samples_percentile_us(&ours, 50);
	const double p99 = samples_percentile_us(&ours, 99);
	const double echo = samples_percentile_us(&floor, 50);
	const double grpc_js = samples_percentile_us(&js, 50);
	table_row("Allocate, 14 mounts, answer's bytes", (double)sizes.reply, "B", 0);
	table_row("Allocate p50", p50, "us", 0);
	table_row("raw socket echo of the same bytes p50", echo, "us", 0);
	table_row("@grpc/grpc-js server p50", grpc_js, "us", 0);
	table_row("Allocate p50 / echo p50", p50 / echo, "x", 3);
	table_row("Allocate p99 / p50", p99 / p50, "x", 3);
	table_row("Allocate p50 / grpc-js p50", p50 / grpc_js, "x", 0.4);
	return 0;
}

static int bench_memory(uv_loop_t *loop, struct error *err)
{
	struct bench_plugin plugin = {0};
	struct samples dropped = {0};
	struct bench_sizes sizes = {0};
	double before = 0;
	double after = 0;

	int rc = bench_plugin_start(loop, 1, &plugin, err);
	if (rc == 0)
		rc = bench_allocate(plugin.channel, 1000, &dropped, &sizes, err);
	if (rc == 0)
		rc = bench_plugin_memory(&plugin, &before, err);
	if (rc == 0)
		rc = bench_allocate(plugin.channel, GROWTH_CALLS, &dropped, &sizes, err);
	if (rc == 0)
		rc = bench_plugin_memory(&plugin, &after, err);
	bench_plugin_stop(loop, &plugin);
	if (rc < 0)
		return rc;
	table_row("plugin resident memory, 4 devices", before / 1024, "MB", 6);
	table_row("growth over 100,000 calls", after - before, "KB", 64);

	rc = bench_plugin_start(loop, 250, &plugin, err);
	if (rc == 0)
		rc = bench_plugin_memory(&plugin, &after, err);
	if (rc == 0 && plugin.device_count != 1000)
		rc = error_set(err, ERROR_FORMAT, "%zu replicas instead of 1000",
			       plugin.device_count);
	bench_plugin_stop(loop, &plugin);
	if (rc == 0)
		table_row("plugin resident memory, 1,000 replicas", after / 1024, "MB", 12);
	return rc;
}

static int bench_start(uv_loop_t *loop, struct error *err)
{
	struct samples empty CLEANUP_SAMPLES = {0};
	struct samples start CLEANUP_SAMPLES = {0};
	const char *const argv[] = {GPUCERT_BINARY_DIR "/tests/bench_empty", NULL};
	const struct process_spec spec = {.argv = argv};
	int rc = 0;

	samples_reserve(&empty, STARTS);
	samples_reserve(&start, STARTS);
	for (int i = 0; rc == 0 && i < STARTS; i++) {
		struct process_result result = {0};
		struct bench_plugin plugin = {0};
		uint64_t begin = clock_monotonic_ns();
		rc = process_run(&spec, &result, err);
		samples_add(&empty, clock_monotonic_ns() - begin);
		process_result_free(&result);
		if (rc == 0)
			rc = bench_plugin_start(loop, 1, &plugin, err);
		samples_add(&start, plugin.registered_ns - plugin.started_ns);
		bench_plugin_stop(loop, &plugin);
	}
	if (rc < 0)
		return rc;
	double empty_ms = samples_percentile_us(&empty, 50) / 1000;
	double start_ms = samples_percentile_us(&start, 50) / 1000;
	table_row("empty program, start to end", empty_ms, "ms", 0);
	table_row("plugin, start to Register", start_ms, "ms", 0);
	table_row("start to Register / empty program", start_ms / empty_ms, "x", 4);
	return 0;
}

/* The seconds of a whole default run into a folder. */
static int run_gpucert(const char *directory, double *seconds, struct error *err)
{
	const char *const argv[] = {
		GPUCERT_BINARY_DIR "/bin/gpucert", "run", "--quiet", "--out", directory, NULL};
	const struct process_spec spec = {.argv = argv};
	struct process_result result = {0};
	uint64_t begin = clock_monotonic_ns();
	int rc = process_run(&spec, &result, err);
	*seconds = (double)(clock_monotonic_ns() - begin) / 1e9;
	process_result_free(&result);
	return rc;
}

/* The second of two runs, so that the image is cached. */
static int bench_run(struct error *err)
{
	static const char outside[] = "time outside CRI calls, probes and declared waits";
	char *directory CLEANUP_FREE = NULL;
	cJSON *report CLEANUP_JSON = NULL;
	double seconds = 0;
	int rc = file_make_temporary("/tmp", "gpucert-bench-", &directory, err);
	if (rc < 0)
		return rc;
	char *report_path CLEANUP_FREE = path_join(directory, "report.json");
	rc = run_gpucert(directory, &seconds, err);
	if (rc == 0)
		rc = run_gpucert(directory, &seconds, err);
	if (rc == 0)
		rc = json_read_file(report_path, &report, err);
	(void)file_remove_tree(directory, NULL);
	if (rc < 0)
		return rc;
	const cJSON *overhead = json_pointer(report, "/run/time/overheadPercent");
	table_row("gpucert run, image cached", seconds, "s", 30);
	if (cJSON_IsNumber(overhead))
		table_row(outside, overhead->valuedouble, "%", 15);
	else
		table_missing(outside, "the report has no run.time.overheadPercent");
	return 0;
}

static int bench_main(const struct text_list *arguments)
{
	struct error err = {0};
	uv_loop_t loop;

	(void)arguments;
	if (loop_open(&loop, &err) < 0) {
		(void)fprintf(stderr, "gpucert-bench: %s\n", err.text);
		return EXIT_FAILURE;
	}
	if (!options.matrix) {
		if (bench_calls(&loop, &err) < 0)
			table_missing("Allocate", err.text);
		if (bench_memory(&loop, &err) < 0)
			table_missing("memory", err.text);
		if (bench_start(&loop, &err) < 0)
			table_missing("start", err.text);
		if (growth_measure(&err) < 0)
			table_missing("growth", err.text);
		if (selection_measure(&err) < 0)
			table_missing("image select", err.text);
	}
	if (matrix_measure(&err) < 0)
		table_missing("matrix", err.text);
	if (options.run && bench_run(&err) < 0)
		table_missing("gpucert run", err.text);
	(void)loop_drain(&loop, READY_TIMEOUT_MS, NULL);
	return table_is_met() ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct option_spec specs[] = {
		{OPTION_ROW("calls", OPTION_INT, options.calls), .value = "N",
		 .help = "Allocate calls to time.", .min = 100, .max = 10000000},
		{OPTION_ROW("run", OPTION_FLAG, options.run),
		 .help = "Time a whole 'gpucert run' as well; needs root."},
		{OPTION_ROW("matrix", OPTION_FLAG, options.matrix),
		 .help = "Only measure 'gpucert matrix' and 'gpucert fleet merge'."},
		{.name = NULL},
	};
	const struct command_spec program = {
		.name = "gpucert-bench",
		.summary = "Print the table of figures",
		.options = specs,
		.run = bench_main,
	};
	memory_ends_process(EXIT_FAILURE);
	return options_main(&program, argc, argv);
}
