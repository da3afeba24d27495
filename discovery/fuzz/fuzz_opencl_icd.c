/* SPDX-License-Identifier: MIT */
/* Files *.icd of OpenCL over arbitrary bytes: one line of text, or an error that says why. */
#include "base/cleanup.h"
#include "discovery/linux/manifest.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *library CLEANUP_FREE = NULL;
	struct error err = {0};
	int rc = opencl_icd_parse((const char *)data, size, &library, &err);
	if (rc < 0 ? err.code != rc || err.text[0] == '\0'
		   : library[0] == '\0' || strpbrk(library, "\r\n\t") != NULL)
		abort();
	return 0;
}
