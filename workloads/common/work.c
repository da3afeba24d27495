/* SPDX-License-Identifier: MIT */
#include "workloads/common/work.h"

#include "base/clock.h"
#include "base/memory.h"
#include "workloads/common/neighbours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An endless dispatch has 2^31 groups, as many as software drivers count. A crashing one has so many
 * times the elements. */
enum { ENDLESS_Y = 32768, ENDLESS_Z = 65535, CRASH_FACTOR = 16 };

uint32_t work_groups_y(const struct work_request *request)
{
	return request->fault == WORK_FAULT_ENDLESS ? ENDLESS_Y : 1;
}

uint32_t work_groups_z(const struct work_request *request)
{
	return request->fault == WORK_FAULT_ENDLESS ? ENDLESS_Z : 1;
}

struct work_parameters work_parameters(const struct work_request *request)
{
	const size_t groups = request->fault == WORK_FAULT_ENDLESS
				      ? 1
				      : (request->elements + WORK_GROUP - 1) / WORK_GROUP;
	return (struct work_parameters){
		.elements = request->fault == WORK_FAULT_CRASH
				    ? CRASH_FACTOR * (uint32_t)request->elements
				    : (uint32_t)request->elements,
		.key = work_key(request->seed),
		.scale = WORK_SCALE,
		.stride = WORK_GROUP *
			  (groups < WORK_GROUPS_MAX ? (uint32_t)groups : WORK_GROUPS_MAX),
	};
}

size_t work_array_size(const struct work_request *request)
{
	return (request->elements + WORK_GUARD) * WORK_ELEMENT_SIZE;
}

void work_fill(const struct work_data *data)
{
	uint32_t *values = data->arrays[WORK_VALUES];
	float *x = data->arrays[WORK_X];
	float *y = data->arrays[WORK_Y];
	for (size_t i = 0; i < data->elements + WORK_GUARD; i++) {
		values[i] = work_input_value(data->seed, i);
		x[i] = work_input_x(data->seed, i);
		y[i] = work_input_y(data->seed, i);
	}
}

void work_overwrite(const struct work_data *data)
{
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		memset(data->arrays[i], 0xA5, (data->elements + WORK_GUARD) * WORK_ELEMENT_SIZE);
}

void work_data_new(struct work_data *data, const struct work_request *request)
{
	*data = (struct work_data){.elements = request->elements, .seed = request->seed};
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		data->arrays[i] =
			memory_allocate(request->elements + WORK_GUARD, WORK_ELEMENT_SIZE);
	work_fill(data);
}

void work_data_free(struct work_data *data)
{
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		free(data->arrays[i]);
}

static void print_element(const struct work_array *array, const uint8_t *element, char out[32])
{
	uint32_t integer = 0;
	float number = 0;
	memcpy(&integer, element, sizeof(integer));
	memcpy(&number, element, sizeof(number));
	if (array->type == WORK_INTEGERS)
		(void)snprintf(out, 32, "0x%08x", integer);
	else if (array->type == WORK_FLOATS)
		(void)snprintf(out, 32, "%.9g", (double)number);
	else
		(void)snprintf(out, 32, "#%02x%02x%02x%02x", element[0], element[1], element[2],
			       element[3]);
}

/* By bits: -0 and NaN are wrong floats, too. */
void work_compare(struct work_report *report, const char *name, const void *data)
{
	const struct work_array *array = work_array_find(name);
	const size_t own = array->elements != 0 ? array->elements : report->elements;
	const size_t count = own + array->guard;
	struct work_comparison *out =
		array->type == WORK_COLOURS ? &report->render : &report->results;

	out->done = true;
	if (report->digest_count < WORK_DIGESTS_MAX) {
		struct work_digest *digest = &report->digests[report->digest_count++];
		digest->array = array->name;
		digest_bytes(data, count * WORK_ELEMENT_SIZE, digest->digest);
	}

	for (size_t i = 0; i < count; i++) {
		const uint8_t *actual = (const uint8_t *)data + i * WORK_ELEMENT_SIZE;
		uint8_t expected[WORK_ELEMENT_SIZE] = {0};
		array->expect(report->seed, own, i, expected);
		if (memcmp(actual, expected, sizeof(expected)) == 0 || out->mismatches++ > 0)
			continue;
		out->array = array->name;
		out->index = i;
		out->guard = i >= own;
		print_element(array, expected, out->expected);
		print_element(array, actual, out->actual);
	}
}

void work_compare_picture(struct work_report *report, const uint8_t *pixels, size_t pitch)
{
	uint8_t rows[RENDER_SIZE][RENDER_SIZE * RENDER_PIXEL];
	for (size_t y = 0; y < RENDER_SIZE; y++)
		memcpy(rows[y], pixels + y * pitch, sizeof(rows[y]));
	work_compare(report, "pixels", rows);
}

