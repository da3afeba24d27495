/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "workloads/common/api.h"
#include "workloads/common/neighbours.h"
#include "workloads/common/work.h"
#include "workloads/tests/expect.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS = 1000 };

static struct {
	uint32_t values[ELEMENTS + WORK_GUARD];
	float x[ELEMENTS + WORK_GUARD];
	float y[ELEMENTS + WORK_GUARD];
} memory;

static const struct work_data data = {{memory.values, memory.x, memory.y}, ELEMENTS, 0};

/* The work as a device does it, written a second time. */
static void work_on(size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		uint32_t v = memory.values[i] ^ 0x5bd1e995u;
		v = (v ^ (v >> 16)) * 0x7feb352du;
		v = (v ^ (v >> 15)) * 0x846ca68bu;
		memory.values[i] = v ^ (v >> 16);
		memory.y[i] = fmaf(3.0f, memory.x[i], memory.y[i]);
	}
}

static struct work_report verified(void)
{
	struct work_report report = {.elements = ELEMENTS, .stage = WORK_STAGE_VERIFY};
	work_verify(&data, &report);
	return report;
}

static void expect_first(const char *array, size_t index, size_t mismatches)
{
	struct work_report report = verified();
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	CU_ASSERT_EQUAL(report.results.mismatches, mismatches);
	CU_ASSERT_EQUAL(report.results.index, index);
	CU_ASSERT_STRING_EQUAL(report.results.array, array);
	CU_ASSERT_NOT_EQUAL(report.reason[0], '\0');
}

static void begin(void)
{
	work_fill(&data);
	work_on(0, ELEMENTS);
}

static void test_right_results_pass(void)
{
	begin();
	struct work_report report = verified();
	CU_ASSERT_EQUAL(report.status, WORK_OK);
	CU_ASSERT_EQUAL(report.results.mismatches, 0);
	CU_ASSERT_STRING_EQUAL(report.reason, "");
}

static void test_work_that_never_ran_is_wrong(void)
{
	work_fill(&data);
	expect_first("values", 0, 2 * ELEMENTS - 1); /* y[i] stays right where x[i] is 0 */
}

static void test_work_done_twice_is_wrong(void)
{
	begin();
	work_on(0, ELEMENTS);
	CU_ASSERT_EQUAL(verified().status, WORK_WRONG);
	CU_ASSERT_TRUE(verified().results.mismatches > ELEMENTS);
}

static void test_a_skipped_end_is_wrong(void)
{
	work_fill(&data);
	work_on(0, ELEMENTS - 1);
	expect_first("values", ELEMENTS - 1, 2);
}

static void test_one_bit_is_seen(void)
{
	begin();
	memory.values[777] ^= 1u << 31;
	expect_first("values", 777, 1);
}

static void test_a_float_is_compared_by_bits(void)
{
	static const float wrong[] = {NAN, INFINITY, -1.0f};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin();
		memory.y[5] = wrong[i];
		expect_first("y", 5, 1);
	}
}

static void test_a_write_behind_the_end_is_seen(void)
{
	begin();
	memory.values[ELEMENTS + WORK_GUARD - 1] = 0;
	expect_first("values", ELEMENTS + WORK_GUARD - 1, 1);
	begin();
	work_on(ELEMENTS, ELEMENTS + 1);
	expect_first("values", ELEMENTS, 2);
}

static void test_values_tell_their_place(void)
{
	static const size_t places[] = {0, 1, 65535, WORK_ELEMENTS_MAX - 1};
	for (uint32_t seed = 0; seed < 100; seed += 33) {
		for (size_t i = 0; i < ARRAY_SIZE(places); i++)
			CU_ASSERT_EQUAL(
				work_locate_value(seed, work_expected_value(seed, places[i])),
				places[i]);
	}
}

