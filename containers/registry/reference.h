/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Names of images in registries, as Docker reads them (distribution/reference, grammar of reference.go):
 *
 *	[HOST[:PORT]/]NAME[:TAG][@DIGEST]
 *
 * The part before the first '/' is a host when it has a '.' or a ':' or is "localhost";
 * otherwise the host is docker.io, where a name of one part lies below "library/".
 */

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

struct image_reference {
	struct arena arena; /* owns the strings */
	const char *host;   /* "docker.io", "localhost:5000", "[::1]:5000" */
	const char *name;   /* "library/debian" */
	const char
		*tag; /* "latest" when the name has neither tag nor digest; NULL: only a digest */
	const char *digest; /* NULL: none. It takes precedence over the tag */
};

#define CLEANUP_IMAGE_REFERENCE __attribute__((cleanup(image_reference_free)))

/* ERROR_ARGUMENT: not such a name; the text says why. */
int image_reference_parse(const char *string, struct image_reference *out, struct error *err);
void image_reference_free(struct image_reference *reference);

/* "localhost", 127.0.0.0/8 and [::1], with any port: where plain HTTP is allowed. */
bool registry_host_is_local(const char *host);
