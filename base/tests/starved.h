/* SPDX-License-Identifier: MIT */
#pragma once

/* Calls `call` again and again, each time with another allocation that fails, until none is left to fail. Expects that it
 * returns ERROR_MEMORY each time and frees what it had: the sanitizers look for the rest. Programs that use it are linked
 * with gpucert_starved(). */
void starved_each(int (*call)(void *user), void *user);
