/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "reports/report_link.h"

#include "base/cleanup.h"
#include "base/file.h"

#define FOLDER GPUCERT_BINARY_DIR "/tests/report_link"

static void expect_link(const char *path, const char *wanted)
{
	struct text link CLEANUP_TEXT = {0};
	report_add_link(path, &link);
	UNIT_STRING(text_string(&link), wanted);
}

static void test_links(void)
{
	expect_link("runs/1/report.json", "runs/1/report.json");
	expect_link("../runs/Tesla T4/report.json", "../runs/Tesla%20T4/report.json");
	expect_link("javascript:alert(1)/report.json", "javascript%3Aalert%281%29/report.json");
	expect_link("a\"><script>/report.json", "a%22%3E%3Cscript%3E/report.json");
	expect_link("\xe2\x80\xae#?%/report.json", "%E2%80%AE%23%3F%25/report.json");
#ifdef _WIN32
	expect_link("C:\\runs\\1\\report.json", "file:///C:/runs/1/report.json");
	expect_link("\\\\server\\share\\report.json", "file://server/share/report.json");
	expect_link("runs\\1\\report.json", "runs/1/report.json");
#else
	expect_link("/runs/1/report.json", "file:///runs/1/report.json");
	expect_link("runs\\1/report.json", "runs%5C1/report.json");
#endif
}

/* The page of a report, where it has one. */
static void test_page(void)
{
	struct text link CLEANUP_TEXT = {0};
	CU_ASSERT_EQUAL_FATAL(file_remove_tree(FOLDER, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_directories(FOLDER, 0755, NULL), 0);
	report_add_link(FOLDER, &link);
	CU_ASSERT_TRUE(text_ends_with(text_string(&link), "/report_link/report.json"));
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(FOLDER "/report.html", "x", 1, 0644, NULL), 0);
	text_reset(&link);
	report_add_link(FOLDER, &link);
	CU_ASSERT_TRUE(text_ends_with(text_string(&link), "/report_link/report.html"));
	text_reset(&link);
	report_add_link(FOLDER "/report.json", &link);
	CU_ASSERT_TRUE(text_ends_with(text_string(&link), "/report_link/report.html"));
}

UNIT_MAIN("report links", {"links", test_links}, {"page", test_page})
