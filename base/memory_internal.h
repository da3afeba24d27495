/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/memory.h"

/* The process's exit code when memory runs out; negative: the process continues. */
extern int memory_exit_code_;

/* `memory`, unless it is NULL and ends the process. */
void *memory_checked_(void *memory);
