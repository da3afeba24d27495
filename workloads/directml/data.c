/* SPDX-License-Identifier: MIT */
#include "workloads/directml/directml.h"

#include <stdio.h>
#include <string.h>

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
		.sizes = {1, 1, WORK_MATRIX, WORK_MATRIX},
		.elements = (size_t)WORK_MATRIX * WORK_MATRIX,
		.seed = request->seed,
	};
}

float directml_input(const struct directml_task *task, size_t input, size_t index)
{
	return (float)work_operand(task->seed, input, index);
}

float directml_expected(const struct directml_task *task, size_t index)
{
	return task->type == DML_OPERATOR_GEMM ? work_expected_product(task->seed, index)
					       : work_expected_sum(task->seed, index);
}

void directml_compare(const struct directml_task *task, const float *output,
		      struct work_report *report)
{
	work_report_digest(report, task->name, output,
			   (task->elements + WORK_GUARD) * sizeof(*output));
	for (size_t i = 0; i < task->elements + WORK_GUARD; i++) {
		const float expected =
			i < task->elements ? directml_expected(task, i) : work_poison;

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
