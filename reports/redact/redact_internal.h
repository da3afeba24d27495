/* SPDX-License-Identifier: MIT */
#pragma once

/* Internal to redact/. */

#include "base/digest.h"
#include "reports/redact/redact.h"

enum { REDACT_PLACEHOLDER_SIZE = 32 };

struct redact_fact {
	enum redact_kind kind;
	char *value; /* canonical */
	char placeholder[REDACT_PLACEHOLDER_SIZE];
};

struct redactor {
	bool keep_identity;
	char *own_words;
	char key[DIGEST_SIZE];
	struct redact_fact *facts;
	size_t count;
	bool first[256];		   /* first bytes of values */
	unsigned names[REDACT_KIND_COUNT]; /* placeholders with a number */
	bool stays[REDACT_KIND_COUNT];	   /* a value of the kind identifies nobody */
};

/* Part of a text that is replaced. */
struct redaction {
	size_t from, to;
	char with[REDACT_PLACEHOLDER_SIZE];
};

/* Letters and digits of ASCII, and all bytes beyond it: what a word consists of. */
static inline bool redact_is_word(char letter)
{
	return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
	       (letter >= 'A' && letter <= 'Z') || (unsigned char)letter >= 0x80;
}
char redact_lower(char letter);

/* Is this string at this place? */
bool redact_is_at(const char *data, size_t size, size_t at, const char *string);

/* Does the identifier of a device begin here: "GPU-", "MIG-"? */
bool redact_is_device(const char *data, size_t size, size_t at);

/* Is one of these letters at this place? */
bool redact_has(const char *data, size_t size, size_t at, const char *letters);

/* The number of bytes that are of a word or among these letters. */
size_t redact_span(const char *data, size_t size, size_t at, const char *extra);

/* Does a word begin at this place? The end of an escape (\n, \u001b) or a colour is not part of a
 * word. */
bool redact_begins(const char *data, size_t at);

/* In lower case except secrets; a home with only '/', a serial number without separators. */
char *redact_canonical(enum redact_kind kind, const char *value, size_t size);

/* "<serial-1a2b3c4d>". The number may have separators. */
void redact_pseudonym(const struct redactor *redactor, enum redact_kind kind, const char *data,
		      size_t size, char out[REDACT_PLACEHOLDER_SIZE]);

/* Is it a name that identifies nobody? */
bool redact_is_generic(const struct redactor *redactor, const char *name, size_t size);

/*
 * Finds a secret by its context at `at`: the value of a header (Authorization), variable, option or JSON key whose name
 * says so, a password in a URL, a bearer token, a token with a known prefix, a private key in PEM. True: *out is set,
 * not before `at`. The serial number of a JSON member is found so as well.
 */
bool redact_secret_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		      struct redaction *out);

enum redact_key { REDACT_KEY_PLAIN, REDACT_KEY_SECRET, REDACT_KEY_SERIAL };
/* What the name of a variable, a header or a member says about its value. */
enum redact_key redact_key_of(const char *name, size_t size);

/* System-specific facts: serial numbers, names of this host with a domain, and the key. */
int redactor_add_machine(struct redactor *redactor, const char *host, struct error *err);
