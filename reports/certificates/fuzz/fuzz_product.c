/* SPDX-License-Identifier: MIT */
/* product.yaml: accepted values are one line of UTF-8 each, and complete for a certificate. */
#include "reports/certificates/product.h"

#include "base/text.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct product product CLEANUP_PRODUCT = {0};
	struct error err = {0};
	int rc = product_parse((const char *)data, size, &product, &err);
	if (rc != err.code || rc > 0)
		__builtin_trap();
	if (rc < 0)
		return 0;
	const char *const texts[] = {product.vendor, product.name, product.version,
				     product.description, product.website_url};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i][0] == '\0' || strchr(texts[i], '\n') != NULL ||
		    !text_is_utf8(texts[i], strlen(texts[i])))
			__builtin_trap();
	}
	return 0;
}
