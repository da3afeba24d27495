/* SPDX-License-Identifier: MIT */
#pragma once

/* Command lines: quoted so that a shell turns a pasted one into the same arguments, and run. */

#include "base/error.h"
#include "base/text.h"

enum shell {
	SHELL_SH,	  /* POSIX shells */
	SHELL_CMD,	  /* cmd.exe, and a program that splits its command line as the C runtime of
			     Windows does. In a batch file each % has to be doubled. */
	SHELL_POWERSHELL, /* Windows PowerShell 5.1 and later */
};

/* Appends the arguments with spaces between, in quotes where they need them. ERROR_UNSUPPORTED: the
 * shell cannot pass one (cmd: a line break; PowerShell 5.1: a double quote, an empty one, a space
 * together with a backslash at the end), or a terminal would not show it as it is: control characters
 * except tabs and line feeds, marks that change the direction of text. */
int shell_quote(struct text *out, enum shell shell, const struct text_list *arguments,
		struct error *err);

/*
 * Runs argv[0], found in PATH, to its end. *code is its exit code, or 128 and the number of the
 * signal that killed it. The terminal's signal for Ctrl-C reaches it directly; SIGTERM is passed on.
 *
 * ERROR_NOT_FOUND, ERROR_PERMISSION and others: it cannot be started.
 */
int shell_run(const char *const *argv, int *code, struct error *err);
