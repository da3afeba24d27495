/* SPDX-License-Identifier: MIT */
/* `bundle`: a run as one archive to pass on. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/cli/commands.h"
#include "reports/certificates/bundle.h"
#include "reports/view.h"

#include <string.h>

static struct {
	const char *out;
	bool include_identity;
} given;

static int bundle_run(const struct text_list *arguments)
{
	static const char *const redactions[] = {
		[BUNDLE_AS_STORED] = "as the run stored it",
		[BUNDLE_REDACTED] =
			"redacted: journal, evidence and reports are not those that the run "
			"stored, which include identities",
		[BUNDLE_REDACTED_HERE] =
			"redacted by the facts of this machine: the version that made the "
			"run did not redact",
	};
	struct bundle bundle = {0};
	struct text out CLEANUP_TEXT = {0};
	struct error err = {0};

	/* The folder's name, in the working directory: "gpucert-report.tar.gz". */
	char *plain CLEANUP_FREE = path_normalize(arguments->items[0]);
	const char *name =
		path_is_bare_name(path_base(plain)) ? path_base(plain) : "gpucert-report";
	char *path CLEANUP_FREE =
		given.out != NULL ? memory_copy(given.out) : text_format("%s.tar.gz", name);

	int rc = bundle_write(arguments->items[0], path, given.include_identity, &bundle, &err);
	if (rc == 0) {
		view_add_escaped(&out, path);
		text_addf(&out, ": %zu files, %s (journal %s)\n", bundle.files,
			  redactions[bundle.redaction], bundle.journal);
		rc = options_print(text_take(&out), &err);
	}
	return command_end("bundle", rc, &err);
}

static const struct option_spec bundle_options[] = {
	{OPTION_ROW("out", OPTION_STRING, given.out), .letter = 'o', .value = "FILE",
	 .help = "The archive, which is replaced when it exists. Default: the folder's name and .tar.gz, in "
		 "the working directory."},
	{OPTION_ROW("include-host-identity", OPTION_FLAG, given.include_identity),
	 .help = "If the run stored names of host and users, home folders and serial numbers ('run "
		 "--include-host-identity'), keep them."},
	{0},
};

const struct command_spec command_bundle = {
	.name = "bundle",
	.summary = "Pack a run into one archive without identities",
	.arguments = "DIR",
	.description =
		"Verifies a run, and packs its journal, evidence and reports into a tar archive. "
		"Other files in DIR are left out, except an attestation, which stays valid if "
		"nothing is redacted. A run that was redacted is packed byte by byte; a run that "
		"stored identities is redacted now, and its journal chained anew.\n\nThe same run "
		"makes the same archive.",
	.options = bundle_options,
	.examples = TEXTS(
		"gpucert bundle gpucert-report",
		"Write gpucert-report.tar.gz, for an issue or a colleague.",
		"gpucert bundle gpucert-report -o t4.tar.gz && tar -xzf t4.tar.gz",
		"Unpack the archive: it is a report folder again, which 'gpucert report' verifies."),
	.exit_codes = EXIT_CODES(
		"done",
		"the journal cannot be read, journal or evidence was changed after the run, or the "
		"archive cannot be written"),
	.run = bundle_run,
};
