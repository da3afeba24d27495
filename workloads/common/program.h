/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The program around one API: options, the document, the exit code.
 *
 * The document is printed when everything is done, the driver's own clean-up included: a probe that
 * is killed by its driver prints nothing, and its exit status holds the signal.
 */

#include "base/error.h"
#include "base/options.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#include <stdbool.h>
#include <stdint.h>

/* The whole of main() of the program probe-NAME. 0: the document was printed; 1: it could not be;
 * 2: usage. */
int probe_main(const struct api_driver *api, int argc, char **argv);

/* Builds the document. *orderly, true before the call: exit handlers may run. Fails only when there
 * is no document. */
typedef int (*probe_build)(cJSON **out, bool *orderly, struct error *err);

/* The main part of every probe: claims stdout, builds the document, prints it. The exit code. */
int probe_print(const struct text_list *arguments, probe_build build);

/* For the command_spec of a probe. */
extern const char *const probe_exit_codes[];

/* The command line of every probe: the targets of PROBE_OPTIONS(). */
struct probe_options {
	bool list;
	int64_t device;
	int64_t size;
	int64_t timeout_ms;
	int64_t seed;	   /* 0: chosen for this run */
	const char *nonce; /* NULL: none */
	const char *file;  /* NULL: nothing to wait for */
};

enum { PROBE_TIMEOUT_MS = 20000 };

/* The rows that all probes have, with the help of those that mean something else to some. */
#define PROBE_OPTIONS(given, list_help, device_help, first_device, size_help, timeout_help)              \
	{OPTION_ROW("list", OPTION_FLAG, (given).list), .letter = 'l', .help = (list_help)},             \
		{OPTION_ROW("device", OPTION_INT, (given).device),                                       \
		 .letter = 'd',                                                                          \
		 .value = "N",                                                                           \
		 .help = (device_help),                                                                  \
		 .min = (first_device),                                                                  \
		 .max = API_DEVICES_MAX - 1},                                                            \
		{OPTION_ROW("size", OPTION_INT, (given).size),                                           \
		 .letter = 's',                                                                          \
		 .value = "N",                                                                           \
		 .help = (size_help),                                                                    \
		 .min = 1,                                                                               \
		 .max = WORK_ELEMENTS_MAX},                                                              \
		{OPTION_ROW("timeout", OPTION_INT, (given).timeout_ms),                                  \
		 .letter = 't',                                                                          \
		 .value = "MS",                                                                          \
		 .help = (timeout_help),                                                                 \
		 .min = 1,                                                                               \
		 .max = 3600000},                                                                        \
		{OPTION_ROW("nonce", OPTION_STRING, (given).nonce), .value = "TEXT",                     \
		 .help = "The nonce that the document repeats, to show which launch it "                 \
			 "belongs to: 1 to 64 letters and digits."},                                     \
	{                                                                                                \
		OPTION_ROW("launch", OPTION_STRING, (given).file),                                       \
			.value = "FILE",                                                                 \
			.help = "Before anything is loaded, wait for the line \"NONCE SEED\" from this " \
				"file, usually a FIFO, and use them as --nonce and --seed."              \
	}

/*
 * Binds a document to the launch of its probe: a nonce, which the document repeats, and a seed, from
 * which the work follows. Both come from the command line, or through a file, usually a FIFO. The
 * probe waits for that before it loads anything, so that it can be inspected from outside.
 */
enum { LAUNCH_NONCE_MAX = 64 }; /* letters and digits */

struct probe_launch {
	char nonce[LAUNCH_NONCE_MAX + 1]; /* "": none was given */
	uint32_t seed;			  /* 0: none was given */
};

/* Takes them from the options, or waits for the first line of the file, "NONCE SEED". ERROR_FORMAT,
 * ERROR_IO, ERROR_NOT_FOUND. */
int probe_launch_take(const struct probe_options *options, struct probe_launch *launch,
		      struct error *err);

enum { LINE_SIZE = 256 };

/* Waits until the file, usually a FIFO, has a line, and returns that without its end. ERROR_FORMAT: it
 * has none. ERROR_NOT_FOUND, ERROR_IO, ... */
int wait_for_line(const char *path, char line[LINE_SIZE], struct error *err);

/* The members that every document begins with. */
void probe_members(struct members *document, const char *probe, const struct probe_launch *launch);
