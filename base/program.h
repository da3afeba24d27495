/* SPDX-License-Identifier: MIT */
#pragma once

/* First step of main(); options_main() does it for programs that use it. */

/*
 * POSIX: a standard stream that is closed is opened, so that no file, pipe or socket ever gets its
 * number; reading and writing it stay errors. Writing a file beyond its size limit is an error, not
 * the end of the program.
 *
 * Windows: replaces the arguments of main(), which lack characters that are not in the code page,
 * by UTF-8 ones; they live as long as the program. Standard output and error write bytes unchanged
 * ("\n" stays one byte), consoles show them as UTF-8, and a crash ends the program at once, without
 * a dialogue.
 */
void program_begin(int *argc, char ***argv);

/* A variable of the environment in UTF-8; NULL when it is not set. Lives as long as the program; on
 * Windows each call keeps a copy, so use it for variables that are read once. */
const char *program_variable(const char *name);
