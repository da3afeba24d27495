/* SPDX-License-Identifier: MIT */
#pragma once

/* Makes the folder of a run that never was, with its journal, reports and evidence. */

#include "base/text.h"

/* Pieces of evidence: a text, JSON, one of this many bytes that is the same each time, an empty one. */
enum { FOLDER_LARGE_SIZE = 9 * 1024 * 1024 + 5 };
#define FOLDER_TEXT  "evidence/a.one/01-answer-0000:01:00.0.txt"
#define FOLDER_JSON  "evidence/a.one/02-answer.json"
#define FOLDER_LARGE "evidence/a.one/03-log.txt"
#define FOLDER_EMPTY "evidence/a.one/04-nothing.txt"

/* How many files it has. */
size_t sample_files(void);

/* Below `directory`, which is made. `salt` makes it another run. */
void sample_make(const char *directory, const char *salt);

/* Overwrites one of its files. */
void sample_put(const char *directory, const char *name, const char *data, size_t size);

/* Do both have the same files with the same content, journal, reports and evidence? */
void sample_expect_same(const char *directory, const char *other);

/* How many partial files a pull has left, and the size of the last; 0, too, where there is no folder. */
size_t sample_partials(const char *directory, unsigned long long *size);