static uint64_t found(uint32_t look_for)
{
	const struct work_request request = {.look_for = look_for};
	struct work_report report = {.request = &request};
	neighbour_look(&data, &report);
	CU_ASSERT_TRUE(report.residue.looked);
	CU_ASSERT_EQUAL(report.residue.seed, look_for);
	CU_ASSERT_EQUAL(report.residue.bytes, sizeof(uint32_t) * WORK_ARRAYS * ELEMENTS);
	return report.residue.found;
}

/* At any place, and four in a row at least; of another seed nothing. */
static void test_residue_is_found(void)
{
	memset(&memory, 0, sizeof(memory));
	CU_ASSERT_EQUAL(found(7), 0);
	for (size_t i = 0; i < 3; i++)
		memory.values[100 + i] = work_expected_value(7, 5000 + i);
	CU_ASSERT_EQUAL(found(7), 0);
	memory.values[103] = work_expected_value(7, 5003);
	CU_ASSERT_EQUAL(found(7), 1);
	CU_ASSERT_EQUAL(found(8), 0);
	memory.values[104] = work_expected_value(7, 5004);
	memory.values[101] ^= 1u;
	CU_ASSERT_EQUAL(found(7), 0);
}

static void test_results_of_another_seed_are_wrong(void)
{
	struct work_report report = {.elements = ELEMENTS, .seed = 1};
	begin();
	work_verify(&data, &report);
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	CU_ASSERT_TRUE(report.results.mismatches > ELEMENTS);
	CU_ASSERT_NOT_EQUAL(work_key(1), work_key(2));
}

static void test_results_are_exact_in_floats(void)
{
	for (size_t i = 0; i < 1u << 16; i++) {
		float y = work_expected_y(0, i);
		CU_ASSERT_FATAL(y >= 0 && y < 16777216.0f && y == (float)(uint32_t)y);
	}
}

static void test_the_document_tells_the_mismatch(void)
{
	begin();
	memory.values[9] = 0;
	struct work_report report = verified();
	cJSON *work CLEANUP_JSON = work_report_json(&report);
	expect_number(work, "/firstMismatch/index", 9);
	expect_bool(work, "/firstMismatch/guard", false);
	expect_string(work, "/firstMismatch/array", "values");
	expect_string(work, "/firstMismatch/actual", "0x00000000");
	expect_bool(work, "/verified", false);
	expect_string(work, "/status", "wrong");
}

static void test_errors_become_statuses(void)
{
	static const struct {
		int code;
		enum work_status status;
	} cases[] = {
		{ERROR_TIMEOUT, WORK_TIMED_OUT},
		{ERROR_UNSUPPORTED, WORK_UNSUPPORTED},
		{ERROR_REMOTE, WORK_FAILED},
		{ERROR_IO, WORK_FAILED},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct work_report report = {0};
		const struct error reason = {.code = cases[i].code, .text = "lost"};
		work_report_failure(&report, &reason);
		CU_ASSERT_EQUAL(report.status, cases[i].status);
		CU_ASSERT_STRING_EQUAL(report.reason, "lost");
	}
}

static int lose_device(void *session, const struct work_request *request,
		       struct work_report *report, struct error *err)
{
	(void)session;
	(void)request;
	return call_failed(&report->failure, "vkQueueSubmit", -4, "VK_ERROR_DEVICE_LOST", err);
}

static void test_a_failed_call_is_named(void)
{
	const struct api_driver api = {.name = "vulkan", .work = lose_device};
	const struct work_request request = {.device = 1, .timeout_ms = 1};
	struct work_report report = {0};
	api_work(&api, NULL, 2, &request, &report);
	CU_ASSERT_EQUAL(report.status, WORK_FAILED);
	CU_ASSERT_STRING_EQUAL(report.failure.call, "vkQueueSubmit");
	CU_ASSERT_STRING_EQUAL(report.reason, "vkQueueSubmit: VK_ERROR_DEVICE_LOST (-4)");
}

