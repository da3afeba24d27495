/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Logging to stderr, one line a message, written with one write(2). Untrusted text is escaped by
 * the logger (text_add_escaped), so a message can hold anything. Programs log; libraries return
 * errors.
 *
 * Text form: "2026-11-20T10:15:02.123Z info  program: message"
 * JSON form: {"time":"...","level":"info","program":"...","message":"..."}
 */

#include "base/error.h"

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

void log_set_program(const char *name);	  /* not copied */
void log_set_level(enum log_level level); /* default: info */
void log_set_json(bool json);

void log_message(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#define log_error(...)	 log_message(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...)	 log_message(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...)	 log_message(LOG_LEVEL_DEBUG, __VA_ARGS__)
