/* SPDX-License-Identifier: MIT */
/* The files of the controller "dmem" over arbitrary bytes: the parsed values are bounded, and are the same
 * when printed and parsed again. */
#include "containers/inspect/dmem.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct dmem first, again;
	char *text CLEANUP_FREE = strndup((const char *)data, size);
	struct text words CLEANUP_TEXT = {0};
	struct error err = {0};
	if (text == NULL || dmem_parse(text, &first, &err) < 0)
		return 0;
	require(first.count <= DMEM_REGIONS_MAX);
	for (size_t i = 0; i < first.count; i++) {
		const struct dmem_region *region = &first.regions[i];
		require(region->name[0] != '\0' && strlen(region->name) < DMEM_NAME_SIZE);
		text_addf(&words, "%s %llu\n", region->name, (unsigned long long)region->bytes);
	}
	require(dmem_parse(text_string(&words), &again, &err) == 0 && again.count == first.count);
	for (size_t i = 0; i < first.count; i++)
		require(strcmp(first.regions[i].name, again.regions[i].name) == 0 &&
			first.regions[i].bytes == again.regions[i].bytes);
	(void)dmem_find_device(&first, "0000:03:00.0");
	return 0;
}
