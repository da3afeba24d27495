/* SPDX-License-Identifier: MIT */
#pragma once

/* An API of COM on a real device of which single methods are replaced. The tables of methods are shared
 * by all objects of a kind, so that what is put into one reaches the objects that the probe makes. */

#include "base/tests/unit.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#include <stdbool.h>
#include <stddef.h>

/* The table of an object, of `size` bytes, made writable, and a copy of it in `original`. NULL: it
 * cannot be written to. */
void *methods_of(void *object, void *original, size_t size);

/* Every table as it was. */
void methods_restore(void);

/* Work on the only device, after which every table is as it was. */
struct work_report methods_work(const struct api_driver *api, void *session, size_t elements,
				uint64_t timeout_ms);

/* The whole of main(): opens the API, finds the tables, runs the tests, and ends without exit handlers:
 * the last test may have left the device alone. 77: the API is missing, and that is no failure. */
int methods_main(const char *suite, const struct api_driver *api, void **session,
		 bool (*find)(struct error *err), CU_TestInfo *tests, bool may_be_missing);
