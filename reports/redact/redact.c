/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/cleanup.h"

#include <string.h>

enum { UUID_SIZE = 36, UUID_DIGITS = 32, PSEUDONYM_DIGITS = 8, PASSES_MAX = 8 };

char redact_lower(char letter)
{
	return (char)(letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter);
}

bool redact_is_at(const char *data, size_t size, size_t at, const char *string)
{
	const size_t length = strlen(string);
	return size - at >= length && memcmp(data + at, string, length) == 0;
}

bool redact_is_device(const char *data, size_t size, size_t at)
{
	return redact_is_at(data, size, at, "GPU-") || redact_is_at(data, size, at, "MIG-");
}

bool redact_has(const char *data, size_t size, size_t at, const char *letters)
{
	return at < size && data[at] != '\0' && strchr(letters, data[at]) != NULL;
}

static bool is_hex(const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!redact_has(data, size, i, "0123456789abcdefABCDEF"))
			return false;
	}
	return true;
}

size_t redact_span(const char *data, size_t size, size_t at, const char *extra)
{
	size_t end = at;
	while (end < size && (redact_is_word(data[end]) || redact_has(data, size, end, extra)))
		end++;
	return end - at;
}

/* The escapes "\n", "\u001b" and "ESC[31m" end with letters or digits. */
bool redact_begins(const char *data, size_t at)
{
	if (at == 0 || !redact_is_word(data[at - 1]))
		return true;
	if (at >= 2 && data[at - 2] == '\\' && redact_has(data, at, at - 1, "ntrbf"))
		return true;
	if (at >= 6 && data[at - 6] == '\\' && data[at - 5] == 'u' && is_hex(data + at - 4, 4))
		return true;
	if (data[at - 1] != 'm')
		return false;
	size_t start = at - 1;
	while (start > 0 && redact_has(data, at, start - 1, "0123456789;"))
		start--;
	return start > 0 && data[start - 1] == '[';
}

static bool ends(const char *data, size_t size, size_t at)
{
	return at == size || !redact_is_word(data[at]);
}

void redact_pseudonym(const struct redactor *redactor, enum redact_kind kind, const char *data,
		      size_t size, char out[REDACT_PLACEHOLDER_SIZE])
{
	const char *name = redact_kind_names[kind];
	char *value CLEANUP_FREE = redact_canonical(kind, data, size);
	char *text CLEANUP_FREE = text_format("%s %s %s", redactor->key, name, value);
	char digest[DIGEST_SIZE] = "";
	digest_bytes(text, strlen(text), digest);
	(void)snprintf(out, REDACT_PLACEHOLDER_SIZE, "<%s-%.*s>", name, (int)PSEUDONYM_DIGITS,
		       digest + strlen("sha256:"));
}

/* The length of the fact's value at `at`; 0: it is not there. */
static size_t match(const struct redact_fact *fact, const char *data, size_t size, size_t at)
{
	size_t end = at;
	for (const char *wanted = fact->value; *wanted != '\0'; wanted++) {
		if (fact->kind == REDACT_HOME && *wanted == '/') {
			const size_t begin = end;
			while (redact_has(data, size, end, "/\\"))
				end++;
			if (end == begin)
				return 0;
			continue;
		}
		if (fact->kind == REDACT_SERIAL && end > at && redact_has(data, size, end, "-:."))
			end++;
		if (end == size)
			return 0;
		char letter = data[end++];
		if (letter != *wanted &&
		    (fact->kind == REDACT_SECRET || redact_lower(letter) != *wanted))
			return 0;
	}
	return end - at;
}

/* The longest fact at this place that is not part of something longer. A secret may be part of one; "10.0.0.1" in
 * "10.0.0.1.2" is not an address. */
static bool fact_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		    struct redaction *out)
{
	if (!redactor->first[(unsigned char)data[at]] &&
	    !redactor->first[(unsigned char)redact_lower(data[at])] && data[at] != '\\')
		return false;
	const bool begins = !redact_is_word(data[at]) || redact_begins(data, at);
	const bool dotted = at > 1 && data[at - 1] == '.' && redact_is_word(data[at - 2]);
	*out = (struct redaction){.from = at, .to = at};
	for (size_t i = 0; i < redactor->count; i++) {
		const struct redact_fact *fact = &redactor->facts[i];
		const bool is_secret = fact->kind == REDACT_SECRET;
		if (!is_secret && (redactor->keep_identity || !begins))
			continue;
		const size_t end = at + match(fact, data, size, at);
		if (end <= out->to || (!is_secret && !ends(data, size, end)))
			continue;
		const bool goes_on =
			size - end > 1 && data[end] == '.' && redact_is_word(data[end + 1]);
		if (fact->kind == REDACT_ADDRESS && (dotted || goes_on))
			continue;
		out->to = end;
		memcpy(out->with, fact->placeholder, sizeof(out->with));
	}
	return out->to > at;
}

