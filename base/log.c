/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>

static struct {
	const char *program;
	enum log_level level;
	bool json;
} logger = {.program = "gpucert", .level = LOG_LEVEL_INFO};

static const char *const level_names[] = {"error", "warning", "info", "debug"};

void log_set_program(const char *name)
{
	logger.program = name;
}

void log_set_level(enum log_level level)
{
	logger.level = level;
}

void log_set_json(bool json)
{
	logger.json = json;
}

static void add_line(struct text *line, enum log_level level, const struct text *message)
{
	char now[CLOCK_UTC_SIZE];
	(void)clock_utc(now);
	if (!logger.json) {
		text_addf(line, "%s %-7s %s: ", now, level_names[level], logger.program);
		text_add_escaped(line, text_string(message), message->size);
		text_add(line, "\n");
		return;
	}
	text_addf(line, "{\"time\":\"%s\",\"level\":\"%s\",\"program\":", now, level_names[level]);
	json_add_quoted(line, logger.program, strlen(logger.program));
	text_add(line, ",\"message\":");
	json_add_quoted(line, text_string(message), message->size);
	text_add(line, "}\n");
}

void log_message(enum log_level level, const char *format, ...)
{
	struct text message CLEANUP_TEXT = {0};
	struct text line CLEANUP_TEXT = {0};
	if (level > logger.level)
		return;
	text_add_formatted(&message, format);
	add_line(&line, level, &message);
	if (!message.failed && !line.failed) {
		(void)file_write_all(STDERR_FILENO, line.data, line.size);
		return;
	}
	/* Not enough memory for the message. */
	static const char text[] = "a message was lost\n";
	static const char json[] = "{\"level\":\"error\",\"message\":\"a message was lost\"}\n";
	const char *lost = logger.json ? json : text;
	(void)file_write_all(STDERR_FILENO, lost, strlen(lost));
}
