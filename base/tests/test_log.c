/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/tests/unit.h"

#include <unistd.h>

static char written[4096];

/* What one call writes to standard error. */
#define WRITTEN(call)                                                                              \
	do {                                                                                       \
		FILE *file_ = tmpfile();                                                           \
		int saved_ = dup(STDERR_FILENO);                                                   \
                                                                                                   \
		(void)dup2(fileno(file_), STDERR_FILENO);                                          \
		call;                                                                              \
		(void)dup2(saved_, STDERR_FILENO);                                                 \
		(void)close(saved_);                                                               \
		rewind(file_);                                                                     \
		written[fread(written, 1, sizeof(written) - 1, file_)] = '\0';                     \
		(void)fclose(file_);                                                               \
	} while (0)

static void test_text_form(void)
{
	log_set_program("tool");
	WRITTEN(log_info("hello %d", 5));
	UNIT_INT(strlen(written), CLOCK_UTC_SIZE - 1 + strlen(" info    tool: hello 5\n"));
	UNIT_STRING(written + CLOCK_UTC_SIZE - 1, " info    tool: hello 5\n");
	WRITTEN(log_error("no"));
	UNIT_STRING(written + CLOCK_UTC_SIZE - 1, " error   tool: no\n");
}

static void test_levels(void)
{
	WRITTEN(log_debug("hidden"));
	UNIT_STRING(written, "");
	log_set_level(LOG_LEVEL_DEBUG);
	WRITTEN(log_debug("shown"));
	UNIT_CONTAINS(written, "debug   tool: shown\n");
	log_set_level(LOG_LEVEL_ERROR);
	WRITTEN(log_warning("hidden"));
	UNIT_STRING(written, "");
	log_set_level(LOG_LEVEL_INFO);
}

/* The locale "C" has no such character; MinGW's library leaves it out. */
static void test_lost_messages_are_told(void)
{
	if (snprintf(NULL, 0, "%ls", L"\x20ac") >= 0)
		return;
	WRITTEN(log_info("%ls", L"\x20ac"));
	UNIT_STRING(written, "a message was lost\n");
	log_set_json(true);
	WRITTEN(log_info("%ls", L"\x20ac"));
	UNIT_STRING(written, "{\"level\":\"error\",\"message\":\"a message was lost\"}\n");
	log_set_json(false);
}

static void test_messages_cannot_forge_lines(void)
{
	static const char attack[] = "x\n2026-01-01T00:00:00.000Z error   tool: forged\r\x1b[2K";
	const char *newline = NULL;
	WRITTEN(log_info("%s", attack));
	newline = strchr(written, '\n');
	CU_ASSERT_PTR_EQUAL(newline, written + strlen(written) - 1);
	UNIT_CONTAINS(written, "x\\n2026-01-01T00:00:00.000Z error   tool: forged\\x0d\\x1b[2K\n");
}

static void test_json_form(void)
{
	cJSON *json CLEANUP_JSON = NULL;
	log_set_json(true);
	WRITTEN(log_warning("a \"b\"\n\x1b\xff"));
	log_set_json(false);
	UNIT_NEED(strchr(written, '\n') == written + strlen(written) - 1);
	UNIT_INT(json_parse(written, strlen(written), &json, NULL), 0);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/level")), "warning");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/program")), "tool");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(json, "/message")),
		    "a \"b\"\n\x1b\xef\xbf\xbd");
	UNIT_INT(strlen(cJSON_GetStringValue(json_pointer(json, "/time"))), CLOCK_UTC_SIZE - 1);
}

UNIT_MAIN("log", {"text form", test_text_form}, {"levels", test_levels},
	  {"lost messages are told", test_lost_messages_are_told},
	  {"messages cannot forge lines", test_messages_cannot_forge_lines},
	  {"JSON form", test_json_form})
