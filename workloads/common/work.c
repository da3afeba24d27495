/* SPDX-License-Identifier: MIT */
#include "workloads/common/work.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void work_fill(const struct work_data *data)
{
	for (size_t i = 0; i < data->elements + WORK_GUARD; i++) {
		data->values[i] = work_input_value(data->seed, i);
		data->x[i] = work_input_x(data->seed, i);
		data->y[i] = work_input_y(data->seed, i);
	}
}

static uint32_t float_bits(float value)
{
	uint32_t bits = 0;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void compare_value(const struct work_data *data, size_t index, struct work_report *report)
{
	uint32_t expected = index < data->elements ? work_expected_value(data->seed, index)
						   : work_input_value(data->seed, index);

	if (data->values[index] == expected || report->mismatches++ > 0)
		return;
	report->first = (struct work_mismatch){
		.array = "values", .index = index, .guard = index >= data->elements};
	(void)snprintf(report->first.expected, sizeof(report->first.expected), "0x%08x", expected);
	(void)snprintf(report->first.actual, sizeof(report->first.actual), "0x%08x",
		       data->values[index]);
}

static void compare_y(const struct work_data *data, size_t index, struct work_report *report)
{
	float expected = index < data->elements ? work_expected_y(data->seed, index)
						: work_input_y(data->seed, index);

	/* By bits: -0 and NaN are wrong, too. */
	if (float_bits(data->y[index]) == float_bits(expected) || report->mismatches++ > 0)
		return;
	report->first = (struct work_mismatch){
		.array = "y", .index = index, .guard = index >= data->elements};
	(void)snprintf(report->first.expected, sizeof(report->first.expected), "%.9g",
		       (double)expected);
	(void)snprintf(report->first.actual, sizeof(report->first.actual), "%.9g",
		       (double)data->y[index]);
}

void work_report_digest(struct work_report *report, const char *array, const void *data,
			size_t size)
{
	if (report->digest_count == WORK_DIGESTS_MAX)
		return;
	report->digests[report->digest_count].array = array;
	digest_bytes(data, size, report->digests[report->digest_count++].digest);
}

void work_verify(const struct work_data *data, struct work_report *report)
{
	const size_t count = data->elements + WORK_GUARD;

	report->digest_count = 0;
	work_report_digest(report, "values", data->values, count * sizeof(*data->values));
	work_report_digest(report, "y", data->y, count * sizeof(*data->y));
	report->mismatches = 0;
	for (size_t i = 0; i < count; i++) {
		compare_value(data, i, report);
		compare_y(data, i, report);
	}
	report->status =
		report->mismatches == 0 && report->render.mismatches == 0 ? WORK_OK : WORK_WRONG;
	if (report->mismatches == 0) {
		render_report_reason(&report->render, report->reason, sizeof(report->reason));
		return;
	}
	(void)snprintf(report->reason, sizeof(report->reason),
		       "%zu results are wrong; first: %s[%zu]%s is %s, expected %s",
		       report->mismatches, report->first.array, report->first.index,
		       report->first.guard ? " (behind the end)" : "", report->first.actual,
		       report->first.expected);
}

void work_stage_end(struct work_report *report)
{
	if (report->stage_began_ns != 0)
		report->stage_ns[report->stage] += clock_monotonic_ns() - report->stage_began_ns;
	report->stage_began_ns = 0;
}

void work_stage_begin(struct work_report *report, enum work_stage stage)
{
	work_stage_end(report);
	report->stage = stage;
	report->stage_began_ns = clock_monotonic_ns();
}

int work_report_absent(struct work_report *report, size_t count)
{
	report->status = WORK_UNSUPPORTED;
	if (count == 0)
		(void)snprintf(report->reason, sizeof(report->reason), "no device is visible");
	else
		(void)snprintf(report->reason, sizeof(report->reason),
			       "there is no device %zu: the devices are 0 to %zu", report->device,
			       count - 1);
	return 0;
}

int work_report_failure(struct work_report *report, const struct error *reason,
			const struct call_failure *failure, struct error *err)
{
	if (reason->code == ERROR_MEMORY)
		return error_memory(err);
	if (reason->code == ERROR_TIMEOUT)
		report->status = WORK_TIMED_OUT;
	else if (reason->code == ERROR_UNSUPPORTED)
		report->status = WORK_UNSUPPORTED;
	else
		report->status = WORK_FAILED;
	report->failure = *failure;
	(void)snprintf(report->reason, sizeof(report->reason), "%s", reason->text);
	return 0;
}

void work_report_free(struct work_report *report)
{
	free(report->build_log);
	report->build_log = NULL;
}
