/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Who and where a report is from stays out of it: names of the host and of its users, home folders and
 * serial numbers are replaced where something is stored (reports/journal.h, evidence), and nowhere
 * else. Checks compare before that, so no verdict depends on it. docs/report.md, "What stays out".
 *
 * A thing has one placeholder in a run: "<host>", "<user>", "<home>", a second one "<host-2>". A serial
 * number is "<serial-1a2b3c4d>", made of the number and a key of the machine: two devices stay two, and
 * the number cannot be found from it. Secrets are "<secret>", also in a report that keeps identities.
 *
 * What is known is a list of facts (redact_host.h collects those of this machine). They are found as
 * whole words, whatever their case; a path with '/', '\' or "\\"; a serial number with or without
 * '-', ':' and '.'. Without any fact are found: folders of users below /home, /Users and C:\Users; the
 * UUIDs of "GPU-..." and "MIG-..."; 32 hexadecimal digits that stand alone; secrets by what stands before
 * them (redact_internal.h). To redact what was redacted changes nothing.
 */

#include "base/json.h"

enum redact_kind {
	REDACT_HOST,
	REDACT_USER,
	REDACT_HOME,   /* an absolute path */
	REDACT_SERIAL, /* of the machine, a disk, a network interface (MAC address), a device */
	REDACT_SECRET, /* the value of a variable whose name says that it is one */
	REDACT_KIND_COUNT
};

extern const char *const redact_kind_names[]; /* NULL-ended */

struct redactor;

#define CLEANUP_REDACTOR __attribute__((cleanup(redactor_free)))

/* `keep_identity`: nothing but secrets is replaced. `own_words`: text of reports' own, whose words are
 * no identity; NULL for none. ERROR_MEMORY. */
int redactor_new(bool keep_identity, const char *own_words, struct redactor **out,
		 struct error *err);
void redactor_free(struct redactor **redactor);

/* Takes a fact in; one that is known already is no other. A name that identifies nobody is left out and
 * stays in the report: "root", what has fewer than 3 characters or no letter, a word of `own_words`; so
 * is the home folder of such a user; a secret of fewer than 8; a serial number of fewer than 6 characters, without a digit, or of one
 * character alone. A host's name with a domain is also one without. ERROR_MEMORY; ERROR_LIMIT: more than 4096. */
int redactor_add(struct redactor *redactor, enum redact_kind kind, const char *value,
		 struct error *err);

/* What placeholders of serial numbers are made with: something of the machine that nobody can guess. Without it
 * they differ from run to run. */
void redactor_set_key(struct redactor *redactor, const char *secret);

/* Adds the text without what is known. NULL: the text as it is. Memory: out->failed. */
void redact_text(const struct redactor *redactor, const char *data, size_t size, struct text *out);
/* The same, as a new string; NULL: out of memory. */
char *redact_string(const struct redactor *redactor, const char *string);
/* The same as a file's name: what is not a letter, digit or one of "._-" becomes '_'. */
char *redact_file_name(const struct redactor *redactor, const char *name);

/* Every string and key of a document, and the values of members whose key says that they are secrets or
 * serial numbers. With `without`, of a document whose form is known, keys stay, and so do the values of the
 * members of these names (NULL-ended). ERROR_MEMORY. */
int redact_json(const struct redactor *redactor, cJSON *json, const char *const *without,
		struct error *err);

/* The content of a piece of evidence, by its media type: JSON stays JSON. */
int redact_content(const struct redactor *redactor, const char *media, const char *data,
		   size_t size, struct text *out, struct error *err);

/* A record of a journal: all that is not the harness' own words, ids, digests or paths. ERROR_MEMORY. */
int redact_record(const struct redactor *redactor, cJSON *record, struct error *err);

/* The report's environment.redaction. A redactor that keeps identities tells its facts, except
 * secrets: whoever redacts that report later needs them. NULL: out of memory. */
cJSON *redactor_describe(const struct redactor *redactor);

/* For the processes of one run: all of it, secrets included. */
int redactor_write(const struct redactor *redactor, const char *path, struct error *err);
int redactor_read(const char *path, struct redactor **out, struct error *err);

/* From environment.redaction of a report that keeps identities; the new one does not. ERROR_FORMAT. */
int redactor_from_description(const cJSON *redaction, struct redactor **out, struct error *err);
