/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Who and where a report is from stays out of it: names and addresses of the host, names of its users and pods, home folders and
 * serial numbers are replaced where something is stored (reports/journal.h, evidence), and nowhere
 * else. Checks compare before that, so no verdict depends on it. docs/redaction.md.
 *
 * A thing has one placeholder in a run: "<host>", "<user>", "<home>", a second one "<host-2>". A serial
 * number is "<serial-1a2b3c4d>", made of the number and a key of the machine: two devices stay two, and
 * the number cannot be found from it. Secrets are "<secret>", also in a report that keeps identities.
 *
 * What is known is a list of facts. They are found as
 * whole words, whatever their case; a path with '/', '\' or "\\"; a serial number with or without
 * '-', ':' and '.'. Without any fact are found: folders of users below /home, /Users and C:\Users; the
 * UUIDs of "GPU-..." and "MIG-..."; 32 hexadecimal digits that stand alone; secrets by what stands before
 * them (redact_internal.h). To redact what was redacted changes nothing.
 */

#include "base/json.h"

enum redact_kind {
	REDACT_HOST,
	REDACT_USER,
	REDACT_HOME, /* an absolute path */
	REDACT_POD,  /* names of what else runs on the node */
	REDACT_NAMESPACE,
	REDACT_CONTAINER,
	REDACT_ADDRESS, /* IPv4 or IPv6, as inet_ntop() writes it */
	REDACT_SERIAL,	/* of the machine, a disk, a network interface (MAC address), a device */
	REDACT_SECRET,	/* the value of a variable whose name says that it is one */
	REDACT_KIND_COUNT
};

extern const char *const redact_kind_names[]; /* NULL-ended */

struct redactor;

#define CLEANUP_REDACTOR __attribute__((cleanup(redactor_free)))

/* `keep_identity`: nothing but secrets is replaced. `own_words`: text of reports' own, whose words are
 * no identity; NULL for none. */
int redactor_new(bool keep_identity, const char *own_words, struct redactor **out,
		 struct error *err);
void redactor_free(struct redactor **redactor);

/* Takes a fact in; one that is known already is no other. A name that identifies nobody is left out and
 * stays in the report: "root", what has fewer than 3 characters or no letter, a word of `own_words`; so
 * is the home folder of such a user; a secret of fewer than 8; a serial number of fewer than 6 characters, without a digit, or
 * of one or two characters alone. A host's name with a domain is also one without, and one of more than 15 characters also
 * what NetBIOS leaves of it. ERROR_LIMIT: more than 16384. */
int redactor_add(struct redactor *redactor, enum redact_kind kind, const char *value,
		 struct error *err);

/* What placeholders of serial numbers are made with: something of the machine that nobody can guess. Without it
 * they differ from run to run. */
void redactor_set_key(struct redactor *redactor, const char *secret);

/* Adds the text without what is known. NULL: the text as it is. */
void redact_text(const struct redactor *redactor, const char *data, size_t size, struct text *out);
/* The same, as a new string. */
char *redact_string(const struct redactor *redactor, const char *string);
/* The same as a file's name: what is not a letter, digit or one of "._-" becomes '_'. */
char *redact_file_name(const struct redactor *redactor, const char *name);

/* Every string and key of a document, and the values of members whose key says that they are secrets or
 * serial numbers. With `without`, of a document whose form is known, keys stay, and so do the values of the
 * members of these names (NULL-ended). */
void redact_json(const struct redactor *redactor, cJSON *json, const char *const *without);

/* The content of a piece of evidence, by its media type: JSON stays JSON, as do lines of JSON within text. */
void redact_content(const struct redactor *redactor, const char *media, const char *data,
		    size_t size, struct text *out);

/* A record of a journal: all that is not the harness' own words, ids, digests or paths. */
void redact_record(const struct redactor *redactor, cJSON *record);

/* The report's environment.redaction. A redactor that keeps identities tells its facts, except secrets: whoever redacts
 * that report later needs them. `all`: every fact, secrets included, for another process of the run. */
cJSON *redactor_to_json(const struct redactor *redactor, bool all);

/* A redactor with the facts that are told; without `may_keep` it replaces what the one that told them kept. ERROR_FORMAT:
 * no facts are told, or they are not valid. */
int redactor_from_json(const cJSON *json, bool may_keep, struct redactor **out, struct error *err);

/*
 * Adds names and addresses of this host, names of the user (of the system, and variables such as NODE_NAME and SUDO_USER), home
 * folders, serial numbers of the machine, of its disks, network interfaces and GPUs as far as this process may
 * read them, and the values of variables whose names say that they are secrets. The key becomes that of
 * the machine. What the system does not report is left out.
 */
int redactor_add_this_host(struct redactor *redactor, struct error *err);
