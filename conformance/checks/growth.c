/* SPDX-License-Identifier: MIT */
#include "conformance/checks/growth.h"

#include "base/clock.h"
#include "conformance/checks/rig_usage.h"

#include <stdlib.h>

enum {
	ROUNDS = 8,
	ROUNDS_COUNTED = 32, /* for descriptors and threads, which are not garbage-collected */
	ROUNDS_MEMORY = 128,
	QUICK_MS = 6000,      /* for small leaks, and for values that go up and down */
	PATIENCE_MS = 60000,  /* for growth in slow rounds */
	MEMORY_LEAST = 65536, /* bytes over all rounds that are compared */
	/* A heap grows before its garbage is collected: Go's to 4 MiB, and that of Node.js by 16 MiB over the first 128
	 * rounds and, where nothing else uses the processors, by up to 45 MiB over the next 384. */
	MEMORY_SURE = 64 << 20,
	MEMORY_MAX = 1 << 30, /* beyond the first round: more would harm the node */
};

bool rig_usage(const struct rig *rig, struct usage *out)
{
	/* The process that we started may be a wrapper, and the plugin a daemon below another one. */
	int roots[2] = {rig->plugin != NULL ? process_id(rig->plugin) : 0, 0};
	if (rig->resources.count != 0 && rig->context->wine_directory == NULL)
		roots[1] = rig_peer(rig, rig->resources.items[0]);
	return usage_read(roots, ARRAY_SIZE(roots), out);
}

/* After a round. */
struct sample {
	struct usage usage;
	long long files; /* temporary ones */
};

static long long measure(const struct sample *sample, size_t which)
{
	const struct usage *usage = &sample->usage;
	const long long values[] = {usage->descriptors, usage->threads, sample->files,
				    usage->memory};
	return values[which];
}

enum { PARTS = 4, PART_MAX = GROWTH_ROUNDS_MAX / PARTS };

/* A part of the rounds, sorted. */
struct part {
	long long values[PART_MAX];
	size_t count;
};

static int compare_values(const void *a, const void *b)
{
	long long first = *(const long long *)a;
	long long second = *(const long long *)b;
	return (first > second) - (first < second);
}

/* The first of four is the start-up, and is ignored. */
static void read_part(const struct sample *rounds, size_t count, size_t which, size_t number,
		      struct part *out)
{
	out->count = count / PARTS;
	for (size_t i = 0; i < out->count; i++)
		out->values[i] = measure(&rounds[number * out->count + i], which);
	qsort(out->values, out->count, sizeof(out->values[0]), compare_values);
}

/* Does each third of the rounds after the start lie above the one before, ignoring an eighth of its values at each
 * end? Memory on a busy machine goes up and down. */
static bool grows(const struct sample *rounds, size_t count, size_t which, long long least)
{
	long long highest = 0; /* of the previous part */
	for (size_t number = 1; number < PARTS; number++) {
		struct part part = {0};
		read_part(rounds, count, which, number, &part);
		size_t odd = part.count / 8;
		if (number > 1 && part.values[odd] <= highest)
			return false;
		highest = part.values[part.count - 1 - odd];
	}
	return measure(&rounds[count - 1], which) - measure(&rounds[count / PARTS], which) >= least;
}

/* Is the last part above the first one, whatever is between them? */
static bool may_grow(const struct sample *rounds, size_t count, size_t which, long long least)
{
	struct part first = {0};
	struct part last = {0};
	read_part(rounds, count, which, 1, &first);
	read_part(rounds, count, which, PARTS - 1, &last);
	return last.values[last.count / 2] - first.values[first.count / 2] >= least;
}

struct measure {
	const char *what;
	long long least, sure;
	size_t rounds; /* after which growth by `sure` is certain to continue */
};

static const struct measure measures[] = {
	{"open descriptors", 1, 1, ROUNDS_COUNTED},
	{"threads", 1, 1, ROUNDS_COUNTED},
	{"temporary files", 1, 1, ROUNDS_COUNTED},
	{"bytes of memory", MEMORY_LEAST, MEMORY_SURE, ROUNDS_MEMORY},
};

static bool is_leak(const struct sample *rounds, size_t count, size_t which)
{
	return count >= measures[which].rounds && grows(rounds, count, which, measures[which].sure);
}

/* How long further rounds are useful, counted from the first, which was `ms` ago; 0: something certainly grows, or
 * nothing is likely to. */
static uint64_t patience_ms(const struct rig *rig, const struct sample *rounds, size_t count,
			    uint64_t ms)
{
	bool may = false;
	bool does = false;
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		if (is_leak(rounds, count, i))
			return 0;
		/* Slow rounds never become enough; the first may be the slowest. */
		if (ms / count * measures[i].rounds * 2 / 3 >
		    context_wait_ms(rig->context, PATIENCE_MS))
			continue;
		may = may || may_grow(rounds, count, i, measures[i].least);
		does = does || grows(rounds, count, i, measures[i].least);
	}
	if (!may && !does)
		return 0;
	return context_wait_ms(rig->context,
			       does && count < ROUNDS_MEMORY ? PATIENCE_MS : QUICK_MS);
}

void rig_expect_level(struct rig *rig, const char *what, growth_round *round, void *user)
{
	struct sample rounds[GROWTH_ROUNDS_MAX] = {0};
	const char *level = check_format(rig->run, "level over %s, again and again", what);
	const uint64_t start_ms = clock_monotonic_ms();
	size_t count = 0;
	for (size_t wanted = ROUNDS; wanted <= GROWTH_ROUNDS_MAX; wanted *= 2) {
		for (; count < wanted; count++) {
			if (!round(rig, user))
				return;
			if (!rig_usage(rig, &rounds[count].usage)) {
				check_note(rig->run,
					   "what the plugin's processes use is not known");
				return;
			}
			rounds[count].files = rig_temporary_files(rig);
			const long long grown = rounds[count].usage.memory - rounds[0].usage.memory;
			if (grown > MEMORY_MAX) {
				(void)check_expect_varying(
					rig->run, false, "bytes of memory of the plugin", level,
					"%lld more after %zu rounds", grown, count + 1);
				return;
			}
		}
		const uint64_t ms = clock_monotonic_ms() - start_ms;
		if (ms >= patience_ms(rig, rounds, count, ms))
			break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		const char *name = check_format(rig->run, "%s of the plugin", measures[i].what);
		long long first = measure(&rounds[count / 4], i);
		long long last = measure(&rounds[count - 1], i);
		if (is_leak(rounds, count, i))
			(void)check_expect_varying(rig->run, false, name, level,
						   "%lld after %zu rounds, %lld after %zu", first,
						   count / 4 + 1, last, count);
		else if (grows(rounds, count, i, measures[i].least))
			check_note(rig->run,
				   "%s: %lld after %zu rounds, %lld after %zu: too few to "
				   "know whether the growth continues",
				   name, first, count / 4 + 1, last, count);
		else
			(void)check_expect(rig->run, true, name, level, "level");
	}
}
