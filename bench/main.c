/* SPDX-License-Identifier: MIT */
/*
 * Prints the table of figures: times as ratios within this run, because machines differ.
 * usage: gpucert-bench [--calls N] [--run]
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/options.h"
#include "base/path.h"
#include "base/text.h"
#include "bench/echo.h"
#include "bench/growth.h"
#include "bench/plugin.h"
#include "bench/table.h"
#include "rpc/loop.h"

#include <sched.h>
#include <string.h>

enum { MOUNTS = 14, STARTS = 21, GROWTH_CALLS = 100000, READY_TIMEOUT_MS = 20000 };

static struct {
	int64_t calls;
	bool run;
} options = {.calls = 20000};

static const char node_file[] = GPUCERT_SOURCE_DIR "/bench/node.json";

struct peer {
	bool ready;
};

static void peer_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct peer *peer = user;
	if (!is_stderr && size == 5 && memcmp(line, "ready", 5) == 0)
		peer->ready = true;
}

static bool peer_is_ready(void *user)
{
	const struct peer *peer = user;
	return peer->ready;
}

/* Allocate by our client against a @grpc/grpc-js server. */
static int measure_grpc_js(uv_loop_t *loop, struct samples *out, struct error *err)
{
	struct peer peer = {0};
	char *directory CLEANUP_FREE = NULL;
	char *socket CLEANUP_FREE = NULL;
	char *address CLEANUP_FREE = NULL;
	struct process *process = NULL;
	struct rpc_channel *channel = NULL;
	int rc = file_make_temporary("/tmp", "gpucert-bench-", &directory, err);
	socket = rc == 0 ? path_join(directory, "js.sock") : NULL;
	address = rc == 0 ? text_format("unix:%s/js.sock", directory) : NULL;
	if (rc == 0 && (socket == NULL || address == NULL))
		rc = error_memory(err);
	if (rc == 0) {
		const char *const argv[] = {
			"node", GPUCERT_BINARY_DIR "/npm/bench-grpc-js/server.mjs",
			socket, GPUCERT_SOURCE_DIR "/rpc/proto/deviceplugin_v1beta1.proto",
			"14",	NULL,
		};
		struct process_spec spec = {.argv = argv, .on_line = peer_line, .user = &peer};
		rc = process_start(loop, &spec, &process, err);
	}
	if (rc == 0)
		rc = loop_wait(loop, peer_is_ready, &peer, READY_TIMEOUT_MS, "the grpc-js server",
			       err);
	if (rc == 0)
		rc = rpc_channel_open(loop, address, NULL, &channel, err);
	if (rc == 0)
		rc = bench_allocate(channel, "0000:03:00.0::0", (size_t)options.calls / 4, out,
				    NULL, NULL, err);
	rpc_channel_close(channel);
	process_free(process);
	if (directory != NULL)
		(void)file_remove_tree(directory, NULL);
	return rc;
}

/* The client and its peer on one processor: on two, an idle virtual processor takes longer to wake
 * up than the whole call, and the same for each peer, so that the ratios would say little about the
 * work. Children inherit it. */
static void pin_to_one_processor(cpu_set_t *before)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(*before), before) < 0)
		return;
	for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
		if (CPU_ISSET(i, before))
			CPU_SET(i, &one);
	}
	(void)sched_setaffinity(0, sizeof(one), &one);
}

/* Fills the three sets of samples: the plugin, the raw echo, and the grpc-js server. */
static int measure_calls(uv_loop_t *loop, struct samples *ours, struct samples *floor,
			 struct samples *peer, size_t *reply_size, struct error *err)
{
	struct bench_plugin plugin = {0};
	size_t request_size = 0;
	int rc = bench_plugin_start(loop, node_file, 1, &plugin, err);
	if (rc < 0)
		return rc;
	rc = bench_plugin_connect(&plugin, err);
	if (rc == 0)
		rc = bench_allocate(plugin.channel, plugin.device_id, (size_t)options.calls, ours,
				    &request_size, reply_size, err);
	bench_plugin_stop(&plugin);
	if (rc == 0)
		rc = echo_measure(request_size, *reply_size, (size_t)options.calls, floor, err);
	return rc == 0 ? measure_grpc_js(loop, peer, err) : rc;
}

