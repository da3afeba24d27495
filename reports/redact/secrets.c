/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include <string.h>
#include <strings.h>

enum { TOKEN_MIN = 16, BEARER_MIN = 8, KEY_MAX = 64, NAME_SIZE = KEY_MAX + 1 };

/* Letters and digits of a name in lower case, with '-' for what is between them. */
static void fold(const char *name, size_t size, char out[NAME_SIZE])
{
	size_t used = 0;
	for (size_t i = size > KEY_MAX ? size - KEY_MAX : 0; i < size; i++)
		out[used++] = (char)(redact_is_word(name[i]) ? redact_lower(name[i]) : '-');
	out[used] = '\0';
}

static bool ends_with_one(const char *name, size_t size, const char *const *ends)
{
	for (; *ends != NULL; ends++) {
		const size_t length = strlen(*ends);
		if (size >= length && memcmp(name + size - length, *ends, length) == 0)
			return true;
	}
	return false;
}

enum redact_key redact_key_of(const char *name, size_t size)
{
	static const char *const words[] = {
		"token",	   "secret",	       "passw",
		"passphrase",	   "credential",       "apikey",
		"api-key",	   "accesskey",	       "access-key",
		"privatekey",	   "private-key",      "authorization",
		"cookie",	   "connectionstring", "connection-string",
		"x-amz-signature", "x-goog-signature", NULL,
	};
	/* Only in environment variables: elsewhere "key" is more often a key of a table. */
	static const char *const variables[] = {"_KEY", "_PASS", "_PWD", "_AUTH", NULL};
	/* Names that are about a secret: its place, its name, how many. */
	static const char *const about[] = {"file", "path", "dir", "name", "type", "tokens", NULL};
	static const char *const serials[] = {"serial",	    "serialnumber", "serial-number",
					      "serialno",   "uuid",	    "device-uuid",
					      "deviceuuid", "gpuuuid",	    NULL};
	char folded[NAME_SIZE] = "";
	fold(name, size, folded);
	if (ends_with_one(name, size, variables))
		return REDACT_KEY_SECRET;
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strstr(folded, words[i]) != NULL &&
		    !ends_with_one(folded, strlen(folded), about))
			return REDACT_KEY_SECRET;
	}
	return serials[text_position(serials, folded)] != NULL ? REDACT_KEY_SERIAL
							       : REDACT_KEY_PLAIN;
}

static bool set_secret(struct redaction *out, size_t from, size_t to)
{
	*out = (struct redaction){.from = from, .to = to, .with = "<secret>"};
	return to > from;
}

/* Ends at the same quote, or if unquoted at one of `ends`. */
static size_t value_end(const char *data, size_t size, size_t at, size_t quote, const char *ends)
{
	size_t end = at;
	if (quote == 0) {
		while (end < size && data[end] != '\0' && !redact_has(data, size, end, ends))
			end++;
		return end;
	}
	while (size - end >= quote && memcmp(data + end, data + at - quote, quote) != 0)
		end += quote == 1 && data[end] == '\\' && end + 1 < size ? 2 : 1;
	return size - end >= quote ? end : size;
}

/* Does the value of a key whose name marks a secret follow? `at` is the ':' or '=', or the blank after an option. */
static bool assigned_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
			struct redaction *out)
{
	/* After the ':' of these names the value is unquoted and may contain blanks. */
	static const char *const headers[] = {"authorization", "cookie", "api-key", "password",
					      NULL};
	char folded[NAME_SIZE] = "";

	/* The name before `at`. */
	size_t key_end = at;
	if (at > 0 && redact_has(data, at, at - 1, "\"'"))
		key_end--;
	while (key_end < at && key_end > 0 && data[key_end - 1] == '\\')
		key_end--;
	size_t key = key_end;
	while (key > 0 && key_end - key < KEY_MAX &&
	       (redact_is_word(data[key - 1]) || redact_has(data, at, key - 1, "_-.")))
		key--;

