/* SPDX-License-Identifier: MIT */
#include "reference-plugin/tests/property/shrink.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <string.h>

enum { LAST_EVENTS = 16 };

/* Each chunk is left out, and stays out when the rest fails. */
static size_t without_chunks(size_t *events, size_t count, size_t chunk, shrink_fails *fails,
			     void *user)
{
	size_t *rest CLEANUP_FREE = memory_allocate(count + 1, sizeof(*rest));
	for (size_t at = 0; at < count;) {
		size_t size = chunk < count - at ? chunk : count - at;
		memcpy(rest, events, at * sizeof(*rest));
		memcpy(rest + at, events + at + size, (count - at - size) * sizeof(*rest));
		if (fails(rest, count - size, user)) {
			count -= size;
			memcpy(events, rest, count * sizeof(*rest));
		} else {
			at += size;
		}
	}
	return count;
}

size_t shrink(size_t *events, size_t count, shrink_fails *fails, void *user)
{
	for (size_t last = LAST_EVENTS; last < count; last *= 2) {
		if (!fails(events + count - last, last, user))
			continue;
		memmove(events, events + count - last, last * sizeof(*events));
		count = last;
	}
	for (size_t chunk = count / 2; chunk > 1; chunk /= 2)
		count = without_chunks(events, count, chunk, fails, user);
	for (size_t before = count + 1; count < before;) {
		before = count;
		count = without_chunks(events, count, 1, fails, user);
	}
	return count;
}
