/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A driver of Level Zero for tests, loaded by the real loader (its tables: levelzero_double_tables.c),
 * and, since it exports the functions under their own names, loader and driver in one if there is no
 * real loader. Its devices work on the processor and know one module, that of the probe. A command
 * list does nothing until it is closed and executed.
 */

#include <level_zero/ze_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The second driver of a test has other devices. */
#ifndef DOUBLE_FIRST_DEVICE
#define DOUBLE_FIRST_DEVICE 0
#endif

enum { DOUBLE_DEVICES_MAX = 16, DOUBLE_ARGUMENTS = 6, DOUBLE_COMMANDS_MAX = 16 };

struct double_argument {
	void *memory;
	uint32_t number;
	float scale;
};

struct double_command {
	enum { DOUBLE_COPY, DOUBLE_FILL, DOUBLE_KERNEL } kind;
	void *to;
	const void *from;
	size_t size;
	uint32_t pattern;
	struct double_argument arguments[DOUBLE_ARGUMENTS];
};

struct double_object {
	size_t index;					    /* of a device */
	struct double_argument arguments[DOUBLE_ARGUMENTS]; /* of a kernel */
	bool closed;					    /* a list; a fence: signalled */
	size_t command_count;
	struct double_command commands[DOUBLE_COMMANDS_MAX];
};

/* Ends the process when out of memory. */
struct double_object *double_object_new(void);

/* Returns the configured failure. */
#define ENTER(name)                                                                                \
	do {                                                                                       \
		const int result_ = setting_enter(#name);                                          \
		if (result_ != 0)                                                                  \
			return (ze_result_t)result_;                                               \
	} while (0)