	const bool quoted = key_end < at;
	const bool option = key_end - key > 2 && memcmp(data + key, "--", 2) == 0;
	size_t from = at + 1;
	if (data[at] == ' ' && (!option || quoted || redact_has(data, size, from, "-")))
		return false;
	const enum redact_key says = redact_key_of(data + key, key_end - key);
	fold(data + key, key_end - key, folded);
	const bool header = data[at] == ':' && ends_with_one(folded, strlen(folded), headers);
	if (says == REDACT_KEY_PLAIN || (says == REDACT_KEY_SERIAL && redactor->keep_identity) ||
	    (data[at] == ':' && !quoted && !header))
		return false;
	while (data[at] == ':' && redact_has(data, size, from, " \t"))
		from++;

	/* A quote with the backslashes before it, as in JSON within JSON. */
	size_t quote = 0;
	while (from + quote < size && data[from + quote] == '\\')
		quote++;
	quote = redact_has(data, size, from + quote, "\"'") ? quote + 1 : 0;
	from += quote;
	const size_t to =
		value_end(data, size, from, quote, header ? "\r\n\"'\\" : " \t\r\n\"'\\&,;)}]");
	/* Not secrets: JSON numbers, true and null, which have no quotes; "=="; what is redacted already. */
	if ((quoted && quote == 0) || to == from || data[from] == '=' ||
	    redact_is_at(data, to, from, "<secret>") || redact_is_at(data, to, from, "<serial-"))
		return false;
	if (says == REDACT_KEY_SECRET)
		return set_secret(out, from, to);
	*out = (struct redaction){.from = from, .to = to};
	redact_pseudonym(redactor, REDACT_SERIAL, data + from, to - from, out->with);
	return quote != 0 && to - from >= BEARER_MIN && !redact_is_device(data, to, from);
}

/* "Bearer TOKEN", and tokens with a known prefix. */
static bool token_at(const char *data, size_t size, size_t at, struct redaction *out)
{
	static const char *const prefixes[] = {"ghp_",	 "gho_",  "ghs_",  "ghr_", "github_pat_",
					       "glpat-", "xoxb-", "xoxp-", "eyJ",  "AKIA",
					       "nvapi-", "sk-",	  "hf_",   NULL};
	static const char bearer[] = "bearer ";
	const size_t token = at + sizeof(bearer) - 1;
	if (!redact_begins(data, at))
		return false;
	if (token < size && strncasecmp(data + at, bearer, sizeof(bearer) - 1) == 0) {
		const size_t end = token + redact_span(data, size, token, "._~+/=-");
		size_t letter = token;
		while (letter < end && (data[letter] < '0' || data[letter] > '9'))
			letter++;
		return letter < end && end - token >= BEARER_MIN && set_secret(out, token, end);
	}
	for (size_t i = 0; prefixes[i] != NULL; i++) {
		if (data[at] != prefixes[i][0] || !redact_is_at(data, size, at, prefixes[i]))
			continue;
		const size_t span = redact_span(data, size, at, "._-");
		if (span >= TOKEN_MIN + strlen(prefixes[i]))
			return set_secret(out, at, at + span);
	}
	return false;
}

bool redact_secret_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		      struct redaction *out)
{
	static const char begin[] = "-----BEGIN ";
	static const char end[] = "-----END ";
	/* "://user:password@" */
	if (redact_is_at(data, size, at, "://")) {
		const size_t to = value_end(data, size, at + 3, 0, "/?#@ \t\r\n\"'<>\\");
		if (to < size && data[to] == '@' && set_secret(out, at + 3, to))
			return true;
	}
	if (data[at] == '=' || data[at] == ':' || data[at] == ' ')
		return assigned_at(redactor, data, size, at, out);
	if (data[at] != '-')
		return redact_is_word(data[at]) && token_at(data, size, at, out);

	/* A private key in PEM, to its end or that of the text. */
	const size_t name = at + sizeof(begin) - 1;
	if (!redact_is_at(data, size, at, begin))
		return false;
	size_t line = name;
	while (line < size && data[line] != '-')
		line++;
	if (line - name < 11 || memcmp(data + line - 11, "PRIVATE KEY", 11) != 0)
		return false;
	while (line < size &&
	       (size - line < sizeof(end) || memcmp(data + line, end, sizeof(end) - 1) != 0))
		line++;
	return set_secret(out, at, line);
}
