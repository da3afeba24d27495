/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Levels of x86-64, which compilers, the dynamic loader and image platforms ("amd64/v3") name (the
 * System V ABI's supplement for x86-64, "Micro-Architecture Levels").
 */

#include <stdint.h>

enum { CPU_LEVEL_MAX = 4 };

/* Registers of CPUID, and XCR0, which is 0 where XGETBV is not allowed. */
struct cpu_features {
	uint32_t leaf1_ecx, leaf7_ebx, extended1_ecx;
	uint64_t xcr0;
};

/* 1 to 4. A level counts when the processor has all its features and the operating system saves the
 * registers of AVX (from 3) and AVX-512 (4). */
unsigned cpu_level_of(const struct cpu_features *features);

/* Of this machine; 0: not an x86-64. */
unsigned cpu_level(void);
