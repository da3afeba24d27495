/* SPDX-License-Identifier: MIT */
#include "workloads/common/neighbours.h"

#include "base/clock.h"
#include "workloads/common/program.h"

#include <string.h>

enum {
	RUN = 4,
	ROUNDS_MIN = 8, /* on a busy machine one round may take as long as all should */
};

const char *const neighbour_faults[] = {"endless", "crash", NULL};

void neighbour_request(const struct neighbour_options *options, struct work_request *request)
{
	request->look_for = (uint32_t)options->look_for;
	request->pause = options->pause;
	request->pause_after = options->pause_after;
	if (options->fault != NULL)
		request->fault = strcmp(options->fault, "crash") == 0 ? WORK_FAULT_CRASH
								      : WORK_FAULT_ENDLESS;
}

int neighbour_pause(struct work_report *report, struct error *err)
{
	const struct work_request *request = report->request;
	char line[LINE_SIZE] = "";
	if (request->pause == NULL || report->paused)
		return 0;
	report->paused = true;
	return wait_for_line(request->pause, line, err);
}

int neighbour_pause_after(const struct work_request *request, struct work_report *report,
			  struct error *err)
{
	char line[LINE_SIZE] = "";
	if (request == NULL || request->pause_after == NULL || report->paused_after)
		return 0;
	report->paused_after = true;
	return wait_for_line(request->pause_after, line, err);
}

void neighbour_look(const struct work_data *data, struct work_report *report)
{
	struct work_residue *out = &report->residue;
	const uint32_t seed = report->request->look_for;
	out->looked = true;
	out->seed = seed;
	for (size_t a = 0; a < WORK_ARRAYS; a++) {
		const uint32_t *words = data->arrays[a];
		for (size_t i = 0; i + RUN <= data->elements; i++) {
			const size_t index = work_locate_value(seed, words[i]);
			size_t same = 1;
			if (index >= WORK_ELEMENTS_MAX)
				continue;
			while (same < RUN &&
			       words[i + same] == work_expected_value(seed, index + same))
				same++;
			if (same == RUN && out->found++ == 0)
				out->first = index;
		}
		out->bytes += data->elements * WORK_ELEMENT_SIZE;
	}
}

void neighbour_work(const struct api_driver *api, void *session, size_t devices,
		    const struct neighbour_options *options, const struct work_request *request,
		    struct work_report *report)
{
	const uint64_t end_ms = clock_monotonic_ms() + (uint64_t)options->rounds_ms;
	struct work_request round = *request;
	struct work_rounds rounds = {0};
	bool last = options->rounds_ms == 0;

	for (;;) {
		round.seed = last ? request->seed : request->seed + (uint32_t)rounds.count + 1;
		api_work(api, session, devices, &round, report);
		if (report->status != WORK_OK)
			break;

		const uint64_t ns = report->stage_ns[WORK_STAGE_UPLOAD] +
				    report->stage_ns[WORK_STAGE_DISPATCH] +
				    report->stage_ns[WORK_STAGE_DOWNLOAD];
		rounds.last_end_ns = clock_monotonic_ns();
		rounds.sum_ns += ns;
		if (ns > rounds.worst_ns)
			rounds.worst_ns = ns;
		if (rounds.count++ == 0)
			rounds.first_end_ns = rounds.last_end_ns;

		if (last)
			break;
		last = rounds.count >= ROUNDS_MIN && clock_monotonic_ms() >= end_ms;
		round.pause = NULL;
		work_report_free(report);
		*report = (struct work_report){0};
	}
	if (options->rounds_ms != 0)
		report->rounds = rounds;
}
