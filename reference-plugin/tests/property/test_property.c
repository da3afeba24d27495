/* SPDX-License-Identifier: MIT */
/*
 * Random events of a kubelet and of the reference plugin, against the model of a device manager.
 *
 *   PROPERTY_SEED=N     another seed; "random": one that is drawn
 *   PROPERTY_COUNT=N    so many events
 *   PROPERTY_EVENTS=... only these events of the seed, separated by commas: a failure prints them
 *   PROPERTY_LOG=1      every event of the kubelet, as it happens
 */
#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/tests/unit.h"
#include "reference-plugin/tests/property/events.h"
#include "reference-plugin/tests/property/shrink.h"
#include "reference-plugin/tests/property/virtual_time.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	COUNT = 2000,
	HANG_S = 120, /* without an event */
	REPLAYS_MAX = 2000,
	PROGRESS_EVERY = 10000,
};

/* What a child leaves. */
struct progress {
	size_t done;
	struct error failure;
};

struct run {
	uint64_t seed;
	enum kubelet_profile profile;
	bool lies;
	size_t replays;
	struct progress *progress; /* shared with the child */
};

static void run_events(const struct run *run, const size_t *events, size_t count)
{
	struct progress *progress = run->progress;
	struct error *err = &progress->failure;
	struct node node;
	(void)alarm(HANG_S);
	int rc = node_open(&node, run->profile, err);
	node.lies = run->lies;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct event event = event_draw(run->seed, events[i]);
		(void)alarm(HANG_S);
		if (getenv("PROPERTY_LOG") != NULL) {
			struct text line CLEANUP_TEXT = {0};
			event_describe(&event, &line);
			(void)fprintf(stderr, "%llu %s\n", (unsigned long long)virtual_time_ms(),
				      text_string(&line));
		}
		progress->done = i + 1;
		rc = event_apply(&event, &node, err);
		if (count > COUNT && i % PROGRESS_EVERY == PROGRESS_EVERY - 1)
			(void)printf("%zu events\n", i + 1);
	}
	if (rc == 0)
		rc = node_settle(&node, err);
	if (rc == 0)
		rc = node_close(&node, err);
	(void)fflush(stdout);
	/* Leaks are looked for at exit. */
	if (rc == 0)
		exit(0);
	_exit(1);
}

/* In a process of its own, which may crash. */
static bool fails(const size_t *events, size_t count, void *user)
{
	struct run *run = user;
	int status = 0;
	if (run->replays++ >= REPLAYS_MAX)
		return false;
	*run->progress = (struct progress){0};
	(void)fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		run_events(run, events, count);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		abort();
	if (WIFSIGNALED(status))
		(void)error_set(&run->progress->failure, ERROR_FORMAT, "ended by signal %d",
				WTERMSIG(status));
	else if (run->progress->failure.code == 0 && WEXITSTATUS(status) != 0)
		(void)error_set(&run->progress->failure, ERROR_FORMAT, "exit code %d",
				WEXITSTATUS(status));
	return run->progress->failure.code != 0;
}

/* Prints what is left of a sequence that fails, and how to repeat it. */
static size_t report(const struct run *run, size_t *events)
{
	struct run again = *run;
	(void)printf("\nseed %llu, event %zu: %s\n", (unsigned long long)run->seed,
		     run->progress->done, run->progress->failure.text);
	size_t count = shrink(events, run->progress->done, fails, &again);
	again.replays = 0;
	if (!fails(events, count, &again))
		(void)printf("it does not fail again\n");
	struct text list CLEANUP_TEXT = {0};
	struct text lines CLEANUP_TEXT = {0};
	for (size_t i = 0; i < count; i++) {
		struct event event = event_draw(run->seed, events[i]);
		text_addf(&list, "%s%zu", i > 0 ? "," : "", events[i]);
		text_add(&lines, "  ");
		event_describe(&event, &lines);
		text_add(&lines, "\n");
	}
	(void)printf("it takes %zu events: %s\n%s"
		     "PROPERTY_SEED=%llu PROPERTY_EVENTS=%s test_plugin_property\n",
		     count, run->progress->failure.text, text_string(&lines),
		     (unsigned long long)run->seed, text_string(&list));
	return count;
}

