/* SPDX-License-Identifier: MIT */
/* What a run removes from its output folder, and what it never touches. */
#include "conformance/runner/output.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "reports/journal.h"

#include <unistd.h>

static char *directory; /* of one test */

static char *in(const char *name)
{
	return path_join(directory, name);
}

static bool is_there(const char *name)
{
	char *path CLEANUP_FREE = in(name);
	return file_exists(path);
}

static void put(const char *name)
{
	char *path CLEANUP_FREE = in(name);
	char *parent CLEANUP_FREE = path_directory(path);
	UNIT_INT(file_make_directories(parent, 0755, NULL), 0);
	UNIT_INT(file_write_atomic(path, "{}", 2, 0644, NULL), 0);
}

static void put_journal(void)
{
	char *path CLEANUP_FREE = in(JOURNAL_FILE_NAME);
	const struct journal_run run = {.id = "earlier"};
	struct journal *journal CLEANUP_JOURNAL = NULL;
	struct error err = {0};
	UNIT_INT(journal_create(path, &run, &journal, &err), 0);
	UNIT_INT(journal_begin_check(journal, "api.vulkan", 1000, &err), 0);
	UNIT_STRING(err.text, "");
}

static void begin(void)
{
	UNIT_INT(file_make_temporary(unit_temporary(), "gpucert-test-", &directory, NULL), 0);
}

static void end(void)
{
	UNIT_INT(file_remove_tree(directory, NULL), 0);
	free(STEAL(directory));
}

static int open_output(struct error *err)
{
	int lock = -1;
	char *held CLEANUP_FREE = NULL;
	int rc = output_open(directory, &lock, &held, err);
	if (lock >= 0)
		(void)close(lock);
	return rc;
}

static void test_an_earlier_run_is_replaced(void)
{
	struct error err = {0};
	begin();
	put("notes.txt");
	UNIT_INT(open_output(&err), 0);
	put_journal();
	put("report.json");
	put("junit.xml");
	put("evidence/api.vulkan/01-document.json");
	UNIT_INT(open_output(&err), 0);
	UNIT_STRING(err.text, "");
	CU_ASSERT_FALSE(is_there(JOURNAL_FILE_NAME));
	CU_ASSERT_FALSE(is_there("report.json"));
	CU_ASSERT_FALSE(is_there("junit.xml"));
	CU_ASSERT_FALSE(is_there("evidence"));
	CU_ASSERT_TRUE(is_there("notes.txt"));
	end();
}

static void test_what_is_of_others_stays(void)
{
	static const char *const names[] = {"evidence/case42/doc.txt", "report.json", "junit.xml"};
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		begin();
		put(names[i]);
		UNIT_INT(open_output(&err), ERROR_ARGUMENT);
		UNIT_CONTAINS(err.text, "no journal of a run");
		CU_ASSERT_TRUE(is_there(names[i]));
		end();
	}
	begin();
	put("journal.ndjson");
	put("report.json");
	UNIT_INT(open_output(&err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, "journal.ndjson");
	CU_ASSERT_TRUE(is_there("report.json"));
	end();
	begin();
	put_journal();
	put("evidence/case42/doc.txt");
	put("evidence/api.vulkan/01-document.json");
	UNIT_INT(open_output(&err), 0);
	CU_ASSERT_TRUE(is_there("evidence/case42/doc.txt"));
	CU_ASSERT_FALSE(is_there("evidence/api.vulkan"));
	end();
}

static void test_one_run_at_a_time(void)
{
	struct error err = {0};
	int first CLEANUP_FD = -1;
	int second = -1;
	char *held CLEANUP_FREE = NULL;
	char *other CLEANUP_FREE = NULL;
	begin();
	UNIT_INT(output_open(directory, &first, &held, &err), 0);
	put_journal();
	UNIT_INT(output_open(directory, &second, &other, &err), ERROR_ARGUMENT);
	UNIT_CONTAINS(err.text, "another run is writing to ");
	CU_ASSERT_TRUE(is_there(JOURNAL_FILE_NAME));
	(void)close(STEAL_FD(first));
	UNIT_INT(open_output(&err), 0);
	end();
}

UNIT_MAIN("output folder", {"an earlier run is replaced", test_an_earlier_run_is_replaced},
	  {"what is of others stays", test_what_is_of_others_stays},
	  {"one run at a time", test_one_run_at_a_time})