static int bench_calls(uv_loop_t *loop, struct table *table, struct error *err)
{
	struct samples ours CLEANUP_SAMPLES = {0};
	struct samples floor CLEANUP_SAMPLES = {0};
	struct samples peer CLEANUP_SAMPLES = {0};
	cpu_set_t processors;
	size_t reply_size = 0;
	double p50 = 0;
	int rc = samples_reserve(&ours, (size_t)options.calls, err);
	if (rc == 0)
		rc = samples_reserve(&floor, (size_t)options.calls, err);
	if (rc == 0)
		rc = samples_reserve(&peer, (size_t)options.calls, err);
	if (rc < 0)
		return rc;
	pin_to_one_processor(&processors);
	rc = measure_calls(loop, &ours, &floor, &peer, &reply_size, err);
	(void)sched_setaffinity(0, sizeof(processors), &processors);
	if (rc < 0)
		return rc;
	p50 = samples_percentile_us(&ours, 50);
	table_row(table, "Allocate, 14 mounts, answer's bytes", (double)reply_size, "B", 0);
	table_row(table, "Allocate p50", p50, "us", 0);
	table_row(table, "raw socket echo of the same bytes p50", samples_percentile_us(&floor, 50),
		  "us", 0);
	table_row(table, "@grpc/grpc-js server p50", samples_percentile_us(&peer, 50), "us", 0);
	table_row(table, "Allocate p50 / echo p50", p50 / samples_percentile_us(&floor, 50), "x",
		  3);
	table_row(table, "Allocate p99 / p50", samples_percentile_us(&ours, 99) / p50, "x", 3);
	table_row(table, "Allocate p50 / grpc-js p50", p50 / samples_percentile_us(&peer, 50), "x",
		  0.4);
	return 0;
}

static int bench_memory(uv_loop_t *loop, struct table *table, struct error *err)
{
	struct samples dropped CLEANUP_SAMPLES = {0};
	struct bench_plugin plugin = {0};
	double before = 0;
	double after = 0;
	int rc = bench_plugin_start(loop, node_file, 1, &plugin, err);
	if (rc == 0)
		rc = bench_plugin_connect(&plugin, err);
	if (rc == 0)
		rc = bench_allocate(plugin.channel, plugin.device_id, 1000, &dropped, NULL, NULL,
				    err);
	if (rc == 0)
		rc = bench_plugin_memory(&plugin, &before, err);
	if (rc == 0)
		rc = bench_allocate(plugin.channel, plugin.device_id, GROWTH_CALLS, &dropped, NULL,
				    NULL, err);
	if (rc == 0)
		rc = bench_plugin_memory(&plugin, &after, err);
	bench_plugin_stop(&plugin);
	if (rc < 0)
		return rc;
	table_row(table, "plugin resident memory, 4 devices", before / 1024, "MB", 6);
	table_row(table, "growth over 100,000 calls", after - before, "KB", 64);
	rc = bench_plugin_start(loop, node_file, 250, &plugin, err);
	if (rc == 0)
		rc = bench_plugin_connect(&plugin, err);
	if (rc == 0)
		rc = bench_plugin_memory(&plugin, &after, err);
	if (rc == 0 && plugin.device_count != 1000)
		rc = error_set(err, ERROR_FORMAT, "%zu replicas instead of 1000",
			       plugin.device_count);
	bench_plugin_stop(&plugin);
	if (rc == 0)
		table_row(table, "plugin resident memory, 1,000 replicas", after / 1024, "MB", 12);
	return rc;
}

