/* SPDX-License-Identifier: MIT */
#pragma once

/* The image that a command line names. */

#include "base/options.h"
#include "containers/judging/contents/contents.h"
#include "containers/registry/image_source.h"

struct image_argument {
	struct image_source *source;
	struct image image;
};

/* How image_argument_open() reads images; set by IMAGE_SOURCE_OPTIONS. */
extern struct image_source_options image_argument_options;

/* Rows for the options of each command that reads images. */
#define IMAGE_SOURCE_OPTIONS                                                                             \
	{OPTION_ROW("no-cache", OPTION_FLAG, image_argument_options.no_cache),                           \
	 .help = "Do not use the cache of registries."},                                                 \
		{OPTION_ROW("ca-certificate", OPTION_STRING,                                             \
			    image_argument_options.registry.ca_certificate),                             \
		 .value = "FILE",                                                                        \
		 .help = "Certificates (PEM) of authorities that are trusted for registries as well as " \
			 "the system's. Without it $SSL_CERT_FILE."},                                    \
	{                                                                                                \
		OPTION_ROW("plain-http", OPTION_FLAG, image_argument_options.registry.plain_http),       \
			.help = "Allow registries without TLS."                                          \
	}

/* OS/ARCHITECTURE[/VARIANT][:OS-VERSION], "windows/amd64:10.0.20348.2582". ERROR_ARGUMENT. */
int image_platform_parse(const char *string, struct arena *arena, struct image_platform *out,
			 struct error *err);

/* Rows for the host that images are compared with, and for its runtime: `given` has both. */
#define IMAGE_HOST_OPTION                                                                            \
	{                                                                                            \
		OPTION_ROW("host", OPTION_STRING, given.host),                                       \
			.value = "FILE",                                                             \
			.help = "The host: a file of 'image check --show-host', a recorded node of " \
				"gpu-discovery, or 'local'."                                         \
	}
#define IMAGE_RUNTIME_OPTION                                                                       \
	{                                                                                          \
		OPTION_ROW("runtime", OPTION_CHOICE, given.runtime),                               \
			.value = "RUNTIME",                                                        \
			.help = "Whose rule for Windows builds applies. Without it the answer is " \
				"unknown where the runtimes disagree. containerd-2.0 stands for "  \
				"2.0 and 2.1.",                                                    \
			.choices = compat_runtime_names                                            \
	}

/* Opens the source and loads the image of a platform (NULL: none yet). Errors of
 * image_platform_parse(), image_source_open() and image_source_load(); ERROR_NOT_FOUND: the only
 * image is for another platform. */
int image_argument_open(const char *name, const char *platform, struct image_argument *out,
			struct error *err);

/* Loads the only image, or this machine's from an index. Errors of image_source_index() and
 * image_source_load(). */
int image_argument_load_own(struct image_argument *argument, struct error *err);

/* Reads all layers, with progress on a terminal. Errors of image_contents_read(). */
int image_contents_read_shown(struct image_source *source, const struct image *image,
			      struct image_contents *out, struct error *err);

void image_argument_free(struct image_argument *argument);
