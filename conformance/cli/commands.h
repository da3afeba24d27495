/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/options.h"

/* The program `gpucert`: its commands only read options and call the other folders. */
extern const struct command_spec command_run;
extern const struct command_spec command_doctor;
extern const struct command_spec command_list;
extern const struct command_spec command_show;
extern const struct command_spec command_report;
extern const struct command_spec command_bundle;
extern const struct command_spec command_publish;
extern const struct command_spec command_pull;
extern const struct command_spec command_compare;
extern const struct command_spec command_matrix;
extern const struct command_spec command_evidence;
extern const struct command_spec command_fleet_plan;
extern const struct command_spec command_fleet_begin;
extern const struct command_spec command_fleet_verdict;
extern const struct command_spec command_fleet_status;
extern const struct command_spec command_fleet_merge;
extern const struct command_spec command_fleet_patch;
extern const struct command_spec command_expect_check;
extern const struct command_spec command_expect_explain;
extern const struct command_spec command_expect_update;
extern const struct command_spec command_attest;
extern const struct command_spec command_verify;
extern const struct command_spec command_key_generate;
extern const struct command_spec command_key_show;
extern const struct command_spec command_certify_build;
extern const struct command_spec command_certify_check;
extern const struct command_spec command_image_build;
extern const struct command_spec command_image_cache;
extern const struct command_spec command_image_check;
extern const struct command_spec command_image_inspect;
extern const struct command_spec command_image_select;
extern const struct command_spec command_image_labels;
extern const struct command_spec command_kubelet; /* only the fake kubelet, for plugin authors */

enum { COMMAND_EXIT_FAILED = 3 }; /* the command's input cannot be read */

/* A line on standard error: "gpucert COMMAND: WHAT", escaped. */
void command_print(const char *command, const char *what);

/* Prints on standard error why a command failed. The exit code: OPTIONS_EXIT_USAGE for ERROR_ARGUMENT,
 * else COMMAND_EXIT_FAILED. */
int command_failed(const char *command, int rc, const struct error *err);

/* The end of a command with this result: EXIT_SUCCESS, or command_failed(). */
int command_end(const char *command, int rc, const struct error *err);

/* A NULL-ended list of texts, for `examples` and `exit_codes`. */
#define TEXTS(...)                                                                                 \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

/* The exit codes of a command that only succeeds or fails. */
#define EXIT_CODES(done, failed) TEXTS("0", done, "2", "usage", "3", failed)

/* The exit codes of the program and of its command `run`. */
extern const char *const run_exit_codes[];

/* The program's arguments for the report, NULL-ended, without the program. */
extern const char *const *command_arguments;
