/* SPDX-License-Identifier: MIT */
/* Untrusted manifests: accepted ones have names that stay in a folder, and sizes within their limits. */
#include "reports/certificates/publish/publication.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct publication what CLEANUP_PUBLICATION = {0};
	struct text document CLEANUP_TEXT = {0};
	struct error err = {0};
	text_append(&document, (const char *)data, size);
	int rc = publication_read(&document, &what, &err);
	if (rc != err.code || rc > 0)
		__builtin_trap();
	for (size_t i = 0; rc == 0 && i < what.manifest.layer_count; i++) {
		const struct image_descriptor *file = &what.manifest.layers[i];
		if (strstr(file->title, "..") != NULL || strchr(file->title, '\\') != NULL ||
		    file->title[0] == '/' || file->title[0] == '\0' ||
		    file->size > PUBLICATION_FILE_MAX ||
		    publication_find(&what, file->title) != file)
			__builtin_trap();
	}
	return 0;
}
