/* SPDX-License-Identifier: MIT */
#include "workloads/directml/directml.h"

#include <stdio.h>
#include <string.h>

const float directml_poison = -123456.0f;

struct directml_task directml_sum(const struct work_request *request)
{
	return (struct directml_task){
		.name = "sum",
		.type = DML_OPERATOR_ELEMENT_WISE_ADD,
		.sizes = {1, 1, 1, (uint32_t)request->elements},
		.elements = request->elements,
		.seed = request->seed,
	};
}

struct directml_task directml_product(const struct work_request *request)
{
	return (struct directml_task){
		.name = "product",
		.type = DML_OPERATOR_GEMM,
		.sizes = {1, 1, DIRECTML_MATRIX, DIRECTML_MATRIX},
		.elements = (size_t)DIRECTML_MATRIX * DIRECTML_MATRIX,
		.seed = request->seed,
	};
}

float directml_input(const struct directml_task *task, size_t input, size_t index)
{
	/* Eight bits: the sum of 64 products stays below 2^24, where floats are exact. */
	const uint32_t bits = work_expected_value(task->seed, index) >> (input == 0 ? 0 : 16);

	return (float)(bits & 0xFFu);
}

static float product_at(const struct directml_task *task, size_t index)
{
	const size_t row = index / DIRECTML_MATRIX;
	const size_t column = index % DIRECTML_MATRIX;
	float sum = 0;

	for (size_t i = 0; i < DIRECTML_MATRIX; i++)
		sum += directml_input(task, 0, row * DIRECTML_MATRIX + i) *
		       directml_input(task, 1, i * DIRECTML_MATRIX + column);
	return sum;
}

float directml_expected(const struct directml_task *task, size_t index)
{
	return task->type == DML_OPERATOR_GEMM
		       ? product_at(task, index)
		       : directml_input(task, 0, index) + directml_input(task, 1, index);
}

void directml_compare(const struct directml_task *task, const float *output,
		      struct work_report *report)
{
	for (size_t i = 0; i < task->elements + WORK_GUARD; i++) {
		const float expected =
			i < task->elements ? directml_expected(task, i) : directml_poison;

		/* By bits: -0 and NaN are wrong, too. */
		if (memcmp(&output[i], &expected, sizeof(expected)) == 0 ||
		    report->mismatches++ > 0)
			continue;
		report->first = (struct work_mismatch){.array = task->name, .index = i};
		report->first.guard = i >= task->elements;
		(void)snprintf(report->first.expected, sizeof(report->first.expected), "%.9g",
			       (double)expected);
		(void)snprintf(report->first.actual, sizeof(report->first.actual), "%.9g",
			       (double)output[i]);
	}
}