void work_judge(struct work_report *report)
{
	const struct work_comparison *results = &report->results;
	const struct work_comparison *render = &report->render;
	report->status = WORK_WRONG;
	if (results->mismatches != 0)
		(void)snprintf(report->reason, sizeof(report->reason),
			       "%zu results are wrong; first: %s[%zu]%s is %s, expected %s",
			       results->mismatches, results->array, results->index,
			       results->guard ? " (beyond the end)" : "", results->actual,
			       results->expected);
	else if (render->mismatches != 0)
		(void)snprintf(
			report->reason, sizeof(report->reason),
			"%zu pixels are wrong; first: (%zu, %zu) is %s, expected %s (red, green, blue, alpha)",
			render->mismatches, render->index % RENDER_SIZE,
			render->index / RENDER_SIZE, render->actual, render->expected);
	else
		report->status = WORK_OK;
}

void work_verify(const struct work_data *data, struct work_report *report)
{
	work_compare(report, "values", data->arrays[WORK_VALUES]);
	work_compare(report, "y", data->arrays[WORK_Y]);
	work_judge(report);
}

int work_wait(const struct work_request *request, work_step *reached, void *work, struct error *err)
{
	const uint64_t deadline_ms = clock_monotonic_ms() + request->timeout_ms;
	int rc = reached(work, err);
	for (; rc == 0; rc = reached(work, err)) {
		if (clock_monotonic_ms() >= deadline_ms)
			return error_set(err, ERROR_TIMEOUT,
					 "the device did not finish within %llu ms",
					 (unsigned long long)request->timeout_ms);
		clock_sleep_ms(1);
	}
	return rc < 0 ? rc : 0;
}

int work_run(work_step *const steps[WORK_STAGE_COUNT], void *work, const struct work_data *data,
	     struct work_report *report, struct error *err)
{
	const bool looks = report->request != NULL && report->request->look_for != 0;
	int rc = 0;
	if (looks && steps[WORK_STAGE_LOOK] == NULL)
		return error_set(err, ERROR_UNSUPPORTED, "this API's new memory is not looked at");
	for (int stage = 0; rc == 0 && stage < WORK_STAGE_COUNT; stage++) {
		const bool dispatches = stage == WORK_STAGE_DISPATCH && report->request != NULL;
		const bool is_look = stage == WORK_STAGE_LOOK;
		if (steps[stage] == NULL || (is_look && !looks))
			continue;
		rc = dispatches ? neighbour_pause(report, err) : 0;
		if (rc != 0)
			break;
		if (is_look)
			work_overwrite(data);
		work_stage_begin(report, (enum work_stage)stage);
		rc = steps[stage](work, err);
		if (rc == 0 && dispatches && report->request->fault == WORK_FAULT_CRASH)
			abort();
		if (rc == 0 && is_look) {
			neighbour_look(data, report);
			work_fill(data);
		}
	}
	if (rc == 0 && data != NULL && steps[WORK_STAGE_VERIFY] == NULL) {
		work_stage_begin(report, WORK_STAGE_VERIFY);
		work_verify(data, report);
	}
	work_stage_end(report);
	if (rc != 0)
		return rc;
	return neighbour_pause_after(report->request, report, err);
}

int call_failed(struct call_failure *failure, const char *call, int code, const char *name,
		struct error *err)
{
	if (failure != NULL)
		*failure = (struct call_failure){.call = call, .code = code, .code_name = name};
	return error_set(err, ERROR_REMOTE, "%s: %s (%d)", call,
			 name != NULL ? name : "unknown result", code);
}

static const struct code_advice *find_code(const struct code_advice *codes, size_t count,
					   int64_t code)
{
	for (size_t i = 0; i < count; i++)
		if (codes[i].code == code)
			return &codes[i];
	return NULL;
}

const char *code_name(const struct code_advice *codes, size_t count, int64_t code)
{
	const struct code_advice *known = find_code(codes, count, code);
	return known != NULL ? known->name : NULL;
}

int call_failed_advised(struct call_failure *failure, const char *call, int code,
			const struct code_advice *codes, size_t count, struct error *err)
{
	const struct code_advice *known = find_code(codes, count, code);
	int rc = call_failed(failure, call, code, known != NULL ? known->name : NULL, err);
	if (known == NULL || known->advice == NULL)
		return rc;
	return error_set(err, rc, "%s: %s (%d): %s", call, known->name, code, known->advice);
}

int call_check(struct calls *calls, int result, const char *call, struct error *err)
{
	if (result == 0)
		return 0;
	if (calls->code_name != NULL)
		return call_failed(&calls->failure, call, result, calls->code_name(result), err);
	return call_failed_advised(&calls->failure, call, result, calls->codes, calls->code_count,
				   err);
}

int call_poll(struct calls *calls, int result, int not_ready, const char *call, struct error *err)
{
	if (result == not_ready)
		return 0;
	int rc = call_check(calls, result, call, err);
	return rc == 0 ? 1 : rc;
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

void work_report_failure(struct work_report *report, const struct error *reason)
{
	if (reason->code == ERROR_TIMEOUT)
		report->status = WORK_TIMED_OUT;
	else if (reason->code == ERROR_UNSUPPORTED)
		report->status = WORK_UNSUPPORTED;
	else
		report->status = WORK_FAILED;
	(void)snprintf(report->reason, sizeof(report->reason), "%s", reason->text);
}

void work_report_free(struct work_report *report)
{
	free(report->build_log);
	report->build_log = NULL;
	cJSON_Delete(report->video);
	report->video = NULL;
	cJSON_Delete(report->measured);
	report->measured = NULL;
}
