/* SPDX-License-Identifier: MIT */
#include "conformance/runner/progress.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/style.h"
#include "base/text.h"
#include "reports/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REDRAW_MS = 200, PLAIN_MS = 10000, USUAL_MIN = 4 };

struct progress {
	uv_timer_t timer;
	size_t planned, done, failed;
	uint64_t *costs_ms; /* of the checks that ran, without their own waits */
	size_t cost_count;
	struct {
		const char *check;
		uint64_t begin_ms;
	} * running; /* the one that began first is shown */
	size_t running_count;
	char section[64]; /* of a CI system: the suite whose checks are printed; "": none */
	const struct ci_system *ci;
	const struct redactor *redactor;
	bool terminal, color, quiet, verbose;
};

static int compare_costs(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a;
	const uint64_t other = *(const uint64_t *)b;
	return (one > other) - (one < other);
}

uint64_t progress_estimate_s(uint64_t *costs_ms, size_t count, size_t left)
{
	size_t usual = count - (count + 9) / 10;
	uint64_t sum_ms = 0;
	if (usual < USUAL_MIN || left == 0)
		return UINT64_MAX;
	qsort(costs_ms, count, sizeof(*costs_ms), compare_costs);
	for (size_t i = 0; i < usual; i++)
		sum_ms += costs_ms[i];
	return (sum_ms * left / usual + 999) / 1000;
}

static void clear(const struct progress *progress)
{
	if (progress->terminal)
		(void)fputs("\r\x1b[K", stderr);
}

static void print(const struct progress *progress, const struct text *line)
{
	FILE *stream = progress->ci != NULL ? stdout : stderr;
	(void)fputs(text_string(line), stream);
	(void)fflush(stream);
}

void progress_add_line(const struct progress *progress, struct text *line)
{
	uint64_t left_s = progress_estimate_s(progress->costs_ms, progress->cost_count,
					      progress->planned - progress->done);
	text_addf(line, "[%zu/%zu]", progress->done, progress->planned);
	if (progress->failed != 0)
		text_addf(line, " %s%zu not passed%s", style(progress->color, STYLE_RED),
			  progress->failed, style(progress->color, STYLE_RESET));
	uint64_t time_ms = 0;
	if (progress->running_count != 0) {
		const char *check = progress->running[0].check;
		time_ms = clock_monotonic_ms() - progress->running[0].begin_ms;
		text_add(line, " ");
		view_add_escaped(line, check);
		text_addf(line, " %.1f s", (double)time_ms / 1000.0);
	}
	/* A check that takes longer than the estimate for all remaining ones has refuted it. */
	if (left_s != UINT64_MAX && left_s * 1000 > time_ms)
		text_addf(line, ", about %llu s left", (unsigned long long)left_s);
	text_add(line, progress->terminal ? "" : "\n");
}

static void draw(uv_timer_t *timer)
{
	const struct progress *progress = timer->data;
	struct text line CLEANUP_TEXT = {0};
	if (progress->quiet)
		return;
	progress_add_line(progress, &line);
	clear(progress);
	print(progress, &line);
}

static void end_section(struct progress *progress)
{
	struct text command CLEANUP_TEXT = {0};
	if (progress->section[0] == '\0')
		return;
	ci_section(progress->ci, &command, progress->section, false);
	print(progress, &command);
	progress->section[0] = '\0';
}

/* The section of the check's suite, unless it has begun. */
static void begin_section(struct progress *progress, const char *check)
{
	const int size = (int)strcspn(check, ".");
	char section[sizeof(progress->section)] = "";
	struct text command CLEANUP_TEXT = {0};
	if (progress->ci == NULL || progress->quiet)
		return;
	(void)snprintf(section, sizeof(section), "%.*s", size, check);
	if (text_equal(section, progress->section))
		return;
	end_section(progress);
	(void)memcpy(progress->section, section, sizeof(section));
	ci_section(progress->ci, &command, section, true);
	print(progress, &command);
}

struct progress *progress_open(uv_loop_t *loop, const struct progress_options *options)
{
	struct progress *progress = memory_allocate(1, sizeof(*progress));
	progress->costs_ms = memory_allocate(options->planned + 1, sizeof(*progress->costs_ms));
	progress->running = memory_allocate(options->planned + 1, sizeof(*progress->running));
	progress->planned = options->planned;
	progress->quiet = options->quiet;
	progress->ci = options->ci;
	progress->redactor = options->redactor;
	progress->verbose = options->verbose || options->ci != NULL;
	progress->terminal = isatty(STDERR_FILENO) == 1 && !progress->verbose;
	progress->color = style_enabled(STDERR_FILENO) && options->ci == NULL;

	uint64_t period_ms = progress->terminal ? REDRAW_MS : PLAIN_MS;
	(void)uv_timer_init(loop, &progress->timer);
	progress->timer.data = progress;
	(void)uv_timer_start(&progress->timer, draw, period_ms, period_ms);
	uv_unref((uv_handle_t *)&progress->timer);
	return progress;
}

void progress_begin(struct progress *progress, const char *check)
{
	if (progress->running_count < progress->planned) {
		progress->running[progress->running_count].check = check;
		progress->running[progress->running_count++].begin_ms = clock_monotonic_ms();
	}
	begin_section(progress, check);
	if (progress->terminal)
		draw(&progress->timer);
}

void progress_end(struct progress *progress, const char *check, enum report_outcome outcome,
		  const char *reason, uint64_t duration_ms)
{
	struct text line CLEANUP_TEXT = {0};
	bool bad = report_outcome_is_bad(outcome);

	progress->done++;
	/* Without effect when it did not begin: it was left out. */
	for (size_t i = 0; i < progress->running_count; i++) {
		if (text_equal(progress->running[i].check, check)) {
			memmove(&progress->running[i], &progress->running[i + 1],
				(--progress->running_count - i) * sizeof(*progress->running));
			break;
		}
	}
	if (duration_ms != 0 && progress->cost_count < progress->planned)
		progress->costs_ms[progress->cost_count++] = duration_ms;
	progress->failed += bad;
	if (progress->quiet || (!progress->verbose && !(bad && progress->terminal)))
		return;

	begin_section(progress, check);
	text_addf(&line, "%s%-11s%s %s", style(progress->color, bad ? STYLE_RED : STYLE_GREEN),
		  report_outcome_names[outcome], style(progress->color, STYLE_RESET), check);
	text_addf(&line, " (%.2f s)", (double)duration_ms / 1000.0);
	char *shown CLEANUP_FREE = redact_string(progress->redactor, reason);
	if (shown[0] != '\0') {
		text_add(&line, ": ");
		view_add_escaped(&line, shown);
	}
	text_add(&line, "\n");

	clear(progress);
	print(progress, &line);
}

static void closed(uv_handle_t *handle)
{
	struct progress *progress = handle->data;
	free(progress->costs_ms);
	free(progress->running);
	free(progress);
}

void progress_close(struct progress *progress)
{
	if (progress == NULL)
		return;
	if (!progress->quiet)
		clear(progress);
	end_section(progress);
	uv_close((uv_handle_t *)&progress->timer, closed);
}
