/* SPDX-License-Identifier: MIT */
/* Libraries, and what is known of the system. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/library.h"
#include "base/os_version.h"
#include "base/path.h"
#include "base/tests/unit.h"

static void test_open(void)
{
	void *handle = NULL;
	double (*cosine)(double) = NULL;
	char text[512] = "";
	struct error err = {0};
	UNIT_INT(library_open("libm.so.6", &handle, &err), 0);
	UNIT_INT(library_function(handle, "cos", &cosine, &err), 0);
	CU_ASSERT_DOUBLE_EQUAL(cosine(0.0), 1.0, 0.0);
	library_path(handle, text, sizeof(text));
	CU_ASSERT_TRUE(path_is_absolute(text) && file_exists(text));
	library_version(handle, text, sizeof(text));
	UNIT_STRING(text, "");
	UNIT_INT(library_function(handle, "no_such_function", &cosine, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "no_such_function");
}

static void test_what_cannot_be_opened(void)
{
	char *directory CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = NULL;
	void *handle = NULL;
	struct error err = {0};
	UNIT_INT(library_open("libno-such-library.so.9", &handle, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "libno-such-library.so.9");
	UNIT_INT(file_make_temporary(unit_temporary(), "gpucert-test-", &directory, NULL), 0);
	path = path_join(directory, "text.so");
	UNIT_INT(file_write_atomic(path, "no library", 10, 0600, NULL), 0);
	UNIT_INT(library_open(path, &handle, &err), ERROR_UNAVAILABLE);
	UNIT_CONTAINS(err.text, "text.so");
	UNIT_INT(file_remove_tree(directory, NULL), 0);
}

static void test_system(void)
{
	struct os_version version = {0};
	UNIT_INT(os_version_read(&version, NULL), 0);
	CU_ASSERT_TRUE(version.product[0] != '\0');
	UNIT_STRING(version.wine, "");
	CU_ASSERT_TRUE(version.kernel[0] != '\0');
}

UNIT_MAIN("libraries", {"open", test_open}, {"what cannot be opened", test_what_cannot_be_opened},
	  {"the system", test_system})
