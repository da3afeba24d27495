/* SPDX-License-Identifier: MIT */
#include "rpc/rendezvous.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char beginning[] = "gpucert-rendezvous 1 ";

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static bool read_port(const char **text, uint16_t *port)
{
	unsigned value = 0;
	size_t digits = strspn(*text, "0123456789");
	if (digits == 0 || digits > 5 || **text == '0')
		return false;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (unsigned)((*text)[i] - '0');
	*text += digits;
	*port = (uint16_t)value;
	return value <= UINT16_MAX;
}

static bool read_nonce(const char **text, uint8_t nonce[RENDEZVOUS_NONCE_SIZE])
{
	for (size_t i = 0; i < RENDEZVOUS_NONCE_SIZE; i++) {
		int high = hex_digit(**text);
		int low = high < 0 ? -1 : hex_digit((*text)[1]);
		if (low < 0)
			return false;
		nonce[i] = (uint8_t)(high << 4 | low);
		*text += 2;
	}
	return true;
}

int rendezvous_parse(const char *text, size_t size, struct rendezvous *out, struct error *err)
{
	char copy[RENDEZVOUS_TEXT_MAX] = {0};
	const char *rest = copy + sizeof(beginning) - 1;
	struct rendezvous read = {0};
	if (size >= sizeof(copy))
		return error_set(err, ERROR_FORMAT, "not a rendezvous file: it is too long");
	memcpy(copy, text, size);
	if (strncmp(copy, beginning, sizeof(beginning) - 1) != 0)
		return error_set(err, ERROR_FORMAT, "not a rendezvous file: it does not begin so");
	if (!read_port(&rest, &read.port) || *rest++ != ' ')
		return error_set(err, ERROR_FORMAT, "rendezvous file without a port");
	if (!read_nonce(&rest, read.nonce))
		return error_set(err, ERROR_FORMAT, "rendezvous file without a nonce");
	if (*rest != '\n' || (size_t)(rest - copy) + 1 != size)
		return error_set(err, ERROR_FORMAT,
				 "rendezvous file that does not end behind its nonce");
	*out = read;
	return 0;
}

void rendezvous_format(const struct rendezvous *rendezvous, char out[RENDEZVOUS_TEXT_MAX])
{
	int used = snprintf(out, RENDEZVOUS_TEXT_MAX, "%s%u ", beginning, rendezvous->port);
	for (size_t i = 0; i < RENDEZVOUS_NONCE_SIZE; i++)
		used += snprintf(out + used, (size_t)(RENDEZVOUS_TEXT_MAX - used), "%02x",
				 rendezvous->nonce[i]);
	(void)snprintf(out + used, (size_t)(RENDEZVOUS_TEXT_MAX - used), "\n");
}
