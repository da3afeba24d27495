/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/cleanup.h"
#include "base/process.h"
#include "base/tests/unit.h"

#define CLEANUP_RESULT CLEANUP(process_result_free)

/* What came of a child: its lines, those of standard error behind a '!', each with a '|' at its end. */
struct watched {
	struct process *process;
	struct text lines;
	unsigned ends;
	enum process_end end;
	int code;
	bool stop_at_first_line, free_at_first_line, free_at_end;
};

static inline void watch_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct watched *watched = user;
	text_addf(&watched->lines, "%s%.*s|", is_stderr ? "!" : "", (int)size, line);
	if (watched->stop_at_first_line)
		process_stop(watched->process);
	if (watched->free_at_first_line)
		process_free(STEAL(watched->process));
}

static inline void watch_end(struct process *process, const struct process_result *result,
			     void *user)
{
	struct watched *watched = user;
	CU_ASSERT_TRUE(process_has_ended(process));
	UNIT_INT(process_id(process), 0);
	watched->ends++;
	watched->end = result->end;
	watched->code = result->code;
	if (watched->free_at_end)
		process_free(STEAL(watched->process));
}

/* Starts a program and runs the loop until nothing is left to do. */
static inline void watch(struct watched *watched, const char *const *argv)
{
	struct process_spec spec = {.argv = argv,
				    .on_line = watch_line,
				    .on_end = watch_end,
				    .grace_ms = 10000,
				    .user = watched};
	uv_loop_t loop;
	UNIT_INT(uv_loop_init(&loop), 0);
	UNIT_INT(process_start(&loop, &spec, &watched->process, NULL), 0);
	CU_ASSERT_TRUE(process_id(watched->process) > 0);
	UNIT_INT(uv_run(&loop, UV_RUN_DEFAULT), 0);
	process_free(watched->process);
	UNIT_INT(uv_run(&loop, UV_RUN_DEFAULT), 0);
	UNIT_INT(uv_loop_close(&loop), 0);
}
