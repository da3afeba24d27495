/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Paths as text; only path_of_program() touches the file system. They follow the rules of the
 * system that the program runs on: on Windows '\\' and '/' both separate (results have '\\'),
 * "C:\\", "\\\\server\\share" and "\\" begin an absolute path, and case does not matter.
 */

#include "base/error.h"

#include <stdbool.h>

#ifdef _WIN32
#define PATH_PROGRAM_SUFFIX ".exe"
#else
#define PATH_PROGRAM_SUFFIX ""
#endif

/* "a/b" from "a" and "b"; even an absolute `tail` is put below `head`. NULL: out of memory. */
char *path_join(const char *head, const char *tail);

/* The part after the last '/', within `path`. */
const char *path_base(const char *path);

/* Everything before the last '/', "." without one, "/" for the root. NULL: out of memory. */
char *path_directory(const char *path);

bool path_is_absolute(const char *path);

/* Removes "//", "/./" and resolves "/../" by text. An absolute path cannot rise above "/". NULL:
 * out of memory. */
char *path_normalize(const char *path);

/* Is the normalised `path` equal to or below the normalised `directory`? Both absolute. By text: a
 * caller that needs more resolves symbolic links first. */
bool path_is_within(const char *path, const char *directory);

/* A bare file name: not empty, not "." or "..", no '/', no '\\', no control characters. */
bool path_is_bare_name(const char *name);

/* The absolute path of the running program. Caller frees *out. */
int path_of_program(char **out, struct error *err);

/* A path relative to the directory of the running program ("../libexec/gpucert/probe-vulkan"),
 * normalised: build tree and installed tree have the same shape. Caller frees *out. */
int path_beside_program(const char *relative, char **out, struct error *err);

/* A file of libexec/gpucert, the folder of helper programs, found from a running program in that folder or in one next
 * to libexec ("probe-vulkan"; ".": the folder). Caller frees *out. */
int path_of_helper(const char *name, char **out, struct error *err);
