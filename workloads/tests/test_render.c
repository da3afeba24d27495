/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "workloads/common/work.h"
#include "workloads/tests/expect.h"

#include <math.h>
#include <string.h>

enum { PITCH = 512, SEED = 77 }; /* rows may be wider than the picture */

static uint8_t pixels[RENDER_SIZE * PITCH];

static uint8_t *pixel(size_t x, size_t y)
{
	return pixels + y * PITCH + x * RENDER_PIXEL;
}

/* Area coverage as the edge functions of a rasteriser, from the corners alone. */
static bool covered(double x, double y)
{
	static const double corners[3][2] = {{8, 8}, {56.5, 8}, {8, 56.5}};
	for (size_t i = 0; i < 3; i++) {
		const double *a = corners[i];
		const double *b = corners[(i + 1) % 3];
		double side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
		CU_ASSERT_FATAL(fabs(side) > 1e-9); /* no centre of a pixel lies on an edge */
		if (side < 0)
			return false;
	}
	return true;
}

static void draw(void)
{
	memset(pixels, 0, sizeof(pixels));
	for (size_t y = 0; y < RENDER_SIZE; y++)
		for (size_t x = 0; x < RENDER_SIZE; x++) {
			struct render_colour colour = covered((double)x + 0.5, (double)y + 0.5)
							      ? render_triangle(SEED)
							      : render_background(SEED);
			memcpy(pixel(x, y), colour.channels, RENDER_PIXEL);
		}
}

static struct work_report verified(uint32_t seed)
{
	struct work_report report = {.seed = seed};
	work_compare_picture(&report, pixels, PITCH);
	work_judge(&report);
	return report;
}

static void test_the_right_picture_passes(void)
{
	draw();
	struct work_report report = verified(SEED);
	char digest[DIGEST_SIZE] = "";
	CU_ASSERT_TRUE(report.render.done);
	CU_ASSERT_EQUAL(report.render.mismatches, 0);
	UNIT_INT(work_expected_digest("pixels", SEED, 0, digest, NULL), 0);
	UNIT_STRING(report.digests[0].array, "pixels");
	UNIT_STRING(report.digests[0].digest, digest);
	UNIT_INT(work_expected_digest("pixels", SEED + 1, 0, digest, NULL), 0);
	CU_ASSERT_STRING_NOT_EQUAL(report.digests[0].digest, digest);
	CU_ASSERT_STRING_EQUAL(report.reason, "");
}

static void test_one_wrong_pixel_is_seen(void)
{
	draw();
	pixel(63, 62)[3] ^= 1;
	struct work_report report = verified(SEED);
	cJSON *json CLEANUP_JSON = work_report_json(&report);
	CU_ASSERT_EQUAL(report.render.mismatches, 1);
	expect_number(json, "/render/mismatches", 1);
	expect_number(json, "/render/firstMismatch/x", 63);
	expect_number(json, "/render/firstMismatch/y", 62);
}

static void test_another_runs_picture_is_wrong(void)
{
	draw();
	struct work_report report = verified(SEED + 1);
	CU_ASSERT_EQUAL(report.render.mismatches, (size_t)RENDER_SIZE * RENDER_SIZE);
}

static void test_a_wrong_picture_makes_the_work_wrong(void)
{
	uint32_t values[1 + WORK_GUARD] = {0};
	float x[1 + WORK_GUARD] = {0};
	float y[1 + WORK_GUARD] = {0};
	const struct work_data data = {{values, x, y}, 1, SEED};
	struct work_report report = {.elements = 1, .seed = SEED};
	work_fill(&data);
	values[0] = work_expected_value(SEED, 0);
	y[0] = work_expected_y(SEED, 0);
	work_verify(&data, &report);
	CU_ASSERT_EQUAL(report.status, WORK_OK);
	draw();
	memset(pixel(8, 8), 0xA5, RENDER_PIXEL);
	work_compare_picture(&report, pixels, PITCH);
	work_judge(&report);
	CU_ASSERT_EQUAL(report.status, WORK_WRONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "(8, 8)"));
}

static void test_colours_survive_floats(void)
{
	for (uint32_t seed = 1; seed < 2000; seed++) {
		struct render_colour colour = render_background(seed);
		struct render_colour other = render_triangle(seed);
		struct render_colour_float floats = render_colour_float(colour);
		for (size_t i = 0; i < RENDER_PIXEL; i++) {
			CU_ASSERT_EQUAL(lrintf(floats.channels[i] * 255.0f), colour.channels[i]);
			CU_ASSERT_NOT_EQUAL(colour.channels[i], other.channels[i]);
		}
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the right picture passes", test_the_right_picture_passes},
		{"one wrong pixel is seen", test_one_wrong_pixel_is_seen},
		{"another run's picture is wrong", test_another_runs_picture_is_wrong},
		{"a wrong picture makes the work wrong", test_a_wrong_picture_makes_the_work_wrong},
		{"colours survive floats", test_colours_survive_floats},
		CU_TEST_INFO_NULL,
	};
	return unit_run("render", tests);
}