static struct run open_run(enum kubelet_profile profile)
{
	const char *seed = getenv("PROPERTY_SEED");
	struct run run = {.seed = 1, .profile = profile};
	struct timespec now = {0};
	if (seed != NULL && strcmp(seed, "random") == 0) {
		(void)clock_gettime(CLOCK_REALTIME, &now);
		run.seed = (uint64_t)now.tv_nsec % 1000000;
	} else if (seed != NULL) {
		run.seed = strtoull(seed, NULL, 10);
	}
	run.progress = mmap(NULL, sizeof(*run.progress), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run.progress == MAP_FAILED)
		abort();
	log_set_level(getenv("PROPERTY_LOG") != NULL ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR);
	return run;
}

static void survive(enum kubelet_profile profile)
{
	const char *list = getenv("PROPERTY_EVENTS");
	const char *wanted = getenv("PROPERTY_COUNT");
	struct run run = open_run(profile);
	size_t count = wanted != NULL ? strtoull(wanted, NULL, 10) : COUNT;
	if (list != NULL)
		count = strlen(list); /* at most */
	size_t *events CLEANUP_FREE = memory_allocate(count + 1, sizeof(*events));
	for (size_t i = 0; list == NULL && i < count; i++)
		events[i] = i;
	if (list != NULL) {
		char *end = NULL;
		count = 0;
		for (const char *at = list; *at != '\0'; at = *end == ',' ? end + 1 : end)
			events[count++] = strtoull(at, &end, 10);
	}
	(void)printf("seed %llu, %zu events\n", (unsigned long long)run.seed, count);
	if (fails(events, count, &run)) {
		(void)report(&run, events);
		CU_FAIL("the plugin or the kubelet differs from the model");
	}
	(void)munmap(run.progress, sizeof(*run.progress));
}

static void test_kubelet_1_36(void)
{
	survive(KUBELET_PROFILE_1_36);
}

static void test_kubelet_1_37(void)
{
	survive(KUBELET_PROFILE_1_37);
}

static bool has_3_and_70(const size_t *events, size_t count, void *user)
{
	bool three = false;
	bool seventy = false;
	(void)user;
	for (size_t i = 0; i < count; i++) {
		three = three || events[i] == 3;
		seventy = seventy || events[i] == 70;
	}
	return three && seventy;
}

static void test_shrinking(void)
{
	size_t events[100];
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		events[i] = i;
	UNIT_INT(shrink(events, ARRAY_SIZE(events), has_3_and_70, NULL), 2);
	UNIT_INT(events[0], 3);
	UNIT_INT(events[1], 70);
}

/* A node whose plugin sees a device as healthy that is not. */
static void test_deviation_is_found(void)
{
	size_t events[COUNT];
	if (getenv("PROPERTY_EVENTS") != NULL)
		return;
	struct run run = open_run(KUBELET_PROFILE_1_36);
	run.seed = 1;
	run.lies = true;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		events[i] = i;
	UNIT_NEED(fails(events, ARRAY_SIZE(events), &run));
	UNIT_INT(report(&run, events), 1);
	struct event event = event_draw(run.seed, events[0]);
	struct text line CLEANUP_TEXT = {0};
	event_describe(&event, &line);
	UNIT_STRING(text_string(&line), "device d3 is unhealthy");
	(void)munmap(run.progress, sizeof(*run.progress));
}

UNIT_MAIN("property", {"shrinking", test_shrinking},
	  {"a deviation is found", test_deviation_is_found}, {"kubelet 1.36", test_kubelet_1_36},
	  {"kubelet 1.37", test_kubelet_1_37})