static const struct redact_fact homes = {.kind = REDACT_HOME, .value = (char[]){"/home/"}};
static const struct redact_fact users = {.kind = REDACT_HOME, .value = (char[]){"/users/"}};

/* A folder below "/home/" or "/Users/", on Windows "\users\" too, whoever the user is. */
static bool home_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		    struct redaction *out)
{
	const bool drive = redact_is_word(data[at]) && at + 2 < size && data[at + 1] == ':' &&
			   redact_begins(data, at);
	const size_t root = drive ? at + 2 : at;
	if (data[root] != '/' && data[root] != '\\')
		return false;
	const size_t home_size = match(&homes, data, size, root);
	const size_t users_size = match(&users, data, size, root);
	const size_t start = root + home_size + users_size;
	if (home_size + users_size == 0 || (users_size != 0 && !drive && data[root] != '\\' &&
					    memchr(data + root, 'U', users_size) == NULL))
		return false;
	size_t length = redact_span(data, size, start, "._-$");
	/* A user's name on Windows may have blanks: "C:\Users\Jane Doe\x". */
	const size_t blank = start + redact_span(data, size, start, "._-$ ");
	if ((drive || data[root] == '\\') && blank < size && data[blank] == data[root] &&
	    data[blank - 1] != ' ')
		length = blank - start;
	while (length > 0 && data[start + length - 1] == '.')
		length--;
	if (length == 0 || redact_is_generic(NULL, data + start, length))
		return false;
	*out = (struct redaction){.from = at, .to = start + length};
	redact_pseudonym(redactor, REDACT_HOME, data + start, length, out->with);
	return true;
}

/* "GPU-" or "MIG-" and a UUID, or 32 hexadecimal digits as a whole word. */
static bool uuid_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		    struct redaction *out)
{
	const bool device = redact_is_device(data, size, at);
	const size_t from = device ? at + 4 : at;
	const size_t length = device ? UUID_SIZE : UUID_DIGITS;
	if (size - from < length || !redact_begins(data, at) || !ends(data, size, from + length))
		return false;
	for (size_t i = 0; i < length; i++) {
		const bool dash = device && (i == 8 || i == 13 || i == 18 || i == 23);
		if (dash ? data[from + i] != '-' : !is_hex(data + from + i, 1))
			return false;
	}
	*out = (struct redaction){.from = from, .to = from + length};
	redact_pseudonym(redactor, REDACT_SERIAL, data + from, length, out->with);
	return true;
}

/* The length of a placeholder, which is left as it is; 0: none. */
static size_t placeholder_at(const char *data, size_t size, size_t at)
{
	for (size_t i = 0; data[at] == '<' && i < REDACT_KIND_COUNT; i++) {
		const size_t length = strlen(redact_kind_names[i]);
		size_t end = at + 1 + length;
		if (end >= size || memcmp(data + at + 1, redact_kind_names[i], length) != 0)
			continue;
		const size_t most = data[end] == '-' ? end + 1 + PSEUDONYM_DIGITS : end;
		end += most > end;
		while (end < size && end < most && is_hex(data + end, 1))
			end++;
		if (end < size && data[end] == '>')
			return end + 1 - at;
	}
	return 0;
}

/* A replacement may split a longer word: only now "node7" of "node7SECRET" is a whole word. */
void redact_text(const struct redactor *redactor, const char *data, size_t size, struct text *out)
{
	struct text passes[2] = {{0}, {0}};
	for (size_t i = 0; redactor != NULL && i < PASSES_MAX; i++) {
		struct text *pass = &passes[i % 2];
		size_t done = 0;
		size_t at = 0;
		text_reset(pass);
		while (at < size) {
			struct redaction found = {0};
			const size_t skip = placeholder_at(data, size, at);
			const bool any = redact_secret_at(redactor, data, size, at, &found) ||
					 fact_at(redactor, data, size, at, &found) ||
					 (!redactor->keep_identity &&
					  (home_at(redactor, data, size, at, &found) ||
					   uuid_at(redactor, data, size, at, &found)));
			if (skip != 0 || !any) {
				at += skip != 0 ? skip : 1;
				continue;
			}
			text_append(pass, data + done, found.from - done);
			text_add(pass, found.with);
			at = done = found.to;
		}
		if (done == 0)
			break;
		text_append(pass, data + done, size - done);
		data = text_string(pass);
		size = pass->size;
	}
	text_append(out, data, size);
	text_free(&passes[0]);
	text_free(&passes[1]);
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
	for (char *letter = plain; *letter != '\0'; letter++) {
		if ((unsigned char)*letter >= 0x80 ||
		    (!redact_is_word(*letter) && strchr("._-", *letter) == NULL))
			*letter = '_';
	}
	return plain;
}
