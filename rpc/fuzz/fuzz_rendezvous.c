/* SPDX-License-Identifier: MIT */
/* Rendezvous files, which the Wine relay and clients read: exactly what is written is accepted. */
#include "rpc/rendezvous.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rendezvous rendezvous = {0};
	struct error err = {0};
	char text[RENDEZVOUS_TEXT_MAX] = "";
	int rc = rendezvous_parse((const char *)data, size, &rendezvous, &err);
	if (rc != err.code)
		abort();
	if (rc < 0)
		return 0;
	rendezvous_format(&rendezvous, text);
	if (strlen(text) != size || memcmp(text, data, size) != 0)
		abort();
	return 0;
}
