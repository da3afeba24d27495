/* SPDX-License-Identifier: MIT */
/* The name of an image: a parsed name must print and parse to itself. */
#include "base/cleanup.h"
#include "base/text.h"
#include "containers/registry/reference.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_reference first CLEANUP_IMAGE_REFERENCE = {0};
	struct image_reference second CLEANUP_IMAGE_REFERENCE = {0};
	char *string CLEANUP_FREE = strndup((const char *)data, size);
	if (string == NULL || image_reference_parse(string, &first, NULL) < 0)
		return 0;
	char *again CLEANUP_FREE =
		text_format("%s/%s%s%s%s%s", first.host, first.name, first.tag != NULL ? ":" : "",
			    first.tag != NULL ? first.tag : "", first.digest != NULL ? "@" : "",
			    first.digest != NULL ? first.digest : "");
	if (again == NULL || image_reference_parse(again, &second, NULL) < 0 ||
	    strcmp(first.host, second.host) != 0 || strcmp(first.name, second.name) != 0 ||
	    !text_equal(first.tag, second.tag) || !text_equal(first.digest, second.digest) ||
	    strpbrk(first.host, "/@ \r\n") != NULL)
		__builtin_trap();
	return 0;
}
