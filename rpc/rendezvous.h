/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A rendezvous file stands in for a socket file on a Windows without AF_UNIX (Wine 10). Its one
 * line names a TCP port of 127.0.0.1 and a secret:
 *
 *   gpucert-rendezvous 1 PORT NONCE\n       NONCE: 32 hexadecimal digits
 *
 * A client sends the 16 bytes of the nonce before anything else; the server sends nothing before that
 * and drops clients that do not know them. Who may read the file may connect, as with a socket file.
 */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
	RENDEZVOUS_NONCE_SIZE = 16,
	RENDEZVOUS_TEXT_MAX = 80, /* bytes of such a file, the NUL of its text included */
};

struct rendezvous {
	uint16_t port;
	uint8_t nonce[RENDEZVOUS_NONCE_SIZE];
};

/* Parses the content of a file. ERROR_FORMAT for anything that rendezvous_format() does not write. */
int rendezvous_parse(const char *text, size_t size, struct rendezvous *out, struct error *err);

void rendezvous_format(const struct rendezvous *rendezvous, char out[RENDEZVOUS_TEXT_MAX]);
