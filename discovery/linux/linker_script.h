/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The linker scripts that stand in for shared libraries: libc.so is often not a library but the
 * text "GROUP ( /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libc_nonshared.a
 * AS_NEEDED ( ... ) )".
 */

#include "base/text.h"

enum { LINKER_SCRIPT_INPUTS_MAX = 64 };

/* Adds every file and -lNAME that the commands INPUT, GROUP and AS_NEEDED name (ld manual,
 * "Commands Dealing with Files"). ERROR_LIMIT beyond LINKER_SCRIPT_INPUTS_MAX. */
int linker_script_inputs(const char *data, size_t size, struct text_list *inputs,
			 struct error *err);
