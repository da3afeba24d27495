/* SPDX-License-Identifier: MIT */
/* `image cache`: the cache of registries' blobs. */
#include "base/cache_directory.h"
#include "base/cleanup.h"
#include "conformance/cli/commands.h"
#include "containers/registry/content_cache.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MIB_SHIFT = 20 };

static struct {
	bool prune;
	int64_t keep_mib;
} given = {.keep_mib = (int64_t)(CONTENT_CACHE_MAX >> MIB_SHIFT)};

static double mib(uint64_t bytes)
{
	return (double)bytes / (1 << MIB_SHIFT);
}

static int cache_run(const struct text_list *arguments)
{
	struct error err = {0};
	(void)arguments;
	struct content_cache_size size = {0};
	struct text line CLEANUP_TEXT = {0};
	char *directory CLEANUP_FREE = cache_directory();
	int rc = 0;
	if (directory == NULL)
		rc = error_set(&err, ERROR_NOT_FOUND,
			       "no folder for caches is known: set XDG_CACHE_HOME or HOME");

	const uint64_t max = given.prune ? (uint64_t)given.keep_mib << MIB_SHIFT : UINT64_MAX;
	if (rc == 0)
		rc = content_cache_prune(directory, max, &size, &err);
	if (rc < 0)
		return command_failed("image cache", rc, &err);

	text_addf(&line, "%s: %zu blobs, %.1f MiB", directory, size.files, mib(size.bytes));
	if (given.prune)
		text_addf(&line, "; %zu removed, %.1f MiB", size.removed, mib(size.removed_bytes));
	text_add(&line, "\n");
	rc = options_print(text_take(&line), &err);
	if (rc == 0 && size.bytes > max)
		rc = error_set(&err, ERROR_PERMISSION,
			       "more is left than was asked for: it is in use, "
			       "or it is another user's");
	return command_end("image cache", rc, &err);
}

static const struct option_spec options[] = {
	{OPTION_ROW("prune", OPTION_FLAG, given.prune),
	 .help = "Remove the least recently used blobs until the size is at most --keep."},
	{OPTION_ROW("keep", OPTION_INT, given.keep_mib), .value = "MIB",
	 .help = "How much --prune leaves, in MiB.", .min = 0, .max = INT64_C(1) << 40},
	{0},
};

const struct command_spec command_image_cache = {
	.name = "image cache",
	.summary = "Show the size of the registry cache, and prune it",
	.description =
		"Commands that read images from registries cache manifests, configurations and "
		"layers by their digests in $XDG_CACHE_HOME/gpucert or ~/.cache/gpucert, except with "
		"--no-cache. Each of them prunes the cache to 10 GiB. Other commands may run at the "
		"same time: removed blobs are fetched again.",
	.options = options,
	.examples = TEXTS("gpucert image cache", "Show where the cache is, and its size.",
			  "gpucert image cache --prune --keep 0", "Empty it."),
	.exit_codes = EXIT_CODES("done", "the cache cannot be read, or too much is left"),
	.run = cache_run,
};
