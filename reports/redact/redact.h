/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Keeps the origin of a report out of it: names and addresses of the host, names of its users and pods, home folders
 * and serial numbers are replaced only where data is stored (reports/journal.h, evidence). Checks compare before that,
 * so no verdict depends on it. docs/redaction.md.
 *
 * A thing has one placeholder in a run: "<host>", "<user>", "<home>", a second one "<host-2>". A serial number is
 * "<serial-1a2b3c4d>", made of the number and a key of the machine: two devices stay two, and the number cannot be
 * found from it. Secrets are "<secret>", even in a report that keeps identities.
 *
 * Known values are kept as a list of facts. They are found as whole words, in any case; a path with '/', '\' or "\\";
 * a serial number with or without '-', ':' and '.'. Found without facts are: users' folders below /home, /Users and
 * C:\Users; the UUIDs of "GPU-..." and "MIG-..."; words of 32 hexadecimal digits; secrets by their context
 * (redact_internal.h). Redacting twice changes nothing.
 */

#include "base/json.h"

enum redact_kind {
	REDACT_HOST,
	REDACT_USER,
	REDACT_HOME, /* an absolute path */
	REDACT_POD,  /* names of other pods on the node */
	REDACT_NAMESPACE,
	REDACT_CONTAINER,
	REDACT_ADDRESS, /* IPv4 or IPv6, as inet_ntop() writes it */
	REDACT_SERIAL,	/* of the machine, a disk, a network interface (MAC address), a device */
	REDACT_SECRET,	/* the value of a variable whose name suggests one */
	REDACT_KIND_COUNT
};

extern const char *const redact_kind_names[]; /* NULL-ended */

struct redactor;

#define CLEANUP_REDACTOR __attribute__((cleanup(redactor_free)))

/* `keep_identity`: only secrets are replaced. `own_words`: text of the reports themselves, whose words
 * identify nobody; NULL for none. */
int redactor_new(bool keep_identity, const char *own_words, struct redactor **out,
		 struct error *err);
void redactor_free(struct redactor **redactor);

/* Adds a fact, unless it is already known. A name that identifies nobody is left out and stays in the report: "root",
 * one with fewer than 3 characters or no letter, a word of `own_words`; so is the home folder of such a user; a secret
 * of fewer than 8; a serial number of fewer than 6 characters, without a digit, or with only one or two different
 * characters. A host's name with a domain is also added without it, and one of more than 15 characters also as NetBIOS
 * cuts it. ERROR_LIMIT: more than 16384. */
int redactor_add(struct redactor *redactor, enum redact_kind kind, const char *value,
		 struct error *err);

/* Sets the key for placeholders of serial numbers: an unguessable value of the machine. Without it they differ
 * from run to run. */
void redactor_set_key(struct redactor *redactor, const char *secret);

/* Adds the text, redacted. `redactor` NULL: unchanged. */
void redact_text(const struct redactor *redactor, const char *data, size_t size, struct text *out);
/* The same, as a new string. */
char *redact_string(const struct redactor *redactor, const char *string);
/* The same as a file name: characters other than letters, digits and "._-" become '_'. */
char *redact_file_name(const struct redactor *redactor, const char *name);

/* Redacts every string and key of a document, and the values of members whose key marks them as secrets or
 * serial numbers. With `without`, of a document whose form is known, keys stay, and so do the values of the
 * members of these names (NULL-ended). */
void redact_json(const struct redactor *redactor, cJSON *json, const char *const *without);

/* Redacts the content of a piece of evidence, by its media type: JSON stays JSON, as do lines of JSON within
 * text. */
void redact_content(const struct redactor *redactor, const char *media, const char *data,
		    size_t size, struct text *out);

/* Redacts a record of a journal, except the harness' own words, ids, digests and paths. */
void redact_record(const struct redactor *redactor, cJSON *record);

/* The report's environment.redaction. With `keep_identity` it includes the facts, except secrets, which are needed to
 * redact that report later. `all`: every fact, secrets included, for another process of the run. */
cJSON *redactor_to_json(const struct redactor *redactor, bool all);

/* A redactor with those facts; without `may_keep` it replaces identities that the original kept. ERROR_FORMAT: the
 * facts are missing or invalid. */
int redactor_from_json(const cJSON *json, bool may_keep, struct redactor **out, struct error *err);

/*
 * Adds names and addresses of this host, names of the user (of the system, and variables such as NODE_NAME and
 * SUDO_USER), home folders, serial numbers of the machine, of its disks, network interfaces and GPUs that this process
 * may read, and the values of variables whose names mark them as secrets. The key becomes the machine's. Facts that the
 * system does not report are left out.
 */
int redactor_add_this_host(struct redactor *redactor, struct error *err);
