/* SPDX-License-Identifier: MIT */
#include "workloads/common/work.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Avalanche of 32 bits: every input bit changes half of the output bits. The kernels of each API
 * hold the same steps (work.comp, work.cl). */
static uint32_t mix(uint32_t value)
{
	value ^= value >> 16;
	value *= 0x7feb352du;
	value ^= value >> 15;
	value *= 0x846ca68bu;
	value ^= value >> 16;
	return value;
}

uint32_t work_key(uint32_t seed)
{
	return mix(seed) ^ 0x5bd1e995u;
}

static uint32_t input_value(uint32_t seed, size_t index)
{
	return (uint32_t)index * 0x9e3779b9u + mix(seed) + 1u;
}

static float input_x(uint32_t seed, size_t index)
{
	return (float)(mix((uint32_t)index ^ seed) & 0xFFFu);
}

static float input_y(uint32_t seed, size_t index)
{
	return (float)(mix((uint32_t)index ^ seed) >> 20);
}

void work_fill(const struct work_data *data)
{
	for (size_t i = 0; i < data->elements + WORK_GUARD; i++) {
		data->values[i] = input_value(data->seed, i);
		data->x[i] = input_x(data->seed, i);
		data->y[i] = input_y(data->seed, i);
	}
}

uint32_t work_expected_value(uint32_t seed, size_t index)
{
	return mix(input_value(seed, index) ^ work_key(seed));
}

float work_expected_y(uint32_t seed, size_t index)
{
	return WORK_SCALE * input_x(seed, index) + input_y(seed, index);
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
						   : input_value(data->seed, index);

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
						: input_y(data->seed, index);

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

void work_verify(const struct work_data *data, struct work_report *report)
{
	report->mismatches = 0;
	for (size_t i = 0; i < data->elements + WORK_GUARD; i++) {
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
