/* SPDX-License-Identifier: MIT */
#include "base/cpu_level.h"

#include <stdbool.h>

#define BIT(number) (1U << (number))

enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xe0 };

/* The features that a level adds to the one below it. */
static const struct cpu_features levels[] = {
	[2] = {.leaf1_ecx = BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) |
			    BIT(23),	 /* SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT */
	       .extended1_ecx = BIT(0)}, /* LAHF */
	[3] = {.leaf1_ecx = BIT(12) | BIT(22) | BIT(27) | BIT(28) |
			    BIT(29),		      /* FMA, MOVBE, OSXSAVE, AVX, F16C */
	       .leaf7_ebx = BIT(3) | BIT(5) | BIT(8), /* BMI1, AVX2, BMI2 */
	       .extended1_ecx = BIT(5),		      /* LZCNT */
	       .xcr0 = XCR0_AVX},
	[4] = {.leaf7_ebx = BIT(16) | BIT(17) | BIT(28) | BIT(30) |
			    BIT(31), /* AVX-512 F, DQ, CD, BW, VL */
	       .xcr0 = XCR0_AVX512},
};

static bool has(const struct cpu_features *features, const struct cpu_features *wanted)
{
	return (features->leaf1_ecx & wanted->leaf1_ecx) == wanted->leaf1_ecx &&
	       (features->leaf7_ebx & wanted->leaf7_ebx) == wanted->leaf7_ebx &&
	       (features->extended1_ecx & wanted->extended1_ecx) == wanted->extended1_ecx &&
	       (features->xcr0 & wanted->xcr0) == wanted->xcr0;
}

unsigned cpu_level_of(const struct cpu_features *features)
{
	unsigned level = 1;
	while (level < CPU_LEVEL_MAX && has(features, &levels[level + 1]))
		level++;
	return level;
}

#if defined(__x86_64__)
#include <cpuid.h>

static uint64_t read_xcr0(void)
{
	uint32_t low = 0;
	uint32_t high = 0;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

unsigned cpu_level(void)
{
	struct cpu_features features = {0};
	unsigned a = 0;
	unsigned b = 0;
	unsigned c = 0;
	unsigned d = 0;
	if (__get_cpuid(1, &a, &b, &c, &d) != 0)
		features.leaf1_ecx = c;
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0)
		features.leaf7_ebx = b;
	if (__get_cpuid(0x80000001, &a, &b, &c, &d) != 0)
		features.extended1_ecx = c;
	if ((features.leaf1_ecx & BIT(27)) != 0)
		features.xcr0 = read_xcr0();
	return cpu_level_of(&features);
}
#else
unsigned cpu_level(void)
{
	return 0;
}
#endif
