/* SPDX-License-Identifier: MIT */
/* Load: many calls, many clients, a slow reader, and none at all. */
#include "base/clock.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/growth.h"
#include "conformance/checks/list_and_watch.h"
#include "conformance/checks/rig_usage.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"

#include <stdlib.h>
#include <string.h>

enum {
	CALLS = 64, /* of a round */
	CALLS_THOROUGH = 1250,
	ROUND_MS = 1000, /* limit of a round, for a slow plugin */
	CALLS_LEAST = 8,
	REFUSED = 16, /* beside them */
	SLOWER = 4,   /* times */
	SLOWER_MS = 10,
	SLOW_STREAMS = 3, /* the kubelet's own, one that is not read, and a call */
	STALLED_MS = 1000,
	STALLED_THOROUGH_MS = 600000,
	IDLE_MS = 1000,
	IDLE_WINDOWS = 3,
	IDLE_THOROUGH_MS = 20000,
	BUSY_PERCENT = 90, /* percent of the time ready to run: it never sleeps */
};

struct load {
	const struct rig_item *item;
	struct rpc_answer first;
	bool stable;
	size_t rounds, calls;
	uint64_t high[GROWTH_ROUNDS_MAX],
		middle[GROWTH_ROUNDS_MAX]; /* milliseconds: of 99 in 100 calls, of half of them */
};

static int compare_times(const void *a, const void *b)
{
	const uint64_t *left = a;
	const uint64_t *right = b;
	return (*left > *right) - (*left < *right);
}

/* One round of calls, one after the other, for each id in turn; and of some that are refused. */
static bool call_round(struct rig *rig, void *user)
{
	struct load *load = user;
	const struct rig_item *item = load->item;
	uint64_t times[CALLS_THOROUGH] = {0};
	size_t most = rig->context->thorough ? CALLS_THOROUGH : CALLS;
	size_t count = 0;
	uint64_t start_ms = clock_monotonic_ms();
	while (count < most &&
	       (count < CALLS_LEAST || clock_monotonic_ms() - start_ms < ROUND_MS)) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct allocate_difference difference = {0};
		size_t index = load->calls++ % item->ids->count;
		const V1beta1__ContainerAllocateResponse *answer = allocate_expect(
			rig, item->resource, (const char *const *)&item->ids->items[index], 1,
			check_format(rig->run, "Allocate after %zu others", load->calls - 1),
			&reply);
		if (answer == NULL)
			return false;
		times[count++] = reply.duration_ms;
		if (index == 0 && allocate_changed(load->stable, rig_first_response(&load->first),
						   answer, &difference))
			return check_expect(rig->run, false,
					    check_format(rig->run, "%s after %zu calls",
							 item->ids->items[0], load->calls - 1),
					    difference.first, "%s", difference.second);
	}
	/* Calls that are refused, each for another id; their time does not count. */
	for (size_t i = 0; i < REFUSED; i++) {
		const char *unknown = check_format(rig->run, "%s-%zu", RIG_UNKNOWN_ID,
						   load->rounds * REFUSED + i);
		struct rpc_answer refused CLEANUP_RPC_ANSWER = {0};
		struct error err = {0};
		int rc = rig_allocate(rig, item->resource, &unknown, 1, &refused, &err);
		if (rc < 0)
			return check_expect_ok(rig->run, rc,
					       "Allocate of an unknown id is answered", &err);
	}
	qsort(times, count, sizeof(*times), compare_times);
	if (load->rounds < GROWTH_ROUNDS_MAX) {
		load->high[load->rounds] = times[(count - 1) * 99 / 100];
		load->middle[load->rounds++] = times[count / 2];
	}
	return true;
}

/* The minimum of some rounds: other work on the machine makes single rounds slow, a slow plugin all of them. */
static uint64_t least(const uint64_t *times, size_t count)
{
	uint64_t value = times[0];
	for (size_t i = 1; i < count; i++)
		value = times[i] < value ? times[i] : value;
	return value;
}

/* Other checks that run at the same time may write CDI Specs, too, but few. */
static long long count_files(const struct rig *rig)
{
	long long count = rig_count_files(kubelet_plugin_dir(rig->kubelet));
	text_each (directory, &rig->context->cdi_directories)
		count += rig_count_files(directory);
	return count;
}

static void many_calls(struct rig *rig, const struct rig_item *item)
{
	const long long files = count_files(rig);
	struct load load = {.item = item, .stable = allocate_is_stable(rig, item)};
	if (allocate_expect(rig, item->resource, rig_ids(item->ids), 1, "Allocate of one device",
			    &load.first) != NULL)
		rig_expect_level(rig, "calls of Allocate, some of which are refused", call_round,
				 &load);
	rpc_answer_free(&load.first);
	if (load.rounds < 4)
		return;
	check_note(rig->run, "%zu calls of Allocate", load.calls);
	(void)check_expect_at_most_measured(
		rig->run, "more files in the plugin directory and the CDI folders",
		count_files(rig) - files, (long long)load.calls / 2);
	(void)check_expect_at_most(rig->run, "milliseconds for 99 of 100 calls",
				   (long long)least(load.high, load.rounds),
				   requirement_limit(CHECK_LOAD_01));
	size_t half = load.rounds / 2;
	uint64_t early = least(load.middle, half);
	uint64_t late = least(&load.middle[half], load.rounds - half);
	(void)check_expect_at_most_measured(rig->run, "milliseconds for a call after all others",
					    (long long)late,
					    (long long)(early * SLOWER + SLOWER_MS));
}

