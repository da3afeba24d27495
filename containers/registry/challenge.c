/* SPDX-License-Identifier: MIT */
#include "containers/registry/challenge.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

/* Of a token (RFC 9110). */
#define TOKEN_CHARACTERS                                                                           \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"
#define BLANKS " \t"

void challenge_free(struct challenge *challenge)
{
	free(challenge->realm);
	free(challenge->service);
	free(challenge->scope);
	*challenge = (struct challenge){0};
}

static const char *skip(const char *at, const char *characters)
{
	return at + strspn(at, characters);
}

/* The position of a word, in any case, among NULL-ended names; that of the NULL when it is not among them. */
static size_t word_position(const char *word, size_t length, const char *const *names)
{
	char lower[16] = "";
	for (size_t i = 0; i < length && length < sizeof(lower); i++)
		lower[i] = (char)tolower((unsigned char)word[i]);
	return text_position(names, lower);
}

/* "name = value", a token or a quoted string, from its name on; *at moves after it. The first parameter of a name
 * wins. */
static int read_parameter(const char **at, struct challenge *out, struct error *err)
{
	static const char *const names[] = {"realm", "service", "scope", NULL};
	char **const places[] = {&out->realm, &out->service, &out->scope, NULL};
	struct text value CLEANUP_TEXT = {0};
	size_t length = strspn(*at, TOKEN_CHARACTERS);
	char **place = places[word_position(*at, length, names)];
	const char *next = skip(skip(*at + length, BLANKS) + 1, BLANKS);

	text_add(&value, "");
	if (*next == '"') {
		for (next++; *next != '\0' && *next != '"'; next++) {
			next += *next == '\\' && next[1] != '\0';
			if (iscntrl((unsigned char)*next))
				return error_set(err, ERROR_FORMAT, "a control character");
			text_append(&value, next, 1);
		}
		if (*next != '"')
			return error_set(err, ERROR_FORMAT, "a quote that does not end");
		next++;
	} else {
		const char *end = skip(next, TOKEN_CHARACTERS "/:");
		if (end == next)
			return error_set(err, ERROR_FORMAT, "a parameter has no value");
		text_append(&value, next, (size_t)(end - next));
		next = end;
	}

	*at = skip(next, BLANKS);
	if (**at != '\0' && **at != ',')
		return error_set(err, ERROR_FORMAT, "no comma after a parameter");
	if (place != NULL && *place == NULL)
		*place = text_take(&value);
	return 0;
}

/* A scheme, and the credentials of a scheme that is not ours ("Negotiate YII=="). */
static int read_scheme(const char **at, struct challenge *out, struct error *err)
{
	static const char *const names[] = {"basic", "bearer", NULL};
	static const enum challenge_scheme schemes[] = {CHALLENGE_BASIC, CHALLENGE_BEARER,
							CHALLENGE_NONE};
	size_t length = strspn(*at, TOKEN_CHARACTERS);
	const char *end = *at + length;
	if (length == 0 || strchr(BLANKS ",", *end) == NULL) /* also matches the end */
		return error_set(err, ERROR_FORMAT, "no name of a scheme, or no space after it");
	out->scheme = schemes[word_position(*at, length, names)];
	*at = skip(end, BLANKS);
	end = skip(skip(skip(*at, TOKEN_CHARACTERS "/"), "="), BLANKS);
	if (*end == '\0' || *end == ',')
		*at = end;
	return 0;
}

int challenge_add(struct challenge *challenge, const char *header, size_t size, struct error *err)
{
	struct challenge next CLEANUP_CHALLENGE = {0}; /* the one being read */
	bool in_scheme = false;
	int rc = 0;
	if (size > CHALLENGE_HEADER_MAX)
		return error_set(err, ERROR_LIMIT, "WWW-Authenticate: longer than %d bytes",
				 CHALLENGE_HEADER_MAX);
	char *copy CLEANUP_FREE = memory_copy_start(header, size);
	const char *at = copy;
	while (rc == 0) {
		at = skip(at, BLANKS ",");
		const char *name_end = skip(at, TOKEN_CHARACTERS);
		if (in_scheme && name_end > at && *skip(name_end, BLANKS) == '=') {
			rc = read_parameter(&at, &next, err);
			continue;
		}
		/* The strongest challenge wins. */
		if (next.scheme > challenge->scheme) {
			challenge_free(challenge);
			*challenge = STEAL(next);
		}
		challenge_free(&next);
		if (*at == '\0')
			return 0;
		rc = read_scheme(&at, &next, err);
		in_scheme = true;
	}
	return error_wrap(err, rc, "WWW-Authenticate");
}

bool challenge_is_token(const char *token)
{
	size_t length = token != NULL ? strlen(token) : 0;
	for (size_t i = 0; i < length; i++) {
		if (token[i] <= ' ' || token[i] >= 0x7f)
			return false;
	}
	return length > 0 && length <= CHALLENGE_TOKEN_MAX;
}
