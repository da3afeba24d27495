/* SPDX-License-Identifier: MIT */
/* Addresses by the rules of both systems, and the content of a rendezvous file. */
#include "rpc/address.h"
#include "rpc/rendezvous.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_address(const char *text, enum address_rules rules)
{
	struct address address;
	if (address_parse(text, rules, &address, NULL) < 0)
		return;
	if (strlen(address.name) >
	    (address.kind == ADDRESS_FILE ? (size_t)ADDRESS_PATH_MAX : (size_t)ADDRESS_PIPE_MAX))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	char again[RENDEZVOUS_TEXT_MAX];
	struct rendezvous rendezvous;
	if (text == NULL)
		abort();
	check_address(text, ADDRESS_POSIX);
	check_address(text, ADDRESS_WINDOWS);
	free(text);
	if (rendezvous_parse((const char *)data, size, &rendezvous, NULL) < 0)
		return 0;
	rendezvous_format(&rendezvous, again);
	if (strlen(again) != size || memcmp(again, data, size) != 0)
		abort();
	return 0;
}
