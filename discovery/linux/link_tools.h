/* SPDX-License-Identifier: MIT */
#pragma once

#include "discovery/linux/runtime_files.h"

/*
 * What `ld -shared ... -lm -lgcc -lgcc_s -lc` needs where a Clang driver calls it: the linker with
 * its libraries ("linker"), the marks and libraries of the newest GCC ("compiler-library"), and the
 * link-time forms of libm and libc with the files that they name ("link-library"). ERROR_NOT_FOUND
 * names what is not installed.
 */
int runtime_add_link_tools(struct runtime *runtime, struct error *err);

/* Compares version names by their numbers: "12" is after "9", "4.9.2" after "4.9". As strcmp(). */
int version_compare(const char *a, const char *b);
