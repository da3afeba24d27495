/* SPDX-License-Identifier: MIT */
#pragma once

/* Certificate authorities that are trusted beside the system's. */

#include "base/text.h"

/* Adds, as PEM, the file `ca_certificate` (NULL: none) and those of the URL's host: "*.crt" in
 * "/etc/docker/certs.d/HOST[:PORT]", the same below /etc/containers and ~/.config/containers. Nothing is
 * added for plain HTTP. ERROR_NOT_FOUND, ERROR_IO, ERROR_FORMAT: `ca_certificate` cannot be read or
 * holds no certificate. */
int certificates_for(const char *url, const char *ca_certificate, struct text *out,
		     struct error *err);
