/* SPDX-License-Identifier: MIT */
#pragma once

/* The program that a process of this machine runs, as reported by the system (Linux: /proc). */

#include "base/text.h"

struct running_program {
	char *name;	   /* of its file: "node" */
	char *file;	   /* where this process can read it, even when deleted or in another mount
			    * namespace: "/proc/7/exe" */
	char *root;	   /* prefix of the paths that it sees: "/proc/7/root" */
	char *directory;   /* its working directory, as it sees it */
	char *search_path; /* its PATH; "" when it has none */
	struct text_list words; /* its command line */
};

#define CLEANUP_RUNNING_PROGRAM __attribute__((cleanup(running_program_free)))
void running_program_free(struct running_program *program);

/* ERROR_NOT_FOUND: no such process. ERROR_PERMISSION: it is somebody else's. ERROR_UNSUPPORTED on
 * Windows. */
int running_program_read(int pid, struct running_program *out, struct error *err);

/* Where this process can read the file that the program knows as `path`; a relative path is one
 * from its working directory. NULL: no such regular file, or out of memory. Caller frees. */
char *running_program_path(const struct running_program *program, const char *path);

/* The same for a program that it starts by name: with a slash as above, otherwise searched in its
 * PATH. */
char *running_program_find(const struct running_program *program, const char *name);
