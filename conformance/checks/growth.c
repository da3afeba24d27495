/* SPDX-License-Identifier: MIT */
#include "conformance/checks/growth.h"

#include "base/clock.h"
#include "rpc/client.h"

enum {
	ROUNDS = 8,
	ROUNDS_COUNTED = 32, /* what is counted in ones is never collected */
	ROUNDS_MEMORY = 128,
	QUICK_MS = 6000,      /* for ROUNDS_MEMORY: quick rounds go on, for small leaks */
	PATIENCE_MS = 60000,  /* on a machine that is not known to be slow */
	MEMORY_LEAST = 65536, /* bytes over all rounds that are compared */
	/* A heap grows before its garbage is collected: Go's to 4 MiB, and that of Node.js by 2 KiB a stream over many
	 * thousands of them. */
	MEMORY_SURE = 8 << 20,
};

bool rig_usage(const struct rig *rig, struct usage *out)
{
	/* The process that we started may be a wrapper, and the plugin a daemon below another one. */
	int roots[2] = {rig->plugin != NULL ? process_id(rig->plugin) : 0, 0};
	if (rig->resources.count != 0) {
		struct kubelet_plugin *plugin =
			kubelet_resource_plugin(rig->kubelet, rig->resources.items[0]);
		struct rpc_channel *channel =
			plugin != NULL ? kubelet_plugin_channel(plugin) : NULL;
		if (channel != NULL && rig->context->wine_directory == NULL)
			roots[1] = rpc_channel_peer(channel);
	}
	return usage_read(roots, ARRAY_SIZE(roots), out);
}

static long long measure(const struct usage *usage, size_t which)
{
	const long long values[] = {usage->descriptors, usage->threads, usage->memory};
	return values[which];
}

/* The first quarter of the rounds is the start. Of the rest, cut in three, each part lies above the one before. */
static bool grows(const struct usage *rounds, size_t count, size_t which, long long least)
{
	size_t part = count / 4;
	long long highest = 0; /* of the part before */
	for (size_t p = 1; p <= 3; p++) {
		long long low = measure(&rounds[p * part], which);
		long long high = low;
		for (size_t i = p * part; i < (p + 1) * part; i++) {
			long long value = measure(&rounds[i], which);
			low = value < low ? value : low;
			high = value > high ? value : high;
		}
		if (p > 1 && low <= highest)
			return false;
		highest = high;
	}
	return measure(&rounds[count - 1], which) - measure(&rounds[part], which) >= least;
}

struct measure {
	const char *what;
	long long least, sure;
	size_t rounds; /* after which growth by `sure` is certain to continue */
};

static const struct measure measures[] = {
	{"open descriptors", 1, 1, ROUNDS_COUNTED},
	{"threads", 1, 1, ROUNDS_COUNTED},
	{"bytes of memory", MEMORY_LEAST, MEMORY_SURE, ROUNDS_MEMORY},
};

static bool is_leak(const struct usage *rounds, size_t count, size_t which)
{
	return count >= measures[which].rounds && grows(rounds, count, which, measures[which].sure);
}

/* Is something certain to grow, or nothing at all growing? */
static bool is_decided(const struct usage *rounds, size_t count)
{
	bool growing = false;
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		if (is_leak(rounds, count, i))
			return true;
		growing = growing || grows(rounds, count, i, measures[i].least);
	}
	return !growing;
}

void rig_expect_level(struct rig *rig, const char *what, growth_round *round, void *user)
{
	struct usage rounds[GROWTH_ROUNDS_MAX] = {0};
	const uint64_t slow_ms = context_wait_ms(rig->context, PATIENCE_MS);
	uint64_t start_ms = clock_monotonic_ms();
	size_t count = 0;
	for (size_t wanted = ROUNDS; wanted <= GROWTH_ROUNDS_MAX; wanted *= 2) {
		for (; count < wanted; count++) {
			if (!round(rig, user))
				return;
			if (!rig_usage(rig, &rounds[count])) {
				check_note(rig->run,
					   "what the plugin's processes use is not known");
				return;
			}
		}
		uint64_t patience_ms = count < ROUNDS_MEMORY ? slow_ms : QUICK_MS;
		if (is_decided(rounds, count) || clock_monotonic_ms() - start_ms > patience_ms)
			break;
	}
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++) {
		const char *name = check_format(rig->run, "%s of the plugin", measures[i].what);
		const char *wanted = check_format(rig->run, "level over %s, again and again", what);
		long long first = measure(&rounds[count / 4], i);
		long long last = measure(&rounds[count - 1], i);
		if (is_leak(rounds, count, i))
			(void)check_expect_varying(rig->run, false, name, wanted,
						   "%lld after %zu rounds, %lld after %zu", first,
						   count / 4 + 1, last, count);
		else if (grows(rounds, count, i, measures[i].least))
			check_note(rig->run,
				   "%s: %lld after %zu rounds, %lld after %zu: too few to "
				   "know whether the growth continues",
				   name, first, count / 4 + 1, last, count);
		else
			(void)check_expect(rig->run, true, name, wanted, "level");
	}
}