/* Whoever knows the seed tells the digests of right results, and of no others. */
static void test_digests_follow_from_the_seed(void)
{
	static const char *const arrays[] = {"values", "y"};
	char digest[DIGEST_SIZE] = "";
	begin();
	struct work_report report = verified();
	CU_ASSERT_EQUAL_FATAL(report.digest_count, ARRAY_SIZE(arrays));
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		UNIT_STRING(report.digests[i].array, arrays[i]);
		UNIT_INT(work_expected_digest(arrays[i], 0, ELEMENTS, digest, NULL), 0);
		UNIT_STRING(report.digests[i].digest, digest);
		UNIT_INT(work_expected_digest(arrays[i], 1, ELEMENTS, digest, NULL), 0);
		CU_ASSERT_STRING_NOT_EQUAL(report.digests[i].digest, digest);
		UNIT_INT(work_expected_digest(arrays[i], 0, ELEMENTS - 1, digest, NULL), 0);
		CU_ASSERT_STRING_NOT_EQUAL(report.digests[i].digest, digest);
	}
	memory.values[ELEMENTS] ^= 1; /* the guard */
	report = verified();
	UNIT_INT(work_expected_digest("values", 0, ELEMENTS, digest, NULL), 0);
	CU_ASSERT_STRING_NOT_EQUAL(report.digests[0].digest, digest);
	UNIT_INT(work_expected_digest("z", 0, ELEMENTS, digest, NULL), ERROR_ARGUMENT);
}

/* The operators of DirectML, written a second time. */
static void test_digests_of_operators(void)
{
	float output[WORK_MATRIX * WORK_MATRIX + WORK_GUARD];
	char expected[DIGEST_SIZE] = "";
	char digest[DIGEST_SIZE] = "";
	for (size_t row = 0; row < WORK_MATRIX; row++) {
		for (size_t column = 0; column < WORK_MATRIX; column++) {
			double sum = 0;
			for (size_t i = 0; i < WORK_MATRIX; i++)
				sum += (double)work_operand(9, 0, row * WORK_MATRIX + i) *
				       (double)work_operand(9, 1, i * WORK_MATRIX + column);
			output[row * WORK_MATRIX + column] = (float)sum;
		}
	}
	for (size_t i = 0; i < WORK_GUARD; i++)
		output[(size_t)WORK_MATRIX * WORK_MATRIX + i] = work_poison;
	digest_bytes(output, sizeof(output), digest);
	UNIT_INT(work_expected_digest("product", 9, 1, expected, NULL), 0);
	UNIT_STRING(digest, expected);
	for (size_t i = 0; i < ELEMENTS + WORK_GUARD; i++)
		output[i] = i < ELEMENTS ? (float)(work_operand(9, 0, i) + work_operand(9, 1, i))
					 : work_poison;
	digest_bytes(output, (ELEMENTS + WORK_GUARD) * sizeof(float), digest);
	UNIT_INT(work_expected_digest("sum", 9, ELEMENTS, expected, NULL), 0);
	UNIT_STRING(digest, expected);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"right results pass", test_right_results_pass},
		{"a failed call is named", test_a_failed_call_is_named},
		{"work that never ran is wrong", test_work_that_never_ran_is_wrong},
		{"work done twice is wrong", test_work_done_twice_is_wrong},
		{"a skipped end is wrong", test_a_skipped_end_is_wrong},
		{"one bit is seen", test_one_bit_is_seen},
		{"a float is compared by bits", test_a_float_is_compared_by_bits},
		{"a write behind the end is seen", test_a_write_behind_the_end_is_seen},
		{"results of another seed are wrong", test_results_of_another_seed_are_wrong},
		{"values tell their place", test_values_tell_their_place},
		{"residue is found", test_residue_is_found},
		{"results are exact in floats", test_results_are_exact_in_floats},
		{"the document tells the mismatch", test_the_document_tells_the_mismatch},
		{"digests follow from the seed", test_digests_follow_from_the_seed},
		{"digests of operators", test_digests_of_operators},
		{"errors become statuses", test_errors_become_statuses},
		CU_TEST_INFO_NULL,
	};
	return unit_run("probe work", tests);
}
