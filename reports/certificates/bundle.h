/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One archive of a run (tar, gzip) that can be handed on: its journal, evidence and reports in one folder, in order of their
 * names, with fixed times and owners: the same run makes the same bytes. Nothing but what the journal names is
 * read, and nothing that is not what the run stored is taken; attestation.json goes along where all is as the run stored it.
 *
 * A run that stored identities (reports/redact/redact.h) is redacted on the way: evidence and records are rewritten,
 * with digests and the chain of the journal made anew, and the reports are those of the new journal. A journal
 * of a version that did not redact is redacted by what is known of this machine.
 */

#include "base/digest.h"
#include "base/text.h"

enum {
	BUNDLE_FILES_MAX = 50000,
	BUNDLE_SIZE_MAX = 512 * 1024 * 1024, /* bytes of all files before they are packed */
};

enum bundle_redaction {
	BUNDLE_AS_STORED,     /* byte by byte what the run stored */
	BUNDLE_REDACTED,      /* by what the run knew of its machine */
	BUNDLE_REDACTED_HERE, /* by what is known of this machine: the run did not tell */
};

struct bundle {
	size_t files;
	enum bundle_redaction redaction;
	char journal[DIGEST_SIZE]; /* of the journal in the archive */
};

/*
 * Writes the archive of the run in `directory` to `path`, which is replaced atomically. `keep_identity`: as it was stored.
 * ERROR_FORMAT: the journal is not one or was changed, a piece of evidence is not what the run stored or is named twice, or a file (attestation.json, too) is a link or something not a plain file; ERROR_LIMIT: more than fits. Then there is no archive.
 */
int bundle_write(const char *directory, const char *path, bool keep_identity, struct bundle *out,
		 struct error *err);
