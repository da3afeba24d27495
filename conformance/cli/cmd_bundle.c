/* SPDX-License-Identifier: MIT */
/* `bundle`: a run as one archive that can be handed on. */
#include "base/cleanup.h"
#include "base/path.h"
#include "conformance/cli/commands.h"
#include "reports/bundle/bundle.h"

#include <string.h>

static struct {
	const char *out;
	bool include_identity;
} given;

/* Beside the folder's name: "gpucert-report.tar.gz". */
static char *default_path(const char *directory)
{
	char *plain CLEANUP_FREE = path_normalize(directory);
	const char *name = plain != NULL ? path_base(plain) : "";
	return text_format("%s.tar.gz", path_is_bare_name(name) ? name : "gpucert-report");
}

static int print_bundle(const char *path, const struct bundle *bundle, struct error *err)
{
	static const char *const redactions[] = {
		[BUNDLE_AS_STORED] = "as the run stored it",
		[BUNDLE_REDACTED] =
			"redacted: journal, evidence and reports are not those that the run "
			"stored, which include identities",
		[BUNDLE_REDACTED_HERE] =
			"redacted by what is known of this machine: the run is of a "
			"version that did not redact",
	};
	struct text out CLEANUP_TEXT = {0};
	text_add_escaped(&out, path, strlen(path));
	text_addf(&out, ": %zu files, %s (journal %s)\n", bundle->files,
		  redactions[bundle->redaction], bundle->journal);
	return options_print(text_take(&out), err);
}

static int make_bundle(const char *directory, struct error *err)
{
	struct bundle bundle = {0};
	char *path CLEANUP_FREE = given.out != NULL ? strdup(given.out) : default_path(directory);
	int rc = path != NULL ? bundle_write(directory, path, given.include_identity, &bundle, err)
			      : error_memory(err);
	return rc == 0 ? print_bundle(path, &bundle, err) : rc;
}

static int bundle_run(const struct text_list *arguments)
{
	struct error err = {0};
	int rc = make_bundle(arguments->items[0], &err);
	return rc < 0 ? command_failed("bundle", rc, &err) : EXIT_SUCCESS;
}

static const struct option_spec bundle_options[] = {
	{OPTION_ROW("out", OPTION_STRING, given.out), .letter = 'o', .value = "FILE",
	 .help = "The archive, which is replaced when it exists. Default: the folder's name and .tar.gz, in "
		 "the working directory."},
	{OPTION_ROW("include-host-identity", OPTION_FLAG, given.include_identity),
	 .help = "Of a run that stored names of host and users, home folders and serial numbers "
		 "('run --include-host-identity'): keep them."},
	{.name = NULL},
};

static const char *const bundle_examples[] = {
	"gpucert bundle gpucert-report",
	"Write gpucert-report.tar.gz, for an issue or a colleague.",
	"gpucert bundle gpucert-report -o t4.tar.gz && tar -xzf t4.tar.gz",
	"What is in it is a report folder again: 'gpucert report' verifies it.",
	NULL,
};

static const char *const bundle_exit_codes[] = {
	"0",
	"done",
	"2",
	"usage",
	"3",
	"the journal cannot be read or was changed after the run, evidence is not what the run stored, or the archive "
	"cannot be written",
	NULL,
};

const struct command_spec command_bundle = {
	.name = "bundle",
	.summary = "Pack a run into one archive without identities",
	.arguments = "DIR",
	.description =
		"Packs journal, evidence and reports of a run into a tar archive, and nothing else that lies in DIR but "
		"an attestation, which holds where nothing is redacted on the way. They are verified first. What the run redacted is packed byte by byte; a run that stored identities "
		"is redacted on the way, and its journal chained anew.\n\nThe same run makes the same archive.",
	.options = bundle_options,
	.examples = bundle_examples,
	.exit_codes = bundle_exit_codes,
	.run = bundle_run,
};
