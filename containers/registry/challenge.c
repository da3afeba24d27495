/* SPDX-License-Identifier: MIT */
#include "containers/registry/challenge.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

/* What is left of a header. */
struct cursor {
	const char *at, *end;
};

void challenge_free(struct challenge *challenge)
{
	free(challenge->realm);
	free(challenge->service);
	free(challenge->scope);
	*challenge = (struct challenge){0};
}

static void skip(struct cursor *cursor, const char *characters)
{
	while (cursor->at < cursor->end && *cursor->at != '\0' &&
	       strchr(characters, *cursor->at) != NULL)
		cursor->at++;
}

static bool next_is(const struct cursor *cursor, char character)
{
	return cursor->at < cursor->end && *cursor->at == character;
}

/* A token of RFC 9110; also with what only token68 has. */
static size_t token_length(const struct cursor *cursor, const char *more)
{
	const char *at = cursor->at;
	while (at < cursor->end && *at != '\0' &&
	       (isalnum((unsigned char)*at) || strchr("!#$%&'*+-.^_`|~", *at) != NULL ||
		strchr(more, *at) != NULL))
		at++;
	return (size_t)(at - cursor->at);
}

/* The credentials of a scheme that is not ours ("Negotiate YII=="): they end the challenge. */
static bool skip_token68(struct cursor *cursor)
{
	struct cursor after = *cursor;
	after.at += token_length(&after, "/");
	skip(&after, "=");
	skip(&after, " \t");
	if (after.at == cursor->at || (after.at < after.end && *after.at != ','))
		return false;
	*cursor = after;
	return true;
}

/* Behind the '='. */
static int read_value(struct cursor *cursor, struct text *out, struct error *err)
{
	skip(cursor, " \t");
	if (!next_is(cursor, '"')) {
		size_t length = token_length(cursor, "/:");
		text_append(out, cursor->at, length);
		cursor->at += length;
		return length > 0 ? 0 : error_set(err, ERROR_FORMAT, "a parameter has no value");
	}
	for (cursor->at++; cursor->at < cursor->end; cursor->at++) {
		if (*cursor->at == '"') {
			cursor->at++;
			return 0;
		}
		if (*cursor->at == '\\' && ++cursor->at == cursor->end)
			break;
		if (iscntrl((unsigned char)*cursor->at))
			return error_set(err, ERROR_FORMAT, "a control character");
		text_append(out, cursor->at, 1);
	}
	return error_set(err, ERROR_FORMAT, "a quote that does not end");
}

static bool is_word(const char *word, size_t length, const char *wanted)
{
	if (strlen(wanted) != length)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (tolower((unsigned char)word[i]) != wanted[i])
			return false;
	}
	return true;
}

static int read_parameter(struct cursor *cursor, const char *name, size_t length,
			  struct challenge *out, struct error *err)
{
	struct text value CLEANUP_TEXT = {0};
	char **place = is_word(name, length, "realm")	  ? &out->realm
		       : is_word(name, length, "service") ? &out->service
		       : is_word(name, length, "scope")	  ? &out->scope
							  : NULL;
	text_add(&value, "");
	int rc = read_value(cursor, &value, err);
	if (rc == 0 && value.failed)
		rc = error_memory(err);
	if (rc == 0 && place != NULL && *place == NULL)
		*place = text_take(&value);
	return rc;
}

/* Everything up to the name of the next scheme. */
static int read_parameters(struct cursor *cursor, struct challenge *out, struct error *err)
{
	while (true) {
		struct cursor word = *cursor;
		skip(&word, " \t,");
		size_t length = token_length(&word, "");
		const char *name = word.at;
		word.at += length;
		skip(&word, " \t");
		if (length == 0 || !next_is(&word, '='))
			return 0;
		word.at++;
		*cursor = word;
		int rc = read_parameter(cursor, name, length, out, err);
		if (rc < 0)
			return rc;
		skip(cursor, " \t");
		if (cursor->at < cursor->end && *cursor->at != ',')
			return error_set(err, ERROR_FORMAT, "no comma behind a parameter");
	}
}

static int read_challenge(struct cursor *cursor, struct challenge *out, struct error *err)
{
	size_t length = token_length(cursor, "");
	const char *scheme = cursor->at;
	cursor->at += length;
	if (length == 0)
		return error_set(err, ERROR_FORMAT, "no name of a scheme");
	out->scheme = is_word(scheme, length, "bearer")	 ? CHALLENGE_BEARER
		      : is_word(scheme, length, "basic") ? CHALLENGE_BASIC
							 : CHALLENGE_NONE;
	if (cursor->at == cursor->end || *cursor->at == ',')
		return 0;
	if (*cursor->at != ' ' && *cursor->at != '\t')
		return error_set(err, ERROR_FORMAT, "no space behind a scheme");
	skip(cursor, " \t");
	return skip_token68(cursor) ? 0 : read_parameters(cursor, out, err);
}

int challenge_add(struct challenge *challenge, const char *header, size_t size, struct error *err)
{
	struct cursor cursor = {header, header + size};
	if (size > CHALLENGE_HEADER_MAX)
		return error_set(err, ERROR_LIMIT, "WWW-Authenticate: longer than %d bytes",
				 CHALLENGE_HEADER_MAX);
	skip(&cursor, " \t,");
	while (cursor.at < cursor.end) {
		struct challenge next CLEANUP_CHALLENGE = {0};
		int rc = read_challenge(&cursor, &next, err);
		if (rc < 0)
			return error_wrap(err, rc, "WWW-Authenticate");
		if (next.scheme > challenge->scheme) {
			challenge_free(challenge);
			*challenge = next;
			next = (struct challenge){0};
		}
		skip(&cursor, " \t,");
	}
	return 0;
}
