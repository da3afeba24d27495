/* SPDX-License-Identifier: MIT */
/* Messages of the kernel and the drivers while a check ran. */
#include "conformance/runner/execution.h"

enum {
	LINES_MAX = 8, /* reported of each meaning; the evidence has more */
	BYTES_MAX = 64 * 1024,
};

struct watch {
	const struct context *context;
	const struct result *result;
	bool blames; /* a fault fails the check */
	bool whole;  /* no line was lost */
	struct text evidence;
	struct text_list lines[LOG_FAULT + 1];
	struct text_list faulty; /* the devices of the faults */
};

static void keep_line(const struct log_line *line, void *user)
{
	struct watch *watch = user;
	const char *id = "";
	enum log_meaning meaning =
		log_line_judge(line, watch->context->node, &watch->result->devices, &id);
	if (meaning == LOG_FOREIGN)
		return;

	if (watch->evidence.size < BYTES_MAX)
		text_addf(&watch->evidence, "[%s] %s\n", line->when, line->text);
	if (meaning == LOG_FAULT && !watch->blames)
		meaning = LOG_WARNING;
	if (meaning < LOG_WARNING || watch->lines[meaning].count == LINES_MAX)
		return;
	text_list_add(&watch->lines[meaning], line->text);
	if (meaning == LOG_FAULT)
		text_list_add(&watch->faulty, id);
}

static void record(struct check_run *run, void *user)
{
	struct watch *watch = user;
	const struct text_list *faults = &watch->lines[LOG_FAULT];
	for (size_t i = 0; i < faults->count; i++) {
		const char *id = watch->faulty.items[i];
		(void)check_expect_varying(run, false, "system log",
					   "no reset or fault of a device of this run", "%s",
					   faults->items[i]);
		if (text_list_has(&watch->result->devices, id))
			check_end_device(run, id);
	}
	text_each (warning, &watch->lines[LOG_WARNING])
		check_note(run, "system log: %s", warning);
	if (!watch->whole)
		check_note(run, "system log: lines were lost before they could be read");
	if (watch->evidence.size != 0)
		check_evidence_text(run, "system-log.txt", text_string(&watch->evidence),
				    watch->evidence.size);
}

int log_watch_record(const struct execution_spec *spec, struct execution *execution,
		     struct error *err)
{
	const struct check_needs *needs = &spec->check->needs;
	struct watch watch = {
		.context = spec->context,
		.result = &execution->result,
		.blames = (needs->launcher || needs->containers) && !spec->check->provokes,
		.whole = true,
	};
	int rc = 0;

	if (spec->log != NULL)
		watch.whole = system_log_read(spec->log, keep_line, &watch);
	if (watch.evidence.size != 0 || !watch.whole)
		rc = check_run_add(spec->check, spec->context, &execution->result, record, &watch,
				   err);
	for (size_t i = 0; i < ARRAY_SIZE(watch.lines); i++)
		text_list_free(&watch.lines[i]);
	text_list_free(&watch.faulty);
	text_free(&watch.evidence);
	return rc;
}
