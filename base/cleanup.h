/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Cleanup attributes for locals. A local that owns something is initialised where it is declared
 * and carries one of these; STEAL() hands the value over to the caller or to a structure.
 */

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

/* "unused": a local that only holds something until the end of its scope is in use. */
#define CLEANUP(function) __attribute__((cleanup(function), unused))

#define CLEANUP_FREE CLEANUP(cleanup_free_)
#define CLEANUP_FILE CLEANUP(cleanup_file_)
#define CLEANUP_FD   CLEANUP(cleanup_fd_) /* initialise with -1 */
#define CLEANUP_DIR  CLEANUP(cleanup_dir_)
#define CLEANUP_JSON CLEANUP(cleanup_json_)

/* Takes the value, a pointer or a structure, out of the variable and leaves NULL or zeros there. */
#define STEAL(variable)                                                                            \
	__extension__({                                                                            \
		__typeof__(variable) stolen_ = (variable);                                         \
		(variable) = (__typeof__(variable)){0};                                            \
		stolen_;                                                                           \
	})

/* Takes the file descriptor out of the variable and leaves -1 there. */
#define STEAL_FD(fd)                                                                               \
	__extension__({                                                                            \
		int stolen_ = (fd);                                                                \
		(fd) = -1;                                                                         \
		stolen_;                                                                           \
	})

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static inline void cleanup_free_(void *pointer)
{
	free(*(void **)pointer);
}

static inline void cleanup_file_(FILE **file)
{
	if (*file != NULL)
		(void)fclose(*file);
}

static inline void cleanup_json_(cJSON **json)
{
	cJSON_Delete(*json);
}

/* Defined in cleanup.c: they need operating-system headers. */
void cleanup_fd_(int *fd);
void cleanup_dir_(void *dir); /* DIR ** */
