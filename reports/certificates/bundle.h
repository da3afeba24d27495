/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One archive of a run (tar, gzip), to be passed on: its journal, evidence and reports in one folder, in order of their
 * names, with fixed times and owners: the same run makes the same bytes. Only files that the journal names are read,
 * and only if they are as the run stored them; attestation.json is included if nothing is redacted.
 *
 * A run that stored identities (reports/redact/redact.h) is redacted on the way: evidence and records are rewritten,
 * with new digests and a new chain in the journal, and the reports are those of the new journal. A journal of a version
 * that did not redact is redacted with the facts of this machine.
 */

#include "base/digest.h"
#include "base/text.h"

enum {
	BUNDLE_FILES_MAX = 50000,
	BUNDLE_SIZE_MAX = 512 * 1024 * 1024, /* bytes of all files before they are packed */
};

enum bundle_redaction {
	BUNDLE_AS_STORED,     /* byte by byte what the run stored */
	BUNDLE_REDACTED,      /* with the run's facts about its machine */
	BUNDLE_REDACTED_HERE, /* with facts about this machine: the run stored none */
};

struct bundle {
	size_t files;
	enum bundle_redaction redaction;
	char journal[DIGEST_SIZE]; /* of the journal in the archive */
};

/*
 * Writes the archive of the run in `directory` to `path`, which is replaced atomically. `keep_identity`: nothing is
 * redacted. ERROR_FORMAT: the journal is malformed or was changed, a piece of evidence was changed or is named twice,
 * or a file (attestation.json, too) is not a regular file; ERROR_LIMIT: too large. After an error there is no archive.
 */
int bundle_write(const char *directory, const char *path, bool keep_identity, struct bundle *out,
		 struct error *err);