/* A stream that nobody reads must block neither calls nor other streams. */
static void slow_reader(struct rig *rig, const struct rig_item *item)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, item->resource);
	struct kubelet_stream *stalled CLEANUP_KUBELET_STREAM = NULL;
	struct kubelet_stream *other CLEANUP_KUBELET_STREAM = NULL;
	struct error err = {0};
	int rc = kubelet_plugin_expect_connected(plugin, &err);
	if (!rig_expect_ok(rig, rc, "the kubelet's connection", &err))
		return;
	uint32_t most = rpc_channel_streams_max(kubelet_plugin_channel(plugin));
	if (most < SLOW_STREAMS) {
		check_not_applicable(rig->run,
				     "the plugin takes %u streams at a time, this needs %d",
				     (unsigned)most, SLOW_STREAMS);
		return;
	}
	if (!list_need_further(rig, item->resource))
		return;
	rc = kubelet_stream_open(plugin, NULL, &stalled, &err);
	if (!rig_expect_ok(rig, rc, "a stream", &err))
		return;
	kubelet_stream_pause(stalled);
	(void)rig_watch(rig, STALLED_MS, STALLED_THOROUGH_MS);
	if (!allocate_expect_first(rig, item, "Allocate while a stream is not read"))
		return;
	(void)check_expect_is(rig->run, kubelet_stream_state(rig_stream(rig, item->resource)).open,
			      "the kubelet's own stream", "open", "closed");
	rc = kubelet_stream_open(plugin, NULL, &other, &err);
	if (rc == 0)
		rc = kubelet_stream_wait(other, context_wait_ms(rig->context, RIG_CALL_MS), &err);
	(void)rig_expect_ok(rig, rc, "a list on another stream meanwhile", &err);
}

static long long growth_of(uint64_t before, uint64_t after)
{
	return after > before ? (long long)(after - before) : 0;
}

/* The first of several windows within the limit, or the smallest one: a process that starts up, or collects
 * garbage, works for a while. */
static void idle_processor(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	struct usage before = {0};
	long long percent = -1;
	if (rig == NULL)
		return;
	if (!rig_usage(rig, &before)) {
		check_unsupported(run, "what the plugin's processes use is not known");
		return;
	}
	/* A stream that its client has left must not cause work. */
	rig_each (resource, rig) {
		struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
		struct kubelet_stream *stream CLEANUP_KUBELET_STREAM = NULL;
		if (plugin != NULL && kubelet_plugin_is_connected(plugin) &&
		    rpc_channel_streams_max(kubelet_plugin_channel(plugin)) >= SLOW_STREAMS &&
		    kubelet_stream_open(plugin, NULL, &stream, NULL) == 0)
			(void)kubelet_stream_wait(stream,
						  context_limit_ms(rig->context, STALLED_MS), NULL);
	}
	if (!rig_usage(rig, &before)) {
		check_unsupported(run, "the plugin ended when a client left its stream");
		return;
	}
	long long limit = rig_idle_percent(rig, requirement_limit(CHECK_LOAD_08));
	size_t printed = rig->output.size;
	uint64_t begin_ms = clock_monotonic_ms();
	for (size_t i = 0; i < IDLE_WINDOWS && (percent < 0 || percent > limit); i++) {
		struct usage after = {0};
		uint64_t start_ns = clock_monotonic_ns();
		(void)rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS);
		uint64_t duration_ms = (clock_monotonic_ns() - start_ns) / 1000000;
		if (!rig_usage(rig, &after)) {
			(void)check_expect(run, false, "the plugin", "still running", "ended");
			return;
		}
		long long used = growth_of(before.cpu_ms, after.cpu_ms);
		long long now = used * 100 / (long long)duration_ms;
		long long waited = growth_of(before.wait_ms, after.wait_ms);
		long long ready = (used + waited) * 100 / (long long)duration_ms;
		now = ready >= BUSY_PERCENT ? ready : now;
		percent = percent < 0 || now < percent ? now : percent;
		before = after;
	}
	(void)check_expect_at_most(run, "percent of a processor, idle", percent, limit);
	uint64_t watched_ms = clock_monotonic_ms() - begin_ms;
	(void)check_expect_at_most(
		run, "bytes of output a second, idle",
		(long long)((rig->output.size - printed) * 1000 / (watched_ms + 1)),
		RIG_IDLE_OUTPUT);
}

#define LOAD(name, rule, severity, revision, body, ...)                                            \
	CHECK("load." name, rule, severity, revision, rig_each_resource, .timeout_s = 720,         \
	      .needs = {.devices = 1}, .depends_on = "allocate.one-response", .judge = (body),     \
	      __VA_ARGS__)

const struct check load_checks[] = {
	LOAD("many-calls", LOAD_01, MEDIUM, 4, many_calls,
	     .title = "Many calls of Allocate neither slow down nor leak",
	     .advice =
		     "Keep nothing from call to call, and close what a call opened: compare the "
		     "plugin's /proc/PID/fd and its memory before and after, of refused calls, too."),
	LOAD("parallel-clients", LOAD_06, MEDIUM, 1, allocate_parallel_clients,
	     .title = "Clients on several connections are served at the same time",
	     .advice = "Serve each connection on its own: after a restart a kubelet connects while "
		       "the old connection is still open."),
	LOAD("slow-reader", LOAD_07, MEDIUM, 1, slow_reader,
	     .title = "A stream that is not read holds up nothing else",
	     .advice = "Send on each stream by itself, without a lock that calls need: a busy "
		       "kubelet reads late."),
	CHECK("load.idle", LOAD_08, MEDIUM, 1, idle_processor, .timeout_s = 300,
	      .title = "An idle plugin leaves the processor alone",
	      .advice = "Wait for events in place of asking in a loop; a select with a default "
			"branch in Go is such a loop.",
	      .needs = {.devices = 1}, .depends_on = "list-and-watch.arrives"),
	{.id = NULL},
};
