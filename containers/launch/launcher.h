/* SPDX-License-Identifier: MIT */
#pragma once

/* What the two launchers share. Internal to launch/. */

#include "containers/launch/launch.h"

enum { LAUNCH_TIMEOUT_MS = 60 * 1000, LAUNCH_OUTPUT_MAX = 1024 * 1024 };

struct launch {
	struct launcher *launcher;
	struct launch_result result;
	uint64_t timeout_ms;
	size_t output_max;
	bool finished; /* result is complete, nothing is left to clean up */
};

struct launcher_class {
	const char *name;
	bool isolates;
	size_t launch_size; /* of its own launch structure, which begins with `struct launch` */
	/* The spec has been checked. What keeps the program from running is put into the result. */
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
	enum launch_system system; /* never LAUNCH_SYSTEM_OF_HOST */
};

#ifdef _WIN32
#define LAUNCH_HOST LAUNCH_WINDOWS
#else
#define LAUNCH_HOST LAUNCH_LINUX
#endif

/* LAUNCH_SYSTEM_OF_HOST resolved. */
enum launch_system launch_system(enum launch_system system);

/* Has the command's first word a folder in it? Then it is no probe's name. */
bool launch_is_path(enum launch_system system, const char *word);

/* Sets end and reason (copied); keeps what was set first. */
int launch_ended(struct launch *launch, enum launch_end end, const char *reason, struct error *err);
int launch_note(struct launch *launch, struct error *err, const char *format, ...)
	PRINTF_LIKE(3, 4);
