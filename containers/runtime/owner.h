/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Who a run directory belongs to, as owner.json in it:
 *
 *   {"pid": 4711, "startTime": 123456, "boot": "UUID", "pidNamespace": 4026531836,
 *    "cri": "unix:///..."}
 *
 * startTime is field 22 of /proc/PID/stat (clock ticks since boot): with it a reused process id is
 * not taken for the owner. "cri" is there when the run is attached to a runtime that is not its
 * own.
 */

#include "base/error.h"

#include <stdint.h>

#define OWNER_FILE "owner.json"

enum owner_state {
	OWNER_ALIVE,
	OWNER_DEAD,
	OWNER_FOREIGN, /* of another PID namespace: cannot be told from here */
};

/* Writes the calling process as the owner of `directory`. `cri` may be NULL. */
int owner_write(const char *directory, const char *cri, struct error *err);

/* ERROR_NOT_FOUND: no owner.json; ERROR_FORMAT: it cannot be read as one. `cri` receives the
 * attached runtime's address or NULL; caller frees. */
int owner_read(const char *directory, enum owner_state *state, char **cri, struct error *err);

/* Field 22 of a /proc/PID/stat line and its state letter; the program's name in it may hold
 * anything. ERROR_FORMAT. */
int owner_parse_stat(const char *line, char *letter, uint64_t *start_time, struct error *err);
