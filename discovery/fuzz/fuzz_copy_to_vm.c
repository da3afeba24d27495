/* SPDX-License-Identifier: MIT */
/* A registry value as the driver left it: the first byte is its type. */
#include "discovery/windows/copy_to_vm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct copy_to_vm_file file = {0};
	if (size == 0 || copy_to_vm_parse(data[0], data + 1, size - 1, &file, NULL) < 0)
		return 0;
	/* Accepted paths stay in the driver's folder. */
	if (strstr(file.source, "..\\") != NULL || strchr(file.source, ':') != NULL ||
	    file.source[0] == '\\' || strpbrk(file.destination, "\\/:") != NULL)
		abort();
	copy_to_vm_file_free(&file);
	return 0;
}
