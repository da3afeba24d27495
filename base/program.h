/* SPDX-License-Identifier: MIT */
#pragma once

/* What a program does first, in main(); options_main() does it for those that use it. */

/*
 * POSIX: a standard stream that is closed is opened, so that no file, pipe or socket ever gets its
 * number; reading and writing it stay errors. A file that would grow beyond the limit of its size
 * is an error of its write, not the end of the program.
 *
 * Windows: puts the arguments in UTF-8 in the place of those that main() was given, which have lost
 * what the code page lacks; they live as long as the program. Standard output and error take bytes
 * as they are ("\n" stays one byte), consoles show them as UTF-8, and a crash ends the program at
 * once, without a dialogue.
 */
void program_begin(int *argc, char ***argv);

/* A variable of the environment in UTF-8; NULL when it is not set. Lives as long as the program;
 * on Windows each call keeps a copy, so this is for what is asked once. */
const char *program_variable(const char *name);
