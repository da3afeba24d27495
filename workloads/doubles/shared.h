/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A device that does not isolate its users: the state that all processes with a driver's double
 * share, in the file of the word "shared=PATH". Without it nothing is shared. Further words select
 * the fault:
 *
 *   residue   memory comes from the file, for each process from the start, with its old content
 *   lost      once a program has crashed or hung, the device is lost for everybody
 *   alone     a process works only while no other one has the device open
 *   mixed     a result is wrong when another process has the device open
 *   kept      memory that a process did not free is never free again; there are 5 MiB
 */

#include <stdbool.h>
#include <stddef.h>

/* Opens the device for this process; once. */
void shared_open(void);

/* Zeroed memory, unless "residue" or "kept" change that. NULL: none left. */
void *shared_allocate(size_t size);
void shared_free(void *memory, size_t size);

void shared_fail(void); /* this program broke the device */
bool shared_is_lost(void);

/* Before work: waits if "alone" is set. True: the work must fail. */
bool shared_begin(void);
