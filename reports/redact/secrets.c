/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include <string.h>

enum { TOKEN_MIN = 16, BEARER_MIN = 8, KEY_MAX = 64, NAME_SIZE = KEY_MAX + 1 };

/* Letters and digits of a name in lower case, with '-' for what is between them. */
static void fold(const char *name, size_t size, char out[NAME_SIZE])
{
	size_t used = 0;
	for (size_t i = size > KEY_MAX ? size - KEY_MAX : 0; i < size; i++)
		out[used++] = redact_is_word(name[i]) ? redact_lower(name[i]) : '-';
	out[used] = '\0';
}

static bool ends_with_one(const char *name, const char *const *ends)
{
	for (; *ends != NULL; ends++) {
		if (text_ends_with(name, *ends))
			return true;
	}
	return false;
}

enum redact_key redact_key_of(const char *name, size_t size)
{
	static const char *const words[] = {
		"token",      "secret",		  "passw",
		"passphrase", "credential",	  "apikey",
		"api-key",    "accesskey",	  "access-key",
		"privatekey", "private-key",	  "authorization",
		"cookie",     "connectionstring", "connection-string",
		NULL,
	};
	/* Where a secret is, what it is called, and how many there are. */
	static const char *const about[] = {"file", "path", "dir", "name", "type", "tokens", NULL};
	static const char *const serials[] = {"serial",	    "serialnumber", "serial-number",
					      "serialno",   "uuid",	    "device-uuid",
					      "deviceuuid", "gpuuuid",	    NULL};
	char folded[NAME_SIZE] = "";
	fold(name, size, folded);
	for (size_t i = 0; words[i] != NULL; i++) {
		if (strstr(folded, words[i]) != NULL && !ends_with_one(folded, about))
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

/* A quote with the backslashes before it, as in JSON within JSON; its length. */
static size_t quote_at(const char *data, size_t size, size_t at)
{
	size_t end = at;
	while (end < size && data[end] == '\\')
		end++;
	return end < size && (data[end] == '"' || data[end] == '\'') ? end + 1 - at : 0;
}

static bool is_one_of(char letter, const char *letters)
{
	return letter == '\0' || strchr(letters, letter) != NULL;
}

/* Up to the same quote, or where nothing is quoted up to one of `ends`. */
static size_t value_end(const char *data, size_t size, size_t at, size_t quote, const char *ends)
{
	size_t end = at;
	if (quote == 0) {
		while (end < size && !is_one_of(data[end], ends))
			end++;
		return end;
	}
	while (size - end >= quote && memcmp(data + end, data + at - quote, quote) != 0)
		end += quote == 1 && data[end] == '\\' && end + 1 < size ? 2 : 1;
	return size - end >= quote ? end : size;
}

/* The name in front of the ':' or '=' at `at`: where it begins; *end is where it ends. */
static size_t key_before(const char *data, size_t at, size_t *end)
{
	size_t start = at;
	if (at > 0 && (data[at - 1] == '"' || data[at - 1] == '\''))
		start--;
	while (start < at && start > 0 && data[start - 1] == '\\')
		start--;
	*end = start;
	while (start > 0 && *end - start < KEY_MAX && data[start - 1] != '\0' &&
	       (redact_is_word(data[start - 1]) || is_one_of(data[start - 1], "_-.")))
		start--;
	return start;
}

static bool is_header(const char *name, size_t size)
{
	static const char *const headers[] = {"authorization",
					      "proxy-authorization",
					      "cookie",
					      "set-cookie",
					      "x-api-key",
					      "password",
					      NULL};
	char folded[NAME_SIZE] = "";
	fold(name, size, folded);
	return headers[text_position(headers, folded)] != NULL;
}

static bool is_redacted(const char *data, size_t size, size_t at)
{
	return size - at > 3 && memcmp(data + at, "<se", 3) == 0;
}

/* Is what follows the value of a key whose name says that it is a secret? `at` is the ':' or '='. */
static bool assigned_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
			struct redaction *out)
{
	size_t key_end = 0;
	size_t key = key_before(data, at, &key_end);
	size_t from = at + 1;
	bool quoted = key_end < at;
	enum redact_key says = redact_key_of(data + key, key_end - key);
	if (says == REDACT_KEY_PLAIN || (says == REDACT_KEY_SERIAL && redactor->keep_identity))
		return false;
	bool header = is_header(data + key, key_end - key);
	if (data[at] == ':' && !quoted && !header)
		return false;
	while (data[at] == ':' && from < size && (data[from] == ' ' || data[from] == '\t'))
		from++;
	size_t quote = quote_at(data, size, from);
	from += quote;
	size_t to = value_end(data, size, from, quote, header ? "\r\n\"'\\" : " \t\r\n\"'\\&,;)}]");
	/* A number, true or null of JSON has no quotes, and "==" compares. */
	if ((quoted && quote == 0) || to == from || data[from] == '=' ||
	    is_redacted(data, size, from))
		return false;
	if (says == REDACT_KEY_SECRET)
		return set_secret(out, from, to);
	*out = (struct redaction){.from = from, .to = to};
	redact_pseudonym(redactor, REDACT_SERIAL, data + from, to - from, out->with);
	return quote != 0 && to - from >= BEARER_MIN && memcmp(data + from, "GPU-", 4) != 0 &&
	       memcmp(data + from, "MIG-", 4) != 0;
}

/* "://user:password@": `at` is the ':'. */
static bool url_at(const char *data, size_t size, size_t at, struct redaction *out)
{
	size_t end = at + 3;
	if (size - at < 4 || memcmp(data + at, "://", 3) != 0)
		return false;
	while (end < size && !is_one_of(data[end], "/?#@ \t\r\n\"'<>\\"))
		end++;
	return end < size && data[end] == '@' && set_secret(out, at + 3, end);
}

/* "--password VALUE": `at` is the blank. */
static bool option_at(const char *data, size_t size, size_t at, struct redaction *out)
{
	size_t option = at;
	while (option > 0 && at - option < KEY_MAX && data[option - 1] != '\0' &&
	       (redact_is_word(data[option - 1]) || is_one_of(data[option - 1], "_-")))
		option--;
	if (at - option < 3 || memcmp(data + option, "--", 2) != 0 || at + 1 == size ||
	    is_one_of(data[at + 1], "-<") ||
	    redact_key_of(data + option, at - option) != REDACT_KEY_SECRET)
		return false;
	return set_secret(out, at + 1, value_end(data, size, at + 1, 0, " \t\r\n\"'\\"));
}

static size_t token_span(const char *data, size_t size, size_t at)
{
	return redact_span(data, size, at, "._~+/=-");
}

/* "Bearer TOKEN", and tokens whose first letters say what they are. */
static bool token_at(const char *data, size_t size, size_t at, struct redaction *out)
{
	static const char *const prefixes[] = {"ghp_",	 "gho_",  "ghs_",  "ghr_", "github_pat_",
					       "glpat-", "xoxb-", "xoxp-", "eyJ",  "AKIA",
					       "nvapi-", "sk-",	  "hf_",   NULL};
	static const char bearer[] = "bearer ";
	size_t same = 0;
	if (!redact_begins(data, at))
		return false;
	while (same < size - at && bearer[same] != '\0' &&
	       redact_lower(data[at + same]) == bearer[same])
		same++;
	if (bearer[same] == '\0') {
		size_t length = token_span(data, size, at + same);
		bool mixed = false;
		for (size_t i = 0; i < length; i++)
			mixed = mixed || strchr("0123456789", data[at + same + i]) != NULL;
		return length >= BEARER_MIN && mixed &&
		       set_secret(out, at + same, at + same + length);
	}
	for (size_t i = 0; prefixes[i] != NULL; i++) {
		size_t length = strlen(prefixes[i]);
		if (size - at >= length && memcmp(data + at, prefixes[i], length) == 0 &&
		    redact_span(data, size, at, "._-") >= TOKEN_MIN + length)
			return set_secret(out, at, at + redact_span(data, size, at, "._-"));
	}
	return false;
}

/* A private key in PEM, to its end or that of the text. */
static bool pem_at(const char *data, size_t size, size_t at, struct redaction *out)
{
	static const char begin[] = "-----BEGIN ";
	static const char end[] = "-----END ";
	size_t name = at + sizeof(begin) - 1;
	size_t line = name;
	if (size - at < sizeof(begin) || memcmp(data + at, begin, sizeof(begin) - 1) != 0)
		return false;
	while (line < size && data[line] != '-')
		line++;
	if (line - name < 11 || memcmp(data + line - 11, "PRIVATE KEY", 11) != 0)
		return false;
	while (line < size &&
	       (size - line < sizeof(end) || memcmp(data + line, end, sizeof(end) - 1) != 0))
		line++;
	return set_secret(out, at, line);
}

bool redact_secret_at(const struct redactor *redactor, const char *data, size_t size, size_t at,
		      struct redaction *out)
{
	if (data[at] == '=' || data[at] == ':')
		return url_at(data, size, at, out) || assigned_at(redactor, data, size, at, out);
	if (data[at] == '-')
		return pem_at(data, size, at, out);
	if (data[at] == ' ')
		return option_at(data, size, at, out);
	return redact_is_word(data[at]) && token_at(data, size, at, out);
}
