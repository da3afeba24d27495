/* SPDX-License-Identifier: MIT */
#pragma once

/* Makes tiny ELF files: headers, an interpreter and a dynamic section, and no code. */

#include "base/text.h"

#include <stdint.h>

struct elf_recipe {
	unsigned bits;					    /* 64 or 32 */
	uint16_t machine;				    /* EM_... */
	const char *interpreter, *soname, *rpath, *runpath; /* NULL: none */
	const char *needed[4];				    /* until the first NULL */
	bool no_default_directories;
};

/* Replaces what `out` holds. */
void elf_make(const struct elf_recipe *recipe, struct text *out);
