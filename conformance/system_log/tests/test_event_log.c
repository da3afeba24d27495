/* SPDX-License-Identifier: MIT */
/* The event log of Windows, for which a double stands. */
#include "base/cleanup.h"
#include "base/library.h"
#include "base/tests/unit.h"
#include "conformance/system_log/system_log.h"

static void (*set)(const char *events);

static void collect(const struct log_line *line, void *user)
{
	text_addf(user, "%s, %s|", line->when, line->text);
}

static void test_events(void)
{
	struct text lines CLEANUP_TEXT = {0};
	struct system_log *log = NULL;
	set("7 Display 4101 before\n8 Service 1 x\n");
	UNIT_INT(system_log_open("", &log, NULL), 0);
	CU_ASSERT_TRUE(system_log_read(log, collect, &lines));
	UNIT_STRING(text_string(&lines), "");
	set("7 Display 4101 before\n8 Service 1 x\n9 Display 4101 nvlddmkm\n10 Service 7 x\n11 nvlddmkm "
	    "153 -\n");
	CU_ASSERT_TRUE(system_log_read(log, collect, &lines));
	UNIT_STRING(text_string(&lines),
		    "record 9, Display 4101: nvlddmkm|record 11, nvlddmkm 153: |");
	text_reset(&lines);
	set("12 Display 4101 between\n");
	system_log_skip(log);
	set("12 Display 4101 between\n13 amdwddmg 4 x\n");
	CU_ASSERT_TRUE(system_log_read(log, collect, &lines));
	UNIT_STRING(text_string(&lines), "record 13, amdwddmg 4: x|");
	set("14 forbidden 1 x\n");
	CU_ASSERT_FALSE(system_log_read(log, collect, &lines));
	system_log_close(&log);
}

static void test_an_empty_log(void)
{
	struct text lines CLEANUP_TEXT = {0};
	struct system_log *log = NULL;
	set("");
	UNIT_INT(system_log_open("", &log, NULL), 0);
	CU_ASSERT_TRUE(system_log_read(log, collect, &lines));
	system_log_close(&log);
}

static void test_a_log_that_cannot_be_read(void)
{
	struct system_log *log = NULL;
	struct error err = {0};
	set("14 forbidden 1 x\n");
	CU_ASSERT(system_log_open("", &log, &err) < 0);
	UNIT_CONTAINS(err.text, "event log, channel System");
	CU_ASSERT_PTR_NULL(log);
}

static void test_the_double_is_loaded(void)
{
	void *handle = NULL;
	CU_ASSERT_EQUAL_FATAL(
		library_open(GPUCERT_BINARY_DIR "/tests/doubles/wevtapi.dll", &handle, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(library_function(handle, "wevtapi_double_set", &set, NULL), 0);
}

UNIT_MAIN("the event log", {"the double is loaded", test_the_double_is_loaded},
	  {"events", test_events}, {"an empty log", test_an_empty_log},
	  {"a log that cannot be read", test_a_log_that_cannot_be_read})
