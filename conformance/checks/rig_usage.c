/* SPDX-License-Identifier: MIT */
#include "conformance/checks/rig_usage.h"

#include "base/clock.h"
#include "base/file.h"
#include "conformance/subject/usage.h"

#include <stdlib.h>
#include <string.h>

enum {
	MORE_DESCRIPTORS = 4,
	SETTLE_MS = 5000,
	IDLE_PERCENT = 20, /* of a processor */
	IDLE_PERCENT_MAX = 75,
	THREADS_MAX = 256,
	QUIET_NS = 2000000, /* of processor time, and of waiting for it, in each observation */
	QUIET_LOOKS = 3,
	QUIET_MS = 10000,
	WINDOWS = 4,
	WINDOWS_MAX = 40, /* on a machine that is slow, or too busy to decide */
};

int rig_process(const struct rig *rig)
{
	int pid = 0;
	rig_each (resource, rig) {
		if (pid == 0)
			pid = rig_peer(rig, resource);
	}
	if (pid == 0 && rig->plugin != NULL && !process_has_ended(rig->plugin))
		pid = process_id(rig->plugin);
	return pid;
}

long long rig_count_files(const char *folder)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	return file_list(folder, &names, NULL) == 0 ? (long long)names.count : 0;
}

long long rig_temporary_files(const struct rig *rig)
{
	return rig_count_files(check_path(rig->run, RIG_TEMPORARY));
}

bool rig_footprint(const struct rig *rig, struct rig_footprint *out)
{
	int pid = rig_process(rig);
	char *status CLEANUP_FREE = pid != 0 ? usage_read_file(pid, "status") : NULL;
	out->descriptors = status != NULL ? usage_descriptors(pid) : -1;
	if (out->descriptors < 0)
		return false;
	out->threads = usage_field(status, "\nThreads:");
	out->files = rig_temporary_files(rig);
	out->resident_kib = usage_field(status, "\nVmHWM:");
	out->virtual_kib = usage_field(status, "\nVmPeak:");
	return true;
}

struct release {
	const struct rig *rig;
	const struct rig_footprint *most;
	struct rig_footprint *now;
	bool known;
};

static bool is_released(void *user)
{
	struct release *release = user;
	release->known = rig_footprint(release->rig, release->now);
	return !release->known || (release->now->descriptors <= release->most->descriptors &&
				   release->now->threads <= release->most->threads);
}

bool rig_wait_footprint(struct rig *rig, const struct rig_footprint *most, uint64_t ms,
			struct rig_footprint *now)
{
	struct release release = {.rig = rig, .most = most, .now = now};
	(void)rig_wait(rig, is_released, &release, context_wait_ms(rig->context, ms),
		       "the release of descriptors", NULL);
	return release.known;
}

void rig_expect_footprint(struct rig *rig, const struct rig_footprint *before, long long threads)
{
	struct rig_footprint most = *before;
	struct rig_footprint now = {0};
	most.descriptors += MORE_DESCRIPTORS;
	most.threads += threads;
	if (before->descriptors < 0) {
		check_note(rig->run, "the plugin's descriptors and threads cannot be counted");
		return;
	}
	bool known = rig_wait_footprint(rig, &most, SETTLE_MS, &now);
	if (!check_expect_is(rig->run, known, "the plugin", "still running", "ended"))
		return;
	(void)check_expect_at_most_measured(rig->run, "open descriptors of the plugin afterwards",
					    now.descriptors, most.descriptors);
	(void)check_expect_at_most_measured(rig->run, "threads of the plugin afterwards",
					    now.threads, most.threads);
}

/* The processor time of each thread, and the time that it waited for a processor, as a busy machine makes it. A wait is counted when
 * it ends: one that is not asleep may have waited for all the rest of the time. */
struct scheduling {
	struct scheduled {
		long long thread, ran_ns, waited_ns;
		bool asleep; /* waits for something to happen: neither for a processor nor for a disk */
	} items[THREADS_MAX];
	size_t count;
};

static struct scheduling scheduling_of(int pid)
{
	struct scheduling out = {.count = 0};
	struct text_list threads CLEANUP_TEXT_LIST = {0};
	char *directory CLEANUP_FREE = text_format("/proc/%d/task", pid);
	if (pid == 0 || file_list(directory, &threads, NULL) != 0)
		return out;
	text_each (thread, &threads) {
		char *name CLEANUP_FREE = text_format("task/%s/schedstat", thread);
		char *stat_name CLEANUP_FREE = text_format("task/%s/stat", thread);
		char *text CLEANUP_FREE = usage_read_file(pid, name);
		char *stat CLEANUP_FREE = usage_read_file(pid, stat_name);
		if (text == NULL || stat == NULL || out.count == THREADS_MAX)
			continue;
		char *end = NULL;
		const char *state = strrchr(stat, ')'); /* proc(5): "1 (name) R ..." */
		struct scheduled *item = &out.items[out.count++];
		item->thread = strtoll(thread, NULL, 10);
		item->ran_ns = strtoll(text, &end, 10);
		item->waited_ns = strtoll(end, NULL, 10);
		item->asleep = state != NULL && text_starts_with(state, ") S");
	}
	return out;
}

