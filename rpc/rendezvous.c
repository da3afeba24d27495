/* SPDX-License-Identifier: MIT */
#include "rpc/rendezvous.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int rendezvous_parse(const char *text, size_t size, struct rendezvous *out, struct error *err)
{
	char copy[RENDEZVOUS_TEXT_MAX] = {0};
	char again[RENDEZVOUS_TEXT_MAX];
	struct rendezvous read = {0};
	int used = 0;
	memcpy(copy, text, size < sizeof(copy) ? size : 0);
	bool good = sscanf(copy, "gpucert-rendezvous 1 %5hu %n", &read.port, &used) == 1 &&
		    read.port != 0 &&
		    size == (size_t)used + sizeof("\n") - 1 + sizeof(read.nonce) * 2;
	for (size_t i = 0; good && i < RENDEZVOUS_NONCE_SIZE; i++)
		good = sscanf(copy + used + 2 * i, "%2hhx", &read.nonce[i]) == 1;
	/* sscanf() accepts more than we write: only text that we would write is valid. */
	rendezvous_format(&read, again);
	if (!good || strlen(again) != size || memcmp(text, again, size) != 0)
		return error_set(err, ERROR_FORMAT, "not a rendezvous file");
	*out = read;
	return 0;
}

void rendezvous_format(const struct rendezvous *rendezvous, char out[RENDEZVOUS_TEXT_MAX])
{
	int used = snprintf(out, RENDEZVOUS_TEXT_MAX, "gpucert-rendezvous 1 %u ", rendezvous->port);
	for (size_t i = 0; i < RENDEZVOUS_NONCE_SIZE; i++)
		used += snprintf(out + used, (size_t)(RENDEZVOUS_TEXT_MAX - used), "%02x",
				 rendezvous->nonce[i]);
	(void)snprintf(out + used, (size_t)(RENDEZVOUS_TEXT_MAX - used), "\n");
}
