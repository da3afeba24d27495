/* SPDX-License-Identifier: MIT */
#pragma once

/* Two folders of Specs, as a runtime has them, for a test alone. */

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"

static char *root;
static struct text_list places;

static int open_folders(void)
{
	int rc = file_make_temporary(NULL, "cdi-", &root, NULL);
	for (size_t i = 0; rc == 0 && i < 2; i++) {
		char *folder = path_join(root, i == 0 ? "etc" : "run");
		rc = file_make_directories(folder, 0755, NULL);
		text_list_take(&places, folder);
	}
	return rc;
}

static int close_folders(void)
{
	int rc = file_remove_tree(root, NULL);
	text_list_free(&places);
	free(root);
	return rc;
}
