/* SPDX-License-Identifier: MIT */
#include "workloads/common/reference.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "workloads/common/kernel.h"
#include "workloads/common/render.h"

#include <string.h>

const float work_poison = -123456.0f;

uint32_t work_key(uint32_t seed)
{
	return kernel_mix(seed) ^ 0x5bd1e995u;
}

uint32_t work_fill_pattern(uint32_t seed)
{
	return kernel_mix(seed + 0x9e3779b9u);
}

uint32_t work_input_value(uint32_t seed, size_t index)
{
	return (uint32_t)index * 0x9e3779b9u + kernel_mix(seed) + 1u;
}

float work_input_x(uint32_t seed, size_t index)
{
	return (float)(kernel_mix((uint32_t)index ^ seed) & 0xFFFu);
}

float work_input_y(uint32_t seed, size_t index)
{
	return (float)(kernel_mix((uint32_t)index ^ seed) >> 20);
}

uint32_t work_expected_value(uint32_t seed, size_t index)
{
	return kernel_mix(work_input_value(seed, index) ^ work_key(seed));
}

/* kernel_mix() backwards: odd factors have an inverse modulo 2^32. */
static uint32_t unmix(uint32_t value)
{
	value ^= value >> 16;
	value *= 0x43021123u;
	value ^= value >> 15 ^ value >> 30;
	value *= 0x1d69e2a5u;
	return value ^ value >> 16;
}

size_t work_locate_value(uint32_t seed, uint32_t value)
{
	const uint32_t offset = (unmix(value) ^ work_key(seed)) - work_input_value(seed, 0);
	const uint32_t index = offset * 0x144cbc89u;
	return index;
}

float work_expected_y(uint32_t seed, size_t index)
{
	return WORK_SCALE * work_input_x(seed, index) + work_input_y(seed, index);
}

uint32_t work_operand(uint32_t seed, size_t input, size_t index)
{
	return work_expected_value(seed, index) >> (input == 0 ? 0 : 16) & 0xFFu;
}

static void put_float(void *out, float value)
{
	memcpy(out, &value, sizeof(value));
}

static void expect_value(uint32_t seed, size_t elements, size_t index, void *out)
{
	uint32_t value =
		index < elements ? work_expected_value(seed, index) : work_input_value(seed, index);
	memcpy(out, &value, sizeof(value));
}

static void expect_fill(uint32_t seed, size_t elements, size_t index, void *out)
{
	uint32_t value = index < elements ? work_fill_pattern(seed) : work_input_value(seed, index);
	memcpy(out, &value, sizeof(value));
}

static void expect_y(uint32_t seed, size_t elements, size_t index, void *out)
{
	put_float(out, index < elements ? work_expected_y(seed, index) : work_input_y(seed, index));
}

static void expect_sum(uint32_t seed, size_t elements, size_t index, void *out)
{
	uint32_t sum = work_operand(seed, 0, index) + work_operand(seed, 1, index);
	put_float(out, index < elements ? (float)sum : work_poison);
}

static void expect_product(uint32_t seed, size_t elements, size_t index, void *out)
{
	const size_t row = index / WORK_MATRIX;
	const size_t column = index % WORK_MATRIX;
	uint32_t sum = 0;
	for (size_t i = 0; i < WORK_MATRIX; i++)
		sum += work_operand(seed, 0, row * WORK_MATRIX + i) *
		       work_operand(seed, 1, i * WORK_MATRIX + column);
	put_float(out, index < elements ? (float)sum : work_poison);
}

static void expect_hits(uint32_t seed, size_t elements, size_t index, void *out)
{
	uint32_t hits = index < elements ? kernel_hits(work_key(seed), (uint32_t)index)
					 : work_input_value(seed, index);
	memcpy(out, &hits, sizeof(hits));
}

static void expect_pixel(uint32_t seed, size_t elements, size_t index, void *out)
{
	struct render_colour colour =
		render_expected(seed, index % RENDER_SIZE, index / RENDER_SIZE);
	(void)elements;
	memcpy(out, colour.channels, RENDER_PIXEL);
}

const struct work_array *work_array_find(const char *name)
{
	static const struct work_array arrays[] = {
		{"values", WORK_INTEGERS, WORK_GUARD, 0, expect_value},
		{"y", WORK_FLOATS, WORK_GUARD, 0, expect_y},
		{"dxilValues", WORK_INTEGERS, WORK_GUARD, 0, expect_value},
		{"dxilY", WORK_FLOATS, WORK_GUARD, 0, expect_y},
		{"fill", WORK_INTEGERS, WORK_GUARD, 0, expect_fill},
		{"sum", WORK_FLOATS, WORK_GUARD, 0, expect_sum},
		{"product", WORK_FLOATS, WORK_GUARD, (size_t)WORK_MATRIX * WORK_MATRIX,
		 expect_product},
		{"hits", WORK_INTEGERS, WORK_GUARD, MONTE_CARLO_STREAMS, expect_hits},
		{"pixels", WORK_COLOURS, 0, (size_t)RENDER_SIZE * RENDER_SIZE, expect_pixel},
	};
	for (size_t i = 0; i < ARRAY_SIZE(arrays); i++) {
		if (strcmp(arrays[i].name, name) == 0)
			return &arrays[i];
	}
	return NULL;
}

int work_expected_digest(const char *array, uint32_t seed, size_t elements, char out[DIGEST_SIZE],
			 struct error *err)
{
	const struct work_array *found = work_array_find(array);
	if (found == NULL)
		return error_set(err, ERROR_ARGUMENT, "'%s' is not an array of the work", array);
	const size_t own = found->elements != 0 ? found->elements : elements;
	const size_t count = own + found->guard;
	unsigned char *all CLEANUP_FREE = memory_allocate(count, WORK_ELEMENT_SIZE);
	for (size_t i = 0; i < count; i++)
		found->expect(seed, own, i, all + i * WORK_ELEMENT_SIZE);
	digest_bytes(all, count * WORK_ELEMENT_SIZE, out);
	return 0;
}