static int bench_start(uv_loop_t *loop, struct table *table, struct error *err)
{
	struct samples empty CLEANUP_SAMPLES = {0};
	struct samples start CLEANUP_SAMPLES = {0};
	const char *const argv[] = {GPUCERT_BINARY_DIR "/tests/bench_empty", NULL};
	struct process_spec spec = {.argv = argv};
	int rc = samples_reserve(&empty, STARTS, err);
	if (rc == 0)
		rc = samples_reserve(&start, STARTS, err);
	for (int i = 0; rc == 0 && i < STARTS; i++) {
		struct process_result result = {0};
		struct bench_plugin plugin = {0};
		uint64_t begin = clock_monotonic_ns();
		rc = process_run(&spec, &result, err);
		samples_add(&empty, clock_monotonic_ns() - begin);
		process_result_free(&result);
		if (rc == 0)
			rc = bench_plugin_start(loop, node_file, 1, &plugin, err);
		if (rc == 0) {
			samples_add(&start, plugin.registered_ns - plugin.started_ns);
			bench_plugin_stop(&plugin);
		}
	}
	if (rc < 0)
		return rc;
	table_row(table, "empty program, start to end", samples_percentile_us(&empty, 50) / 1000,
		  "ms", 0);
	table_row(table, "plugin, start to Register", samples_percentile_us(&start, 50) / 1000,
		  "ms", 0);
	table_row(table, "start to Register / empty program",
		  samples_percentile_us(&start, 50) / samples_percentile_us(&empty, 50), "x", 4);
	return 0;
}

/* A whole default run; the second of two, so that the image is cached. */
static int bench_run(struct table *table, struct error *err)
{
	char *directory CLEANUP_FREE = NULL;
	char *program CLEANUP_FREE = NULL;
	char *report_path CLEANUP_FREE = NULL;
	cJSON *report CLEANUP_JSON = NULL;
	const cJSON *overhead = NULL;
	uint64_t begin = 0;
	double seconds = 0;
	int rc = file_make_temporary("/tmp", "gpucert-bench-", &directory, err);
	if (rc == 0)
		rc = path_beside_program("../bin/gpucert", &program, err);
	for (int i = 0; rc == 0 && i < 2; i++) {
		const char *const argv[] = {program, "run", "--quiet", "--out", directory, NULL};
		struct process_spec spec = {.argv = argv};
		struct process_result result = {0};
		begin = clock_monotonic_ns();
		rc = process_run(&spec, &result, err);
		seconds = (double)(clock_monotonic_ns() - begin) / 1e9;
		process_result_free(&result);
	}
	report_path = rc == 0 ? path_join(directory, "report.json") : NULL;
	if (rc == 0)
		rc = json_read_file(report_path, &report, err);
	if (directory != NULL)
		(void)file_remove_tree(directory, NULL);
	if (rc < 0)
		return rc;
	overhead = json_pointer(report, "/run/time/overheadPercent");
	table_row(table, "gpucert run, image cached", seconds, "s", 30);
	if (cJSON_IsNumber(overhead))
		table_row(table, "time outside CRI calls, probes and declared waits",
			  overhead->valuedouble, "%", 15);
	else
		table_missing(table, "time outside CRI calls, probes and declared waits",
			      "the report has no run.time.overheadPercent");
	return 0;
}

static int bench_main(const struct text_list *arguments)
{
	struct table table = {0};
	struct error err = {0};
	uv_loop_t loop;
	(void)arguments;
	if (loop_open(&loop, &err) < 0) {
		(void)fprintf(stderr, "gpucert-bench: %s\n", err.text);
		return EXIT_FAILURE;
	}
	if (bench_calls(&loop, &table, &err) < 0)
		table_missing(&table, "Allocate", err.text);
	if (bench_memory(&loop, &table, &err) < 0)
		table_missing(&table, "memory", err.text);
	if (bench_start(&loop, &table, &err) < 0)
		table_missing(&table, "start", err.text);
	if (growth_measure(&table, &err) < 0)
		table_missing(&table, "growth", err.text);
	if (options.run && bench_run(&table, &err) < 0)
		table_missing(&table, "gpucert run", err.text);
	(void)loop_drain(&loop, READY_TIMEOUT_MS, NULL);
	return table.missed == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct option_spec specs[] = {
		{OPTION_ROW("calls", OPTION_INT, options.calls), .value = "N",
		 .help = "Allocate calls to time.", .min = 100, .max = 10000000},
		{OPTION_ROW("run", OPTION_FLAG, options.run),
		 .help = "Time a whole 'gpucert run' as well; needs root."},
		{.name = NULL},
	};
	const struct command_spec program = {
		.name = "gpucert-bench",
		.summary = "Print the table of figures",
		.options = specs,
		.run = bench_main,
	};
	return options_main(&program, argc, argv);
}
