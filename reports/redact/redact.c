/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/cleanup.h"

#include <string.h>

enum { UUID_DIGITS = 32, PASSES_MAX = 8 };

bool redact_is_word(char letter)
{
	return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
	       (letter >= 'A' && letter <= 'Z') || (unsigned char)letter >= 0x80;
}

char redact_lower(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

bool redact_is_hex(const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '\0' || strchr("0123456789abcdefABCDEF", data[i]) == NULL)
			return false;
	}
	return true;
}

size_t redact_span(const char *data, size_t size, size_t at, const char *extra)
{
	size_t end = at;
	while (end < size && (redact_is_word(data[end]) ||
			      (data[end] != '\0' && strchr(extra, data[end]) != NULL)))
		end++;
	return end - at;
}

/* "\n", "\u001b" and "ESC[31m" end with letters. */
static bool ends_escape(const char *data, size_t at)
{
	size_t start = at - 1;
	if (at >= 2 && data[at - 2] == '\\' && strchr("ntrbf", data[at - 1]) != NULL)
		return true;
	if (at >= 6 && data[at - 6] == '\\' && data[at - 5] == 'u' &&
	    redact_is_hex(data + at - 4, 4))
		return true;
	while (start > 0 && strchr("0123456789;", data[start - 1]) != NULL &&
	       data[start - 1] != '\0')
		start--;
	return data[at - 1] == 'm' && start > 0 && data[start - 1] == '[';
}

bool redact_begins(const char *data, size_t at)
{
	return at == 0 || !redact_is_word(data[at - 1]) || ends_escape(data, at);
}

bool redact_ends(const char *data, size_t size, size_t at)
{
	return at == size || !redact_is_word(data[at]);
}

void redact_pseudonym(const struct redactor *redactor, enum redact_kind kind, const char *data,
		      size_t size, char out[REDACT_PLACEHOLDER_SIZE])
{
	struct text canonical CLEANUP_TEXT = {0};
	char digest[DIGEST_SIZE] = "";
	text_addf(&canonical, "%s %s ", redactor->key, redact_kind_names[kind]);
	for (size_t i = 0; i < size; i++) {
		const char letter = redact_lower(data[i]);
		if (redact_is_word(letter) || kind != REDACT_SERIAL)
			text_append(&canonical, &letter, 1);
	}
	digest_bytes(text_string(&canonical), canonical.size, digest);
	(void)snprintf(out, REDACT_PLACEHOLDER_SIZE, "<%s-%.8s>", redact_kind_names[kind],
		       digest + strlen("sha256:"));
}

static bool is_separator(const char *data, size_t size, size_t at)
{
	return at < size && (data[at] == '/' || data[at] == '\\');
}

/* How far the value reaches from `at`; 0: it is not there. */
static size_t match_word(const struct redact_fact *fact, const char *data, size_t size, size_t at)
{
	for (size_t i = 0; i < fact->size; i++) {
		if (at + i == size || redact_lower(data[at + i]) != fact->value[i])
			return 0;
	}
	return fact->size;
}

static size_t match_path(const struct redact_fact *fact, const char *data, size_t size, size_t at)
{
	size_t end = at;
	for (size_t i = 0; i < fact->size; i++) {
		if (fact->value[i] == '/') {
			if (!is_separator(data, size, end))
				return 0;
			while (is_separator(data, size, end))
				end++;
		} else if (end == size || redact_lower(data[end++]) != fact->value[i]) {
			return 0;
		}
	}
	return end - at;
}

static size_t match_serial(const struct redact_fact *fact, const char *data, size_t size, size_t at)
{
	size_t end = at;
	for (size_t i = 0; i < fact->size; i++) {
		if (i > 0 && end < size && data[end] != '\0' && strchr("-:.", data[end]) != NULL)
			end++;
		if (end >= size || redact_lower(data[end++]) != fact->value[i])
			return 0;
	}
	return end - at;
}

static bool fact_at(const struct redact_fact *fact, const char *data, size_t size, size_t at,
		    struct redaction *out)
{
	size_t length = 0;
	if (fact->kind == REDACT_SECRET)
		length = fact->size <= size - at && memcmp(data + at, fact->value, fact->size) == 0
				 ? fact->size
				 : 0;
	else if (fact->kind == REDACT_HOME)
		length = match_path(fact, data, size, at);
	else
		length = fact->kind == REDACT_SERIAL ? match_serial(fact, data, size, at)
						     : match_word(fact, data, size, at);
	if (length == 0 || (fact->kind != REDACT_SECRET && !redact_ends(data, size, at + length)) ||
	    (redact_is_word(fact->value[0]) && fact->kind != REDACT_SECRET &&
	     !redact_begins(data, at)))
		return false;
	*out = (struct redaction){.from = at, .to = at + length};
	memcpy(out->with, fact->placeholder, sizeof(out->with));
	return true;
}

/* "/home", "/Users", "C:\Users", "\Users" and separators behind it: where the user's name begins. 0: none. */
static size_t users_folder(const char *data, size_t size, size_t at)
{
	const struct redact_fact users = {.value = (char[]){"users"}, .size = 5};
	size_t end = at;
	bool windows = false;
	if (redact_is_word(data[at]) && at + 2 < size && data[at + 1] == ':' &&
	    redact_begins(data, at)) {
		windows = true;
		end += 2;
	}
	windows = windows || data[end] == '\\';
	if (!is_separator(data, size, end))
		return 0;
	while (is_separator(data, size, end))
		end++;
	if (size - end > 5 && (memcmp(data + end, "Users", 5) == 0 ||
			       (windows && match_word(&users, data, size, end) != 0)))
		end += 5;
	else if (size - end > 4 && memcmp(data + end, "home", 4) == 0)
		end += 4;
	else
		return 0;
	if (!is_separator(data, size, end))
		return 0;
	while (is_separator(data, size, end))
		end++;
	return end;
}

