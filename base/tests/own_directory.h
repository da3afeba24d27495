/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"

static char *directory; /* of one test */

static inline char *in(const char *name)
{
	return path_join(directory, name);
}

static inline void begin(void)
{
	UNIT_INT(file_make_temporary(unit_temporary(), "gpucert-test-", &directory, NULL), 0);
}

static inline void end(void)
{
	UNIT_INT(file_remove_tree(directory, NULL), 0);
	CU_ASSERT_FALSE(file_exists(directory));
	free(STEAL(directory));
}