/* The thread that was busiest since `before`: its share of the time in which it had a processor or needed none,
 * in percent. -1: unknown, one of them may have slept or waited for longer than it ran. */
static long long busiest(const struct scheduling *before, const struct scheduling *after,
			 uint64_t passed_ns)
{
	long long most = 0;
	items_each (item, after->items, after->count) {
		struct scheduled now = *item;
		items_each (then, before->items, before->count) {
			if (then->thread != now.thread)
				continue;
			now.ran_ns -= then->ran_ns;
			now.waited_ns -= then->waited_ns;
		}
		long long rest_ns = (long long)passed_ns - now.waited_ns;
		if (!now.asleep && now.ran_ns < rest_ns - now.ran_ns)
			return -1;
		long long percent =
			now.ran_ns * 100 / (rest_ns > now.ran_ns ? rest_ns : now.ran_ns + 1);
		most = percent > most ? percent : most;
	}
	return most;
}

struct quiet {
	int pid;
	long long ran_ns, waited_ns;
	unsigned looks;
};

/* Did it need no processor at the last observations? Then it has finished its start-up, even on a slow
 * machine. */
static bool is_quiet(void *user)
{
	struct quiet *quiet = user;
	const struct scheduling now = scheduling_of(quiet->pid);
	long long ran_ns = 0;
	long long waited_ns = 0;
	bool asleep = true;
	items_each (thread, now.items, now.count) {
		asleep = asleep && thread->asleep;
		ran_ns += thread->ran_ns;
		waited_ns += thread->waited_ns;
	}
	bool still = now.count == 0 ||
		     (asleep && quiet->ran_ns > 0 && ran_ns - quiet->ran_ns < QUIET_NS &&
		      waited_ns - quiet->waited_ns < QUIET_NS);
	quiet->ran_ns = ran_ns;
	quiet->waited_ns = waited_ns;
	quiet->looks = still ? quiet->looks + 1 : 0;
	return now.count == 0 || quiet->looks >= QUIET_LOOKS;
}

long long rig_idle_percent(const struct rig *rig, long long percent)
{
	long long scaled = (long long)context_wait_ms(rig->context, (uint64_t)percent);
	return scaled < IDLE_PERCENT_MAX ? scaled : IDLE_PERCENT_MAX;
}

void rig_expect_idle(struct rig *rig, uint64_t ms, uint64_t thorough_ms, const char *during)
{
	struct quiet quiet = {.pid = rig_process(rig)};
	(void)rig_wait(rig, is_quiet, &quiet, context_wait_ms(rig->context, QUIET_MS), "its start",
		       NULL);
	/* A plugin that is not idle needs it all the time; a slow start-up ends. */
	uint64_t duration_ms = rig->context->thorough ? thorough_ms : ms;
	const long long limit = rig_idle_percent(rig, IDLE_PERCENT);
	const bool is_slow = rig->context->timeout_percent > 100;
	long long least = -1;
	long long least_output = -1;
	long long least_lists = -1;
	for (int i = 0, known = 0;
	     i < WINDOWS_MAX && (known < WINDOWS || (is_slow && least > limit)); i++) {
		const struct scheduling before = scheduling_of(quiet.pid);
		uint64_t start_ns = clock_monotonic_ns();
		const size_t printed = rig->output.size;
		const size_t listed = rig->lists.count;
		loop_run_for(&rig->loop, duration_ms / WINDOWS);
		const struct scheduling after = scheduling_of(quiet.pid);
		uint64_t passed_ns = clock_monotonic_ns() - start_ns;
		check_add_time(rig->run, REPORT_PHASE_WAIT, passed_ns);
		const long long output =
			(long long)((rig->output.size - printed) * 1000000000 / (passed_ns + 1));
		const long long lists =
			(long long)((rig->lists.count - listed) * 1000000000 / (passed_ns + 1));
		least_output = least_output < 0 || output < least_output ? output : least_output;
		least_lists = least_lists < 0 || lists < least_lists ? lists : least_lists;
		bool running = before.count > 0 && after.count > 0;
		long long percent = running ? busiest(&before, &after, passed_ns) : -1;
		known += !running || percent >= 0;
		if (percent < 0)
			continue;
		least = least < 0 || percent < least ? percent : least;
	}
	if (thorough_ms != ms)
		check_add_watched(rig->run, duration_ms, thorough_ms);
	if (least >= 0)
		(void)check_expect_at_most(
			rig->run,
			check_format(rig->run, "%% of a processor that the plugin needed %s",
				     during),
			least, limit);
	(void)check_expect_at_most(
		rig->run,
		check_format(rig->run, "bytes a second that the plugin printed %s", during),
		least_output, RIG_IDLE_OUTPUT);
	(void)check_expect_at_most(rig->run,
				   check_format(rig->run, "device lists a second %s", during),
				   least_lists, requirement_limit(CHECK_LAW_14));
}
