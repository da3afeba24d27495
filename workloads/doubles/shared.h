/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A device that does not keep its users apart: what all processes on a driver's double share, in the
 * file that the word "shared=PATH" names. Without it nothing is shared. What goes wrong is told by
 * further words:
 *
 *   residue   memory comes from the file, for each process from its beginning, as it was left
 *   lost      once a program has crashed or hung, the device is lost for everybody
 *   alone     a process works when no other one has the device open
 *   mixed     a result is wrong when another process has the device open
 *   kept      memory that a process did not free is never free again; there are 5 MiB
 */

#include <stdbool.h>
#include <stddef.h>

/* A process opens the device; once. */
void shared_open(void);

/* Zeroed memory, or what "residue" and "kept" make of it. NULL: there is none left. */
void *shared_allocate(size_t size);
void shared_free(void *memory, size_t size);

void shared_fail(void); /* this program broke the device */
bool shared_is_lost(void);

/* Before work: waits as "alone" wants it. True: it is to go wrong. */
bool shared_begin(void);