static bool home_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		    struct redaction *out)
{
	size_t start = users_folder(data, size, at);
	size_t length = start != 0 ? redact_span(data, size, start, "._-$") : 0;
	while (length > 0 && data[start + length - 1] == '.')
		length--;
	if (length == 0 || redact_is_generic(NULL, data + start, length))
		return false;
	*out = (struct redaction){.from = at, .to = start + length};
	redact_pseudonym(redactor, REDACT_HOME, data + start, length, out->with);
	return true;
}

/* Hexadecimal digits in groups of these sizes, with '-' between them; the length, or 0. */
static size_t match_groups(const char *data, size_t size, size_t at, const size_t *groups)
{
	size_t end = at;
	for (size_t i = 0; groups[i] != 0; i++) {
		if (i > 0 && (end == size || data[end++] != '-'))
			return 0;
		if (size - end < groups[i] || !redact_is_hex(data + end, groups[i]))
			return 0;
		end += groups[i];
	}
	return redact_ends(data, size, end) ? end - at : 0;
}

static bool uuid_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		    struct redaction *out)
{
	static const size_t uuid[] = {8, 4, 4, 4, 12, 0};
	static const size_t bare[] = {UUID_DIGITS, 0};
	size_t prefix = 0;
	size_t length = 0;
	if (size - at < UUID_DIGITS || !redact_begins(data, at))
		return false;
	if (memcmp(data + at, "GPU-", 4) == 0 || memcmp(data + at, "MIG-", 4) == 0)
		prefix = 4;
	length = match_groups(data, size, at + prefix, prefix != 0 ? uuid : bare);
	if (length == 0)
		return false;
	*out = (struct redaction){.from = at + prefix, .to = at + prefix + length};
	redact_pseudonym(redactor, REDACT_SERIAL, data + at + prefix, length, out->with);
	return true;
}

static bool find_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		    struct redaction *out)
{
	if (redact_secret_at(redactor, data, size, at, out))
		return true;
	bool may = redactor->first[(unsigned char)data[at]] ||
		   redactor->first[(unsigned char)redact_lower(data[at])] || data[at] == '\\';
	for (size_t i = 0; may && i < redactor->count; i++) {
		const struct redact_fact *fact = &redactor->facts[i];
		if ((fact->kind == REDACT_SECRET || !redactor->keep_identity) &&
		    fact_at(fact, data, size, at, out))
			return true;
	}
	return !redactor->keep_identity &&
	       (home_at(redactor, data, size, at, out) || uuid_at(redactor, data, size, at, out));
}

/* "2", or the eight digits of a pseudonym. */
static size_t placeholder_number(const char *data, size_t size, size_t at)
{
	size_t digits = 0;
	if (size - at >= 8 && redact_is_hex(data + at, 8))
		return 8;
	while (digits < 3 && at + digits < size && data[at + digits] >= '0' &&
	       data[at + digits] <= '9')
		digits++;
	return digits;
}

/* The length of a placeholder, which is left as it is; 0: there is none. */
static size_t placeholder_at(const char *data, size_t size, size_t at)
{
	for (size_t i = 0; data[at] == '<' && i < REDACT_KIND_COUNT; i++) {
		size_t length = strlen(redact_kind_names[i]);
		size_t end = at + 1 + length;
		if (end >= size || memcmp(data + at + 1, redact_kind_names[i], length) != 0)
			continue;
		if (data[end] == '-')
			end += 1 + placeholder_number(data, size, end + 1);
		if (end < size && data[end] == '>')
			return end + 1 - at;
	}
	return 0;
}

/* Returns whether anything was replaced. */
static bool redact_once(const struct redactor *redactor, const char *data, size_t size,
			struct text *out)
{
	size_t done = 0;
	size_t at = 0;
	while (at < size) {
		struct redaction found = {0};
		size_t skip = placeholder_at(data, size, at);
		if (skip != 0 || !find_at(redactor, data, size, at, &found)) {
			at += skip != 0 ? skip : 1;
			continue;
		}
		text_append(out, data + done, found.from - done);
		text_add(out, found.with);
		at = done = found.to;
	}
	text_append(out, data + done, size - done);
	return done != 0;
}

/* What was replaced may have been part of a longer word: "node7" of "node7SECRET" begins and ends only now. */
void redact_text(const struct redactor *redactor, const char *data, size_t size, struct text *out)
{
	struct text even CLEANUP_TEXT = {0};
	struct text odd CLEANUP_TEXT = {0};
	for (size_t i = 0; redactor != NULL && i < PASSES_MAX; i++) {
		struct text *pass = i % 2 == 0 ? &even : &odd;
		text_reset(pass);
		if (!redact_once(redactor, data, size, pass))
			break;
		data = text_string(pass);
		size = pass->size;
		out->failed = out->failed || pass->failed;
	}
	text_append(out, data, size);
}

char *redact_string(const struct redactor *redactor, const char *string)
{
	struct text out CLEANUP_TEXT = {0};
	redact_text(redactor, string, strlen(string), &out);
	return text_take(&out);
}

char *redact_file_name(const struct redactor *redactor, const char *name)
{
	char *plain = redact_string(redactor, name);
	for (char *letter = plain; letter != NULL && *letter != '\0'; letter++) {
		if ((unsigned char)*letter >= 0x80 ||
		    (!redact_is_word(*letter) && strchr("._-", *letter) == NULL))
			*letter = '_';
	}
	return plain;
}
