/* SPDX-License-Identifier: MIT */
#pragma once

/* product.yaml of a certification folder: the certified product, in the members of the Kubernetes conformance
 * programme (github.com/cncf/k8s-conformance, instructions.md; PRODUCT.yaml there).
 * reports/schema/product.schema.json. */

#include "base/arena.h"
#include "base/json.h"

enum { PRODUCT_FILE_MAX = 256 * 1024, PRODUCT_TEXT_MAX = 1024 /* bytes of one text */ };

struct product {
	struct arena arena;
	const char *vendor, *name, *version, *type, *description;
	const char *website_url, *documentation_url, *contact_email_address;
	const char *repo_url, *product_logo_url; /* "": not stated */
};

#define CLEANUP_PRODUCT __attribute__((cleanup(product_free)))

/* YAML. ERROR_FORMAT names every member that is missing, repeated, unknown or invalid. Free with product_free(),
 * also after an error. */
int product_parse(const char *data, size_t size, struct product *out, struct error *err);

/* The document with every value as text: so that a version such as 1.10 does not become a number. Caller owns *json. */
int product_to_json(const char *data, size_t size, cJSON **json, struct error *err);
void product_free(struct product *product);
