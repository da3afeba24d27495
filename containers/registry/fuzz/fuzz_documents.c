/* SPDX-License-Identifier: MIT */
/* An index, a manifest or a configuration. */
#include "containers/registry/image.h"

#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void choose(const struct image_index *index)
{
	static const struct image_platform wanted = {"windows", "amd64", "v3", "10.0.20348.1"};
	const struct image_index_entry *entry = NULL;
	for (size_t i = 0; i < index->count; i++) {
		if (!digest_is_valid(index->entries[i].descriptor.digest))
			__builtin_trap();
	}
	(void)image_index_choose(index, &wanted, &entry, NULL);
	(void)image_index_choose(index, NULL, &entry, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_index index CLEANUP_IMAGE_INDEX = {0};
	struct image image CLEANUP_IMAGE = {0};
	struct image configured CLEANUP_IMAGE = {0};
	struct image_descriptor configuration = {0};
	cJSON *json CLEANUP_JSON = NULL;
	const char *type = NULL;
	if (image_document_parse((const char *)data, size, &json, NULL) < 0)
		return 0;
	(void)image_document_type(json, NULL, &type, NULL);
	if (image_index_read(json, &index, NULL) == 0)
		choose(&index);
	if (image_manifest_read(json, &image, &configuration, NULL) == 0 &&
	    !digest_is_valid(configuration.digest))
		__builtin_trap();
	(void)image_configuration_read(json, &configured, NULL);
	return 0;
}
