/* SPDX-License-Identifier: MIT */
#pragma once

/* Parts that the two launchers share. Internal to launch/. */

#include "base/arena.h"
#include "containers/launch/launch.h"

enum { LAUNCH_OUTPUT_MAX = 1024 * 1024 }; /* bytes kept of stdout, and of stderr */

struct launch {
	struct launcher *launcher;
	struct launch_result result;
	struct arena arena; /* of strings */
	uint64_t timeout_ms;
	bool finished; /* the result is complete, and nothing remains to be cleaned up */
};

struct launcher_class {
	size_t launch_size; /* of its own launch structure, which begins with `struct launch` */
	/* The spec has been checked. A program that cannot run is a result. */
	int (*start)(struct launcher *launcher, struct launch *launch,
		     const struct launch_spec *spec, struct error *err);
	/* Ends with `finished`. `stop`: kill instead of waiting. */
	int (*finish)(struct launch *launch, bool stop, struct error *err);
	/* NULL: programs cannot be held. As launch_wait_held(). */
	int (*wait_held)(struct launch *launch, int64_t *pid, struct error *err);
	int (*release)(struct launch *launch, const char *line, struct error *err);
	void (*free_launch)(struct launch *launch);
	void (*free_launcher)(struct launcher *launcher);
};

struct launcher {
	const struct launcher_class *class;
	enum launch_system system;
};

/* Does the command's first word contain a folder? Then it is not the name of a probe. */
bool launch_is_path(enum launch_system system, const char *word);

/* Sets end and reason (copied); the first call wins. */
void launch_ended(struct launch *launch, enum launch_end end, const char *reason);

/* Parts that differ between systems. */
const char *host_signal_name(int number); /* NULL: it has none */
bool host_has_seccomp(void); /* asking for a filter that the kernel cannot have is an error */
int host_make_fifo(const char *path, struct error *err); /* ERROR_UNSUPPORTED on Windows */
